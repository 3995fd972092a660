// Rotations as unit quaternions, in the order x, y, z, w. A rotation turns the coordinates of a vector from
// one frame into those of another. Values; every function is real-time safe.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "takt/core/finite_math.hpp"
#include "takt/robot/sensors.hpp"

namespace takt::controllers {

using robot::no_rotation;
using robot::Quaternion;
using robot::Vector3;

/// The product: first `second`, then `first`.
[[nodiscard]] constexpr Quaternion product(const Quaternion& first, const Quaternion& second) noexcept {
  const auto& [ax, ay, az, aw] = first;
  const auto& [bx, by, bz, bw] = second;
  return {aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
          aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz};
}

/// The opposite rotation.
[[nodiscard]] constexpr Quaternion inverse(const Quaternion& q) noexcept {
  return {-q[0], -q[1], -q[2], q[3]};
}

/// The cross product.
[[nodiscard]] constexpr Vector3 cross(const Vector3& a, const Vector3& b) noexcept {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// The vector after the rotation.
[[nodiscard]] constexpr Vector3 rotate(const Quaternion& q, const Vector3& v) noexcept {
  const Vector3 axis = {q[0], q[1], q[2]};
  const Vector3 once = cross(axis, v);
  const Vector3 twice = cross(axis, once);
  return {v[0] + 2 * (q[3] * once[0] + twice[0]), v[1] + 2 * (q[3] * once[1] + twice[1]),
          v[2] + 2 * (q[3] * once[2] + twice[2])};
}

/// The quaternion with norm 1; std::nullopt if its norm is zero or not finite.
[[nodiscard]] inline std::optional<Quaternion> normalised(const Quaternion& q) noexcept {
  const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(norm > 1e-9) || !std::isfinite(norm)) return std::nullopt;
  return Quaternion{q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm};
}

/// Roll, pitch and yaw in rad, about the fixed axes x, y, z in this order (REP 103).
[[nodiscard]] inline Quaternion from_roll_pitch_yaw(const Vector3& angles) noexcept {
  const auto about = [&](std::size_t axis) {
    Quaternion q = {0, 0, 0, std::cos(angles[axis] / 2)};
    q[axis] = std::sin(angles[axis] / 2);
    return q;
  };
  return product(about(2), product(about(1), about(0)));
}

}  // namespace takt::controllers
