// The joint limits of ros_control, for robots that move to takt and must behave as before: saturation, and
// the soft limits of the PR2. Each comment states the limit's formula and its weakness. takt's own limits are
// in joint_limiter.hpp.
//
// Saturation keeps a position within the velocity limit from the last command, and a velocity within the
// acceleration limit. Neither considers the braking distance. Soft limits slow a joint down in proportion to
// its distance from them. The velocity bounds are
//
//   lo = -k_p (x - soft_min),   hi = -k_p (x - soft_max),   both within the velocity limit.
//
// A position moves by lo h .. hi h, and an effort is kept between -k_v (v - lo) and -k_v (v - hi). It
// overshoots if k_p h is above 1.
//
// Source: joint_limits_interface of ros_control (ROS 1, noetic), joint_limits of ros2_control (ROS 2, August
// 2026). Where these throw or pass a NaN, the step here returns an error and keeps the last command. An
// infinite limit is no limit. If both ends of the range are infinite, soft velocities and efforts ignore the
// range too, as with a continuous joint.
//
// A joint may lack a position or a velocity sensor (BasicMeasuredState). As in ROS 2, a bound that needs the
// missing value is left out, and the first command is bounded from itself. The acceleration limit of a
// position takes a missing velocity as zero. ROS 1 has no joints without sensors; its formulas here leave out
// the same bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "takt/control/error.hpp"
#include "takt/control/position_range.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"

namespace takt::control {

/// The version of ROS whose formulas apply.
enum class RosConvention { ros1, ros2 };

/// The safety_controller of a URDF.
template <class Scalar>
struct BasicSoftLimits {
  Scalar position_min = 0;
  Scalar position_max = 0;
  Scalar position_gain = 0;  ///< k_p, 1/s
  Scalar velocity_gain = 0;  ///< k_v, N m s/rad
};
using SoftLimits = BasicSoftLimits<double>;

/// The measured position (rad or m) and velocity (rad/s or m/s) of a joint. An empty optional means that the
/// joint has no such sensor. NaN means a sensor fault, and each step rejects it.
template <class Scalar>
struct BasicMeasuredState {
  std::optional<Scalar> position;
  std::optional<Scalar> velocity;

  constexpr BasicMeasuredState() noexcept = default;
  constexpr BasicMeasuredState(std::optional<Scalar> position_, std::optional<Scalar> velocity_) noexcept
      : position(position_), velocity(velocity_) {}
  /// A joint with both sensors.
  constexpr BasicMeasuredState(const BasicMotionState<Scalar>& state) noexcept
      : position(state.position), velocity(state.velocity) {}
};
using MeasuredState = BasicMeasuredState<double>;

/// The result of a step, and whether a limit changed the command.
template <class Scalar>
struct BasicLimitedStep : BasicStep<Scalar> {
  bool limited = false;  ///< the value differs from the command; false after an error
};
using LimitedStep = BasicLimitedStep<double>;

/// The limits of one joint in one command mode. A value; every function is real-time safe.
template <class Scalar, RosConvention convention>
class BasicRosLimits {
 public:
  using Limits = BasicJointLimits<Scalar>;
  using Soft = BasicSoftLimits<Scalar>;
  using State = BasicMeasuredState<Scalar>;
  using Step = BasicLimitedStep<Scalar>;

  /// Errors: not_finite (NaN, both position limits the same infinity, an infinite soft limit), min_above_max,
  /// out_of_domain (a limit or a gain < 0).
  [[nodiscard]] static Result<BasicRosLimits> make(const Limits& limits,
                                                   const std::optional<Soft>& soft = {}) noexcept {
    if (const auto range = check_position_range(limits.position_min, limits.position_max); !range)
      return fail(range.error());
    for (const Scalar limit : {limits.velocity, limits.acceleration, limits.effort}) {
      if (std::isnan(limit)) return fail(Errc::not_finite);
      if (limit < 0) return fail(Errc::out_of_domain);
    }
    if (soft) {
      for (const Scalar number :
           {soft->position_min, soft->position_max, soft->position_gain, soft->velocity_gain}) {
        if (!std::isfinite(number)) return fail(Errc::not_finite);
      }
      if (soft->position_min > soft->position_max) return fail(Errc::min_above_max);
      if (soft->position_gain < 0 || soft->velocity_gain < 0) return fail(Errc::out_of_domain);
    }
    return BasicRosLimits(limits, soft);
  }

  /// Limits a position (rad) with the measured position and, for ROS 2, velocity. The first command after
  /// reset() is bounded from the measured position. Errors: bad_period, not_finite (also an overflow),
  /// out_of_domain (ROS 2: measured more than 0.0087 rad outside the range). After an error the value is the
  /// last command. Without a last command it is the last measured position, or else the allowed position
  /// nearest to zero.
  Step position(Scalar command, const State& measured, Scalar period) noexcept {
    if (measured.position && std::isfinite(*measured.position)) seen_ = *measured.position;
    const Scalar stays = last_or(seen_);
    if (const Errc error = check(command, measured, period); error != Errc{}) return refused(stays, error);
    const Scalar last = last_or(measured.position.value_or(command));
    Bounds bounds{};
    if constexpr (convention == RosConvention::ros1) {
      const Bounds velocities = soft_velocities(last);
      bounds = {std::max(last + velocities.low * period, limits_.position_min),
                std::min(last + velocities.high * period, limits_.position_max)};
    } else {
      if (is_outside(measured.position, far_out)) return refused(stays, Errc::out_of_domain);
      bounds = ros2_positions(last, measured, period);
    }
    return keep(command, bounds, stays);
  }

  /// Limits a velocity (rad/s). Errors: bad_period, not_finite (also an overflow). The value is then the last
  /// command, or zero without one.
  Step velocity(Scalar command, const State& measured, Scalar period) noexcept {
    constexpr bool ros1 = convention == RosConvention::ros1;
    const Scalar stays = last_or(0);
    if (const Errc error = check(command, measured, period); error != Errc{}) return refused(stays, error);
    const Scalar last = ros1 ? stays : last_or(measured.velocity.value_or(command));
    const Scalar reach = limits_.acceleration * period;
    Bounds bounds{-infinity, infinity};
    if constexpr (ros1) {
      bounds = soft_velocities(measured.position);
      const Scalar from = soft_ ? measured.velocity.value_or(last) : last;
      bounds = {std::max(from - reach, bounds.low), std::min(from + reach, bounds.high)};
    } else {
      if (soft_) bounds = ros2_soft_velocities(measured.position, measured.position);
      if (soft_ && std::isfinite(limits_.velocity) && measured.velocity)
        bounds = {std::max(*measured.velocity - reach, bounds.low),
                  std::min(*measured.velocity + reach, bounds.high)};
      const Bounds hard = ros2_velocities(command, last, measured.position, period);
      bounds = {std::max(bounds.low, hard.low), std::min(bounds.high, hard.high)};
    }
    return keep(command, bounds, stays);
  }

  /// Limits an effort (N m). Errors: not_finite (also an overflow): the value is zero.
  [[nodiscard]] Step effort(Scalar command, const State& measured) const noexcept {
    if (check(command, measured, Scalar(1)) != Errc{}) return refused(0, Errc::not_finite);
    if (convention == RosConvention::ros2 && !std::isfinite(limits_.effort)) return limited(command, command);
    Bounds bounds{-limits_.effort, limits_.effort};
    if (!soft_ || !measured.velocity || convention == RosConvention::ros2) bounds = effort_bounds(measured);
    if (soft_ && measured.velocity && std::isfinite(limits_.velocity)) {
      const Bounds velocities = convention == RosConvention::ros1
                                    ? soft_velocities(measured.position)
                                    : ros2_soft_velocities(measured.position, measured.position);
      const Bounds soft{saturated(-soft_->velocity_gain * (*measured.velocity - velocities.low),
                                  {-limits_.effort, limits_.effort}),
                        saturated(-soft_->velocity_gain * (*measured.velocity - velocities.high),
                                  {-limits_.effort, limits_.effort})};
      bounds = convention == RosConvention::ros1
                   ? soft
                   : Bounds{std::max(soft.low, bounds.low), std::min(soft.high, bounds.high)};
    }
    const Scalar bounded = saturated(command, bounds);
    return std::isfinite(bounded) ? limited(bounded, command) : refused(0, Errc::not_finite);
  }

  /// The next command is bounded from the measured state again. Call it after a change of mode or an
  /// emergency stop. Affects only this joint.
  void reset() noexcept { last_ = none; }

 private:
  static constexpr Scalar none = std::numeric_limits<Scalar>::quiet_NaN();
  static constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  static constexpr Scalar nothing = Scalar(1e-10);
  /// ROS 2: up to this far outside the range only a velocity of zero is allowed. At far_out a position is an
  /// error.
  static constexpr Scalar little_out = Scalar(2e-3);
  static constexpr Scalar far_out = Scalar(8.7e-3);

  struct Bounds {
    Scalar low;
    Scalar high;
  };

  BasicRosLimits(const Limits& limits, const std::optional<Soft>& soft) noexcept
      : limits_(limits),
        soft_(soft),
        seen_(std::clamp(Scalar(0), limits.position_min, limits.position_max)) {}

  /// If the bounds are in the wrong order, the upper bound wins, as in the originals.
  [[nodiscard]] static Scalar saturated(Scalar value, const Bounds& bounds) noexcept {
    return std::min(std::max(value, bounds.low), bounds.high);
  }

  [[nodiscard]] static Errc check(Scalar command, const State& measured, Scalar period) noexcept {
    if (!is_period(period)) return Errc::bad_period;
    const bool finite = std::isfinite(command) && std::isfinite(measured.position.value_or(0)) &&
                        std::isfinite(measured.velocity.value_or(0));
    return finite ? Errc{} : Errc::not_finite;
  }

  [[nodiscard]] static Step refused(Scalar value, Errc error) noexcept { return {{value, error}, false}; }
  [[nodiscard]] static Step limited(Scalar value, Scalar command) noexcept {
    return {{value, {}}, value != command};
  }

  /// Soft limits and gains that overflow have no bound; the value is then `otherwise`.
  [[nodiscard]] Step keep(Scalar command, const Bounds& bounds, Scalar otherwise) noexcept {
    const Scalar bounded = saturated(command, bounds);
    if (!std::isfinite(bounded)) return refused(otherwise, Errc::not_finite);
    return limited(last_ = bounded, command);
  }

  /// Whether the joint is measured more than `by` outside its range.
  [[nodiscard]] bool is_outside(std::optional<Scalar> p, Scalar by) const noexcept {
    return p && (*p > limits_.position_max + by || *p < limits_.position_min - by);
  }

  [[nodiscard]] Scalar last_or(Scalar otherwise) const noexcept {
    return std::isnan(last_) ? otherwise : last_;
  }

  [[nodiscard]] bool softens() const noexcept {
    if (!soft_ || (!std::isfinite(limits_.position_min) && !std::isfinite(limits_.position_max)))
      return false;
    if constexpr (convention == RosConvention::ros1) return true;
    return std::isfinite(limits_.velocity) && has_soft_range() && std::abs(soft_->position_gain) > nothing;
  }
  /// ROS 2 ignores an empty soft range.
  [[nodiscard]] bool has_soft_range() const noexcept {
    return soft_->position_max - soft_->position_min > nothing;
  }

  /// The velocity bounds at position x, which may be missing.
  [[nodiscard]] Bounds soft_velocities(std::optional<Scalar> x) const noexcept {
    const Bounds limit{-limits_.velocity, limits_.velocity};
    if (!x || !softens()) return limit;
    return {saturated(-soft_->position_gain * (*x - soft_->position_min), limit),
            saturated(-soft_->position_gain * (*x - soft_->position_max), limit)};
  }

  /// ROS 2 lets a joint that is measured (p) outside the soft range move at one degree per second. Outside
  /// the hard range it must not move. Both bounds then have the same sign, so even a command of zero drives
  /// the joint.
  [[nodiscard]] Bounds ros2_soft_velocities(std::optional<Scalar> x, std::optional<Scalar> p) const noexcept {
    const Bounds bounds = soft_velocities(x);
    if (!p || !softens()) return bounds;
    if (is_outside(p, little_out)) return {0, 0};
    if (*p >= soft_->position_min && *p <= soft_->position_max) return bounds;
    constexpr Scalar degree = std::numbers::pi_v<Scalar> / 180;
    return {std::copysign(degree, bounds.low), std::copysign(degree, bounds.high)};
  }

  [[nodiscard]] Bounds ros2_positions(Scalar last, const State& measured, Scalar period) const noexcept {
    Bounds hard{limits_.position_min, limits_.position_max};
    if (std::isfinite(limits_.velocity)) {
      const Scalar reach = std::min(limits_.velocity,
                                    std::abs(measured.velocity.value_or(0)) + limits_.acceleration * period) *
                           period;
      hard.low = std::max(std::min(last - reach, hard.high), hard.low);
      hard.high = std::min(std::max(last + reach, hard.low), hard.high);
    }
    if (!soft_) return hard;
    Bounds soft{-infinity, infinity};
    if (has_soft_range()) soft = {soft_->position_min, soft_->position_max};
    if (std::isfinite(limits_.velocity)) {
      const Bounds velocities = ros2_soft_velocities(last, measured.position.value_or(last));
      soft.low = std::clamp(last + velocities.low * period, soft.low, soft.high);
      soft.high = std::clamp(last + velocities.high * period, soft.low, soft.high);
    }
    const Bounds both{std::max(soft.low, hard.low), std::min(soft.high, hard.high)};
    return both.low > both.high ? soft : both;
  }

  [[nodiscard]] Bounds ros2_velocities(Scalar command, Scalar last, std::optional<Scalar> p,
                                       Scalar period) const noexcept {
    if (!std::isfinite(limits_.velocity)) return {-infinity, infinity};
    Bounds bounds{-limits_.velocity, limits_.velocity};
    if (p) {
      bounds = {std::max((limits_.position_min - *p) / period, bounds.low),
                std::min((limits_.position_max - *p) / period, bounds.high)};
      const bool above = *p > limits_.position_max;
      const bool below = *p < limits_.position_min;
      const bool outward = (above && command >= 0) || (below && command <= 0);
      if (outward || is_outside(p, little_out)) bounds = {0, 0};
    }
    const Scalar reach = limits_.acceleration * period;
    bounds = {std::max(last - reach, bounds.low), std::min(last + reach, bounds.high)};
    return {std::min(bounds.low, bounds.high), std::max(bounds.low, bounds.high)};
  }

  /// No effort drives a joint further outside its range or above its velocity limit. ROS 2: also at the range
  /// when moving outward.
  [[nodiscard]] Bounds effort_bounds(const State& measured) const noexcept {
    constexpr bool ros1 = convention == RosConvention::ros1;
    const auto& p = measured.position;
    const auto& v = measured.velocity;
    const bool below =
        ros1 ? p && *p < limits_.position_min : p && v && *p <= limits_.position_min && *v <= 0;
    const bool above =
        ros1 ? p && *p > limits_.position_max : p && v && *p >= limits_.position_max && *v >= 0;
    Bounds bounds{-limits_.effort, limits_.effort};
    if (below || (v && *v < -limits_.velocity)) bounds.low = 0;
    if ((above && !below) || (v && *v > limits_.velocity)) bounds.high = 0;
    return bounds;
  }

  Limits limits_;
  std::optional<Soft> soft_;
  Scalar last_ = none;  ///< the last command; NaN: none
  Scalar seen_;         ///< the last measured position
};
using Ros1Limits = BasicRosLimits<double, RosConvention::ros1>;
using Ros2Limits = BasicRosLimits<double, RosConvention::ros2>;

}  // namespace takt::control
