// Tests the planner's limits and rejections: each wrong request has its own reason, and each accepted plan
// keeps the limits. A joint beyond a limit may only come back.
#include "takt/motion/planner.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "motion/plan_requests.hpp"
#include "motion/wire_support.hpp"
#include "support/random.hpp"
#include "takt/trajectory/brake.hpp"
#include "takt/trajectory/limits.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test::plan_requests;
using takt::MotionState;
using takt::test::arm6;
using takt::test::mhubo;
using takt::test::planned_ur_trajectory;
using takt::test::ready_state;
using takt::trajectory::JointTolerance;
using takt::trajectory::Through;

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

TEST_CASE("an error of one joint names the joint") {
  const auto robot = arm6();
  const auto state = ready_state(robot);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::string> names{"wrist_1_joint", "elbow_joint"};
  const auto check = [](const Plan& planned, Errc reason, const std::string& joint) {
    REQUIRE_FALSE(planned);
    CHECK(planned.error().reason == reason);
    CHECK(planned.error().joint == joint);
    CHECK(planned.error().message.rfind(joint + ": ", 0) == 0);
  };
  auto timed = trajectory(names, {{1, {-2, 1.5}, {0, 0.1}, {}}, {2, {-2.1, 1.4}, {0, nan}, {}}});
  check(plan(timed, robot, state), Errc::out_of_domain, "elbow_joint");
  timed.points[1].velocities = {1e300, 0};
  check(plan(timed, robot, state), Errc::out_of_domain, "wrist_1_joint");

  auto fastest = move(names, {-2, 1.5});
  fastest.limits.jerk = {1, nan};
  check(plan(fastest, robot, state), Errc::limit_above_robot, "elbow_joint");
  fastest.limits.jerk = {1e-300, 1};
  check(plan(fastest, robot, state), Errc::out_of_domain, "wrist_1_joint");

  SetpointMessage setpoint;
  setpoint.joints.names = names;
  setpoint.positions = {-2, 1.5};
  setpoint.velocities = {nan, 0};
  check(plan(setpoint, robot, state), Errc::velocity_limit, "wrist_1_joint");
}

TEST_CASE("an error of sizes names the list's place") {
  const auto robot = arm6();
  const auto state = ready_state(robot);
  const auto check = [](const std::optional<Rejection>& why, const std::string& message) {
    REQUIRE(why);
    CHECK(why->reason == Errc::wrong_size);
    CHECK(why->message == message);
  };
  using List = std::vector<double> PointMessage::*;
  const std::vector<double> here{state.joints[2].reference.position, state.joints[3].reference.position};
  const auto spoil = [&](List list, double time, const std::string& message) {
    auto wrong = trajectory({"elbow_joint", "wrist_1_joint"},
                            {{time, here, {0, 0}, {0, 0}}, {2, {1.5, -2}, {0, 0}, {0, 0}}});
    for (const std::size_t point : {1U, 0U}) {
      (wrong.points[point].*list).resize(1);
      const std::string where = "/trajectory/points/" + std::to_string(point) + message;
      check(plan(wrong, robot, state).error(), where);
      check(find_mistake(wrong, robot), where);
    }
  };
  for (const double time : {0.0, 1.0}) {
    spoil(&PointMessage::positions, time, "/positions: has 1 entries for 2 joints");
    spoil(&PointMessage::velocities, time, "/velocities: has 1 entries for 2 joints");
    spoil(&PointMessage::accelerations, time, "/accelerations: has 1 entries for 2 joints");
  }
  auto wide = move({"elbow_joint"}, {0, 1});
  check(plan(wide, robot, state).error(), "/move/positions: has 2 entries for 1 joints");
  wide.positions = {1};
  wide.limits.jerk = {1, 1};
  check(plan(wide, robot, state).error(), "/move/limits/jerk: has 2 entries for 1 joints");
  SetpointMessage setpoint;
  setpoint.joints.names = {"elbow_joint"};
  setpoint.positions = {1};
  setpoint.velocities = {0, 0};
  check(plan(setpoint, robot, state).error(), "/setpoint/velocities: has 2 entries for 1 joints");
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
