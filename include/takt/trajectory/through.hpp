// From waypoints to a trajectory: checks everything that came from outside, finds the derivatives that were not given, and
// joins the waypoints by quintics.
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

/// Velocities and accelerations of a trajectory's waypoints, where they are not simply those that were given.
template <class Scalar>
struct DerivativeTables {
  std::vector<Scalar> velocities;
  std::vector<Scalar> accelerations;

  /// Those that were given, else rest.
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

/// Replaces the derivatives by those of the cubic spline, but at the ends those that are given.
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

/// Replaces the derivatives at the inner waypoints by those that keep the shape.
template <class Scalar>
[[nodiscard]] Status fill_monotone(const BasicWaypoints<Scalar>& waypoints,
                                   DerivativeTables<Scalar>& tables) {
  const std::ptrdiff_t joints = static_cast<std::ptrdiff_t>(waypoints.joints);
  std::fill(tables.accelerations.begin() + joints, tables.accelerations.end() - joints, Scalar{0});
  return monotone_velocities(waypoints.joints, waypoints.times, waypoints.positions,
                             std::span(tables.velocities));
}

}  // namespace detail

/// The trajectory through the waypoints. Its time starts with 0 at the first of them. At set-up only: allocates.
/// With `stop` it is at rest at each waypoint, the ends included; with `given` it has the derivatives that are given. With the
/// others only those of the first and the last waypoint count. Where none are given, it is at rest there, but with `cubic`: it
/// then has no acceleration at its ends and the velocity that follows (natural spline); where velocities alone are given, it has
/// those and the acceleration that follows (clamped). Where both are, the first and the last segment are quartic.
/// Errors: no_waypoints, one_waypoint, wrong_size, not_finite, times_not_increasing, no_velocities (`given` without), and
/// out_of_domain: a number outside domain.hpp, `smooth` over durations more than max_duration_ratio apart, or a spline that
/// would itself be faster than the domain allows.
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
