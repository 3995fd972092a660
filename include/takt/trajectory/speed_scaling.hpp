// Travelling along a path slower than it was planned: the speed r (1 = as planned, 0 = at rest) may be asked to change at any time,
// and changes as fast as the joints can follow within their limits. Slowing down, stopping and going on never leave the path.
//
// A path q(s) is a motion as planned; s is the path time. While s moves with the speed r = ds/dt, the rate w = dr/dt and u = dw/dt,
// the joints have
//     velocity q' r,   acceleration q'' r^2 + q' w,   jerk q''' r^3 + 3 q'' r w + q' u.
// u is constant in each period. s, r and w are its exact integrals, so that positions are always q(s), and positions, velocities
// and accelerations never step. Limits of jerk, and of the acceleration at the end of the period, leave an interval of u.
//
// A path that keeps its limits at the planned speed keeps them at any lower constant speed. So a state is safe if it has a
// way back: w can reach 0 within the limits. Each period takes the u that leads fastest to the requested speed, if its next
// state has a way back that does not pass that speed. Otherwise it searches between this u and the one that begins the way
// back, and takes the way back itself at last. While the path itself moves at its limits, a change has to wait. A path must
// end at rest: then a stop on it always exists.
//
// Each period checks the limits at five places with its u, also where the path's own jerk steps between two of them. If the
// planned motion exceeds a limit, its planned value there counts as the limit. Ways back are checked in few steps, longer
// than a period for long ones, and with a small margin. One that runs off the end of the path is safe there, and its final
// speed is judged. Between the checked places the limits are exceeded by the change of the path's derivatives, and excess()
// does not include it. Measured at 1 kHz and 200 Hz over random motions that touch their limits: less than 0.2 % along
// splines with some waypoints a second; up to 3 % where waypoints are a few periods apart. Where the path's own jerk steps
// between its limits, the worst period of a motion exceeds them by 0.01 % on average, most where it steps several times in
// that period; the worst of 18 200 motions exceeds them by 2.1 %. These are samples, not bounds: more motions find a little
// more. A speed that does not rise passes the larger of itself and its target by 0.1 % at worst.
//
// If no u keeps the limits, such as after they were lowered, it takes one with nearly the least violation that does not
// change the speed ever faster; excess() reports it. The margin for ways back makes a stop take 8 % longer in the median than
// the slowest joint would alone, and 5 to 10 % from a straight cruise (tests/trajectory/speed_scaling_test.cpp). The speed
// takes at least 20 periods from one end of its range to the other, however light the joints are.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/trajectory/jerk_profile.hpp"
#include "takt/trajectory/limits.hpp"

namespace takt::trajectory {

/// Bounds on the change of a speed, besides those that the joints set.
template <class Scalar>
struct BasicSpeedBounds {
  Scalar rate = std::numeric_limits<Scalar>::infinity();          ///< of w, 1/s
  Scalar acceleration = std::numeric_limits<Scalar>::infinity();  ///< of u, 1/s^2
};
using SpeedBounds = BasicSpeedBounds<double>;

/// What a motion can travel along, of which BasicTrajectory is one.
///   duration()                           s
///   derivatives(time, cursor, visit)     calls visit(joint, velocity, acceleration, jerk) for each joint that moves at that time
// clang-format off
template <class P, class Scalar>
concept TimedPath = requires(const P& path, typename P::Cursor& cursor, Scalar time,
                             void (*visit)(std::size_t, Scalar, Scalar, Scalar)) {
  { path.duration() } noexcept -> std::convertible_to<Scalar>;
  path.derivatives(time, cursor, visit);
};
// clang-format on

namespace detail {

/// The values of u that some constraints leave.
template <class Scalar>
struct SpeedWindow {
  Scalar low;
  Scalar high;

  explicit SpeedWindow(Scalar bound) noexcept : low(-bound), high(bound) {}

  [[nodiscard]] bool empty() const noexcept { return !(low <= high); }
  [[nodiscard]] bool contains(Scalar u) const noexcept { return u >= low && u <= high; }
  /// The window must not be empty.
  [[nodiscard]] Scalar nearest(Scalar u) const noexcept { return std::clamp(u, low, high); }

  /// Keeps |value + slope u| <= limit. Without a slope that is all or nothing; at the limit then, it is a NaN and changes nothing.
  void narrow(Scalar value, Scalar slope, Scalar limit) noexcept {
    const Scalar inverse = 1 / slope;
    const Scalar one = (-limit - value) * inverse;
    const Scalar other = (limit - value) * inverse;
    low = std::max(low, std::min(one, other));
    high = std::min(high, std::max(one, other));
  }
};

/// Looks for the u of one period.
template <class Scalar, class Path>
class SpeedSearch {
 public:
  using Progress = BasicMotionState<Scalar>;  ///< of the path time: s, r, w
  using Limits = std::span<const BasicJointLimits<Scalar>>;
  using Cursor = typename Path::Cursor;

  struct Choice {
    Scalar u = 0;
    bool lands = false;  ///< at the target, with w = 0
    Scalar excess = 0;   ///< the part by which limits have to be exceeded
  };

  SpeedSearch(const Path& path, Limits limits, const BasicSpeedBounds<Scalar>& bounds, Scalar target,
              Scalar period) noexcept
      : path_(path), limits_(limits), bounds_(bounds), target_(target), period_(period) {
    for (const auto& limit : limits) ramp_ = std::max(ramp_, limit.acceleration / limit.jerk);
  }

  /// Removes the rounding error of a constant speed. On a path that brakes at its limits, the error would grow with the third
  /// power of the remaining time.
  [[nodiscard]] static Progress without_rounding(Progress at, Scalar period) noexcept {
    if (!is_constant(at, period)) return at;
    at.acceleration = 0;
    if (std::abs(at.velocity - 1) <= rounding) at.velocity = 1;
    return at;
  }

  [[nodiscard]] Choice choose(const Progress& from, const Cursor& cursor) const noexcept {
    Window allowed(0);
    const auto leaves_a_choice = [&](Scalar excess) {
      allowed = window(from, period_, looks, cursor, 1 + excess);
      return !allowed.empty() && leads_back(allowed, from);
    };
    Choice choice;
    if (!leaves_a_choice(0) && !leaves_a_choice(rounding)) {
      choice.excess = least_that(leaves_a_choice);
      if (!leaves_a_choice(choice.excess)) return choice;
    }
    if (land(from, cursor, allowed, choice)) return choice;
    choice.u = approach(from, cursor, allowed);
    return choice;
  }

 private:
  using Window = SpeedWindow<Scalar>;

  struct WayBack {
    bool safe = false;
    Scalar speed = 0;  ///< at its end
  };

  /// Steps of a way back: as many as it should take, and as may be taken.
  static constexpr int planned_steps = 16;
  static constexpr int most_steps = 2 * planned_steps;
  /// The part of the limits that ways back may use, so that what is found in long steps is still there in short ones.
  static constexpr Scalar share = Scalar(0.85);
  /// How often the path is looked at in a period.
  static constexpr int looks = 4;
  /// The part of what is missing to the target that is left for later: where a way back ends is known only so well.
  static constexpr Scalar short_of_target = Scalar(0.01);
  /// How many values between the best and the way back are tried.
  static constexpr int tries = 4;
  /// The largest u, times the square of the period: what is looked at once a period must not change much in it.
  static constexpr Scalar quickest = Scalar(0.01);
  /// Between what the part is looked for by which limits must be exceeded, and how often what brackets it is halved.
  static constexpr Scalar least_excess = Scalar(1e-4);
  static constexpr Scalar most_excess = Scalar(1e4);
  static constexpr int bisections = 10;
  /// A speed that differs by no more than this is the same.
  static constexpr Scalar same = 32 * std::numeric_limits<Scalar>::epsilon();
  /// An excess that is no larger is rounding: a path that is at its limits as planned keeps them.
  static constexpr Scalar rounding = 64 * same;

  /// The jerk of a joint some seconds ahead, with a path that is as it is somewhere else: a linear function of u.
  class JerkTerms {
   public:
    JerkTerms(const Progress& from, Scalar t) noexcept {
      const Scalar w = from.acceleration;
      const Scalar r = from.velocity + w * t;
      value_a_ = 3 * r * w;
      value_j_ = r * r * r;
      slope_a_ = 3 * t * (r + w * t / 2);
      slope_j_ = Scalar(1.5) * t * t * r * r;
    }
    [[nodiscard]] Scalar value(Scalar a, Scalar j) const noexcept { return value_a_ * a + value_j_ * j; }
    [[nodiscard]] Scalar slope(Scalar v, Scalar a, Scalar j) const noexcept {
      return v + slope_a_ * a + slope_j_ * j;
    }

   private:
    Scalar value_a_;
    Scalar value_j_;
    Scalar slope_a_;
    Scalar slope_j_;
  };

  /// What u may be for the next `ahead` seconds, from looks at the path at both their ends and at `gaps` - 1 places between.
  [[nodiscard]] Window window(const Progress& from, Scalar ahead, int gaps, Cursor cursor,
                              Scalar part) const noexcept {
    Window window(std::min(quickest / (period_ * period_), bounds_.acceleration));
    if (std::isfinite(bounds_.rate)) window.narrow(from.acceleration, ahead, bounds_.rate);
    const Scalar gap = ahead / static_cast<Scalar>(gaps);
    for (int i = 0; i <= gaps; ++i) {
      const Scalar at = gap * static_cast<Scalar>(i);
      look(from, at, std::max(at - gap, Scalar(0)), std::min(at + gap, ahead), cursor, part, window);
    }
    return window;
  }

  /// Looks at the path `at` seconds ahead: accelerations keep their limits there. The path's own jerk may have stepped to what it
  /// is there since `first`, or step away from it until `last`: jerks keep their limits with it at both.
  void look(const Progress& from, Scalar at, Scalar first, Scalar last, Cursor& cursor, Scalar part,
            Window& window) const noexcept {
    const Progress there = advance(from, Scalar(0), at);
    const Scalar w = from.acceleration;
    const Scalar r = there.velocity;
    const Scalar square = r * r;
    const Scalar planned_acceleration = std::max(part, std::min(square, Scalar(1)));
    const Scalar planned_jerk = std::max(part, std::min(square * r, Scalar(1)));
    const JerkTerms begin(from, first);
    const JerkTerms end(from, last);
    path_.derivatives(there.position, cursor, [&](std::size_t joint, Scalar v, Scalar a, Scalar j) {
      const BasicJointLimits<Scalar>& limit = limits_of(limits_, joint);
      // What the path takes as planned it may take; of a limit that is a NaN there is only that.
      const Scalar acceleration = std::max(std::abs(a) * planned_acceleration, part * limit.acceleration);
      const Scalar jerk = std::max(std::abs(j) * planned_jerk, part * limit.jerk);
      if (at > 0) window.narrow(a * square + v * w, (v + a * r * at) * at, acceleration);
      window.narrow(begin.value(a, j), begin.slope(v, a, j), jerk);
      window.narrow(end.value(a, j), end.slope(v, a, j), jerk);
    });
  }

  /// The least excess with which `leaves_a_choice`: it is bracketed, then bisected. More than `most_excess` if none was found.
  template <class Predicate>
  [[nodiscard]] static Scalar least_that(const Predicate& leaves_a_choice) noexcept {
    Scalar high = least_excess;
    while (!leaves_a_choice(high)) {
      if (high > most_excess) return high;
      high *= 4;
    }
    Scalar low = high == least_excess ? 0 : high / 4;
    for (int k = 0; k < bisections; ++k) {
      const Scalar middle = (low + high) / 2;
      (leaves_a_choice(middle) ? high : low) = middle;
    }
    return high;
  }

  /// Whether some u does not lead further away from constant speed.
  [[nodiscard]] static bool leads_back(const Window& allowed, const Progress& from) noexcept {
    return from.acceleration < 0 ? allowed.high >= 0 : from.acceleration == 0 || allowed.low <= 0;
  }

  /// Takes w to 0 as fast as is allowed in each step. Steps are longer than a period where that takes long, but no longer than
  /// those that the path may take to change its mind: a part of the time in which jerk builds up acceleration.
  [[nodiscard]] WayBack way_back(Progress from, Cursor cursor) const noexcept {
    Scalar ahead = period_;
    for (int k = 0; k < most_steps && !is_constant(from); ++k) {
      if (from.position >= path_.duration()) return {true, from.velocity};
      const Window allowed = window(from, ahead, 1, cursor, share);
      if (allowed.empty() || !leads_back(allowed, from)) return {};
      if (k == 0) {
        const Scalar u = allowed.nearest(-from.acceleration / ahead);
        ahead = std::max(period_, std::min(std::abs(from.acceleration / u), ramp_) / planned_steps);
      }
      const Scalar wanted = -from.acceleration / ahead;
      const Scalar u = allowed.nearest(wanted);
      from = advance(from, u, ahead);
      if (u == wanted) from.acceleration = 0;
    }
    return {is_constant(from), from.velocity};
  }

  [[nodiscard]] bool is_constant(const Progress& at) const noexcept { return is_constant(at, period_); }

  /// Whether a period changes the speed by no more than rounding does.
  [[nodiscard]] static bool is_constant(const Progress& at, Scalar period) noexcept {
    return std::abs(at.acceleration) * period <= same;
  }

  /// The u that leads fastest to the target and from which there is a way back.
  [[nodiscard]] Scalar approach(const Progress& from, const Cursor& cursor,
                                const Window& allowed) const noexcept {
    const auto way_after = [&](Scalar u) { return way_back(advance(from, u, period_), cursor); };
    Scalar good = allowed.nearest(-from.acceleration / period_);
    WayBack good_way = way_after(good);
    const Scalar aim = target_ + short_of_target * (from.velocity - target_);
    if (!good_way.safe || good_way.speed == aim) return good;
    const bool slower = aim < good_way.speed;
    const auto passes = [&](const WayBack& way) { return slower ? way.speed < aim : way.speed > aim; };
    Scalar bad = slower ? allowed.low : allowed.high;
    WayBack bad_way = way_after(bad);
    if (bad_way.safe && !passes(bad_way)) return bad;
    for (int k = 0; k < tries; ++k) {
      const Scalar part =
          bad_way.safe ? (good_way.speed - aim) / (good_way.speed - bad_way.speed) : Scalar(0.5);
      const Scalar between = good + part * (bad - good);
      const WayBack way = way_after(between);
      if (way.safe && !passes(way)) {
        good = between;
        good_way = way;
        if (bad_way.safe) break;
      } else {
        bad = between;
        bad_way = way;
      }
    }
    return good;
  }

  /// Whether the target can be reached, without passing it, in two periods or in the second of them; then the choice is that.
  [[nodiscard]] bool land(const Progress& from, const Cursor& cursor, const Window& allowed,
                          Choice& choice) const noexcept {
    const Scalar w = from.acceleration;
    const Scalar missing = target_ - from.velocity;
    const Scalar last = -w / period_;
    if (std::abs(missing - w * period_ / 2) <= same && allowed.contains(last)) {
      choice.u = last;
      return choice.lands = true;
    }
    const Scalar first = (missing - Scalar(1.5) * w * period_) / (period_ * period_);
    const Progress next = advance(from, first, period_);
    const bool passes = w * missing < 0 || next.acceleration * missing < 0;
    if (passes || !allowed.contains(first)) return false;
    if (!window(next, period_, looks, cursor, 1).contains(-next.acceleration / period_)) return false;
    choice.u = first;
    return true;
  }

  const Path& path_;
  Limits limits_;
  const BasicSpeedBounds<Scalar>& bounds_;
  Scalar target_;
  Scalar period_;
  Scalar ramp_ = 0;  ///< the longest time in which jerk builds up acceleration, s
};

}  // namespace detail

/// Where a motion is on its path, and how fast it goes. A value; every function is real-time safe.
template <class Scalar>
class BasicSpeedScaling {
 public:
  /// Begins at the path time 0, as planned.
  BasicSpeedScaling() = default;

  /// Begins at the path time `time` (s), as planned. What is not finite is taken as 0.
  explicit BasicSpeedScaling(Scalar time, const BasicSpeedBounds<Scalar>& bounds = {}) noexcept
      : bounds_(bounds), anchor_(std::isfinite(time) ? time : 0), progress_{anchor_, 1, 0} {}

  /// Asks for another speed: 0 (rest on the path) to 1 (as planned). What is beyond is taken as the nearer of these, NaN as 0.
  void aim(Scalar speed) noexcept {
    target_ = speed > 0 ? std::min(speed, Scalar(1)) : Scalar(0);
    settle();
  }

  /// Path time, s.
  [[nodiscard]] Scalar time() const noexcept { return progress_.position; }
  [[nodiscard]] Scalar speed() const noexcept { return progress_.velocity; }
  /// By which the speed changes, 1/s.
  [[nodiscard]] Scalar rate() const noexcept { return progress_.acceleration; }
  /// The speed that was asked for last.
  [[nodiscard]] Scalar target() const noexcept { return target_; }
  /// By what part limits were exceeded in the last period, because no change of the speed would have kept them: 0 where they were
  /// kept, more than 1e4 where nothing below that would do. It is the least with which they are not exceeded further wherever the
  /// path's jerk steps; where it does not step, up to 30 % less might do.
  [[nodiscard]] Scalar excess() const noexcept { return excess_; }
  /// Whether the speed is the one that was asked for, and stays so.
  [[nodiscard]] bool steady() const noexcept { return steady_; }

  /// Goes on by one period, always the same: positive, and at most 10 s; with any other nothing changes. A steady speed costs
  /// nothing, and its path time is counted in whole nanoseconds from where it was reached: as planned, path time is the time that
  /// has passed, exactly. Beyond the end of the path, where nothing moves, the speed is as planned at once. False where limits had
  /// to be exceeded: excess() says by how much, which is the least without changing the speed ever faster. O(joints), and up to
  /// some hundred times a sample of the path while the speed changes.
  template <TimedPath<Scalar> Path>
  bool step(const Path& path, const typename Path::Cursor& cursor,
            std::type_identity_t<std::span<const BasicJointLimits<Scalar>>> limits,
            Duration period) noexcept {
    if (period <= Duration{} || period > longest_period) return true;
    if (time() >= path.duration() && (speed() != 1 || target_ != 1)) {
      progress_ = {time(), 1, 0};
      aim(1);
    }
    excess_ = 0;
    if (steady_) {
      elapsed_ += period;
      progress_.position = anchor_ + target_ * static_cast<Scalar>(to_seconds(elapsed_));
      return true;
    }
    const auto seconds = static_cast<Scalar>(to_seconds(period));
    using Search = detail::SpeedSearch<Scalar, Path>;
    const auto choice = Search(path, limits, bounds_, target_, seconds).choose(progress_, cursor);
    progress_ = Search::without_rounding(advance(progress_, choice.u, seconds), seconds);
    if (choice.lands) {
      progress_ = {progress_.position, target_, 0};
      settle();
    }
    excess_ = choice.excess;
    return excess_ == 0;
  }

  /// Turns velocities and accelerations of the path at time() into those of the joints.
  void scale(std::span<Scalar> velocity, std::span<Scalar> acceleration) const noexcept {
    if (speed() == 1 && rate() == 0) return;
    const Scalar square = speed() * speed();
    for (std::size_t j = 0; j < std::min(velocity.size(), acceleration.size()); ++j) {
      acceleration[j] = acceleration[j] * square + velocity[j] * rate();
      velocity[j] *= speed();
    }
  }

 private:
  static constexpr Duration longest_period = std::chrono::seconds(10);

  void settle() noexcept {
    const bool was_steady = steady_;
    steady_ = speed() == target_ && rate() == 0;
    if (was_steady && steady_) return;
    anchor_ = time();
    elapsed_ = {};
  }

  BasicSpeedBounds<Scalar> bounds_;
  Scalar target_ = 1;
  bool steady_ = true;
  Scalar anchor_ = 0;   // path time at which the steady speed was reached
  Duration elapsed_{};  // since then
  Scalar excess_ = 0;
  BasicMotionState<Scalar> progress_{0, 1, 0};
};
using SpeedScaling = BasicSpeedScaling<double>;

}  // namespace takt::trajectory
