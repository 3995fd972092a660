// Follows a streamed set-point of one joint within its velocity and acceleration limits. What can be followed
// exactly is followed exactly; a step is approached as fast as the limits allow and reached without
// overshoot; the joint can always stop inside its position limits. The stream may be slow, late, jittery or
// absurd: the output is always a motion that the joint can make.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "takt/core/joint.hpp"
#include "takt/core/period.hpp"

namespace takt::control {

/// Where the stream wants the joint to be, and how fast that point moves by itself.
template <class Scalar>
struct BasicTarget {
  Scalar position = 0;  ///< rad or m
  Scalar velocity = 0;  ///< rad/s or m/s; 0 means: be at rest there
};
using Target = BasicTarget<double>;

/// The greatest speed from which a joint that moves `speed * period` each period and slows by `acceleration * period` from one
/// period to the next comes to rest after exactly `distance`. With n such periods, the last of them the slowest,
///     d = n v T - a T^2 n (n - 1) / 2   for   (n - 1) a T < v <= n a T,
///     n = ceil((sqrt(1 + 8 d / (a T^2)) - 1) / 2);
/// for n = 1 this is the dead-beat d / T, for many periods it tends to sqrt(2 a d). Zero for a distance that
/// is not positive, and where acceleration or period are next to zero; no bound for an infinite distance. Real-time safe.
template <class Scalar>
[[nodiscard]] Scalar braking_speed(Scalar distance, Scalar acceleration, Scalar period) noexcept {
  if (!(distance > 0)) return 0;
  const Scalar one_step = acceleration * period * period;
  const Scalar steps = std::max(Scalar(1), std::ceil((std::sqrt(1 + 8 * distance / one_step) - 1) / 2));
  if (!(steps > 1)) return distance / period;
  // Periods that cannot be counted: a distance beyond all bounds, or next to no braking.
  if (!(steps <= std::numeric_limits<Scalar>::max())) {
    constexpr Scalar next_to_none =
        std::numeric_limits<Scalar>::min() / std::numeric_limits<Scalar>::epsilon();
    return one_step > next_to_none ? distance : Scalar(0);
  }
  return (distance / steps + one_step * (steps - 1) / 2) / period;
}

/// One joint's follower. Bounds velocity and acceleration, not jerk.
template <class Scalar>
class BasicSetpointFollower {
 public:
  constexpr BasicSetpointFollower() = default;

  /// Starts from a reference that is already being commanded, so that the first step is no jump.
  constexpr explicit BasicSetpointFollower(const BasicMotionState<Scalar>& start) noexcept : state_(start) {}

  /// Advances by one `period` (s) towards `target`, which is meant for the end of this period. A
  /// target that is not finite is ignored: the joint then brakes to rest. With a bad period (is_period()), with limits that are
  /// none (NaN, an empty range, a velocity below zero, an acceleration not above zero), or where no limit keeps the motion
  /// finite, nothing changes. Returns the reference. Periods of one follower should be equal: its braking distance is counted in
  /// them. Real-time safe.
  BasicMotionState<Scalar> step(const BasicTarget<Scalar>& target, const BasicJointLimits<Scalar>& limits,
                                Scalar period) noexcept {
    if (!is_period(period) || !are_limits(limits)) return state_;
    const Scalar slowest = state_.velocity - limits.acceleration * period;
    const Scalar fastest = state_.velocity + limits.acceleration * period;
    Scalar velocity = std::clamp(wanted_velocity(target, limits, period), -limits.velocity, limits.velocity);
    // The joint must be able to stop inside its position limits, whatever the stream says. Outside them it
    // may move inward.
    velocity =
        std::min(velocity, braking_speed(limits.position_max - state_.position, limits.acceleration, period));
    velocity = std::max(velocity,
                        -braking_speed(state_.position - limits.position_min, limits.acceleration, period));
    velocity = std::clamp(velocity, slowest, fastest);

    const BasicMotionState<Scalar> next{state_.position + velocity * period, velocity,
                                        (velocity - state_.velocity) / period};
    if (!std::isfinite(next.position) || !std::isfinite(next.acceleration)) return state_;
    return state_ = next;
  }

  [[nodiscard]] constexpr const BasicMotionState<Scalar>& state() const noexcept { return state_; }

 private:
  [[nodiscard]] static bool are_limits(const BasicJointLimits<Scalar>& l) noexcept {
    return l.position_min <= l.position_max && l.velocity >= 0 && l.acceleration > 0;
  }

  /// In the frame that moves with the target: close the distance by the braking law.
  [[nodiscard]] Scalar wanted_velocity(const BasicTarget<Scalar>& target,
                                       const BasicJointLimits<Scalar>& limits, Scalar period) const noexcept {
    if (!std::isfinite(target.position) || !std::isfinite(target.velocity)) return 0;
    const Scalar inside = std::clamp(target.position, limits.position_min, limits.position_max);
    // Distance to where the target would have come from at its own velocity one period ago: zero when
    // following exactly.
    const Scalar distance = inside - target.velocity * period - state_.position;
    const Scalar closing = braking_speed(std::abs(distance), limits.acceleration, period);
    return target.velocity + std::copysign(closing, distance);
  }

  BasicMotionState<Scalar> state_;
};
using SetpointFollower = BasicSetpointFollower<double>;

}  // namespace takt::control
