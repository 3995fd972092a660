// A CAN frame, classic or FD, as it stands on the bus, and the concept of a bus that carries it.
// Plain data; all of it is real-time safe and usable in constant expressions.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/can/error.hpp"
#include "takt/core/time.hpp"

namespace takt::can {

inline constexpr std::uint32_t max_standard_id = 0x7FF;
inline constexpr std::uint32_t max_extended_id = 0x1FFF'FFFF;
inline constexpr std::size_t max_classic_length = 8;
inline constexpr std::size_t max_fd_length = 64;

/// The number of data bytes that each of the 16 data length codes stands for in an FD frame (a classic frame:
/// at most 8).
inline constexpr std::array<std::uint8_t, 16> fd_lengths = {0, 1,  2,  3,  4,  5,  6,  7,
                                                            8, 12, 16, 20, 24, 32, 48, 64};

/// The smallest FD data length code whose frame holds `bytes`; 15 for 64 and everything above.
[[nodiscard]] constexpr std::uint8_t fd_length_code(std::size_t bytes) noexcept {
  std::uint8_t code = 0;
  while (code < 15 && fd_lengths[code] < bytes) ++code;
  return code;
}

/// The kinds of frame that differ in length on the wire.
struct FrameFormat {
  bool extended = false;
  bool fd = false;
  bool bit_rate_switch = false;  ///< FD only

  friend constexpr bool operator==(const FrameFormat&, const FrameFormat&) = default;
};

/// Whether a frame of this format can have so many data bytes.
[[nodiscard]] constexpr bool is_frame_length(std::size_t bytes, FrameFormat format) noexcept {
  if (!format.fd) return bytes <= max_classic_length;
  return fd_lengths[fd_length_code(bytes)] == bytes;
}

/// Who took a frame's time stamp.
enum class StampSource : std::uint8_t {
  none,      ///< nobody: the stamp means nothing
  bus,       ///< a simulated bus: exact
  software,  ///< the kernel or an adapter's program, when it was told of the frame: late by its latency
  hardware,  ///< the controller, on the wire
};

/// One frame. `length` is the number of data bytes (0-8 classic; 0-8, 12, 16, 20, 24, 32, 48, 64 FD), never
/// the DLC code. Bytes at and beyond `length` are zero in a frame that make_frame() made.
///
/// An error frame tells what a controller saw of its bus, in the form of Linux's SocketCAN: it is received, never sent. `id` then
/// holds the error classes and `data` the details; can/bus_state.hpp reads them.
struct Frame {
  Time stamp{};  ///< end of the frame on the wire, on the clock of the bus that delivered it
  StampSource stamp_source = StampSource::none;
  std::uint32_t id = 0;          ///< 11 bits, or 29 when `extended`
  std::uint8_t length = 0;       ///< data bytes
  bool extended = false;         ///< 29-bit identifier
  bool remote = false;           ///< remote transmission request: no data; classic only
  bool error = false;            ///< no frame of a sender, but a report on the bus
  bool fd = false;               ///< CAN FD format
  bool bit_rate_switch = false;  ///< FD: the data phase runs at the data bit rate
  bool error_state = false;      ///< FD: the sender was error-passive (ESI)
  std::array<std::uint8_t, 64> data{};

  [[nodiscard]] constexpr std::span<const std::uint8_t> payload() const noexcept {
    return std::span<const std::uint8_t>(data).first(std::min<std::size_t>(length, data.size()));
  }

  /// Whether the frame carries data of a sender: neither a remote request nor an error frame.
  [[nodiscard]] constexpr bool is_data() const noexcept { return !remote && !error; }

  friend constexpr bool operator==(const Frame&, const Frame&) = default;
};

/// Makes `frame` equal to Frame{}. Real-time safe. It clears field by field: g++ clears the whole struct by a string
/// instruction, which takes longer than encoding a message.
constexpr void clear(Frame& frame) noexcept {
  auto& [stamp, stamp_source, id, length, extended, remote, error, fd, bit_rate_switch, error_state, data] =
      frame;  // a field that is missing here does not compile
  stamp = {};
  stamp_source = StampSource::none;
  id = 0;
  length = 0;
  extended = remote = error = fd = bit_rate_switch = error_state = false;
  data = {};
}

/// A classic data frame with an 11-bit identifier (29 bits with `extended`). Errors: id_too_large,
/// payload_too_long.
[[nodiscard]] constexpr Result<Frame> make_frame(std::uint32_t id, std::span<const std::uint8_t> data,
                                                 bool extended = false) noexcept {
  if (id > (extended ? max_extended_id : max_standard_id)) return fail(Errc::id_too_large);
  if (data.size() > max_classic_length) return fail(Errc::payload_too_long);
  Frame frame;
  frame.id = id;
  frame.extended = extended;
  frame.length = static_cast<std::uint8_t>(data.size());
  std::copy(data.begin(), data.end(), frame.data.begin());
  return frame;
}

/// An FD data frame with bit-rate switch. Its length is the smallest that FD knows and that holds the data;
/// the rest is zero. Errors: id_too_large, payload_too_long.
[[nodiscard]] constexpr Result<Frame> make_fd_frame(std::uint32_t id, std::span<const std::uint8_t> data,
                                                    bool extended = false) noexcept {
  if (id > (extended ? max_extended_id : max_standard_id)) return fail(Errc::id_too_large);
  if (data.size() > max_fd_length) return fail(Errc::payload_too_long);
  Frame frame;
  frame.id = id;
  frame.extended = extended;
  frame.fd = true;
  frame.bit_rate_switch = true;
  frame.length = fd_lengths[fd_length_code(data.size())];
  std::copy(data.begin(), data.end(), frame.data.begin());
  return frame;
}

/// The frame of a message of any protocol that has `Status encode_into(Frame&, message, options...)`; its
/// errors.
// clang-format off
template <class Message, class... Options>
requires requires(Frame& frame, const Message& message, Options... options) {
  { encode_into(frame, message, options...) } noexcept -> std::same_as<Status>;
}
// clang-format on
[[nodiscard]] constexpr Result<Frame> encode(const Message& message, Options... options) noexcept {
  Result<Frame> frame;
  if (const Status status = encode_into(*frame, message, options...); !status) frame = fail(status.error());
  return frame;
}

/// What a robot's hardware needs of a bus: a SocketCAN interface, a serial adapter, a simulated bus. Neither
/// function blocks.
///   send(frames)     takes frames in order for transmission, returns how many it took; the rest found no room
///   receive(frames)  fills the span with frames that have arrived, oldest first; returns how many
// clang-format off
template <class B>
concept CanBus = requires(B& bus, std::span<const Frame> out, std::span<Frame> in) {
  { bus.send(out) } noexcept -> std::same_as<std::size_t>;
  { bus.receive(in) } noexcept -> std::same_as<std::size_t>;
};
// clang-format on

}  // namespace takt::can
