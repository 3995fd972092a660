// Moves along a path more slowly than planned. The speed r is 1 as planned and 0 at rest; the target speed
// may change at any time. The speed changes as fast as the joints can follow within their limits. Slowing
// down, stopping and resuming never leave the path.
//
// A path q(s) is a planned motion; s is the path time. With the speed r = ds/dt, the rate w = dr/dt and u =
// dw/dt, the joints have
//
//   velocity q' r,   acceleration q'' r^2 + q' w,   jerk q''' r^3 + 3 q'' r w + q' u.
//
// u is constant in each period, and s, r and w are its exact integrals. So positions are always q(s), and
// positions, velocities and accelerations never step. The limits of jerk, and of the acceleration at the end
// of the period, leave an interval of u.
//
// A path that keeps its limits at the planned speed keeps them at any lower constant speed. So a state is
// safe if it has a way back: w can reach 0 within the limits. Each period takes the u that leads fastest to
// the target speed. The next state must have a way back that does not pass that speed. Otherwise it searches
// between this u and the u that starts the present way back. If the search fails, it takes the way back.
// While the planned motion itself is at its limits, a change of speed has to wait. A path must end at rest,
// so that a stop on it always exists.
//
// Each period checks the limits at five places for its u, and also where the path's own jerk steps between
// two of them. If the planned motion exceeds a limit, its planned value there counts as the limit. Ways back
// are checked in a few steps with a small margin. The steps of long ways back are longer than a period. A way
// back that passes the end of the path is safe there, and its final speed is checked.
//
// Between the checked places the path's derivatives change, so the limits can be exceeded. excess() does not
// include this. Measured at 1 kHz and 200 Hz over random motions that touch their limits: less than 0.2 %
// along splines with some waypoints a second. Where waypoints are a few periods apart, it is up to 3 %. If
// the path's own jerk steps between its limits, the worst period of a motion exceeds them by 0.01 % on
// average. Several steps in one period are worst. The worst of 30 100 motions exceeds them by 2.1 %. These
// are samples, not bounds: more motions find slightly more. A speed that does not rise exceeds the larger of
// itself and its target by at most 0.1 %.
//
// Sometimes no u keeps the limits, for example after they were lowered. Then the search takes a u with nearly
// the least violation, which does not accelerate the change of speed. excess() reports the violation. The
// margin for ways back makes a stop 8 % longer in the median than the slowest joint alone would need. From a
// straight cruise it is 5 to 10 % (tests/trajectory/speed_scaling_test.cpp). The speed takes at least 20
// periods from one end of its range to the other, even if the joints could change it faster.
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

/// Bounds on the change of a speed, in addition to those that follow from the joints' limits.
template <class Scalar>
struct BasicSpeedBounds {
  Scalar rate = std::numeric_limits<Scalar>::infinity();          ///< of w, 1/s
  Scalar acceleration = std::numeric_limits<Scalar>::infinity();  ///< of u, 1/s^2
};
using SpeedBounds = BasicSpeedBounds<double>;

/// A motion that speed scaling can follow; BasicTrajectory is one.
///   duration()                           s
///   derivatives(time, cursor, visit)     calls visit(joint, velocity, acceleration, jerk) per moving joint
// clang-format off
template <class P, class Scalar>
concept TimedPath = requires(const P& path, typename P::Cursor& cursor, Scalar time,
                             void (*visit)(std::size_t, Scalar, Scalar, Scalar)) {
  { path.duration() } noexcept -> std::convertible_to<Scalar>;
  path.derivatives(time, cursor, visit);
};
// clang-format on

namespace detail {

/// The interval of u that some constraints leave.
template <class Scalar>
struct SpeedWindow {
  Scalar low;
  Scalar high;

  explicit SpeedWindow(Scalar bound) noexcept : low(-bound), high(bound) {}

  [[nodiscard]] bool empty() const noexcept { return !(low <= high); }
  [[nodiscard]] bool contains(Scalar u) const noexcept { return u >= low && u <= high; }
  /// The nearest value in the window, which must not be empty.
  [[nodiscard]] Scalar nearest(Scalar u) const noexcept { return std::clamp(u, low, high); }

  /// Keeps |value + slope u| <= limit. A zero slope keeps the window or empties it. If the value is exactly
  /// at the limit then, NaN keeps the window.
  void narrow(Scalar value, Scalar slope, Scalar limit) noexcept {
    const Scalar inverse = 1 / slope;
    const Scalar one = (-limit - value) * inverse;
    const Scalar other = (limit - value) * inverse;
    low = std::max(low, std::min(one, other));
    high = std::min(high, std::max(one, other));
  }
};

/// Searches for the u of one period.
template <class Scalar, class Path>
class SpeedSearch {
 public:
  using Progress = BasicMotionState<Scalar>;  ///< path time s, speed r, rate w
  using Limits = std::span<const BasicJointLimits<Scalar>>;
  using Cursor = typename Path::Cursor;

  struct Choice {
    Scalar u = 0;
    bool lands = false;  ///< the speed reaches the target with w = 0
    Scalar excess = 0;   ///< fraction by which limits must be exceeded
  };

  SpeedSearch(const Path& path, Limits limits, const BasicSpeedBounds<Scalar>& bounds, Scalar target,
              Scalar period) noexcept
      : path_(path), limits_(limits), bounds_(bounds), target_(target), period_(period) {
    for (const auto& limit : limits) ramp_ = std::max(ramp_, limit.acceleration / limit.jerk);
  }

  /// Removes the rounding error of a constant speed. On a path that brakes at its limits, the error would
  /// grow with the third power of the remaining time.
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
    Scalar speed = 0;  ///< at the end of the way back
  };

  /// The planned and the largest number of steps of a way back.
  static constexpr int planned_steps = 16;
  static constexpr int most_steps = 2 * planned_steps;
  /// The fraction of the limits that ways back may use. The margin keeps a way back that was found in long
  /// steps valid in short ones.
  static constexpr Scalar share = Scalar(0.85);
  /// The number of intervals into which the checks divide a period.
  static constexpr int looks = 4;
  /// The fraction of the remaining change of speed that is left for later, because the end of a way back is
  /// known only approximately.
  static constexpr Scalar short_of_target = Scalar(0.01);
  /// The number of values that are tried between the best u and the way back.
  static constexpr int tries = 4;
  /// The largest u, times the square of the period. It keeps the change within a period small, because checks
  /// are made once per period.
  static constexpr Scalar quickest = Scalar(0.01);
  /// The range in which the least necessary excess is searched for, and the number of bisections.
  static constexpr Scalar least_excess = Scalar(1e-4);
  static constexpr Scalar most_excess = Scalar(1e4);
  static constexpr int bisections = 10;
  /// Speeds that differ by at most this count as equal.
  static constexpr Scalar same = 32 * std::numeric_limits<Scalar>::epsilon();
  /// A smaller excess is rounding: a path that is planned at its limits keeps them.
  static constexpr Scalar rounding = 64 * same;

  /// The jerk of one joint some seconds ahead, for the path's derivatives at another time: a linear function
  /// of u.
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

  /// The values of u that keep the limits for the next `ahead` seconds. Checks the path at both ends and at
  /// `gaps` - 1 places between. The last place is the furthest that u can reach: the path's own jerk may step
  /// shortly before it.
  [[nodiscard]] Window window(const Progress& from, Scalar ahead, int gaps, Cursor cursor,
                              Scalar part) const noexcept {
    Window window(std::min(quickest / (period_ * period_), bounds_.acceleration));
    if (std::isfinite(bounds_.rate)) window.narrow(from.acceleration, ahead, bounds_.rate);
    const Scalar gap = ahead / static_cast<Scalar>(gaps);
    for (int i = 0; i <= gaps; ++i) {
      const Scalar at = gap * static_cast<Scalar>(i);
      const Scalar u = i == gaps ? std::max(window.high, Scalar(0)) : 0;
      look(from, at, u, std::max(at - gap, Scalar(0)), std::min(at + gap, ahead), cursor, part, window);
    }
    return window;
  }

  /// Checks the path `at` seconds ahead, where `u` leads to; accelerations must keep their limits there. The
  /// path's own jerk may step between `first` and `at`, or between `at` and `last`. So jerks must keep their
  /// limits with this jerk at both times.
  void look(const Progress& from, Scalar at, Scalar u, Scalar first, Scalar last, Cursor& cursor, Scalar part,
            Window& window) const noexcept {
    const Progress there = advance(from, Scalar(0), at);
    const Scalar w = from.acceleration;
    const Scalar r = there.velocity;
    const Scalar square = r * r;
    const Scalar planned_acceleration = std::max(part, std::min(square, Scalar(1)));
    const Scalar planned_jerk = std::max(part, std::min(square * r, Scalar(1)));
    const JerkTerms begin(from, first);
    const JerkTerms end(from, last);
    path_.derivatives(
        advance(from, u, at).position, cursor, [&](std::size_t joint, Scalar v, Scalar a, Scalar j) {
          const BasicJointLimits<Scalar>& limit = limits_of(limits_, joint);
          // The planned motion may take what it needs. A limit of NaN leaves only this.
          const Scalar acceleration = std::max(std::abs(a) * planned_acceleration, part * limit.acceleration);
          const Scalar jerk = std::max(std::abs(j) * planned_jerk, part * limit.jerk);
          if (at > 0) window.narrow(a * square + v * w, (v + a * r * at) * at, acceleration);
          window.narrow(begin.value(a, j), begin.slope(v, a, j), jerk);
          window.narrow(end.value(a, j), end.slope(v, a, j), jerk);
        });
  }

  /// The least excess for which `leaves_a_choice` is true, bracketed and then bisected. A result above
  /// `most_excess` means that none was found.
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

  /// Whether some u does not increase |w|.
  [[nodiscard]] static bool leads_back(const Window& allowed, const Progress& from) noexcept {
    return from.acceleration < 0 ? allowed.high >= 0 : from.acceleration == 0 || allowed.low <= 0;
  }

  /// Takes w to 0 as fast as each step allows. The steps of a long way back are longer than a period. They
  /// are at most a fraction of the time in which jerk builds up acceleration, because the path can change in
  /// that time.
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

  /// Whether one period changes the speed only by rounding.
  [[nodiscard]] static bool is_constant(const Progress& at, Scalar period) noexcept {
    return std::abs(at.acceleration) * period <= same;
  }

  /// The u that leads fastest to the target among those that leave a way back.
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

  /// Whether two periods, or the second of them, can reach the target without passing it. If so, sets
  /// `choice` to it.
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

/// The place of a motion on its path, and its speed. A value; every function is real-time safe.
template <class Scalar>
class BasicSpeedScaling {
 public:
  /// Starts at the path time 0 with speed 1.
  BasicSpeedScaling() = default;

  /// Starts at the path time `time` (s) with speed 1. A time that is not finite counts as 0.
  explicit BasicSpeedScaling(Scalar time, const BasicSpeedBounds<Scalar>& bounds = {}) noexcept
      : bounds_(bounds), anchor_(std::isfinite(time) ? time : 0), progress_{anchor_, 1, 0} {}

  /// Sets the target speed: 0 (rest on the path) to 1 (as planned). Other values are clamped to this range;
  /// NaN counts as 0.
  void aim(Scalar speed) noexcept {
    target_ = speed > 0 ? std::min(speed, Scalar(1)) : Scalar(0);
    settle();
  }

  /// Path time in s.
  [[nodiscard]] Scalar time() const noexcept { return progress_.position; }
  /// Speed on the path: 1 as planned, 0 at rest.
  [[nodiscard]] Scalar speed() const noexcept { return progress_.velocity; }
  /// Rate of change of the speed, 1/s.
  [[nodiscard]] Scalar rate() const noexcept { return progress_.acceleration; }
  /// The target speed.
  [[nodiscard]] Scalar target() const noexcept { return target_; }
  /// The fraction by which limits were exceeded in the last period, because no change of the speed would have
  /// kept them. Zero if they were kept. A value above 1e4 means that no excess up to 1e4 was enough. It is
  /// the least excess that holds wherever the path's jerk steps. Where the jerk does not step, up to 30 %
  /// less might be enough.
  [[nodiscard]] Scalar excess() const noexcept { return excess_; }
  /// Whether the speed has reached its target and stays there.
  [[nodiscard]] bool steady() const noexcept { return steady_; }

  /// Advances by one period. The period must be the same in each call, positive and at most 10 s; otherwise
  /// nothing changes. Returns false if limits had to be exceeded; excess() returns by how much. A steady
  /// speed counts its path time in whole nanoseconds from where it was reached. At speed 1 path time advances
  /// exactly with real time. Beyond the end of the path, where nothing moves, the speed becomes 1 at once.
  /// Real-time safe. O(joints); up to some hundred times a sample of the path while the speed changes, and
  /// almost nothing while it is steady.
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

  /// Converts velocities and accelerations of the path at time() into those of the joints. Real-time safe.
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
  Duration elapsed_{};  // time since then
  Scalar excess_ = 0;
  BasicMotionState<Scalar> progress_{0, 1, 0};
};
using SpeedScaling = BasicSpeedScaling<double>;

}  // namespace takt::trajectory
