// Makes a trajectory from waypoints: checks all input, computes missing derivatives, and joins the waypoints
// by quintics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/cubic_spline.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/minimum_jerk.hpp"
#include "takt/trajectory/monotone.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {
namespace detail {

template <class Scalar>
[[nodiscard]] Status check_duration_ratio(std::span<const Scalar> times) noexcept {
  Scalar shortest = std::numeric_limits<Scalar>::infinity();
  Scalar longest = 0;
  for (std::size_t k = 1; k < times.size(); ++k) {
    shortest = std::min(shortest, times[k] - times[k - 1]);
    longest = std::max(longest, times[k] - times[k - 1]);
  }
  if (static_cast<double>(longest) > max_duration_ratio * static_cast<double>(shortest)) {
    return fail(Errc::out_of_domain);
  }
  return {};
}

/// Velocities and accelerations at the waypoints, for modes that compute them.
template <class Scalar>
struct DerivativeTables {
  std::vector<Scalar> velocities;
  std::vector<Scalar> accelerations;

  /// Copies the given derivatives; missing ones are zero.
  explicit DerivativeTables(const BasicWaypoints<Scalar>& waypoints)
      : velocities(waypoints.velocities.begin(), waypoints.velocities.end()),
        accelerations(waypoints.accelerations.begin(), waypoints.accelerations.end()) {
    velocities.resize(waypoints.positions.size());
    accelerations.resize(waypoints.positions.size());
  }
};

/// Lets solve(times, positions, velocities, accelerations) fill the tables, in double.
template <class Scalar, class Solve>
[[nodiscard]] Status solve_in_double(const BasicWaypoints<Scalar>& waypoints,
                                     DerivativeTables<Scalar>& tables, Solve&& solve) {
  if constexpr (std::is_same_v<Scalar, double>) {
    return solve(waypoints.times, waypoints.positions, std::span(tables.velocities),
                 std::span(tables.accelerations));
  } else {
    const std::vector<double> times(waypoints.times.begin(), waypoints.times.end());
    const std::vector<double> positions(waypoints.positions.begin(), waypoints.positions.end());
    std::vector<double> velocities(tables.velocities.begin(), tables.velocities.end());
    std::vector<double> accelerations(tables.accelerations.begin(), tables.accelerations.end());
    const Status status =
        solve(std::span(times), std::span(positions), std::span(velocities), std::span(accelerations));
    const auto narrow = [](double number) { return static_cast<Scalar>(number); };
    std::transform(velocities.begin(), velocities.end(), tables.velocities.begin(), narrow);
    std::transform(accelerations.begin(), accelerations.end(), tables.accelerations.begin(), narrow);
    return status;
  }
}

/// Replaces the derivatives at the inner waypoints by those of the minimum-jerk spline.
template <class Scalar>
[[nodiscard]] Status fill_smooth(const BasicWaypoints<Scalar>& waypoints, DerivativeTables<Scalar>& tables) {
  if (Status status = check_duration_ratio(waypoints.times); !status) return status;
  MinimumJerkSpline spline(waypoints.times.size(), waypoints.joints);
  return solve_in_double(waypoints, tables,
                         [&](auto times, auto positions, auto velocities, auto accelerations) {
                           return spline.solve(waypoints.joints, times, positions, velocities, accelerations);
                         });
}

/// Replaces the derivatives by those of the cubic spline; derivatives given at the ends stay.
template <class Scalar>
[[nodiscard]] Status fill_cubic(const BasicWaypoints<Scalar>& waypoints, DerivativeTables<Scalar>& tables) {
  CubicSpline spline(waypoints.times.size());
  const CubicEnds ends = waypoints.velocities.empty()      ? CubicEnds::natural
                         : waypoints.accelerations.empty() ? CubicEnds::clamped
                                                           : CubicEnds::full;
  return solve_in_double(
      waypoints, tables, [&](auto times, auto positions, auto velocities, auto accelerations) {
        return spline.solve(waypoints.joints, times, positions, velocities, accelerations, ends);
      });
}

/// Replaces the derivatives at the inner waypoints by velocities that keep the shape.
template <class Scalar>
[[nodiscard]] Status fill_monotone(const BasicWaypoints<Scalar>& waypoints,
                                   DerivativeTables<Scalar>& tables) {
  const std::ptrdiff_t joints = static_cast<std::ptrdiff_t>(waypoints.joints);
  std::fill(tables.accelerations.begin() + joints, tables.accelerations.end() - joints, Scalar{0});
  return monotone_velocities(waypoints.joints, waypoints.times, waypoints.positions,
                             std::span(tables.velocities));
}

}  // namespace detail

/// Makes the trajectory through the waypoints. Its time is 0 at the first waypoint.
/// * `stop`: at rest at each waypoint, the ends included.
/// * `given`: with the given derivatives.
/// * Other modes: only the derivatives of the first and the last waypoint count. If they are missing, the
///   motion is at rest there.
/// * `cubic` without velocities: zero acceleration at its ends, and the velocity of the natural spline. With
///   velocities only: the clamped spline. With both: the first and the last segment are quartic.
///
/// Errors: no_waypoints, one_waypoint, wrong_size, not_finite, times_not_increasing, no_velocities (`given`
/// without velocities). Also out_of_domain: a number is outside domain.hpp, `smooth` has durations with a
/// ratio above max_duration_ratio, or the spline exceeds the domain's velocities. For set-up only: allocates.
template <class Scalar>
[[nodiscard]] Result<BasicTrajectory<Scalar>> through(const BasicWaypoints<Scalar>& waypoints, Through mode) {
  BasicTrajectory<Scalar> trajectory;
  if (mode == Through::stop) {
    if (Status status = trajectory.assign_stops(waypoints); !status) return fail(status.error());
    return trajectory;
  }
  if (Status status = check_waypoints(waypoints); !status) return fail(status.error());
  if (mode == Through::given && waypoints.velocities.empty()) return fail(Errc::no_velocities);
  BasicWaypoints<Scalar> complete = waypoints;
  std::optional<detail::DerivativeTables<Scalar>> tables;
  if (mode != Through::given || waypoints.accelerations.empty()) {
    tables.emplace(complete);
    Status filled;
    if (mode == Through::smooth) filled = detail::fill_smooth(waypoints, *tables);
    if (mode == Through::cubic) filled = detail::fill_cubic(waypoints, *tables);
    if (mode == Through::monotone) filled = detail::fill_monotone(waypoints, *tables);
    if (!filled) return fail(filled.error());
    complete.velocities = tables->velocities;
    complete.accelerations = tables->accelerations;
  }
  if (Status status = trajectory.assign(complete); !status) return fail(status.error());
  return trajectory;
}

}  // namespace takt::trajectory
