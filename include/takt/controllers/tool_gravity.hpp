// The weight of a tool behind a force-torque sensor, and the wrench without it. Pure formulas.
#pragma once

#include "takt/controllers/rotation.hpp"
#include "takt/robot/sensors.hpp"

namespace takt::controllers {

using robot::Wrench;

/// What hangs on a sensor.
struct Tool {
  double mass = 0;   ///< kg
  Vector3 centre{};  ///< m: its centre of mass in the frame of the sensor
};

/// The standard acceleration of gravity, m/s^2.
inline constexpr double standard_gravity = 9.80665;

/// The wrench that the weight of the tool exerts on the sensor. `orientation` turns vectors of the sensor's
/// frame into the world's, whose z axis points up. Real-time safe.
[[nodiscard]] constexpr Wrench weight_of(const Tool& tool, const Quaternion& orientation) noexcept {
  const Vector3 force = rotate(inverse(orientation), {0, 0, -tool.mass * standard_gravity});
  return {force, cross(tool.centre, force)};
}

}  // namespace takt::controllers
