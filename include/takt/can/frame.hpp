// A CAN frame, classic or FD, as it stands on the bus, and the concept of a bus that carries it. Plain data, real-time safe.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/time.hpp"

namespace takt::can {

/// One frame. `length` is the number of data bytes (0-8 classic; 0-8, 12, 16, 20, 24, 32, 48, 64 FD), never the DLC code.
/// Bytes at and beyond `length` are zero in a frame that make_frame() made.
struct Frame {
  Time stamp{};                        ///< end of the frame on the wire, on the clock of the bus that delivered it
  std::uint32_t id = 0;                ///< 11 bits, or 29 when `extended`
  std::uint8_t length = 0;             ///< data bytes
  bool extended = false;               ///< 29-bit identifier
  bool remote = false;                 ///< remote transmission request: no data; classic only
  bool fd = false;                     ///< CAN FD format
  bool bit_rate_switch = false;        ///< FD: the data phase runs at the data bit rate
  bool error_state = false;            ///< FD: the sender was error-passive (ESI)
  std::array<std::uint8_t, 64> data{};

  [[nodiscard]] constexpr std::span<const std::uint8_t> payload() const noexcept {
    return std::span<const std::uint8_t>(data).first(std::min<std::size_t>(length, data.size()));
  }

  friend constexpr bool operator==(const Frame&, const Frame&) = default;
};

/// What a robot's hardware needs of a bus: a SocketCAN interface, a serial adapter, a simulated bus. Neither function blocks.
///   send(frames)     takes frames in order for transmission, returns how many it took; the rest found no room
///   receive(frames)  fills the span with frames that have arrived, oldest first; returns how many
template <class B>
concept CanBus = requires(B& bus, std::span<const Frame> out, std::span<Frame> in) {
  { bus.send(out) } noexcept -> std::same_as<std::size_t>;
  { bus.receive(in) } noexcept -> std::same_as<std::size_t>;
};

}  // namespace takt::can
