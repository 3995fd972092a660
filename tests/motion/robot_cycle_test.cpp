// The cycle runs goals and streams: each joins the present motion, and what ends early comes to a bounded
// stop. Random requests break no limit.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "motion/robot_cycle_bench.hpp"
#include "support/random.hpp"
#include "takt/trajectory/through.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

using Bench = test::CycleBench;
using test::period;
using test::three_joints;

}  // namespace

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
  // With permission to take longer, the cycle joins the same request.
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
  CHECK(bench.robot_cycle.state() == RobotState::stopping);
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
    CHECK_FALSE(bench.robot_cycle.accepts_requests());
  }
  bench.sink_open = true;
  bench.cycle();
  REQUIRE(bench.states_of(1) == std::vector<GoalState>{GoalState::active, GoalState::succeeded});
  CHECK(bench.events[0].first_reference == written);
  bench.cycle();
  CHECK(bench.robot_cycle.accepts_requests());
}

TEST_CASE("a storm of random requests breaks no limit, and every request comes back exactly once") {
  auto random = test::generator();
  for (std::size_t run = 0; run < test::count(30); ++run) {
    CAPTURE(run);
    Bench bench;
    bench.make_ready();
    std::vector<std::unique_ptr<Request>> requests;
    std::map<GoalId, GoalState> states;
    GoalId next_goal = 1;
    for (int i = 0; i < 1500; ++i) {
      CAPTURE(i);
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
      if (test::uniform_int(random, 0, 60) == 0 && bench.robot_cycle.state() == RobotState::stopped) {
        requests.push_back(Bench::simple(RequestKind::reset));
        bench.cycle({requests.back().get()});
      }
    }
    bench.robot_cycle.shut_down();
    for (int i = 0; i < 1000 && bench.robot_cycle.state() != RobotState::down; ++i) bench.cycle();
    CHECK(bench.robot_cycle.state() == RobotState::down);
    std::map<const Request*, int> returned;
    for (const Event& event : bench.events) {
      if (event.retired != nullptr) ++returned[event.retired];
    }
    for (const auto& request : requests) CHECK(returned[request.get()] == 1);
  }
}
