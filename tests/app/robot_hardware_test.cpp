// Tests hardware of the caller in app::Robot: it needs no bus and is recorded. Its faults are reported as
// numbers.
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
  options.recording = folder.file("own.takt");
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
