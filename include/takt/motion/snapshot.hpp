// The state of the robot as one plain value, published by the loop every period and read by anybody at any pace.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/error.hpp"
#include "takt/motion/goal.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::motion {

/// The robot as a whole.
enum class RobotState : std::uint8_t {
  starting,  ///< drives are being powered and asked where they stand
  ready,     ///< accepts motion
  stopping,  ///< a bounded stop is under way after a fault, an emergency stop or a shutdown request
  stopped,   ///< latched after a fault or an emergency stop; reset leads back to starting
  down,      ///< shut down: drives off, the loop may end
};

[[nodiscard]] constexpr std::string_view state_name(RobotState state) noexcept {
  switch (state) {
    case RobotState::starting:
      return "starting";
    case RobotState::ready:
      return "ready";
    case RobotState::stopping:
      return "stopping";
    case RobotState::stopped:
      return "stopped";
    case RobotState::down:
      return "down";
  }
  return "unknown";
}

/// One joint at one cycle. SI units.
struct JointSnapshot {
  double command = 0;     ///< what the goal asks for, before any limiter
  MotionState reference;  ///< what was sent to the drive
  double measured_position = 0;
  double measured_velocity = 0;
  double measured_effort = 0;  ///< N m or N, of drives that tell it; else 0
  GoalId goal = 0;             ///< the goal that owns the joint, 0 = none
  double goal_time = 0;        ///< s on the path of that goal, if it is a trajectory
  double speed = 1;            ///< at which it travels along it, 1 = as planned
  double speed_excess = 0;     ///< worst relative excess of a limit by changes of the speed
  robot::DriveState drive = robot::DriveState::unknown;
  std::uint32_t fault = 0;  ///< the drive's own fault word, 0 = none
};

/// Timing of the loop since its start.
struct LoopSnapshot {
  std::uint64_t cycles = 0;
  std::uint64_t overruns = 0;  ///< periods that were missed altogether
  Duration lateness{};         ///< of this cycle: woken minus due
  Duration busy{};             ///< of the cycle before: from wake-up to the end of its work
};

struct Snapshot {
  Time time{};  ///< nominal time of the cycle
  RobotState state = RobotState::starting;
  Errc reason{};                  ///< why the robot stops or is stopped, 0 = no fault
  std::uint8_t reason_joint = 0;  ///< the joint that it is about, where it is about one
  std::uint8_t joint_count = 0;
  double reason_value = 0;  ///< the found value, if the reason has one: as in Event
  double reason_limit = 0;  ///< the allowed value
  std::uint16_t active_goals = 0;
  LoopSnapshot loop;
  robot::HardwareCounters hardware;
  std::array<JointSnapshot, max_joints> joints{};
};
static_assert(std::is_trivially_copyable_v<Snapshot>);

}  // namespace takt::motion
