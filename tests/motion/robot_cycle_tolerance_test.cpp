// The cycle holds each goal to its tolerances: on the path, at the end, and for as long as the goal must
// settle. A goal that leaves them is aborted.
#include <doctest/doctest.h>

#include <limits>

#include "motion/robot_cycle_bench.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

using Bench = test::CycleBench;

}  // namespace

TEST_CASE("a goal that does not settle within its tolerance is aborted, with joint, error and tolerance") {
  Bench bench;
  bench.make_ready();
  bench.robot.goal_time = Duration(0);
  bench.feedback[1].position = 0;
  auto goal = bench.move(3, {1}, {0.1}, 1);
  bench.cycle({goal.get()});
  bench.stuck.insert(1);
  const Event end = bench.run_until_end(3);
  CHECK(end.state == GoalState::aborted);
  CHECK(end.reason == Errc::goal_tolerance);
  CHECK(end.joint == 1);
  CHECK(end.value == doctest::Approx(0.1).epsilon(0.01));
  CHECK(end.limit == doctest::Approx(0.01));
}

TEST_CASE(
    "a goal that leaves its path by more than its own tolerance is aborted, and the robot stays ready") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(3, {1, 2}, {0.5, 0.5}, 1);
  goal->path_tolerance[0].position = 0.05;
  auto other = bench.move(4, {0}, {0.5}, 1);
  bench.cycle({goal.get(), other.get()});
  bench.stuck.insert(1);
  const Event end = bench.run_until_end(3);
  CHECK(end.state == GoalState::aborted);
  CHECK(end.reason == Errc::path_tolerance);
  CHECK(end.joint == 1);
  CHECK(end.value > 0.05);
  CHECK(end.value < 0.06);
  CHECK(end.limit == 0.05);
  CHECK(end.quantity == trajectory::Quantity::position);
  CHECK(bench.snapshot.joints[2].goal == 0);
  CHECK(bench.snapshot.joints[2].reference.velocity > 0);  // a bounded stop
  CHECK(bench.robot_cycle.state() == RobotState::ready);
  CHECK(bench.run_until_end(4).state == GoalState::succeeded);
  CHECK(bench.snapshot.joints[2].reference.velocity == 0);
  CHECK(bench.robot_cycle.state() == RobotState::ready);
}

TEST_CASE("a path tolerance of velocity is held against what the drive measures") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(3, {0}, {0.5}, 1);
  goal->path_tolerance[0].velocity = 0.4;  // the drives of this bench report no velocity
  bench.cycle({goal.get()});
  const Event end = bench.run_until_end(3);
  CHECK(end.reason == Errc::path_tolerance);
  CHECK(end.quantity == trajectory::Quantity::velocity);
  CHECK(end.value > 0.4);
  CHECK(end.limit == 0.4);
}

TEST_CASE("a goal without a path tolerance is left to the robot's following error") {
  for (const double tolerance : {0.0, 10.0}) {
    Bench bench;
    bench.make_ready();
    auto goal = bench.move(3, {1}, {0.5}, 1);
    goal->path_tolerance[0].position = tolerance;
    bench.cycle({goal.get()});
    bench.stuck.insert(1);
    const Event end = bench.run_until_end(3);
    CHECK(end.reason == Errc::following_error);
    CHECK(end.limit == 0.2);
    CHECK(bench.robot_cycle.state() != RobotState::ready);
  }
}

TEST_CASE("a goal settles for as long as it says, and succeeds as soon as it is within its own tolerance") {
  Bench bench;
  bench.make_ready();
  const auto stuck_for = [&](GoalId id, double goal_time, double tolerance, int cycles) {
    const double from = bench.snapshot.joints[1].reference.position;
    auto goal = bench.move(id, {1}, {from + 0.1}, 1);
    goal->goal_time = goal_time;
    goal->goal_tolerance[0].position = tolerance;
    bench.cycle({goal.get()});
    bench.stuck.insert(1);
    for (int i = 0; i < cycles; ++i) bench.cycle();
    bench.stuck.erase(1);
    return bench.run_until_end(id);
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(stuck_for(1, 0.2, 0.01, 220).state == GoalState::succeeded);  // 0.1 s late
  const Event late = stuck_for(2, 0.2, 0.01, 260);
  CHECK(late.state == GoalState::aborted);
  CHECK(late.reason == Errc::goal_tolerance);
  CHECK(late.limit == 0.01);
  CHECK(stuck_for(3, infinity, 0.01, 2000).state == GoalState::succeeded);
  CHECK(stuck_for(4, 0, 0.15, 1000).state == GoalState::succeeded);  // wider than the robot's
  CHECK(stuck_for(5, 0, 0, 1000).state == GoalState::succeeded);     // no limit
}

TEST_CASE("a goal has arrived when the drives answer its end, not before they were told of it") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0}, {0.1}, 1);
  goal->goal_tolerance[0] = {1e-12, 0, 0};
  goal->goal_time = 0;
  bench.cycle({goal.get()});
  CHECK(bench.run_until_end(1).state == GoalState::succeeded);
}
