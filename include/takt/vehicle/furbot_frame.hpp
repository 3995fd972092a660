// The coordinate frame of the Furbot's report and protocol, and its conversion. There, y points forward, x to
// the right, and angles are clockwise from +y:
//
//   x += v dt sin(heading),   y += v dt cos(heading)
//
// The rest of takt uses REP 103: x forward, y left, angles counter-clockwise from +x. The conversion turns by
// a quarter and reverses the angles, for the vehicle's frame and the world alike. It does not round.
#pragma once

#include <numbers>

#include "takt/mobile/pose.hpp"

namespace takt::vehicle {

/// A pose in the Furbot's world frame.
template <class Scalar>
struct BasicFurbotPose {
  Scalar x = 0;        ///< m, to the right of y
  Scalar y = 0;        ///< m
  Scalar heading = 0;  ///< rad, clockwise from the world's y axis, in (-pi, pi]

  friend constexpr bool operator==(const BasicFurbotPose&, const BasicFurbotPose&) = default;
};
using FurbotPose = BasicFurbotPose<double>;

/// Velocities in the Furbot's own frame.
template <class Scalar>
struct BasicFurbotTwist {
  Scalar x = 0;         ///< m/s to the right
  Scalar y = 0;         ///< m/s forward
  Scalar rotation = 0;  ///< rad/s, clockwise

  friend constexpr bool operator==(const BasicFurbotTwist&, const BasicFurbotTwist&) = default;
};
using FurbotTwist = BasicFurbotTwist<double>;

namespace detail {
/// The negative of a value, without -0.
template <class Scalar>
[[nodiscard]] constexpr Scalar mirrored(Scalar value) noexcept {
  return Scalar(0) - value;
}

/// The negative of an angle. Half a turn stays half a turn, because both directions are equal.
template <class Scalar>
[[nodiscard]] constexpr Scalar mirrored_angle(Scalar angle) noexcept {
  return angle == std::numbers::pi_v<Scalar> ? angle : mirrored(angle);
}
}  // namespace detail

/// Converts a pose or a twist to the Furbot's frame. Real-time safe. A NaN stays NaN.
template <class Scalar>
[[nodiscard]] constexpr BasicFurbotPose<Scalar> to_furbot(const mobile::BasicPose<Scalar>& pose) noexcept {
  return {detail::mirrored(pose.y), pose.x, detail::mirrored_angle(pose.heading)};
}
template <class Scalar>
[[nodiscard]] constexpr BasicFurbotTwist<Scalar> to_furbot(const mobile::BasicTwist<Scalar>& twist) noexcept {
  return {detail::mirrored(twist.left), twist.forward, detail::mirrored(twist.rotation)};
}

/// Converts a pose or a twist from the Furbot's frame. Real-time safe. A NaN stays NaN.
template <class Scalar>
[[nodiscard]] constexpr mobile::BasicPose<Scalar> from_furbot(const BasicFurbotPose<Scalar>& pose) noexcept {
  return {pose.y, detail::mirrored(pose.x), detail::mirrored_angle(pose.heading)};
}
template <class Scalar>
[[nodiscard]] constexpr mobile::BasicTwist<Scalar> from_furbot(
    const BasicFurbotTwist<Scalar>& twist) noexcept {
  return {twist.y, detail::mirrored(twist.x), detail::mirrored(twist.rotation)};
}

}  // namespace takt::vehicle
