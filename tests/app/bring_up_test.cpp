// Tests the first hour with a robot: without power, with missing drives, outside limits, and with drives that
// fall silent under a load.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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

/// A robot of one joint for each bus, all of this protocol.
robot::RobotDescription robot_with(const std::string& protocol) {
  robot::RobotDescription robot = two_joints();
  if (protocol == "hubo") robot.period = 5ms;
  for (robot::BusDescription& bus : robot.buses) bus.protocol = drives::find(protocol);
  for (robot::JointDescription& joint : robot.joints) {
    joint.following_error = 1;
    joint.plant.torque_limit = 50;
    if (protocol == "hubo") joint.counts_per_radian = 10'000;
    if (protocol == "odrive" || protocol == "mit") joint.counts_per_radian = 1;
    if (protocol == "odrive") {
      joint.drive.set("gear", 10.0);
      joint.drive.set("current_limit", 20.0);
    }
    if (protocol == "mit") {
      joint.drive.set("vendor", std::string("damiao"));
      joint.drive.set("position_range", 12.5);
      joint.drive.set("velocity_range", 20.0);
      joint.drive.set("torque_range", 50.0);
      joint.drive.set("kp", 200.0);
      joint.drive.set("kd", 3.0);
    }
  }
  return robot;
}

const std::vector<std::string> protocols = {"cia402", "hubo", "mit", "odrive", "servo"};

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

TEST_CASE("without power no drive is switched on, angles are live, and motion is rejected by name") {
  for (const std::string& protocol : protocols) {
    CAPTURE(protocol);
    robot::RobotDescription description = robot_with(protocol);
    description.power = false;
    Rig rig(description);
    rig.drives.set_load(0, -0.25);  // a hand: the joint goes with it, because nothing holds it
    bool any_power = false;
    std::string refusal;
    Client client(*rig.robot, [&](Client& self, const motion::Snapshot& state) {
      for (std::size_t i = 0; i < 2; ++i) any_power = any_power || state.joints[i].drive == DriveState::ready;
      CHECK(state.state == (state.time - Time{} <= 3s ? motion::RobotState::starting : state.state));
      if (state.time - Time{} < 3s || state.state != motion::RobotState::starting) return;
      if (self.refused().empty()) self.move({"left_joint"}, {0.5}, state);
      refusal = self.refused().empty() ? "" : self.refused().front();
      CHECK(state.reason == motion::Errc::power_off);
      CHECK(state.joints[0].measured_position == doctest::Approx(rig.drives.position(0)).epsilon(0.1));
      CHECK(std::abs(state.joints[0].measured_position) > 0.3);
      CHECK(state.joints[0].drive == DriveState::off);
      self.end();
    });
    REQUIRE(rig.robot->run().has_value());
    CHECK_FALSE(any_power);
    CHECK(refusal.find("no drive gets power in this run") != std::string::npos);
    CHECK(reports(*rig.robot).front().find("[power_off]") != std::string::npos);
  }
}

TEST_CASE("a reset gives a robot without power no power") {
  robot::RobotDescription description = robot_with("servo");
  description.power = false;
  Rig rig(description);
  bool is_asked = false;
  Client client(*rig.robot, [&](Client& self, const motion::Snapshot& state) {
    CHECK(state.joints[0].drive != DriveState::ready);
    if (state.time - Time{} > 1s && !is_asked) {
      is_asked = true;
      self.reset();
    }
    if (state.time - Time{} > 3s) self.end();
  });
  REQUIRE(rig.robot->run().has_value());
}

TEST_CASE("a robot that waits for drives says every three seconds which are missing, and why") {
  for (const bool power : {true, false}) {
    robot::RobotDescription description = robot_with("servo");
    description.power = power;
    Rig rig(description);
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
    CHECK(rig.robot->describe_start().rfind(power ? "robot starting for 7 s" : "robot without power for 7 s",
                                            0) == 0);
  }
}

TEST_CASE("a joint outside its limits is named when the robot is ready, and may only move back") {
  robot::RobotDescription description = robot_with("servo");
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

TEST_CASE("a silent drive under a load falls with \"hold\", and is held with \"keep_commanding\"") {
  for (const std::string& protocol : protocols) {
    for (const bool keeps : {false, true}) {
      CAPTURE(protocol);
      CAPTURE(keeps);
      robot::RobotDescription description = robot_with(protocol);
      description.joints[1].keep_commanding = keeps;
      Rig rig(description);
      rig.drives.set_load(1, 0.5);
      enum class Step { ready, moving, silent, back, done } step = Step::ready;
      Time since{};
      double stopped_at = 0, fastest = 0;
      Client client(*rig.robot, [&](Client& self, const motion::Snapshot& state) {
        const auto go = [&](Step next) {
          step = next;
          since = state.time;
        };
        if (step == Step::ready && state.state == motion::RobotState::ready) {
          self.move({"right_joint"}, {2}, state);
          go(Step::moving);
        } else if (step == Step::moving && state.joints[1].measured_position > 0.5) {
          rig.right.is_deaf = true;
          go(Step::silent);
        } else if (step == Step::silent && state.state == motion::RobotState::stopped) {
          if (state.time - since < 2s) {
            stopped_at = rig.drives.position(1);
          } else if (state.time - since < 4s) {
            fastest = std::max(fastest, std::abs(rig.drives.velocity(1)));
          } else {
            CHECK(state.reason == motion::Errc::drive_silent);
            rig.right.is_deaf = false;
            go(Step::back);
          }
        } else if (step == Step::back && state.time - since > 1s) {
          if (!keeps) return self.end();
          self.reset();
          go(Step::done);
        } else if (step == Step::done && state.state == motion::RobotState::ready) {
          self.end();
        }
      });
      REQUIRE(rig.robot->run().has_value());
      CHECK(step == (keeps ? Step::done : Step::back));
      CHECK((fastest < 0.05) == keeps);
      if (!keeps) continue;
      CHECK(stopped_at > 0.5);
      CHECK(rig.drives.position(1) > 0.4);
    }
  }
}
