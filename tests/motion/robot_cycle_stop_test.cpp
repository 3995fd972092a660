// The cycle stops the whole robot: on a drive fault, an emergency stop or a shutdown. The first reason stays
// until a reset.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "motion/robot_cycle_bench.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

using Bench = test::CycleBench;

}  // namespace

TEST_CASE("whatever is wrong with a drive stops the robot, says so, and latches until reset") {
  struct Case {
    Errc expected;
    JointSet Bench::*mishap;
  };
  for (const Case& c : {Case{Errc::drive_silent, &Bench::silent}, Case{Errc::drive_silent, &Bench::mute},
                        Case{Errc::drive_fault, &Bench::faulty}, Case{Errc::drive_off, &Bench::off},
                        Case{Errc::following_error, &Bench::stuck}}) {
    CAPTURE(reason_name(c.expected));
    Bench bench;
    bench.make_ready();
    auto goal = bench.move(1, {0, 1}, {2.0, 2.0}, 2.5);
    bench.cycle({goal.get()});
    for (int i = 0; i < 150; ++i) bench.cycle();
    (bench.*c.mishap).insert(1);
    const Event end = bench.run_until_end(1);
    CHECK(end.state == GoalState::aborted);
    CHECK(end.reason == c.expected);
    CHECK(end.joint == 1);
    for (int i = 0; i < 400; ++i) bench.cycle();
    CHECK(bench.robot_cycle.state() == RobotState::stopped);
    CHECK(bench.snapshot.reason == c.expected);
    CHECK(bench.snapshot.joints[0].reference.velocity == 0);
    // A joint that cannot follow is not pushed further.
    if (c.expected == Errc::following_error) CHECK(bench.commands[1].position == bench.feedback[1].position);
    CHECK(bench.commands[0].want_power);
    CHECK_FALSE(bench.commands[2].want_power);  // its safe behaviour is release
    CHECK(bench.commands[1].want_power == (c.expected == Errc::following_error));

    auto refused = bench.move(2, {0}, {0}, 3);
    bench.cycle({refused.get()});
    CHECK(bench.events.back().reason == Errc::robot_not_ready);

    for (JointSet Bench::*mishap : {&Bench::silent, &Bench::mute, &Bench::off, &Bench::stuck})
      bench.*mishap = {};
    auto reset = Bench::simple(RequestKind::reset);
    bench.cycle({reset.get()});
    CHECK(bench.events.back().state == GoalState::succeeded);
    for (int i = 0; i < 10; ++i) bench.cycle();
    CHECK(bench.robot_cycle.state() == RobotState::ready);
    CHECK(bench.snapshot.reason == Errc{});
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(bench.commands[i].position == doctest::Approx(bench.feedback[i].position));
    }
  }
}

TEST_CASE("emergency stop: category 0 cuts power at once, 1 after the stop, 2 not at all") {
  for (const auto category : {StopCategory::category_0, StopCategory::category_1, StopCategory::category_2}) {
    Bench bench;
    bench.make_ready();
    auto goal = bench.move(1, {0}, {2.0}, 2.5);
    bench.cycle({goal.get()});
    for (int i = 0; i < 200; ++i) bench.cycle();
    auto stop = Bench::simple(RequestKind::emergency_stop, 0, category);
    bench.cycle({stop.get()});
    CHECK(bench.commands[0].want_power == (category != StopCategory::category_0));
    const bool at_once = category == StopCategory::category_0;
    CHECK(bench.robot_cycle.state() == (at_once ? RobotState::stopped : RobotState::stopping));
    CHECK(bench.run_until_end(1).reason == Errc::emergency_stop);
    for (int i = 0; i < 400; ++i) bench.cycle();
    CHECK(bench.robot_cycle.state() == RobotState::stopped);
    CHECK(bench.snapshot.reason == Errc::emergency_stop);
    CHECK(bench.commands[0].want_power == (category == StopCategory::category_2));
  }
}

TEST_CASE(
    "an emergency stop before a drive has taken hold never lets it take hold at a position that nobody "
    "measured") {
  Bench bench;
  bench.silent.insert(1);
  bench.feedback[1].heard = false;
  for (int i = 0; i < 5; ++i) bench.cycle();
  auto stop = Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_2);
  bench.cycle({stop.get()});
  CHECK_FALSE(bench.commands[1].want_power);
  bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::stopped);
  CHECK_FALSE(bench.commands[1].want_power);
  CHECK(bench.commands[0].want_power);
}

TEST_CASE("a milder emergency stop does not take back the power-off of the one before it") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0}, {2.0}, 2.5);
  bench.cycle({goal.get()});
  for (int i = 0; i < 200; ++i) bench.cycle();
  auto stop = Bench::simple(RequestKind::emergency_stop);
  auto milder = Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_2);
  bench.cycle({stop.get()});
  bench.cycle({milder.get()});
  for (int i = 0; i < 400; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::stopped);
  CHECK_FALSE(bench.commands[0].want_power);
}

TEST_CASE("what stopped the robot stays its reason, whatever comes after it") {
  Bench bench;
  bench.make_ready();
  bench.silent.insert(1);
  for (int i = 0; i < 50; ++i) bench.cycle();
  auto stop = Bench::simple(RequestKind::emergency_stop);
  bench.cycle({stop.get()});
  CHECK(bench.snapshot.reason == Errc::drive_silent);
  CHECK(bench.snapshot.joints[0].feedback_age <= to_seconds(bench.robot.period));
  CHECK(bench.snapshot.joints[1].feedback_age == doctest::Approx(51 * to_seconds(bench.robot.period)));
}

TEST_CASE("shut down: a bounded stop, power off, and then the robot is down") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0}, {2.0}, 2.5);
  bench.cycle({goal.get()});
  for (int i = 0; i < 200; ++i) bench.cycle();
  bench.robot_cycle.shut_down();
  bench.cycle();
  CHECK(bench.commands[0].want_power);
  CHECK(bench.run_until_end(1).reason == Errc::shutting_down);
  for (int i = 0; i < 400 && bench.robot_cycle.state() != RobotState::down; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::down);
  CHECK_FALSE(bench.commands[0].want_power);
}

TEST_CASE(
    "every drive that fails is caught, not only the first, also while the robot stops and when it stands") {
  Bench bench;
  bench.make_ready();
  bench.silent.insert(0);
  bench.silent.insert(1);
  for (int i = 0; i < 50; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::stopped);
  CHECK_FALSE(bench.commands[0].want_power);
  CHECK_FALSE(bench.commands[1].want_power);

  Bench standing;
  standing.make_ready();
  auto stop = Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_2);
  standing.cycle({stop.get()});
  for (int i = 0; i < 10; ++i) standing.cycle();
  REQUIRE(standing.robot_cycle.state() == RobotState::stopped);
  CHECK(standing.commands[0].want_power);
  standing.faulty.insert(0);
  standing.stuck.insert(1);
  standing.feedback[1].position += 0.5;
  standing.cycle();
  CHECK_FALSE(standing.commands[0].want_power);
  CHECK_FALSE(standing.commands[1].want_power);
}

TEST_CASE(
    "a reset lets drives that held their joints go on holding them: the reference does not creep after the "
    "sag") {
  Bench bench;
  bench.make_ready();
  const double reference = bench.snapshot.joints[0].reference.position;
  for (int round = 0; round < 10; ++round) {
    auto stop = Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_2);
    bench.cycle({stop.get()});
    bench.stuck.insert(0);
    bench.feedback[0].position = reference - 0.1;  // it sags within its following error
    for (int i = 0; i < 5; ++i) bench.cycle();
    auto reset = Bench::simple(RequestKind::reset);
    bench.cycle({reset.get()});
    for (int i = 0; i < 5; ++i) bench.cycle();
    REQUIRE(bench.robot_cycle.state() == RobotState::ready);
  }
  CHECK(bench.snapshot.joints[0].reference.position == reference);
}

TEST_CASE("a drive at fault is as good as off when the robot goes down") {
  Bench bench;
  bench.make_ready();
  bench.faulty.insert(0);
  bench.robot_cycle.shut_down();
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::down);
}

TEST_CASE("emergency stops again and again do not keep a robot from going down") {
  Bench bench;
  bench.make_ready();
  bench.live.insert(0);  // the cycle waits at most one second for a drive that stays on
  bench.robot_cycle.shut_down();
  std::vector<std::unique_ptr<Request>> stops;
  int cycles = 0;
  for (; cycles < 2000 && bench.robot_cycle.state() != RobotState::down; ++cycles) {
    stops.push_back(Bench::simple(RequestKind::emergency_stop));
    bench.cycle({stops.back().get()});
  }
  CHECK(cycles < 400);
}
