// What a server says of itself and of its robot, and the names of reasons. The readers and the writer of messages have
// files of their own.
#include "takt/motion/wire.hpp"

#include "takt/version.hpp"

namespace takt::motion {
namespace {

std::string_view drive_name(robot::DriveState state) {
  switch (state) {
    case robot::DriveState::unknown:
      return "unknown";
    case robot::DriveState::off:
      return "off";
    case robot::DriveState::ready:
      return "ready";
    case robot::DriveState::fault:
      return "fault";
  }
  return "unknown";
}

}  // namespace

GreetingReply greeting(const robot::RobotDescription& robot) {
  GreetingReply reply;
  reply.version = TAKT_VERSION;
  reply.robot = robot.name;
  reply.period = to_seconds(robot.period);
  for (const auto& joint : robot.joints) reply.joint_names.push_back(joint.name);
  for (const auto& group : robot.groups) {
    std::vector<std::string> names;
    for (const std::size_t joint : group.joints) names.push_back(robot.joints[joint].name);
    reply.groups.emplace_back(group.name, std::move(names));
  }
  return reply;
}

StateReply state_reply(const Snapshot& snapshot, const robot::RobotDescription& robot) {
  StateReply reply;
  reply.time = to_seconds(snapshot.time.time_since_epoch());
  reply.robot = snapshot.state;
  reply.reason = snapshot.reason;
  if (is_about_a_joint(snapshot.reason) && snapshot.reason_joint < robot.joints.size()) {
    reply.joint = robot.joints[snapshot.reason_joint].name;
  }
  reply.active_goals = snapshot.active_goals;
  reply.cycles = snapshot.loop.cycles;
  reply.overruns = snapshot.loop.overruns;
  reply.lateness_us = to_seconds(snapshot.loop.lateness) * 1e6;
  reply.busy_us = to_seconds(snapshot.loop.busy) * 1e6;
  reply.bus = snapshot.hardware;
  for (std::size_t i = 0; i < robot.joints.size() && i < max_joints; ++i) {
    const JointSnapshot& joint = snapshot.joints[i];
    reply.joint_names.push_back(robot.joints[i].name);
    reply.command.push_back(joint.command);
    reply.reference.push_back(joint.reference.position);
    reply.reference_velocity.push_back(joint.reference.velocity);
    reply.measured.push_back(joint.measured_position);
    reply.measured_velocity.push_back(joint.measured_velocity);
    reply.goal.push_back(joint.goal);
    reply.drive.emplace_back(drive_name(joint.drive));
  }
  return reply;
}

std::optional<Errc> reason_from_name(std::string_view name) noexcept {
#define TAKT_MATCH(code, number, text) \
  if (name == #code) return Errc::code;
  TAKT_MOTION_ERRORS(TAKT_MATCH)
#undef TAKT_MATCH
  return std::nullopt;
}

bool is_about_a_joint(Errc reason) noexcept {
  switch (reason) {
    case Errc::position_limit:
    case Errc::velocity_limit:
    case Errc::acceleration_limit:
    case Errc::jerk_limit:
    case Errc::start_mismatch:
    case Errc::joint_already_moving:
    case Errc::joint_busy:
    case Errc::following_error:
    case Errc::drive_silent:
    case Errc::drive_fault:
    case Errc::drive_off:
    case Errc::goal_tolerance:
    case Errc::path_tolerance:
      return true;
    default:
      return false;
  }
}

}  // namespace takt::motion
