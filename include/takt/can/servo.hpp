// takt's own CAN FD protocol for servo drives, small enough to be implemented in a drive in an afternoon.
// Once per control period the master broadcasts one command frame for up to six drives. Each addressed drive
// answers with one frame. The command is also the synchronisation, and the reply is the feedback; there are
// no other frames.
//
// All frames are FD data frames with 11-bit identifiers and bit-rate switch. Numbers are little-endian two's
// complement.
//
// - 0x100+group  master to drives   GroupCommand   16, 24, 48 or 64 bytes (1, 2, 4 or 6 slots)
// - 0x180+node   drive to master    DriveReply     12 bytes
//
// Nodes are numbered 1 to 48. Node n uses slot (n-1) % 6 of group (n-1) / 6. Worst-case bus time at 1/5
// Mbit/s: 170 us for the command and 65 us for each reply. Six drives take 560 us of a 1 kHz period, which is
// 56 %.
//
// Units (rotary; a linear joint has m instead of rad and N instead of N m):
// - position  i32 in 2^-24 rad       +-128 rad,    resolution 60 nrad
// - velocity  i24 in 2^-16 rad/s     +-128 rad/s,  resolution 15 urad/s
// - torque    i16 in 2^-5 N m        +-1024 N m,   resolution 0.03 N m
//
// Numbers are rounded to the nearest and clamped to their range. NaN and infinity are rejected before they
// reach the bus.
//
// GroupCommand
// - byte 0  protocol version, 1
// - byte 1  sequence: the master adds 1 (mod 256) each period. A drive ignores a command with the same number
//   as the one before, because a repeated number means a stuck sender.
// - byte 2  watchdog, 1 to 255 ms
// - byte 3  reserved, 0
// - then 10 bytes for each slot:
//   - +0  flags: b0 addressed, b1 enable, b2 clear fault, b4-5 mode, others 0.
//     A drive ignores and does not answer a slot without `addressed`.
//     Mode: 0 position, 1 velocity, 2 torque.
//   - +1  position, 4 bytes
//   - +5  velocity, 3 bytes: feed-forward in mode position, reference in mode velocity
//   - +8  torque, 2 bytes: feed-forward in modes position and velocity, reference in mode torque
//
// DriveReply
// - byte 0  sequence of the answered command
// - byte 1  state: 0 off, 1 ready, 2 fault
// - byte 2  fault code, see Fault
// - byte 3  position, 4 bytes
// - byte 7  velocity, 3 bytes
// - byte 10 torque, 2 bytes
//
// States of the drive:
// - `off` changes to `ready` on a command with enable and without clear fault.
// - `ready` changes to `off` on a command without enable.
// - Every fault switches the power stage off and leads to `fault`, from every state.
// - `fault` changes to `off` on a command with clear fault and without enable, unless the cause persists.
// - A drive in `ready` needs an addressed command with a new sequence number within the watchdog time of the
//   last one. Otherwise it brakes to rest and changes to `fault` with reference_lost.
//
// Every function is real-time safe and usable in constant expressions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/can/frame.hpp"
#include "takt/can/quantise.hpp"
#include "takt/can/word.hpp"

namespace takt::can::servo {

inline constexpr std::uint8_t protocol_version = 1;
inline constexpr std::uint32_t command_base = 0x100;
inline constexpr std::uint32_t reply_base = 0x180;
inline constexpr std::size_t slots_per_group = 6;
inline constexpr std::uint8_t group_count = 8;
inline constexpr std::uint8_t max_node = group_count * slots_per_group;

inline constexpr double position_unit = 1.0 / (1 << 24);  ///< rad
inline constexpr double velocity_unit = 1.0 / (1 << 16);  ///< rad/s
inline constexpr double torque_unit = 1.0 / (1 << 5);     ///< N m

/// Returns whether this is a valid node number.
[[nodiscard]] constexpr bool is_node(std::uint8_t node) noexcept { return node >= 1 && node <= max_node; }
/// Returns the group of a node; is_node() must be true.
[[nodiscard]] constexpr std::uint8_t group_of(std::uint8_t node) noexcept {
  return static_cast<std::uint8_t>((node - 1U) / slots_per_group);
}
/// Returns the slot of a node in its group; is_node() must be true.
[[nodiscard]] constexpr std::uint8_t slot_of(std::uint8_t node) noexcept {
  return static_cast<std::uint8_t>((node - 1U) % slots_per_group);
}

/// The quantity that a drive follows.
enum class Mode : std::uint8_t { position = 0, velocity = 1, torque = 2 };
/// The state of a drive.
enum class State : std::uint8_t { off = 0, ready = 1, fault = 2 };

/// The reason for State::fault. JointFeedback::fault has the same numbers; 256 and above are faults that the
/// master finds.
enum class Fault : std::uint8_t {
  none = 0,
  reference_lost = 1,  ///< the watchdog time elapsed
  over_current = 2,
  over_voltage = 3,
  under_voltage = 4,
  over_temperature = 5,
  encoder = 6,
  following_error = 7,  ///< too far from the reference
  position_limit = 8,   ///< outside the drive's own limits
  unsupported_mode = 9,
  internal = 255,
};

/// The command for one drive. Position in rad, velocity in rad/s, torque in N m.
struct DriveCommand {
  bool addressed = false;
  bool enable = false;
  bool clear_fault = false;
  Mode mode = Mode::position;
  double position = 0;
  double velocity = 0;
  double torque = 0;

  friend constexpr bool operator==(const DriveCommand&, const DriveCommand&) = default;
};

/// The commands for the drives of one group.
struct GroupCommand {
  std::uint8_t group = 0;
  std::uint8_t sequence = 0;
  std::uint8_t watchdog = 20;  ///< ms, 1 to 255
  std::array<DriveCommand, slots_per_group> slots{};

  friend constexpr bool operator==(const GroupCommand&, const GroupCommand&) = default;
};

/// The reply of one drive. Position in rad, velocity in rad/s, torque in N m.
struct DriveReply {
  std::uint8_t node = 1;
  std::uint8_t sequence = 0;
  State state = State::off;
  std::uint8_t fault = 0;  ///< Fault, or a number that a newer drive defines
  double position = 0;
  double velocity = 0;
  double torque = 0;

  friend constexpr bool operator==(const DriveReply&, const DriveReply&) = default;
};

namespace detail {

inline constexpr std::size_t header_bytes = 4;
inline constexpr std::size_t slot_bytes = 10;
inline constexpr std::size_t reply_bytes = 12;

inline constexpr std::uint8_t addressed_flag = 1U << 0;
inline constexpr std::uint8_t enable_flag = 1U << 1;
inline constexpr std::uint8_t clear_fault_flag = 1U << 2;
inline constexpr unsigned mode_shift = 4;
inline constexpr std::uint8_t known_flags =
    addressed_flag | enable_flag | clear_fault_flag | 3U << mode_shift;

/// Writes position, velocity and torque, which take nine bytes in commands and replies. Error: not_finite;
/// nothing is then written.
[[nodiscard]] constexpr Status put_motion(std::uint8_t* bytes, double position, double velocity,
                                          double torque) noexcept {
  constexpr std::int64_t top32 = (std::int64_t{1} << 31) - 1;
  constexpr std::int64_t top24 = (1 << 23) - 1;
  constexpr std::int64_t top16 = (1 << 15) - 1;
  if (!is_finite(position) || !is_finite(velocity) || !is_finite(torque)) return fail(Errc::not_finite);
  const auto p = static_cast<std::uint32_t>(round_clamped(position / position_unit, -top32 - 1, top32));
  const auto v =
      static_cast<std::uint32_t>(round_clamped(velocity / velocity_unit, -top24 - 1, top24)) & 0xFF'FFFFU;
  const auto t = static_cast<std::uint16_t>(round_clamped(torque / torque_unit, -top16 - 1, top16));
  store_little<8>(bytes, p | std::uint64_t{v} << 32 | std::uint64_t{t} << 56);
  bytes[8] = static_cast<std::uint8_t>(t >> 8);
  return {};
}

/// Reads the nine bytes of put_motion() into any struct with the three members.
template <class Motion>
constexpr void get_motion(const std::uint8_t* bytes, Motion& motion) noexcept {
  const std::uint64_t word = load_little<8>(bytes);
  const auto p = static_cast<std::int32_t>(word);
  const auto v = static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> 24)) >> 8;
  const auto t = static_cast<std::int16_t>(word >> 56 | static_cast<unsigned>(bytes[8]) << 8);
  motion.position = p * position_unit;
  motion.velocity = v * velocity_unit;
  motion.torque = t * torque_unit;
}

/// The length in bytes of the shortest FD frame for a number of slots.
inline constexpr std::array<std::uint8_t, slots_per_group + 1> command_lengths = [] {
  std::array<std::uint8_t, slots_per_group + 1> lengths{};
  for (std::size_t slots = 0; slots < lengths.size(); ++slots) {
    lengths[slots] = fd_lengths[fd_length_code(header_bytes + slots * slot_bytes)];
  }
  return lengths;
}();

/// Makes `frame` an empty frame of this protocol.
constexpr void begin(Frame& frame, std::uint32_t id) noexcept {
  clear(frame);
  frame.id = id;
  frame.fd = true;
  frame.bit_rate_switch = true;
}

[[nodiscard]] constexpr std::size_t slots_in(std::size_t length) noexcept {
  return length < header_bytes ? 0 : (length - header_bytes) / slot_bytes;
}

/// Checks a command frame, except the content of its slots. Returns the number of slots.
[[nodiscard]] constexpr Result<std::size_t> check_command(const Frame& frame) noexcept {
  if (frame.extended || !frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id < command_base || frame.id >= command_base + group_count) return fail(Errc::unexpected_id);
  if (frame.length > frame.data.size() || slots_in(frame.length) == 0) return fail(Errc::wrong_length);
  if (frame.data[0] != protocol_version || frame.data[2] == 0) return fail(Errc::bad_value);
  return slots_in(frame.length);
}

[[nodiscard]] constexpr Result<DriveCommand> get_slot(const Frame& frame, std::size_t slot) noexcept {
  const std::uint8_t* const bytes = frame.data.data() + header_bytes + slot * slot_bytes;
  const std::uint8_t flags = bytes[0];
  DriveCommand command;
  if ((flags & addressed_flag) == 0) return command;
  const unsigned mode = flags >> mode_shift & 3U;
  if ((flags & ~known_flags) != 0 || mode > 2) return fail(Errc::bad_value);
  command.addressed = true;
  command.enable = (flags & enable_flag) != 0;
  command.clear_fault = (flags & clear_fault_flag) != 0;
  command.mode = static_cast<Mode>(mode);
  get_motion(bytes + 1, command);
  return command;
}

}  // namespace detail

using can::encode;  // encode(message) returns a Result<Frame>; encode_into(frame, message) writes one

/// Encodes a command. The frame is as short as its last addressed slot allows, and has at least one slot.
/// After an error it must not be sent. Errors: unknown_node (group), bad_value (watchdog 0, or an unknown
/// mode), not_finite.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const GroupCommand& command) noexcept {
  if (command.group >= group_count) return fail(Errc::unknown_node);
  if (command.watchdog == 0) return fail(Errc::bad_value);
  detail::begin(frame, command_base + command.group);
  store_little<4>(frame.data.data(), protocol_version | static_cast<unsigned>(command.sequence) << 8 |
                                         static_cast<unsigned>(command.watchdog) << 16);
  std::size_t used = 1;
  for (std::size_t i = 0; i < slots_per_group; ++i) {
    const DriveCommand& slot = command.slots[i];
    if (!slot.addressed) continue;
    if (slot.mode > Mode::torque) return fail(Errc::bad_value);
    used = i + 1;
    std::uint8_t* const bytes = frame.data.data() + detail::header_bytes + i * detail::slot_bytes;
    bytes[0] = static_cast<std::uint8_t>(detail::addressed_flag | (slot.enable ? detail::enable_flag : 0) |
                                         (slot.clear_fault ? detail::clear_fault_flag : 0) |
                                         static_cast<unsigned>(slot.mode) << detail::mode_shift);
    const Status status = detail::put_motion(bytes + 1, slot.position, slot.velocity, slot.torque);
    if (!status) return status;
  }
  frame.length = detail::command_lengths[used];
  return {};
}

/// Decodes all slots of a command. Slots beyond the frame and slots without `addressed` have default values.
/// Errors: wrong_format, unexpected_id, wrong_length, bad_value.
[[nodiscard]] constexpr Result<GroupCommand> decode_group(const Frame& frame) noexcept {
  const auto slots = detail::check_command(frame);
  if (!slots) return fail(slots.error());
  GroupCommand command;
  command.group = static_cast<std::uint8_t>(frame.id - command_base);
  command.sequence = frame.data[1];
  command.watchdog = frame.data[2];
  for (std::size_t i = 0; i < *slots; ++i) {
    const auto slot = detail::get_slot(frame, i);
    if (!slot) return fail(slot.error());
    command.slots[i] = *slot;
  }
  return command;
}

/// The part of a command for one drive.
struct NodeCommand {
  std::uint8_t sequence = 0;
  std::uint8_t watchdog = 0;  ///< ms
  DriveCommand command;

  friend constexpr bool operator==(const NodeCommand&, const NodeCommand&) = default;
};

/// Decodes the slot of one drive; other slots are not checked. A frame that is too short for the slot does
/// not address the drive. Errors: unknown_node, wrong_format, unexpected_id (also for the command of another
/// group), wrong_length, bad_value.
[[nodiscard]] constexpr Result<NodeCommand> decode_for_node(const Frame& frame, std::uint8_t node) noexcept {
  if (!is_node(node)) return fail(Errc::unknown_node);
  const auto slots = detail::check_command(frame);
  if (!slots) return fail(slots.error());
  if (frame.id != command_base + group_of(node)) return fail(Errc::unexpected_id);
  NodeCommand own{frame.data[1], frame.data[2], {}};
  if (slot_of(node) >= *slots) return own;
  const auto slot = detail::get_slot(frame, slot_of(node));
  if (!slot) return fail(slot.error());
  own.command = *slot;
  return own;
}

/// Encodes a reply. After an error the frame must not be sent. Errors: unknown_node, bad_value (state),
/// not_finite.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const DriveReply& reply) noexcept {
  if (!is_node(reply.node)) return fail(Errc::unknown_node);
  if (reply.state > State::fault) return fail(Errc::bad_value);
  detail::begin(frame, reply_base + reply.node);
  frame.length = detail::reply_bytes;
  frame.data[0] = reply.sequence;
  frame.data[1] = static_cast<std::uint8_t>(reply.state);
  frame.data[2] = reply.fault;
  return detail::put_motion(frame.data.data() + 3, reply.position, reply.velocity, reply.torque);
}

/// Decodes a reply. Errors: wrong_format, unexpected_id, wrong_length, bad_value (state).
[[nodiscard]] constexpr Result<DriveReply> decode_reply(const Frame& frame) noexcept {
  if (frame.extended || !frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id <= reply_base || frame.id > reply_base + max_node) return fail(Errc::unexpected_id);
  if (frame.length != detail::reply_bytes) return fail(Errc::wrong_length);
  if (frame.data[1] > static_cast<std::uint8_t>(State::fault)) return fail(Errc::bad_value);
  DriveReply reply;
  reply.node = static_cast<std::uint8_t>(frame.id - reply_base);
  reply.sequence = frame.data[0];
  reply.state = static_cast<State>(frame.data[1]);
  reply.fault = frame.data[2];
  detail::get_motion(frame.data.data() + 3, reply);
  return reply;
}

}  // namespace takt::can::servo
