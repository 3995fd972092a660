// The parts that the tests of the wire protocol, the planner and the server share. They are the robots of the
// examples, and the state of a ready robot at its start.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "support/source_dir.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/motion/wire.hpp"

namespace takt::test {

inline std::string read_file(const std::string& path_in_tree) {
  std::ifstream file(std::string(TAKT_SOURCE_DIR) + "/" + path_in_tree, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline robot::RobotDescription load_robot(const std::string& path_in_tree) {
  auto robot = drives::load_robot(read_file(path_in_tree));
  REQUIRE(robot);
  return std::move(*robot);
}

inline robot::RobotDescription arm6() { return load_robot("examples/robots/arm6.json"); }
inline robot::RobotDescription mhubo() { return load_robot("examples/robots/mhubo.json"); }

/// Ready and at rest, with each joint at its start.
inline motion::Snapshot ready_state(const robot::RobotDescription& robot) {
  motion::Snapshot state;
  state.state = motion::RobotState::ready;
  state.joint_count = static_cast<std::uint8_t>(robot.joints.size());
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    state.joints[i].reference.position = robot.joints[i].plant.start;
    state.joints[i].command = state.joints[i].measured_position = robot.joints[i].plant.start;
    state.joints[i].drive = DriveState::ready;
  }
  return state;
}

inline motion::TrajectoryMessage planned_ur_trajectory() {
  auto message = motion::parse_motion_file(read_file("examples/data/ur_arm_planned.json"));
  REQUIRE(message);
  return std::get<motion::TrajectoryMessage>(message->body);
}

}  // namespace takt::test
