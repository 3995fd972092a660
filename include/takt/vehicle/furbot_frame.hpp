// The frame of the Furbot's report and of its protocol: y forward, x to the right, angles clockwise from +y
//
//     x += v dt sin(heading),   y += v dt cos(heading)
//
// and REP 103, which is all that takt uses elsewhere: x forward, y left, angles counter-clockwise from +x. One is the other
// turned by a quarter and with angles the other way round, in the vehicle and in the world alike: nothing is rounded.
#pragma once

#include <numbers>

#include "takt/mobile/pose.hpp"

namespace takt::vehicle {

/// In the Furbot's world.
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
/// Without -0.
template <class Scalar>
[[nodiscard]] constexpr Scalar mirrored(Scalar value) noexcept {
  return Scalar(0) - value;
}

/// Half a turn is half a turn either way.
template <class Scalar>
[[nodiscard]] constexpr Scalar mirrored_angle(Scalar angle) noexcept {
  return angle == std::numbers::pi_v<Scalar> ? angle : mirrored(angle);
}
}  // namespace detail

/// Real-time safe. A NaN stays one.
template <class Scalar>
[[nodiscard]] constexpr BasicFurbotPose<Scalar> to_furbot(const mobile::BasicPose<Scalar>& pose) noexcept {
  return {detail::mirrored(pose.y), pose.x, detail::mirrored_angle(pose.heading)};
}
template <class Scalar>
[[nodiscard]] constexpr BasicFurbotTwist<Scalar> to_furbot(const mobile::BasicTwist<Scalar>& twist) noexcept {
  return {detail::mirrored(twist.left), twist.forward, detail::mirrored(twist.rotation)};
}

/// Real-time safe. A NaN stays one.
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
