// Joint positions: the answers of the boards to encoder requests.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "takt/can/hubo/frame.hpp"
#include "takt/can/word.hpp"

namespace takt::can::hubo {

/// Encoder counts of one board, id 0x060+board, 8 bytes in two's complement: motor 0 in bytes 0-3, motor 1 in
/// bytes 4-7. Other lengths belong to boards with other motors. On robots with a power board, 0x06E is its
/// reply. On M-Hubo it is joint board 14.
struct EncoderReply {
  std::uint8_t board = 0;
  std::array<std::int32_t, channels> counts{};

  friend constexpr bool operator==(const EncoderReply&, const EncoderReply&) = default;
};

/// Encodes counts. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const EncoderReply& reply) noexcept {
  if (const Status status = detail::begin(frame, encoder_base, reply.board, 8); !status) return status;
  const auto first = static_cast<std::uint32_t>(reply.counts[0]);
  const auto second = static_cast<std::uint32_t>(reply.counts[1]);
  store_little<8>(frame.data.data(), first | std::uint64_t{second} << 32);
  return {};
}

/// Decodes encoder counts. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Status decode_into(EncoderReply& reply, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, encoder_base, 8); !status) return status;
  const std::uint64_t words = load_little<8>(frame.data.data());
  reply.board = static_cast<std::uint8_t>(frame.id - encoder_base);
  reply.counts = {static_cast<std::int32_t>(words), static_cast<std::int32_t>(words >> 32)};
  return {};
}
/// Decodes encoder counts. Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Result<EncoderReply> decode_encoder(const Frame& frame) noexcept {
  return decode<EncoderReply>(frame);
}

/// Encoder counts of a BoardKind::hybrid, id 0x060+board, 6 bytes: 16 bits each, although references have 24
/// bits. Also assumed for Hubo2+'s neck.
struct HybridEncoders {
  std::uint8_t board = 0;
  std::array<std::int16_t, 3> counts{};

  friend constexpr bool operator==(const HybridEncoders&, const HybridEncoders&) = default;
};

/// Positions of a BoardKind::neck, id 0x060+board, 6 bytes.
struct NeckEncoders {
  std::uint8_t board = 0;
  std::array<std::uint16_t, 3> words{};  ///< neck_radians()

  friend constexpr bool operator==(const NeckEncoders&, const NeckEncoders&) = default;
};
/// Returns a position in rad. A turn is 4096 here, and 4095 in a reference.
[[nodiscard]] constexpr double neck_radians(std::uint16_t word) noexcept {
  return word / 4096.0 * 2 * std::numbers::pi - std::numbers::pi;
}

/// Encoder counts of one half of a BoardKind::hand, id 0x060+board: fingers 1 to 3 in 6 bytes, or 4 and 5 in
/// 4. Only the length distinguishes the halves.
struct HandEncoders {
  std::uint8_t board = 0;
  std::uint8_t half = 0;                 ///< 0 or 1, as in encoder_request()
  std::array<std::int16_t, 3> counts{};  ///< the last one of the second half is 0

  friend constexpr bool operator==(const HandEncoders&, const HandEncoders&) = default;
};

namespace detail {

template <class Word>
constexpr void store_words(Frame& frame, const std::array<Word, 3>& words) noexcept {
  for (std::size_t i = 0; i < std::min<std::size_t>(frame.length / 2U, 3); ++i)
    store_little<2>(frame.data.data() + 2 * i, static_cast<std::uint16_t>(words[i]));
}
template <class Word>
[[nodiscard]] constexpr std::array<Word, 3> load_words(const Frame& frame) noexcept {
  std::array<Word, 3> words{};
  for (std::size_t i = 0; i < std::min<std::size_t>(frame.length / 2U, 3); ++i)
    words[i] = static_cast<Word>(load_little<2>(frame.data.data() + 2 * i));
  return words;
}

}  // namespace detail

/// Encodes counts. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const HybridEncoders& reply) noexcept {
  if (const Status status = detail::begin(frame, encoder_base, reply.board, 6); !status) return status;
  detail::store_words(frame, reply.counts);
  return {};
}
/// Decodes the encoders of a hybrid board. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Status decode_into(HybridEncoders& reply, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, encoder_base, 6); !status) return status;
  reply = {static_cast<std::uint8_t>(frame.id - encoder_base), detail::load_words<std::int16_t>(frame)};
  return {};
}

/// Encodes positions. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const NeckEncoders& reply) noexcept {
  if (const Status status = detail::begin(frame, encoder_base, reply.board, 6); !status) return status;
  detail::store_words(frame, reply.words);
  return {};
}
/// Decodes the encoders of a neck. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Status decode_into(NeckEncoders& reply, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, encoder_base, 6); !status) return status;
  reply = {static_cast<std::uint8_t>(frame.id - encoder_base), detail::load_words<std::uint16_t>(frame)};
  return {};
}

/// Encodes counts. Errors: unknown_node, out_of_range (`half` above 1).
[[nodiscard]] constexpr Status encode_into(Frame& frame, const HandEncoders& reply) noexcept {
  if (reply.half > 1) return fail(Errc::out_of_range);
  const std::uint8_t length = reply.half == 0 ? 6 : 4;
  if (const Status status = detail::begin(frame, encoder_base, reply.board, length); !status) return status;
  detail::store_words(frame, reply.counts);
  return {};
}
/// Decodes the encoders of a hand. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Status decode_into(HandEncoders& reply, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, encoder_base, frame.length == 4 ? 4 : 6); !status)
    return status;
  reply = {static_cast<std::uint8_t>(frame.id - encoder_base), static_cast<std::uint8_t>(frame.length == 4),
           detail::load_words<std::int16_t>(frame)};
  return {};
}

}  // namespace takt::can::hubo
