#include "takt/robot/drive_fault.hpp"
#include "takt/drives/registry.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "takt/can/hubo.hpp"
#include "takt/can/servo.hpp"
#include "takt/drives/cia402/cia402_master.hpp"
#include "takt/drives/servo/servo_master.hpp"
#include "takt/robot/supervisor.hpp"

using namespace takt;
using namespace takt::drives;
using namespace takt::robot;

namespace {

RobotDescription one_joint(const robot::DriveProtocol* protocol) {
  RobotDescription robot;
  robot.buses = {BusDescription{"bus", protocol}};
  robot.joints.emplace_back();
  return robot;
}

}  // namespace

TEST_CASE("a fault word is printed in the words of its joint's protocol") {
  const RobotDescription servo = one_joint(drives::find("servo"));
  CHECK(describe_fault(servo, 0, static_cast<std::uint32_t>(can::servo::Fault::reference_lost)) ==
        "no command came before its watchdog ran out");
  CHECK(describe_fault(servo, 0, servo_power_lost) == "the drive switched off without a command");
  CHECK(describe_fault(servo, 0, servo_power_lost | 2U) == "over-current");
  CHECK(describe_fault(servo, 0, 77) == "number 77");

  const RobotDescription hubo = one_joint(drives::find("hubo"));
  CHECK(describe_fault(hubo, 0, can::hubo::fault::jam | can::hubo::fault::driver) == "jam, power stage");
  CHECK(describe_fault(hubo, 0, can::hubo::fault::power_lost) == "the drive switched off without a command");
  CHECK(describe_fault(hubo, 0, can::hubo::fault::homing_failed) == "did not find its home");
  CHECK(describe_fault(hubo, 0, can::hubo::fault::jam | 1U << 20) == "jam, bits 0x100000");

  const RobotDescription cia402 = one_joint(drives::find("cia402"));
  CHECK(describe_fault(cia402, 0, 0x8611) == "following error (0x8611)");
  CHECK(describe_fault(cia402, 0, cia402_fault::power_lost) == "the drive switched off without a command");
  CHECK(describe_fault(cia402, 0, cia402_fault::heartbeat_lost | 0x4310) ==
        "over-temperature of the drive (0x4310), its heartbeat is lost");
}

TEST_CASE("a fault word of an unknown protocol is printed as a number") {
  RobotDescription robot;
  CHECK(describe_fault(robot, 3, 5) == "number 5");
  robot.joints.emplace_back();
  CHECK(describe_fault(robot, 0, 5) == "number 5");
}

TEST_CASE("a fault whose code comes later than itself stops the robot, and is then told with its code") {
  RobotDescription robot = one_joint(drives::find("cia402"));
  Supervisor supervisor(robot);
  std::vector<JointFeedback> feedback(1);
  const std::vector<MotionState> references(1);
  feedback[0].heard = true;
  feedback[0].drive = DriveState::ready;
  const auto cycle = [&] {
    feedback[0].stamp += robot.period;
    const auto fault = supervisor.begin(feedback, 0, references);
    supervisor.settle(false);
    return fault;
  };
  CHECK_FALSE(cycle());
  REQUIRE(supervisor.state() == RobotState::ready);
  feedback[0].drive = DriveState::fault;
  CHECK(cycle());
  feedback[0].fault = 0x2310;
  CHECK_FALSE(cycle());
  CHECK(supervisor.state() == RobotState::stopped);
  CHECK(supervisor.fault()->value == 0x2310);
  feedback[0].fault = 0x8130;  // the first cause stays
  CHECK_FALSE(cycle());
  CHECK(supervisor.fault()->value == 0x2310);
}

TEST_CASE("a drive at fault without a code is not told as number 0") {
  CHECK(describe_fault(one_joint(drives::find("hubo")), 0, 0) == "of unknown cause");
}
