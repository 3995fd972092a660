// Waypoints as planners give them, and the checks that come before every computation with them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "takt/core/error.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/kernels.hpp"

namespace takt::trajectory {

/// Waypoints in the caller's memory; row-major, value [waypoint * joints + joint]. Times in seconds,
/// increasing. The first waypoint is the start of the trajectory. Empty velocities or accelerations count as
/// missing. Positions in rad or m.
template <class Scalar>
struct BasicWaypoints {
  std::size_t joints = 0;
  std::span<const Scalar> times;
  std::span<const Scalar> positions;
  std::span<const Scalar> velocities;
  std::span<const Scalar> accelerations;
};
using Waypoints = BasicWaypoints<double>;

/// How a trajectory passes its inner waypoints. Every mode has continuous acceleration. Straight lines are no
/// mode, because their velocity steps at every waypoint.
enum class Through {
  stop,      ///< at rest at each waypoint
  given,     ///< with the given velocities and accelerations (missing accelerations are zero)
  smooth,    ///< minimal integral of squared jerk; continuous up to the fourth derivative
  cubic,     ///< cubic spline with the least squared acceleration; the jerk steps
  monotone,  ///< never overshoots the waypoints; zero acceleration there; the jerk steps
};

namespace detail {

template <class Scalar>
[[nodiscard]] Status check_column(std::span<const Scalar> values, std::size_t joints,
                                  std::size_t waypoints) noexcept {
  if (values.size() / joints != waypoints || values.size() % joints != 0) return fail(Errc::wrong_size);
  const auto largest = static_cast<Scalar>(max_magnitude);
  if (kernels_for<Scalar>(joints).all_within(values.data(), values.size(), largest)) return {};
  return check_number(*std::find_if_not(values.begin(), values.end(), in_domain<Scalar>));
}

template <class Scalar>
[[nodiscard]] Status check_times(std::span<const Scalar> times) noexcept {
  bool good = in_domain(times[0]);
  for (std::size_t k = 1; k < times.size(); ++k) {  // without a branch
    good &= in_domain(times[k]);
    good &= duration_in_domain(times[k] - times[k - 1]);
  }
  if (good) return check_duration(times.back() - times.front());
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (Status status = check_number(times[k]); !status) return status;
    if (k == 0) continue;
    if (!(times[k] > times[k - 1])) return fail(Errc::times_not_increasing);
    if (Status status = check_duration(times[k] - times[k - 1]); !status) return status;
  }
  return {};
}

}  // namespace detail

/// Checks sizes, numbers and times. Errors: no_waypoints, one_waypoint, wrong_size, not_finite,
/// times_not_increasing, out_of_domain (domain.hpp). Real-time safe: O(numbers), no heap.
template <class Scalar>
[[nodiscard]] Status check_waypoints(const BasicWaypoints<Scalar>& waypoints) noexcept {
  if (waypoints.times.empty()) return fail(Errc::no_waypoints);
  if (waypoints.joints == 0) return fail(Errc::wrong_size);
  const std::size_t count = waypoints.times.size();
  if (Status status = detail::check_column(waypoints.positions, waypoints.joints, count); !status)
    return status;
  for (const auto& column : {waypoints.velocities, waypoints.accelerations}) {
    if (column.empty()) continue;
    if (Status status = detail::check_column(column, waypoints.joints, count); !status) return status;
  }
  if (count == 1) return fail(Errc::one_waypoint);
  return detail::check_times(waypoints.times);
}

}  // namespace takt::trajectory
