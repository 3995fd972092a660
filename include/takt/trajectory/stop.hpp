// From motion to rest at once, as fast as the limits allow: one joint (plan_stop(), in the loop), each joint of a trajectory by
// itself (stop_each()), or all of them together (append_stop(), after part() has cut the trajectory off). None of these stays on
// the path: along the path, see speed_scaling.hpp. Jerk brings the acceleration to the deceleration limit (or as far as is
// needed), that is held, and jerk takes it back to zero. Position, velocity and acceleration never step; acceleration and jerk
// keep their limits by construction, and the velocity rises above the present one only as far as the jerk limit makes it.
//
// In the direction of motion, with u, b the present velocity and acceleration and j the jerk limit, the three phases take
//     t1 = |b + p| / j,   t2 = (u - (p - b) t1 / 2 - p^2 / (2 j)) / p,   t3 = p / j
// where the deceleration peaks at p = min(limit, sqrt(j u + b^2 / 2)), the root for which t2 is zero. The direction is the sign
// of v + a |a| / (2 j): the velocity that would be left if the acceleration were taken straight to zero.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/assemble.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/jerk_profile.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {

/// One joint's way to rest. A value; real-time safe.
template <class Scalar>
struct BasicStopMotion {
  using State = BasicMotionState<Scalar>;

  /// A stretch of constant jerk.
  struct Phase {
    Scalar begins = 0;  ///< s from the start of the stop
    State state;        ///< there
    Scalar jerk = 0;

    [[nodiscard]] State at(Scalar t) const noexcept { return advance(state, jerk, t - begins); }
  };

  Scalar duration = 0;  ///< s; 0 for a joint that is at rest
  Scalar distance = 0;  ///< signed: where it comes to rest minus where it was
  bool fits =
      true;  ///< false: the state is outside the limits, or must leave them before it can come to rest
  std::array<Phase, 3> phases{};

  /// The state t seconds after the stop began; at the end and after it exactly at rest.
  [[nodiscard]] State at(Scalar t) const noexcept {
    if (t >= duration) return {phases[0].state.position + distance, 0, 0};
    if (!(t > 0)) return phases[0].state;
    std::size_t k = 0;
    while (k + 1 < phases.size() && t >= phases[k + 1].begins) ++k;
    return phases[k].at(t);
  }
};
using StopMotion = BasicStopMotion<double>;

/// The same motion as a profile. With a finite jerk limit only: else its acceleration steps.
template <class Scalar>
[[nodiscard]] BasicJerkProfile<Scalar> to_profile(const BasicStopMotion<Scalar>& stop) noexcept {
  BasicJerkProfile<Scalar> profile(stop.phases[0].state);
  for (std::size_t k = 0; k < stop.phases.size(); ++k) {
    const auto& phase = stop.phases[k];
    const Scalar ends = k + 1 < stop.phases.size() ? stop.phases[k + 1].begins : stop.duration;
    profile.append({ends - phase.begins, phase.jerk, phase.state.acceleration});
  }
  profile.end_at(stop.at(stop.duration), stop.duration);
  return profile;
}

namespace detail {

/// The bounds that a stop is planned with. A bound that is no positive number says nothing of how to stop: the joint then rests
/// within about half a second, whatever jerk that takes.
template <class Scalar>
struct StopBounds {
  Scalar acceleration;
  Scalar jerk;

  StopBounds(Scalar speed, const BasicJointLimits<Scalar>& limits) noexcept
      : acceleration(limits.acceleration > 0 ? limits.acceleration : 2 * speed),
        jerk(limits.jerk > 0 ? limits.jerk : std::numeric_limits<Scalar>::infinity()) {}
};

/// Finite bounds for a stop whose acceleration must not step.
template <class Scalar>
struct RampBounds : StopBounds<Scalar> {
  static constexpr Scalar spare = std::is_same_v<Scalar, float> ? Scalar(1e-3) : Scalar(1e-6);
  /// A phase shorter than this is made this long: no limit is nearer then, and the derivatives of the segment stay exact.
  static constexpr Scalar shortest_phase = Scalar(5e-3);

  RampBounds(const BasicMotionState<Scalar>& state, const BasicJointLimits<Scalar>& limits) noexcept
      : StopBounds<Scalar>(std::abs(state.velocity), limits) {
    const Scalar speed = std::abs(state.velocity);
    const Scalar push = std::abs(state.acceleration);
    if (!(this->acceleration > 0) || !std::isfinite(this->acceleration)) {
      this->acceleration = std::max({2 * speed, push, Scalar(1e-3)});
    }
    const Scalar ramp = std::max(speed / this->acceleration, Scalar(0.01));
    if (!std::isfinite(this->jerk)) this->jerk = std::max(this->acceleration, push) / ramp;
    // To spare for the rounding of the segments that are built from it.
    this->acceleration *= 1 - spare;
    this->jerk *= 1 - spare;
  }
};

/// The durations of the three phases and the deceleration between them, in the direction of motion.
template <class Scalar>
struct StopPlan {
  std::array<Scalar, 3> durations{};
  Scalar peak = 0;

  StopPlan(Scalar u, Scalar b, const StopBounds<Scalar>& bounds) noexcept {
    if (!std::isfinite(bounds.jerk)) {
      peak = bounds.acceleration;
      durations[1] = std::isfinite(peak) && peak > 0 ? u / peak : 0;
      return;
    }
    peak = std::min(bounds.acceleration, std::sqrt(std::max(bounds.jerk * u + b * b / 2, Scalar(0))));
    durations[0] = std::abs(b + peak) / bounds.jerk;
    durations[2] = peak / bounds.jerk;
    const Scalar left = u - (peak - b) * durations[0] / 2 - peak * durations[2] / 2;
    durations[1] = peak == bounds.acceleration && peak > 0 ? std::max(left / peak, Scalar(0)) : 0;
  }
};

}  // namespace detail

/// The shortest stop of one joint from `state` within the acceleration and jerk limits. Position limits are not looked at: see
/// StopMotion::distance. Where no stop keeps the limits, `fits` is false and this is the one with the least violation. Without a
/// jerk limit the acceleration steps; without either the stop takes no time. A velocity or acceleration outside domain.hpp is
/// taken as zero, and limits that let the stop take more than max_duration as none that were given. Real-time safe: closed formulas.
template <class Scalar>
[[nodiscard]] BasicStopMotion<Scalar> plan_stop(
    const BasicMotionState<Scalar>& state,
    const std::type_identity_t<BasicJointLimits<Scalar>>& limits) noexcept {
  BasicMotionState<Scalar> from = state;
  BasicStopMotion<Scalar> stop;
  stop.fits = detail::in_domain(state.velocity) && detail::in_domain(state.acceleration);
  if (!detail::in_domain(from.velocity)) from.velocity = 0;
  if (!detail::in_domain(from.acceleration)) from.acceleration = 0;

  const detail::StopBounds<Scalar> bounds(std::abs(from.velocity), limits);
  const Scalar left_over =
      from.velocity + from.acceleration * std::abs(from.acceleration) / (2 * bounds.jerk);
  const Scalar direction = left_over < 0 ? -1 : 1;
  const Scalar u = direction * from.velocity;
  const Scalar b = direction * from.acceleration;
  const detail::StopPlan<Scalar> plan(u, b, bounds);

  const Scalar fastest = b > 0 ? u + b * b / (2 * bounds.jerk) : std::abs(u);
  stop.fits = stop.fits &&
              !(std::max(fastest, std::abs(u)) > limits.velocity * (1 + detail::slack<Scalar>)) &&
              !(std::abs(b) > limits.acceleration * (1 + detail::slack<Scalar>));

  const bool ramps = std::isfinite(bounds.jerk);
  const Scalar first_jerk = b + plan.peak > 0 ? -bounds.jerk : bounds.jerk;
  const std::array<Scalar, 3> jerks{ramps ? direction * first_jerk : 0, 0,
                                    ramps ? direction * bounds.jerk : 0};
  for (std::size_t k = 0; k < 3; ++k) {
    auto& phase = stop.phases[k];
    phase = {stop.duration, k == 0 ? from : stop.phases[k - 1].at(stop.duration), jerks[k]};
    if (k == 1)
      phase.state.acceleration = plan.durations[1] > 0 ? -direction * plan.peak : phase.state.acceleration;
    stop.duration += plan.durations[k];
  }
  if (!(stop.duration <= static_cast<Scalar>(max_duration))) {
    BasicJointLimits<Scalar> none;
    none.acceleration = none.jerk = 0;
    stop = plan_stop(from, none);
    stop.fits = false;
    return stop;
  }
  stop.distance = stop.phases[2].at(stop.duration).position - from.position;
  return stop;
}

/// Brings a trajectory that does not end at rest to a stop of all joints together: at most three more segments, in which all joints change the sign of
/// their jerk together. With T1, T2, T3 as above but common to all, joint i decelerates at
///     p_i = (v_i + a_i T1 / 2) / (T1 / 2 + T2 + T3 / 2)
/// and T1 = max (|a_i| + limit_i) / j_i, T3 = max limit_i / j_i and the least T2 that makes |p_i| <= limit_i keep acceleration
/// and jerk within their limits. Without a jerk limit the ramps take as long as the bare deceleration would. A trajectory that
/// ends at rest stays as it is. Whether the stop leaves the position or velocity limits, find_violation() says. Allocates.
/// Errors: wrong_size (limits), and those of append().
template <class Scalar>
[[nodiscard]] Status append_stop(BasicTrajectory<Scalar>& trajectory,
                                 std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) {
  using State = BasicMotionState<Scalar>;
  const std::size_t joints = trajectory.joints();
  if (limits.size() != joints) return fail(Errc::wrong_size);
  std::vector<State> states(joints);
  Scalar first = detail::RampBounds<Scalar>::shortest_phase;
  Scalar last = first;
  bool resting = true;
  for (std::size_t i = 0; i < joints; ++i) {
    states[i] = trajectory.knot(trajectory.segments(), i);
    resting = resting && states[i].velocity == 0 && states[i].acceleration == 0;
    const detail::RampBounds<Scalar> bounds(states[i], limits[i]);
    first = std::max(first, (std::abs(states[i].acceleration) + bounds.acceleration) / bounds.jerk);
    last = std::max(last, bounds.acceleration / bounds.jerk);
  }
  if (resting) return {};
  Scalar middle = 0;
  for (std::size_t i = 0; i < joints; ++i) {
    const detail::RampBounds<Scalar> bounds(states[i], limits[i]);
    const Scalar change = std::abs(states[i].velocity + states[i].acceleration * first / 2);
    middle = std::max(middle, change / bounds.acceleration - (first + last) / 2);
  }
  if (middle > 0) middle = std::max(middle, detail::RampBounds<Scalar>::shortest_phase);

  const Scalar whole = first / 2 + middle + last / 2;
  std::vector<Scalar> decelerations(joints);
  for (std::size_t i = 0; i < joints; ++i) {
    decelerations[i] = (states[i].velocity + states[i].acceleration * first / 2) / whole;
  }
  const std::array<Scalar, 3> durations{first, middle, last};
  for (std::size_t k = 0; k < 3; ++k) {
    if (durations[k] == 0) continue;
    for (std::size_t i = 0; i < joints; ++i) {
      const Scalar next = k == 2 ? 0 : -decelerations[i];
      const Scalar jerk = (next - states[i].acceleration) / durations[k];
      states[i] = typename BasicStopMotion<Scalar>::Phase{0, states[i], jerk}.at(durations[k]);
      states[i].acceleration = next;
      if (k == 2) states[i].velocity = 0;
    }
    if (const Status status = trajectory.append(states, durations[k]); !status) return status;
  }
  return {};
}

/// A trajectory that ends in a stop. Times are those of the trajectory.
template <class Scalar>
struct BasicStopped {
  BasicTrajectory<Scalar> trajectory;
  /// The worst of the stop: of a position limit, or of any limit that the state at its begin does not keep or cannot keep any more;
  /// no stop violates it less. Nothing: the stop keeps all limits.
  std::optional<BasicViolation<Scalar>> violation;
};
using Stopped = BasicStopped<double>;

/// Follows `running` until `at`; then each joint comes to rest by itself, as soon as its acceleration and jerk limits allow
/// (plan_stop()). After the end of `running`, at its end. Without a jerk limit the ramps take as long as the bare deceleration
/// would. At set-up only: allocates. Errors: wrong_size (limits, no joints), not_finite, out_of_domain (before the start, or
/// beyond domain.hpp).
template <class Scalar>
[[nodiscard]] Result<BasicStopped<Scalar>> stop_each(
    const BasicTrajectory<Scalar>& running, std::type_identity_t<Scalar> at,
    std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) {
  if (limits.size() != running.joints()) return fail(Errc::wrong_size);
  if (!std::isfinite(at)) return fail(Errc::not_finite);
  if (at < 0) return fail(Errc::out_of_domain);
  at = std::min(at, running.duration());
  detail::WorstViolation<Scalar> worst;
  std::vector<BasicJointMotion<Scalar>> motions;
  for (std::size_t j = 0; j < running.joints(); ++j) {
    const BasicMotionState<Scalar> state = running.at(at, j);
    const detail::RampBounds<Scalar> bounds(state, limits[j]);
    BasicJointLimits<Scalar> finite = limits[j];
    finite.acceleration = bounds.acceleration;
    finite.jerk = bounds.jerk;
    const BasicStopMotion<Scalar> stop = plan_stop(state, finite);
    const BasicJerkProfile<Scalar> profile = to_profile(stop);
    worst.check(profile, j, limits[j]);
    worst.check_jerk(profile, j, limits[j].jerk);
    motions.emplace_back(running.at(0, j)).append(running, j, 0, at).append(profile);
  }
  auto trajectory = assemble<Scalar>(motions);
  if (!trajectory) return fail(trajectory.error());
  BasicStopped<Scalar> stopped{*std::move(trajectory), worst.result()};
  if (stopped.violation) stopped.violation->time += at;
  return stopped;
}

}  // namespace takt::trajectory
