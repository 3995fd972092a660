// What may be the time between two steps of a controller, a filter, an odometry.
#pragma once

namespace takt {

/// The longest period between two steps, in seconds: a longer one is a mistake, not a slow loop.
inline constexpr double longest_period = 10;

/// Whether a step may take this long (s). False for NaN too. Real-time safe.
template <class Scalar>
[[nodiscard]] constexpr bool is_period(Scalar period) noexcept {
  return period > 0 && period <= static_cast<Scalar>(longest_period);
}

}  // namespace takt
