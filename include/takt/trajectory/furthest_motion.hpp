// Finds the jerk-limited motion of one joint that goes furthest in T seconds between given velocities and
// accelerations, in closed form. Point-to-point motion (transfer.hpp) is built on it. Every distance between
// the furthest backward and the furthest forward can be reached in T. The shortest T is the one whose
// furthest motion ends exactly at the target.
//
// By Pontryagin's principle its jerk is +j, -j, +j, with holds where a limit is reached:
//
//   acceleration    hi ____                          T
//                    /     \                         |     hi - lo = D
//             a0 ___/       \                   /a1  |     hi^2 - lo^2 = K = j (w1 - w0) without holds
//                            \_____            /     |
//                             cruise \        /      |
//                                     \______/ lo    |
//
// Here w0 = v0 - a0^2/(2j) is the velocity where the first ramp, extended backward, has zero
// acceleration. The last ramp, extended forward, has zero acceleration at the velocity w1.
//
// With these extended ramps the motion starts and ends at zero acceleration and lasts T + (a0 - a1)/j.
// Its two halves are point symmetric. So the distance of each half is its duration times the mean of its
// end velocities. If K > D^2, the acceleration has no zero between hi and lo. The same formulas then hold
// with a negative duration of one half.
//
// Derived for takt. Source of the bang-bang structure: Kroeger & Wahl, "Online trajectory generation",
// IEEE T-RO 26 (2010), and Berscheid & Kroeger, "Jerk-limited real-time trajectory generation with
// arbitrary target states", RSS 2021.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/jerk_profile.hpp"

namespace takt::trajectory::detail {

/// Velocity and acceleration at the start and at the end of one joint's motion. It holds no positions.
template <class Scalar>
struct Boundary {
  Scalar v0 = 0;
  Scalar a0 = 0;
  Scalar v1 = 0;
  Scalar a1 = 0;

  [[nodiscard]] constexpr Boundary mirrored() const noexcept { return {-v0, -a0, -v1, -a1}; }
};

template <class Scalar>
class FurthestMotion {
 public:
  using Phases = std::array<BasicJerkPhase<Scalar>, 7>;

  /// The distance of the motion, and the derivative of the distance by the duration (m and m/s; the
  /// Hamiltonian).
  struct Reach {
    Scalar distance;
    Scalar rate;
  };

  FurthestMotion() = default;

  /// Both ends must lie within the limits. So must inevitable_velocity() after the start and before the end
  /// (brake.hpp).
  FurthestMotion(const Boundary<Scalar>& ends, const BasicDirectionalLimits<Scalar>& limits) noexcept
      : a0_(ends.a0),
        a1_(ends.a1),
        most_(limits.acceleration_max),
        least_(limits.acceleration_min),
        velocity_max_(limits.velocity_max),
        jerk_(limits.jerk),
        per_jerk_(1 / limits.jerk) {
    const Scalar ramp0 = a0_ * per_jerk_;
    const Scalar ramp1 = a1_ * per_jerk_;
    w0_ = ends.v0 - a0_ * ramp0 / 2;
    w1_ = ends.v1 - a1_ * ramp1 / 2;
    gain_ = jerk_ * (w1_ - w0_);
    // The distance that the extended ramps add, and that the motion itself does not go.
    const Scalar before = ramp0 * (ends.v0 - a0_ * ramp0 / 3);
    const Scalar after = ramp1 * (ends.v1 - a1_ * ramp1 / 3);
    beyond_ = before - after;
    scale_ = std::abs(before) + std::abs(after);
    cruise_ = plan_cruise();
  }

  /// The magnitude of the terms that a distance sums up. Distances are exact up to rounding relative to it.
  [[nodiscard]] Scalar scale() const noexcept { return scale_; }

  /// The distance of the motion that lasts `duration` seconds. The duration must be possible: see
  /// transfer.hpp.
  [[nodiscard]] Reach reach(Scalar duration) const noexcept { return reach(shape(duration)); }

  /// The phases of the motion that lasts `duration` seconds.
  [[nodiscard]] Phases phases(Scalar duration) const noexcept {
    const Shape s = shape(duration);
    const Scalar turn = s.cruise > 0 ? 0 : s.lo;
    const auto ramp = [this](Scalar from, Scalar to) { return std::max((to - from) * per_jerk_, Scalar(0)); };
    return {{{ramp(a0_, s.hi), jerk_, a0_},
             {s.hold_hi, 0, s.hi},
             {ramp(turn, s.hi), -jerk_, s.hi},
             {s.cruise, 0, 0},
             {ramp(s.lo, turn), -jerk_, 0},
             {s.hold_lo, 0, s.lo},
             {ramp(s.lo, a1_), jerk_, s.lo}}};
  }

  /// The first duration in [from, until] whose motion goes at least `distance`; infinity if there is none.
  /// The motion of duration `from` must not go that far. The distance is a concave function of the duration
  /// up to bend_duration(), then convex up to the cruise, then a straight line. So Newton's iteration from
  /// the outer side of each piece never passes a root.
  [[nodiscard]] Scalar first_to_go(Scalar distance, Scalar from, Scalar until) const noexcept {
    const Scalar bend = std::clamp(bend_duration(), from, until);
    if (const Scalar found = climb(distance, from, bend); found <= bend) return found;
    if (bend < cruise_.from) {
      const Scalar right = std::min(until, cruise_.from);
      const Reach end = reach(right);
      if (end.distance >= distance) return descend(distance, bend, right, end);
      if (right == until) return std::numeric_limits<Scalar>::infinity();
    }
    const Scalar cruising = cruise_.from + (distance - cruise_.distance) / velocity_max_;
    return cruising <= until ? cruising : std::numeric_limits<Scalar>::infinity();
  }

 private:
  static constexpr int most_steps = 64;

  /// One half of a motion: from zero acceleration to zero acceleration.
  struct Leg {
    Scalar peak = 0;  ///< magnitude
    Scalar hold = 0;

    /// The shortest half that changes the velocity by `gain`. Its peak is at least `outer`, the acceleration
    /// at the end of the motion. `outer` decides where `gain` is only rounding.
    Leg(Scalar gain, Scalar limit, Scalar jerk, Scalar outer) noexcept {
      const Scalar square = jerk * std::max(gain, Scalar(0));
      if (square <= limit * limit) {
        peak = std::max(std::sqrt(square), outer);
      } else {
        peak = limit;
        hold = gain / limit - limit / jerk;
      }
    }
  };

  struct Shape {
    Scalar hi = 0;
    Scalar hold_hi = 0;
    Scalar cruise = 0;
    Scalar lo = 0;
    Scalar hold_lo = 0;
  };

  /// The motion that reaches the velocity limit and leaves it at once.
  struct Cruise {
    Shape shape;
    Scalar from = 0;  ///< duration of this motion
    Scalar distance = 0;
  };

  [[nodiscard]] Cruise plan_cruise() const noexcept {
    const Leg up(velocity_max_ - w0_, most_, jerk_, a0_);
    const Leg down(velocity_max_ - w1_, -least_, jerk_, -a1_);
    Cruise cruise;
    cruise.shape = {up.peak, up.hold, 0, -down.peak, down.hold};
    cruise.from = (2 * (up.peak + down.peak) - a0_ + a1_) * per_jerk_ + up.hold + down.hold;
    cruise.distance = reach(cruise.shape).distance;
    return cruise;
  }

  /// hi - lo of a motion without holds.
  [[nodiscard]] Scalar swing(Scalar duration) const noexcept {
    return std::max((jerk_ * duration + a0_ - a1_) / 2, Scalar(0));
  }

  [[nodiscard]] Shape shape(Scalar duration) const noexcept {
    if (duration >= cruise_.from) {
      Shape s = cruise_.shape;
      s.cruise = duration - cruise_.from;
      return s;
    }
    const Scalar whole = swing(duration);
    const Shape s = shape_without_holds(whole);
    if (s.hi <= most_ && s.lo >= least_) return s;
    const Shape held = s.hi > most_ ? shape_with_high_hold(whole) : shape_with_low_hold(whole);
    return held.hi <= most_ && held.lo >= least_ ? held : shape_with_both_holds(whole);
  }

  [[nodiscard]] Shape shape_without_holds(Scalar whole) const noexcept {
    // The bounds keep the durations of the ramps from becoming negative. They differ from the mean only by
    // rounding.
    const Scalar mean = whole > 0 ? gain_ / (2 * whole) : 0;
    const Scalar half = whole / 2;
    const Scalar bounded = std::max(std::min(mean, a1_ + half), a0_ - half);
    return {bounded + half, 0, 0, bounded - half, 0};
  }

  [[nodiscard]] Shape shape_with_high_hold(Scalar whole) const noexcept {
    const Scalar square = std::max(2 * most_ * whole - gain_, Scalar(0));
    const Scalar d = std::min(std::max(std::sqrt(square), most_ - a1_), whole);
    return {most_, 2 * (whole - d) * per_jerk_, 0, most_ - d, 0};
  }

  [[nodiscard]] Shape shape_with_low_hold(Scalar whole) const noexcept {
    const Scalar square = std::max(gain_ - 2 * least_ * whole, Scalar(0));
    const Scalar d = std::min(std::max(std::sqrt(square), a0_ - least_), whole);
    return {least_ + d, 0, 0, least_, 2 * (whole - d) * per_jerk_};
  }

  /// Falls back to one hold if there is no time for the other.
  [[nodiscard]] Shape shape_with_both_holds(Scalar whole) const noexcept {
    const Scalar d = most_ - least_;
    const Scalar holds = 2 * (whole - d) * per_jerk_;
    const Scalar high = (gain_ * per_jerk_ - least_ * holds) / d - (most_ + least_) * per_jerk_;
    if (high <= 0) return shape_with_low_hold(whole);
    if (high >= holds) return shape_with_high_hold(whole);
    return {most_, high, 0, least_, holds - high};
  }

  [[nodiscard]] Reach reach(const Shape& s) const noexcept {
    const Scalar peak = w0_ + s.hi * (s.hi * per_jerk_ + s.hold_hi);
    const Scalar up = 2 * s.hi * per_jerk_ + s.hold_hi;
    const Scalar down = -2 * s.lo * per_jerk_ + s.hold_lo;
    const Scalar distance =
        ((w0_ + peak) * up + (peak + w1_) * down) / 2 + velocity_max_ * s.cruise - beyond_;
    return {distance, s.cruise > 0 ? velocity_max_ : peak - s.hi * s.lo * per_jerk_ / 2};
  }

  /// The duration at which the rate of reach() is smallest, from the derivative of the rate. A is the
  /// acceleration limit in the direction of K's sign. Without holds D^2 = |K|/sqrt(3), with one hold D =
  /// 3A/4, otherwise D is where the hold vanishes.
  [[nodiscard]] Scalar bend_duration() const noexcept {
    const Scalar limit = gain_ > 0 ? most_ : -least_;
    const Scalar gain = std::abs(gain_);
    const Scalar free = std::sqrt(gain * Scalar(0.57735026918962576));
    const Scalar held = gain - Scalar(0.9375) * limit * limit;
    Scalar whole = free;
    if (free * free + gain > 2 * limit * free) {
      whole = held >= 0 ? Scalar(0.75) * limit + held / (2 * limit)
                        : limit - std::sqrt(std::max(limit * limit - gain, Scalar(0)));
    }
    return (2 * whole - a0_ + a1_) * per_jerk_;
  }

  /// Newton's iteration from the left on the concave piece. Infinity if no motion in the piece goes that far.
  [[nodiscard]] Scalar climb(Scalar distance, Scalar from, Scalar until) const noexcept {
    Scalar t = from;
    for (int i = 0; i < most_steps && t < until; ++i) {
      const Reach here = reach(t);
      const Scalar missing = distance - here.distance;
      if (missing <= 0) return t;
      if (here.rate <= 0) break;
      const Scalar next = t + missing / here.rate;
      if (next - t <= std::numeric_limits<Scalar>::epsilon() * t) return next;
      t = next;
    }
    return std::numeric_limits<Scalar>::infinity();
  }

  /// Newton's iteration on the convex piece [left, right]. The motion of duration `right` goes further than
  /// `distance`.
  [[nodiscard]] Scalar descend(Scalar distance, Scalar left, Scalar right, Reach end) const noexcept {
    constexpr Scalar tolerance = 2 * std::numeric_limits<Scalar>::epsilon();
    // First guess: the distance grows about with the square of the duration. From any guess the next step
    // lands right of the root.
    const Scalar start = reach(left).distance;
    const Scalar part = (distance - start) / (end.distance - start);
    Scalar t = left + (right - left) * std::sqrt(std::clamp(part, Scalar(0), Scalar(1)));
    for (int i = 0; i < most_steps; ++i) {
      const Reach here = reach(t);
      const Scalar over = here.distance - distance;
      const Scalar next = here.rate > 0 ? std::clamp(t - over / here.rate, left, right) : right;
      if (std::abs(next - t) <= tolerance * t) return next;
      if (i > 0 && next > t) break;  // from the right the iteration only descends; the rest is rounding
      t = next;
    }
    return t;
  }

  Scalar a0_ = 0;
  Scalar a1_ = 0;
  Scalar most_ = 0;  // acceleration limits
  Scalar least_ = 0;
  Scalar velocity_max_ = 0;
  Scalar jerk_ = 0;
  Scalar per_jerk_ = 0;
  Scalar w0_ = 0;
  Scalar w1_ = 0;
  Scalar gain_ = 0;    // K
  Scalar beyond_ = 0;  // distance of the extended ramps
  Scalar scale_ = 0;
  Cruise cruise_;
};

}  // namespace takt::trajectory::detail
