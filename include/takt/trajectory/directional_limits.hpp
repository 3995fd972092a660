// Limits that differ by direction. Examples: a lift that may rise faster than it may fall, a wheel that
// brakes harder than it accelerates.
#pragma once

#include <cmath>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// The limits of a jerk-limited motion of one joint (SI units). The minima are negative; all other limits are
/// positive.
template <class Scalar>
struct BasicDirectionalLimits {
  Scalar velocity_min = 0;
  Scalar velocity_max = 0;
  Scalar acceleration_min = 0;
  Scalar acceleration_max = 0;
  Scalar jerk = 0;  ///< magnitude, for both directions

  /// The same limits for the reversed direction of motion.
  [[nodiscard]] constexpr BasicDirectionalLimits mirrored() const noexcept {
    return {-velocity_max, -velocity_min, -acceleration_max, -acceleration_min, jerk};
  }

  friend constexpr bool operator==(const BasicDirectionalLimits&, const BasicDirectionalLimits&) = default;
};
using DirectionalLimits = BasicDirectionalLimits<double>;

/// The velocity, acceleration and jerk limits of a joint that has the same limits in both directions.
template <class Scalar>
[[nodiscard]] constexpr BasicDirectionalLimits<Scalar> both_ways(
    const BasicJointLimits<Scalar>& limits) noexcept {
  return {-limits.velocity, limits.velocity, -limits.acceleration, limits.acceleration, limits.jerk};
}

/// Checks that a motion can be planned with these limits.
/// Errors:
/// * not_finite: a limit is NaN or infinite.
/// * limit_not_positive: a limit allows no motion in its direction.
/// * out_of_domain: a limit is above max_magnitude or below 1/max_magnitude, or the time to reach the
///   velocity or acceleration limit is above max_duration.
///
/// Real-time safe.
template <class Scalar>
[[nodiscard]] Status check_limits(const BasicDirectionalLimits<Scalar>& limits) noexcept {
  constexpr auto longest = static_cast<Scalar>(max_duration);
  constexpr auto least = static_cast<Scalar>(1 / max_magnitude);
  for (const auto& direction : {limits, limits.mirrored()}) {
    const Scalar velocity = direction.velocity_max;
    const Scalar acceleration = direction.acceleration_max;
    for (const Scalar limit : {velocity, acceleration, direction.jerk}) {
      if (!std::isfinite(limit)) return fail(Errc::not_finite);
      if (!(limit > 0)) return fail(Errc::limit_not_positive);
      if (!detail::in_domain(limit) || limit < least) return fail(Errc::out_of_domain);
    }
    const bool quick = velocity <= longest * acceleration && acceleration <= longest * direction.jerk;
    if (!quick) return fail(Errc::out_of_domain);
  }
  return {};
}

}  // namespace takt::trajectory
