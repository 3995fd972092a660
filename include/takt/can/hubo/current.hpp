// What the motors draw: the boards' answers to current requests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "takt/can/hubo/frame.hpp"
#include "takt/can/quantise.hpp"

namespace takt::can::hubo {

/// Currents of one board, id 0x1C0+board. The same identifier carries parameters (can/hubo/parameter.hpp): only what was asked
/// tells them apart (can/hubo/asked.hpp).
///   two_channel  10 bits each, 0.01 A: bits 2-9 in bytes 0 and 1, bits 0-1 in bits 0-1 and 2-3 of byte 3; byte 2 degrees C
///   hybrid       a byte each, 1/250 A: bytes 0, 1 and 3; byte 2 degrees C
///   hand         a byte each, 0.001 A: bytes 0, 1, 2, 4 and 5; no temperature
/// What a neck says is not known; it is read as a hybrid.
struct CurrentReply {
  std::uint8_t board = 0;
  std::array<double, max_channels>
      amperes{};  ///< not negative; as many as the board's kind has, the others are 0
  std::optional<std::uint8_t> temperature;  ///< degrees C

  friend constexpr bool operator==(const CurrentReply&, const CurrentReply&) = default;
};

namespace detail {

/// Where a kind of board keeps its currents.
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

/// Rounded, and clamped to what the frame can say. Errors: unknown_node, not_finite.
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

/// Nobody says how long these frames are: what stands in them must be there.
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
