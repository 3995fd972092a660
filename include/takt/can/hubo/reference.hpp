// Position references: the frames that a master sends every cycle, and the conversion of their numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "takt/can/hubo/frame.hpp"
#include "takt/can/quantise.hpp"
#include "takt/can/word.hpp"

namespace takt::can::hubo {

/// The largest reference, in encoder counts: 23 bits of magnitude.
inline constexpr std::int32_t max_reference = (1 << 23) - 1;

/// Converts a `position` in rad to encoder counts, rounded and clamped to the range of a reference. Error:
/// not_finite. The older drivers truncate, and large values then spill into the sign bit.
[[nodiscard]] constexpr Result<std::int32_t> to_counts(double position, double counts_per_radian) noexcept {
  const double counts = position * counts_per_radian;
  if (!is_finite(counts)) return fail(Errc::not_finite);
  return static_cast<std::int32_t>(round_clamped(counts, -max_reference, max_reference));
}

/// Converts an encoder count to a position in rad. Argument `counts_per_radian` must not be 0.
[[nodiscard]] constexpr double to_radians(std::int32_t counts, double counts_per_radian) noexcept {
  return counts / counts_per_radian;
}

/// Encodes a position word: bits 0-22 magnitude, bit 23 sign; not two's complement. Magnitudes beyond 23 bits
/// are clamped.
[[nodiscard]] constexpr std::uint32_t to_sign_magnitude24(std::int32_t counts) noexcept {
  const std::int32_t clamped = std::clamp(counts, -max_reference, max_reference);
  return clamped < 0 ? static_cast<std::uint32_t>(-clamped) | 0x80'0000U
                     : static_cast<std::uint32_t>(clamped);
}

/// Decodes a position word. Negative zero is zero; bits above 23 are ignored.
[[nodiscard]] constexpr std::int32_t from_sign_magnitude24(std::uint32_t word) noexcept {
  const auto magnitude = static_cast<std::int32_t>(word & 0x7F'FFFFU);
  return (word & 0x80'0000U) != 0 ? -magnitude : magnitude;
}

/// Position references of one board, id 0x010+board, 6 bytes: motor 0 in bytes 0-2, motor 1 in bytes 3-5. For
/// a board with one motor, repeat its reference in both, as hubo-ach does. HuboCan sends zeros instead.
/// Repetition is safer, in case the board uses the second word.
struct Reference {
  std::uint8_t board = 0;
  std::array<std::int32_t, channels> counts{};

  friend constexpr bool operator==(const Reference&, const Reference&) = default;
};

/// Encodes references. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Reference& reference) noexcept {
  if (const Status status = detail::begin(frame, reference_base, reference.board, 6); !status) return status;
  const std::uint64_t first = to_sign_magnitude24(reference.counts[0]);
  const std::uint64_t second = to_sign_magnitude24(reference.counts[1]);
  store_little<8>(frame.data.data(), first | second << 24);
  return {};
}

/// Decodes references. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Status decode_into(Reference& reference, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, reference_base, 6); !status) return status;
  const std::uint64_t words = load_little<6>(frame.data.data());
  reference.board = static_cast<std::uint8_t>(frame.id - reference_base);
  reference.counts = {from_sign_magnitude24(static_cast<std::uint32_t>(words & 0xFF'FFFFU)),
                      from_sign_magnitude24(static_cast<std::uint32_t>(words >> 24))};
  return {};
}
/// Decodes references. Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Result<Reference> decode_reference(const Frame& frame) noexcept {
  return decode<Reference>(frame);
}

/// The largest finger current in units of 0.01 A: the lower of the open drivers' limits.
inline constexpr std::int8_t max_finger_current = 10;

/// Converts a finger's current in A to units of 0.01 A, rounded and clamped to max_finger_current. Error:
/// not_finite.
[[nodiscard]] constexpr Result<std::int8_t> to_finger_current(double amperes) noexcept {
  if (!is_finite(100 * amperes)) return fail(Errc::not_finite);
  return static_cast<std::int8_t>(round_clamped(100 * amperes, -max_finger_current, max_finger_current));
}

/// Encodes a byte: bits 0-6 magnitude, bit 7 sign. -128 cannot be encoded and is sent as -127.
[[nodiscard]] constexpr std::uint8_t to_sign_magnitude8(std::int8_t value) noexcept {
  const int magnitude = std::min(value < 0 ? -value : value, 127);
  return static_cast<std::uint8_t>(magnitude | (value < 0 ? 0x80 : 0));
}
/// Decodes a byte of to_sign_magnitude8(). 0x80 is 0.
[[nodiscard]] constexpr std::int8_t from_sign_magnitude8(std::uint8_t byte) noexcept {
  const int magnitude = byte & 0x7F;
  return static_cast<std::int8_t>((byte & 0x80U) != 0 ? -magnitude : magnitude);
}

/// References of a BoardKind::hybrid, id 0x010+board, 5 bytes. Bytes 0-2 are the wrist's position as in
/// Reference. Bytes 3 and 4 are the currents of two fingers in 0.01 A, with a sign bit. The board must be in
/// ControlMode::hybrid.
struct HybridReference {
  std::uint8_t board = 0;
  std::int32_t wrist = 0;                ///< counts
  std::array<std::int8_t, 2> fingers{};  ///< in 0.01 A: to_finger_current()

  friend constexpr bool operator==(const HybridReference&, const HybridReference&) = default;
};

/// Encodes references. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const HybridReference& reference) noexcept {
  if (const Status status = detail::begin(frame, reference_base, reference.board, 5); !status) return status;
  store_little<3>(frame.data.data(), to_sign_magnitude24(reference.wrist));
  for (std::size_t i = 0; i < 2; ++i) frame.data[3 + i] = to_sign_magnitude8(reference.fingers[i]);
  return {};
}

/// Decodes references for hybrid control. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Status decode_into(HybridReference& reference, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, reference_base, 5); !status) return status;
  reference.board = static_cast<std::uint8_t>(frame.id - reference_base);
  reference.wrist = from_sign_magnitude24(static_cast<std::uint32_t>(load_little<3>(frame.data.data())));
  for (std::size_t i = 0; i < 2; ++i) reference.fingers[i] = from_sign_magnitude8(frame.data[3 + i]);
  return {};
}

/// DRC-Hubo's neck. For Hubo2+'s neck, with the same number, the format is not known; the open drivers send
/// an empty frame.
inline constexpr std::uint8_t neck_board = 0x22;
inline constexpr std::size_t neck_servos = 3;
inline constexpr std::uint16_t max_neck_word = 4095;

/// Converts a position in rad to a neck servo's word: 0 at -pi, 4095 at pi; rounded and clamped. Error:
/// not_finite.
[[nodiscard]] constexpr Result<std::uint16_t> to_neck_word(double position) noexcept {
  const double word = (position + std::numbers::pi) / (2 * std::numbers::pi) * max_neck_word;
  if (!is_finite(word)) return fail(Errc::not_finite);
  return static_cast<std::uint16_t>(round_clamped(word, 0, max_neck_word));
}

/// References of a BoardKind::neck, id 0x032, 6 bytes: a 16-bit word for each of the servos yaw, first,
/// second.
struct NeckReference {
  std::array<std::uint16_t, neck_servos> words{};  ///< to_neck_word()

  friend constexpr bool operator==(const NeckReference&, const NeckReference&) = default;
};

/// Encodes references. Error: out_of_range (a word above max_neck_word).
[[nodiscard]] constexpr Status encode_into(Frame& frame, const NeckReference& reference) noexcept {
  for (const std::uint16_t word : reference.words) {
    if (word > max_neck_word) return fail(Errc::out_of_range);
  }
  if (const Status status = detail::begin(frame, reference_base, neck_board, 6); !status) return status;
  for (std::size_t i = 0; i < neck_servos; ++i)
    store_little<2>(frame.data.data() + 2 * i, reference.words[i]);
  return {};
}

/// Decodes the references of a neck. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Status decode_into(NeckReference& reference, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, reference_base, 6); !status) return status;
  if (frame.id != reference_base + neck_board) return fail(Errc::unexpected_id);
  NeckReference read;
  for (std::size_t i = 0; i < neck_servos; ++i) {
    read.words[i] = static_cast<std::uint16_t>(load_little<2>(frame.data.data() + 2 * i));
    if (read.words[i] > max_neck_word) return fail(Errc::bad_value);
  }
  reference = read;
  return {};
}

}  // namespace takt::can::hubo
