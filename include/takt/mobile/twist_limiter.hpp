// Keeps a commanded twist within a vehicle's limits and on the same curve. It reduces forward speed and
// rotation by the same factor, so their ratio, the curvature, stays. Braking has priority over the curve: a
// rotation that changes slowly never makes the stopping distance longer.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "takt/core/error.hpp"
#include "takt/core/period.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// A new twist, or the last one with the reason for the error.
template <class Scalar>
struct BasicTwistStep {
  /// The twist to drive (m/s, rad/s); valid after an error too.
  BasicTwist<Scalar> value;
  Errc error{};  ///< 0: no error

  /// Whether the step had no error.
  [[nodiscard]] constexpr bool ok() const noexcept { return error == Errc{}; }
};
using TwistStep = BasicTwistStep<double>;

/// The limiter of one vehicle. A value; every function is real-time safe.
template <class Scalar>
class BasicTwistLimiter {
 public:
  /// All > 0; infinity is no limit.
  struct Limits {
    Scalar forward = 0;                  ///< m/s
    Scalar backward = 0;                 ///< m/s
    Scalar left = 0;                     ///< m/s, in both directions
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

  /// The twist for the next `period` seconds. The requested twist is slowed down as a whole to keep the
  /// velocity limits. Then the present twist changes towards it as far as the accelerations allow. All three
  /// velocities complete the same fraction of their change. A braking velocity (forward and left; rotation
  /// only if neither brakes) does not wait for the others. They follow as far as their limits allow. Errors:
  /// bad_period: nothing changes; not_finite: each such step brakes the vehicle to rest.
  BasicTwistStep<Scalar> step(const BasicTwist<Scalar>& wanted, Scalar period) noexcept {
    if (!is_period(period)) return {twist_, Errc::bad_period};
    const bool finite = detail::is_finite(wanted);
    const BasicTwist<Scalar> target = within_velocities(finite ? wanted : BasicTwist<Scalar>{});
    const Way forward = way(twist_.forward, target.forward, period);
    const Way left = way(twist_.left, target.left, period);
    const Way rotation{share(limits_.rotational_acceleration * period, target.rotation - twist_.rotation),
                       brakes(twist_.rotation, target.rotation)};
    const Scalar lead = leading_part(forward, left, rotation);
    twist_ = {moved(twist_.forward, target.forward, std::min(lead, forward.part)),
              moved(twist_.left, target.left, std::min(lead, left.part)),
              moved(twist_.rotation, target.rotation, std::min(lead, rotation.part))};
    return {twist_, finite ? Errc{} : Errc::not_finite};
  }

  /// The present twist.
  [[nodiscard]] const BasicTwist<Scalar>& twist() const noexcept { return twist_; }

  /// Continues from the vehicle's present twist. A twist that is not finite, or near overflow, counts as
  /// standstill.
  void reset(const BasicTwist<Scalar>& twist = {}) noexcept {
    twist_ = detail::is_finite(Scalar(4) * twist) ? twist : BasicTwist<Scalar>{};
  }

 private:
  /// Clamps the limits, so that differences of velocities cannot overflow.
  explicit BasicTwistLimiter(const Limits& limits) noexcept : limits_(limits) {
    constexpr Scalar most = std::numeric_limits<Scalar>::max() / 4;
    for (Scalar* limit : {&limits_.forward, &limits_.backward, &limits_.left, &limits_.rotation,
                          &limits_.acceleration, &limits_.braking, &limits_.rotational_acceleration})
      *limit = std::min(*limit, most);
  }

  /// The change from one velocity to another.
  struct Way {
    Scalar part;  ///< fraction of the change that one period allows; >= 1 means all of it
    bool braking;
  };

  [[nodiscard]] static bool turns(Scalar from, Scalar to) noexcept {
    return (from > 0 && to < 0) || (from < 0 && to > 0);
  }
  [[nodiscard]] static bool brakes(Scalar from, Scalar to) noexcept {
    return turns(from, to) || std::abs(to) < std::abs(from);
  }

  [[nodiscard]] static Scalar share(Scalar reach, Scalar distance) noexcept {
    return distance == 0 ? Scalar(1) : reach / std::abs(distance);
  }

  /// A velocity that passes zero brakes up to there, and accelerates for the rest of the period.
  [[nodiscard]] Way way(Scalar from, Scalar to, Scalar period) const noexcept {
    const bool braking = brakes(from, to);
    Scalar reach = (braking ? limits_.braking : limits_.acceleration) * period;
    if (turns(from, to) && reach > std::abs(from))
      reach = std::abs(from) + limits_.acceleration * (period - std::abs(from) / limits_.braking);
    return {share(reach, to - from), braking};
  }

  [[nodiscard]] static Scalar leading_part(const Way& forward, const Way& left,
                                           const Way& rotation) noexcept {
    if (forward.braking && left.braking) return std::min(forward.part, left.part);
    if (forward.braking) return forward.part;
    if (left.braking) return left.part;
    if (rotation.braking) return rotation.part;
    return std::min({forward.part, left.part, rotation.part});
  }

  [[nodiscard]] static Scalar moved(Scalar from, Scalar to, Scalar part) noexcept {
    return part < 1 ? from + part * (to - from) : to;
  }

  [[nodiscard]] BasicTwist<Scalar> within_velocities(const BasicTwist<Scalar>& twist) const noexcept {
    const Scalar along = twist.forward >= 0 ? limits_.forward : limits_.backward;
    const BasicTwist<Scalar> size{std::abs(twist.forward), std::abs(twist.left), std::abs(twist.rotation)};
    if (size.forward <= along && size.left <= limits_.left && size.rotation <= limits_.rotation) return twist;
    // The factor is computed for the direction, whose largest component is 1. A quotient with a huge number
    // would lose digits.
    const Scalar largest = std::max({size.forward, size.left, size.rotation});
    const Scalar allowed = std::min({along / (size.forward / largest), limits_.left / (size.left / largest),
                                     limits_.rotation / (size.rotation / largest)});
    return {allowed * (twist.forward / largest), allowed * (twist.left / largest),
            allowed * (twist.rotation / largest)};
  }

  Limits limits_;
  BasicTwist<Scalar> twist_;
};
using TwistLimiter = BasicTwistLimiter<double>;

}  // namespace takt::mobile
