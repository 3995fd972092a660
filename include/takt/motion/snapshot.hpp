// The state of the robot as one plain value. The loop publishes it every period; any reader may read it at
// any rate.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/error.hpp"
#include "takt/motion/goal.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/robot/supervisor.hpp"

namespace takt::motion {

using robot::RobotState;
using robot::state_name;

/// One joint at one cycle. SI units.
struct JointSnapshot {
  double command = 0;            ///< the goal's target, before any limiter
  MotionState reference;         ///< as sent to the drive
  double measured_position = 0;  ///< rad, or m
  double measured_velocity = 0;  ///< rad/s, or m/s
  double measured_effort = 0;    ///< N m or N; 0 without has_effort
  GoalId goal = 0;               ///< the goal that owns the joint; 0 = none
  double goal_time = 0;          ///< s on that goal's path, if it is a trajectory
  double speed = 1;              ///< of the motion along that path; 1 = as planned
  double speed_excess = 0;       ///< worst relative excess of a limit by changes of the speed
  DriveState drive = DriveState::unknown;
  bool has_effort = false;   ///< the drive reports its effort
  std::uint32_t fault = 0;   ///< the drive's own fault word; 0 = none
  double feedback_age = -1;  ///< s since the drive's last answer; -1: it has not answered

  TAKT_FIELDS(JointSnapshot, command, reference, measured_position, measured_velocity, measured_effort, goal,
              goal_time, speed, speed_excess, drive, has_effort, fault, feedback_age)
};

/// Timing of the loop since its start.
struct LoopSnapshot {
  std::uint64_t cycles = 0;    ///< executed cycles
  std::uint64_t overruns = 0;  ///< periods without a cycle
  Duration lateness{};         ///< of this cycle: wake-up time minus due time
  Duration busy{};             ///< of the previous cycle: from wake-up to the end of its work

  TAKT_FIELDS(LoopSnapshot, cycles, overruns, lateness, busy)
};

/// The robot at one cycle. Copyable bytewise.
struct Snapshot {
  Time time{};  ///< nominal time of the cycle
  RobotState state = RobotState::starting;
  Errc reason{};                   ///< why the robot stops or is stopped; 0 = no fault
  std::uint8_t reason_joint = 0;   ///< the joint of the reason, if it concerns one
  std::uint8_t joint_count = 0;    ///< valid entries of `joints`
  double reason_value = 0;         ///< the value found, if the reason has one: as in Event
  double reason_limit = 0;         ///< the value allowed
  std::uint16_t active_goals = 0;  ///< goals that own joints
  LoopSnapshot loop;
  robot::HardwareCounters hardware;
  std::array<JointSnapshot, max_joints> joints{};  ///< by the robot's joint index

  TAKT_FIELDS(Snapshot, time, state, reason, reason_joint, joint_count, reason_value, reason_limit,
              active_goals, loop, hardware, joints)
};
static_assert(std::is_trivially_copyable_v<Snapshot>);

}  // namespace takt::motion
