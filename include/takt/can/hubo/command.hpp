// Commands and requests to the joint boards of at most three bytes. For longer ones see can/hubo/setting.hpp
// and can/hubo/duty.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/can/hubo/frame.hpp"

namespace takt::can::hubo {

/// Board commands with at most one argument.
enum class CommandCode : std::uint8_t {
  status = 0x02,   ///< requests a StatusReply
  current = 0x04,  ///< requests a CurrentReply (can/hubo/current.hpp)
  encoder = 0x03,  ///< requests an EncoderReply. Argument: 0 first half; 1 second half of a five-motor hand
  /// Sets the present position to zero; also clears faults. Argument: channel 0-4, or all_channels.
  zero_encoder = 0x06,
  driver = 0x0B,        ///< power stage. Argument: 1 on, 0 off
  control_on = 0x0E,    ///< starts the position loop of the whole board
  control_off = 0x0F,   ///< stops the position loop of the whole board
  control_mode = 0x10,  ///< Argument: ControlMode
  home = 0x11,          ///< runs to the home switch. Argument: home_argument()
  /// Switching of the power stage. Argument: 1 non-complementary (movable by hand), 0 complementary.
  switching_mode = 0x13,
  read_parameter = 0x24,  ///< requests a parameter reply. Argument: parameter_type() (can/hubo/parameter.hpp)
  alarm = 0x82,           ///< Argument: 0 off, 1 to 4 sounds
  beep = 0x83,            ///< Argument: duration in 0.1 s
  power = 0xE0,           ///< to power_board only: requests a PowerReply (can/hubo/sensor.hpp)
  initialise = 0xFA,      ///< clears faults, returns to the default state
};

/// The control mode of a board's motors.
enum class ControlMode : std::uint8_t { position = 0, current = 1, hybrid = 2 };

/// The number of the power board, on robots that have one. On M-Hubo the number is a joint board's.
inline constexpr std::uint8_t power_board = 0x0E;

/// Returns the argument of `home`. Only here, channels count from 1 on the wire. Bit 1 selects the stored
/// homing parameters.
[[nodiscard]] constexpr std::uint8_t home_argument(std::uint8_t channel) noexcept {
  const unsigned selected = channel == all_channels ? 0x0FU : (channel + 1U) & 0x0FU;
  return static_cast<std::uint8_t>(selected << 4 | 0x02U);
}

/// A command, id 0x001: [board, code, argument, 0...]. The number of bytes depends on the code.
struct Command {
  std::uint8_t board = 0;
  CommandCode code = CommandCode::status;
  std::uint8_t argument = 0;  ///< for codes with an argument, otherwise 0

  friend constexpr bool operator==(const Command&, const Command&) = default;
};

/// Requests a StatusReply. Channels of this and the next functions count from 0.
[[nodiscard]] constexpr Command status_request(std::uint8_t board) noexcept {
  return {board, CommandCode::status, 0};
}
/// Requests encoder counts. `half` is 1 for the second half of a five-motor hand.
[[nodiscard]] constexpr Command encoder_request(std::uint8_t board, std::uint8_t half = 0) noexcept {
  return {board, CommandCode::encoder, half};
}
/// Sets the present position of a motor to zero, and clears faults. `channel` is 0-4 or all_channels.
[[nodiscard]] constexpr Command zero_encoder(std::uint8_t board, std::uint8_t channel) noexcept {
  return {board, CommandCode::zero_encoder, channel};
}
/// Switches the power stage of a board on or off.
[[nodiscard]] constexpr Command driver(std::uint8_t board, bool on) noexcept {
  return {board, CommandCode::driver, static_cast<std::uint8_t>(on ? 1 : 0)};
}
/// Starts or stops the position loop of the whole board.
[[nodiscard]] constexpr Command control(std::uint8_t board, bool on) noexcept {
  return {board, on ? CommandCode::control_on : CommandCode::control_off, 0};
}
/// Makes a motor run to its home switch. `channel` is 0-4 or all_channels.
[[nodiscard]] constexpr Command home(std::uint8_t board, std::uint8_t channel) noexcept {
  return {board, CommandCode::home, home_argument(channel)};
}
/// Clears faults, and sets a board to its default state.
[[nodiscard]] constexpr Command initialise(std::uint8_t board) noexcept {
  return {board, CommandCode::initialise, 0};
}
/// Requests a CurrentReply.
[[nodiscard]] constexpr Command current_request(std::uint8_t board) noexcept {
  return {board, CommandCode::current, 0};
}
/// Selects the control mode of a board.
[[nodiscard]] constexpr Command control_mode(std::uint8_t board, ControlMode mode) noexcept {
  return {board, CommandCode::control_mode, static_cast<std::uint8_t>(mode)};
}
/// Sets the switching of the power stage. Without complementary switching, a hand can move the motor.
[[nodiscard]] constexpr Command switching_mode(std::uint8_t board, bool complementary) noexcept {
  return {board, CommandCode::switching_mode, static_cast<std::uint8_t>(complementary ? 0 : 1)};
}
/// Sounds an alarm: 0 is off, 1 to 4 are sounds.
[[nodiscard]] constexpr Command alarm(std::uint8_t board, std::uint8_t sound) noexcept {
  return {board, CommandCode::alarm, sound};
}
/// Sounds the beeper.
[[nodiscard]] constexpr Command beep(std::uint8_t board, std::uint8_t tenths_of_a_second) noexcept {
  return {board, CommandCode::beep, tenths_of_a_second};
}
/// Requests a PowerReply.
[[nodiscard]] constexpr Command power_request() noexcept { return {power_board, CommandCode::power, 0}; }

namespace detail {

/// The number of bytes to send, and the smallest accepted number. 0 for an unknown command.
struct CommandLengths {
  std::uint8_t sent = 0;
  std::uint8_t least = 0;
};
[[nodiscard]] constexpr CommandLengths listed_lengths(CommandCode code) noexcept {
  switch (code) {
    case CommandCode::status:
      return {3, 2};  // the open drivers send a third byte without meaning
    case CommandCode::encoder:
    case CommandCode::zero_encoder:
    case CommandCode::driver:
    case CommandCode::control_mode:
    case CommandCode::switching_mode:  // hubo-ach sends two bytes, and so loses the argument
    case CommandCode::read_parameter:
    case CommandCode::alarm:
    case CommandCode::beep:
      return {3, 3};
    case CommandCode::home:
      return {8, 3};
    case CommandCode::control_on:
    case CommandCode::control_off:
    case CommandCode::initialise:
    case CommandCode::current:
    case CommandCode::power:
      return {2, 2};
  }
  return {};
}
/// As a table, because a hot path asks for each request.
inline constexpr auto command_lengths = [] {
  std::array<CommandLengths, 256> all{};
  for (std::size_t code = 0; code < all.size(); ++code)
    all[code] = listed_lengths(static_cast<CommandCode>(code));
  return all;
}();
[[nodiscard]] constexpr CommandLengths lengths_of(CommandCode code) noexcept {
  return command_lengths[static_cast<std::uint8_t>(code)];
}

}  // namespace detail

/// Encodes a command. Errors: unknown_node, unknown_command.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Command& command) noexcept {
  if (command.board > max_board) return fail(Errc::unknown_node);
  const detail::CommandLengths lengths = detail::lengths_of(command.code);
  if (lengths.sent == 0) return fail(Errc::unknown_command);
  clear(frame);
  frame.id = command_id;
  frame.length = lengths.sent;
  frame.data[0] = command.board;
  frame.data[1] = static_cast<std::uint8_t>(command.code);
  if (lengths.least > 2) frame.data[2] = command.argument;
  return {};
}

/// Decodes a command. Additional bytes are ignored, as the boards do. Errors: the usual ones, unknown_node
/// (not a joint board's number), unknown_command.
[[nodiscard]] constexpr Result<Command> decode_command(const Frame& frame) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id != command_id) return fail(Errc::unexpected_id);
  if (frame.length < 2 || frame.length > max_classic_length) return fail(Errc::wrong_length);
  if (frame.data[0] > max_board) return fail(Errc::unknown_node);
  Command command{frame.data[0], static_cast<CommandCode>(frame.data[1]), 0};
  const detail::CommandLengths lengths = detail::lengths_of(command.code);
  if (lengths.sent == 0) return fail(Errc::unknown_command);
  if (frame.length < lengths.least) return fail(Errc::wrong_length);
  if (lengths.least > 2) command.argument = frame.data[2];
  return command;
}

}  // namespace takt::can::hubo
