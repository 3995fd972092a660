// The errors of the numbers from which trajectories are made.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::trajectory {

/// The numbers are part of the C API and are never reused.
enum class Errc : std::uint16_t {
  no_waypoints = 1,
  one_waypoint = 2,
  times_not_increasing = 3,
  not_finite = 4,
  wrong_size = 5,
  out_of_domain = 6,
  no_velocities = 7,
  // 8 was no_bounded_stop. It is unused, because a stop is always found.
  limit_not_positive = 9,
  target_outside_limits = 10,
  not_in_phase = 11,
  not_continuous = 12,
  tolerance_negative = 13,
  not_at_rest_at_end = 14,
  too_many_joints = 15,
  too_many_segments = 16,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::trajectory; }

/// The message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::no_waypoints:
      return "the trajectory has no waypoint";
    case Errc::one_waypoint:
      return "a trajectory needs at least two waypoints";
    case Errc::times_not_increasing:
      return "the waypoints' times do not increase";
    case Errc::not_finite:
      return "a number is NaN or infinite";
    case Errc::wrong_size:
      return "the number of values does not match the number of joints";
    case Errc::out_of_domain:
      return "a number is outside the range in which the computation is exact";
    case Errc::no_velocities:
      return "the waypoints need velocities or accelerations that are not given";
    case Errc::limit_not_positive:
      return "a limit of velocity, acceleration or jerk allows no motion";
    case Errc::target_outside_limits:
      return "the target cannot be reached within the limits of velocity, acceleration and jerk";
    case Errc::not_in_phase:
      return "start and target are not on one straight line, so the joints cannot move in phase";
    case Errc::not_continuous:
      return "a piece does not begin where the trajectory ends, or does not end at its stated state";
    case Errc::tolerance_negative:
      return "a tolerance, or the time to reach a goal, is negative";
    case Errc::not_at_rest_at_end:
      return "a joint still moves at the end of its own motion, while other joints continue";
    case Errc::too_many_joints:
      return "the motion has more joints than its fixed memory holds";
    case Errc::too_many_segments:
      return "the motion has more segments than its fixed memory holds: use fewer waypoints or a larger type";
  }
  return "unknown trajectory error";
}

}  // namespace takt::trajectory
