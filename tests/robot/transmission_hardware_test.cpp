// Drives behind transmissions: commands and feedback of joints and actuators belong together, also when the
// joints of one transmission are commanded in different modes. The robot as its drives see it.
#include "takt/robot/transmission_hardware.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/robot/error.hpp"

using namespace takt;
using namespace takt::robot;
using namespace std::chrono_literals;

namespace {

/// Joints 0 and 2 are a differential wrist, joint 1 has a gear, joint 3 has no transmission.
RobotDescription four_joints() {
  RobotDescription robot;
  robot.period = 1ms;
  robot.buses = {{.name = "bus", .protocol = drives::find("servo")}};
  robot.joints.resize(4);
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    JointDescription& joint = robot.joints[i];
    joint.name = "joint" + std::to_string(i);
    joint.board = static_cast<std::uint8_t>(i + 1);
    joint.limits = {-1, 2, 2, 8, 100, 5};
    joint.plant.start = 0.5;
  }
  robot.transmissions = {
      {"wrist", TransmissionKind::differential, {{0, 2, 0.1}, {2, -1, 0.2}}, {{"a", 5}, {"b", -6}}},
      {"gear", TransmissionKind::simple, {{1, 4, -0.3}}, {{"c", 2}}}};
  return robot;
}

ActuatorSpace space_of(const RobotDescription& robot) {
  auto space = ActuatorSpace::create(robot);
  if (!space) FAIL(space.error().message);
  return std::move(*space);
}

/// Drives that keep what they are given, and report what the test sets.
class Drives final : public Hardware {
 public:
  void read(Time, std::span<JointFeedback> to) noexcept override {
    std::copy(feedback.begin(), feedback.end(), to.begin());
  }
  void write(Time, std::span<const JointCommand> from) noexcept override {
    std::copy(from.begin(), from.end(), commands.begin());
  }
  [[nodiscard]] HardwareCounters counters() const noexcept override { return {}; }

  std::vector<JointFeedback> feedback = std::vector<JointFeedback>(4);
  std::vector<JointCommand> commands = std::vector<JointCommand>(4);
};

/// One quantity of all entries.
template <class Entry>
std::vector<double> values(const std::vector<Entry>& entries, double Entry::*number) {
  std::vector<double> list;
  for (const Entry& entry : entries) list.push_back(entry.*number);
  return list;
}

void check_equal(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-9));
}

}  // namespace

TEST_CASE("joints and actuators of a hardware belong together in position, velocity and effort") {
  const RobotDescription robot = four_joints();
  const ActuatorSpace space = space_of(robot);
  for (std::size_t run = 0; run < test::count(200); ++run) {
    auto random = test::generator(run);
    Drives drives;
    TransmissionHardware hardware(robot, space, drives);
    for (std::size_t i = 0; i < 4; ++i) {
      JointFeedback& feedback = drives.feedback[i];
      feedback.position = test::uniform(random, -9, 9);
      feedback.velocity = test::uniform(random, -9, 9);
      feedback.effort = test::uniform(random, -9, 9);
      feedback.heard = feedback.has_effort = true;
      feedback.fault = static_cast<std::uint32_t>(i);
      feedback.stamp = Time(Duration(test::uniform_int(random, 0, 1000)));
    }
    std::vector<JointFeedback> joints(4);
    hardware.read(Time{}, joints);
    std::vector<double> expected(4);
    space.joint_positions(values(drives.feedback, &JointFeedback::position), expected);
    check_equal(values(joints, &JointFeedback::position), expected);
    space.joint_velocities(values(drives.feedback, &JointFeedback::velocity), expected);
    check_equal(values(joints, &JointFeedback::velocity), expected);
    space.joint_efforts(values(drives.feedback, &JointFeedback::effort), expected);
    check_equal(values(joints, &JointFeedback::effort), expected);
    for (std::size_t i = 0; i < 4; ++i) CHECK(joints[i].fault == i);  // a fault names its own drive
    CHECK(joints[0].stamp == std::min(drives.feedback[0].stamp, drives.feedback[2].stamp));
    CHECK(joints[2].stamp == joints[0].stamp);
    // An effort comes from both actuators, so none is known if one reports none.
    drives.feedback[2].has_effort = false;
    hardware.read(Time{}, joints);
    CHECK_FALSE(joints[0].has_effort);
    CHECK(joints[0].effort == 0);
    CHECK(joints[1].has_effort);

    std::vector<JointCommand> commands(4);
    for (JointCommand& command : commands) {
      command.position = test::uniform(random, -9, 9);
      command.velocity = test::uniform(random, -9, 9);
      command.acceleration = test::uniform(random, -9, 9);
      command.effort = test::uniform(random, -9, 9);
      command.mode = CommandMode::effort;
      command.want_power = true;
    }
    hardware.write(Time{}, commands);
    space.actuator_positions(values(commands, &JointCommand::position), expected);
    check_equal(values(drives.commands, &JointCommand::position), expected);
    space.actuator_velocities(values(commands, &JointCommand::velocity), expected);
    check_equal(values(drives.commands, &JointCommand::velocity), expected);
    space.actuator_velocities(values(commands, &JointCommand::acceleration), expected);
    check_equal(values(drives.commands, &JointCommand::acceleration), expected);
    space.actuator_efforts(values(commands, &JointCommand::effort), expected);
    check_equal(values(drives.commands, &JointCommand::effort), expected);
    for (const JointCommand& command : drives.commands) {
      CHECK(command.mode == CommandMode::effort);
      CHECK(command.want_power);
    }
  }
}

TEST_CASE("a joint of a pair is heard once both drives are") {
  const RobotDescription robot = four_joints();
  Drives drives;
  TransmissionHardware hardware(robot, space_of(robot), drives);
  drives.feedback[0].heard = drives.feedback[1].heard = true;
  std::vector<JointFeedback> joints(4);
  hardware.read(Time{}, joints);
  CHECK_FALSE(joints[0].heard);
  CHECK(joints[1].heard);
  CHECK_FALSE(joints[2].heard);
  drives.feedback[2].heard = true;
  hardware.read(Time{}, joints);
  CHECK(joints[0].heard);
  CHECK(joints[2].heard);
}

TEST_CASE("a pair whose joints have different modes is moved by positions") {
  const RobotDescription robot = four_joints();
  const ActuatorSpace space = space_of(robot);
  Drives drives;
  TransmissionHardware hardware(robot, space, drives);
  std::vector<JointFeedback> joints(4);
  const std::vector<double> start{0.4, 0.1, -0.2, 0};
  std::vector<double> actuators(4);
  space.actuator_positions(start, actuators);
  for (std::size_t i = 0; i < 4; ++i) drives.feedback[i].position = actuators[i];
  hardware.read(Time{}, joints);

  std::vector<JointCommand> commands(4);
  commands[0].position = 0.7;
  commands[1].mode = CommandMode::velocity;  // alone on its actuator
  std::vector<double> back(4);
  const auto cycles = [&](int count) {
    test::RtGuard guard;
    for (int i = 0; i < count; ++i) hardware.write(Time{}, commands);
    CHECK(guard.report() == "");
    for (const std::size_t slot : {std::size_t{0}, std::size_t{2}})
      CHECK(drives.commands[slot].mode == CommandMode::position);
    CHECK(drives.commands[1].mode == CommandMode::velocity);
    space.joint_positions(values(drives.commands, &JointCommand::position), back);
  };
  SUBCASE("a joint by velocity moves by its integral") {
    commands[2].mode = CommandMode::velocity;
    commands[2].velocity = 1.5;
    cycles(100);
    CHECK(back[0] == doctest::Approx(0.7));
    CHECK(back[2] == doctest::Approx(-0.2 + 1.5 * 0.1));
    commands[2].mode = CommandMode::position;  // the next integral begins at the measured position
    hardware.write(Time{}, commands);
    commands[2].mode = CommandMode::velocity;
    cycles(10);
    CHECK(back[2] == doctest::Approx(-0.2 + 1.5 * 0.01));
  }
  SUBCASE("a joint by effort is held") {
    commands[2].mode = CommandMode::effort;
    commands[2].effort = 3;
    commands[2].velocity = 1;
    cycles(100);
    CHECK(back[0] == doctest::Approx(0.7));
    CHECK(back[2] == doctest::Approx(-0.2));
    CHECK(drives.commands[2].effort == 0);
  }
  SUBCASE("NaN of a drive does not become a command") {
    drives.feedback[0].position = std::numeric_limits<double>::quiet_NaN();
    hardware.read(Time{}, joints);
    commands[2].mode = CommandMode::effort;
    cycles(1);
    CHECK(back[2] == doctest::Approx(-0.2));
  }
}

TEST_CASE("the actuators have room for every state that the joints are allowed, and not more") {
  const RobotDescription robot = four_joints();
  const ActuatorSpace space = space_of(robot);
  const RobotDescription actuators = at_actuators(robot, space);
  std::vector<double> least(4, std::numeric_limits<double>::infinity());
  std::vector<double> most(4, -std::numeric_limits<double>::infinity());
  std::vector<double> fastest(4), strongest(4);
  // The extremes of a linear map are at the corners.
  for (unsigned corner = 0; corner < 16; ++corner) {
    std::vector<double> positions(4), velocities(4), efforts(4);
    for (std::size_t i = 0; i < 4; ++i) {
      const bool high = (corner >> i & 1U) != 0;
      positions[i] = high ? 2 : -1;
      velocities[i] = high ? 2 : -2;
      efforts[i] = high ? 5 : -5;
    }
    space.actuator_positions(positions, positions);
    space.actuator_velocities(velocities, velocities);
    space.actuator_efforts(efforts, efforts);
    for (std::size_t i = 0; i < 4; ++i) {
      least[i] = std::min(least[i], positions[i]);
      most[i] = std::max(most[i], positions[i]);
      fastest[i] = std::max(fastest[i], velocities[i]);
      strongest[i] = std::max(strongest[i], efforts[i]);
    }
  }
  std::vector<double> start(4, 0.5);
  space.actuator_positions(start, start);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const JointLimits& limits = actuators.joints[i].limits;
    CHECK(limits.position_min == doctest::Approx(least[i]));
    CHECK(limits.position_max == doctest::Approx(most[i]));
    CHECK(limits.velocity == doctest::Approx(fastest[i]));
    CHECK(limits.effort == doctest::Approx(strongest[i]));
    CHECK(actuators.joints[i].plant.start == doctest::Approx(start[i]));
  }
  CHECK(actuators.joints[1].plant.inertia == doctest::Approx(robot.joints[1].plant.inertia / (8 * 8)));
  CHECK(actuators.joints[1].plant.torque_limit == doctest::Approx(robot.joints[1].plant.torque_limit / 8));
  CHECK(actuators.joints[3].plant.inertia == robot.joints[3].plant.inertia);
}

TEST_CASE("the position words of a bus must hold what the actuators reach, and limit continuous joints") {
  RobotDescription robot = four_joints();
  CHECK(fit_reach(robot, 0, space_of(robot)).has_value());
  CHECK(robot.joints[0].limits.position_max == 2);

  robot.transmissions[1].actuators[0].reduction = 20;  // 80 * 2.3 rad; servo drives hold 20 turns
  const auto refused = fit_reach(robot, 1, space_of(robot));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().error == Errc::position_out_of_reach);
  CHECK(refused.error().message.find("actuator c reaches 184 rad from zero") == 0);

  robot.joints[1].kind = JointKind::continuous;
  robot.joints[1].limits.position_min = -100;
  robot.joints[1].limits.position_max = 100;
  const ActuatorSpace space = space_of(robot);
  REQUIRE(fit_reach(robot, 1, space).has_value());
  const double reach = robot.buses[0].protocol->reach(robot.joints[1]);
  CHECK(at_actuators(robot, space).joints[1].farthest_position() == doctest::Approx(reach));
}
