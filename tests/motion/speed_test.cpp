// The speed of goals along their paths, and stops on their paths.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "motion/robot_cycle_bench.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::motion;
using Bench = test::CycleBench;
using test::period;

namespace {

std::unique_ptr<Request> speed(GoalId goal, double scale) {
  auto request = Bench::simple(RequestKind::speed, goal);
  request->speed = scale;
  return request;
}

std::unique_ptr<Request> cancel_on_path(GoalId goal) {
  auto request = Bench::simple(RequestKind::cancel, goal);
  request->on_path = true;
  return request;
}

/// Two joints on one line: a at p, b at -2 p.
double off_path(const Bench& bench) {
  const auto& joints = bench.snapshot.joints;
  return std::abs(2 * joints[0].reference.position + joints[1].reference.position);
}

const MotionState& reference(const Bench& bench, std::size_t joint = 0) {
  return bench.snapshot.joints[joint].reference;
}

bool rests(const Bench& bench) {
  return reference(bench, 0).velocity == 0 && reference(bench, 1).velocity == 0 &&
         reference(bench, 0).acceleration == 0 && reference(bench, 1).acceleration == 0;
}

/// A bench with joints a and b in motion, along a path that touches the limits.
struct Moving {
  Bench bench;
  std::unique_ptr<Request> move;

  explicit Moving(int cycles = 60) {
    bench.make_ready();
    move = bench.fastest_move(1, {0, 1}, {1.2, -2.4});
    bench.cycle({move.get()});
    for (int i = 0; i < cycles; ++i) bench.cycle();
    bench.events.clear();
  }

  /// One cycle. Checks that the joints stay on their path and within their jerk limits.
  void cycle(std::vector<Request*> requests = {}) {
    const std::vector<MotionState> before{reference(bench, 0), reference(bench, 1)};
    bench.cycle(std::move(requests));
    for (std::size_t j = 0; j < 2; ++j) {
      const JointLimits& limits = bench.robot.joints[j].limits;
      CHECK(std::abs(reference(bench, j).acceleration) <= limits.acceleration * 1.001);
      CHECK(std::abs(reference(bench, j).acceleration - before[j].acceleration) <=
            limits.jerk * to_seconds(period) * 1.001);
    }
    CHECK(off_path(bench) < 1e-12);
  }

  [[nodiscard]] GoalState answer(const Request& request) const {
    for (const Event& event : bench.events) {
      if (event.retired == &request) return event.state;
    }
    return GoalState::pending;
  }
};

}  // namespace

TEST_CASE("a goal that nobody slows down moves as if there were no speeds") {
  Moving moving(0);
  trajectory::Cursor cursor;
  std::vector<double> p(2), v(2), a(2);
  for (int i = 2; i < 100; ++i) {
    moving.bench.cycle();
    const double elapsed = to_seconds(period * i);
    moving.move->trajectory.sample(elapsed, cursor, p, v, a);
    CHECK(reference(moving.bench) == MotionState{p[0], v[0], a[0]});
    CHECK(moving.bench.snapshot.joints[0].goal_time == elapsed);
    CHECK(moving.bench.snapshot.joints[0].speed == 1);
  }
}

TEST_CASE("a paused goal stands on its path, keeps its joints, and goes on to the same end") {
  Moving moving;
  auto pause = speed(1, 0);
  moving.cycle({pause.get()});
  CHECK(moving.answer(*pause) == GoalState::succeeded);
  for (int i = 0; i < 300; ++i) moving.cycle();
  CHECK(rests(moving.bench));
  CHECK(moving.bench.snapshot.joints[0].speed == 0);
  CHECK(moving.bench.snapshot.joints[0].goal == 1);
  CHECK(moving.bench.states_of(1) == std::vector{GoalState::succeeded});  // the pause causes no event
  const double stands = reference(moving.bench).position;
  CHECK(stands > 0.01);
  CHECK(stands < 1.19);
  for (int i = 0; i < 100; ++i) moving.cycle();
  CHECK(reference(moving.bench).position == stands);

  auto go_on = speed(0, 1);
  moving.cycle({go_on.get()});
  for (int i = 0; i < 600 && moving.bench.states_of(1).back() != GoalState::succeeded; ++i) moving.cycle();
  const Event end = moving.bench.run_until_end(1);
  CHECK(end.state == GoalState::succeeded);
  CHECK(reference(moving.bench, 0).position == 1.2);
  CHECK(reference(moving.bench, 1).position == -2.4);
}

TEST_CASE("at half the speed it takes twice as long") {
  Moving moving;
  const double before = moving.bench.snapshot.joints[0].goal_time;
  auto slower = speed(1, 0.5);
  moving.cycle({slower.get()});
  for (int i = 0; i < 50; ++i) moving.cycle();
  CHECK(moving.bench.snapshot.joints[0].speed == 0.5);
  const double later = moving.bench.snapshot.joints[0].goal_time;
  CHECK(later > before);
  moving.cycle();
  CHECK(moving.bench.snapshot.joints[0].goal_time == doctest::Approx(later + to_seconds(period) / 2));
  CHECK(moving.bench.run_until_end(1).state == GoalState::succeeded);
}

TEST_CASE("a change of speed that has to exceed limits says by how much, while it moves and when it ends") {
  Moving moving;
  auto slower = speed(1, 0.2);
  moving.cycle({slower.get()});
  for (int i = 0; i < 5; ++i) moving.cycle();
  CHECK(moving.bench.snapshot.joints[0].speed_excess == 0);
  for (JointLimits& limits : moving.move->limits) limits.acceleration /= 10;
  moving.bench.cycle();
  const double excess = moving.bench.snapshot.joints[0].speed_excess;
  CHECK(excess > 0);
  CHECK(excess < 10);
  const Event end = moving.bench.run_until_end(1);
  CHECK(end.state == GoalState::succeeded);
  CHECK(end.speed_excess >= excess);
}

TEST_CASE("speeds change at random times, and every cycle keeps path and limits") {
  auto random = test::generator(110);
  for (std::size_t n = 0; n < test::count(50); ++n) {
    Moving moving(static_cast<int>(test::uniform_int(random, 0, 150)));
    std::vector<std::unique_ptr<Request>> requests;
    for (int change = 0; change < 6; ++change) {
      const auto pause = static_cast<int>(test::uniform_int(random, 1, 80));
      requests.push_back(
          speed(static_cast<GoalId>(change % 2), change == 5 ? 1 : test::uniform(random, 0, 1)));
      moving.cycle({requests.back().get()});
      for (int i = 0; i < pause; ++i) moving.cycle();
    }
    CHECK(moving.bench.run_until_end(1).state == GoalState::succeeded);
    CHECK(off_path(moving.bench) < 1e-12);
  }
}

TEST_CASE("a goal that is cancelled on its path comes to rest there, within its limits") {
  auto random = test::generator(111);
  for (std::size_t n = 0; n < test::count(50); ++n) {
    Moving moving(static_cast<int>(test::uniform_int(random, 1, 150)));
    auto cancel = cancel_on_path(n % 2);
    moving.cycle({cancel.get()});
    CHECK(moving.answer(*cancel) == GoalState::succeeded);
    int cycles = 0;
    while (moving.answer(*moving.move) == GoalState::pending && ++cycles < 500) moving.cycle();
    CHECK(moving.answer(*moving.move) == GoalState::preempted);
    CHECK(rests(moving.bench));
    CHECK(moving.bench.snapshot.joints[0].goal == 0);
    const double stands = reference(moving.bench).position;
    moving.cycle();
    CHECK(reference(moving.bench).position == stands);
  }
}

TEST_CASE("a paused goal can be cancelled, on its path or at once") {
  for (const bool on_path : {false, true}) {
    Moving moving;
    auto pause = speed(0, 0);
    moving.cycle({pause.get()});
    for (int i = 0; i < 200; ++i) moving.cycle();
    auto cancel = on_path ? cancel_on_path(1) : Bench::simple(RequestKind::cancel, 1);
    moving.cycle({cancel.get()});
    CHECK(moving.answer(*moving.move) == GoalState::preempted);
    CHECK(rests(moving.bench));
  }
}

TEST_CASE("a second cancel at once overrules a stop on the path") {
  Moving moving(80);
  auto slowly = cancel_on_path(1);
  moving.cycle({slowly.get()});
  auto now = Bench::simple(RequestKind::cancel, 1);
  moving.bench.cycle({now.get()});
  CHECK(moving.answer(*now) == GoalState::succeeded);
  CHECK(moving.bench.run_until_end(1).state == GoalState::preempted);
  CHECK(moving.bench.states_of(1).front() == GoalState::preempting);
  CHECK(rests(moving.bench));
}

TEST_CASE("the speed of what is no trajectory goal is not known") {
  Moving moving;
  auto other = speed(7, 0.5);
  moving.cycle({other.get()});
  CHECK(moving.answer(*other) == GoalState::rejected);
  auto stream = moving.bench.stream(2, 2, 0.1, 0, std::chrono::seconds(1));
  moving.cycle({stream.get()});
  auto streamed = speed(2, 0.5);
  moving.cycle({streamed.get()});
  CHECK(moving.answer(*streamed) == GoalState::rejected);
  auto cancel = cancel_on_path(1);
  auto late = speed(1, 1);
  moving.cycle({cancel.get(), late.get()});
  CHECK(moving.answer(*late) == GoalState::rejected);
  CHECK(moving.bench.run_until_end(1).state == GoalState::preempted);
  auto stop_stream = cancel_on_path(2);  // streams have no path
  moving.bench.cycle({stop_stream.get()});
  CHECK(moving.bench.run_until_end(2).state == GoalState::preempted);
}

TEST_CASE("a goal that leaves its path while it stops on it is aborted") {
  Moving moving(200);
  moving.move->path_tolerance.assign(moving.move->joints.size(), {0.05, 0, 0});
  auto cancel = cancel_on_path(1);
  moving.bench.stuck.insert(0);
  moving.cycle({cancel.get()});
  const Event end = moving.bench.run_until_end(1);
  CHECK(end.state == GoalState::aborted);
  CHECK(end.reason == Errc::path_tolerance);
  CHECK(end.joint == 0);
  CHECK(end.value > 0.05);
  for (int i = 0; i < 300; ++i) moving.bench.cycle();
  CHECK(rests(moving.bench));
  CHECK(moving.bench.robot_cycle.state() == RobotState::ready);
}

TEST_CASE("an emergency stop takes over while the speed changes") {
  for (const bool cancelled : {false, true}) {
    Moving moving;
    auto request = cancelled ? cancel_on_path(1) : speed(1, 0.3);
    moving.cycle({request.get()});
    for (int i = 0; i < 5; ++i) moving.cycle();
    auto stop = Bench::simple(RequestKind::emergency_stop, 0, StopCategory::category_2);
    moving.bench.cycle({stop.get()});
    CHECK(moving.answer(*moving.move) == (cancelled ? GoalState::preempted : GoalState::aborted));
    for (int i = 0; i < 300; ++i) moving.bench.cycle();
    CHECK(moving.bench.robot_cycle.state() == RobotState::stopped);
    CHECK(rests(moving.bench));
  }
}

TEST_CASE("a new goal takes over while the speed changes, and only its joints") {
  for (const bool cancelled : {false, true}) {
    Moving moving;
    auto request = cancelled ? cancel_on_path(1) : speed(1, 0.3);
    moving.cycle({request.get()});
    for (int i = 0; i < 5; ++i) moving.cycle();
    auto next = moving.bench.fastest_move(2, {0}, {-0.5});
    moving.bench.cycle({next.get()});
    CHECK(moving.bench.run_until_end(1).state == GoalState::preempted);
    CHECK(moving.bench.run_until_end(2).state == GoalState::succeeded);
    CHECK(reference(moving.bench).position == -0.5);
    CHECK(reference(moving.bench, 1).velocity == 0);
  }
}

TEST_CASE("the lead into a trajectory is part of its path") {
  Moving moving;
  auto back = moving.bench.fastest_move(2, {0, 1}, {0, 0});
  moving.bench.cycle({back.get()});
  auto pause = speed(2, 0);
  moving.bench.cycle({pause.get()});
  int cycles = 0;
  while (moving.bench.snapshot.joints[0].speed != 0 && ++cycles < 300) moving.bench.cycle();
  CHECK(cycles < 150);
  CHECK(rests(moving.bench));
  CHECK(reference(moving.bench).position > 0.01);
  auto go_on = speed(2, 1);
  moving.bench.cycle({go_on.get()});
  CHECK(moving.bench.run_until_end(2).state == GoalState::succeeded);
  CHECK(reference(moving.bench).position == 0);
}
