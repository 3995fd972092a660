// Brings joints from motion to rest as fast as the limits allow. For one joint use plan_stop(), which may run
// in the loop. For each joint of a trajectory by itself use stop_each(). For all joints together use
// append_stop(), after part() has cut the trajectory off. None of them stays on the path: speed_scaling.hpp
// stops along the path. Jerk brings the acceleration to the deceleration limit or as far as needed, the
// deceleration is held, and jerk returns it to zero. Position, velocity and acceleration never step;
// acceleration and jerk keep their limits by construction. The velocity rises above the present one only as
// far as the jerk limit makes inevitable.
//
// Let u and b be the present velocity and acceleration in the direction of motion, and j the jerk limit. The
// three phases take
//   t1 = |b + p| / j,   t2 = (u - (p - b) t1 / 2 - p^2 / (2 j)) / p,   t3 = p / j.
// The deceleration peaks at p = min(limit, sqrt(j u + b^2 / 2)), the root for which t2 is zero. The direction
// is the sign of v + a |a| / (2 j), the velocity after jerk has taken the acceleration straight to zero.
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

/// The stop of one joint. A value; real-time safe.
template <class Scalar>
struct BasicStopMotion {
  using State = BasicMotionState<Scalar>;

  /// A phase of constant jerk.
  struct Phase {
    Scalar begins = 0;  ///< s from the start of the stop
    State state;        ///< at the start of the phase
    Scalar jerk = 0;

    /// Returns the state at time t, which lies in this phase.
    [[nodiscard]] State at(Scalar t) const noexcept { return advance(state, jerk, t - begins); }
  };

  Scalar duration = 0;  ///< s; 0 for a joint at rest
  Scalar distance = 0;  ///< signed: position at rest minus position at the start
  bool fits = true;     ///< false: the state is outside the limits, or must exceed them before it can rest
  /// The phases in order of time.
  std::array<Phase, 3> phases{};

  /// The state t seconds after the start of the stop; from its end on exactly at rest.
  [[nodiscard]] State at(Scalar t) const noexcept {
    if (t >= duration) return {phases[0].state.position + distance, 0, 0};
    if (!(t > 0)) return phases[0].state;
    std::size_t k = 0;
    while (k + 1 < phases.size() && t >= phases[k + 1].begins) ++k;
    return phases[k].at(t);
  }
};
using StopMotion = BasicStopMotion<double>;

/// The stop as a profile. The jerk limit must be finite; otherwise the acceleration would step. Real-time
/// safe.
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

/// The bounds of a planned stop. If a bound is not a positive number, the joint stops within about half a
/// second, with any jerk that this takes.
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
  /// Shorter phases are extended to this duration (s). This exceeds no limit and keeps the derivatives of the
  /// segment exact.
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
    // A reserve for the rounding of the segments that are made with these bounds.
    this->acceleration *= 1 - spare;
    this->jerk *= 1 - spare;
  }
};

/// The durations of the three phases, and the deceleration of the second, in the direction of motion.
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

/// The shortest stop of one joint from `state` within the acceleration and jerk limits. It ignores position
/// limits: see BasicStopMotion::distance. If no stop keeps the limits, `fits` is false and the stop has the
/// least violation. Without a jerk limit the acceleration steps. With neither limit the stop takes no time. A
/// velocity or acceleration outside domain.hpp counts as zero. Limits for which the stop takes longer than
/// max_duration count as missing. Real-time safe: closed formulas.
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

/// Appends a stop of all joints together to a trajectory that does not end at rest. The stop has at most
/// three segments, in which all joints change their jerk at the same times. T1, T2, T3 are the durations of
/// the phases as above, common to all joints. Joint i decelerates at
///   p_i = (v_i + a_i T1 / 2) / (T1 / 2 + T2 + T3 / 2).
/// The ramps take T1 = max (|a_i| + limit_i) / j_i and T3 = max limit_i / j_i. T2 is the least with |p_i| <=
/// limit_i. These durations keep acceleration and jerk within their limits. Without a jerk limit each ramp
/// takes as long as the deceleration alone would. A trajectory that ends at rest stays unchanged. The stop
/// may exceed position or velocity limits: check with find_violation(). Errors: wrong_size (limits), and
/// those of append(). Allocates.
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

/// A trajectory that ends in a stop, on the clock of the original trajectory.
template <class Scalar>
struct BasicStopped {
  BasicTrajectory<Scalar> trajectory;
  /// The worst violation during the stop; nothing if it keeps all limits. It exceeds a position limit, or any
  /// limit that the state at the start of the stop exceeds or must exceed. No stop violates that limit less.
  std::optional<BasicViolation<Scalar>> violation;
};
using Stopped = BasicStopped<double>;

/// Follows `running` until time `at` (s); then each joint stops by itself, as soon as its acceleration and
/// jerk limits allow (plan_stop()). After the end of `running` the joints stop from its end. Without a jerk
/// limit each ramp takes as long as the deceleration alone would. Errors: wrong_size (limits, no joints),
/// not_finite, out_of_domain (before the start, or outside domain.hpp). For set-up only: allocates.
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
