// Checks the range of positions that limiters receive.
#pragma once

#include <cmath>
#include <limits>

#include "takt/control/error.hpp"
#include "takt/core/error.hpp"

namespace takt::control {

/// Checks a range (rad or m). An infinite end is no limit. Errors: not_finite (NaN, or both ends are the same
/// infinity), min_above_max. Real-time safe.
template <class Scalar>
[[nodiscard]] Status check_position_range(Scalar min, Scalar max) noexcept {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  if (std::isnan(min) || std::isnan(max)) return fail(Errc::not_finite);
  if (min > max) return fail(Errc::min_above_max);
  if (min == infinity || max == -infinity) return fail(Errc::not_finite);
  return {};
}

}  // namespace takt::control
