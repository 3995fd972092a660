// What all frames of the Hubo boards have in common: identifiers, board and sensor numbers, kinds of board, dialects. The
// manual of the protocol is can/hubo.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/can/frame.hpp"

namespace takt::can::hubo {

inline constexpr std::uint32_t command_id = 0x001;
inline constexpr std::uint32_t reference_base = 0x010;
inline constexpr std::uint32_t encoder_base = 0x060;
inline constexpr std::uint32_t status_base = 0x150;
inline constexpr std::uint32_t current_base = 0x1C0;  ///< parameters too: told apart only by what was asked

/// Board numbers are 0..0x2F: 0x30 and above are sensors in commands, and reference identifiers end where
/// force-torque ones begin (0x040). On the older humanoids 0x20 is also called "all boards"; nobody sends it,
/// nor does takt.
inline constexpr std::uint8_t max_board = 0x2F;
inline constexpr std::size_t channels = 2;      ///< of the boards of most joints
inline constexpr std::size_t max_channels = 5;  ///< of any board

/// The boards differ in what their frames hold, not in their identifiers.
enum class BoardKind : std::uint8_t {
  two_channel,  ///< one or two motors with encoders of 32 bits: all joints but those below
  hybrid,       ///< DRC-Hubo's wrists: wrist roll and two fingers driven by current
  neck,         ///< DRC-Hubo's neck: three servos of 12 bits
  hand,         ///< Hubo2+'s hands: five fingers driven by duty
};
[[nodiscard]] constexpr std::size_t channels_of(BoardKind kind) noexcept {
  return kind == BoardKind::two_channel ? 2 : kind == BoardKind::hand ? 5 : 3;
}

/// The two known generations of firmware. They differ in the status bytes, and in the identifier of sensor requests.
enum class Dialect : std::uint8_t {
  ach,   ///< hubo-ach, HuboCan: the firmware of 2013
  podo,  ///< PODO's headers: newer firmware, M-Hubo
};

/// Which way a motor turns, where a field says so by a bit. The sources contradict each other once; this is what most of
/// them write.
enum class Rotation : std::uint8_t { counterclockwise = 0, clockwise = 1 };

inline constexpr std::uint8_t all_channels = 0x0F;

namespace detail {

/// Whether this is a classic data frame of the message whose identifiers begin at `base`.
[[nodiscard]] constexpr Status check_origin(const Frame& frame, std::uint32_t base) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id < base || frame.id > base + max_board) return fail(Errc::unexpected_id);
  return {};
}
/// And of this length. In one piece, as each cycle decodes many: by way of check_origin() it takes 20 instructions more.
[[nodiscard]] constexpr Status check(const Frame& frame, std::uint32_t base, std::size_t length) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id < base || frame.id > base + max_board) return fail(Errc::unexpected_id);
  if (frame.length != length) return fail(Errc::wrong_length);
  return {};
}
/// For messages of which nobody says how long they are, only what stands in them.
[[nodiscard]] constexpr Status check_least(const Frame& frame, std::uint32_t base,
                                           std::size_t least) noexcept {
  if (const Status status = check_origin(frame, base); !status) return status;
  if (frame.length < least || frame.length > max_classic_length) return fail(Errc::wrong_length);
  return {};
}

/// Makes `frame` the empty one of a message. Error: unknown_node; the frame of a board that does not exist
/// would mean something else.
[[nodiscard]] constexpr Status begin(Frame& frame, std::uint32_t base, std::uint8_t board,
                                     std::uint8_t length) noexcept {
  if (board > max_board) return fail(Errc::unknown_node);
  clear(frame);
  frame.id = base + board;
  frame.length = length;
  return {};
}

}  // namespace detail

using can::encode;  // encode(message) gives a Result<Frame>; encode_into(frame, message) writes into a frame

/// What decode_into(message, frame, options...) makes of a frame. decode_into() is the decoder of a cycle: the message shares
/// its place with the error here, and goes through memory in pieces, which takes ten times as long. On an error the message
/// stays as it was.
template <class Message, class... Options>
[[nodiscard]] constexpr Result<Message> decode(const Frame& frame, Options... options) noexcept {
  Message message;
  if (const Status status = decode_into(message, frame, options...); !status) return fail(status.error());
  return message;
}

}  // namespace takt::can::hubo
