// Keeps the commands to one joint within its limits of position, velocity, acceleration and jerk. A moving
// joint can always stop inside its range.
//
//     auto limiter = JointLimiter::make(limits).value();
//     limiter.reset({measured_position, 0, 0});
//
//     const MotionState reference = limiter.toward_position(command, period).value;     // every period
//
// A stream of motions that keeps the limits is followed without delay by follow(). Each other step is the
// beginning of the time-optimal jerk-limited motion to the command (trajectory/transfer.hpp), planned again.
// The limiter takes the step if the joint could then still stop inside the range (trajectory/stop.hpp).
// Otherwise it continues along the stop of the step before. So the limits hold by induction for every
// command. A joint outside its range may only move inward, and does not move without a command. This happens,
// for example, after a change of encoder or limits.
//
// Efforts cannot be limited in this way without a model of the joint. effort() keeps the effort limit. It
// also removes effort that drives the joint outward when the remaining range is the braking distance or less.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "takt/control/error.hpp"
#include "takt/control/position_range.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/jerk_profile.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/transfer.hpp"

namespace takt::control {

/// A new reference, or the last one with the reason for the error.
template <class Scalar>
struct BasicReferenceStep {
  /// The reference (rad, rad/s, rad/s^2; m for linear joints); valid after an error too.
  BasicMotionState<Scalar> value;
  Errc error{};  ///< 0: no error

  /// Whether the step had no error.
  [[nodiscard]] constexpr bool ok() const noexcept { return error == Errc{}; }
};
using ReferenceStep = BasicReferenceStep<double>;

/// The limiter of one joint. A value; every function is real-time safe.
template <class Scalar>
class BasicJointLimiter {
 public:
  using State = BasicMotionState<Scalar>;
  using Limits = BasicJointLimits<Scalar>;
  using Step = BasicReferenceStep<Scalar>;

  /// Makes a limiter at rest at zero, or at the nearest allowed position. Position limits may be infinite;
  /// velocity, acceleration and jerk limits must be finite. Errors: not_finite (also if both position limits
  /// are the same infinity), min_above_max, out_of_domain (a limit of zero, or outside
  /// trajectory/domain.hpp).
  [[nodiscard]] static Result<BasicJointLimiter> make(const Limits& limits) noexcept {
    if (const auto range = check_position_range(limits.position_min, limits.position_max); !range)
      return fail(range.error());
    if (std::isnan(limits.effort)) return fail(Errc::not_finite);
    if (limits.effort < 0) return fail(Errc::out_of_domain);
    for (const Scalar limit : {limits.velocity, limits.acceleration, limits.jerk}) {
      if (!std::isfinite(limit)) return fail(Errc::not_finite);
    }
    if (!trajectory::check_limits(trajectory::both_ways(limits))) return fail(Errc::out_of_domain);
    return BasicJointLimiter(limits);
  }

  /// Moves towards a position (rad or m) for `period` seconds. A position outside the range is clamped to it.
  /// Errors: not_finite: each such step brakes the joint to rest. bad_period: nothing changes.
  Step toward_position(Scalar position, Scalar period) noexcept {
    if (!is_period(period)) return {state_, Errc::bad_period};
    const auto stop = profile_of_stop(state_);
    if (!std::isfinite(position)) return {go_on(stop, period), Errc::not_finite};
    return {take(range_around(stop).nearest(position), trajectory::both_ways(limits_), stop, period), {}};
  }

  /// Follows a moving command: the motion for the end of this period (rad, rad/s, rad/s^2). If the joint can
  /// make it from its last reference, it is followed exactly, without delay. Otherwise the joint catches up
  /// with it in the shortest time, within the limits. Without a velocity it is a position to rest at. Errors:
  /// as above.
  Step follow(const State& command, Scalar period) noexcept { return pursue(command, 0, period); }

  /// As follow(), for a command that keeps the limits by itself. The joint catches up with its acceleration,
  /// too, and so meets it also while it accelerates. Errors: as above.
  Step rejoin(const State& command, Scalar period) noexcept {
    return pursue(command, command.acceleration, period);
  }

  /// Moves towards a velocity (rad/s or m/s) for `period` seconds, and stops at the end of the range. Errors:
  /// as above.
  Step toward_velocity(Scalar velocity, Scalar period) noexcept {
    if (!is_period(period)) return {state_, Errc::bad_period};
    const auto stop = profile_of_stop(state_);
    if (!std::isfinite(velocity)) return {go_on(stop, period), Errc::not_finite};
    auto limits = trajectory::both_ways(limits_);
    const Scalar speed = std::min(std::abs(velocity), limits_.velocity);
    if (speed < slowest) return {go_on(stop, period), {}};
    (velocity > 0 ? limits.velocity_max : limits.velocity_min) = std::copysign(speed, velocity);
    const Range range = range_around(stop);
    // Further than the joint can move within the period.
    const Scalar far =
        2 * limits_.velocity *
        (period + limits_.velocity / limits_.acceleration + limits_.acceleration / limits_.jerk);
    const Scalar target = range.nearest(state_.position + std::copysign(far, velocity));
    return {take(target, limits, stop, period), {}};
  }

  /// Limits an effort (N m or N) for a joint with this measured state. The result is within the effort limit.
  /// It never drives the joint outward if the joint could not stop inside its range with its acceleration
  /// limit. A joint that returns from outside may be braked once it would stop inside. A joint at rest
  /// outside its range, or exactly at its end, is not held against an inward force. Errors: not_finite: the
  /// value is zero.
  [[nodiscard]] BasicStep<Scalar> effort(Scalar wanted, const State& measured) const noexcept {
    if (!std::isfinite(wanted) || !std::isfinite(measured.position) || !std::isfinite(measured.velocity))
      return {0, Errc::not_finite};
    const Scalar limited = std::clamp(wanted, -limits_.effort, limits_.effort);
    const Scalar v = measured.velocity;
    const Scalar stops_at = measured.position + v * std::abs(v) / (2 * limits_.acceleration);
    if (limited > 0 && stops_at >= limits_.position_max) return {0, {}};
    if (limited < 0 && stops_at <= limits_.position_min) return {0, {}};
    return {limited, {}};
  }

  /// The present reference.
  [[nodiscard]] const State& state() const noexcept { return state_; }

  /// Continues from this state: after a take-over of the joint, a fault or a stop. Errors: not_finite:
  /// nothing changes.
  Status reset(const State& state) noexcept {
    if (!trajectory::is_in_domain(state)) return fail(Errc::not_finite);
    state_ = state;
    return {};
  }

 private:
  using Profile = trajectory::BasicJerkProfile<Scalar>;

  /// Velocities below this (rad/s) count as zero.
  static constexpr Scalar slowest = Scalar(1e-6);
  static constexpr Scalar slack = 64 * std::numeric_limits<Scalar>::epsilon();
  static constexpr Scalar rounding_of_bound = Scalar(1e-3);

  /// A range of positions.
  struct Range {
    Scalar min;
    Scalar max;

    [[nodiscard]] Scalar nearest(Scalar position) const noexcept { return std::clamp(position, min, max); }
    [[nodiscard]] Range with(Scalar position) const noexcept {
      return {std::min(min, position), std::max(max, position)};
    }
    [[nodiscard]] bool holds(Scalar low, Scalar high) const noexcept {
      const auto rounding = [](Scalar bound) { return slack * (1 + std::abs(bound)); };
      return low >= min - rounding(min) && high <= max + rounding(max);
    }
  };

  explicit BasicJointLimiter(const Limits& limits) noexcept : limits_(limits) {
    state_.position = std::clamp(Scalar(0), limits.position_min, limits.position_max);
  }

  [[nodiscard]] Profile profile_of_stop(const State& state) const noexcept {
    const auto stop = trajectory::plan_stop(state, limits_);
    Profile profile(state);
    for (std::size_t k = 0; k < stop.phases.size(); ++k) {
      const Scalar ends = k + 1 < stop.phases.size() ? stop.phases[k + 1].begins : stop.duration;
      profile.append({ends - stop.phases[k].begins, stop.phases[k].jerk, stop.phases[k].state.acceleration});
    }
    profile.end_at({state.position + stop.distance, 0, 0}, stop.duration);
    return profile;
  }

  [[nodiscard]] Range allowed() const noexcept { return {limits_.position_min, limits_.position_max}; }

  /// The range of positions to command: the allowed range, extended to where the joint stops by itself if
  /// that is outside.
  [[nodiscard]] Range range_around(const Profile& stop) const noexcept {
    return allowed().with(stop.at(stop.duration()).position);
  }

  /// Whether the joint is inside its range and can stop there. Outside, the joint must not move outward, and
  /// its stop must lead inward without turning back.
  [[nodiscard]] bool is_safe(const State& next) const noexcept {
    if (surely_stops_inside(next)) return true;
    const Profile stop = profile_of_stop(next);
    const auto passed = stop.position_extrema();
    const Scalar end = stop.at(stop.duration()).position;
    const Range no_way_back{std::min(limits_.position_min, passed.max.value),
                            std::max(limits_.position_max, passed.min.value)};
    return allowed().with(state_.position).holds(next.position, next.position) &&
           allowed().with(next.position).holds(passed.min.value, passed.max.value) &&
           no_way_back.holds(end, end);
  }

  /// Whether a bound of the stop's distance proves that all of the stop is inside the range. Most states of a
  /// joint are far from its ends, and this needs no plan.
  ///
  /// The stop's speed is at most w, the speed once jerk has taken the acceleration to zero. Until then the
  /// joint moves by at most w |a| / j. From there a stop takes at most the distance w (w / A + A / j) / 2.
  [[nodiscard]] bool surely_stops_inside(const State& next) const noexcept {
    const auto& [p, v, a] = next;
    const Scalar ramp = std::abs(a) / limits_.jerk;
    const Scalar w = std::abs(v) + std::abs(a) * ramp / 2;
    const Scalar peak = w / limits_.acceleration + limits_.acceleration / limits_.jerk;
    const Scalar distance = w * (ramp + peak / 2) * (1 + rounding_of_bound);
    return p - distance >= limits_.position_min && p + distance <= limits_.position_max;
  }

  Step pursue(const State& command, Scalar acceleration, Scalar period) noexcept {
    if (!is_period(period)) return {state_, Errc::bad_period};
    const bool is_finite = std::isfinite(command.position) && std::isfinite(command.velocity) &&
                           std::isfinite(command.acceleration);
    if (is_finite && is_next(command, period)) return {state_ = command, {}};
    const auto stop = profile_of_stop(state_);
    if (!is_finite) return {go_on(stop, period), Errc::not_finite};
    const Scalar position = range_around(stop).nearest(command.position);
    if (acceleration != 0) {
      const auto caught = catch_up(position, command.velocity, acceleration, period);
      if (caught && keeps_velocity(*caught)) return {state_ = *caught, {}};
    }
    if (const auto caught = catch_up(position, command.velocity, 0, period)) return {state_ = *caught, {}};
    return {take(position, trajectory::both_ways(limits_), stop, period), {}};
  }

  const State& go_on(const Profile& motion, Scalar period) noexcept { return state_ = motion.at(period); }

  /// Moves to rest at a position, or along the stop if that is not safe.
  const State& take(Scalar position, const trajectory::BasicDirectionalLimits<Scalar>& limits,
                    const Profile& stop, Scalar period) noexcept {
    if (const auto next = step_to({position, 0, 0}, state_, limits, period); next && is_safe(*next))
      return state_ = *next;
    return go_on(stop, period);
  }

  /// The state after a period of the time-optimal motion to rest at the target.
  [[nodiscard]] static std::optional<State> step_to(const State& target, const State& from,
                                                    const trajectory::BasicDirectionalLimits<Scalar>& limits,
                                                    Scalar period) noexcept {
    const auto transfer = trajectory::BasicTransfer<Scalar>::between(from, target, limits);
    if (!transfer) return std::nullopt;
    return transfer->profile(transfer->shortest()).at(period);
  }

  /// The state after a period of the time-optimal motion to a moving target: in the frame that moves with
  /// it, the target rests. `velocity` is the target's after the period; it accelerates evenly.
  [[nodiscard]] std::optional<State> catch_up(Scalar position, Scalar velocity, Scalar acceleration,
                                              Scalar period) const noexcept {
    if (velocity == 0) return std::nullopt;
    auto limits = trajectory::both_ways(limits_);
    limits.velocity_max -= velocity;
    limits.velocity_min -= velocity;
    limits.acceleration_max -= acceleration;
    limits.acceleration_min -= acceleration;
    const Scalar gained = acceleration * period;
    const Scalar passed = (velocity - gained / 2) * period;
    auto next =
        step_to({position - passed, 0, 0},
                {state_.position, state_.velocity - (velocity - gained), state_.acceleration - acceleration},
                limits, period);
    if (!next) return std::nullopt;
    next->position += passed;
    next->velocity += velocity;
    next->acceleration += acceleration;
    if (!is_safe(*next)) return std::nullopt;
    return next;
  }

  /// Whether the joint can make this motion in a period: its derivatives move each quantity so far. Also, the
  /// velocity stays within its limit while the acceleration ends.
  [[nodiscard]] bool is_next(const State& next, Scalar period) const noexcept {
    const auto& [p, v, a] = state_;
    const Scalar jerk = limits_.jerk * period;
    return within(next.acceleration, 0, limits_.acceleration) && within(next.acceleration, a, jerk) &&
           keeps_velocity(next) && within(next.velocity, v, limits_.acceleration * period) &&
           within(next.velocity, v + a * period, jerk * period / 2) &&
           within(next.velocity, v + (a + next.acceleration) / 2 * period, jerk * period / 2) &&
           within(next.position, p, limits_.velocity * period) &&
           within(next.position, p + (v + a * period / 2) * period, jerk * period * period / 6) &&
           is_safe(next);
  }
  /// Whether the velocity is within its limit, also while the acceleration ends.
  [[nodiscard]] bool keeps_velocity(const State& next) const noexcept {
    const Scalar gain = next.acceleration * std::abs(next.acceleration) / (2 * limits_.jerk);
    return within(next.velocity, 0, limits_.velocity) && within(next.velocity + gain, 0, limits_.velocity);
  }
  [[nodiscard]] static bool within(Scalar value, Scalar middle, Scalar distance) noexcept {
    return std::abs(value - middle) <= distance * (1 + slack) + slack * (1 + std::abs(value));
  }

  Limits limits_;
  State state_;
};
using JointLimiter = BasicJointLimiter<double>;

}  // namespace takt::control
