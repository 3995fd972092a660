// Brings a joint that is outside its velocity or acceleration limits back inside in the shortest time, before
// any other motion. No other motion violates the limits less.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "takt/core/joint.hpp"
#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/furthest_motion.hpp"
#include "takt/trajectory/jerk_profile.hpp"

namespace takt::trajectory {
namespace detail {

/// The velocity at the moment when full jerk has reduced the acceleration to zero. With the sign of the
/// acceleration flipped: the velocity when the acceleration was last zero.
template <class Scalar>
[[nodiscard]] Scalar inevitable_velocity(Scalar velocity, Scalar acceleration, Scalar jerk) noexcept {
  return velocity + acceleration * std::abs(acceleration) / (2 * jerk);
}

/// The phases that bring one joint inside its velocity and acceleration limits, so that it can stay there. A
/// state inside the limits needs no phase. First the acceleration returns to its limit. Then the joint
/// decelerates as hard as allowed until its velocity is at the limit.
template <class Scalar>
class Brake {
 public:
  using State = BasicMotionState<Scalar>;
  using Limits = BasicDirectionalLimits<Scalar>;

  Brake(const State& start, const Limits& limits) noexcept : state_(start) {
    ramp_to(std::clamp(start.acceleration, limits.acceleration_min, limits.acceleration_max), limits.jerk);
    const Scalar v = state_.velocity;
    const Scalar ahead = inevitable_velocity(v, state_.acceleration, limits.jerk);
    const bool too_fast = ahead > limits.velocity_max || v > limits.velocity_max;
    if (ahead < limits.velocity_min || (v < limits.velocity_min && !too_fast)) {
      speed_up(limits);
    } else if (too_fast) {
      slow_down(limits);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const BasicJerkPhase<Scalar>& operator[](std::size_t k) const noexcept { return phases_[k]; }
  [[nodiscard]] Scalar duration() const noexcept { return duration_; }

  /// The state after the last phase, inside the limits.
  [[nodiscard]] const State& end() const noexcept { return state_; }

 private:
  void append(Scalar jerk, Scalar duration) noexcept {
    if (!(duration > 0)) return;
    phases_[size_++] = {duration, jerk, state_.acceleration};
    state_ = advance(state_, jerk, duration);
    duration_ += duration;
  }

  void ramp_to(Scalar acceleration, Scalar jerk) noexcept {
    const Scalar change = acceleration - state_.acceleration;
    append(std::copysign(jerk, change), std::abs(change) / jerk);
    state_.acceleration = acceleration;
  }

  /// Decelerates to the velocity limit. The deceleration there stays small enough to vanish before the
  /// opposite velocity limit.
  void slow_down(const Limits& limits) noexcept {
    const Scalar a = state_.acceleration;
    const Scalar over = state_.velocity - limits.velocity_max;
    const Scalar passing = -std::sqrt(std::max(a * a + 2 * limits.jerk * over, Scalar(0)));
    const Scalar range = limits.velocity_max - limits.velocity_min;
    const Scalar least = std::max(limits.acceleration_min, -std::sqrt(2 * limits.jerk * range));
    ramp_to(std::max(passing, least), limits.jerk);
    append(0, (state_.velocity - limits.velocity_max) / -least);
    state_.velocity = limits.velocity_max;
  }

  void speed_up(const Limits& limits) noexcept {
    mirror();
    slow_down(limits.mirrored());
    mirror();
  }

  /// Reverses the direction of motion.
  void mirror() noexcept {
    state_ = {-state_.position, -state_.velocity, -state_.acceleration};
    for (auto& phase : phases_) phase = {phase.duration, -phase.jerk, -phase.acceleration};
  }

  State state_;
  Scalar duration_ = 0;
  std::size_t size_ = 0;
  std::array<BasicJerkPhase<Scalar>, 3> phases_{};
};

}  // namespace detail

/// The limits that a joint in this state can keep. Velocity and acceleration limits rise to the excess that
/// the joint's jerk limit makes inevitable, and no further. A motion planned with `limits` (transfer.hpp,
/// point_to_point.hpp) keeps the result. Position limits do not change. Real-time safe.
template <class Scalar>
[[nodiscard]] BasicJointLimits<Scalar> raised_for(const BasicMotionState<Scalar>& state,
                                                  BasicJointLimits<Scalar> limits) noexcept {
  const Scalar ahead = detail::inevitable_velocity(state.velocity, state.acceleration, limits.jerk);
  limits.velocity = std::max({limits.velocity, std::abs(state.velocity), std::abs(ahead)});
  limits.acceleration = std::max(limits.acceleration, std::abs(state.acceleration));
  return limits;
}

}  // namespace takt::trajectory
