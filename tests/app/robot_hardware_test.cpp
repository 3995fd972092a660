// Tests hardware of the caller in app::Robot: it needs no bus and is recorded. Its faults are reported as
// numbers. Drives behind a transmission move their joints.
#include <doctest/doctest.h>

#include "app/robot_client.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;

TEST_CASE("devices of the caller's own need no bus, and are recorded") {
  const ScratchFolder folder;
  VirtualClock clock;
  OwnHardware hardware(2);
  robot::RobotDescription description = two_joints();
  description.buses.clear();
  RobotOptions options;
  options.clock = &clock;
  options.hardware = &hardware;
  options.recording = folder.file("own.mcap");
  options.drain_in_cycle = true;
  const auto robot = made(description, options);
  CHECK(robot->devices() == nullptr);
  Client client(*robot, move_once({"right_joint"}, {-1.5}));
  REQUIRE(robot->run().has_value());
  CHECK(client.refused().empty());
  CHECK(client.goal(1) == motion::GoalState::succeeded);
  CHECK(hardware.position(1) == doctest::Approx(-1.5).epsilon(1e-6));
  CHECK(client.last().hardware.frames_sent == robot->statistics().cycles);
  CHECK(reports(*robot) == a_life);
  const auto totals = robot->finish();
  REQUIRE(totals.has_value());
  REQUIRE(totals->recorded.has_value());
  CHECK(totals->recorded->records > robot->statistics().cycles);
}

TEST_CASE("a fault of a device without a protocol is reported as a number") {
  VirtualClock clock;
  OwnHardware hardware(2);
  hardware.faulty = 1;
  hardware.fault_at = 100;
  robot::RobotDescription description = two_joints();
  description.buses.clear();
  RobotOptions options;
  options.clock = &clock;
  options.hardware = &hardware;
  const auto robot = made(description, options);
  Client client(*robot, [](Client& self, const motion::Snapshot& state) {
    if (state.state == motion::RobotState::stopped) self.end();
  });
  REQUIRE(robot->run().has_value());
  CHECK(robot->fault().reason == motion::Errc::drive_fault);
  CHECK(robot->fault().joint == 1);
  CHECK(describe_cause(robot->fault(), robot->description()) ==
        "right_joint: a drive reports a fault (0x5): number 5 [drive_fault]");
}

TEST_CASE("two drives behind a differential move its joints to where they are sent") {
  VirtualClock clock;
  robot::RobotDescription description = two_joints();
  description.transmissions = {{"wrist",
                                robot::TransmissionKind::differential,
                                {{0, 1, 0.1}, {1, -1, 0}},
                                {{"left_motor", 3}, {"right_motor", 3}}}};
  RobotOptions options;
  options.clock = &clock;
  const auto robot = made(description, options);
  Client client(*robot, move_once({"left_joint", "right_joint"}, {1.2, -0.7}));
  REQUIRE(robot->run().has_value());
  CHECK(client.refused().empty());
  CHECK(client.goal(1) == motion::GoalState::succeeded);
  CHECK(reports(*robot) == a_life);
  // The published equations: joint = sum or difference of the actuators behind their gears, halved.
  const sim::RobotSimulation& drives = *robot->devices()->simulation();
  const double left = drives.position(0) / 3;
  const double right = drives.position(1) / 3;
  CHECK((left + right) / 2 + 0.1 == doctest::Approx(1.2).epsilon(0.02));
  CHECK((left - right) / -2 == doctest::Approx(-0.7).epsilon(0.02));
}
