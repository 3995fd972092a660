// The range of numbers for which this room promises its results: inside it nothing overflows, nothing becomes
// NaN, in double and in float; outside it every function that takes numbers from elsewhere answers with a
// named error. Real-time safe.
#pragma once

#include <cmath>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// Shortest and longest duration of a segment, and longest of a whole trajectory, in seconds.
inline constexpr double min_duration = 1e-6;
inline constexpr double max_duration = 1e6;

/// Shortest duration of a segment that is cut out of a longer one (assemble.hpp): its coefficients are exact, not differences of
/// numbers that are nearly equal, as those between two states so near each other would be.
inline constexpr double min_piece_duration = 1e-12;

/// Largest magnitude of a position, a velocity or an acceleration at a waypoint (rad, rad/s, rad/s^2; m for
/// linear joints).
inline constexpr double max_magnitude = 1e9;

/// The longest segment may last this many times the shortest where a spline is solved over all of them at once: as far
/// as its higher derivatives are continuous to 1e-9 of their scale.
inline constexpr double max_duration_ratio = 1e4;

namespace detail {
/// False for NaN too. One part in a million of tolerance: a difference of two time stamps is not exactly what it was meant to be.
template <class Scalar>
[[nodiscard]] bool duration_in_domain(Scalar duration, double shortest = min_duration) noexcept {
  constexpr double tolerance = 1e-6;
  const auto seconds = static_cast<double>(duration);
  return seconds >= shortest * (1 - tolerance) && seconds <= max_duration * (1 + tolerance);
}
}  // namespace detail

/// Whether a duration is one that a segment can have.
template <class Scalar>
[[nodiscard]] Status check_duration(Scalar duration, double shortest = min_duration) noexcept {
  if (detail::duration_in_domain(duration, shortest)) return {};
  return fail(std::isfinite(duration) ? Errc::out_of_domain : Errc::not_finite);
}

namespace detail {
/// One comparison: false for NaN too.
template <class Scalar>
[[nodiscard]] bool in_domain(Scalar value) noexcept {
  return std::abs(value) <= static_cast<Scalar>(max_magnitude);
}
}  // namespace detail

/// Whether a number is one that a waypoint can hold.
template <class Scalar>
[[nodiscard]] Status check_number(Scalar value) noexcept {
  if (detail::in_domain(value)) return {};
  return fail(std::isfinite(value) ? Errc::out_of_domain : Errc::not_finite);
}

template <class Scalar>
[[nodiscard]] Status check_state(const BasicMotionState<Scalar>& state) noexcept {
  for (const Scalar value : {state.position, state.velocity, state.acceleration}) {
    if (!detail::in_domain(value)) return check_number(value);
  }
  return {};
}

}  // namespace takt::trajectory
