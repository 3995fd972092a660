// Limits a value, its rate and its second derivative: for example speed, acceleration and jerk of a vehicle,
// or the path of a set-point.
//
// The rate may have four limits, as drivers know them: acceleration and braking, forward and in reverse.
// Forward means a value above zero. With a limit on the second derivative the rate falls early enough. Steps
// of j h^2 take it to zero at the target or before the end of the range. At the zero crossing they take it to
// the limit there. These sums are those of the discrete steps (braking_speed() in setpoint_follower.hpp), not
// of a continuous approximation. So the value arrives exactly and stays there.
//
// A change of less than half an epsilon of the value per period has no effect. In float with periods of 1 ms,
// a value of 1000 does not change at rates below 0.03 per second. Use double or longer periods if this
// matters.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "takt/control/error.hpp"
#include "takt/control/setpoint_follower.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"

namespace takt::control {

/// The limiter of one value. A value; every function is real-time safe.
template <class Scalar>
class BasicRateLimiter {
 public:
  /// The value for no limit.
  static constexpr Scalar unlimited = std::numeric_limits<Scalar>::infinity();

  /// In units of the value u; rates are magnitudes > 0.
  struct Limits {
    Scalar min = -unlimited;                  ///< u; <= 0
    Scalar max = unlimited;                   ///< u; >= 0
    Scalar forward_acceleration = unlimited;  ///< u/s: value above zero, growing
    Scalar forward_braking = unlimited;       ///< u/s: value above zero, falling
    Scalar reverse_acceleration = unlimited;  ///< u/s: value below zero, falling
    Scalar reverse_braking = unlimited;       ///< u/s: value below zero, growing
    Scalar second = unlimited;                ///< u/s^2
  };

  /// Errors: not_finite (NaN), min_above_max (or zero not between them), out_of_domain (a rate <= 0).
  [[nodiscard]] static Result<BasicRateLimiter> make(const Limits& limits) noexcept {
    if (std::isnan(limits.min) || std::isnan(limits.max)) return fail(Errc::not_finite);
    if (!(limits.min <= 0 && limits.max >= 0)) return fail(Errc::min_above_max);
    for (const Scalar rate : {limits.forward_acceleration, limits.forward_braking,
                              limits.reverse_acceleration, limits.reverse_braking, limits.second}) {
      if (std::isnan(rate)) return fail(Errc::not_finite);
      if (!(rate > 0)) return fail(Errc::out_of_domain);
    }
    return BasicRateLimiter(limits);
  }

  /// Advances by `period` seconds towards `target` and returns the value. An infinite target means as far as
  /// the limits allow. Errors: bad_period, not_finite (NaN; or an infinite value or rate without a limit):
  /// nothing changes. Use equal periods for one limiter: the limit of the second derivative assumes that the
  /// next periods equal this one.
  BasicStep<Scalar> step(Scalar target, Scalar period) noexcept {
    if (!is_period(period)) return {value_, Errc::bad_period};
    if (std::isnan(target)) return {value_, Errc::not_finite};
    target = std::clamp(target, limits_.min, limits_.max);
    const Scalar up = highest_rate(value_, limits_, period);
    const Scalar down = highest_rate(-value_, mirrored(limits_), period);
    Scalar rate = std::clamp(wanted_rate(target, period), -down, up);
    rate = std::clamp(rate, rate_ - limits_.second * period, rate_ + limits_.second * period);
    const Scalar moved = value_ + rate * period;
    const bool arrives =
        rate * period == target - value_ ||
        (std::isfinite(target) && std::abs(target - moved) <= arrival(target, moved, period));
    // A value that was set outside its range returns as fast as its rates allow.
    const Scalar low = std::min(limits_.min, value_);
    const Scalar high = std::max(limits_.max, value_);
    const Scalar next = arrives ? target : std::clamp(moved, low, high);
    if (!std::isfinite(next + rate)) return {value_, Errc::not_finite};
    value_ = next;
    rate_ = rate;
    return {value_, {}};
  }

  /// The present value.
  [[nodiscard]] Scalar value() const noexcept { return value_; }
  /// u/s over the last period.
  [[nodiscard]] Scalar rate() const noexcept { return rate_; }

  /// Continues from this value and rate (u/s). With a second limit the rate changes continuously from here,
  /// even if it exceeds its own limit. Numbers that are not finite count as zero.
  void reset(Scalar value = 0, Scalar rate = 0) noexcept {
    value_ = std::isfinite(value) ? value : 0;
    rate_ = std::isfinite(rate) ? rate : 0;
  }

 private:
  explicit BasicRateLimiter(const Limits& limits) noexcept : limits_(limits) {}

  [[nodiscard]] static Limits mirrored(const Limits& l) noexcept {
    return {
        -l.max,  -l.min, l.reverse_acceleration, l.reverse_braking, l.forward_acceleration, l.forward_braking,
        l.second};
  }

  [[nodiscard]] static Scalar rounding(Scalar target) noexcept {
    return 8 * std::numeric_limits<Scalar>::epsilon() * std::abs(target);
  }

  /// The distance from the target at which the value counts as arrived, because of rounding. The rounding of
  /// a long braking adds up, and the value passes the target. Stopping there takes at most one more step of
  /// the rate.
  [[nodiscard]] Scalar arrival(Scalar target, Scalar moved, Scalar period) const noexcept {
    const bool passes = (value_ < target) == (moved > target);
    if (!passes) return rounding(target);
    return std::max(rounding(target), std::min(128 * rounding(target), limits_.second * period * period));
  }

  /// The rate towards the target, limited so that it can fall to zero there.
  [[nodiscard]] Scalar wanted_rate(Scalar target, Scalar period) const noexcept {
    const Scalar way = target - value_;
    if (!std::isfinite(limits_.second)) return way / period;
    return std::copysign(braking_speed(std::abs(way), limits_.second, period), way);
  }

  /// The highest rate for one period. With it the value stays inside the range and keeps the limit after the
  /// zero crossing.
  [[nodiscard]] static Scalar highest_rate(Scalar value, const Limits& limits, Scalar period) noexcept {
    Scalar most = limits.forward_acceleration;
    if (value < 0) most = crossing_rate(-value, limits, period);
    if (std::isfinite(limits.second))
      most = std::min(most, braking_speed(limits.max - value, limits.second, period));
    return most;
  }

  /// The highest rate for a value that is `way` below zero. Above zero it must keep the acceleration limit
  /// there. Without a second limit the value brakes up to zero, and accelerates for the rest of the period.
  /// With one, the rate falls by d = j h per period. Let a be the acceleration limit and a + e with 0 < e <=
  /// d the last rate above it, in period n. Before period n the value must still be below zero:
  ///
  ///   h ((n - 1) (a + e) + d n (n - 1)/2) <= way,      first rate a + e + (n - 1) d
  [[nodiscard]] static Scalar crossing_rate(Scalar way, const Limits& limits, Scalar period) noexcept {
    const Scalar a = limits.forward_acceleration;
    if (!std::isfinite(limits.second)) {
      const Scalar braking_time = way / limits.reverse_braking;
      if (braking_time >= period) return limits.reverse_braking;
      return (way + a * (period - braking_time)) / period;
    }
    if (limits.reverse_braking <= a) return limits.reverse_braking;
    way *= 1 - 4096 * std::numeric_limits<Scalar>::epsilon();  // below zero despite rounding
    const Scalar d = limits.second * period;
    const Scalar b = a / d - Scalar(0.5);  // n^2/2 + b n - (a/d + way/(d h)) <= 0
    const Scalar n = std::max(std::floor(std::sqrt(b * b + 2 * (a / d + way / (d * period))) - b), Scalar(1));
    if (n == 1) return std::min(limits.reverse_braking, a + d);
    const Scalar e = std::clamp((way / period - d * n * (n - 1) / 2) / (n - 1) - a, Scalar(0), d);
    return std::min(limits.reverse_braking, a + e + (n - 1) * d);
  }

  Limits limits_;
  Scalar value_ = 0;
  Scalar rate_ = 0;
};
using RateLimiter = BasicRateLimiter<double>;

}  // namespace takt::control
