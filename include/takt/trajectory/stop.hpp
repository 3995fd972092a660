// From motion to rest within the limits. Velocity follows the cubic that leads from the present velocity and acceleration to
// zero and zero, over the shortest duration for which velocity, acceleration and jerk keep their limits: position, velocity and
// acceleration never step.
//
// With q = a T the cubic and its derivatives by s = t/T are
//     velocity         (1 - s)^2 (v (1 + 2 s) + q s)
//     acceleration T   (6 v + 3 q) s^2 - (6 v + 4 q) s + q
//     jerk T^2         from -(6 v + 4 q) at s = 0 straight to 6 v + 2 q at s = 1
// Each limit is met with equality at the roots of a quadratic in T, so the shortest duration is one of a few candidates.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/quintic.hpp"
#include "takt/trajectory/roots.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {

/// One joint's way to rest. A value; real-time safe.
template <class Scalar>
struct BasicStopMotion {
  using State = BasicMotionState<Scalar>;

  Scalar duration = 0;  ///< s; 0 for a joint that is at rest
  Scalar distance = 0;  ///< signed: where it comes to rest minus where it was
  bool fits =
      true;  ///< false: no stop keeps the limits from that state; this is the one with the least violation
  BasicQuintic<Scalar> motion;

  /// The state t seconds after the stop began; at the end and after it exactly at rest.
  [[nodiscard]] State at(Scalar t) const noexcept {
    if (t >= duration) return {motion.coefficients()[0] + distance, 0, 0};
    return motion.at(t > 0 ? t : 0);
  }
};
using StopMotion = BasicStopMotion<double>;

namespace detail {

/// The largest magnitudes over a stop from velocity v and acceleration a in time T.
template <class Scalar>
struct StopPeaks {
  Scalar velocity;
  Scalar acceleration;
  Scalar jerk;

  StopPeaks(Scalar v, Scalar a, Scalar duration) noexcept
      : velocity(std::abs(v)), acceleration(std::abs(a)), jerk(0) {
    const Scalar q = a * duration;
    const Scalar bend = 6 * v + 3 * q;
    jerk = std::max(std::abs(6 * v + 4 * q), std::abs(6 * v + 2 * q)) / (duration * duration);
    if (const Scalar s = q / bend; s > 0 && s < 1) {  // where acceleration is zero
      velocity = std::max(velocity, std::abs((1 - s) * (1 - s) * (v * (1 + 2 * s) + q * s)));
    }
    if (const Scalar s = (3 * v + 2 * q) / bend; s > 0 && s < 1) {  // where jerk is zero
      acceleration = std::max(acceleration, std::abs(bend * s * s - (6 * v + 4 * q) * s + q) / duration);
    }
  }

  /// The largest ratio of a magnitude to its limit.
  [[nodiscard]] Scalar excess(const BasicJointLimits<Scalar>& limits) const noexcept {
    return std::max({velocity / limits.velocity, acceleration / limits.acceleration, jerk / limits.jerk});
  }
  [[nodiscard]] bool fit(const BasicJointLimits<Scalar>& limits) const noexcept {
    const auto within = [](Scalar value, Scalar limit) { return value <= limit * (1 + slack<Scalar>); };
    return within(velocity, limits.velocity) && within(acceleration, limits.acceleration) &&
           within(jerk, limits.jerk);
  }
};

/// Calls visit(T) for each duration at which an acceleration or jerk limit is just met, in no order. At most 12 calls. A velocity
/// limit is never met by stopping more slowly, so it adds none.
template <class Scalar, class Visitor>
void for_each_stop_duration(Scalar v, Scalar a, const BasicJointLimits<Scalar>& limits,
                            Visitor&& visit) noexcept {
  const auto low = static_cast<Scalar>(min_duration);
  const auto high = static_cast<Scalar>(max_duration);
  const auto visit_roots = [&](const Polynomial<Scalar, 3>& polynomial) {
    for (const Scalar duration : roots_in(polynomial, low, high)) visit(duration);
  };
  visit(low);
  for (const Scalar sign : {Scalar{-1}, Scalar{1}}) {
    if (std::isfinite(limits.jerk)) {
      visit_roots({-6 * v * sign, -4 * a * sign, limits.jerk});
      visit_roots({-6 * v * sign, -2 * a * sign, limits.jerk});
    }
    if (std::isfinite(limits.acceleration)) {
      const Scalar e = a - sign * limits.acceleration;
      visit_roots({-36 * v * v, 24 * v * (e - 2 * a), 4 * a * (3 * e - 4 * a)});
    }
  }
}

/// Limits that the present state keeps: what it exceeds already is its bound from here on. A bound that is no positive number
/// says nothing of how to stop; acceleration is then bounded so that the joint rests within about a second.
template <class Scalar>
[[nodiscard]] BasicJointLimits<Scalar> limits_from_here(Scalar v, Scalar a,
                                                        const BasicJointLimits<Scalar>& limits) noexcept {
  constexpr Scalar unlimited = std::numeric_limits<Scalar>::infinity();
  BasicJointLimits<Scalar> result = limits;
  result.velocity = limits.velocity > 0 ? std::max(limits.velocity, std::abs(v)) : unlimited;
  result.acceleration =
      std::max(limits.acceleration > 0 ? limits.acceleration : 2 * std::abs(v), std::abs(a));
  result.jerk = limits.jerk > 0 ? limits.jerk : unlimited;
  return result;
}

/// The duration whose worst ratio of value to limit is least: a coarse search over six decades, then a fine one.
template <class Scalar>
[[nodiscard]] Scalar least_violating_duration(Scalar v, Scalar a,
                                              const BasicJointLimits<Scalar>& limits) noexcept {
  constexpr int coarse_steps = 60;
  constexpr int fine_steps = 40;
  Scalar typical = 0;
  for (const Scalar time :
       {std::abs(v) / limits.acceleration, std::abs(a) / limits.jerk, std::sqrt(std::abs(v) / limits.jerk)}) {
    if (std::isfinite(time)) typical = std::max(typical, time);
  }
  if (typical == 0) typical = 1;
  const auto cost = [&](Scalar exponent) {
    return StopPeaks<Scalar>(v, a, typical * std::exp(exponent)).excess(limits);
  };
  const Scalar span = 7;  // e^7: three decades to either side
  const Scalar step = 2 * span / coarse_steps;
  Scalar best = 0;
  for (int i = 0; i <= coarse_steps; ++i) {
    const Scalar candidate = -span + step * static_cast<Scalar>(i);
    if (cost(candidate) < cost(best)) best = candidate;
  }
  Scalar low = best - step;
  Scalar high = best + step;
  for (int i = 0; i < fine_steps; ++i) {
    const Scalar third = (high - low) / 3;
    if (cost(low + third) <= cost(high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  return std::clamp(typical * std::exp((low + high) / 2), static_cast<Scalar>(min_duration),
                    static_cast<Scalar>(max_duration));
}

template <class Scalar>
[[nodiscard]] BasicStopMotion<Scalar> stop_over(const BasicMotionState<Scalar>& state, Scalar duration,
                                                bool fits) noexcept {
  const Scalar v = state.velocity * duration;
  const Scalar a = state.acceleration * duration * duration;
  BasicStopMotion<Scalar> stop;
  stop.duration = duration;
  stop.distance = v / 2 + a / 12;
  stop.fits = fits;
  stop.motion = {{state.position, v, a / 2, -v - 2 * a / 3, v / 2 + a / 4, 0}, duration};
  return stop;
}

}  // namespace detail

/// The shortest stop of one joint from `state` that keeps the velocity, acceleration and jerk limits (not the position limits:
/// see StopMotion::distance). If none does, `fits` is false and the stop is the one with the least violation: the state's
/// own excess is taken as the bound, and the worst ratio to the limits is made as small as it gets. A velocity or acceleration
/// that is not finite is taken as zero. Real-time safe: a few dozen closed formulas, a bounded search only when nothing fits.
template <class Scalar>
[[nodiscard]] BasicStopMotion<Scalar> plan_stop(
    const BasicMotionState<Scalar>& state,
    const std::type_identity_t<BasicJointLimits<Scalar>>& limits) noexcept {
  BasicMotionState<Scalar> from = state;
  bool fits = std::isfinite(state.velocity) && std::isfinite(state.acceleration);
  if (!std::isfinite(from.velocity)) from.velocity = 0;
  if (!std::isfinite(from.acceleration)) from.acceleration = 0;
  const Scalar v = from.velocity;
  const Scalar a = from.acceleration;
  if (v == 0 && a == 0) {
    BasicStopMotion<Scalar> rest;
    rest.fits = fits;
    rest.motion = {{from.position}, 1};
    return rest;
  }
  const auto shortest = [&](const BasicJointLimits<Scalar>& bounds) {
    Scalar best = std::numeric_limits<Scalar>::infinity();
    detail::for_each_stop_duration(v, a, bounds, [&](Scalar duration) {
      if (duration < best && detail::StopPeaks<Scalar>(v, a, duration).fit(bounds)) best = duration;
    });
    return best;
  };
  if (const Scalar duration = shortest(limits); std::isfinite(duration))
    return detail::stop_over(from, duration, fits);
  const auto relaxed = detail::limits_from_here(v, a, limits);
  Scalar duration = shortest(relaxed);
  if (!std::isfinite(duration)) duration = detail::least_violating_duration(v, a, relaxed);
  return detail::stop_over(from, duration, false);
}

/// Brings a trajectory that does not end at rest to a stop by one more segment, the shortest in which all joints together keep
/// their velocity, acceleration and jerk limits; one that ends at rest stays as it is. Whether the stop leaves the position
/// limits, find_violation() says. Allocates. Errors: wrong_size (limits), no_bounded_stop, and those of append(); the trajectory
/// is then as it was.
template <class Scalar>
[[nodiscard]] Status append_stop(BasicTrajectory<Scalar>& trajectory,
                                 std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) {
  using State = BasicMotionState<Scalar>;
  const std::size_t joints = trajectory.joints();
  if (limits.size() != joints) return fail(Errc::wrong_size);
  std::vector<State> states(joints);
  bool resting = true;
  for (std::size_t j = 0; j < joints; ++j) {
    states[j] = trajectory.knot(trajectory.segments(), j);
    resting = resting && states[j].velocity == 0 && states[j].acceleration == 0;
  }
  if (resting) return {};
  std::vector<Scalar> durations;
  for (std::size_t j = 0; j < joints; ++j) {
    detail::for_each_stop_duration(states[j].velocity, states[j].acceleration, limits[j],
                                   [&](Scalar duration) { durations.push_back(duration); });
  }
  std::sort(durations.begin(), durations.end());
  const auto all_fit = [&](Scalar duration) {
    for (std::size_t j = 0; j < joints; ++j) {
      const detail::StopPeaks<Scalar> peaks(states[j].velocity, states[j].acceleration, duration);
      if (!peaks.fit(limits[j])) return false;
    }
    return true;
  };
  const auto duration = std::find_if(durations.begin(), durations.end(), all_fit);
  if (duration == durations.end()) return fail(Errc::no_bounded_stop);
  for (State& state : states)
    state = {state.position + detail::stop_over(state, *duration, true).distance, 0, 0};
  return trajectory.append(states, *duration);
}

}  // namespace takt::trajectory
