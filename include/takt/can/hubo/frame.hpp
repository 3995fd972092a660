// The common parts of all frames of the Hubo boards: identifiers, board and sensor numbers, kinds of board,
// dialects. For the protocol see can/hubo.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/can/frame.hpp"

namespace takt::can::hubo {

inline constexpr std::uint32_t command_id = 0x001;
inline constexpr std::uint32_t reference_base = 0x010;
inline constexpr std::uint32_t encoder_base = 0x060;
inline constexpr std::uint32_t status_base = 0x150;
inline constexpr std::uint32_t current_base = 0x1C0;  ///< also of parameters: see can/hubo/asked.hpp

/// Board numbers are 0 to 0x2F. In commands, numbers from 0x30 are sensors. Reference identifiers end before
/// those of force-torque sensors (0x040). On the older humanoids 0x20 is also called "all boards"; neither
/// known drivers nor takt send it.
inline constexpr std::uint8_t max_board = 0x2F;
inline constexpr std::size_t channels = 2;      ///< of the boards of most joints
inline constexpr std::size_t max_channels = 5;  ///< of any board

/// The kind of a board. It decides the content of the frames, not their identifiers.
enum class BoardKind : std::uint8_t {
  two_channel,  ///< one or two motors with encoders of 32 bits: all joints but those below
  hybrid,       ///< DRC-Hubo's wrists: wrist roll and two fingers driven by current
  neck,         ///< DRC-Hubo's neck: three servos of 12 bits
  hand,         ///< Hubo2+'s hands: five fingers driven by duty
};
/// The number of motors of such a board.
[[nodiscard]] constexpr std::size_t channels_of(BoardKind kind) noexcept {
  return kind == BoardKind::two_channel ? 2 : kind == BoardKind::hand ? 5 : 3;
}

/// The two known generations of firmware. Their status bytes and the identifier of sensor requests differ.
enum class Dialect : std::uint8_t {
  ach,   ///< hubo-ach, HuboCan: the firmware of 2013
  podo,  ///< PODO's headers: newer firmware, M-Hubo
};

/// The direction of rotation in a field of one bit. The sources disagree once; this is the majority.
enum class Rotation : std::uint8_t { counterclockwise = 0, clockwise = 1 };

inline constexpr std::uint8_t all_channels = 0x0F;

namespace detail {

/// Checks that this is a classic data frame of the message whose identifiers begin at `base`.
[[nodiscard]] constexpr Status check_origin(const Frame& frame, std::uint32_t base) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id < base || frame.id > base + max_board) return fail(Errc::unexpected_id);
  return {};
}
/// Also checks the length. Not built on check_origin(): each cycle decodes many frames, and that takes 20
/// instructions more.
[[nodiscard]] constexpr Status check(const Frame& frame, std::uint32_t base, std::size_t length) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id < base || frame.id > base + max_board) return fail(Errc::unexpected_id);
  if (frame.length != length) return fail(Errc::wrong_length);
  return {};
}
/// The same for messages whose length is not documented: the used bytes must be there.
[[nodiscard]] constexpr Status check_least(const Frame& frame, std::uint32_t base,
                                           std::size_t least) noexcept {
  if (const Status status = check_origin(frame, base); !status) return status;
  if (frame.length < least || frame.length > max_classic_length) return fail(Errc::wrong_length);
  return {};
}

/// Makes `frame` an empty frame of a message. Error: unknown_node: with an invalid board number the frame
/// would have another meaning.
[[nodiscard]] constexpr Status begin(Frame& frame, std::uint32_t base, std::uint8_t board,
                                     std::uint8_t length) noexcept {
  if (board > max_board) return fail(Errc::unknown_node);
  clear(frame);
  frame.id = base + board;
  frame.length = length;
  return {};
}

}  // namespace detail

using can::encode;  // encode(message) returns a Result<Frame>; encode_into(frame, message) writes one

/// Returns decode_into(message, frame, options...) as a Result. For a cycle use decode_into(), which is ten
/// times as fast. The Result shares its place with the error and goes through memory. On an error of
/// decode_into() the message stays.
template <class Message, class... Options>
[[nodiscard]] constexpr Result<Message> decode(const Frame& frame, Options... options) noexcept {
  Message message;
  if (const Status status = decode_into(message, frame, options...); !status) return fail(status.error());
  return message;
}

}  // namespace takt::can::hubo
