// Limits that differ by direction: a lift that may rise faster than it may fall, a wheel that brakes harder than it speeds up.
#pragma once

#include <cmath>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// What a jerk-limited motion of one joint keeps (SI units). The minima are negative, the rest is positive.
template <class Scalar>
struct BasicDirectionalLimits {
  Scalar velocity_min = 0;
  Scalar velocity_max = 0;
  Scalar acceleration_min = 0;
  Scalar acceleration_max = 0;
  Scalar jerk = 0;  ///< a magnitude

  /// Seen from the other direction.
  [[nodiscard]] constexpr BasicDirectionalLimits mirrored() const noexcept {
    return {-velocity_max, -velocity_min, -acceleration_max, -acceleration_min, jerk};
  }

  friend constexpr bool operator==(const BasicDirectionalLimits&, const BasicDirectionalLimits&) = default;
};
using DirectionalLimits = BasicDirectionalLimits<double>;

/// The velocity, acceleration and jerk limits of a joint, which are the same in both directions.
template <class Scalar>
[[nodiscard]] constexpr BasicDirectionalLimits<Scalar> both_ways(
    const BasicJointLimits<Scalar>& limits) noexcept {
  return {-limits.velocity, limits.velocity, -limits.acceleration, limits.acceleration, limits.jerk};
}

/// Whether a motion can be planned with these limits. Errors: not_finite (NaN or no bound), limit_not_positive (a limit that
/// allows nothing in its direction), out_of_domain: a limit beyond max_magnitude or a quotient of successive limits (the time
/// that it takes to reach one at the other) beyond max_duration, a limit below 1/max_magnitude. Real-time safe.
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
