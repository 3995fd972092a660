// The motion of one joint in phases of constant jerk: a piecewise cubic whose position, velocity and
// acceleration never step. Jerk-limited planning (point_to_point.hpp) returns it as a value of fixed size,
// which a control loop samples.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "takt/core/joint.hpp"
#include "takt/trajectory/quintic.hpp"
#include "takt/trajectory/roots.hpp"

namespace takt::trajectory {

/// The state after t seconds of constant jerk (rad/s^3) from `state`. Real-time safe.
template <class Scalar>
[[nodiscard]] constexpr BasicMotionState<Scalar> advance(const BasicMotionState<Scalar>& state, Scalar jerk,
                                                         Scalar t) noexcept {
  return {state.position + t * (state.velocity + t * (state.acceleration / 2 + t * jerk / 6)),
          state.velocity + t * (state.acceleration + t * jerk / 2), state.acceleration + t * jerk};
}

/// One phase of constant jerk (s, rad/s^3, rad/s^2).
template <class Scalar>
struct BasicJerkPhase {
  Scalar duration = 0;
  Scalar jerk = 0;
  Scalar acceleration = 0;  ///< at the start of the phase
};

/// Phases of constant jerk, one after the other. A value without heap; every function is real-time safe.
template <class Scalar>
class BasicJerkProfile {
 public:
  using State = BasicMotionState<Scalar>;

  /// Three phases return inside the limits, and thirteen blend two profiles of seven phases: see
  /// transfer.hpp.
  static constexpr std::size_t capacity = 16;

  /// Rests at zero.
  BasicJerkProfile() = default;

  /// A motion of zero duration at `start`.
  explicit BasicJerkProfile(const State& start) noexcept : end_(start) { states_[0] = start; }

  /// Appends a phase at the end. The acceleration there is set to that of the phase, so that rounding does
  /// not add up over the phases. Ignores a phase with a duration <= 0, and a phase beyond the capacity.
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

  /// Sets the final state and duration exactly. A planner calls it when its last phase ends there up to
  /// rounding.
  void end_at(const State& end, Scalar duration) noexcept {
    end_ = end;
    duration_ = duration;
  }

  /// The motion of a joint that moves `ratio` times as far as this one at all times, up to rounding.
  [[nodiscard]] BasicJerkProfile in_phase(Scalar ratio, const State& start, const State& end) const noexcept {
    BasicJerkProfile profile(start);
    for (std::size_t k = 0; k < phases_; ++k) {
      profile.append({begins(k + 1) - begins_[k], ratio * jerks_[k], ratio * states_[k].acceleration});
    }
    profile.end_at(end, duration_);
    return profile;
  }

  /// In seconds.
  [[nodiscard]] Scalar duration() const noexcept { return duration_; }
  [[nodiscard]] std::size_t phases() const noexcept { return phases_; }
  /// The start time of phase k in seconds; for k >= phases() the duration.
  [[nodiscard]] Scalar begins(std::size_t k) const noexcept { return k < phases_ ? begins_[k] : duration_; }
  /// The jerk of phase k < phases().
  [[nodiscard]] Scalar jerk(std::size_t k) const noexcept { return jerks_[k]; }

  /// The state at t seconds. Before 0 it is exactly the first state, from the end on exactly the last.
  [[nodiscard]] State at(Scalar t) const noexcept {
    if (t >= duration_) return end_;
    if (!(t > 0)) return states_[0];  // NaN gives the start
    const std::size_t k = phase_at(t);
    return advance(states_[k], jerks_[k], t - begins_[k]);
  }

  /// The jerk at t seconds; zero from the end on.
  [[nodiscard]] Scalar jerk_at(Scalar t) const noexcept { return t >= duration_ ? 0 : jerks_[phase_at(t)]; }

  /// The end of the phase at t seconds; infinite from the end on.
  [[nodiscard]] Scalar next_knot(Scalar t) const noexcept {
    return t >= duration_ ? std::numeric_limits<Scalar>::infinity() : begins(phase_at(t) + 1);
  }

  /// Returns the state at the end of the motion.
  [[nodiscard]] const State& end() const noexcept { return end_; }

  /// Exact extrema over the whole motion. They lie at the ends of the phases or at roots of the derivative.
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
