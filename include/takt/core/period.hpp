// What may be the time between two steps of a controller, a filter, an odometry.
#pragma once

#include "takt/core/finite_math.hpp"

namespace takt {

/// Between two steps, in seconds: beyond these a period is a mistake, not a fast or a slow loop.
inline constexpr double shortest_period = 1e-9;
inline constexpr double longest_period = 10;

/// Whether a step may take this long (s). False for NaN too. Real-time safe.
template <class Scalar>
[[nodiscard]] constexpr bool is_period(Scalar period) noexcept {
  return period >= static_cast<Scalar>(shortest_period) && period <= static_cast<Scalar>(longest_period);
}

}  // namespace takt
