// The joint boards of the Hubo family on classic CAN, both directions: what a master sends and a board
// understands, and back. A board drives one or two motors, re-interpolates position references at 1 kHz, and
// answers requests; it says nothing unasked.
//
// No vendor specification is public. The layouts are those that the open drivers (hubo-ach of 2013, HuboCan
// of 2017) and KAIST's PODO headers send and accept; where they disagree, the comment at the place says so.
// All frames are classic data frames with 11-bit identifiers, all numbers little-endian, at 1 Mbit/s:
//
//   0x001        to a board    command: [board, code, arguments...]            Command
//   0x010+board  to a board    position references of both motors              Reference
//   0x060+board  from a board  encoder counts of both motors                   EncoderReply
//   0x150+board  from a board  status of both motors                           StatusReply
//
// Covered here: one- and two-motor boards, which are all boards of the wheeled humanoid M-Hubo (numbers 12 to
// 22: its grippers are channel 1 of boards 21 and 22). Boards with three to five motors use the same
// identifiers with other lengths, which the decoders here refuse. Every function is real-time safe and usable
// in constant expressions; a decoder reads nothing beyond the frame's length and refuses a frame of another
// shape with unexpected_id, wrong_format, wrong_length or bad_value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/can/frame.hpp"
#include "takt/can/quantise.hpp"
#include "takt/can/word.hpp"

namespace takt::can::hubo {

inline constexpr std::uint32_t command_id = 0x001;
inline constexpr std::uint32_t reference_base = 0x010;
inline constexpr std::uint32_t encoder_base = 0x060;
inline constexpr std::uint32_t status_base = 0x150;

/// Board numbers are 0..0x2F: 0x30 and above are sensors in commands, and reference identifiers end where
/// force-torque ones begin (0x040). On the older humanoids 0x20 is also called "all boards"; nobody sends it,
/// nor does takt.
inline constexpr std::uint8_t max_board = 0x2F;
inline constexpr std::size_t channels = 2;

/// The largest reference, in encoder counts: 23 bits of magnitude.
inline constexpr std::int32_t max_reference = (1 << 23) - 1;

/// Encoder counts that command `position` [rad], rounded and clamped to what a reference can say. The older
/// drivers truncate and let large values spill into the sign bit. Error: not_finite.
[[nodiscard]] constexpr Result<std::int32_t> to_counts(double position, double counts_per_radian) noexcept {
  const double counts = position * counts_per_radian;
  if (!is_finite(counts)) return fail(Errc::not_finite);
  return static_cast<std::int32_t>(round_clamped(counts, -max_reference, max_reference));
}

/// The position [rad] of an encoder count. `counts_per_radian` must not be 0.
[[nodiscard]] constexpr double to_radians(std::int32_t counts, double counts_per_radian) noexcept {
  return counts / counts_per_radian;
}

// ---- References

/// A position word on the wire: bits 0-22 magnitude, bit 23 sign; not two's complement. Magnitudes beyond 23
/// bits are clamped.
[[nodiscard]] constexpr std::uint32_t to_sign_magnitude24(std::int32_t counts) noexcept {
  const std::int32_t clamped = std::clamp(counts, -max_reference, max_reference);
  return clamped < 0 ? static_cast<std::uint32_t>(-clamped) | 0x80'0000U
                     : static_cast<std::uint32_t>(clamped);
}

/// The inverse; negative zero is zero, bits above 23 are ignored.
[[nodiscard]] constexpr std::int32_t from_sign_magnitude24(std::uint32_t word) noexcept {
  const auto magnitude = static_cast<std::int32_t>(word & 0x7F'FFFFU);
  return (word & 0x80'0000U) != 0 ? -magnitude : magnitude;
}

/// Position references of one board, id 0x010+board, 6 bytes: motor 0 in bytes 0-2, motor 1 in bytes 3-5. For
/// a board with one motor repeat its reference in both: that is what hubo-ach does; HuboCan leaves zeros; a
/// board that heeds the second word is safer with a repetition.
struct Reference {
  std::uint8_t board = 0;
  std::array<std::int32_t, channels> counts{};

  friend constexpr bool operator==(const Reference&, const Reference&) = default;
};

// ---- Commands

/// Board commands with known and tested effect. (Not offered: 0xF0, which renumbers a board for good.)
enum class CommandCode : std::uint8_t {
  status = 0x02,   ///< asks for a StatusReply
  encoder = 0x03,  ///< asks for an EncoderReply. Argument: 0 first half; 1 second half of a five-motor hand
  zero_encoder = 0x06,  ///< this position is zero; clears faults too. Argument: channel 0-4, or all_channels
  driver = 0x0B,        ///< power stage. Argument: 1 on, 0 off
  control_on = 0x0E,    ///< the position loop of the whole board starts
  control_off = 0x0F,   ///< and stops
  home = 0x11,          ///< runs to the home switch. Argument: home_argument()
  initialise = 0xFA,    ///< clears faults, returns to the default state
};

inline constexpr std::uint8_t all_channels = 0x0F;

/// The argument of `home`: channels count from 1 here, and only here; bit 1 asks for the stored homing
/// parameters.
[[nodiscard]] constexpr std::uint8_t home_argument(std::uint8_t channel) noexcept {
  const unsigned selected = channel == all_channels ? 0x0FU : (channel + 1U) & 0x0FU;
  return static_cast<std::uint8_t>(selected << 4 | 0x02U);
}

/// A command, id 0x001: [board, code, argument, 0...]. How many bytes are sent depends on the code.
struct Command {
  std::uint8_t board = 0;
  CommandCode code = CommandCode::status;
  std::uint8_t argument = 0;  ///< for the codes that have one, otherwise 0

  friend constexpr bool operator==(const Command&, const Command&) = default;
};

[[nodiscard]] constexpr Command status_request(std::uint8_t board) noexcept {
  return {board, CommandCode::status, 0};
}
[[nodiscard]] constexpr Command encoder_request(std::uint8_t board, std::uint8_t half = 0) noexcept {
  return {board, CommandCode::encoder, half};
}
[[nodiscard]] constexpr Command zero_encoder(std::uint8_t board, std::uint8_t channel) noexcept {
  return {board, CommandCode::zero_encoder, channel};
}
[[nodiscard]] constexpr Command driver(std::uint8_t board, bool on) noexcept {
  return {board, CommandCode::driver, static_cast<std::uint8_t>(on ? 1 : 0)};
}
[[nodiscard]] constexpr Command control(std::uint8_t board, bool on) noexcept {
  return {board, on ? CommandCode::control_on : CommandCode::control_off, 0};
}
[[nodiscard]] constexpr Command home(std::uint8_t board, std::uint8_t channel) noexcept {
  return {board, CommandCode::home, home_argument(channel)};
}
[[nodiscard]] constexpr Command initialise(std::uint8_t board) noexcept {
  return {board, CommandCode::initialise, 0};
}

// ---- Replies

/// Encoder counts of one board, id 0x060+board, 8 bytes: two's complement, motor 0 in bytes 0-3, motor 1 in
/// bytes 4-7. Other lengths are boards with other motors. (0x06E is also the power board's reply on robots
/// that have one; on M-Hubo it is joint board 14.)
struct EncoderReply {
  std::uint8_t board = 0;
  std::array<std::int32_t, channels> counts{};

  friend constexpr bool operator==(const EncoderReply&, const EncoderReply&) = default;
};

/// The two known meanings of the status bytes.
enum class Dialect : std::uint8_t {
  ach,   ///< hubo-ach, HuboCan: the firmware of 2013
  podo,  ///< PODO's headers: newer firmware, M-Hubo
};

/// What can be wrong with a motor, in one numbering for both dialects: these are the bits of
/// JointFeedback::fault.
namespace fault {
inline constexpr std::uint32_t jam = 1U << 0;            ///< blocked for longer than the jam time
inline constexpr std::uint32_t pwm_saturated = 1U << 1;  ///< full duty for longer than the saturation time
inline constexpr std::uint32_t big_error = 1U << 2;      ///< position error above its bound
inline constexpr std::uint32_t encoder = 1U << 3;
inline constexpr std::uint32_t driver = 1U << 4;         ///< the power stage reports a fault
inline constexpr std::uint32_t motor_fail_0 = 1U << 5;   ///< ach only
inline constexpr std::uint32_t motor_fail_1 = 1U << 6;   ///< ach only
inline constexpr std::uint32_t position_low = 1U << 7;   ///< at the lower position limit
inline constexpr std::uint32_t position_high = 1U << 8;  ///< at the upper position limit
inline constexpr std::uint32_t velocity = 1U << 9;       ///< ach only
inline constexpr std::uint32_t acceleration = 1U << 10;  ///< ach only
inline constexpr std::uint32_t temperature = 1U << 11;
inline constexpr std::uint32_t big_input = 1U << 12;  ///< podo only: the reference jumped
inline constexpr std::uint32_t current = 1U << 13;    ///< podo only
/// Set by the master, never by a board: the power stage or the control loop went off although nobody asked
/// for it.
inline constexpr std::uint32_t power_lost = 1U << 31;

/// Bits that warn; all others are faults that stop the motor [that is our reading: no source says which do].
inline constexpr std::uint32_t warnings =
    pwm_saturated | position_low | position_high | velocity | acceleration;
}  // namespace fault

/// One motor's status.
struct MotorStatus {
  bool driver_on = false;   ///< power stage on; podo calls the bit HIP [the HIP4080 bridge driver, we think]
  bool control_on = false;  ///< position loop runs
  bool current_mode = false;  ///< controls current instead of position
  bool limit_switch = false;
  std::uint8_t home = 0;     ///< 0..15; home_done after successful homing, other values are not known
  std::uint32_t faults = 0;  ///< fault::...; bits that the dialect does not know cannot be sent

  [[nodiscard]] constexpr bool running() const noexcept { return driver_on && control_on; }
  [[nodiscard]] constexpr bool faulty() const noexcept { return (faults & ~fault::warnings) != 0; }
  friend constexpr bool operator==(const MotorStatus&, const MotorStatus&) = default;
};
inline constexpr std::uint8_t home_done = 6;

/// Status of one board, id 0x150+board, 8 bytes, four for each motor:
///   byte 0  b0 driver on, b1 control on, b2 current mode, b3 limit switch, b4-7 home
///   byte 1  ach:  b0 jam, b1 PWM saturated, b2 big error, b3 encoder, b4 driver, b5-6 motor fail 0 and 1
///           podo: b0 jam, b1 PWM saturated, b2 big error, b3 big input, b4 driver, b5 encoder, b6 current,
///                 b7 temperature
///   byte 2  ach:  b0 lower limit, b1 upper limit, b2 velocity, b3 acceleration, b4 temperature
///           podo: b0 lower limit, b1 upper limit; the rest is modes (SWM, GOV, FRC, REF, CAN, RPL), which
///                 are not decoded and sent as 0
///   byte 3  unused
struct StatusReply {
  std::uint8_t board = 0;
  std::array<MotorStatus, channels> motors{};

  friend constexpr bool operator==(const StatusReply&, const StatusReply&) = default;
};

// ---- Codec

namespace detail {

/// Whether this is a classic data frame of the message whose identifiers begin at `base`.
[[nodiscard]] constexpr Status check(const Frame& frame, std::uint32_t base, std::size_t length) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id < base || frame.id > base + max_board) return fail(Errc::unexpected_id);
  if (frame.length != length) return fail(Errc::wrong_length);
  return {};
}

/// What decode_into() makes of a frame.
template <class Message, class... Options>
[[nodiscard]] constexpr Result<Message> decoded(const Frame& frame, Options... options) noexcept {
  Message message;
  if (const Status status = decode_into(message, frame, options...); !status) return fail(status.error());
  return message;
}

/// Makes `frame` the empty one of a message. Error: unknown_node; the frame of a board that does not exist
/// would mean something else.
[[nodiscard]] constexpr Status begin(Frame& frame, std::uint32_t base, std::uint8_t board,
                                     std::uint8_t length) noexcept {
  if (board > max_board) return fail(Errc::unknown_node);
  frame = Frame{};
  frame.id = base + board;
  frame.length = length;
  return {};
}

/// Bytes sent for a command, and the fewest that it makes sense with. 0: not a command that we know.
struct CommandLengths {
  std::uint8_t sent = 0;
  std::uint8_t least = 0;
};
[[nodiscard]] constexpr CommandLengths lengths_of(CommandCode code) noexcept {
  switch (code) {
    case CommandCode::status:
      return {3, 2};  // the open drivers send a third byte without meaning
    case CommandCode::encoder:
    case CommandCode::zero_encoder:
    case CommandCode::driver:
      return {3, 3};
    case CommandCode::home:
      return {8, 3};
    case CommandCode::control_on:
    case CommandCode::control_off:
    case CommandCode::initialise:
      return {2, 2};
  }
  return {};
}

/// Where a dialect keeps a fault: bit `wire` of the 16 bits of status bytes 1 and 2.
struct FaultBit {
  std::uint32_t fault;
  unsigned wire;
};
inline constexpr std::array<FaultBit, 12> ach_faults = {{{fault::jam, 0},
                                                         {fault::pwm_saturated, 1},
                                                         {fault::big_error, 2},
                                                         {fault::encoder, 3},
                                                         {fault::driver, 4},
                                                         {fault::motor_fail_0, 5},
                                                         {fault::motor_fail_1, 6},
                                                         {fault::position_low, 8},
                                                         {fault::position_high, 9},
                                                         {fault::velocity, 10},
                                                         {fault::acceleration, 11},
                                                         {fault::temperature, 12}}};
inline constexpr std::array<FaultBit, 10> podo_faults = {{{fault::jam, 0},
                                                          {fault::pwm_saturated, 1},
                                                          {fault::big_error, 2},
                                                          {fault::big_input, 3},
                                                          {fault::driver, 4},
                                                          {fault::encoder, 5},
                                                          {fault::current, 6},
                                                          {fault::temperature, 7},
                                                          {fault::position_low, 8},
                                                          {fault::position_high, 9}}};

[[nodiscard]] constexpr std::span<const FaultBit> faults_of(Dialect dialect) noexcept {
  if (dialect == Dialect::podo) return podo_faults;
  return ach_faults;
}

}  // namespace detail

using can::encode;  // encode(message) gives a Result<Frame>; encode_into(frame, message) writes into a frame
// decode_into(message, frame) is the decoder of a cycle, decode_...(frame) the same as a Result<Message>: the
// message shares its place with the error there, and goes through memory in pieces, which takes ten times as
// long. On an error the message stays as it was.

/// Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Reference& reference) noexcept {
  if (const Status status = detail::begin(frame, reference_base, reference.board, 6); !status) return status;
  const std::uint64_t first = to_sign_magnitude24(reference.counts[0]);
  const std::uint64_t second = to_sign_magnitude24(reference.counts[1]);
  store_little<8>(frame.data.data(), first | second << 24);
  return {};
}

[[nodiscard]] constexpr Status decode_into(Reference& reference, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, reference_base, 6); !status) return status;
  const std::uint64_t words = load_little<6>(frame.data.data());
  reference.board = static_cast<std::uint8_t>(frame.id - reference_base);
  reference.counts = {from_sign_magnitude24(static_cast<std::uint32_t>(words & 0xFF'FFFFU)),
                      from_sign_magnitude24(static_cast<std::uint32_t>(words >> 24))};
  return {};
}
[[nodiscard]] constexpr Result<Reference> decode_reference(const Frame& frame) noexcept {
  return detail::decoded<Reference>(frame);
}

/// Errors: unknown_node, unknown_command.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Command& command) noexcept {
  if (command.board > max_board) return fail(Errc::unknown_node);
  const detail::CommandLengths lengths = detail::lengths_of(command.code);
  if (lengths.sent == 0) return fail(Errc::unknown_command);
  frame = Frame{};
  frame.id = command_id;
  frame.length = lengths.sent;
  frame.data[0] = command.board;
  frame.data[1] = static_cast<std::uint8_t>(command.code);
  if (lengths.least > 2) frame.data[2] = command.argument;
  return {};
}

/// Bytes after those that the command needs are ignored, as the boards do. Errors besides the usual:
/// unknown_node for numbers that are no joint board's, unknown_command.
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

/// Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const EncoderReply& reply) noexcept {
  if (const Status status = detail::begin(frame, encoder_base, reply.board, 8); !status) return status;
  const auto first = static_cast<std::uint32_t>(reply.counts[0]);
  const auto second = static_cast<std::uint32_t>(reply.counts[1]);
  store_little<8>(frame.data.data(), first | std::uint64_t{second} << 32);
  return {};
}

[[nodiscard]] constexpr Status decode_into(EncoderReply& reply, const Frame& frame) noexcept {
  if (const Status status = detail::check(frame, encoder_base, 8); !status) return status;
  const std::uint64_t words = load_little<8>(frame.data.data());
  reply.board = static_cast<std::uint8_t>(frame.id - encoder_base);
  reply.counts = {static_cast<std::int32_t>(words), static_cast<std::int32_t>(words >> 32)};
  return {};
}
[[nodiscard]] constexpr Result<EncoderReply> decode_encoder(const Frame& frame) noexcept {
  return detail::decoded<EncoderReply>(frame);
}

/// Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const StatusReply& reply, Dialect dialect) noexcept {
  if (const Status status = detail::begin(frame, status_base, reply.board, 8); !status) return status;
  for (std::size_t i = 0; i < channels; ++i) {
    const MotorStatus& motor = reply.motors[i];
    unsigned word = (motor.driver_on ? 1U : 0U) | (motor.control_on ? 2U : 0U) |
                    (motor.current_mode ? 4U : 0U) | (motor.limit_switch ? 8U : 0U) |
                    (motor.home & 0x0FU) << 4;
    for (const auto& [fault, wire] : detail::faults_of(dialect)) {
      if ((motor.faults & fault) != 0) word |= 1U << (8 + wire);
    }
    store_little<4>(frame.data.data() + 4 * i, word);
  }
  return {};
}

[[nodiscard]] constexpr Status decode_into(StatusReply& reply, const Frame& frame, Dialect dialect) noexcept {
  if (const Status status = detail::check(frame, status_base, 8); !status) return status;
  reply = {static_cast<std::uint8_t>(frame.id - status_base), {}};
  for (std::size_t i = 0; i < channels; ++i) {
    const auto word = static_cast<std::uint32_t>(load_little<4>(frame.data.data() + 4 * i));
    MotorStatus& motor = reply.motors[i];
    motor.driver_on = (word & 1U) != 0;
    motor.control_on = (word & 2U) != 0;
    motor.current_mode = (word & 4U) != 0;
    motor.limit_switch = (word & 8U) != 0;
    motor.home = static_cast<std::uint8_t>(word >> 4 & 0x0FU);
    for (const auto& [fault, wire] : detail::faults_of(dialect)) {
      if ((word >> (8 + wire) & 1U) != 0) motor.faults |= fault;
    }
  }
  return {};
}
[[nodiscard]] constexpr Result<StatusReply> decode_status(const Frame& frame, Dialect dialect) noexcept {
  return detail::decoded<StatusReply>(frame, dialect);
}

}  // namespace takt::can::hubo
