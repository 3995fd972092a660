// The server's greeting and state reply, and the names of reasons. The readers and the writer of messages
// have their own files.
#include "takt/motion/wire.hpp"

#include <fmt/format.h>
#include <limits>

#include "takt/robot/drive_fault.hpp"
#include "takt/version.hpp"

namespace takt::motion {
namespace {

std::string_view drive_name(DriveState state) {
  switch (state) {
    case DriveState::unknown:
      return "unknown";
    case DriveState::off:
      return "off";
    case DriveState::ready:
      return "ready";
    case DriveState::fault:
      return "fault";
    case DriveState::no_bus:
      return "no_bus";
  }
  return "unknown";
}

/// The fault word in a value that another process may have written; 0 if it is out of range.
std::uint32_t fault_word(double value) noexcept {
  const bool is_word = value >= 0 && value <= std::numeric_limits<std::uint32_t>::max();
  return is_word ? static_cast<std::uint32_t>(value) : 0;
}

/// " (0.06 s, limit 0.05 s)"
std::string numbers_of(const Event& event, const robot::RobotDescription& robot) {
  const bool is_a_time = event.reason == Errc::drive_silent || event.reason == Errc::setpoint_timeout;
  const bool is_about_speed = event.quantity == trajectory::Quantity::velocity;
  if (event.value == 0 && event.limit == 0) return {};
  if (event.reason == Errc::loop_overrun) {
    const double period = to_seconds(robot.period);
    return fmt::format(" ({:g} periods, {:.6g} s; limit {:g} periods, {:.6g} s)", event.value,
                       event.value * period, event.limit, event.limit * period);
  }
  if (event.reason == Errc::position_jumped) {
    const auto unit = event.joint < robot.joints.size() ? position_unit(robot.joints[event.joint].kind) : "";
    return fmt::format(
        " ({0:.4g} {2}, limit {1:.4g} {2}). Where it is right: `takt reset --accept-positions`", event.value,
        event.limit, unit);
  }
  return fmt::format(" ({0}{1:.6g}{3}, limit {2:.6g}{3})", is_about_speed ? "velocity " : "", event.value,
                     event.limit, is_a_time ? " s" : "");
}

}  // namespace

Rejection explain(const Event& event, const robot::RobotDescription& robot) {
  Rejection why;
  why.reason = event.reason;
  if (event.reason == Errc{}) return why;
  why.message = describe(event.reason);
  if (is_about_a_joint(event.reason) && event.joint < robot.joints.size()) {
    why.joint = robot.joints[event.joint].name;
    why.message = fmt::format("{}: {}", why.joint, why.message);
    const std::size_t bus = robot.joints[event.joint].bus;
    if (event.reason == Errc::bus_down && bus < robot.buses.size())
      why.message += fmt::format(": {} ({})", robot.buses[bus].name, robot.buses[bus].interface);
  }
  if (event.time != 0) why.time = event.time;
  if (event.reason == Errc::drive_fault) {
    const std::uint32_t fault = fault_word(event.value);
    why.value = event.value;
    why.message += fmt::format(" ({:#x}): {}", fault, robot::describe_fault(robot, event.joint, fault));
    return why;
  }
  if (event.value == 0 && event.limit == 0) return why;
  why.value = event.value;
  why.limit = event.limit;
  if (event.reason == Errc::start_too_far) {
    why.message = fmt::format(
        "the start was {:.6g} s ago, but the trajectory takes only {:.6g} s: it has ended already",
        event.value, event.limit);
  } else {
    why.message += numbers_of(event, robot);
  }
  return why;
}

Event cause_of(const Snapshot& snapshot) noexcept {
  Event cause;
  cause.reason = snapshot.reason;
  cause.joint = snapshot.reason_joint;
  cause.value = snapshot.reason_value;
  cause.limit = snapshot.reason_limit;
  return cause;
}

std::string describe_state(const Snapshot& snapshot, const robot::RobotDescription& robot) {
  std::string text(state_name(snapshot.state));
  if (snapshot.reason != Errc{}) text += ": " + explain(cause_of(snapshot), robot).message;
  return text.append(next_step(snapshot.state, snapshot.reason));
}

std::string_view next_step(RobotState state, Errc reason) noexcept {
  const bool has_loop = reason != Errc::loop_lost && reason != Errc::loop_taken &&
                        reason != Errc::other_robot && reason != Errc::other_version;
  const bool waits_for_reset =
      state == RobotState::stopped || (state == RobotState::starting && reason == Errc::drive_fault);
  if (!waits_for_reset || !has_loop || reason == Errc::position_jumped) return "";
  return reason == Errc::bus_down ? ". To continue when the bus is back: `takt reset` (or {\"reset\":{}})"
                                  : ". To continue: `takt reset` (or {\"reset\":{}})";
}

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
  for (const auto& joint : robot.joints)
    reply.limits.push_back({std::string(position_unit(joint.kind)), joint.limits});
  return reply;
}

StateReply state_reply(const Snapshot& snapshot, const robot::RobotDescription& robot) {
  StateReply reply;
  reply.time = to_seconds(snapshot.time.time_since_epoch());
  reply.robot = snapshot.state;
  Rejection why = explain(cause_of(snapshot), robot);
  reply.reason = why.reason;
  reply.message = std::move(why.message);
  reply.joint = std::move(why.joint);
  reply.value = why.value;
  reply.limit = why.limit;
  reply.active_goals = snapshot.active_goals;
  reply.cycles = snapshot.loop.cycles;
  reply.overruns = snapshot.loop.overruns;
  reply.lateness_us = to_seconds(snapshot.loop.lateness) * 1e6;
  reply.busy_us = to_seconds(snapshot.loop.busy) * 1e6;
  reply.bus = snapshot.hardware;
  for (std::size_t i = 0; i < robot.joints.size() && i < max_joints; ++i) {
    const JointSnapshot& joint = snapshot.joints[i];
    reply.joint_names.push_back(robot.joints[i].name);
    if (reply.bus.starved.contains(i)) reply.starved.push_back(robot.joints[i].name);
    reply.command.push_back(joint.command);
    reply.reference.push_back(joint.reference.position);
    reply.reference_velocity.push_back(joint.reference.velocity);
    reply.measured.push_back(joint.measured_position);
    reply.measured_velocity.push_back(joint.measured_velocity);
    reply.goal.push_back(joint.goal);
    reply.drive.emplace_back(drive_name(joint.drive));
    reply.age_ms.push_back(joint.feedback_age < 0 ? -1 : joint.feedback_age * 1e3);
    if (joint.fault != 0)
      reply.faults.push_back({robot.joints[i].name, joint.fault, describe_fault(robot, i, joint.fault)});
  }
  for (const auto& mimic : robot.mimics) {
    if (mimic.joint >= reply.measured.size()) continue;
    reply.mimics.push_back({mimic.name, mimic.offset + mimic.multiplier * reply.measured[mimic.joint],
                            mimic.multiplier * reply.measured_velocity[mimic.joint]});
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
    case Errc::joint_taken:
    case Errc::following_error:
    case Errc::drive_silent:
    case Errc::drive_fault:
    case Errc::drive_off:
    case Errc::position_jumped:
    case Errc::bus_down:
    case Errc::goal_tolerance:
    case Errc::path_tolerance:
      return true;
    default:
      return false;
  }
}

}  // namespace takt::motion
