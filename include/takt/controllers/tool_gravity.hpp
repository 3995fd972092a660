// The weight of a tool behind a force-torque sensor, and the wrench without it. Pure formulas.
#pragma once

#include <cmath>

#include "takt/controllers/rotation.hpp"
#include "takt/core/fields.hpp"

namespace takt::controllers {

/// A force and a torque, in the frame of the sensor.
struct Wrench {
  Vector3 force{};   ///< N
  Vector3 torque{};  ///< N m

  TAKT_FIELDS(Wrench, force, torque)
  friend constexpr bool operator==(const Wrench&, const Wrench&) = default;
};

/// The sum.
[[nodiscard]] constexpr Wrench operator+(const Wrench& a, const Wrench& b) noexcept {
  return {{a.force[0] + b.force[0], a.force[1] + b.force[1], a.force[2] + b.force[2]},
          {a.torque[0] + b.torque[0], a.torque[1] + b.torque[1], a.torque[2] + b.torque[2]}};
}
/// The product with a number.
[[nodiscard]] constexpr Wrench operator*(double factor, const Wrench& w) noexcept {
  return {{factor * w.force[0], factor * w.force[1], factor * w.force[2]},
          {factor * w.torque[0], factor * w.torque[1], factor * w.torque[2]}};
}
/// The difference.
[[nodiscard]] constexpr Wrench operator-(const Wrench& a, const Wrench& b) noexcept { return a + -1 * b; }

/// Whether all six numbers are finite. Real-time safe.
[[nodiscard]] inline bool is_finite(const Wrench& w) noexcept {
  double sum = 0;
  for (const double number : w.force) sum += number - number;  // NaN for NaN and infinity
  for (const double number : w.torque) sum += number - number;
  return sum == 0;
}

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
