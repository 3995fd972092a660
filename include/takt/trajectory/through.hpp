// From waypoints to a trajectory: checks everything that came from outside, finds the derivatives that were not given, and
// joins the waypoints by quintics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/minimum_jerk.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {
namespace detail {

template <class Scalar>
[[nodiscard]] Status check_column(std::span<const Scalar> values, std::size_t joints,
                                  std::size_t waypoints) noexcept {
  if (values.size() / joints != waypoints || values.size() % joints != 0) return fail(Errc::wrong_size);
  bool good = true;  // without a branch for each number: nearly always they are all good
  for (const Scalar value : values) good &= in_domain(value);
  if (good) return {};
  return check_number(*std::find_if_not(values.begin(), values.end(), in_domain<Scalar>));
}

template <class Scalar>
[[nodiscard]] Status check_times(std::span<const Scalar> times) noexcept {
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (Status status = check_number(times[k]); !status) return status;
    if (k == 0) continue;
    if (!(times[k] > times[k - 1])) return fail(Errc::times_not_increasing);
    if (Status status = check_duration(times[k] - times[k - 1]); !status) return status;
  }
  return check_duration(times.back() - times.front());
}

template <class Scalar>
[[nodiscard]] Status check_waypoints(const BasicWaypoints<Scalar>& waypoints) noexcept {
  if (waypoints.times.empty()) return fail(Errc::no_waypoints);
  if (waypoints.joints == 0) return fail(Errc::wrong_size);
  const std::size_t count = waypoints.times.size();
  if (Status status = check_column(waypoints.positions, waypoints.joints, count); !status) return status;
  for (const auto& column : {waypoints.velocities, waypoints.accelerations}) {
    if (column.empty()) continue;
    if (Status status = check_column(column, waypoints.joints, count); !status) return status;
  }
  if (count == 1) return fail(Errc::one_waypoint);
  return check_times(waypoints.times);
}

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

/// All waypoints' states, row-major.
template <class Scalar>
[[nodiscard]] std::vector<BasicMotionState<Scalar>> states_as_given(const BasicWaypoints<Scalar>& waypoints,
                                                                    bool moving) {
  std::vector<BasicMotionState<Scalar>> states(waypoints.positions.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i].position = waypoints.positions[i];
    if (moving && !waypoints.velocities.empty()) states[i].velocity = waypoints.velocities[i];
    if (moving && !waypoints.accelerations.empty()) states[i].acceleration = waypoints.accelerations[i];
  }
  return states;
}

/// Replaces the derivatives at the inner waypoints by those of the minimum-jerk spline.
template <class Scalar>
[[nodiscard]] Status smooth_inner(const BasicWaypoints<Scalar>& waypoints,
                                  std::span<BasicMotionState<Scalar>> states) {
  if (Status status = check_duration_ratio(waypoints.times); !status) return status;
  const std::vector<double> times(waypoints.times.begin(), waypoints.times.end());
  std::vector<double> positions(states.size());
  std::vector<double> velocities(states.size());
  std::vector<double> accelerations(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    positions[i] = static_cast<double>(states[i].position);
    velocities[i] = static_cast<double>(states[i].velocity);
    accelerations[i] = static_cast<double>(states[i].acceleration);
  }
  MinimumJerkSpline spline(times.size(), waypoints.joints);
  const Status solved = spline.solve(waypoints.joints, times, positions, velocities, accelerations);
  if (!solved) return solved;
  for (std::size_t i = waypoints.joints; i < states.size() - waypoints.joints; ++i) {
    states[i].velocity = static_cast<Scalar>(velocities[i]);
    states[i].acceleration = static_cast<Scalar>(accelerations[i]);
  }
  return {};
}

}  // namespace detail

/// The trajectory through the waypoints. Its time starts with 0 at the first of them. At set-up only: allocates.
/// With `stop` it is at rest at each waypoint, the ends included; with `given` it has the derivatives that are given, with
/// `smooth` only those of the first and the last waypoint count (rest, where none are given).
/// Errors: no_waypoints, one_waypoint, wrong_size, not_finite, times_not_increasing, no_velocities (`given` without), and
/// out_of_domain: a number outside domain.hpp, `smooth` over durations more than max_duration_ratio apart, or a spline that
/// would itself be faster than the domain allows.
template <class Scalar>
[[nodiscard]] Result<BasicTrajectory<Scalar>> through(const BasicWaypoints<Scalar>& waypoints, Through mode) {
  if (Status status = detail::check_waypoints(waypoints); !status) return fail(status.error());
  if (mode == Through::given && waypoints.velocities.empty()) return fail(Errc::no_velocities);
  auto states = detail::states_as_given(waypoints, mode != Through::stop);
  if (mode == Through::smooth) {
    if (Status status = detail::smooth_inner(waypoints, std::span(states)); !status)
      return fail(status.error());
  }
  const auto row = [&](std::size_t k) {
    return std::span<const BasicMotionState<Scalar>>(states).subspan(k * waypoints.joints, waypoints.joints);
  };
  BasicTrajectory<Scalar> trajectory(row(0));
  trajectory.reserve(waypoints.times.size() - 1);
  for (std::size_t k = 1; k < waypoints.times.size(); ++k) {
    const Scalar duration = waypoints.times[k] - waypoints.times[k - 1];
    if (Status status = trajectory.append(row(k), duration); !status) return fail(status.error());
  }
  return trajectory;
}

}  // namespace takt::trajectory
