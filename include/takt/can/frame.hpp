// A CAN frame, classic or FD, and the concept of a bus that carries frames. Plain data. Everything here is
// real-time safe and usable in constant expressions.
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

/// Limits of a frame: identifiers of 11 and 29 bits, data bytes of classic and FD frames.
inline constexpr std::uint32_t max_standard_id = 0x7FF;
inline constexpr std::uint32_t max_extended_id = 0x1FFF'FFFF;
inline constexpr std::size_t max_classic_length = 8;
inline constexpr std::size_t max_fd_length = 64;

/// The number of data bytes of each of the 16 data length codes in an FD frame. A classic frame has at most
/// 8.
inline constexpr std::array<std::uint8_t, 16> fd_lengths = {0, 1,  2,  3,  4,  5,  6,  7,
                                                            8, 12, 16, 20, 24, 32, 48, 64};

/// Returns the smallest FD data length code whose frame holds `bytes` data bytes; 15 for 64 and more.
[[nodiscard]] constexpr std::uint8_t fd_length_code(std::size_t bytes) noexcept {
  std::uint8_t code = 0;
  while (code < 15 && fd_lengths[code] < bytes) ++code;
  return code;
}

/// The properties of a frame that change its length on the wire.
struct FrameFormat {
  bool extended = false;
  bool fd = false;
  bool bit_rate_switch = false;  ///< FD only

  friend constexpr bool operator==(const FrameFormat&, const FrameFormat&) = default;
};

/// Returns whether a frame of this format can have exactly `bytes` data bytes.
[[nodiscard]] constexpr bool is_frame_length(std::size_t bytes, FrameFormat format) noexcept {
  if (!format.fd) return bytes <= max_classic_length;
  return fd_lengths[fd_length_code(bytes)] == bytes;
}

/// The clock that took a frame's time stamp.
enum class StampSource : std::uint8_t {
  none,      ///< no stamp: `Frame::stamp` has no meaning
  bus,       ///< a simulated bus: exact
  software,  ///< the kernel or an adapter's program: late by its latency
  hardware,  ///< the controller, on the wire
};

/// One frame. The field `length` is the number of data bytes, not the DLC: 0 to 8 classic; FD also 12, 16,
/// 20, 24, 32, 48, 64. The functions make_frame() and make_fd_frame() set the bytes at and beyond `length` to
/// zero.
///
/// An error frame reports what a controller saw on its bus, in the form of Linux's SocketCAN. It is received,
/// never sent. Its `id` holds the error classes and its `data` the details. can/bus_state.hpp decodes both.
struct Frame {
  Time stamp{};  ///< end of the frame on the wire, on the clock of the bus that delivered it
  StampSource stamp_source = StampSource::none;
  std::uint32_t id = 0;          ///< 11 bits, or 29 when `extended`
  std::uint8_t length = 0;       ///< data bytes
  bool extended = false;         ///< 29-bit identifier
  bool remote = false;           ///< remote transmission request: no data; classic only
  bool error = false;            ///< error frame: a controller's report, not a frame that a node sent
  bool fd = false;               ///< CAN FD format
  bool bit_rate_switch = false;  ///< FD: the data phase runs at the data bit rate
  bool error_state = false;      ///< FD: the sender was error-passive (ESI)
  std::array<std::uint8_t, 64> data{};

  /// The data bytes: the first `length` bytes of `data`.
  [[nodiscard]] constexpr std::span<const std::uint8_t> payload() const noexcept {
    return std::span<const std::uint8_t>(data).first(std::min<std::size_t>(length, data.size()));
  }

  /// Returns whether a node sent data with this frame: it is neither a remote request nor an error frame.
  [[nodiscard]] constexpr bool is_data() const noexcept { return !remote && !error; }

  friend constexpr bool operator==(const Frame&, const Frame&) = default;
};

/// Makes `frame` equal to Frame{}. Real-time safe. It clears field by field, because g++ clears the whole
/// struct by a string instruction. That instruction takes longer than encoding a message.
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

/// Makes a classic data frame of at most 8 bytes. `id`: 11 bits, or 29 bits with `extended`. Errors:
/// id_too_large, payload_too_long. Real-time safe.
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

/// Makes an FD data frame with bit-rate switch, of at most 64 bytes. `id`: 11 bits, or 29 bits with
/// `extended`. The frame has the smallest FD length that holds the data. Padding bytes are zero. Errors:
/// id_too_large, payload_too_long. Real-time safe.
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

/// Encodes a message into a frame. It works for each message type that has `Status encode_into(Frame&,
/// message, options...)`. Errors: those of encode_into().
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

/// A CAN bus as a robot's hardware needs it: a SocketCAN interface, a serial adapter or a simulated bus.
/// - send(frames): queues frames in order for transmission. Returns how many it took; the queue had no room
///   for the rest.
/// - receive(frames): fills the span with received frames, oldest first. Returns how many it wrote.
///
/// Neither function blocks.
// clang-format off
template <class B>
concept CanBus = requires(B& bus, std::span<const Frame> out, std::span<Frame> in) {
  { bus.send(out) } noexcept -> std::same_as<std::size_t>;
  { bus.receive(in) } noexcept -> std::same_as<std::size_t>;
};
// clang-format on

}  // namespace takt::can
