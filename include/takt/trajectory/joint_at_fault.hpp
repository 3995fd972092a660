// Finds the joint that made a planning function fail. Its error has four bytes and names no joint; these
// functions look for the joint after the error. Each takes the arguments of the call that failed. For moves
// it is BasicPointToPoint::joint_at_fault().
//
//     const auto motion = through(waypoints, Through::smooth);
//     if (!motion) faulty = joint_at_fault(waypoints, Through::smooth);  // not_finite: joint 3
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "takt/core/joint.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/timing.hpp"
#include "takt/trajectory/trajectory.hpp"
#include "takt/trajectory/waypoints.hpp"

namespace takt::trajectory {
namespace detail {

template <class Scalar>
[[nodiscard]] std::vector<Scalar> column_of(std::span<const Scalar> rows, std::size_t joints,
                                            std::size_t joint) {
  std::vector<Scalar> column;
  for (std::size_t i = joint; i < rows.size(); i += joints) column.push_back(rows[i]);
  return column;
}

/// The first joint that fails where a joint at rest does not. `fails(waypoints, joint)` plans one joint
/// alone; without `joint` it plans a joint at rest. Sizes that do not match are no joint's fault.
template <class Scalar, class Fails>
[[nodiscard]] std::optional<std::size_t> first_at_fault(const BasicWaypoints<Scalar>& waypoints,
                                                        Fails&& fails) {
  const std::size_t joints = waypoints.joints;
  const std::size_t count = waypoints.times.size();
  const auto fits = [&](std::span<const Scalar> rows) {
    return joints != 0 && rows.size() / joints == count && rows.size() % joints == 0;
  };
  const bool have_velocities = !waypoints.velocities.empty();
  const bool have_accelerations = !waypoints.accelerations.empty();
  if (!fits(waypoints.positions) || (have_velocities && !fits(waypoints.velocities)) ||
      (have_accelerations && !fits(waypoints.accelerations)))
    return std::nullopt;
  const std::vector<Scalar> zeros(count);
  const auto zeros_if = [&](bool given) { return std::span(zeros).first(given ? count : 0); };
  if (fails({1, waypoints.times, zeros, zeros_if(have_velocities), zeros_if(have_accelerations)},
            std::optional<std::size_t>()))
    return std::nullopt;
  for (std::size_t j = 0; j < joints; ++j) {
    const auto positions = column_of(waypoints.positions, joints, j);
    const auto velocities = column_of(waypoints.velocities, joints, j);
    const auto accelerations = column_of(waypoints.accelerations, joints, j);
    if (fails({1, waypoints.times, positions, velocities, accelerations}, std::optional(j))) return j;
  }
  return std::nullopt;
}

}  // namespace detail

/// Finds the joint for which through() failed. Nothing if the fault is in the times, the sizes or the mode.
/// For set-up only: allocates.
template <class Scalar>
[[nodiscard]] std::optional<std::size_t> joint_at_fault(const BasicWaypoints<Scalar>& waypoints,
                                                        Through mode) {
  return detail::first_at_fault(
      waypoints, [mode](const BasicWaypoints<Scalar>& alone, auto) { return !through(alone, mode); });
}

/// Finds the joint for which through_within() failed: one of its numbers or limits. Nothing as above, if a
/// segment without a time moves only joints without limits, or if the joint can move with stops at its
/// waypoints. Therefore it does not search as through_within() does. For set-up only: allocates.
template <class Scalar>
[[nodiscard]] std::optional<std::size_t> joint_at_fault(
    const BasicWaypoints<Scalar>& waypoints,
    std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) {
  if (limits.size() != waypoints.joints || waypoints.joints == 0) return std::nullopt;
  BasicWaypoints<Scalar> timed{waypoints.joints, waypoints.times, waypoints.positions, {}, {}};
  std::vector<Scalar> times;  // the time of a joint without limits comes from others
  if (timed.times.empty()) {
    for (std::size_t k = 0; k < timed.positions.size() / timed.joints; ++k)
      times.push_back(static_cast<Scalar>(k) * Scalar(1e-2));
    timed.times = times;
  }
  const BasicJointLimits<Scalar> none;
  return detail::first_at_fault(
      timed, [&](const BasicWaypoints<Scalar>& alone, std::optional<std::size_t> joint) {
        return !through_within(alone, Through::stop, std::span(joint ? &limits[*joint] : &none, 1));
      });
}

/// Finds the joint for which append_stop() failed, after the first `segments` segments of the trajectory:
/// those before the call. Nothing if the sizes are at fault. For set-up only: allocates.
template <class Scalar>
[[nodiscard]] std::optional<std::size_t> joint_at_fault(
    const BasicTrajectory<Scalar>& stopping, std::size_t segments,
    std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) {
  if (limits.size() != stopping.joints()) return std::nullopt;
  for (std::size_t j = 0; j < limits.size(); ++j) {
    const BasicMotionState<Scalar> end = stopping.knot(segments, j);
    BasicTrajectory<Scalar> alone(std::span(&end, 1));
    if (!append_stop(alone, limits.subspan(j, 1))) return j;
  }
  return std::nullopt;
}

}  // namespace takt::trajectory
