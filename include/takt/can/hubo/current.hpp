// Motor currents: the answers of the boards to current requests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "takt/can/hubo/frame.hpp"
#include "takt/can/quantise.hpp"

namespace takt::can::hubo {

/// The currents of one board, id 0x1C0+board. Parameters (can/hubo/parameter.hpp) have the same identifier.
/// Only the request distinguishes them (can/hubo/asked.hpp).
///
/// - two_channel: 10 bits each, 0.01 A. Bits 2-9 are in bytes 0 and 1, bits 0-1 in bits 0-1 and 2-3 of byte
///   3. Byte 2 is the temperature in degrees C.
/// - hybrid: one byte each, 1/250 A, in bytes 0, 1 and 3. Byte 2 is the temperature in degrees C.
/// - hand: one byte each, 0.001 A, in bytes 0, 1, 2, 4 and 5. No temperature.
///
/// The layout of a neck is not known; it is decoded as a hybrid.
struct CurrentReply {
  std::uint8_t board = 0;
  std::array<double, max_channels> amperes{};  ///< not negative; unused channels of the board's kind are 0
  std::optional<std::uint8_t> temperature;     ///< degrees C

  friend constexpr bool operator==(const CurrentReply&, const CurrentReply&) = default;
};

namespace detail {

/// The places of the currents for one kind of board.
struct CurrentLayout {
  std::array<std::uint8_t, max_channels> bytes{};
  double units_per_ampere = 0;
  unsigned largest = 0;  ///< units
  std::uint8_t length = 0;
};
[[nodiscard]] constexpr CurrentLayout current_layout(BoardKind kind) noexcept {
  switch (kind) {
    case BoardKind::two_channel:
      return {{0, 1}, 100, 1023, 4};
    case BoardKind::hand:
      return {{0, 1, 2, 4, 5}, 1000, 255, 6};
    case BoardKind::hybrid:
    case BoardKind::neck:
      break;
  }
  return {{0, 1, 3}, 250, 255, 4};
}

}  // namespace detail

/// Encodes the currents, rounded and clamped to the range of the frame. Errors: unknown_node, not_finite.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const CurrentReply& reply, BoardKind kind) noexcept {
  const detail::CurrentLayout layout = detail::current_layout(kind);
  const std::size_t count = channels_of(kind);
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_finite(reply.amperes[i] * layout.units_per_ampere)) return fail(Errc::not_finite);
  }
  if (const Status status = detail::begin(frame, current_base, reply.board, layout.length); !status)
    return status;
  for (std::size_t i = 0; i < count; ++i) {
    const auto units =
        static_cast<unsigned>(round_clamped(reply.amperes[i] * layout.units_per_ampere, 0, layout.largest));
    if (kind == BoardKind::two_channel) {
      frame.data[i] = static_cast<std::uint8_t>(units >> 2);
      frame.data[3] = static_cast<std::uint8_t>(frame.data[3] | (units & 3U) << (2 * i));
    } else {
      frame.data[layout.bytes[i]] = static_cast<std::uint8_t>(units);
    }
  }
  if (kind != BoardKind::hand) frame.data[2] = reply.temperature.value_or(0);
  return {};
}

/// Decodes the currents. The length of these frames is not documented: the used bytes must be there.
[[nodiscard]] constexpr Status decode_into(CurrentReply& reply, const Frame& frame, BoardKind kind) noexcept {
  const detail::CurrentLayout layout = detail::current_layout(kind);
  if (const Status status = detail::check_least(frame, current_base, layout.length); !status) return status;
  reply = {static_cast<std::uint8_t>(frame.id - current_base), {}, std::nullopt};
  for (std::size_t i = 0; i < channels_of(kind); ++i) {
    unsigned units = frame.data[layout.bytes[i]];
    if (kind == BoardKind::two_channel) units = units << 2 | (frame.data[3] >> (2 * i) & 3U);
    reply.amperes[i] = units / layout.units_per_ampere;
  }
  if (kind != BoardKind::hand) reply.temperature = frame.data[2];
  return {};
}

}  // namespace takt::can::hubo
