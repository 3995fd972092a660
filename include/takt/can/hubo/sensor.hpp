// Force-torque sensors, tilt sensors, inertial units and the power board. Sensors are numbered from 1; 0
// means none. The feet are 1 and 2, the inertial units 3 to 5, the hands 6 and 7.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "takt/can/hubo/command.hpp"
#include "takt/can/hubo/frame.hpp"
#include "takt/can/quantise.hpp"
#include "takt/can/word.hpp"

namespace takt::can::hubo {

inline constexpr std::uint8_t max_sensor = 7;
/// The kind of a sensor, by its number.
[[nodiscard]] constexpr bool is_foot(std::uint8_t sensor) noexcept { return sensor == 1 || sensor == 2; }
[[nodiscard]] constexpr bool is_inertial(std::uint8_t sensor) noexcept { return sensor >= 3 && sensor <= 5; }
/// Returns whether the sensor measures force and torque.
[[nodiscard]] constexpr bool has_force(std::uint8_t sensor) noexcept {
  return is_foot(sensor) || sensor == 6 || sensor == 7;
}
/// Returns the number of a sensor in commands on identifier 0x001.
[[nodiscard]] constexpr std::uint8_t sensor_address(std::uint8_t sensor) noexcept {
  return static_cast<std::uint8_t>(sensor + max_board);
}

/// Returns the identifier for requests: 0x002 for the older firmware, 0x003 for the newer one [from PODO's
/// header].
[[nodiscard]] constexpr std::uint32_t sensor_request_id(Dialect dialect) noexcept {
  return dialect == Dialect::podo ? 0x003 : 0x002;
}
inline constexpr std::uint32_t force_base = 0x040;
inline constexpr std::uint32_t inertial_base = 0x050;

/// The requested value of a foot or a hand: forces, or the tilt that a foot measures by its accelerometer.
/// Each is available as converter counts ("digital") or in the units of the answers below ("scaled").
enum class SensorQuery : std::uint8_t {
  all_digital = 0x00,
  all_scaled = 0x02,
  force_scaled_tilt_digital = 0x03,
  force_digital_tilt_scaled = 0x04,
  force_digital = 0x11,
  force_scaled = 0x12,  ///< the answer is a ForceTorque
  gyro_temperature = 0x13,
  tilt_digital = 0x21,
  tilt_scaled = 0x22,  ///< the answer is a Tilt
};

/// A request to a foot or a hand: [sensor, query].
struct SensorRequest {
  std::uint8_t sensor = 0;
  SensorQuery query = SensorQuery::force_scaled;

  friend constexpr bool operator==(const SensorRequest&, const SensorRequest&) = default;
};
/// A request to an inertial unit: [sensor, 0, 1]. The answer is an Inertial.
struct InertialRequest {
  std::uint8_t sensor = 0;

  friend constexpr bool operator==(const InertialRequest&, const InertialRequest&) = default;
};

/// Orders to a sensor, on identifier 0x001 like those to boards: [address, code, argument].
enum class SensorOrder : std::uint8_t {
  null_force,     ///< sets the present force to zero: 0x81, 0x00
  null_tilt,      ///< sets the present tilt to zero: 0x81, 0x04
  null_inertial,  ///< sets the present inertial values to zero: 0x81
  initialise,     ///< 0xFA, 0xAA
};
/// An order to one sensor.
struct SensorCommand {
  std::uint8_t sensor = 0;
  SensorOrder order = SensorOrder::null_force;

  friend constexpr bool operator==(const SensorCommand&, const SensorCommand&) = default;
};

/// The forces of a sensor, id 0x040+sensor, at least 6 bytes: three 16-bit numbers. Signs depend on the
/// mounting.
struct ForceTorque {
  std::uint8_t sensor = 0;
  double torque_x = 0;  ///< N m, resolution 0.01
  double torque_y = 0;  ///< N m, resolution 0.01
  double force_z = 0;   ///< N, resolution 0.1

  friend constexpr bool operator==(const ForceTorque&, const ForceTorque&) = default;
};

/// The tilt of a foot, id 0x050+sensor, at least 6 bytes: three 16-bit numbers.
struct Tilt {
  std::uint8_t sensor = 0;
  double roll = 0;   ///< rad, resolution 0.01 degrees
  double pitch = 0;  ///< rad, resolution 0.01 degrees
  double z = 0;  ///< resolution 1/750 [probably of the earth's acceleration; the open drivers use degrees]

  friend constexpr bool operator==(const Tilt&, const Tilt&) = default;
};

/// The tilt of an inertial unit, id 0x050+sensor, 8 bytes: four 16-bit numbers. It does not measure yaw.
struct Inertial {
  std::uint8_t sensor = 0;
  double roll = 0;        ///< rad, resolution 0.01 degrees
  double pitch = 0;       ///< rad, resolution 0.01 degrees
  double roll_rate = 0;   ///< rad/s, resolution 0.01 degrees/s
  double pitch_rate = 0;  ///< rad/s, resolution 0.01 degrees/s

  friend constexpr bool operator==(const Inertial&, const Inertial&) = default;
};

/// The power board's answer to power_request(), id 0x06E, at least 6 bytes. On M-Hubo the identifier is a
/// joint board's.
struct PowerReply {
  double volts = 0;    ///< V, resolution 0.01
  double amperes = 0;  ///< A, resolution 0.01
  double watts = 0;    ///< W, resolution 0.1

  friend constexpr bool operator==(const PowerReply&, const PowerReply&) = default;
};

namespace detail {

inline constexpr double hundredths_per_radian = 100 * 180 / std::numbers::pi;

/// A number that a frame carries as a 16-bit integer.
struct Scaled {
  double value = 0;
  double units = 0;  ///< size of one unit
};

/// Writes numbers, rounded and clamped to 16 bits. Error: not_finite.
template <std::size_t Count>
[[nodiscard]] constexpr Status put_scaled(Frame& frame, const std::array<Scaled, Count>& numbers) noexcept {
  for (const Scaled& number : numbers) {
    if (!is_finite(number.value * number.units)) return fail(Errc::not_finite);
  }
  for (std::size_t i = 0; i < Count; ++i) {
    const std::int64_t units = round_clamped(numbers[i].value * numbers[i].units, -32768, 32767);
    store_little<2>(frame.data.data() + 2 * i, static_cast<std::uint64_t>(units));
  }
  return {};
}
[[nodiscard]] constexpr double scaled_at(const Frame& frame, std::size_t index, double units) noexcept {
  return static_cast<std::int16_t>(load_little<2>(frame.data.data() + 2 * index)) / units;
}

/// An empty frame. The caller has checked the sensor.
[[nodiscard]] constexpr Frame sensor_frame(std::uint32_t id, std::uint8_t length) noexcept {
  Frame frame;
  frame.id = id;
  frame.length = length;
  return frame;
}
/// Returns the sensor of a frame that has at least this many bytes.
[[nodiscard]] constexpr Result<std::uint8_t> check_sensor(const Frame& frame, std::uint32_t base,
                                                          bool (*is_kind)(std::uint8_t) noexcept,
                                                          std::size_t least) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id < base || frame.id > base + max_sensor) return fail(Errc::unexpected_id);
  const auto sensor = static_cast<std::uint8_t>(frame.id - base);
  if (!is_kind(sensor)) return fail(Errc::unexpected_id);
  if (frame.length < least || frame.length > max_classic_length) return fail(Errc::wrong_length);
  return sensor;
}

[[nodiscard]] constexpr bool is_known(SensorQuery query) noexcept {
  switch (query) {
    case SensorQuery::all_digital:
    case SensorQuery::all_scaled:
    case SensorQuery::force_scaled_tilt_digital:
    case SensorQuery::force_digital_tilt_scaled:
    case SensorQuery::force_digital:
    case SensorQuery::force_scaled:
    case SensorQuery::gyro_temperature:
    case SensorQuery::tilt_digital:
    case SensorQuery::tilt_scaled:
      return true;
  }
  return false;
}

/// Returns whether a sensor accepts this order.
[[nodiscard]] constexpr bool obeys(std::uint8_t sensor, SensorOrder order) noexcept {
  switch (order) {
    case SensorOrder::null_force:
    case SensorOrder::initialise:
      return has_force(sensor);
    case SensorOrder::null_tilt:
      return is_foot(sensor);
    case SensorOrder::null_inertial:
      return is_inertial(sensor);
  }
  return false;
}

}  // namespace detail

/// Encodes a request. Errors: unknown_node (no such sensor, or an inertial one), bad_value.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const SensorRequest& request,
                                           Dialect dialect) noexcept {
  if (!has_force(request.sensor)) return fail(Errc::unknown_node);
  if (!detail::is_known(request.query)) return fail(Errc::bad_value);
  frame = detail::sensor_frame(sensor_request_id(dialect), 2);
  frame.data[0] = request.sensor;
  frame.data[1] = static_cast<std::uint8_t>(request.query);
  return {};
}
/// Decodes a request. Errors: the usual ones, unknown_node, bad_value.
[[nodiscard]] constexpr Status decode_into(SensorRequest& request, const Frame& frame,
                                           Dialect dialect) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id != sensor_request_id(dialect)) return fail(Errc::unexpected_id);
  if (frame.length < 2 || frame.length > max_classic_length) return fail(Errc::wrong_length);
  if (!has_force(frame.data[0])) return fail(Errc::unknown_node);
  const auto query = static_cast<SensorQuery>(frame.data[1]);
  if (!detail::is_known(query)) return fail(Errc::bad_value);
  request = {frame.data[0], query};
  return {};
}

/// Encodes a request. Error: unknown_node (not an inertial unit).
[[nodiscard]] constexpr Status encode_into(Frame& frame, const InertialRequest& request,
                                           Dialect dialect) noexcept {
  if (!is_inertial(request.sensor)) return fail(Errc::unknown_node);
  frame = detail::sensor_frame(sensor_request_id(dialect), 3);
  frame.data[0] = request.sensor;
  frame.data[2] = 1;
  return {};
}
[[nodiscard]] constexpr Status decode_into(InertialRequest& request, const Frame& frame,
                                           Dialect dialect) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id != sensor_request_id(dialect)) return fail(Errc::unexpected_id);
  if (frame.length < 3 || frame.length > max_classic_length) return fail(Errc::wrong_length);
  if (!is_inertial(frame.data[0])) return fail(Errc::unknown_node);
  if (frame.data[1] != 0 || frame.data[2] != 1) return fail(Errc::bad_value);
  request.sensor = frame.data[0];
  return {};
}

/// Encodes an order. Error: unknown_node (no such sensor, or one that does not accept the order).
[[nodiscard]] constexpr Status encode_into(Frame& frame, const SensorCommand& command) noexcept {
  if (!detail::obeys(command.sensor, command.order)) return fail(Errc::unknown_node);
  const bool is_initialise = command.order == SensorOrder::initialise;
  const bool is_inertial_null = command.order == SensorOrder::null_inertial;
  frame = detail::sensor_frame(command_id, is_inertial_null ? 2 : 3);
  frame.data[0] = sensor_address(command.sensor);
  frame.data[1] = is_initialise ? 0xFA : 0x81;
  if (is_initialise) frame.data[2] = 0xAA;
  if (command.order == SensorOrder::null_tilt) frame.data[2] = 0x04;
  return {};
}
/// Decodes an order. Errors: the usual ones, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(SensorCommand& command, const Frame& frame) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id != command_id) return fail(Errc::unexpected_id);
  if (frame.length < 2 || frame.length > max_classic_length) return fail(Errc::wrong_length);
  if (frame.data[0] <= max_board || frame.data[0] > sensor_address(max_sensor))
    return fail(Errc::unknown_node);
  SensorCommand read{static_cast<std::uint8_t>(frame.data[0] - max_board), SensorOrder::null_inertial};
  if (!is_inertial(read.sensor)) {
    if (frame.length < 3) return fail(Errc::wrong_length);
    const bool is_initialise = frame.data[1] == 0xFA && frame.data[2] == 0xAA;
    const bool is_tilt = frame.data[1] == 0x81 && frame.data[2] == 0x04;
    const bool is_force = frame.data[1] == 0x81 && frame.data[2] == 0x00;
    if (!is_initialise && !is_tilt && !is_force) return fail(Errc::unknown_command);
    read.order = is_initialise ? SensorOrder::initialise
                 : is_tilt     ? SensorOrder::null_tilt
                               : SensorOrder::null_force;
  } else if (frame.data[1] != 0x81) {
    return fail(Errc::unknown_command);
  }
  if (!detail::obeys(read.sensor, read.order)) return fail(Errc::unknown_command);
  command = read;
  return {};
}

// The encoders below round numbers and clamp them to their field. Errors: unknown_node (no such sensor),
// not_finite.

[[nodiscard]] constexpr Status encode_into(Frame& frame, const ForceTorque& reply) noexcept {
  if (!has_force(reply.sensor)) return fail(Errc::unknown_node);
  Frame made = detail::sensor_frame(force_base + reply.sensor, 8);
  const std::array<detail::Scaled, 3> numbers = {
      {{reply.torque_x, 100}, {reply.torque_y, 100}, {reply.force_z, 10}}};
  const Status status = detail::put_scaled(made, numbers);
  if (status) frame = made;
  return status;
}
[[nodiscard]] constexpr Status decode_into(ForceTorque& reply, const Frame& frame) noexcept {
  const auto sensor = detail::check_sensor(frame, force_base, has_force, 6);
  if (!sensor) return fail(sensor.error());
  reply = {*sensor, detail::scaled_at(frame, 0, 100), detail::scaled_at(frame, 1, 100),
           detail::scaled_at(frame, 2, 10)};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const Tilt& reply) noexcept {
  if (!is_foot(reply.sensor)) return fail(Errc::unknown_node);
  Frame made = detail::sensor_frame(inertial_base + reply.sensor, 8);
  const std::array<detail::Scaled, 3> numbers = {{{reply.roll, detail::hundredths_per_radian},
                                                  {reply.pitch, detail::hundredths_per_radian},
                                                  {reply.z, 750}}};
  const Status status = detail::put_scaled(made, numbers);
  if (status) frame = made;
  return status;
}
[[nodiscard]] constexpr Status decode_into(Tilt& reply, const Frame& frame) noexcept {
  const auto sensor = detail::check_sensor(frame, inertial_base, is_foot, 6);
  if (!sensor) return fail(sensor.error());
  reply = {*sensor, detail::scaled_at(frame, 0, detail::hundredths_per_radian),
           detail::scaled_at(frame, 1, detail::hundredths_per_radian), detail::scaled_at(frame, 2, 750)};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const Inertial& reply) noexcept {
  if (!is_inertial(reply.sensor)) return fail(Errc::unknown_node);
  Frame made = detail::sensor_frame(inertial_base + reply.sensor, 8);
  const std::array<detail::Scaled, 4> numbers = {{{reply.roll, detail::hundredths_per_radian},
                                                  {reply.pitch, detail::hundredths_per_radian},
                                                  {reply.roll_rate, detail::hundredths_per_radian},
                                                  {reply.pitch_rate, detail::hundredths_per_radian}}};
  const Status status = detail::put_scaled(made, numbers);
  if (status) frame = made;
  return status;
}
[[nodiscard]] constexpr Status decode_into(Inertial& reply, const Frame& frame) noexcept {
  const auto sensor = detail::check_sensor(frame, inertial_base, is_inertial, 8);
  if (!sensor) return fail(sensor.error());
  reply = {*sensor, detail::scaled_at(frame, 0, detail::hundredths_per_radian),
           detail::scaled_at(frame, 1, detail::hundredths_per_radian),
           detail::scaled_at(frame, 2, detail::hundredths_per_radian),
           detail::scaled_at(frame, 3, detail::hundredths_per_radian)};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const PowerReply& reply) noexcept {
  Frame made = detail::sensor_frame(encoder_base + power_board, 6);
  const std::array<detail::Scaled, 3> numbers = {
      {{reply.volts, 100}, {reply.amperes, 100}, {reply.watts, 10}}};
  const Status status = detail::put_scaled(made, numbers);
  if (status) frame = made;
  return status;
}
[[nodiscard]] constexpr Status decode_into(PowerReply& reply, const Frame& frame) noexcept {
  if (const Status status = detail::check_least(frame, encoder_base, 6); !status) return status;
  if (frame.id != encoder_base + power_board) return fail(Errc::unexpected_id);
  reply = {detail::scaled_at(frame, 0, 100), detail::scaled_at(frame, 1, 100),
           detail::scaled_at(frame, 2, 10)};
  return {};
}

}  // namespace takt::can::hubo
