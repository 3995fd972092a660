// The reasons for which a motion request is rejected or an accepted goal fails. The names are also the words
// of the wire protocol: reason_name(Errc::acceleration_limit) is "acceleration_limit".
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"
#include "takt/trajectory/quantity.hpp"

namespace takt::motion {

// TAKT_MOTION_ERRORS(X): X(name, number, text). The numbers are part of the C API and of the recording
// format: never reuse one.
#define TAKT_MOTION_ERRORS(X)                                                                              \
  X(malformed, 1, "the message is not JSON as the protocol requires it")                                   \
  X(message_too_large, 2, "the message is longer than the server allows")                                  \
  X(message_too_slow, 3, "the message was not complete within the time that the server allows")            \
  X(unknown_request, 4, "no request of this name exists")                                                  \
  X(unknown_joint, 5, "the robot has no joint of this name")                                               \
  X(unknown_group, 6, "the robot has no group of this name")                                               \
  X(unknown_goal, 7, "no goal with this number is known")                                                  \
  X(duplicate_joint, 8, "a joint is named twice")                                                          \
  X(wrong_size, 9, "a list does not have one entry for each joint")                                        \
  X(not_finite, 10, "a number is NaN or infinite")                                                         \
  X(times_not_increasing, 11, "waypoint times must be positive and increase")                              \
  X(too_many_waypoints, 12, "the trajectory has more waypoints than the server allows")                    \
  X(no_waypoints, 13, "the trajectory has no waypoint")                                                    \
  X(out_of_domain, 14, "a number is outside the range in which the computation is exact")                  \
  X(position_limit, 20, "a position limit would be exceeded")                                              \
  X(velocity_limit, 21, "a velocity limit would be exceeded")                                              \
  X(acceleration_limit, 22, "an acceleration limit would be exceeded")                                     \
  X(jerk_limit, 23, "a jerk limit would be exceeded")                                                      \
  X(limit_above_robot, 24, "a request may only tighten the robot's limits")                                \
  X(start_mismatch, 25, "the first waypoint is not at the joint's position")                               \
  X(not_at_rest_at_end, 26, "the trajectory does not end at rest")                                         \
  X(joint_already_moving, 27, "the joint is moving: no motion within the limits leads to the goal")        \
  X(joint_busy, 28, "the joint belongs to another goal")                                                   \
  X(robot_not_ready, 30, "the robot is not ready for motion")                                              \
  X(queue_full, 31, "too many requests are waiting")                                                       \
  X(too_many_goals, 32, "too many goals are active")                                                       \
  X(too_many_clients, 33, "too many clients are connected")                                                \
  X(following_error, 40, "a joint left its reference by more than its limit")                              \
  X(drive_silent, 41, "a drive does not answer")                                                           \
  X(drive_fault, 42, "a drive reports a fault")                                                            \
  X(emergency_stop, 43, "the emergency stop was requested")                                                \
  X(client_lost, 44, "the client that owned the goal disconnected or ended")                               \
  X(setpoint_timeout, 45, "no setpoint arrived in time")                                                   \
  X(goal_tolerance, 46, "the joints did not reach the goal within their tolerance in time")                \
  X(path_tolerance, 56, "a joint left its path by more than the goal's own tolerance")                     \
  X(shutting_down, 47, "the process is stopping")                                                          \
  X(stream_ended, 48, "the stream was stopped: send nothing for its timeout, then start again")            \
  X(recalled, 49, "a stop, a cancel or a reset came before the request began")                             \
  X(goal_before_failed, 50, "a goal that this one waited for did not succeed")                             \
  X(loop_overrun, 51, "the loop missed more periods in a row than the robot allows")                       \
  X(drive_off, 52, "a drive that must hold its joint is off")                                              \
  X(unknown_reason, 53, "the server's reason is unknown to this version of takt")                          \
  X(not_in_phase, 54, "no straight-line motion leads from the present state to the goal")                  \
  X(start_too_far, 55, "the start is too far ahead, or so far back that the trajectory has ended")         \
  X(not_continuous, 57, "the trajectory jumps from one segment to the next")                               \
  X(loop_lost, 58, "the process that runs the robot's loop has ended")                                     \
  X(other_robot, 59, "the loop runs another robot, or the same robot with another description")            \
  X(other_version, 60, "the loop was built from another version of takt")                                  \
  X(loop_taken, 61, "another motion server uses the loop")                                                 \
  X(bus_down, 62, "the bus of a drive is down")                                                            \
  X(controller_stopped, 63, "the trajectory controller does not run: start it, or stop the others")        \
  X(joint_taken, 64, "another controller commands the joint")                                              \
  X(protective_stop, 65, "a protective stop was requested")                                                \
  X(no_controllers, 66, "this server cannot command controllers: it is not in the loop's process")         \
  X(controllers_refused, 67, "the robot's manager of controllers refused the request")                     \
  X(position_jumped, 68, "its position jumped while its drive was away: the drive may have lost its zero") \
  X(power_off, 69, "no drive gets power in this run: turn the joints by hand, and see their angles")

/// Why motion failed. 0 is no error. The texts are in TAKT_MOTION_ERRORS.
enum class Errc : std::uint16_t {
#define TAKT_ENUMERATOR(name, number, text) name = number,
  TAKT_MOTION_ERRORS(TAKT_ENUMERATOR)
#undef TAKT_ENUMERATOR
};

/// Lets an Errc convert to takt::Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::motion; }

/// The text for people, without a final period. Real-time safe.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
#define TAKT_CASE(name, number, text) \
  case Errc::name:                    \
    return text;
    TAKT_MOTION_ERRORS(TAKT_CASE)
#undef TAKT_CASE
  }
  return "unknown motion error";
}

/// The word on the wire: the enumerator's name. Real-time safe.
[[nodiscard]] constexpr std::string_view reason_name(Errc code) noexcept {
  switch (code) {
#define TAKT_CASE(name, number, text) \
  case Errc::name:                    \
    return #name;
    TAKT_MOTION_ERRORS(TAKT_CASE)
#undef TAKT_CASE
  }
  return "unknown";
}

/// The error for a motion that exceeds its limit of this quantity. Real-time safe.
[[nodiscard]] constexpr Errc limit_of(trajectory::Quantity quantity) noexcept {
  switch (quantity) {
    case trajectory::Quantity::position:
      return Errc::position_limit;
    case trajectory::Quantity::velocity:
      return Errc::velocity_limit;
    case trajectory::Quantity::acceleration:
      return Errc::acceleration_limit;
    case trajectory::Quantity::jerk:
      return Errc::jerk_limit;
  }
  return Errc::out_of_domain;
}

}  // namespace takt::motion
