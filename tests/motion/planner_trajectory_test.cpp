// Tests the planner's trajectories through waypoints: their times, their first waypoint, and each way
// through. With fit, a trajectory is slowed down until it keeps the limits.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "motion/plan_requests.hpp"
#include "motion/wire_support.hpp"
#include "takt/trajectory/limits.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test::plan_requests;
using takt::MotionState;
using takt::test::arm6;
using takt::test::planned_ur_trajectory;
using takt::test::ready_state;
using takt::trajectory::Through;

TEST_CASE("a planned trajectory is refused between its waypoints, by name, time, value and limit") {
  const auto robot = arm6();
  auto message = planned_ur_trajectory();
  message.limits.acceleration = {5};
  message.at_end = AtEnd::stop;
  const Plan refused = plan(message, robot, ready_state(robot));
  REQUIRE_FALSE(refused);
  const Rejection& why = refused.error();
  CHECK(why.reason == Errc::acceleration_limit);
  CHECK(why.joint == "elbow_joint");
  CHECK(std::abs(*why.value) == doctest::Approx(6.87).epsilon(1e-3));
  CHECK(*why.limit == 5);
  CHECK(*why.time > 0);
  CHECK(*why.time < 0.1);
  CHECK(why.message.find("elbow_joint") != std::string::npos);
}

TEST_CASE("with fit the same trajectory is slowed until it holds the limit") {
  const auto robot = arm6();
  auto message = planned_ur_trajectory();
  message.limits.acceleration = {5};
  message.at_end = AtEnd::stop;
  message.fit = true;
  const Plan planned = plan(message, robot, ready_state(robot));
  REQUIRE(planned);
  const Request& request = **planned;
  check_within_limits(request, robot);
  CHECK_FALSE(takt::trajectory::find_violation(request.trajectory, request.limits));
  for (const auto& limits : request.limits) CHECK(limits.acceleration == 5);
  CHECK(request.trajectory.knot_time(4) == doctest::Approx(0.4 * std::sqrt(6.870 / 5)).epsilon(1e-3));
  CHECK(request.may_be_late);
}

TEST_CASE("at the robot's own 8 rad/s^2 it runs to a bounded stop, and is refused without one") {
  const auto robot = arm6();
  auto message = planned_ur_trajectory();
  const Plan moving = plan(message, robot, ready_state(robot));
  REQUIRE_FALSE(moving);
  CHECK(moving.error().reason == Errc::not_at_rest_at_end);
  CHECK(moving.error().message.find("rad/s ") != std::string::npos);
  CHECK_FALSE(moving.error().joint.empty());

  message.at_end = AtEnd::stop;
  const Plan planned = plan(message, robot, ready_state(robot));
  REQUIRE(planned);
  const Request& request = **planned;
  check_within_limits(request, robot);
  const std::size_t last = request.trajectory.segments();
  CHECK(last > 4);
  for (std::size_t c = 0; c < 6; ++c) {
    CHECK(request.trajectory.knot(last, c).velocity == 0);
    CHECK(request.trajectory.knot(last, c).acceleration == 0);
    CHECK(request.trajectory.knot(2, c).position == message.points[2].positions[c]);
    CHECK(request.trajectory.knot(2, c).velocity == doctest::Approx(message.points[2].velocities[c]));
  }
}

TEST_CASE(
    "a trajectory with a start begins at its own first waypoint, wherever the joints are when it is "
    "planned") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  auto message = trajectory({"elbow_joint"}, {{0, {0.5}, {0.1}, {}}, {1, {0.8}, {0}, {}}});
  CHECK_FALSE(plan(message, robot, state));
  message.start = 12.5;
  const Plan planned = plan(message, robot, state);
  REQUIRE(planned);
  CHECK((*planned)->start == takt::Time{} + takt::from_seconds(12.5));
  CHECK((*planned)->starts_here);
  CHECK((*planned)->trajectory.knot(0, 0) == MotionState{0.5, 0.1, 0});
  message.points.front().positions = {7};
  CHECK(plan(message, robot, state).error().reason == Errc::position_limit);
}

TEST_CASE("a first waypoint that no quintic reaches in time may still be reached in time") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  auto message = move({"elbow_joint"}, {state.joints[2].reference.position + 1});
  state.joints[2].reference.velocity = -1;
  const double shortest = (*plan(message, robot, state))->trajectory.duration();
  auto through = trajectory({"elbow_joint"}, {{shortest * 1.01, message.positions, {}, {}}});
  const Plan planned = plan(through, robot, state);
  REQUIRE(planned);
  check_within_limits(**planned, robot);
  CHECK((*planned)->trajectory.duration() == doctest::Approx(shortest * 1.01));
  CHECK((*planned)->may_gain == doctest::Approx(0));
  through.points.front().time = shortest * 0.99;
  CHECK_FALSE(plan(through, robot, state));
}

TEST_CASE("a trajectory without times takes as long as the limits make it") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  const double p = state.joints[2].reference.position;
  auto message =
      trajectory({"elbow_joint"}, {{0, {p}, {}, {}}, {0, {p + 0.5}, {}, {}}, {0, {p - 0.2}, {}, {}}});
  message.timed = false;
  for (const auto mode : {Through::smooth, Through::cubic, Through::monotone, Through::stop}) {
    message.through = mode;
    const Plan planned = plan(message, robot, state);
    REQUIRE(planned);
    const auto& motion = (*planned)->trajectory;
    check_within_limits(**planned, robot);
    CHECK(motion.segments() == 2);  // its first point is at the joint's position
    CHECK(motion.knot(1, 0).position == doctest::Approx(p + 0.5));
    CHECK(motion.duration() > 0.5);
    CHECK(motion.duration() < 3);
  }
  state.joints[2].reference = {p - 0.1, 1, -2};
  const Plan moving = plan(message, robot, state);
  REQUIRE(moving);
  check_within_limits(**moving, robot);
  const auto& motion = (*moving)->trajectory;
  CHECK(motion.knot(0, 0).position == p - 0.1);
  CHECK(motion.knot(0, 0).velocity == doctest::Approx(1));
  CHECK(motion.knot(0, 0).acceleration == doctest::Approx(-2));
  CHECK(motion.knot((*moving)->first_waypoint, 0).position == doctest::Approx(p));
  CHECK(motion.segments() == (*moving)->first_waypoint + 2);
  message.points.front().positions = {7};
  CHECK(plan(message, robot, state).error().reason == Errc::position_limit);
  CHECK(find_mistake(message, robot));
}

TEST_CASE("the first waypoint at time zero is replaced by the present reference, if it is near") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  state.joints[2].reference.position += 0.015;
  auto message = planned_ur_trajectory();
  message.at_end = AtEnd::stop;
  message.fit = true;
  const Plan planned = plan(message, robot, state);
  REQUIRE(planned);
  CHECK((*planned)->trajectory.knot(0, 2).position == state.joints[2].reference.position);

  state.joints[2].reference.position += 0.01;
  const Plan refused = plan(message, robot, state);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason == Errc::start_mismatch);
  CHECK(refused.error().joint == "elbow_joint");
  CHECK(*refused.error().value == doctest::Approx(0.025));
  CHECK(*refused.error().limit == 0.02);
}

TEST_CASE("a first waypoint later than zero is reached from the present motion") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  state.joints[2].reference = {1.6, 0.3, 0.5};
  const auto message = trajectory({"elbow_joint"}, {{1, {1.9}, {}, {}}, {2, {1.5}, {}, {}}});
  const Plan planned = plan(message, robot, state);
  REQUIRE(planned);
  const auto& motion = (*planned)->trajectory;
  CHECK(motion.segments() == 2);
  CHECK(motion.knot(0, 0) == MotionState{1.6, 0.3, 0.5});
  CHECK(motion.at(0, 0).velocity == doctest::Approx(0.3));
  CHECK(motion.knot(2, 0) == MotionState{1.5, 0, 0});

  const Plan single = plan(trajectory({"elbow_joint"}, {{1, {1.9}, {}, {}}}), robot, state);
  REQUIRE(single);
  CHECK((*single)->trajectory.segments() == 1);
}

TEST_CASE("each way through passes a waypoint as it says") {
  const auto robot = arm6();
  const auto state = ready_state(robot);
  const double p = robot.joints[2].plant.start;
  auto message = trajectory({"elbow_joint"}, {{1, {p + 0.3}, {0.2}, {0.1}}, {2, {p + 0.6}, {0}, {0}}});
  const auto middle = [&] {
    const Plan planned = plan(message, robot, state);
    REQUIRE(planned);
    return (*planned)->trajectory.knot(1, 0);
  };
  CHECK(middle().velocity == doctest::Approx(0.2));
  CHECK(middle().acceleration == doctest::Approx(0.1));
  message.through = Through::stop;
  CHECK(middle() == MotionState{p + 0.3, 0, 0});
  message.through = Through::smooth;
  CHECK(middle().velocity > 0.3);
  for (const Through mode : {Through::cubic, Through::monotone}) {
    message.through = mode;
    const MotionState knot = middle();
    CHECK(knot.velocity == doctest::Approx(mode == Through::cubic ? 0.6 : 0.3));
    const Plan planned = plan(message, robot, state);
    CHECK((*planned)->trajectory.knot(0, 0) == MotionState{p, 0, 0});  // it leaves rest without a jump
    CHECK((*planned)->trajectory.knot(2, 0) == MotionState{p + 0.6, 0, 0});
  }
  message.through = Through::given;
  for (auto& point : message.points) point.velocities.clear();
  for (auto& point : message.points) point.accelerations.clear();
  CHECK_FALSE(plan(message, robot, state));
}

TEST_CASE("fit from a moving start keeps the start's velocity") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  state.joints[2].reference.velocity = 1;
  auto message = trajectory({"elbow_joint"}, {{0.2, {2.6}, {}, {}}, {0.4, {1.0}, {}, {}}});
  CHECK_FALSE(plan(message, robot, state));
  message.fit = true;
  const Plan planned = plan(message, robot, state);
  REQUIRE(planned);
  CHECK((*planned)->trajectory.knot(0, 0).velocity == 1);
  check_within_limits(**planned, robot);

  // Towards the end of the range at a speed that cannot be braked in time: no duration helps.
  state.joints[2].reference = {robot.joints[2].limits.position_max - 1e-3, 3, 0};
  const Plan hopeless = plan(message, robot, state);
  REQUIRE_FALSE(hopeless);
  CHECK(hopeless.error().reason == Errc::joint_already_moving);
  CHECK(hopeless.error().joint == "elbow_joint");
}

TEST_CASE("fit slows down a motion that is asked for in no time as far as it takes") {
  const auto robot = arm6();
  auto hasty = trajectory({"elbow_joint"}, {{1e-5, {1.0}, {}, {}}});
  hasty.fit = true;
  const Plan planned = plan(hasty, robot, ready_state(robot));
  REQUIRE(planned);
  check_within_limits(**planned, robot);
  CHECK((*planned)->trajectory.duration() > 0.1);
  CHECK((*planned)->trajectory.duration() < 2);
}

TEST_CASE("fit from rest slows down until the appended stop stays in range too") {
  const auto robot = arm6();
  const auto state = ready_state(robot);
  const double end = robot.joints[2].limits.position_max - 0.01;
  auto message = trajectory({"elbow_joint"}, {{4.0, {end}, {0.8}, {}}});
  message.at_end = AtEnd::stop;
  CHECK_FALSE(plan(message, robot, state));
  message.fit = true;
  const Plan planned = plan(message, robot, state);
  REQUIRE(planned);
  CHECK((*planned)->trajectory.knot(1, 0).velocity < 0.8);
  check_within_limits(**planned, robot);
}

}  // namespace
