// The valid periods between two steps of a controller, a filter or an odometry.
#pragma once

#include "takt/core/finite_math.hpp"

namespace takt {

/// The shortest and the longest period in seconds. A period outside this range is a mistake, not a fast or a
/// slow loop.
inline constexpr double shortest_period = 1e-9;
inline constexpr double longest_period = 10;

/// Whether a period (s) is in this range. False for NaN. Real-time safe.
template <class Scalar>
[[nodiscard]] constexpr bool is_period(Scalar period) noexcept {
  return period >= static_cast<Scalar>(shortest_period) && period <= static_cast<Scalar>(longest_period);
}

}  // namespace takt
