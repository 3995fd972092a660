// Keeps a commanded twist within what a vehicle can do and stays on the same curve: forward speed and rotation are reduced by the
// same factor, so that the ratio of the two, the curvature, stays what was asked for.
#pragma once

#include <algorithm>
#include <cmath>

#include "takt/core/error.hpp"
#include "takt/core/period.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// A new twist, or the last one and why.
template <class Scalar>
struct BasicTwistStep {
  BasicTwist<Scalar> value;
  Errc error{};  ///< 0 = none

  [[nodiscard]] constexpr bool ok() const noexcept { return error == Errc{}; }
};
using TwistStep = BasicTwistStep<double>;

/// A value; every function is real-time safe.
template <class Scalar>
class BasicTwistLimiter {
 public:
  /// All above zero; infinite is no limit.
  struct Limits {
    Scalar forward = 0;                  ///< m/s
    Scalar backward = 0;                 ///< m/s
    Scalar left = 0;                     ///< m/s, either side
    Scalar rotation = 0;                 ///< rad/s
    Scalar acceleration = 0;             ///< m/s^2 along x and along y, while the magnitude grows
    Scalar braking = 0;                  ///< m/s^2, while it falls
    Scalar rotational_acceleration = 0;  ///< rad/s^2
  };

  /// Errors: not_finite (NaN), not_positive.
  [[nodiscard]] static Result<BasicTwistLimiter> make(const Limits& limits) noexcept {
    for (const Scalar limit : {limits.forward, limits.backward, limits.left, limits.rotation,
                               limits.acceleration, limits.braking, limits.rotational_acceleration}) {
      if (std::isnan(limit)) return fail(Errc::not_finite);
      if (!(limit > 0)) return fail(Errc::not_positive);
    }
    return BasicTwistLimiter(limits);
  }

  /// The twist for the next `period` seconds: on the curve that is asked for, slowed down as a whole to keep the velocity limits;
  /// from there towards it as far as the accelerations allow, all three by the same part of the way. Errors: bad_period: nothing
  /// changes; not_finite: the vehicle comes to a stop with each such step.
  BasicTwistStep<Scalar> step(const BasicTwist<Scalar>& wanted, Scalar period) noexcept {
    if (!is_period(period)) return {twist_, Errc::bad_period};
    const bool finite = detail::is_finite(wanted);
    const BasicTwist<Scalar> target = within_velocities(finite ? wanted : BasicTwist<Scalar>{});
    const Scalar part = std::min(
        {Scalar(1), share(twist_.forward, target.forward, period), share(twist_.left, target.left, period),
         limits_.rotational_acceleration * period / std::abs(target.rotation - twist_.rotation)});
    if (!(part < 1)) {
      twist_ = target;
    } else {
      twist_.forward += part * (target.forward - twist_.forward);
      twist_.left += part * (target.left - twist_.left);
      twist_.rotation += part * (target.rotation - twist_.rotation);
    }
    return {twist_, finite ? Errc{} : Errc::not_finite};
  }

  [[nodiscard]] const BasicTwist<Scalar>& twist() const noexcept { return twist_; }

  /// Goes on from a twist that the vehicle has now. What is not finite is taken as standstill.
  void reset(const BasicTwist<Scalar>& twist = {}) noexcept {
    twist_ = detail::is_finite(twist) ? twist : BasicTwist<Scalar>{};
  }

 private:
  explicit BasicTwistLimiter(const Limits& limits) noexcept : limits_(limits) {}

  [[nodiscard]] BasicTwist<Scalar> within_velocities(const BasicTwist<Scalar>& twist) const noexcept {
    const Scalar along = twist.forward >= 0 ? limits_.forward : limits_.backward;
    const Scalar excess =
        std::max({Scalar(1), std::abs(twist.forward) / along, std::abs(twist.left) / limits_.left,
                  std::abs(twist.rotation) / limits_.rotation});
    return (1 / excess) * twist;
  }

  /// Which part of the way from one velocity to another one period allows; more than 1, or NaN for no way at all: all of it. What
  /// passes zero brakes up to there, and accelerates for the rest of the period.
  [[nodiscard]] Scalar share(Scalar from, Scalar to, Scalar period) const noexcept {
    const bool turns = (from > 0 && to < 0) || (from < 0 && to > 0);
    const bool brakes = turns || std::abs(to) < std::abs(from);
    Scalar reach = (brakes ? limits_.braking : limits_.acceleration) * period;
    if (turns && reach > std::abs(from))
      reach = std::abs(from) + limits_.acceleration * (period - std::abs(from) / limits_.braking);
    return reach / std::abs(to - from);
  }

  Limits limits_;
  BasicTwist<Scalar> twist_;
};
using TwistLimiter = BasicTwistLimiter<double>;

}  // namespace takt::mobile
