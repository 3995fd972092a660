// The cycle while the robot starts: it takes hold of every drive where the joint stands, and names each
// drive that keeps the robot starting.
#include <doctest/doctest.h>

#include "motion/robot_cycle_bench.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

using Bench = test::CycleBench;

}  // namespace

TEST_CASE("the robot is ready when every drive has taken hold, and its reference is where the joints stand") {
  Bench bench;
  bench.feedback[1].position = 0.7;
  bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::starting);
  bench.make_ready();
  CHECK(bench.snapshot.joints[1].reference.position == 0.7);
  CHECK(bench.commands[1].position == 0.7);
}

TEST_CASE("a silent drive keeps the robot starting, and is named") {
  Bench bench;
  bench.silent.insert(1);
  bench.feedback[1].heard = false;
  for (int i = 0; i < 600; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::starting);
  CHECK(bench.snapshot.reason == Errc::drive_silent);
  CHECK(bench.snapshot.reason_joint == 1);
  CHECK(bench.snapshot.joints[1].feedback_age == -1);
}

TEST_CASE(
    "a drive is silent that left the requests of its time-out unanswered, however long the loop was away") {
  Bench bench;
  bench.make_ready();
  bench.silent.insert(1);
  for (int i = 0; i < 9; ++i) bench.cycle({}, 15);
  CHECK(bench.robot_cycle.state() == RobotState::ready);
  bench.cycle();
  CHECK(bench.snapshot.reason == Errc::drive_silent);
  CHECK(bench.snapshot.reason_joint == 1);
  CHECK(bench.snapshot.reason_value == doctest::Approx(0.05));
  CHECK(bench.snapshot.reason_limit == doctest::Approx(0.05));
}

TEST_CASE("a drive's fault word reaches the state of its joint, and of a robot that waits for it") {
  Bench bench;
  bench.faulty.insert(1);
  bench.cycle();
  CHECK(bench.snapshot.joints[1].fault == 7);
  CHECK(bench.snapshot.reason == Errc::drive_fault);
  CHECK(bench.snapshot.reason_value == 7);
}

TEST_CASE("a drive that does not switch on keeps the robot starting, and is named") {
  Bench bench;
  bench.off.insert(2);
  for (int i = 0; i < 600; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::starting);
  CHECK(bench.snapshot.reason == Errc::drive_off);
  CHECK(bench.snapshot.reason_joint == 2);
}

TEST_CASE("a drive that is on, but has not said where it stands, is not taken hold of") {
  Bench bench;
  bench.feedback[1].heard = false;
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::starting);
  bench.feedback[1].heard = true;
  bench.make_ready();
}

TEST_CASE("a drive that reported a fault before it fell silent is named for the fault") {
  Bench bench;
  bench.faulty.insert(1);
  bench.cycle();
  bench.silent.insert(1);
  for (int i = 0; i < 100; ++i) bench.cycle();
  CHECK(bench.snapshot.reason == Errc::drive_fault);
  CHECK(bench.snapshot.reason_joint == 1);
}

TEST_CASE("requests before the robot is ready are rejected") {
  Bench bench;
  auto goal = bench.move(1, {0}, {1}, 2);
  bench.cycle({goal.get()});
  REQUIRE(bench.events.size() == 1);
  CHECK(bench.events[0].state == GoalState::rejected);
  CHECK(bench.events[0].reason == Errc::robot_not_ready);
  CHECK(bench.events[0].retired == goal.get());
}

TEST_CASE("a drive that is faulty at the start is cleared by a reset") {
  Bench bench;
  bench.faulty.insert(1);
  for (int i = 0; i < 20; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::starting);
  CHECK(bench.snapshot.reason == Errc::drive_fault);
  auto reset = Bench::simple(RequestKind::reset);
  bench.cycle({reset.get()});
  CHECK(bench.events.back().state == GoalState::succeeded);
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::ready);
}

TEST_CASE("a joint that still coasts is not taken hold of before it stands") {
  Bench bench;
  for (int i = 0; i < 20; ++i) {
    bench.feedback[0].velocity = 1.0;
    bench.cycle();
  }
  CHECK(bench.robot_cycle.state() == RobotState::starting);
  bench.feedback[0].velocity = 0;
  for (int i = 0; i < 3; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::ready);
}

// ---- Positions that jump while a drive is away

namespace {

/// Joint b stands at 1 rad, is silent for a while, and comes back, off, at `position`.
void go_and_return(Bench& bench, double position) {
  bench.feedback[1].position = 1;
  bench.make_ready();
  bench.silent.insert(1);
  bench.feedback[1].drive = DriveState::off;
  for (int i = 0; i < 400; ++i) bench.cycle();
  REQUIRE(bench.robot_cycle.state() == RobotState::stopped);
  bench.silent.erase(1);
  bench.feedback[1].position = position;
  for (int i = 0; i < 10; ++i) bench.cycle();
  bench.events.clear();
}

Errc reset(Bench& bench, RequestKind kind = RequestKind::reset) {
  auto request = Bench::simple(kind);
  bench.events.clear();
  bench.cycle({request.get()});
  for (int i = 0; i < 10; ++i) bench.cycle();
  for (const Event& event : bench.events) {
    if (event.retired == request.get()) return event.reason;
  }
  FAIL("no answer");
  return {};
}

}  // namespace

TEST_CASE("a drive that comes back with another zero keeps its joint off until its position is accepted") {
  Bench bench;
  go_and_return(bench, 0);
  CHECK(reset(bench) == Errc::position_jumped);
  CHECK(bench.robot_cycle.state() == RobotState::stopped);
  CHECK_FALSE(bench.commands[1].want_power);

  CHECK(reset(bench, RequestKind::accept_positions) == Errc{});
  CHECK(bench.robot_cycle.state() == RobotState::ready);
  CHECK(bench.snapshot.joints[1].reference.position == 0);
}

TEST_CASE("a drive that comes back where it was needs no word") {
  Bench bench;
  go_and_return(bench, 0.85);  // it sank a little, by less than its following error
  CHECK(reset(bench) == Errc{});
  CHECK(bench.robot_cycle.state() == RobotState::ready);
}

TEST_CASE("a drive that comes back with another zero after the reset is not switched on, and is named") {
  Bench bench;
  bench.feedback[1].position = 1;
  bench.make_ready();
  bench.silent.insert(1);
  bench.feedback[1].drive = DriveState::off;
  for (int i = 0; i < 400; ++i) bench.cycle();
  CHECK(reset(bench) == Errc{});
  bench.silent.erase(1);
  bench.feedback[1].position = 0;
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.robot_cycle.state() == RobotState::starting);
  CHECK(bench.snapshot.reason == Errc::position_jumped);
  CHECK(bench.snapshot.reason_joint == 1);
  CHECK(bench.snapshot.reason_value == doctest::Approx(1));
  CHECK_FALSE(bench.commands[1].want_power);

  CHECK(reset(bench, RequestKind::accept_positions) == Errc{});
  CHECK(bench.robot_cycle.state() == RobotState::ready);
}

TEST_CASE("a drive that searches its home after its return needs no word") {
  Bench bench;
  go_and_return(bench, 1);
  bench.feedback[1].home = robot::HomeState::due;
  bench.feedback[1].position = 0;
  bench.cycle();
  bench.feedback[1].position = -1;  // its zero is where the search found the home
  bench.feedback[1].home = robot::HomeState::at_home;
  bench.cycle();
  CHECK(reset(bench) == Errc{});
  CHECK(bench.robot_cycle.state() == RobotState::ready);
}

TEST_CASE("a joint that is turned by hand while it is off, or while the loop is away, has not jumped") {
  Bench bench;
  bench.make_ready();
  auto stop = Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_0);
  bench.watch_limits = false;
  bench.cycle({stop.get()});
  for (int i = 0; i < 200; ++i) {
    bench.feedback[1].position += 0.02;  // 4 rad/s
    bench.cycle();
  }
  bench.feedback[1].position -= 1.5;
  bench.cycle({}, 200);
  bench.events.clear();
  CHECK(reset(bench) == Errc{});
  CHECK(bench.robot_cycle.state() == RobotState::ready);
}
