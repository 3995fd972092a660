// The master of one Hubo sensor: forces and tilt of a foot, forces of a hand, or an inertial unit. It has no
// bus: requests come out in each cycle, replies go in. Real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/can/hubo.hpp"
#include "takt/core/time.hpp"

namespace takt::drives {

/// The place of a sensor: its bus in the description, and its number (can/hubo/sensor.hpp).
struct HuboSensorPlace {
  std::size_t bus = 0;      ///< index into RobotDescription::buses
  std::uint8_t sensor = 0;  ///< number of the sensor
};

/// The last reply of one kind.
template <class Reply>
struct HuboReading {
  Reply value{};
  Time stamp{};        ///< of its arrival
  bool heard = false;  ///< a reply has arrived since start-up
};

/// The master of one sensor.
class HuboSensor {
 public:
  static constexpr std::size_t max_requests = 2;  ///< in each cycle

  explicit HuboSensor(std::uint8_t number) noexcept : number_(number) {}

  /// Whether the protocol has a sensor with this number.
  [[nodiscard]] static constexpr bool exists(std::uint8_t number) noexcept {
    return can::hubo::has_force(number) || can::hubo::is_inertial(number);
  }
  /// Returns the sensor's number.
  [[nodiscard]] std::uint8_t number() const noexcept { return number_; }

  /// Calls push(message) for each request of a cycle.
  template <class Push>
  void ask(Push push) const noexcept {
    using can::hubo::SensorQuery;
    using can::hubo::SensorRequest;
    if (can::hubo::has_force(number_)) push(SensorRequest{number_, SensorQuery::force_scaled});
    if (can::hubo::is_foot(number_)) push(SensorRequest{number_, SensorQuery::tilt_scaled});
    if (can::hubo::is_inertial(number_)) push(can::hubo::InertialRequest{number_});
  }

  /// Whether this sensor sends frames with this identifier.
  [[nodiscard]] bool sends(std::uint32_t id) const noexcept {
    return id == can::hubo::force_base + number_ || id == can::hubo::inertial_base + number_;
  }
  /// Handles such a frame, which ended on the bus at `time`. Returns false for a malformed frame, and keeps
  /// the last good one.
  [[nodiscard]] bool hear(const can::Frame& frame, Time time) noexcept {
    return take(force_, frame, time) || take(tilt_, frame, time) || take(inertial_, frame, time);
  }

  /// The last forces and torques, of a foot or hand.
  [[nodiscard]] const HuboReading<can::hubo::ForceTorque>& force() const noexcept { return force_; }
  /// The last tilt, of a foot.
  [[nodiscard]] const HuboReading<can::hubo::Tilt>& tilt() const noexcept { return tilt_; }
  /// The last reply of an inertial unit.
  [[nodiscard]] const HuboReading<can::hubo::Inertial>& inertial() const noexcept { return inertial_; }

 private:
  template <class Reply>
  [[nodiscard]] static bool take(HuboReading<Reply>& reading, const can::Frame& frame, Time time) noexcept {
    if (!decode_into(reading.value, frame)) return false;
    reading.stamp = time;
    reading.heard = true;
    return true;
  }

  std::uint8_t number_;
  HuboReading<can::hubo::ForceTorque> force_;
  HuboReading<can::hubo::Tilt> tilt_;
  HuboReading<can::hubo::Inertial> inertial_;
};

}  // namespace takt::drives
