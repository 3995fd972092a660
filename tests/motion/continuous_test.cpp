// Continuous joints: a target is an angle, and the joint takes the short direction, however often it has
// turned.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "motion/wire_support.hpp"
#include "support/random.hpp"
#include "takt/motion/planner.hpp"
#include "takt/trajectory/wrap.hpp"

namespace {

using namespace takt::motion;
using takt::trajectory::turn;

constexpr std::size_t last = 5;  // wrist_3_joint, made continuous

takt::robot::RobotDescription robot_that_turns() {
  auto robot = takt::test::arm6();
  robot.joints[last].kind = takt::robot::JointKind::continuous;
  robot.joints[last].limits.position_min = -128;
  robot.joints[last].limits.position_max = 128;
  return robot;
}

Snapshot standing_at(const takt::robot::RobotDescription& robot, double position) {
  Snapshot state = takt::test::ready_state(robot);
  state.joints[last].reference.position = position;
  return state;
}

TrajectoryMessage through(std::vector<double> positions, double first_time, double step) {
  TrajectoryMessage message;
  message.joints.names = {"wrist_3_joint"};
  for (const double position : positions) {
    message.points.push_back({first_time, {position}, {}, {}});
    first_time += step;
  }
  return message;
}

TEST_CASE("a planner's waypoints that pass half a turn are followed without a spin") {
  const auto robot = robot_that_turns();
  for (const double turns : {0.0, 1.0, -3.0, 19.0}) {
    const double at = 3.1 + turns * turn<double>;
    const Plan planned = plan(through({3.1, -3.1, -2.9, -3.05, 3.0}, 0, 0.5), robot, standing_at(robot, at));
    REQUIRE(planned);
    const auto& motion = (*planned)->trajectory;
    CHECK(motion.knot(0, 0).position == at);
    CHECK(motion.knot(1, 0).position == doctest::Approx(at - 6.2 + turn<double>));
    CHECK(motion.knot(4, 0).position == doctest::Approx(at - 0.1));
    double fastest = 0;
    for (double t = 0; t < motion.duration(); t += 0.001)
      fastest = std::max(fastest, std::abs(motion.at(t, 0).velocity));
    CHECK(fastest < 1.5);
  }
}

TEST_CASE("a first waypoint at time zero is where the joint is if it is the same angle") {
  const auto robot = robot_that_turns();
  CHECK(plan(through({0.01, 0.1}, 0, 1), robot, standing_at(robot, -2 * turn<double>)));
  const Plan elsewhere = plan(through({0.1, 0.2}, 0, 1), robot, standing_at(robot, -2 * turn<double>));
  REQUIRE_FALSE(elsewhere);
  CHECK(elsewhere.error().reason == Errc::start_mismatch);
  CHECK(*elsewhere.error().value == doctest::Approx(0.1));
}

TEST_CASE("moves and set-points of a continuous joint take the short way, those of others do not") {
  const auto robot = robot_that_turns();
  const Snapshot state = standing_at(robot, 3 + 2 * turn<double>);
  MoveMessage move;
  move.joints.names = {"wrist_3_joint", "wrist_2_joint"};
  move.positions = {-3, -1};
  const Plan planned = plan(move, robot, state);
  REQUIRE(planned);
  CHECK((*planned)->trajectory.at(1e9, 1).position == doctest::Approx(-3 + 3 * turn<double>));
  CHECK((*planned)->trajectory.at(1e9, 0).position == -1);

  SetpointMessage setpoint;
  setpoint.joints = move.joints;
  setpoint.positions = {-3, -1};
  const Plan stream = plan(setpoint, robot, state);
  REQUIRE(stream);
  CHECK((*stream)->setpoint.positions[1] == doctest::Approx(-3 + 3 * turn<double>));
  CHECK((*stream)->setpoint.positions[0] == -1);
}

TEST_CASE("any angle may be asked for; where the drive's positions end the motion is refused") {
  const auto robot = robot_that_turns();
  MoveMessage move;
  move.joints.names = {"wrist_3_joint"};
  move.positions = {1e6};
  CHECK_FALSE(find_mistake(move, robot));
  CHECK(plan(move, robot, standing_at(robot, 0)));
  move.positions = {1e300};
  CHECK(find_mistake(move, robot)->reason == Errc::position_limit);
  CHECK(plan(move, robot, standing_at(robot, 0)).error().reason == Errc::position_limit);
  move.positions = {127.9 + 0.5 - 20 * turn<double>};
  CHECK(plan(move, robot, standing_at(robot, 127.9)).error().reason == Errc::position_limit);
}

TEST_CASE(
    "no step between waypoints is more than half a turn, and every waypoint is the angle that was asked "
    "for") {
  const auto robot = robot_that_turns();
  auto random = takt::test::generator(9);
  std::size_t planned_ones = 0;
  for (std::size_t n = 0; n < takt::test::count(300); ++n) {
    const double start = takt::test::uniform(random, -60, 60);
    std::vector<double> angles;
    for (std::size_t i = 0; i < 1 + n % 6; ++i) angles.push_back(takt::test::uniform(random, -50, 50));
    const Plan planned = plan(through(angles, 30, 30), robot, standing_at(robot, start));
    if (!planned) continue;
    ++planned_ones;
    const auto& motion = (*planned)->trajectory;
    for (std::size_t k = 1; k <= motion.segments(); ++k) {
      const double position = motion.knot(k, 0).position;
      REQUIRE(std::abs(position - motion.knot(k - 1, 0).position) <= turn<double> / 2 + 1e-9);
      REQUIRE(std::abs(std::remainder(position - angles[k - 1], turn<double>)) < 1e-9);
    }
  }
  CHECK(planned_ones > 0);
}

}  // namespace
