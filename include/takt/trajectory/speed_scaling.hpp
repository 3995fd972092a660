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
// safe if it has a way back: values of u that take w to 0 within the limits. The present way back is always
// kept. Each period searches for the u that leads fastest to the target speed. The next state must have a way
// back that does not pass that speed; it replaces the present one. If the search fails, the period takes the
// next u of the present way back. So each change of speed can end within the limits, and a rising speed ends
// at most at its target. While the planned motion itself is at its limits, a change of speed has to wait. A
// path must end at rest, so that a stop on it always exists.
//
// Each period checks the limits at five places for its u, and on both sides of each knot. At knots the path's
// own jerk may step. If the planned motion exceeds a limit, its planned value there counts as the limit. Ways
// back are checked in a few steps with a small margin, at the ends of the steps and on both sides of each
// knot. The steps of long ways back are longer than a period. A way back that passes the end of the path is
// safe there, and its final speed is checked. A way back passes at most 32 knots, so that its cost is
// bounded. Where knots are denser, the speed changes more slowly.
//
// Between the checked places the path's derivatives change, so the limits can be exceeded. excess() does not
// include this. It was at most 0.3 %, also where the path's own jerk steps between its limits. No speed
// passed 1. So in 200 000 random motions of 1 to 7 joints that touch their limits, at 1 kHz and 200 Hz. These
// are samples, not bounds: more motions may find slightly more.
//
// Sometimes no u keeps the limits, for example after they were lowered. If the present way back exceeds them
// by at most 2 %, it is followed all the same, because where it leads is known. Otherwise the search takes a
// u with nearly the least violation, which does not accelerate the change of speed. excess() reports the
// violation.
//
// The margin for ways back makes a stop 7 % longer in the median than the slowest joint alone would need.
// From a straight cruise it is 5 to 10 % (tests/trajectory/speed_scaling_test.cpp). The speed takes at least
// 20 periods from one end of its range to the other, even if the joints could change it faster.
#pragma once

#include <algorithm>
#include <array>
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
///   next_knot(time, cursor)              the first time after `time` at which a joint's jerk may step.
///                                        The end is a knot; from there on infinite
// clang-format off
template <class P, class Scalar>
concept TimedPath = requires(const P& path, typename P::Cursor& cursor, Scalar time,
                             void (*visit)(std::size_t, Scalar, Scalar, Scalar)) {
  { path.duration() } noexcept -> std::convertible_to<Scalar>;
  path.derivatives(time, cursor, visit);
  { path.next_knot(time, cursor) } noexcept -> std::convertible_to<Scalar>;
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

/// A way back: values of u, each for the same number of periods, that take w to 0 within the limits.
template <class Scalar>
struct WayBack {
  static constexpr int most_steps = 32;

  bool safe = false;
  Scalar speed = 0;  ///< at its end
  int steps = 0;
  int periods = 1;  ///< of one step
  int taken = 0;    ///< periods of the way that are over
  std::array<Scalar, most_steps> values{};

  /// The u of the next period; 0 after the end.
  [[nodiscard]] Scalar next() const noexcept {
    return taken < steps * periods ? values[static_cast<std::size_t>(taken / periods)] : 0;
  }
};

/// Searches for the u of one period.
template <class Scalar, class Path>
class SpeedSearch {
 public:
  using Progress = BasicMotionState<Scalar>;  ///< path time s, speed r, rate w
  using Limits = std::span<const BasicJointLimits<Scalar>>;
  using Cursor = typename Path::Cursor;
  using Way = WayBack<Scalar>;

  struct Choice {
    Scalar u = 0;
    bool lands = false;  ///< the speed reaches the target with w = 0
    Scalar excess = 0;   ///< fraction by which limits must be exceeded
    Way back;            ///< from the end of the period
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
    if (std::abs(at.velocity) <= rounding) at.velocity = 0;
    return at;
  }

  /// `back` is the way back that the last choice left.
  [[nodiscard]] Choice choose(const Progress& from, const Cursor& cursor, const Way& back) const noexcept {
    Window allowed(0);
    const auto leaves_a_choice = [&](Scalar excess) {
      allowed = narrowed(Window(largest()), from, cursor, 1 + excess);
      return !allowed.empty() && leads_back(allowed, from);
    };
    Choice choice;
    if (leaves_a_choice(0) || leaves_a_choice(rounding)) {
      if (land(from, cursor, allowed, choice)) return choice;
      approach(from, cursor, allowed, back, choice);
      if (!choice.back.safe) follow(from, cursor, back, choice);
      return choice;
    }
    if (follow(from, cursor, back, choice)) return choice;
    choice.excess = least_that(leaves_a_choice, most_excess);
    if (!leaves_a_choice(choice.excess)) return choice;
    if (!land(from, cursor, allowed, choice)) approach(from, cursor, allowed, back, choice);
    return choice;
  }

 private:
  using Window = SpeedWindow<Scalar>;

  /// The number of steps that a way back is planned to take.
  static constexpr int planned_steps = Way::most_steps / 2;
  /// The fraction of the limits that ways back may use. The margin keeps a way back that was found in long
  /// steps valid in short ones.
  static constexpr Scalar share = Scalar(0.85);
  /// The number of intervals into which the checks divide a period.
  static constexpr int looks = 4;
  /// The most knots that are checked in a period, and on a way back.
  static constexpr int most_knots = 32;
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
  /// A way back that exceeds limits by more was found for other limits.
  static constexpr Scalar outdated = Scalar(0.02);
  /// Speeds that differ by at most this count as equal.
  static constexpr Scalar same = 32 * std::numeric_limits<Scalar>::epsilon();
  /// A smaller excess is rounding: a path that is planned at its limits keeps them.
  static constexpr Scalar rounding = 64 * same;

  /// The jerk of one joint some seconds ahead: a linear function of u.
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

  /// The largest |u|.
  [[nodiscard]] Scalar largest() const noexcept {
    return std::min(quickest / (period_ * period_), bounds_.acceleration);
  }

  /// The values of u in `window` that keep the limits for one period.
  [[nodiscard]] Window narrowed(Window window, const Progress& from, Cursor cursor,
                                Scalar part) const noexcept {
    int knots = most_knots;
    narrow(from, period_, looks, knots, cursor, part, window);
    return window;
  }

  /// Keeps the values of u that keep the limits for the next `ahead` seconds. Checks the path at both ends,
  /// at `gaps` - 1 places between, and on both sides of at most `knots` knots. Subtracts them from `knots`,
  /// which becomes -1 if there are more.
  void narrow(const Progress& from, Scalar ahead, int gaps, int& knots, Cursor& cursor, Scalar part,
              Window& window) const noexcept {
    if (std::isfinite(bounds_.rate)) window.narrow(from.acceleration, ahead, bounds_.rate);
    const Scalar gap = ahead / static_cast<Scalar>(gaps);
    for (int i = 0; i <= gaps; ++i) {
      const Scalar at = gap * static_cast<Scalar>(i);
      look(from, at, advance(from, Scalar(0), at).position, cursor, part, window);
    }
    const Scalar furthest = advance(from, window.high, ahead).position;
    Scalar knot = path_.next_knot(from.position, cursor);
    for (; knot <= furthest && --knots >= 0;) {
      const Scalar at = std::min(time_to(from, knot - from.position), ahead);
      const Scalar aside = period_ * Scalar(1e-6) + same * knot;
      look(from, at, knot - aside, cursor, part, window);
      look(from, at, knot + aside, cursor, part, window);
      knot = path_.next_knot(knot + aside, cursor);
    }
  }

  /// The seconds until path time has advanced by `distance` > 0 with constant w; infinite if it never does.
  [[nodiscard]] static Scalar time_to(const Progress& from, Scalar distance) noexcept {
    const Scalar square = from.velocity * from.velocity + 2 * from.acceleration * distance;
    return square >= 0 ? 2 * distance / (from.velocity + std::sqrt(square))
                       : std::numeric_limits<Scalar>::infinity();
  }

  /// Checks the path at `position`, where it is `at` seconds ahead.
  void look(const Progress& from, Scalar at, Scalar position, Cursor& cursor, Scalar part,
            Window& window) const noexcept {
    const Scalar w = from.acceleration;
    const Scalar r = from.velocity + w * at;
    const Scalar square = r * r;
    const Scalar planned_acceleration = std::max(part, std::min(square, Scalar(1)));
    const Scalar planned_jerk = std::max(part, std::min(square * r, Scalar(1)));
    const JerkTerms terms(from, at);
    path_.derivatives(position, cursor, [&](std::size_t joint, Scalar v, Scalar a, Scalar j) {
      const BasicJointLimits<Scalar>& limit = limits_of(limits_, joint);
      // The planned motion may take what it needs. A limit of NaN leaves only this.
      const Scalar acceleration = std::max(std::abs(a) * planned_acceleration, part * limit.acceleration);
      const Scalar jerk = std::max(std::abs(j) * planned_jerk, part * limit.jerk);
      if (at > 0) window.narrow(a * square + v * w, (v + a * r * at) * at, acceleration);
      window.narrow(terms.value(a, j), terms.slope(v, a, j), jerk);
    });
  }

  /// The least excess for which `fits` is true, bracketed and then bisected. A result above `most` means that
  /// none was found.
  template <class Predicate>
  [[nodiscard]] static Scalar least_that(const Predicate& fits, Scalar most) noexcept {
    if (fits(Scalar(0)) || fits(rounding)) return 0;
    Scalar high = least_excess;
    while (!fits(high)) {
      if (high > most) return high;
      high *= 4;
    }
    Scalar low = high == least_excess ? 0 : high / 4;
    for (int k = 0; k < bisections; ++k) {
      const Scalar middle = (low + high) / 2;
      (fits(middle) ? high : low) = middle;
    }
    return high;
  }

  /// Whether some u does not increase |w|.
  [[nodiscard]] static bool leads_back(const Window& allowed, const Progress& from) noexcept {
    return from.acceleration < 0 ? allowed.high >= 0 : from.acceleration == 0 || allowed.low <= 0;
  }

  /// The length of a step of a way back, in periods. The steps of a long way back are longer than a period.
  /// They are at most a fraction of the time in which jerk builds up acceleration, because the path can
  /// change in that time.
  [[nodiscard]] int periods_of_step(const Progress& from, Cursor cursor) const noexcept {
    const Scalar wanted = -from.acceleration / period_;
    Window first(largest());
    look(from, 0, from.position, cursor, share, first);
    const Scalar u = first.empty() ? wanted : first.nearest(wanted);
    const Scalar step = std::min(std::abs(from.acceleration / u), ramp_) / planned_steps;
    return static_cast<int>(std::clamp(step / period_ + Scalar(0.5), Scalar(1), Scalar(1e4)));
  }

  /// Takes w to 0 as fast as each step allows.
  [[nodiscard]] Way way_back(Progress from, Cursor cursor) const noexcept {
    Way way;
    int knots = most_knots;
    if (!is_constant(from)) way.periods = periods_of_step(from, cursor);
    const Scalar ahead = static_cast<Scalar>(way.periods) * period_;
    for (; way.steps < Way::most_steps && !is_constant(from) && from.position < path_.duration();
         ++way.steps) {
      const Scalar wanted = -from.acceleration / ahead;
      Window allowed(largest());
      allowed.low = std::max(allowed.low, std::min(wanted, Scalar(0)));
      allowed.high = std::min(allowed.high, std::max(wanted, Scalar(0)));
      narrow(from, ahead, 1, knots, cursor, share, allowed);
      if (allowed.empty() || knots < 0) return way;
      const Scalar u = allowed.nearest(wanted);
      way.values[static_cast<std::size_t>(way.steps)] = u;
      from = advance(from, u, ahead);
      if (u == wanted) from.acceleration = 0;
    }
    way.speed = from.velocity;
    way.safe = is_constant(from) || from.position >= path_.duration();
    return way;
  }

  [[nodiscard]] bool is_constant(const Progress& at) const noexcept { return is_constant(at, period_); }

  /// Whether one period changes the speed only by rounding.
  [[nodiscard]] static bool is_constant(const Progress& at, Scalar period) noexcept {
    return std::abs(at.acceleration) * period <= same;
  }

  /// Takes the way back, if it exceeds limits by little.
  bool follow(const Progress& from, const Cursor& cursor, const Way& back, Choice& choice) const noexcept {
    if (!back.safe) return false;
    const auto fits = [&](Scalar excess) {
      Window window(0);
      window.low = window.high = back.next();
      return !narrowed(window, from, cursor, 1 + excess).empty();
    };
    const Scalar excess = least_that(fits, outdated);
    if (!(excess <= outdated)) return false;
    choice.u = back.next();
    choice.excess = excess;
    choice.back = back;
    ++choice.back.taken;
    return true;
  }

  /// Chooses the u that leads fastest to the target among those that leave a way back.
  void approach(const Progress& from, const Cursor& cursor, const Window& allowed, const Way& back,
                Choice& choice) const noexcept {
    const auto way_after = [&](Scalar u) { return way_back(advance(from, u, period_), cursor); };
    const Scalar levels = -from.acceleration / period_;
    const Scalar wanted = back.safe ? back.next() : levels;
    const Scalar aim = target_ + short_of_target * (from.velocity - target_);
    Scalar& good = choice.u;
    Way& good_way = choice.back;
    good = allowed.nearest(wanted);
    if (back.safe && good == wanted) {
      good_way = back;
      ++good_way.taken;
    } else {
      good_way = way_after(good);
      // It must not lead past the target where the last way back does not.
      if (back.safe &&
          (good_way.speed > std::max(back.speed, aim) || good_way.speed < std::min(back.speed, aim)))
        good_way.safe = false;
    }
    if (!good_way.safe || good_way.speed == aim) return;
    const bool slower = aim < good_way.speed;
    const auto passes = [&](const Way& way) { return slower ? way.speed < aim : way.speed > aim; };
    Scalar bad = slower ? allowed.low : allowed.high;
    // The speed has no extremum within a period: w reaches 0 at its end.
    if ((bad - levels) * from.acceleration < 0) bad = allowed.nearest(levels);
    Way bad_way = way_after(bad);
    if (bad_way.safe && !passes(bad_way)) {
      good = bad;
      good_way = bad_way;
      return;
    }
    for (int k = 0; k < tries; ++k) {
      const Scalar part =
          bad_way.safe ? (good_way.speed - aim) / (good_way.speed - bad_way.speed) : Scalar(0.5);
      const Scalar between = good + part * (bad - good);
      const Way way = way_after(between);
      if (way.safe && !passes(way)) {
        good = between;
        good_way = way;
        if (bad_way.safe) break;
      } else {
        bad = between;
        bad_way = way;
      }
    }
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
    if (!narrowed(Window(largest()), next, cursor, 1).contains(-next.acceleration / period_)) return false;
    choice.u = first;
    choice.back.safe = true;
    choice.back.speed = target_;
    choice.back.steps = 1;
    choice.back.values[0] = -next.acceleration / period_;
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

  /// Goes on from another path time (s), at a constant speed (0 to 1): something else has moved the joints on
  /// the path. A number that is not finite changes nothing.
  void restart(Scalar time, Scalar speed) noexcept {
    if (!std::isfinite(time) || !std::isfinite(speed)) return;
    progress_ = {time, std::clamp(speed, Scalar(0), Scalar(1)), 0};
    steady_ = false;
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
  /// nearly the least: up to 30 % less might be enough. An excess up to 2 % can be that of the present way
  /// back, which is safer than another u with less.
  [[nodiscard]] Scalar excess() const noexcept { return excess_; }
  /// Whether the speed has reached its target and stays there.
  [[nodiscard]] bool steady() const noexcept { return steady_; }

  /// Advances by one period. The period must be the same in each call, positive and at most 10 s; otherwise
  /// nothing changes. Returns false if limits had to be exceeded; excess() returns by how much. A steady
  /// speed counts its path time in whole nanoseconds from where it was reached. At speed 1 path time advances
  /// exactly with real time. Beyond the end of the path, where nothing moves, the speed becomes 1 at once.
  /// Real-time safe. O(joints); some ten to some hundred times a sample of the path while the speed
  /// changes, and almost nothing while it is steady.
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
    if (rate() == 0) back_ = {true, speed()};
    const auto seconds = static_cast<Scalar>(to_seconds(period));
    using Search = detail::SpeedSearch<Scalar, Path>;
    const auto choice = Search(path, limits, bounds_, target_, seconds).choose(progress_, cursor, back_);
    back_ = choice.back;
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
  detail::WayBack<Scalar> back_{true, 1};  // from progress_
};
using SpeedScaling = BasicSpeedScaling<double>;

}  // namespace takt::trajectory
