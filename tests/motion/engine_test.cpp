// The engine: goals, streams, tolerances, faults, stops and overruns, with drives that the test plays.
#include "takt/motion/engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "motion/engine_bench.hpp"
#include "support/random.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/through.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

using Bench = test::EngineBench;
using test::period;
using test::three_joints;

}  // namespace

TEST_CASE("the robot is ready when every drive has taken hold, and its reference is where the joints stand") {
  Bench bench;
  bench.feedback[1].position = 0.7;
  bench.cycle();
  CHECK(bench.engine.state() == RobotState::starting);
  bench.make_ready();
  CHECK(bench.snapshot.joints[1].reference.position == 0.7);
  CHECK(bench.commands[1].position == 0.7);
}

TEST_CASE("a silent drive keeps the robot starting, and is named") {
  Bench bench;
  bench.silent.insert(1);
  bench.feedback[1].heard = false;
  for (int i = 0; i < 600; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::starting);
  CHECK(bench.snapshot.reason == Errc::drive_silent);
  CHECK(bench.snapshot.reason_joint == 1);
}

TEST_CASE(
    "a drive is silent that left the requests of its time-out unanswered, however long the loop was away") {
  Bench bench;
  bench.make_ready();
  bench.silent.insert(1);
  for (int i = 0; i < 9; ++i) bench.cycle({}, 15);
  CHECK(bench.engine.state() == RobotState::ready);
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
  CHECK(bench.engine.state() == RobotState::starting);
  CHECK(bench.snapshot.reason == Errc::drive_off);
  CHECK(bench.snapshot.reason_joint == 2);
}

TEST_CASE("a drive that is on, but has not said where it stands, is not taken hold of") {
  Bench bench;
  bench.feedback[1].heard = false;
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::starting);
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

TEST_CASE("a trajectory moves in the very cycle in which it is submitted, and ends where it should") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(7, {0, 2}, {1.0, -0.5}, 2);
  bench.cycle({goal.get()});
  CHECK(bench.snapshot.joints[0].reference.position == goal->trajectory.at(to_seconds(period), 0).position);
  CHECK(bench.snapshot.joints[0].reference.position > 0);
  CHECK(bench.snapshot.joints[0].goal == 7);
  CHECK(bench.snapshot.joints[1].goal == 0);
  REQUIRE(bench.events.size() == 1);
  CHECK(bench.events[0].state == GoalState::active);
  CHECK(bench.events[0].first_reference == bench.now);

  const Event end = bench.run_until_end(7);
  CHECK(end.state == GoalState::succeeded);
  CHECK(end.retired == goal.get());
  CHECK(bench.snapshot.joints[0].reference.position == doctest::Approx(1.0));
  CHECK(bench.snapshot.joints[2].reference.position == doctest::Approx(-0.5));
  CHECK(bench.snapshot.joints[0].goal == 0);
}

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
  CHECK(bench.engine.state() == RobotState::ready);
  CHECK(bench.run_until_end(4).state == GoalState::succeeded);
  CHECK(bench.snapshot.joints[2].reference.velocity == 0);
  CHECK(bench.engine.state() == RobotState::ready);
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
    CHECK(bench.engine.state() != RobotState::ready);
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

TEST_CASE("a new goal takes moving joints over without a step, and the old one ends preempted") {
  Bench bench;
  bench.make_ready();
  auto first = bench.move(1, {0, 1}, {2.0, 2.0}, 3);
  bench.cycle({first.get()});
  for (int i = 0; i < 250; ++i) bench.cycle();
  auto second = bench.move(2, {0, 1}, {-1.0, 0.0}, 5);
  bench.cycle({second.get()});
  CHECK(bench.states_of(1) ==
        std::vector<GoalState>{GoalState::active, GoalState::preempting, GoalState::preempted});
  CHECK(bench.run_until_end(2).state == GoalState::succeeded);
  CHECK(bench.snapshot.joints[0].reference.position == doctest::Approx(-1.0));
}

TEST_CASE("a goal that spares others is refused while one of its joints is another's, or still stops") {
  Bench bench;
  bench.make_ready();
  auto first = bench.move(1, {1}, {1.0}, 2);
  auto polite = bench.move(2, {0, 1}, {0.1, 0.5}, 2);
  auto elsewhere = bench.move(3, {0}, {0.1}, 2);
  polite->spares_others = elsewhere->spares_others = true;
  bench.cycle({first.get()});
  bench.cycle({polite.get(), elsewhere.get()});
  REQUIRE(bench.states_of(2) == std::vector{GoalState::rejected});
  CHECK(bench.run_until_end(2).reason == Errc::joint_busy);
  CHECK(bench.run_until_end(2).joint == 1);
  CHECK(bench.states_of(3).front() == GoalState::active);
  CHECK(bench.run_until_end(1).state == GoalState::succeeded);

  auto second = bench.move(4, {1}, {-1.0}, 2);
  bench.cycle({second.get()});
  for (int i = 0; i < 100; ++i) bench.cycle();
  Request cancel;
  cancel.goal = 4;
  auto early = bench.move(5, {1}, {0.5}, 2);
  early->spares_others = true;
  bench.cycle({&cancel, early.get()});
  CHECK(bench.run_until_end(5).reason == Errc::joint_busy);
  CHECK(bench.run_until_end(4).state == GoalState::preempted);
  auto late = bench.move(6, {1}, {0.5}, 2);
  late->spares_others = true;
  bench.cycle({late.get()});
  CHECK(bench.run_until_end(6).state == GoalState::succeeded);
}

TEST_CASE("a trajectory that is to start where it stands is refused when its joint has left") {
  for (const bool starts_here : {false, true}) {
    Bench bench;
    bench.make_ready();
    auto first = bench.move(1, {0}, {1.0}, 2);
    auto second = bench.move(2, {0}, {0.5}, 4);  // from the joint's present position
    second->starts_here = starts_here;
    second->may_be_late = true;
    bench.cycle({first.get()});
    for (int i = 0; i < 150; ++i) bench.cycle();
    bench.cycle({second.get()});
    REQUIRE(bench.states_of(2).front() == (starts_here ? GoalState::rejected : GoalState::active));
    const Event end = bench.run_until_end(2);
    if (!starts_here) continue;
    CHECK(end.reason == Errc::start_mismatch);
    CHECK(end.joint == 0);
    CHECK(end.value > end.limit);
    CHECK(bench.run_until_end(1).state == GoalState::succeeded);  // unaffected
  }
}

TEST_CASE("joints that a new goal does not take come to a bounded stop") {
  Bench bench;
  bench.make_ready();
  auto first = bench.move(1, {0, 1}, {2.0, 2.0}, 3);
  bench.cycle({first.get()});
  for (int i = 0; i < 250; ++i) bench.cycle();
  auto second = bench.move(2, {0}, {2.5}, 5);
  bench.cycle({second.get()});
  CHECK(bench.snapshot.joints[0].goal == 2);
  CHECK(bench.snapshot.joints[1].goal == 1);
  const Event end = bench.run_until_end(1);
  CHECK(end.state == GoalState::preempted);
  CHECK(bench.snapshot.joints[1].reference.velocity == 0);
  CHECK(bench.snapshot.joints[1].reference.position < 2.0);
  CHECK(bench.run_until_end(2).state == GoalState::succeeded);
}

TEST_CASE(
    "a goal that cannot be joined to the present motion is rejected, and the old one goes on untouched") {
  Bench bench;
  Bench undisturbed;
  bench.make_ready();
  undisturbed.make_ready();
  auto first = bench.move(1, {0}, {2.0}, 2.5);
  auto same = undisturbed.move(1, {0}, {2.0}, 2.5);
  bench.cycle({first.get()});
  undisturbed.cycle({same.get()});
  auto hasty = bench.move(2, {0}, {-0.2}, 1.0);
  for (int i = 0; i < 250; ++i) {
    bench.cycle();
    undisturbed.cycle();
  }
  bench.cycle({hasty.get()});
  undisturbed.cycle();
  CHECK(bench.states_of(2) == std::vector<GoalState>{GoalState::rejected});
  CHECK(bench.events.back().reason != Errc{});
  CHECK(bench.events.back().joint == 0);
  while (undisturbed.states_of(1).size() < 2) {
    bench.cycle();
    undisturbed.cycle();
    CHECK(bench.snapshot.joints[0].reference == undisturbed.snapshot.joints[0].reference);
  }
  // With permission to take longer, the engine joins the same request.
  bench.events.clear();
  auto again = bench.move(3, {0}, {0.0}, 2.5);
  bench.cycle({again.get()});
  for (int i = 0; i < 200; ++i) bench.cycle();
  auto patient = bench.move(4, {0}, {1.9}, 1.0);
  patient->may_be_late = true;
  bench.cycle({patient.get()});
  CHECK(bench.run_until_end(4).state == GoalState::succeeded);
}

TEST_CASE("what cannot be joined is told with the joint of the robot, not of the request") {
  Bench bench;
  bench.make_ready();
  auto first = bench.move(1, {2}, {2.0}, 2.5);
  bench.cycle({first.get()});
  auto hasty = bench.move(2, {1, 2}, {0.0, -0.2}, 1.0);
  for (int i = 0; i < 250; ++i) bench.cycle();
  bench.cycle({hasty.get()});
  CHECK(bench.events.back().state == GoalState::rejected);
  CHECK(bench.events.back().joint == 2);
}

TEST_CASE("cancel brings a goal to a bounded stop and then ends it") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0}, {2.0}, 2.5);
  bench.cycle({goal.get()});
  for (int i = 0; i < 200; ++i) bench.cycle();
  auto cancel = Bench::simple(RequestKind::cancel, 1);
  bench.cycle({cancel.get()});
  CHECK(std::abs(bench.snapshot.joints[0].reference.velocity) > 0.5);
  CHECK(bench.run_until_end(1).state == GoalState::preempted);
  CHECK(bench.snapshot.joints[0].reference.velocity == 0);
  CHECK(bench.snapshot.joints[0].command == bench.snapshot.joints[0].reference.position);

  auto nothing = Bench::simple(RequestKind::cancel, 99);
  bench.cycle({nothing.get()});
  CHECK(bench.events.back().state == GoalState::rejected);
  CHECK(bench.events.back().reason == Errc::unknown_goal);
}

TEST_CASE("a goal that was cancelled before the robot had to stop ends preempted all the same") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0}, {2.0}, 2.5);
  bench.cycle({goal.get()});
  for (int i = 0; i < 200; ++i) bench.cycle();
  auto cancel = Bench::simple(RequestKind::cancel, 1);
  bench.cycle({cancel.get()});
  bench.faulty.insert(1);
  CHECK(bench.run_until_end(1).state == GoalState::preempted);
  CHECK(bench.engine.state() == RobotState::stopping);
}

TEST_CASE("a stream is followed, and brought to a bounded stop when it dries up") {
  Bench bench;
  bench.make_ready();
  std::vector<std::unique_ptr<Request>> requests;
  double time = 0;
  for (int i = 0; i < 100; ++i) {
    time += to_seconds(period);
    requests.push_back(bench.stream(5, 0, 1 - std::cos(time), std::sin(time), std::chrono::milliseconds(50)));
    bench.cycle({requests.back().get()});
    CHECK(bench.snapshot.joints[0].reference.position == doctest::Approx(1 - std::cos(time)).epsilon(0.02));
    CHECK(bench.events.back().state == GoalState::active);
    CHECK(bench.events.back().first_reference == bench.now);
  }
  const Event end = bench.run_until_end(5);
  CHECK(end.state == GoalState::aborted);
  CHECK(end.reason == Errc::setpoint_timeout);
  CHECK(end.retired == requests.front().get());
  for (int i = 0; i < 200; ++i) bench.cycle();
  CHECK(bench.snapshot.joints[0].reference.velocity == 0);
}

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
    CHECK(bench.engine.state() == RobotState::stopped);
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
    CHECK(bench.engine.state() == RobotState::ready);
    CHECK(bench.snapshot.reason == Errc{});
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(bench.commands[i].position == doctest::Approx(bench.feedback[i].position));
    }
  }
}

TEST_CASE("a loop that misses as many periods as it may delays the motion, and nothing else") {
  Bench late;
  Bench punctual;
  late.make_ready();
  punctual.make_ready();
  auto goal = late.move(1, {0}, {2.0}, 2.5);
  auto same = punctual.move(1, {0}, {2.0}, 2.5);
  late.cycle({goal.get()});
  punctual.cycle({same.get()});
  for (int i = 0; late.states_of(1).size() < 2; ++i) {
    late.cycle({}, i % 50 == 0 ? late.robot.overrun_limit : 0);
    punctual.cycle();
    REQUIRE(late.snapshot.joints[0].reference == punctual.snapshot.joints[0].reference);
  }
  CHECK(late.states_of(1).back() == GoalState::succeeded);
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
  CHECK(bench.engine.state() == RobotState::stopping);
  CHECK(bench.snapshot.joints[0].reference.velocity > 0.5);  // a bounded stop without a jump
  for (int i = 0; i < 200; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::stopped);
  CHECK(bench.snapshot.reason == Errc::loop_overrun);
  CHECK(bench.commands[0].want_power);
  CHECK_FALSE(bench.commands[2].want_power);  // its safe behaviour is release

  auto reset = Bench::simple(RequestKind::reset);
  bench.cycle({reset.get()});
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::ready);
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
  CHECK(bench.engine.state() == RobotState::stopped);
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
  CHECK(bench.engine.state() == RobotState::stopped);
  bench.engine.shut_down();
  for (int i = 0; i < 300; ++i) bench.cycle();
  REQUIRE(bench.engine.state() == RobotState::down);
  bench.cycle({}, 100);
  CHECK(bench.engine.state() == RobotState::down);
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
    CHECK(bench.engine.state() == (at_once ? RobotState::stopped : RobotState::stopping));
    CHECK(bench.run_until_end(1).reason == Errc::emergency_stop);
    for (int i = 0; i < 400; ++i) bench.cycle();
    CHECK(bench.engine.state() == RobotState::stopped);
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
  CHECK(bench.engine.state() == RobotState::stopped);
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
  CHECK(bench.engine.state() == RobotState::stopped);
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
}

TEST_CASE("shut down: a bounded stop, power off, and then the robot is down") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0}, {2.0}, 2.5);
  bench.cycle({goal.get()});
  for (int i = 0; i < 200; ++i) bench.cycle();
  bench.engine.shut_down();
  bench.cycle();
  CHECK(bench.commands[0].want_power);
  CHECK(bench.run_until_end(1).reason == Errc::shutting_down);
  for (int i = 0; i < 400 && bench.engine.state() != RobotState::down; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::down);
  CHECK_FALSE(bench.commands[0].want_power);
}

TEST_CASE(
    "every drive that fails is caught, not only the first, also while the robot stops and when it stands") {
  Bench bench;
  bench.make_ready();
  bench.silent.insert(0);
  bench.silent.insert(1);
  for (int i = 0; i < 50; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::stopped);
  CHECK_FALSE(bench.commands[0].want_power);
  CHECK_FALSE(bench.commands[1].want_power);

  Bench standing;
  standing.make_ready();
  auto stop = Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_2);
  standing.cycle({stop.get()});
  for (int i = 0; i < 10; ++i) standing.cycle();
  REQUIRE(standing.engine.state() == RobotState::stopped);
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
    REQUIRE(bench.engine.state() == RobotState::ready);
  }
  CHECK(bench.snapshot.joints[0].reference.position == reference);
}

TEST_CASE("a drive that is faulty at the start is cleared by a reset") {
  Bench bench;
  bench.faulty.insert(1);
  for (int i = 0; i < 20; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::starting);
  CHECK(bench.snapshot.reason == Errc::drive_fault);
  auto reset = Bench::simple(RequestKind::reset);
  bench.cycle({reset.get()});
  CHECK(bench.events.back().state == GoalState::succeeded);
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::ready);
}

TEST_CASE("a joint that still coasts is not taken hold of before it stands") {
  Bench bench;
  for (int i = 0; i < 20; ++i) {
    bench.feedback[0].velocity = 1.0;
    bench.cycle();
  }
  CHECK(bench.engine.state() == RobotState::starting);
  bench.feedback[0].velocity = 0;
  for (int i = 0; i < 3; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::ready);
}

TEST_CASE(
    "a stream that dries up near the end of the range brakes within the acceleration limit and stays "
    "inside") {
  struct Case {
    double end, jerk;
  };
  for (const auto& [end, jerk] :
       {Case{1, 500}, Case{1, 100}, Case{1, 20}, Case{-1, 500}, Case{-1, 100}, Case{-1, 20}}) {
    robot::RobotDescription robot = three_joints();
    robot.joints[0].limits = {-1, 1, 3.14, 8, jerk, 100};
    Bench bench(robot);
    bench.watch_limits = false;
    bench.make_ready();
    auto first = bench.stream(1, 0, end, 0, std::chrono::milliseconds(350));
    bench.cycle({first.get()});
    double before = bench.snapshot.joints[0].reference.velocity;
    for (int i = 0; i < 400; ++i) {
      bench.cycle();
      const MotionState& reference = bench.snapshot.joints[0].reference;
      CHECK(std::abs(reference.velocity - before) <= 8 * to_seconds(period) * 1.001);
      CHECK(end * reference.position <= 1 + 1e-3);
      before = reference.velocity;
    }
    CHECK(before == 0);
  }
}

TEST_CASE("a joint belongs to its goal until it has come to rest, also where it has to brake hard") {
  robot::RobotDescription robot = three_joints();
  robot.joints[0].limits = {-1, 1, 3.14, 8, 20, 100};
  Bench bench(robot);
  bench.make_ready();
  auto first = bench.stream(1, 0, 1, 0, std::chrono::seconds(1));
  bench.cycle({first.get()});
  for (int i = 0; i < 100; ++i) bench.cycle();
  auto cancel = Bench::simple(RequestKind::cancel, 1);
  bench.cycle({cancel.get()});
  REQUIRE(bench.snapshot.joints[0].reference.velocity > 0);
  while (bench.snapshot.joints[0].reference.velocity > 0) {
    CHECK(bench.snapshot.joints[0].goal == 1);
    bench.cycle();
  }
  CHECK(bench.snapshot.joints[0].reference.position <= 1 + 1e-3);
  CHECK(bench.snapshot.joints[0].goal == 0);
}

TEST_CASE("a drive at fault is as good as off when the robot goes down") {
  Bench bench;
  bench.make_ready();
  bench.faulty.insert(0);
  bench.engine.shut_down();
  for (int i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.engine.state() == RobotState::down);
}

TEST_CASE("emergency stops again and again do not keep a robot from going down") {
  Bench bench;
  bench.make_ready();
  bench.live.insert(0);  // the engine waits at most one second for a drive that stays on
  bench.engine.shut_down();
  std::vector<std::unique_ptr<Request>> stops;
  int cycles = 0;
  for (; cycles < 2000 && bench.engine.state() != RobotState::down; ++cycles) {
    stops.push_back(Bench::simple(RequestKind::emergency_stop));
    bench.cycle({stops.back().get()});
  }
  CHECK(cycles < 400);
}

TEST_CASE("a trajectory of dense waypoints is joined at a later one when the joint moves") {
  Bench bench;
  bench.make_ready();
  auto first = bench.move(1, {0}, {2.0}, 3);
  bench.cycle({first.get()});
  for (int i = 0; i < 200; ++i) bench.cycle();
  // It starts where the joint was three periods ago, with 20 ms between waypoints. No motion within the
  // limits reaches the first one.
  const MotionState then = bench.snapshot.joints[0].reference;
  auto dense = bench.move(2, {0}, {2.0}, 3);
  std::vector<double> times;
  std::vector<double> positions;
  const auto whole = trajectory::Quintic::between(then, {2.2, 0, 0}, 2.5);
  for (int k = 0; k <= 125; ++k) {
    times.push_back(0.02 * k);
    positions.push_back(whole.position(0.02 * k));
  }
  const std::vector<double> velocities = [&] {
    std::vector<double> at;
    for (const double t : times) at.push_back(whole.velocity(t));
    return at;
  }();
  const trajectory::Waypoints waypoints{1, times, positions, velocities, {}};
  dense->trajectory = *trajectory::through(waypoints, trajectory::Through::smooth);
  for (int i = 0; i < 2; ++i) bench.cycle();
  bench.cycle({dense.get()});
  CHECK(bench.run_until_end(2).state == GoalState::succeeded);
  CHECK(bench.snapshot.joints[0].reference.position == doctest::Approx(2.2));
}

TEST_CASE("events that nobody takes are kept, and meanwhile no request is accepted") {
  Bench bench;
  bench.make_ready();
  auto goal = bench.move(1, {0}, {1.0}, 2);
  bench.sink_open = false;
  bench.cycle({goal.get()});
  const Time written = bench.now;
  for (int i = 0; i < 600; ++i) {
    bench.cycle();
    CHECK_FALSE(bench.engine.accepts_requests());
  }
  bench.sink_open = true;
  bench.cycle();
  REQUIRE(bench.states_of(1) == std::vector<GoalState>{GoalState::active, GoalState::succeeded});
  CHECK(bench.events[0].first_reference == written);
  bench.cycle();
  CHECK(bench.engine.accepts_requests());
}

TEST_CASE("a storm of random requests breaks no limit, and every request comes back exactly once") {
  auto random = test::generator();
  for (std::size_t run = 0; run < test::count(30); ++run) {
    Bench bench;
    bench.make_ready();
    std::vector<std::unique_ptr<Request>> requests;
    std::map<GoalId, GoalState> states;
    GoalId next_goal = 1;
    for (int i = 0; i < 1500; ++i) {
      std::vector<Request*> now;
      if (test::uniform_int(random, 0, 12) == 0) {
        std::unique_ptr<Request> request;
        const auto joint = static_cast<std::size_t>(test::uniform_int(random, 0, 2));
        switch (test::uniform_int(random, 0, 7)) {
          case 0:
            request =
                Bench::simple(RequestKind::cancel, static_cast<GoalId>(test::uniform_int(random, 0, 20)));
            break;
          case 1:
            request = test::uniform_int(random, 0, 4) == 0
                          ? Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_2)
                          : Bench::simple(RequestKind::reset);
            break;
          case 2:
            request = bench.stream(next_goal++, joint, test::uniform(random, -3, 3), 0,
                                   std::chrono::milliseconds(100));
            break;
          case 3:
            request = bench.move(
                next_goal++, {0, 1, 2},
                {test::uniform(random, -2, 2), test::uniform(random, -2, 2), test::uniform(random, -2, 2)},
                4.5);
            break;
          default:
            request = bench.move(next_goal++, {joint}, {test::uniform(random, -2, 2)},
                                 test::uniform(random, 3.8, 5));
            break;
        }
        request->may_be_late = test::uniform_int(random, 0, 1) == 0;
        now.push_back(request.get());
        requests.push_back(std::move(request));
      }
      bench.cycle(now);
      if (test::uniform_int(random, 0, 60) == 0 && bench.engine.state() == RobotState::stopped) {
        requests.push_back(Bench::simple(RequestKind::reset));
        bench.cycle({requests.back().get()});
      }
    }
    bench.engine.shut_down();
    for (int i = 0; i < 1000 && bench.engine.state() != RobotState::down; ++i) bench.cycle();
    CHECK(bench.engine.state() == RobotState::down);
    std::map<const Request*, int> returned;
    for (const Event& event : bench.events) {
      if (event.retired != nullptr) ++returned[event.retired];
    }
    for (const auto& request : requests) CHECK(returned[request.get()] == 1);
  }
}
