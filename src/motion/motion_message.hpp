// Common questions about a motion's message of any kind: its joints, its planning cost, and its behaviour
// when joints are busy or its client vanishes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/planning_work.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/description.hpp"

namespace takt::motion {

/// The joints of a selection. Nothing if a name is unknown; the planner then reports which.
[[nodiscard]] inline std::optional<JointSet> joints_of(const JointSelection& selection,
                                                       const robot::RobotDescription& robot) {
  JointSet joints;
  if (const auto* group = robot.find_group(selection.group)) {
    for (const std::size_t joint : group->joints) joints.insert(joint);
  }
  for (const std::string& name : selection.names) {
    const auto joint = robot.find_joint(name);
    if (!joint) return std::nullopt;
    joints.insert(*joint);
  }
  return joints;
}

[[nodiscard]] inline OnDisconnect on_disconnect_of(const TrajectoryMessage& message) {
  return message.on_disconnect;
}
[[nodiscard]] inline OnDisconnect on_disconnect_of(const MoveMessage& message) {
  return message.on_disconnect;
}
[[nodiscard]] inline OnDisconnect on_disconnect_of(const SetpointMessage&) { return OnDisconnect::stop; }
[[nodiscard]] inline OnDisconnect on_disconnect_of(const MotionMessage& motion) {
  return std::visit([](const auto& message) { return on_disconnect_of(message); }, motion);
}

[[nodiscard]] inline bool queues(const TrajectoryMessage& message) {
  return message.when_busy == WhenBusy::queue;
}
[[nodiscard]] inline bool queues(const MoveMessage& message) { return message.when_busy == WhenBusy::queue; }
[[nodiscard]] inline bool queues(const SetpointMessage&) { return false; }

[[nodiscard]] inline std::size_t waypoints_of(const TrajectoryMessage& message) {
  return message.points.size();
}
[[nodiscard]] inline std::size_t waypoints_of(const MoveMessage&) { return 1; }
[[nodiscard]] inline std::size_t waypoints_of(const SetpointMessage&) { return 1; }

/// Whether the planner searches for durations, which takes long.
[[nodiscard]] inline bool has_to_search(const TrajectoryMessage& message) {
  return !message.timed && message.points.size() > 1;
}
[[nodiscard]] inline bool has_to_search(const MoveMessage&) { return false; }
[[nodiscard]] inline bool has_to_search(const SetpointMessage&) { return false; }

[[nodiscard]] inline std::optional<Time> start_of(const TrajectoryMessage& message) {
  if (!message.start) return std::nullopt;
  return Time{} + from_seconds(*message.start);
}
[[nodiscard]] inline std::optional<Time> start_of(const MoveMessage&) { return std::nullopt; }
[[nodiscard]] inline std::optional<Time> start_of(const SetpointMessage&) { return std::nullopt; }

[[nodiscard]] inline bool queues(const PlanningJob& job) {
  const auto* motion = std::get_if<MotionMessage>(&job.request);
  return motion != nullptr && std::visit([](const auto& message) { return queues(message); }, *motion);
}

/// Whether the job is useless after its client has vanished. A line must be parsed first.
[[nodiscard]] inline bool ends_with_client(const PlanningJob& job) {
  const auto* motion = std::get_if<MotionMessage>(&job.request);
  return motion != nullptr && on_disconnect_of(*motion) == OnDisconnect::stop;
}

}  // namespace takt::motion
