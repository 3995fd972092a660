// The pose and the motion of a vehicle in the plane. REP 103: x forward, y left, rotation counter-clockwise.
#pragma once

#include <cmath>
#include <numbers>

#include "takt/core/fields.hpp"
#include "takt/core/finite_math.hpp"

namespace takt::mobile {

/// A pose in the world.
template <class Scalar>
struct BasicPose {
  Scalar x = 0;        ///< m
  Scalar y = 0;        ///< m
  Scalar heading = 0;  ///< rad, from the world's x axis, in (-pi, pi]

  TAKT_FIELDS(BasicPose, x, y, heading)
  friend constexpr bool operator==(const BasicPose&, const BasicPose&) = default;
};
using Pose = BasicPose<double>;

/// Velocities in the vehicle's own frame. Multiplied by a period it is the motion in that period.
template <class Scalar>
struct BasicTwist {
  Scalar forward = 0;   ///< m/s along x
  Scalar left = 0;      ///< m/s along y: zero for vehicles that cannot move sideways
  Scalar rotation = 0;  ///< rad/s

  TAKT_FIELDS(BasicTwist, forward, left, rotation)
  friend constexpr bool operator==(const BasicTwist&, const BasicTwist&) = default;

  [[nodiscard]] friend constexpr BasicTwist operator*(Scalar factor, const BasicTwist& twist) noexcept {
    return {factor * twist.forward, factor * twist.left, factor * twist.rotation};
  }
};
using Twist = BasicTwist<double>;

namespace detail {
template <class Scalar>
[[nodiscard]] bool is_finite(const BasicTwist<Scalar>& twist) noexcept {
  return std::isfinite(twist.forward) && std::isfinite(twist.left) && std::isfinite(twist.rotation);
}
}  // namespace detail

/// The same angle in (-pi, pi]. NaN stays NaN. Real-time safe.
template <class Scalar>
[[nodiscard]] Scalar wrap_angle(Scalar angle) noexcept {
  constexpr Scalar pi = std::numbers::pi_v<Scalar>;
  // Up to one and a half turns, one subtraction is exact (Sterbenz). std::remainder gives the same number but
  // takes longer.
  Scalar wrapped = std::abs(angle) > pi ? angle - std::copysign(2 * pi, angle) : angle;
  if (!(std::abs(wrapped) <= pi)) wrapped = std::remainder(angle, 2 * pi);
  return wrapped == -pi ? pi : wrapped;
}

/// The method that integrates a motion over a period.
enum class PoseIntegration {
  exact_arc,    ///< exact for constant velocities
  runge_kutta,  ///< second order: the mean heading; makes an arc too long by rotation^2/24 of its length
  euler,        ///< first order: the heading before the motion
};

/// The change of the pose in the world by a motion (m, m, rad; a twist times its period) from this heading.
/// Real-time safe.
///
/// Constant velocities lead along an arc. Let a be half the rotation. The chord is sin(a)/a times the arc,
/// and points a to the left of the heading (the exponential map of SE(2)). The quotient sin(a)/a loses no
/// precision near zero; only 0/0 is a special case.
template <class Scalar>
[[nodiscard]] BasicPose<Scalar> displacement(
    Scalar heading, const BasicTwist<Scalar>& motion,
    PoseIntegration integration = PoseIntegration::exact_arc) noexcept {
  const Scalar half = motion.rotation / 2;
  const Scalar direction = integration == PoseIntegration::euler ? heading : heading + half;
  const Scalar chord =
      integration == PoseIntegration::exact_arc && half != 0 ? std::sin(half) / half : Scalar(1);
  const Scalar c = chord * std::cos(direction);
  const Scalar s = chord * std::sin(direction);
  return {c * motion.forward - s * motion.left, s * motion.forward + c * motion.left, motion.rotation};
}

/// The pose after a motion, with a wrapped heading. Real-time safe.
template <class Scalar>
[[nodiscard]] BasicPose<Scalar> moved(const BasicPose<Scalar>& pose, const BasicTwist<Scalar>& motion,
                                      PoseIntegration integration = PoseIntegration::exact_arc) noexcept {
  const BasicPose<Scalar> change = displacement(pose.heading, motion, integration);
  return {pose.x + change.x, pose.y + change.y, wrap_angle(pose.heading + change.heading)};
}

}  // namespace takt::mobile
