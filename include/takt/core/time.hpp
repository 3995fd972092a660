// Time is integer nanoseconds since the epoch of the clock in use. Seconds as floating point appear only
// inside formulas, counted from a segment's start. Everything here is real-time safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>

#include "takt/core/finite_math.hpp"

namespace takt {

/// A duration in nanoseconds.
using Duration = std::chrono::nanoseconds;

/// The time line of a process. It is not a clock, because it has no now(); a Clock object returns times on
/// it.
struct Timeline {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Timeline, Duration>;
  static constexpr bool is_steady = true;
};

/// A point in time, in nanoseconds since the clock's epoch.
using Time = Timeline::time_point;

template <class T>
struct NumberOf;
/// In memory, a Duration and a Time are nanoseconds (core/fields.hpp).
template <>
struct NumberOf<Duration> {
  using Type = std::int64_t;
};
template <>
struct NumberOf<Time> {
  using Type = std::int64_t;
};

/// Nanoseconds since the clock's epoch, for wires and files.
[[nodiscard]] constexpr std::int64_t to_nanoseconds(Time time) noexcept {
  return time.time_since_epoch().count();
}

/// The inverse of to_nanoseconds().
[[nodiscard]] constexpr Time time_from_nanoseconds(std::int64_t nanoseconds) noexcept {
  return Time(Duration(nanoseconds));
}

/// The largest valid distance of a time from its epoch. Sums and differences of two times within it do not
/// overflow.
inline constexpr Duration time_reach = std::chrono::years(100);

/// The time, clamped to within time_reach. Apply it to times from outside where they enter.
[[nodiscard]] constexpr Time within_reach(Time time) noexcept {
  return std::clamp(time, Time(-time_reach), Time(time_reach));
}

/// A duration in seconds. Exact to 1 ns up to about 100 days (double has 53 bits).
[[nodiscard]] constexpr double to_seconds(Duration duration) noexcept {
  return static_cast<double>(duration.count()) * 1e-9;
}

/// Converts seconds to a duration, rounded to the nearest nanosecond, ties away from zero. It saturates at
/// the ends of the range, about +-292 years. NaN gives zero: check numbers from outside with std::isfinite()
/// first.
[[nodiscard]] constexpr Duration from_seconds(double seconds) noexcept {
  constexpr double edge = 9.223372036854775e18;  // the largest double below 2^63
  const double nanoseconds = seconds * 1e9;
  if (!(nanoseconds == nanoseconds)) return Duration(0);
  if (nanoseconds >= edge) return Duration::max();
  if (nanoseconds <= -edge) return Duration::min();
  return Duration(static_cast<std::int64_t>(nanoseconds + (nanoseconds < 0 ? -0.5 : 0.5)));
}

/// Tells the time and waits for it: a wall clock on the robot, a ManualClock in tests and simulation.
/// * now() returns the present time, which never decreases.
/// * sleep_until(t) returns at t or later; at once if t has passed.
///
/// Both are noexcept, and a real-time loop may call them every period.
// clang-format off
template <class C>
concept Clock = requires(C& clock, Time time) {
  { clock.now() } noexcept -> std::same_as<Time>;
  { clock.sleep_until(time) } noexcept -> std::same_as<void>;
};
// clang-format on

}  // namespace takt
