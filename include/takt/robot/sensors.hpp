// The samples of common sensors. A device declares such a struct as a sensor (Declarations::sensor()), and
// broadcasters and controllers read it.
#pragma once

#include <array>

#include "takt/core/fields.hpp"

namespace takt::robot {

/// Three coordinates.
using Vector3 = std::array<double, 3>;
/// A rotation as a unit quaternion: x, y, z, w.
using Quaternion = std::array<double, 4>;

/// No rotation.
inline constexpr Quaternion no_rotation = {0, 0, 0, 1};

/// A measurement of an inertial unit.
struct ImuSample {
  Quaternion orientation =
      no_rotation;             ///< turns vectors of the unit's frame into the world's; zeros: unknown
  Vector3 angular_velocity{};  ///< rad/s
  Vector3 acceleration{};      ///< m/s^2, with gravity: at rest it points up

  TAKT_FIELDS(ImuSample, orientation, angular_velocity, acceleration)
};

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

}  // namespace takt::robot
