// Of all jerk-limited motions of one joint that last T seconds and begin and end with given velocities and accelerations, the
// one that goes furthest, in closed form. Everything about point-to-point motion follows from it (transfer.hpp): whatever lies
// between the furthest forward and the furthest backward can be reached in T, and the shortest T is the one for which the target
// is itself the furthest.
//
// By Pontryagin's principle its jerk is +j, -j, +j, with holds where a limit is reached:
//
//     acceleration    hi ____                          T
//                      /     \                         |
//               a0 ___/       \                   /a1  |     hi - lo = D,  hi^2 - lo^2 = K = j (w1 - w0)   (without holds)
//                              \_____            /     |
//                               cruise \        /      |     w0 = v0 - a0^2/(2j): the velocity where the first ramp, drawn
//                                       \______/ lo    |     longer, has no acceleration; w1 likewise for the last ramp
//
// Drawn with these longer ramps it goes from rest to rest of the acceleration, in T + (a0 - a1)/j, and its two halves are point
// symmetric: each goes its duration times the mean of its end velocities. Where K > D^2 the acceleration has no zero between hi
// and lo; the same formulas then hold with one half of negative duration. Derived for takt. The bang-bang structure is that of
// Kroeger & Wahl, "Online trajectory generation", IEEE T-RO 26 (2010), and Berscheid & Kroeger, "Jerk-limited real-time
// trajectory generation with arbitrary target states", RSS 2021.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/jerk_profile.hpp"

namespace takt::trajectory::detail {

/// How a motion of one joint begins and ends, but for where.
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

  /// How far the motion goes, and how much further it would go if it lasted longer (m and m/s; the Hamiltonian).
  struct Reach {
    Scalar distance;
    Scalar rate;
  };

  FurthestMotion() = default;

  /// Both ends must lie within the limits, and so must what is inevitable after the start and before the end.
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
    // What the longer ramps add to the distance, which the motion does not go.
    const Scalar before = ramp0 * (ends.v0 - a0_ * ramp0 / 3);
    const Scalar after = ramp1 * (ends.v1 - a1_ * ramp1 / 3);
    beyond_ = before - after;
    scale_ = std::abs(before) + std::abs(after);
    cruise_ = plan_cruise();
  }

  /// The magnitude of what distances are the sum of: they are exact to rounding in this.
  [[nodiscard]] Scalar scale() const noexcept { return scale_; }

  /// The distance that the motion of this duration goes. The duration must be possible: see transfer.hpp.
  [[nodiscard]] Reach reach(Scalar duration) const noexcept { return reach(shape(duration)); }

  /// The motion of this duration.
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

  /// The first duration in [from, until] that goes the distance, given that `from` does not go so far; infinite if there is
  /// none. Reach against duration is concave up to bend() and convex from there to the cruise, then a straight line, so that
  /// Newton's iteration from the outer side of each piece never passes over a root.
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

  /// One half of a motion: from no acceleration to none.
  struct Leg {
    Scalar peak = 0;  ///< a magnitude
    Scalar hold = 0;

    /// The shortest that changes the velocity by `gain`. Its peak is not below the acceleration `outer` at the end of the
    /// motion, which decides where the gain is mere rounding.
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

  /// The motion that reaches the velocity limit without staying there.
  struct Cruise {
    Shape shape;
    Scalar from = 0;  ///< its duration
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

  /// hi - lo, if there were no holds.
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
    // The bounds are those of ramps that take no negative time; only where rounding decides do they differ from the mean.
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

  /// Or with the other one alone, if it leaves no time for the first.
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

  /// The duration at which the rate of the reach is least. With the acceleration limit A that belongs to the sign of K, from the
  /// derivative of the rate: D^2 = |K|/sqrt(3) without holds, D = 3A/4 with one, else where the hold vanishes.
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

  /// Newton from the left on the concave piece; infinite if the distance is not reached in it.
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

  /// Newton on the convex piece [left, right], at whose right end the distance is passed.
  [[nodiscard]] Scalar descend(Scalar distance, Scalar left, Scalar right, Reach end) const noexcept {
    constexpr Scalar tolerance = 2 * std::numeric_limits<Scalar>::epsilon();
    // The reach grows with about the square of the duration: a first guess. Wherever it lies, the step after is to the right.
    const Scalar start = reach(left).distance;
    const Scalar part = (distance - start) / (end.distance - start);
    Scalar t = left + (right - left) * std::sqrt(std::clamp(part, Scalar(0), Scalar(1)));
    for (int i = 0; i < most_steps; ++i) {
      const Reach here = reach(t);
      const Scalar over = here.distance - distance;
      const Scalar next = here.rate > 0 ? std::clamp(t - over / here.rate, left, right) : right;
      if (std::abs(next - t) <= tolerance * t) return next;
      if (i > 0 && next > t) break;  // from the right it only descends: what is left is rounding
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
  Scalar beyond_ = 0;  // distance of the longer ramps
  Scalar scale_ = 0;
  Cruise cruise_;
};

}  // namespace takt::trajectory::detail
