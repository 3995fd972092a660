// Follows a streamed set-point of one joint within its velocity and acceleration limits. A set-point that the
// joint can follow is followed exactly. A step is approached as fast as the limits allow and reached without
// overshoot. The joint can always stop inside its position limits. The stream may be slow, late, jittery or
// wrong: the output is always a motion that the joint can make.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "takt/core/joint.hpp"
#include "takt/core/period.hpp"

namespace takt::control {

/// The position that the stream requests, and the velocity of that position.
template <class Scalar>
struct BasicTarget {
  Scalar position = 0;  ///< rad or m
  Scalar velocity = 0;  ///< rad/s or m/s; 0: rest there
};
using Target = BasicTarget<double>;

/// The greatest velocity from which a joint comes to rest after exactly `distance`. It moves `speed * period`
/// each period and slows by `acceleration * period` between periods. With n such periods, the last of them
/// the slowest,
///
///   d = n v T - a T^2 n (n - 1) / 2   for   (n - 1) a T < v <= n a T,
///   n = ceil((sqrt(1 + 8 d / (a T^2)) - 1) / 2).
///
/// For n = 1 this is the dead-beat d / T; for many periods it tends to sqrt(2 a d). Zero for a distance <= 0,
/// and if acceleration or period are almost zero. Unbounded for an infinite distance. Real-time safe.
template <class Scalar>
[[nodiscard]] Scalar braking_speed(Scalar distance, Scalar acceleration, Scalar period) noexcept {
  if (!(distance > 0)) return 0;
  const Scalar one_step = acceleration * period * period;
  const Scalar steps = std::max(Scalar(1), std::ceil((std::sqrt(1 + 8 * distance / one_step) - 1) / 2));
  if (!(steps > 1)) return distance / period;
  // The number of periods overflows: the distance is huge, or there is almost no braking.
  if (!(steps <= std::numeric_limits<Scalar>::max())) {
    constexpr Scalar next_to_none =
        std::numeric_limits<Scalar>::min() / std::numeric_limits<Scalar>::epsilon();
    return one_step > next_to_none ? distance : Scalar(0);
  }
  return (distance / steps + one_step * (steps - 1) / 2) / period;
}

/// The follower of one joint. It bounds velocity and acceleration, not jerk.
template <class Scalar>
class BasicSetpointFollower {
 public:
  /// At rest at zero.
  constexpr BasicSetpointFollower() = default;

  /// Starts from the present reference, so that the first step is no jump.
  constexpr explicit BasicSetpointFollower(const BasicMotionState<Scalar>& start) noexcept : state_(start) {}

  /// Advances by one `period` (s) towards `target`, the target for the end of this period. Returns the
  /// reference. Real-time safe. If the target is NaN or infinite, the joint brakes to rest. Nothing changes
  /// for a bad period (is_period()) or if no limit keeps the motion finite. Nothing changes for invalid
  /// limits either: NaN, an empty range, a velocity < 0, an acceleration <= 0. Use equal periods for one
  /// follower, because its braking distance is counted in them.
  BasicMotionState<Scalar> step(const BasicTarget<Scalar>& target, const BasicJointLimits<Scalar>& limits,
                                Scalar period) noexcept {
    if (!is_period(period) || !are_limits(limits)) return state_;
    const Scalar slowest = state_.velocity - limits.acceleration * period;
    const Scalar fastest = state_.velocity + limits.acceleration * period;
    Scalar velocity = std::clamp(wanted_velocity(target, limits, period), -limits.velocity, limits.velocity);
    // The joint must be able to stop inside its position limits for any stream. Outside them it may move
    // inward.
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

  /// The present reference.
  [[nodiscard]] constexpr const BasicMotionState<Scalar>& state() const noexcept { return state_; }

 private:
  [[nodiscard]] static bool are_limits(const BasicJointLimits<Scalar>& l) noexcept {
    return l.position_min <= l.position_max && l.velocity >= 0 && l.acceleration > 0;
  }

  /// Closes the distance by the braking law, in the frame that moves with the target.
  [[nodiscard]] Scalar wanted_velocity(const BasicTarget<Scalar>& target,
                                       const BasicJointLimits<Scalar>& limits, Scalar period) const noexcept {
    if (!std::isfinite(target.position) || !std::isfinite(target.velocity)) return 0;
    const Scalar inside = std::clamp(target.position, limits.position_min, limits.position_max);
    // The distance to the target's position one period ago, at its own velocity. It is zero while the joint
    // follows exactly.
    const Scalar distance = inside - target.velocity * period - state_.position;
    const Scalar closing = braking_speed(std::abs(distance), limits.acceleration, period);
    return target.velocity + std::copysign(closing, distance);
  }

  BasicMotionState<Scalar> state_;
};
using SetpointFollower = BasicSetpointFollower<double>;

}  // namespace takt::control
