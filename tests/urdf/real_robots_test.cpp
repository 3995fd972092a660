// Six real robots' URDF files, which lie beside the project: each is imported, and the simulated robot moves
// every joint. Without that folder only takt's own robot does.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/robot_client.hpp"
#include "takt/robot/actuator_space.hpp"
#include "takt/robot/joint_coupling.hpp"
#include "urdf/urdf_text.hpp"

using namespace takt;
using namespace takt::robot;
using namespace takt::test::urdf_text;

namespace {

namespace client = takt::test::robot_client;

/// The folder beside the checkout, or beside the folder of a second work tree; empty if there is none.
std::string shared_folder() {
  for (const char* above : {"/../shared/data/urdf/", "/../../shared/data/urdf/"}) {
    std::string folder = TAKT_SOURCE_DIR + std::string(above);
    if (std::filesystem::is_directory(folder)) return folder;
  }
  return {};
}

/// A target for each joint, a little away from its start and within its limits.
std::vector<double> targets_of(const RobotDescription& robot) {
  std::vector<double> targets;
  for (const JointDescription& joint : robot.joints) {
    const double span = std::min(joint.limits.position_max - joint.limits.position_min, 1.0);
    const double step = 0.1 * span;
    const bool has_room = joint.plant.start + step <= joint.limits.position_max;
    targets.push_back(joint.plant.start + (has_room ? step : -step));
  }
  return targets;
}

/// Runs the robot in virtual time: one goal moves all joints.
void run(const RobotDescription& robot) {
  client::VirtualClock clock;
  app::RobotOptions options;
  options.clock = &clock;
  const auto running = client::made(robot, options);
  std::vector<std::string> names;
  for (const JointDescription& joint : robot.joints) names.push_back(joint.name);
  const std::vector<double> targets = targets_of(robot);
  client::Client mover(*running, client::move_once(names, targets));
  REQUIRE(running->run().has_value());
  CHECK(mover.refused() == std::vector<std::string>{});
  CHECK(mover.goal(1) == motion::GoalState::succeeded);
  CHECK(running->fault().reason == motion::Errc{});
  CHECK(client::reports(*running) == client::a_life);
  std::vector<double> positions;  // of the actuators, then of the joints
  for (std::size_t i = 0; i < names.size(); ++i)
    positions.push_back(running->devices()->simulation()->position(i));
  ActuatorSpace::create(robot)->joint_positions(positions, positions);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    const double position = positions[i];
    CHECK(std::abs(position - targets[i]) <= robot.joints[i].goal_tolerance);
    CHECK(std::abs(position - robot.joints[i].plant.start) >
          0.5 * std::abs(targets[i] - robot.joints[i].plant.start));
  }
}

/// Positions, mimic joints and actuators of the robot belong together.
void check_mechanism(const RobotDescription& robot) {
  const auto coupling = JointCoupling::create(robot);
  REQUIRE(coupling);
  CHECK(coupling->followers() == robot.mimics.size());
  const auto space = ActuatorSpace::create(robot);
  REQUIRE(space);
  const std::vector<double> joints = targets_of(robot);
  std::vector<double> actuators(joints.size()), back(joints.size());
  space->actuator_positions(joints, actuators);
  space->joint_positions(actuators, back);
  for (std::size_t i = 0; i < joints.size(); ++i) CHECK(back[i] == doctest::Approx(joints[i]));
}

struct Expected {
  const char* file;
  std::size_t joints;
  std::size_t mimics;
  std::size_t transmissions;
};

UrdfImport imported_file(const std::string& path) {
  auto result = import_urdf_file(path, servo_options());
  if (!result) FAIL(to_string(result.error().mistakes.front()));
  return std::move(*result);
}

}  // namespace

TEST_CASE("takt's own URDF robot runs in simulation, and moves every joint") {
  const UrdfImport own = imported_file(gantry_arm);
  check_mechanism(own.robot);
  run(own.robot);
}

TEST_CASE("six real robots are imported, run in simulation, and move every joint") {
  const std::string folder = shared_folder();
  if (folder.empty()) {
    MESSAGE("no folder shared/data/urdf beside the project: only takt's own file was tried");
    return;
  }
  for (const Expected& robot :
       {Expected{"ur5_robot", 6, 0, 6}, Expected{"panda", 8, 1, 0}, Expected{"tiago", 48, 0, 14},
        Expected{"pr2", 20, 10, 13}, Expected{"solo12", 12, 0, 0}, Expected{"talos_reduced", 32, 0, 27}}) {
    CAPTURE(robot.file);
    const UrdfImport result = imported_file(folder + robot.file + ".urdf");
    CHECK(result.robot.joints.size() == robot.joints);
    CHECK(result.robot.mimics.size() == robot.mimics);
    CHECK(result.robot.transmissions.size() == robot.transmissions);
    for (const JointDescription& joint : result.robot.joints) {
      CHECK(std::isfinite(joint.limits.velocity));
      CHECK(joint.limits.acceleration == doctest::Approx(joint.limits.velocity / 0.25));
    }
    check_mechanism(result.robot);
    run(result.robot);
  }
}

TEST_CASE("the PR2 moves through all its transmissions, if the words of its drives hold the motors' turns") {
  const std::string folder = shared_folder();
  if (folder.empty()) return;
  const auto robot = import_urdf_file(folder + "pr2.urdf", {.protocol = drives::find("cia402")});
  REQUIRE(robot.has_value());
  CHECK(robot->robot.transmissions.size() == 16);
  check_mechanism(robot->robot);
  run(robot->robot);
}

TEST_CASE("the parts of real robots that are not taken over are named") {
  const std::string folder = shared_folder();
  if (folder.empty()) return;
  const auto pr2 = imported_file(folder + "pr2.urdf").notes;
  CHECK(has_note(pr2, "transmission", "r_gripper_trans", "not taken over: takt has no type"));
  CHECK(has_note(pr2, "transmission", "fl_caster_rotation_trans", "not taken over: a joint of it is fixed"));
  CHECK(has_note(pr2, "joint/safety_controller", "torso_lift_joint", "not taken over"));
  CHECK(
      has_note(pr2, "transmission", "torso_lift_trans", "not taken over: actuator torso_lift_motor reaches"));
  CHECK(has_note(pr2, "transmission/joint", "r_wrist_roll_joint", "turns only from -0.0"));
  const auto talos = imported_file(folder + "talos_reduced.urdf").notes;
  CHECK(has_note(talos, "transmission", "talos_trans", "not taken over: takt has no type \"HalfDiff"));
}
