// The planner: plans within the limits, joined motions, and each rejection.
#include "takt/motion/planner.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "motion/wire_support.hpp"
#include "support/random.hpp"
#include "takt/trajectory/brake.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/stop.hpp"

namespace {

using namespace takt::motion;
using takt::MotionState;
using takt::test::arm6;
using takt::test::mhubo;
using takt::test::planned_ur_trajectory;
using takt::test::ready_state;
using takt::trajectory::JointTolerance;
using takt::trajectory::Through;

MoveMessage move(std::vector<std::string> names, std::vector<double> positions,
                 std::optional<double> duration = {}) {
  MoveMessage message;
  message.joints.names = std::move(names);
  message.positions = std::move(positions);
  message.duration = duration;
  return message;
}

TrajectoryMessage trajectory(std::vector<std::string> names, std::vector<PointMessage> points) {
  TrajectoryMessage message;
  message.joints.names = std::move(names);
  message.points = std::move(points);
  return message;
}

/// The planner's promise: the plan is within the robot's limits everywhere. It is sampled much more finely
/// than by a loop.
void check_within_limits(const Request& request, const takt::robot::RobotDescription& robot) {
  const auto& motion = request.trajectory;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) {
    const takt::JointLimits& limits = robot.joints[joint].limits;
    constexpr int samples = 5000;
    double worst = 0;
    for (int i = 0; i <= samples; ++i) {
      const MotionState state = motion.at(motion.duration() * i / samples, column);
      worst = std::max({worst, std::abs(state.velocity) / limits.velocity,
                        std::abs(state.acceleration) / limits.acceleration,
                        1 + state.position - limits.position_max, 1 + limits.position_min - state.position});
    }
    CHECK(worst <= 1 + 1e-6);
    ++column;
  });
  CHECK(column == motion.joints());
  CHECK(request.limits.size() == column);
  CHECK(request.lead.joints() == column);
}

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

TEST_CASE("columns come in the robot's order whatever the request's") {
  const auto robot = mhubo();
  const auto state = ready_state(robot);
  const Plan planned = plan(move({"WST", "RSP", "LEB"}, {0.5, 0.6, -2.5}), robot, state);
  REQUIRE(planned);
  const Request& request = **planned;
  CHECK(request.joints.size() == 3);
  CHECK(request.trajectory.at(100, 0).position == 0.6);   // RSP is joint 0
  CHECK(request.trajectory.at(100, 1).position == -2.5);  // LEB
  CHECK(request.trajectory.at(100, 2).position == 0.5);   // WST

  MoveMessage group;
  group.joints.group = "right_gripper";
  group.positions = {1};
  const Plan gripper = plan(group, robot, state);
  REQUIRE(gripper);
  CHECK((*gripper)->joints.contains(*robot.find_joint("RHAND")));
  CHECK((*gripper)->joints.size() == 1);
}

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

TEST_CASE("each way of asking wrongly has its own reason") {
  const auto robot = arm6();
  const auto state = ready_state(robot);
  const auto reason = [](const Plan& planned) { return planned ? Errc{} : planned.error().reason; };

  CHECK(reason(plan(move({"knee"}, {0}), robot, state)) == Errc::unknown_joint);
  MoveMessage group;
  group.joints.group = "legs";
  CHECK(reason(plan(group, robot, state)) == Errc::unknown_group);
  CHECK(reason(plan(move({"elbow_joint"}, {0, 1}), robot, state)) == Errc::wrong_size);
  CHECK(reason(plan(move({"elbow_joint"}, {7}), robot, state)) == Errc::position_limit);
  CHECK(reason(plan(move({"elbow_joint"}, {1e300}), robot, state)) == Errc::position_limit);
  CHECK(reason(plan(move({"elbow_joint"}, {0}, 1e-9), robot, state)) == Errc::out_of_domain);

  auto limited = move({"elbow_joint"}, {0});
  limited.limits.velocity = {4};
  CHECK(reason(plan(limited, robot, state)) == Errc::limit_above_robot);
  limited.limits.velocity = {1, 1};
  CHECK(reason(plan(limited, robot, state)) == Errc::wrong_size);
  limited.limits.velocity = {1};
  CHECK((*plan(limited, robot, state))->limits[0].velocity == 1);

  auto busy = state;
  busy.state = RobotState::stopping;
  CHECK(reason(plan(move({"elbow_joint"}, {0}), robot, busy)) == Errc::robot_not_ready);
  CHECK(reason(plan(move({"elbow_joint"}, {0}), robot, Snapshot{})) == Errc::robot_not_ready);

  SetpointMessage setpoint;
  setpoint.joints.names = {"elbow_joint"};
  setpoint.positions = {7};
  CHECK(reason(plan(setpoint, robot, state)) == Errc::position_limit);
  setpoint.positions = {1};
  setpoint.velocities = {3.2};
  CHECK(reason(plan(setpoint, robot, state)) == Errc::velocity_limit);
  setpoint.velocities = {3};
  CHECK(reason(plan(setpoint, robot, state)) == Errc{});
}

TEST_CASE("tolerances of a request take the place of the robot's, joint by joint") {
  const auto robot = arm6();
  auto message = move({"wrist_1_joint", "elbow_joint"}, {-2.1, 1.5});
  Plan planned = plan(message, robot, ready_state(robot));
  REQUIRE(planned);
  const std::vector<JointTolerance> robots{{robot.joints[2].goal_tolerance, 0, 0},
                                           {robot.joints[3].goal_tolerance, 0, 0}};
  CHECK((*planned)->path_tolerance.empty());
  CHECK((*planned)->goal_tolerance == robots);
  CHECK((*planned)->goal_time == takt::to_seconds(robot.goal_time));

  message.tolerances.path = {{"elbow_joint", 0.1, 0, 0}, {"wrist_1_joint", -1, 0.5, 0}};
  message.tolerances.goal = {{"wrist_1_joint", 7, 0.5, -1}, {"elbow_joint", -1, 0, 0}};
  message.tolerances.goal_time = 0.25;
  planned = plan(message, robot, ready_state(robot));
  REQUIRE(planned);
  CHECK((*planned)->path_tolerance == std::vector<JointTolerance>{{0.1, 0, 0}, {0, 0.5, 0}});
  CHECK((*planned)->goal_tolerance == std::vector<JointTolerance>{{0, 0, 0}, {7, 0.5, 0}});
  CHECK((*planned)->goal_time == 0.25);
  message.tolerances.goal_time = -1;
  CHECK((*plan(message, robot, ready_state(robot)))->goal_time == std::numeric_limits<double>::infinity());

  message.tolerances.goal = {{"wrist_2_joint", 1, 0, 0}};
  CHECK(plan(message, robot, ready_state(robot)).error().reason == Errc::unknown_joint);
  CHECK(plan(message, robot, ready_state(robot)).error().joint == "wrist_2_joint");
  CHECK(find_mistake(message, robot)->reason == Errc::unknown_joint);
  auto planner_message = planned_ur_trajectory();
  planner_message.at_end = AtEnd::stop;
  planner_message.tolerances.path = {{"elbow_joint", 0.1, 0, 0}};
  planned = plan(planner_message, robot, ready_state(robot));
  REQUIRE(planned);
  CHECK((*planned)->path_tolerance[2] == JointTolerance{0.1, 0, 0});
}

TEST_CASE("a joint outside its limits may move back, and no farther out") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  const double edge = robot.joints[2].limits.position_max;
  state.joints[2].reference.position = edge + 0.01;
  CHECK(plan(move({"elbow_joint"}, {edge - 0.5}), robot, state));
  CHECK_FALSE(plan(move({"elbow_joint"}, {edge + 0.005}), robot, state));
}

TEST_CASE(
    "from beyond the request's own limits a motion comes back first, and exceeds them no more than it must") {
  const auto robot = arm6();
  auto state = ready_state(robot);
  MotionState& elbow = state.joints[2].reference;
  elbow = {1.0, 1.5, 3};
  const auto beyond = [&](const auto& message) -> std::optional<takt::trajectory::Violation> {
    const Plan planned = plan(message, robot, state);
    if (!planned) FAIL(planned.error().message);
    const Request& request = **planned;
    check_within_limits(request, robot);
    const std::vector<takt::JointLimits> raised{takt::trajectory::raised_for(elbow, request.limits[0])};
    CHECK_FALSE(find_violation(request.trajectory, raised));
    CHECK(request.limits[0].velocity == 0.5);
    return find_violation(request.trajectory, request.limits);
  };
  auto slow = move({"elbow_joint"}, {2.5});
  slow.limits.velocity = {0.5};
  const auto excess = beyond(slow);
  REQUIRE(excess);
  CHECK(excess->quantity == takt::trajectory::Quantity::velocity);
  CHECK(excess->value == doctest::Approx(1.5 + 3 * 3 / (2 * robot.joints[2].limits.jerk)));

  auto timed = trajectory({"elbow_joint"}, {{6.0, {2.5}, {}, {}}, {8.0, {2.0}, {}, {}}});
  timed.through = Through::stop;
  timed.limits.velocity = {0.5};
  CHECK(beyond(timed));
  elbow = {1.0, 0.4, 0};
  CHECK_FALSE(beyond(slow));
  elbow = {robot.joints[2].limits.position_max - 0.1, 1, 0};  // too little room to brake so gently
  slow.limits.acceleration = {0.5};
  CHECK(plan(slow, robot, state).error().reason == Errc::position_limit);
}

TEST_CASE("whatever is accepted keeps the limits, from rest and from motion") {
  const auto robot = mhubo();
  auto random = takt::test::generator(7);
  std::size_t accepted = 0;
  const std::size_t cases = takt::test::count(300);
  for (std::size_t i = 0; i < cases; ++i) {
    auto state = ready_state(robot);
    if (i % 2 == 0) {
      for (auto& joint : state.joints) {
        joint.reference.velocity = takt::test::uniform(random, -0.5, 0.5);
        joint.reference.acceleration = takt::test::uniform(random, -1, 1);
      }
    }
    TrajectoryMessage message;
    message.joints.group = i % 3 == 0 ? "arms" : "right_arm";
    message.through = static_cast<Through>(i % 5);
    message.fit = true;
    double time = 0;
    for (auto points = takt::test::uniform_int(random, 1, 6); points > 0; --points) {
      PointMessage point;
      point.time = time += takt::test::uniform(random, 0.05, 1);
      for (const std::size_t joint : robot.find_group(message.joints.group)->joints) {
        const auto& limits = robot.joints[joint].limits;
        const double middle = (limits.position_min + limits.position_max) / 2;
        const double reach = (limits.position_max - limits.position_min) * 0.4;
        point.positions.push_back(middle + takt::test::uniform(random, -reach, reach));
        point.velocities.push_back(points == 1 ? 0 : takt::test::uniform(random, -1, 1));
      }
      message.points.push_back(std::move(point));
    }
    const Plan planned = plan(message, robot, state);
    if (!planned) continue;
    ++accepted;
    CHECK_FALSE(takt::trajectory::find_violation((*planned)->trajectory, (*planned)->limits));
    if (i % 10 == 0) check_within_limits(**planned, robot);
    std::size_t column = 0;
    (*planned)->joints.for_each([&](std::size_t joint) {
      const MotionState first = (*planned)->trajectory.knot(0, column);
      const MotionState& reference = state.joints[joint].reference;
      REQUIRE(first.position == reference.position);
      REQUIRE(first.velocity == doctest::Approx(reference.velocity));
      REQUIRE(first.acceleration == doctest::Approx(reference.acceleration));
      ++column;
    });
  }
  MESSAGE(accepted, " of ", cases, " accepted");
  CHECK(accepted > cases / 5);
}

TEST_CASE("the largest trajectory is planned without delay worth mentioning") {
  const auto robot = mhubo();
  TrajectoryMessage message;
  message.joints.group = "arms";
  for (std::size_t i = 0; i < 10'000; ++i) {
    PointMessage point;
    point.time = 0.01 * static_cast<double>(i + 1);
    for (const std::size_t joint : robot.find_group("arms")->joints) {
      point.positions.push_back(robot.joints[joint].plant.start +
                                0.05 * std::sin(0.01 * static_cast<double>(i)));
    }
    message.points.push_back(std::move(point));
  }
  message.fit = true;
  const auto begin = std::chrono::steady_clock::now();
  const Plan planned = plan(message, robot, ready_state(robot));
  const auto spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!planned) MESSAGE(planned.error().message);
  CHECK(planned);
  MESSAGE("10000 waypoints of 15 joints planned in ", spent * 1e3, " ms");
}

}  // namespace
