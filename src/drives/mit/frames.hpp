// The frames of MIT mode, the impedance control of open quasi-direct-drive actuators: MIT mini-cheetah
// (Katz), CubeMars AK and Damiao. All frames are classic with 11-bit identifiers. A drive computes, on its
// output side,
//
//     torque = kp (p_des - p) + kd (v_des - v) + t_ff
//
// and answers each received frame with one reply. It sends nothing else.
//
//   drive id   to the drive   Command        8 bytes: p 16, v 12, kp 12, kd 12, t 12 bits, high bits first
//   drive id   to the drive   SpecialFrame   FF FF FF FF FF FF FF and the Special
//   reply id   to the master  Reply          6 to 8 bytes: id (Damiao: ERR << 4 | id), p 16, v 12, t 12 bits,
//                                            then by vendor nothing, temperature and error, or 2 temperatures
//   0x7FF      to the drive   RegisterFrame  Damiao: id 2 bytes, operation, register, value 4 bytes,
//                                            little-endian
//   reply id   to the master  RegisterFrame  Damiao: the answer, of the same form
//
// A number x of a field with n bits is u = trunc((x - min) (2^n - 1) / (max - min)), after clamping: another
// quotient would let x = max overflow into the next field. The ranges differ between models and are in no
// frame: they are configuration. kp and kd can be exactly 0. A symmetric range has no code for 0: a zero
// torque is -torque / 4095.
//
// Sources: B. Katz, "Motor Drive Documentation" and bgkatz/motorcontrol; CubeMars "AK Series Module Driver
// Manual" V1.0.18; Damiao "DM-J4310-2EC" V1.1. Every function is real-time safe and usable in constant
// expressions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "takt/can/frame.hpp"
#include "takt/can/quantise.hpp"
#include "takt/can/word.hpp"

namespace takt::drives::mit {

using can::Errc;

/// The vendor of a drive's firmware. Commands are the same for all; replies, faults and timeouts differ.
enum class Vendor : std::uint8_t { cheetah, cubemars, damiao };

inline constexpr double max_kp = 500;  ///< N m/rad, where the field ends
inline constexpr double max_kd = 5;    ///< N m s/rad, where the field ends
inline constexpr std::uint32_t register_id = 0x7FF;

/// Where the fields of position, velocity and torque end, on both sides of zero. All must be positive.
struct Ranges {
  double position = 12.5;  ///< rad
  double velocity = 50;    ///< rad/s
  double torque = 18;      ///< N m

  friend constexpr bool operator==(const Ranges&, const Ranges&) = default;
};

/// One step of the impedance law.
struct Command {
  double position = 0;  ///< rad
  double velocity = 0;  ///< rad/s
  double kp = 0;        ///< N m/rad
  double kd = 0;        ///< N m s/rad
  double torque = 0;    ///< N m, feed-forward

  friend constexpr bool operator==(const Command&, const Command&) = default;
};

enum class Special : std::uint8_t {
  clear_error = 0xFB,  ///< Damiao only: others take the frame for a command with all gains at their most
  enter = 0xFC,
  exit = 0xFD,
  /// The present position becomes zero. A cheetah accepts it while it is disabled, and writes its flash.
  set_zero = 0xFE,
};

struct SpecialFrame {
  std::uint32_t id = 0;  ///< of the drive
  Special special = Special::exit;
};

/// A drive's report.
struct Reply {
  std::uint8_t id = 0;  ///< of the drive; Damiao: its low 4 bits
  std::uint8_t status =
      0;  ///< CubeMars: error, 0 none; Damiao: 0 disabled, 1 enabled, 8 to E an error; cheetah: 0
  std::uint16_t count = 0;  ///< position in steps of the field: it goes on at 0 beyond the highest
  double velocity = 0;      ///< rad/s
  double torque = 0;        ///< N m
  std::int16_t driver_temperature =
      0;  ///< degrees Celsius, of the power stage; 0 where the reply does not tell
  std::int16_t coil_temperature = 0;  ///< Damiao

  friend constexpr bool operator==(const Reply&, const Reply&) = default;
};

/// Damiao's registers, as far as a start-up needs them. The first two are unsigned, the others float.
enum class Register : std::uint8_t {
  timeout = 9,  ///< in 50 us: without a frame for so long an enabled drive switches off; 0 never
  control_mode = 10,
  position_range = 21,  ///< rad
  velocity_range = 22,  ///< rad/s
  torque_range = 23,    ///< N m
};
inline constexpr std::uint32_t mit_mode = 1;  ///< in Register::control_mode

enum class RegisterOperation : std::uint8_t {
  read = 0x33,
  write = 0x55,   ///< until the drive is switched off
  status = 0xCC,  ///< asks for a Reply; register and value are 0
};

/// A request on register_id, or an answer on the reply id: the two have one form.
struct RegisterFrame {
  std::uint32_t frame_id = register_id;
  std::uint8_t drive = 1;
  RegisterOperation operation = RegisterOperation::read;
  std::uint8_t number = 0;  ///< Register, or one that takt does not use
  std::uint32_t value = 0;  ///< a float's bits where the register is one

  friend constexpr bool operator==(const RegisterFrame&, const RegisterFrame&) = default;
};

[[nodiscard]] constexpr bool is_good(const Ranges& ranges) noexcept {
  const auto positive = [](double value) { return value > 0 && can::is_finite(value); };
  return positive(ranges.position) && positive(ranges.velocity) && positive(ranges.torque);
}

namespace detail {

inline constexpr std::uint32_t top16 = 0xFFFF;
inline constexpr std::uint32_t top12 = 0xFFF;
inline constexpr std::size_t shortest_reply = 6;
inline constexpr std::int16_t temperature_offset = 40;  // of CubeMars

/// In steps of a field. It makes a decoded number encode to the same word again, whatever its rounding.
inline constexpr double noise = 1e-6;

[[nodiscard]] constexpr std::uint32_t to_field(double value, double least, double most,
                                               std::uint32_t top) noexcept {
  const double steps = (value - least) * top / (most - least) + noise;
  return static_cast<std::uint32_t>(std::clamp(steps, 0.0, static_cast<double>(top)));
}
[[nodiscard]] constexpr double from_field(std::uint32_t field, double least, double most,
                                          std::uint32_t top) noexcept {
  return least + field * (most - least) / top;
}

/// `count` bytes with the most significant first.
constexpr void store_big(std::uint8_t* bytes, std::size_t count, std::uint64_t value) noexcept {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(value >> 8 * (count - 1 - i));
}
[[nodiscard]] constexpr std::uint64_t load_big(const std::uint8_t* bytes, std::size_t count) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

constexpr void begin(can::Frame& frame, std::uint32_t id, std::size_t length) noexcept {
  frame = can::Frame{};
  frame.id = id;
  frame.length = static_cast<std::uint8_t>(length);
}

/// An 8-byte frame whose first seven bytes are FF and whose last is one of Special's is no command.
inline constexpr std::uint64_t special_base = 0xFFFF'FFFF'FFFF'FF00;
[[nodiscard]] constexpr bool is_special(std::uint64_t word) noexcept {
  return word >= (special_base | static_cast<std::uint8_t>(Special::clear_error)) &&
         word <= (special_base | static_cast<std::uint8_t>(Special::set_zero));
}

[[nodiscard]] constexpr Status check_format(const can::Frame& frame) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.length > can::max_classic_length) return fail(Errc::wrong_length);
  return {};
}

}  // namespace detail

// encode(message, ...) returns a Result<Frame>; encode_into(frame, message, ...) writes into a frame.
using can::encode;

/// The position that a count stands for, rad; counts beyond the field are those of a position that has gone
/// on.
[[nodiscard]] constexpr double position_of(std::int64_t count, const Ranges& ranges) noexcept {
  return static_cast<double>(count) * 2 * ranges.position / detail::top16 - ranges.position;
}
/// The count of a position, truncated as the fields are; a reply has its low 16 bits. `position` must be
/// finite.
[[nodiscard]] constexpr std::int64_t count_of(double position, const Ranges& ranges) noexcept {
  constexpr std::int64_t most = std::int64_t{1} << 50;
  const double steps = (position + ranges.position) * detail::top16 / (2 * ranges.position);
  return can::round_clamped(steps - 0.5 + detail::noise, -most, most);
}

/// Numbers beyond their fields are clamped. A command that would be a special frame has a little less torque.
/// After an error the frame is not to be sent. Errors: id_too_large, bad_value (ranges), not_finite.
[[nodiscard]] constexpr Status encode_into(can::Frame& frame, const Command& command, std::uint32_t id,
                                           const Ranges& ranges) noexcept {
  if (id >= register_id) return fail(Errc::id_too_large);
  if (!is_good(ranges)) return fail(Errc::bad_value);
  if (!can::is_finite(command.position) || !can::is_finite(command.velocity) || !can::is_finite(command.kp) ||
      !can::is_finite(command.kd) || !can::is_finite(command.torque)) {
    return fail(Errc::not_finite);
  }
  using detail::to_field;
  using detail::top12;
  std::uint64_t word = to_field(command.position, -ranges.position, ranges.position, detail::top16);
  word = word << 12 | to_field(command.velocity, -ranges.velocity, ranges.velocity, top12);
  word = word << 12 | to_field(command.kp, 0, max_kp, top12);
  word = word << 12 | to_field(command.kd, 0, max_kd, top12);
  word = word << 12 | to_field(command.torque, -ranges.torque, ranges.torque, top12);
  if (detail::is_special(word))
    word = detail::special_base | (static_cast<std::uint8_t>(Special::clear_error) - 1U);
  detail::begin(frame, id, can::max_classic_length);
  detail::store_big(frame.data.data(), can::max_classic_length, word);
  return {};
}

/// Decodes a command to the drive with this id; a special frame is not a command. Errors: wrong_format,
/// unexpected_id, wrong_length, bad_value (special frames, and ranges).
[[nodiscard]] constexpr Result<Command> decode_command(const can::Frame& frame, std::uint32_t id,
                                                       const Ranges& ranges) noexcept {
  if (const Status good = detail::check_format(frame); !good) return fail(good.error());
  if (frame.id != id) return fail(Errc::unexpected_id);
  if (frame.length != can::max_classic_length) return fail(Errc::wrong_length);
  const std::uint64_t word = detail::load_big(frame.data.data(), can::max_classic_length);
  if (detail::is_special(word) || !is_good(ranges)) return fail(Errc::bad_value);
  const auto field = [word](unsigned shift) {
    return static_cast<std::uint32_t>(word >> shift) & detail::top12;
  };
  using detail::from_field;
  using detail::top12;
  return Command{
      from_field(static_cast<std::uint32_t>(word >> 48), -ranges.position, ranges.position, detail::top16),
      from_field(field(36), -ranges.velocity, ranges.velocity, top12),
      from_field(field(24), 0, max_kp, top12), from_field(field(12), 0, max_kd, top12),
      from_field(field(0), -ranges.torque, ranges.torque, top12)};
}

/// After an error the frame is not to be sent. Errors: id_too_large, unknown_command.
[[nodiscard]] constexpr Status encode_into(can::Frame& frame, const SpecialFrame& special) noexcept {
  if (special.id >= register_id) return fail(Errc::id_too_large);
  const std::uint64_t word = detail::special_base | static_cast<std::uint8_t>(special.special);
  if (!detail::is_special(word)) return fail(Errc::unknown_command);
  detail::begin(frame, special.id, can::max_classic_length);
  detail::store_big(frame.data.data(), can::max_classic_length, word);
  return {};
}

/// Errors: wrong_format, wrong_length, unknown_command (no special frame).
[[nodiscard]] constexpr Result<SpecialFrame> decode_special(const can::Frame& frame) noexcept {
  if (const Status good = detail::check_format(frame); !good) return fail(good.error());
  if (frame.length != can::max_classic_length) return fail(Errc::wrong_length);
  const std::uint64_t word = detail::load_big(frame.data.data(), can::max_classic_length);
  if (!detail::is_special(word)) return fail(Errc::unknown_command);
  return SpecialFrame{frame.id, static_cast<Special>(word & 0xFF)};
}

/// Whether a status is one that the vendor defines.
[[nodiscard]] constexpr bool is_status(std::uint8_t status, Vendor vendor) noexcept {
  switch (vendor) {
    case Vendor::cheetah:
      break;
    case Vendor::cubemars:
      return status <= 7;
    case Vendor::damiao:
      return status <= 1 || (status >= 8 && status <= 0xE);
  }
  return status == 0;
}

/// A reply as the newest firmware of its vendor makes it. A velocity and a torque beyond their fields are
/// clamped. After an error the frame is not to be sent. Errors: id_too_large, bad_value (status, ranges,
/// Damiao's drive id above 15), not_finite.
[[nodiscard]] constexpr Status encode_into(can::Frame& frame, const Reply& reply, std::uint32_t reply_id,
                                           Vendor vendor, const Ranges& ranges) noexcept {
  if (reply_id >= register_id) return fail(Errc::id_too_large);
  if (!is_good(ranges) || !is_status(reply.status, vendor)) return fail(Errc::bad_value);
  if (!can::is_finite(reply.velocity) || !can::is_finite(reply.torque)) return fail(Errc::not_finite);
  const bool is_damiao = vendor == Vendor::damiao;
  if (is_damiao && reply.id > 0xF) return fail(Errc::bad_value);
  detail::begin(frame, reply_id,
                vendor == Vendor::cheetah ? detail::shortest_reply : can::max_classic_length);
  std::uint64_t word = reply.id | (is_damiao ? std::uint32_t{reply.status} << 4U : 0U);
  word = word << 16 | reply.count;
  word = word << 12 | detail::to_field(reply.velocity, -ranges.velocity, ranges.velocity, detail::top12);
  word = word << 12 | detail::to_field(reply.torque, -ranges.torque, ranges.torque, detail::top12);
  detail::store_big(frame.data.data(), detail::shortest_reply, word);
  const auto byte = [](std::int16_t value) {
    return static_cast<std::uint8_t>(std::clamp<std::int16_t>(value, 0, 255));
  };
  if (vendor == Vendor::cubemars) {
    constexpr std::int16_t coldest = -detail::temperature_offset;
    frame.data[6] = byte(static_cast<std::int16_t>(
        std::clamp<std::int16_t>(reply.driver_temperature, coldest, 255) + detail::temperature_offset));
    frame.data[7] = reply.status;
  } else if (is_damiao) {
    frame.data[6] = byte(reply.driver_temperature);
    frame.data[7] = byte(reply.coil_temperature);
  }
  return {};
}

/// Decodes a drive's reply. Cheetahs and CubeMars send 6 to 8 bytes, by their firmware; Damiao 8. Errors:
/// wrong_format, unexpected_id, wrong_length, bad_value (status, ranges).
[[nodiscard]] constexpr Result<Reply> decode_reply(const can::Frame& frame, std::uint32_t reply_id,
                                                   Vendor vendor, const Ranges& ranges) noexcept {
  if (const Status good = detail::check_format(frame); !good) return fail(good.error());
  if (frame.id != reply_id) return fail(Errc::unexpected_id);
  const bool is_damiao = vendor == Vendor::damiao;
  if (frame.length < (is_damiao ? can::max_classic_length : detail::shortest_reply))
    return fail(Errc::wrong_length);
  if (!is_good(ranges)) return fail(Errc::bad_value);
  const std::uint64_t word = detail::load_big(frame.data.data(), detail::shortest_reply);
  const auto top = static_cast<std::uint8_t>(word >> 40);
  Reply reply;
  reply.id = is_damiao ? top & 0xF : top;
  reply.count = static_cast<std::uint16_t>(word >> 24);
  reply.velocity = detail::from_field(static_cast<std::uint32_t>(word >> 12) & detail::top12,
                                      -ranges.velocity, ranges.velocity, detail::top12);
  reply.torque = detail::from_field(static_cast<std::uint32_t>(word) & detail::top12, -ranges.torque,
                                    ranges.torque, detail::top12);
  if (is_damiao) {
    reply.status = static_cast<std::uint8_t>(top >> 4U);
    reply.driver_temperature = frame.data[6];
    reply.coil_temperature = frame.data[7];
  } else if (vendor == Vendor::cubemars) {
    if (frame.length > 6)
      reply.driver_temperature = static_cast<std::int16_t>(frame.data[6] - detail::temperature_offset);
    if (frame.length > 7) reply.status = frame.data[7];
  }
  if (!is_status(reply.status, vendor)) return fail(Errc::bad_value);
  return reply;
}

/// After an error the frame is not to be sent. Errors: id_too_large.
[[nodiscard]] constexpr Status encode_into(can::Frame& frame, const RegisterFrame& message) noexcept {
  if (message.frame_id > register_id) return fail(Errc::id_too_large);
  detail::begin(frame, message.frame_id, can::max_classic_length);
  frame.data[0] = message.drive;
  frame.data[2] = static_cast<std::uint8_t>(message.operation);
  frame.data[3] = message.number;
  can::store_little<4>(frame.data.data() + 4, message.value);
  return {};
}

/// A request on register_id, or an answer on a reply id. Errors: wrong_format, unexpected_id, wrong_length,
/// unknown_node (a drive above 255), unknown_command.
[[nodiscard]] constexpr Result<RegisterFrame> decode_register(const can::Frame& frame,
                                                              std::uint32_t frame_id) noexcept {
  if (const Status good = detail::check_format(frame); !good) return fail(good.error());
  if (frame.id != frame_id) return fail(Errc::unexpected_id);
  if (frame.length != can::max_classic_length) return fail(Errc::wrong_length);
  if (frame.data[1] != 0) return fail(Errc::unknown_node);
  const auto operation = static_cast<RegisterOperation>(frame.data[2]);
  if (operation != RegisterOperation::read && operation != RegisterOperation::write &&
      operation != RegisterOperation::status) {
    return fail(Errc::unknown_command);
  }
  return RegisterFrame{frame.id, frame.data[0], operation, frame.data[3],
                       static_cast<std::uint32_t>(can::load_little<4>(frame.data.data() + 4))};
}

/// Whether a frame on a Damiao's reply id is an answer about a register. As a Reply, the same bytes would be
/// a disabled drive near its lowest position, at a high backwards velocity. No drive sends that.
[[nodiscard]] constexpr bool is_register_answer(const can::Frame& frame, std::uint8_t drive) noexcept {
  constexpr std::uint8_t last_register = 81;
  return frame.length == can::max_classic_length && frame.data[0] == drive && frame.data[1] == 0 &&
         (frame.data[2] == static_cast<std::uint8_t>(RegisterOperation::read) ||
          frame.data[2] == static_cast<std::uint8_t>(RegisterOperation::write)) &&
         frame.data[3] <= last_register;
}

}  // namespace takt::drives::mit
