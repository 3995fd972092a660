// The range of numbers for which this room guarantees its results, in double and in float. Inside it no
// result overflows or becomes NaN. Outside it every function that takes numbers from a caller returns a named
// error. Everything here is real-time safe.
#pragma once

#include <cmath>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// Shortest duration of a segment, and longest duration of a segment or a whole trajectory, in seconds.
inline constexpr double min_duration = 1e-6;
inline constexpr double max_duration = 1e6;

/// Shortest duration of a segment cut out of a longer one (assemble.hpp), in seconds. The cut computes the
/// coefficients exactly. A segment made from two states so close together would lose its digits in
/// differences of nearly equal numbers.
inline constexpr double min_piece_duration = 1e-12;

/// Largest magnitude of a position, velocity or acceleration at a waypoint (rad, rad/s, rad/s^2; m for linear
/// joints).
inline constexpr double max_magnitude = 1e9;

/// Largest ratio of the longest to the shortest segment of a spline that is solved over all segments at once.
/// Up to this ratio its higher derivatives are continuous to 1e-9 of their scale.
inline constexpr double max_duration_ratio = 1e4;

namespace detail {
/// False for NaN. The tolerance of one part in a million allows for rounding in the difference of two time
/// stamps.
template <class Scalar>
[[nodiscard]] bool duration_in_domain(Scalar duration, double shortest = min_duration) noexcept {
  constexpr double tolerance = 1e-6;
  const auto seconds = static_cast<double>(duration);
  return seconds >= shortest * (1 - tolerance) && seconds <= max_duration * (1 + tolerance);
}
}  // namespace detail

/// Checks that a segment can have this duration (s). Errors: not_finite, out_of_domain. Real-time safe.
template <class Scalar>
[[nodiscard]] Status check_duration(Scalar duration, double shortest = min_duration) noexcept {
  if (detail::duration_in_domain(duration, shortest)) return {};
  return fail(std::isfinite(duration) ? Errc::out_of_domain : Errc::not_finite);
}

namespace detail {
/// Checks NaN and range in one comparison: false for NaN.
template <class Scalar>
[[nodiscard]] bool in_domain(Scalar value) noexcept {
  return std::abs(value) <= static_cast<Scalar>(max_magnitude);
}
}  // namespace detail

/// Checks that a waypoint can hold this number. Errors: not_finite, out_of_domain. Real-time safe.
template <class Scalar>
[[nodiscard]] Status check_number(Scalar value) noexcept {
  if (detail::in_domain(value)) return {};
  return fail(std::isfinite(value) ? Errc::out_of_domain : Errc::not_finite);
}

/// Whether check_state() has no error, in fewer instructions. Real-time safe.
template <class Scalar>
[[nodiscard]] bool is_in_domain(const BasicMotionState<Scalar>& state) noexcept {
  using detail::in_domain;
  return in_domain(state.position) && in_domain(state.velocity) && in_domain(state.acceleration);
}

/// Checks position, velocity and acceleration. Errors: not_finite, out_of_domain. Real-time safe.
template <class Scalar>
[[nodiscard]] Status check_state(const BasicMotionState<Scalar>& state) noexcept {
  for (const Scalar value : {state.position, state.velocity, state.acceleration}) {
    if (!detail::in_domain(value)) return check_number(value);
  }
  return {};
}

}  // namespace takt::trajectory
