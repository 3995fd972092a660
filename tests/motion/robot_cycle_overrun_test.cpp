// A loop that misses periods goes on with the motion from where the drives are. When it misses more than the
// overrun limit, the cycle stops the robot.
#include <doctest/doctest.h>

#include "motion/robot_cycle_bench.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

using Bench = test::CycleBench;
using test::period;
using test::three_joints;

}  // namespace

TEST_CASE("a loop that misses as many periods as it may goes on where its drives stand, on the path") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0, 1}, {2.0, 1.0}, 2.5);
  bench.cycle({goal.get()});
  for (int i = 0; bench.states_of(1).size() < 2; ++i) {
    const double before = bench.snapshot.joints[0].reference.position;
    const bool pauses = i % 150 == 100;
    bench.cycle({}, pauses ? bench.robot.overrun_limit : 0);
    const MotionState& reference = bench.snapshot.joints[0].reference;
    REQUIRE(bench.snapshot.joints[1].reference.position ==
            doctest::Approx(reference.position / 2).epsilon(1e-9));
    if (!pauses) continue;
    CHECK(reference.position == before);  // the drives hold this
    bench.cycle();
    CHECK(bench.snapshot.joints[0].reference.position == doctest::Approx(before).epsilon(1e-4));
    CHECK(std::abs(bench.snapshot.joints[0].reference.velocity) < 0.01);  // and goes on from rest
  }
  CHECK(bench.states_of(1).back() == GoalState::succeeded);
  CHECK(bench.snapshot.joints[0].reference.position == 2.0);
}

TEST_CASE(
    "a loop that misses more periods than it may stops the robot within its limits, and latches until "
    "reset") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0, 1}, {2.0, 2.0}, 2.5);
  bench.cycle({goal.get()});
  for (int i = 0; i < 200; ++i) bench.cycle();
  bench.cycle({}, bench.robot.overrun_limit + 1);
  const Event end = bench.run_until_end(1);
  CHECK(end.state == GoalState::aborted);
  CHECK(end.reason == Errc::loop_overrun);
  CHECK(end.value == 21);
  CHECK(end.limit == 20);
  CHECK(bench.robot_cycle.state() == RobotState::stopping);
  CHECK(bench.snapshot.joints[0].reference.velocity > 0.5);  // a bounded stop without a jump
  for (int i = 0; i < 200; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::stopped);
  CHECK(bench.snapshot.reason == Errc::loop_overrun);
  CHECK(bench.commands[0].want_power);
  CHECK_FALSE(bench.commands[2].want_power);  // its safe behaviour is release

  auto reset = Bench::simple(RequestKind::reset);
  bench.cycle({reset.get()});
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::ready);
}

TEST_CASE("an overrun limit of zero stops the robot when any period is missed") {
  robot::RobotDescription robot = three_joints();
  robot.overrun_limit = 0;
  Bench bench(robot);
  bench.make_ready();
  bench.cycle({}, 1);
  CHECK(bench.snapshot.reason == Errc::loop_overrun);
}

TEST_CASE("drives that lost their reference while the loop was away are not taken for the cause") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0}, {2.0}, 2.5);
  bench.cycle({goal.get()});
  bench.faulty = JointSet::first(3);
  bench.cycle({}, 100);
  CHECK(bench.run_until_end(1).reason == Errc::loop_overrun);
  CHECK(bench.snapshot.reason == Errc::loop_overrun);
  CHECK_FALSE(bench.commands[0].want_power);
}

TEST_CASE("a loop that is late while the robot starts stops it, too: drives may have lost their reference") {
  Bench bench;
  bench.cycle();
  bench.cycle({}, 100);
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::stopped);
  CHECK(bench.snapshot.reason == Errc::loop_overrun);
  auto reset = Bench::simple(RequestKind::reset);
  bench.cycle({reset.get()});
  bench.make_ready();
}

TEST_CASE("a loop that is late while the robot is stopped or down changes nothing") {
  Bench bench;
  bench.make_ready();
  bench.live.insert(0);
  auto stop = Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_2);
  bench.cycle({stop.get()});
  bench.cycle({}, 100);
  CHECK(bench.robot_cycle.state() == RobotState::stopped);
  bench.robot_cycle.shut_down();
  for (int i = 0; i < 300; ++i) bench.cycle();
  REQUIRE(bench.robot_cycle.state() == RobotState::down);
  bench.cycle({}, 100);
  CHECK(bench.robot_cycle.state() == RobotState::down);
}
