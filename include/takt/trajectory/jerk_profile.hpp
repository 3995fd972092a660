// One joint's motion in phases of constant jerk: a piecewise cubic whose position, velocity and acceleration never step. What
// jerk-limited planning makes (point_to_point.hpp), as a value of fixed size that a control loop samples.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "takt/core/joint.hpp"
#include "takt/trajectory/quintic.hpp"
#include "takt/trajectory/roots.hpp"

namespace takt::trajectory {

/// Where constant jerk (rad/s^3) leads from `state` within t seconds. Real-time safe.
template <class Scalar>
[[nodiscard]] constexpr BasicMotionState<Scalar> advance(const BasicMotionState<Scalar>& state, Scalar jerk,
                                                         Scalar t) noexcept {
  return {state.position + t * (state.velocity + t * (state.acceleration / 2 + t * jerk / 6)),
          state.velocity + t * (state.acceleration + t * jerk / 2), state.acceleration + t * jerk};
}

/// A phase of constant jerk.
template <class Scalar>
struct BasicJerkPhase {
  Scalar duration = 0;
  Scalar jerk = 0;
  Scalar acceleration = 0;  ///< at its beginning
};

/// Phases of constant jerk, one after the other. A value without heap; every function is real-time safe.
template <class Scalar>
class BasicJerkProfile {
 public:
  using State = BasicMotionState<Scalar>;

  /// Three to come back inside the limits, and thirteen for the blend of two profiles of seven: see transfer.hpp.
  static constexpr std::size_t capacity = 16;

  /// Stands still at zero.
  BasicJerkProfile() = default;

  /// No motion yet: at `start` for no time.
  explicit BasicJerkProfile(const State& start) noexcept : end_(start) { states_[0] = start; }

  /// Goes on. The acceleration is the one that the motion has there, but for the rounding that would add up over the phases. No
  /// time or less adds nothing; nor does a phase beyond the capacity.
  void append(const BasicJerkPhase<Scalar>& phase) noexcept {
    if (!(phase.duration > 0) || phases_ == capacity) return;
    end_.acceleration = phase.acceleration;
    begins_[phases_] = duration_;
    states_[phases_] = end_;
    jerks_[phases_] = phase.jerk;
    ++phases_;
    end_ = advance(end_, phase.jerk, phase.duration);
    duration_ += phase.duration;
  }

  /// Ends exactly here and then: for a planner, whose last phase ends there but for rounding.
  void end_at(const State& end, Scalar duration) noexcept {
    end_ = end;
    duration_ = duration;
  }

  /// The motion of a joint that goes `ratio` times as far as this one at all times, but for rounding.
  [[nodiscard]] BasicJerkProfile in_phase(Scalar ratio, const State& start, const State& end) const noexcept {
    BasicJerkProfile profile(start);
    for (std::size_t k = 0; k < phases_; ++k) {
      profile.append({begins(k + 1) - begins_[k], ratio * jerks_[k], ratio * states_[k].acceleration});
    }
    profile.end_at(end, duration_);
    return profile;
  }

  /// Seconds.
  [[nodiscard]] Scalar duration() const noexcept { return duration_; }
  [[nodiscard]] std::size_t phases() const noexcept { return phases_; }
  /// When phase k begins, in seconds; for k >= phases() the duration.
  [[nodiscard]] Scalar begins(std::size_t k) const noexcept { return k < phases_ ? begins_[k] : duration_; }
  /// In phase k < phases().
  [[nodiscard]] Scalar jerk(std::size_t k) const noexcept { return jerks_[k]; }

  /// The state at t seconds: before 0 the first, at the end and after it exactly the last.
  [[nodiscard]] State at(Scalar t) const noexcept {
    if (t >= duration_) return end_;
    if (!(t > 0)) return states_[0];  // a NaN is the start
    const std::size_t k = phase_at(t);
    return advance(states_[k], jerks_[k], t - begins_[k]);
  }

  /// The jerk there; at the end and after it none.
  [[nodiscard]] Scalar jerk_at(Scalar t) const noexcept { return t >= duration_ ? 0 : jerks_[phase_at(t)]; }

  [[nodiscard]] const State& end() const noexcept { return end_; }

  /// Exact extrema over the whole motion: the ends of the phases, and within them the roots of the derivative.
  [[nodiscard]] Extrema<Scalar> position_extrema() const noexcept { return extrema<0>(); }
  [[nodiscard]] Extrema<Scalar> velocity_extrema() const noexcept { return extrema<1>(); }
  [[nodiscard]] Extrema<Scalar> acceleration_extrema() const noexcept { return extrema<2>(); }

 private:
  [[nodiscard]] std::size_t phase_at(Scalar t) const noexcept {
    std::size_t k = 0;
    while (k + 1 < phases_ && t >= begins_[k + 1]) ++k;
    return k;
  }

  template <std::size_t Order>
  [[nodiscard]] static Scalar derivative_of(const State& state) noexcept {
    if constexpr (Order == 0) return state.position;
    if constexpr (Order == 1) return state.velocity;
    if constexpr (Order == 2) return state.acceleration;
  }

  template <std::size_t Order>
  [[nodiscard]] Extrema<Scalar> extrema() const noexcept {
    const Scalar first = derivative_of<Order>(states_[0]);
    Extrema<Scalar> result{{0, first}, {0, first}};
    const auto visit = [&](Scalar time, const State& state) {
      const Extremum<Scalar> here{time, derivative_of<Order>(state)};
      if (here.value < result.min.value) result.min = here;
      if (here.value > result.max.value) result.max = here;
    };
    for (std::size_t k = 0; k < phases_; ++k) {
      const Scalar length = begins(k + 1) - begins_[k];
      const State& from = states_[k];
      const auto visit_roots = [&](const auto& slope) {
        for (const Scalar t : roots_in(slope, Scalar{0}, length))
          visit(begins_[k] + t, advance(from, jerks_[k], t));
      };
      if constexpr (Order == 0)
        visit_roots(Polynomial<Scalar, 3>{from.velocity, from.acceleration, jerks_[k] / 2});
      if constexpr (Order == 1) visit_roots(Polynomial<Scalar, 2>{from.acceleration, jerks_[k]});
      visit(begins_[k] + length, advance(from, jerks_[k], length));
    }
    visit(duration_, end_);
    return result;
  }

  std::size_t phases_ = 0;
  Scalar duration_ = 0;
  State end_;
  std::array<Scalar, capacity> begins_{};
  std::array<State, capacity> states_{};
  std::array<Scalar, capacity> jerks_{};
};
using JerkProfile = BasicJerkProfile<double>;

}  // namespace takt::trajectory
