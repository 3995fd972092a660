// Joint space and actuator space of a whole robot: the known equations, power, round trips, refusals.
#include "takt/robot/actuator_space.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/control/error.hpp"
#include "takt/robot/error.hpp"

using namespace takt;
using namespace takt::robot;

namespace {

using Values = std::vector<double>;

/// Six joints: 4 and 1 are a differential, 2 and 5 a four-bar linkage, 0 has a gear, 3 has no transmission.
RobotDescription six_joints() {
  RobotDescription robot;
  robot.joints.resize(6);
  for (std::size_t i = 0; i < 6; ++i) robot.joints[i].name = "joint" + std::to_string(i);
  robot.transmissions = {
      {"wrist", TransmissionKind::differential, {{4, 2, 0.1}, {1, -1, 0.2}}, {{"a", 50}, {"b", -60}}},
      {"leg", TransmissionKind::four_bar, {{2, 1, 0.3}, {5, 3, -0.4}}, {{"c", 10}, {"d", 20}}},
      {"gear", TransmissionKind::simple, {{0, -4, 0.5}}, {{"e", 5}}}};
  return robot;
}

ActuatorSpace space_of(const RobotDescription& robot) {
  auto space = ActuatorSpace::create(robot);
  if (!space) FAIL(space.error().message);
  return *space;
}

SetupError refusal(const RobotDescription& robot) {
  const auto space = ActuatorSpace::create(robot);
  REQUIRE_FALSE(space.has_value());
  return space.error();
}

double power(const Values& efforts, const Values& velocities) {
  return std::inner_product(efforts.begin(), efforts.end(), velocities.begin(), 0.0);
}

void check_equal(const Values& a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-9));
}

}  // namespace

TEST_CASE("actuator k of a transmission has the slot of its joint k, by the published equations") {
  const ActuatorSpace space = space_of(six_joints());
  REQUIRE(space.size() == 6);
  const Values actuators{7, 0.5, 2, 9, 3, -1};
  Values joints(6);
  space.joint_positions(actuators, joints);
  CHECK(joints[0] == doctest::Approx(7.0 / (5 * -4) + 0.5));
  CHECK(joints[3] == 9);
  CHECK(joints[4] == doctest::Approx((3.0 / 50 + 0.5 / -60) / (2 * 2) + 0.1));
  CHECK(joints[1] == doctest::Approx((3.0 / 50 - 0.5 / -60) / (2 * -1) + 0.2));
  CHECK(joints[2] == doctest::Approx(2.0 / (1 * 10) + 0.3));
  CHECK(joints[5] == doctest::Approx((-1.0 / 20 - 2.0 / (1 * 10)) / 3 - 0.4));
  const Values velocities{0, 0, 0, 4, 1, 0};
  space.joint_velocities(velocities, joints);
  CHECK(joints[0] == 0);  // offsets are for positions
  CHECK(joints[3] == 4);
  CHECK(joints[4] == doctest::Approx(1.0 / 50 / (2 * 2)));
}

TEST_CASE("both spaces have the same power, and a round trip gives the same values, also in place") {
  for (std::size_t i = 0; i < test::count(2000); ++i) {
    auto random = test::generator(i);
    RobotDescription robot = six_joints();
    for (TransmissionDescription& transmission : robot.transmissions) {
      for (TransmissionJoint& joint : transmission.joints) {
        joint.reduction = std::copysign(test::uniform(random, 0.1, 200), test::uniform(random, -1, 1));
        joint.offset = test::uniform(random, -3, 3);
      }
      for (TransmissionActuator& actuator : transmission.actuators)
        actuator.reduction = std::copysign(test::uniform(random, 0.1, 200), test::uniform(random, -1, 1));
    }
    const ActuatorSpace space = space_of(robot);
    Values joints(6), efforts(6), actuators(6), actuator_efforts(6), back(6);
    for (double& value : joints) value = test::uniform(random, -5, 5);
    for (double& value : efforts) value = test::uniform(random, -5, 5);
    space.actuator_positions(joints, actuators);
    space.joint_positions(actuators, back);
    check_equal(back, joints);
    space.actuator_efforts(efforts, actuator_efforts);
    space.joint_efforts(actuator_efforts, back);
    check_equal(back, efforts);
    space.actuator_velocities(joints, actuators);
    CHECK(power(actuator_efforts, actuators) == doctest::Approx(power(efforts, joints)).epsilon(1e-9));
    back = joints;
    space.actuator_velocities(back, back);
    CHECK(back == actuators);
    space.joint_velocities(back, back);
    check_equal(back, joints);
  }
}

TEST_CASE("conversions neither allocate nor lock, and spans that are too short change nothing") {
  const ActuatorSpace space = space_of(six_joints());
  Values joints(6, 1.0), actuators(6), few(5, 8.0);
  test::RtGuard guard;
  space.actuator_positions(joints, actuators);
  space.actuator_velocities(joints, actuators);
  space.actuator_efforts(joints, actuators);
  space.joint_positions(actuators, joints);
  space.joint_velocities(actuators, joints);
  space.joint_efforts(actuators, joints);
  space.joint_positions(actuators, few);
  CHECK(guard.report() == "");
  CHECK(few == Values(5, 8.0));
}

TEST_CASE("a transmission that nothing can be computed with is refused by name") {
  RobotDescription robot = six_joints();
  robot.transmissions[2].joints[0].joint = 6;
  CHECK(refusal(robot).error == Errc::no_such_joint);
  CHECK(refusal(robot).message == "transmission gear: there is no joint 6");
  robot.transmissions[2].joints[0].joint = 5;
  CHECK(refusal(robot).error == control::Errc::out_of_domain);
  CHECK(refusal(robot).message == "transmission gear: joint joint5 is in a transmission already");
  robot = six_joints();
  robot.transmissions[0].actuators.pop_back();
  CHECK(refusal(robot).error == control::Errc::wrong_size);
  CHECK(refusal(robot).message == "transmission wrist: 2 joints and 1 actuators: its type has 2 of each");
  for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN(), 1e-300}) {
    robot = six_joints();
    robot.transmissions[1].actuators[0].reduction = bad;
    CHECK(refusal(robot).message.starts_with("transmission leg: "));
  }
  robot = six_joints();
  robot.transmissions[1].joints[1].offset = std::numeric_limits<double>::infinity();
  CHECK(refusal(robot).error == control::Errc::not_finite);
}
