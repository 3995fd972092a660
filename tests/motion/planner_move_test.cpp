// Tests the planner's moves to a target. They are as quick as the limits allow or last as long as asked, in
// phase or not, from any motion.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "motion/plan_requests.hpp"
#include "motion/wire_support.hpp"
#include "support/random.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/stop.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test::plan_requests;
using takt::MotionState;
using takt::test::arm6;
using takt::test::mhubo;
using takt::test::ready_state;

TEST_CASE("a move without a duration takes exactly as long as its limits make it") {
  const auto robot = arm6();
  const auto state = ready_state(robot);
  const double from = robot.joints[2].plant.start;
  for (const double distance : {1e-6, 0.001, 0.1, 1.0, 3.0}) {
    CAPTURE(distance);
    const Plan planned = plan(move({"elbow_joint"}, {from + distance}), robot, state);
    REQUIRE(planned);
    check_within_limits(**planned, robot);
    const double duration = (*planned)->trajectory.duration();
    if (duration <= 2 * takt::to_seconds(robot.period)) continue;
    const Plan faster = plan(move({"elbow_joint"}, {from + distance}, duration * 0.999), robot, state);
    CHECK_FALSE(faster);
  }
  CHECK(plan(move({"elbow_joint"}, {from}), robot, state));
}

TEST_CASE("a move without a duration keeps to the jerk limit, and is faster than any quintic") {
  const auto robot = arm6();
  const double from = robot.joints[2].plant.start;
  // A short move is limited by jerk alone. It has four phases of T/4 each and covers j T^3 / 32.
  const double distance = 1e-3;
  const Plan planned = plan(move({"elbow_joint"}, {from + distance}), robot, ready_state(robot));
  REQUIRE(planned);
  const auto& motion = (*planned)->trajectory;
  const double jerk = robot.joints[2].limits.jerk;
  CHECK(motion.duration() == doctest::Approx(std::cbrt(32 * distance / jerk)));
  for (std::size_t k = 0; k < motion.segments(); ++k) {
    const auto piece = motion.piece(k, 0);
    CHECK(std::abs(piece.jerk(0)) <= jerk * (1 + 1e-9));
    CHECK(piece.jerk(0) == doctest::Approx(piece.jerk(piece.duration())));
  }
  CHECK((*planned)->first_waypoint == motion.segments());
  CHECK((*planned)->may_gain == motion.duration());
  CHECK((*planned)->may_be_late);
}

TEST_CASE("a move leads from any motion within the limits to its target") {
  const auto robot = arm6();
  auto random = takt::test::generator(11);
  const std::vector<std::string> names{"shoulder_lift_joint", "elbow_joint", "wrist_1_joint"};
  std::size_t refused = 0;
  const std::size_t cases = takt::test::count(2000);
  for (std::size_t i = 0; i < cases; ++i) {
    auto state = ready_state(robot);
    std::vector<double> targets;
    for (const std::string& name : names) {
      const std::size_t joint = *robot.find_joint(name);
      const auto& limits = robot.joints[joint].limits;
      targets.push_back(takt::test::uniform(random, limits.position_min, limits.position_max));
      MotionState& reference = state.joints[joint].reference;
      reference.position = takt::test::uniform(random, limits.position_min, limits.position_max);
      // The acceleration must be reducible before the velocity reaches its limit.
      reference.acceleration = takt::test::uniform(random, -1, 1) * limits.acceleration;
      const double rise = reference.acceleration * reference.acceleration / (2 * limits.jerk);
      reference.velocity = takt::test::uniform(random, -1, 1) * (limits.velocity - rise);
    }
    const auto can_stop = [&](const std::string& name) {
      const std::size_t joint = *robot.find_joint(name);
      const takt::JointLimits& limits = robot.joints[joint].limits;
      const MotionState& reference = state.joints[joint].reference;
      const double end = reference.position + takt::trajectory::plan_stop(reference, limits).distance;
      return end >= limits.position_min && end <= limits.position_max;
    };
    const Plan planned = plan(move(names, targets), robot, state);
    if (!planned) {
      CHECK(planned.error().reason == Errc::position_limit);
      if (std::all_of(names.begin(), names.end(), can_stop)) ++refused;
      continue;
    }
    const Request& request = **planned;
    CHECK_FALSE(takt::trajectory::find_violation(request.trajectory, request.limits));
    if (i % 100 == 0) check_within_limits(request, robot);
    for (std::size_t c = 0; c < names.size(); ++c) {
      const MotionState& start = state.joints[*robot.find_joint(names[c])].reference;
      CHECK(request.trajectory.knot(0, c).position == doctest::Approx(start.position));
      CHECK(request.trajectory.knot(0, c).velocity == doctest::Approx(start.velocity));
      CHECK(request.trajectory.knot(0, c).acceleration == doctest::Approx(start.acceleration));
      CHECK(request.trajectory.at(1e9, c) == MotionState{targets[c], 0, 0});
    }
  }
  CHECK(refused == 0);
}

TEST_CASE("in phase all joints move along the straight line, or the move is refused") {
  const auto robot = mhubo();
  auto state = ready_state(robot);
  auto message = move({"RSP", "REB", "WST"}, {0.6, -1.0, 0.3});
  const auto in_time = plan(message, robot, state);
  message.synchronisation = takt::trajectory::Synchronisation::phase;
  const Plan planned = plan(message, robot, state);
  REQUIRE(planned);
  check_within_limits(**planned, robot);
  const auto& motion = (*planned)->trajectory;
  CHECK(motion.duration() >= (*in_time)->trajectory.duration() * (1 - 1e-9));
  CHECK((*planned)->synchronisation == message.synchronisation);
  for (int i = 0; i <= 100; ++i) {
    const double t = motion.duration() * i / 100;
    const auto part = [&](std::size_t c) {
      const double from = motion.knot(0, c).position;
      return (motion.at(t, c).position - from) / (motion.at(1e9, c).position - from);
    };
    CHECK(part(1) == doctest::Approx(part(0)).epsilon(1e-6));
    CHECK(part(2) == doctest::Approx(part(0)).epsilon(1e-6));
  }
  // Moving along the line is accepted as rest is; moving off it is not.
  for (const double t : {0.2, 0.5}) {
    std::size_t column = 0;
    (*planned)->joints.for_each([&](std::size_t joint) {
      state.joints[joint].reference = motion.at(motion.duration() * t, column++);
    });
    CHECK(plan(message, robot, state));
  }
  state.joints[*robot.find_joint("WST")].reference.velocity += 0.01;
  const Plan off = plan(message, robot, state);
  REQUIRE_FALSE(off);
  CHECK(off.error().reason == Errc::not_in_phase);
}

TEST_CASE("a move with a duration is a quintic; with fit, what lasts that long and keeps the limits") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  state.joints[2].reference.velocity = 2;
  const double from = state.joints[2].reference.position;
  auto message = move({"elbow_joint"}, {from - 0.5}, 3);
  const Plan quintic = plan(message, robot, state);
  REQUIRE(quintic);
  CHECK((*quintic)->trajectory.segments() == 1);
  CHECK_FALSE((*quintic)->may_be_late);
  message.positions = {from - 2};
  message.duration.reset();
  const double fastest = (*plan(message, robot, state))->trajectory.duration();
  for (const double duration : {0.5, fastest * 1.01}) {
    message.fit = false;
    message.duration = duration;
    CHECK_FALSE(plan(message, robot, state));
    message.fit = true;
    const Plan fitted = plan(message, robot, state);
    REQUIRE(fitted);
    check_within_limits(**fitted, robot);
    CHECK((*fitted)->trajectory.duration() >= duration);
    CHECK((*fitted)->trajectory.duration() <= std::max(fastest, duration) * (1 + 1e-9));
    CHECK((*fitted)->may_gain == doctest::Approx((*fitted)->trajectory.duration() - duration));
  }
}

TEST_CASE("a move that is too fast is refused, or stretched with fit") {
  const auto robot = arm6();
  const auto state = ready_state(robot);
  auto message = move({"elbow_joint"}, {0}, 0.1);
  const Plan refused = plan(message, robot, state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().joint == "elbow_joint");
  message.fit = true;
  const Plan fitted = plan(message, robot, state);
  REQUIRE(fitted);
  check_within_limits(**fitted, robot);
  message.duration = 20;
  CHECK((*plan(message, robot, state))->trajectory.duration() == 20);
}

}  // namespace
