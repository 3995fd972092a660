// Tests the first hour with a robot: missing drives, and joints outside their limits.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "app/robot_client.hpp"
#include "takt/motion/wire.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using namespace std::chrono_literals;

namespace {

/// The robot over simulated drives of the test's own.
struct Rig {
  explicit Rig(const robot::RobotDescription& description) : Rig(description, description) {}
  Rig(const robot::RobotDescription& world, const robot::RobotDescription& description)
      : drives(sim::RobotSimulation::create(world, clock.now()).value()),
        left(drives, 0, clock),
        right(drives, 1, clock) {
    RobotOptions options;
    options.clock = &clock;
    options.devices.ports = {&left, &right};
    robot = made(description, std::move(options));
  }

  VirtualClock clock;
  sim::RobotSimulation drives;
  OwnPort left, right;
  std::unique_ptr<Robot> robot;
};

}  // namespace

TEST_CASE("a robot that waits for drives says every three seconds which are missing, and why") {
  Rig rig(two_joints());
  rig.right.is_deaf = true;
  Client client(*rig.robot, [&](Client& self, const motion::Snapshot& state) {
    if (state.time - Time{} > 7s) self.end();
  });
  REQUIRE(rig.robot->run().has_value());
  std::size_t reminders = 0;
  for (const std::string& line : reports(*rig.robot)) {
    if (line.find("without 1 of 2 drives: right_joint (board 1): does not answer on bus right (own)") !=
        std::string::npos)
      ++reminders;
  }
  CHECK(reminders == 2);
  CHECK(rig.robot->describe_start().rfind("robot starting for 7 s", 0) == 0);
}

TEST_CASE("a joint outside its limits is named when the robot is ready, and may only move back") {
  robot::RobotDescription description = two_joints();
  description.joints[1].plant.start = 1.5;
  robot::RobotDescription narrow = description;
  narrow.joints[1].limits.position_max = 1;
  Rig rig(description, narrow);
  Client client(*rig.robot, [&](Client& self, const motion::Snapshot& state) {
    if (state.state == motion::RobotState::ready && self.goals() == 0) {
      CHECK(state.joints[1].reference.position == doctest::Approx(1.5).epsilon(0.01));
      self.move({"right_joint"}, {1.6}, state);
      self.move({"right_joint"}, {1.2}, state);
      self.move({"right_joint"}, {0.9}, state);
    }
    if (motion::is_terminal(self.goal(1))) self.end();
  });
  REQUIRE(rig.robot->run().has_value());
  CHECK(client.goal(1) == motion::GoalState::succeeded);
  CHECK(client.refused().size() == 2);
  CHECK(rig.drives.position(1) == doctest::Approx(0.9).epsilon(0.02));
  const auto lines = reports(*rig.robot);
  REQUIRE(lines.size() > 2);
  CHECK(lines[1] == "robot ready");
  CHECK(lines[2] == "right_joint is at 1.5 rad, outside its limits -3 .. 1: it may only move back");
}
