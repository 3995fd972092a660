// How the cycle joins a new motion to the present motion of the joints.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "motion/robot_cycle_bench.hpp"
#include "support/random.hpp"
#include "takt/motion/wire.hpp"
#include "takt/trajectory/brake.hpp"

namespace {

using namespace takt;
using namespace takt::motion;
using Bench = test::CycleBench;

/// From cycle to cycle no limit is exceeded (jerk by difference quotient), and nothing jumps.
void check_cycle(const Bench& bench, const Snapshot& before) {
  const double dt = to_seconds(bench.robot.period);
  for (std::size_t j = 0; j < bench.robot.joints.size(); ++j) {
    const JointLimits& limits = bench.robot.joints[j].limits;
    const MotionState& from = before.joints[j].reference;
    const MotionState& to = bench.snapshot.joints[j].reference;
    constexpr double rounding = 1 + 1e-6;
    CHECK(to.position <= limits.position_max + 1e-9);
    CHECK(to.position >= limits.position_min - 1e-9);
    CHECK(std::abs(to.velocity) <= limits.velocity * rounding);
    CHECK(std::abs(to.acceleration) <= limits.acceleration * rounding);
    CHECK(std::abs(to.acceleration - from.acceleration) <= limits.jerk * dt * rounding);
    CHECK(std::abs(to.velocity - from.velocity - dt * (from.acceleration + to.acceleration) / 2) <=
          limits.jerk * dt * dt * rounding);
    CHECK(std::abs(to.position - from.position - dt * (from.velocity + to.velocity) / 2) <=
          limits.jerk * dt * dt * dt * rounding);
  }
}

/// A bench with joint 0 on its way from 0 to 2, 1 s after its start.
struct MovingBench : Bench {
  MovingBench() {
    make_ready();
    first = move(1, {0}, {2.0}, 3);
    cycle({first.get()});
    for (int i = 0; i < 200; ++i) checked_cycle({});
  }

  void checked_cycle(std::vector<Request*> requests) {
    const Snapshot before = snapshot;
    cycle(std::move(requests));
    check_cycle(*this, before);
  }

  /// Joint 0 through `positions`, one every `interval` seconds, from its first position.
  std::unique_ptr<Request> through(const std::vector<double>& positions, double interval) {
    auto request = move(2, {0}, {0}, 1);
    std::vector<double> times;
    for (std::size_t k = 0; k < positions.size(); ++k) times.push_back(static_cast<double>(k) * interval);
    request->trajectory =
        *trajectory::through(trajectory::Waypoints{1, times, positions, {}, {}}, trajectory::Through::stop);
    return request;
  }

  [[nodiscard]] double position() const { return snapshot.joints[0].reference.position; }

  std::unique_ptr<Request> first;
};

TEST_CASE("a waypoint is joined exactly at its time, where that is possible") {
  MovingBench bench;
  auto request = bench.through({0, 1.5, 1.0}, 1.5);
  bench.checked_cycle({request.get()});
  CHECK(bench.events.back().duration == 3);
  for (int i = 1; i < 300; ++i) bench.checked_cycle({});
  CHECK(bench.position() == 1.5);
  CHECK(bench.run_until_end(2).state == GoalState::succeeded);
  CHECK(bench.position() == 1.0);
}

TEST_CASE("where there is no time for the first waypoint a later one is joined, at its time") {
  MovingBench bench;
  auto request = bench.through({0, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4}, 0.4);
  bench.checked_cycle({request.get()});
  CHECK(bench.events.back().duration == doctest::Approx(2.4));
  for (int i = 1; i < 320; ++i) bench.checked_cycle({});
  CHECK(bench.position() == doctest::Approx(1.6));
}

TEST_CASE("what may be late is later by as little as the limits allow") {
  MovingBench bench;
  auto hasty = bench.through({0, 0.0}, 0.3);
  bench.checked_cycle({hasty.get()});
  const Event refusal = bench.events.back();
  CHECK(refusal.reason == Errc::joint_already_moving);
  CHECK(refusal.limit == doctest::Approx(0.3));
  auto patient = bench.through({0, 0.0}, 0.3);
  patient->may_be_late = true;
  bench.checked_cycle({patient.get()});
  const double duration = bench.events.back().duration;
  CHECK(duration == doctest::Approx(refusal.value).epsilon(0.05));
  CHECK(duration > 0.3);
  const int cycles = static_cast<int>(duration / to_seconds(bench.robot.period));
  for (int i = 1; i < cycles; ++i) bench.checked_cycle({});
  CHECK(std::abs(bench.position()) > 0);
  for (int i = 0; i < 2; ++i) bench.checked_cycle({});
  CHECK(bench.position() == 0);
}

TEST_CASE("a move to where the joint is already going does not take longer than that") {
  MovingBench bench;
  auto request = bench.fastest_move(2, {0}, {2.5});
  bench.checked_cycle({request.get()});
  const double whole = bench.events.back().duration;
  double left = whole;
  for (GoalId id = 3; id < 40; ++id) {
    auto again = bench.fastest_move(id, {0}, {2.5});
    for (int i = 0; i < 4; ++i) bench.checked_cycle({});
    left -= 5 * to_seconds(bench.robot.period);
    bench.checked_cycle({again.get()});
    CHECK(bench.events.back().duration <= std::max(left, 0.0) + 1e-6);
    request = std::move(again);
    if (left < 0) break;
  }
}

TEST_CASE("a trajectory begins in the cycle after its start, and is where it says at exactly that time") {
  for (const double share : {0.0, 0.3, 1.0}) {
    CAPTURE(share);
    Bench bench;
    bench.make_ready();
    auto request = bench.move(1, {0}, {1.0}, 1);
    const Duration into_period(
        static_cast<Duration::rep>(share * static_cast<double>(bench.robot.period.count())));
    request->start = bench.now + 20 * bench.robot.period + into_period;
    bench.cycle({request.get()});
    CHECK(bench.events.empty());
    while (bench.now <= *request->start) {
      CHECK(bench.snapshot.joints[0].reference == MotionState{});
      CHECK(bench.snapshot.active_goals == 0);
      bench.cycle();
    }
    REQUIRE(bench.states_of(1) == std::vector{GoalState::active});
    for (int i = 0; i < 100; ++i, bench.cycle()) {
      const double time = to_seconds(bench.now - *request->start);
      CHECK(bench.snapshot.joints[0].reference.position ==
            doctest::Approx(request->trajectory.at(time, 0).position).epsilon(1e-12));
    }
    CHECK(bench.run_until_end(1).state == GoalState::succeeded);
  }
}

TEST_CASE("at its start a trajectory takes over whatever moves its joints, which goes on until then") {
  MovingBench bench;
  auto request = bench.through({0, 1.5, 1.0}, 1.5);
  request->start = bench.now + 40 * bench.robot.period + bench.robot.period / 3;
  bench.checked_cycle({request.get()});
  while (bench.now <= *request->start) {
    CHECK(bench.snapshot.joints[0].goal == 1);
    bench.checked_cycle({});
  }
  CHECK(bench.snapshot.joints[0].goal == 2);
  CHECK(bench.states_of(1).back() == GoalState::preempted);
  while (bench.now <= *request->start + std::chrono::milliseconds(1500)) bench.checked_cycle({});
  const double time = to_seconds(bench.now - *request->start);
  CHECK(bench.position() == doctest::Approx(request->trajectory.at(time, 0).position));
  CHECK(bench.run_until_end(2).state == GoalState::succeeded);
}

TEST_CASE("with a start in the past what is past is dropped, and the rest keeps its times") {
  for (const bool moving : {false, true}) {
    MovingBench bench;
    if (!moving) static_cast<void>(bench.run_until_end(1));
    auto request = bench.through({0, 1.0, 1.9, 1.5, 1.0}, 1.5);
    request->start = bench.now - std::chrono::milliseconds(1800);
    bench.checked_cycle({request.get()});
    CHECK(bench.events.back().state == GoalState::active);
    CHECK(bench.events.back().duration == doctest::Approx(6 - 1.8));
    while (bench.now < *request->start + std::chrono::milliseconds(3000)) bench.checked_cycle({});
    CHECK(bench.position() == doctest::Approx(1.9));
    while (bench.now < *request->start + std::chrono::milliseconds(4300)) bench.checked_cycle({});
    CHECK(bench.position() ==
          doctest::Approx(request->trajectory.at(to_seconds(bench.now - *request->start), 0).position));
    CHECK(bench.run_until_end(2).state == GoalState::succeeded);
  }
  MovingBench bench;
  auto over = bench.through({0, 1.0}, 1.5);
  over->start = bench.now - std::chrono::milliseconds(1600);
  bench.checked_cycle({over.get()});
  CHECK(bench.events.back().state == GoalState::rejected);
  CHECK(bench.events.back().reason == Errc::start_too_far);
  CHECK(bench.events.back().limit == doctest::Approx(1.5));
  CHECK(explain(bench.events.back(), bench.robot).message ==
        "the start was 1.6 s ago, but the trajectory takes only 1.5 s: it has ended already");
}

TEST_CASE("trajectories of many clients begin each at its time, the earliest first") {
  Bench bench;
  bench.make_ready();
  std::vector<std::unique_ptr<Request>> requests;
  for (GoalId id = 1; id <= 3; ++id) {
    requests.push_back(bench.move(id, {0}, {0.1}, 1));
    requests.back()->start = bench.now + 10 * bench.robot.period + Duration(4 - static_cast<int>(id));
    requests.back()->may_be_late = true;
  }
  bench.cycle({requests[0].get(), requests[1].get(), requests[2].get()});
  for (int i = 0; i < 11; ++i) bench.cycle();
  CHECK(bench.snapshot.joints[0].goal == 1);  // the last to begin, in the same cycle
  CHECK(bench.states_of(2).front() == GoalState::active);
  CHECK(bench.run_until_end(1).state == GoalState::succeeded);
}

TEST_CASE("what waits for its start is recalled by cancels and by whatever stops the robot") {
  for (const int way : {0, 1, 2, 3}) {
    CAPTURE(way);
    Bench bench;
    bench.make_ready();
    auto request = bench.move(5, {0}, {1.0}, 1);
    auto other = bench.move(6, {1}, {1.0}, 1);
    request->start = other->start = bench.now + 100 * bench.robot.period;
    bench.cycle({request.get(), other.get()});
    auto stop = Bench::simple(way == 2 ? RequestKind::emergency_stop : RequestKind::cancel, way == 0 ? 5 : 0);
    if (way == 3) {
      bench.silent.insert(2);
      for (int i = 0; i < 90 && bench.robot_cycle.state() == RobotState::ready; ++i) bench.cycle();
    } else {
      bench.cycle({stop.get()});
    }
    CHECK(bench.states_of(5) == (way == 0 ? std::vector{GoalState::recalled, GoalState::succeeded}
                                          : std::vector{GoalState::recalled}));
    CHECK((bench.states_of(6).empty()) == (way == 0));
    if (way == 0) CHECK(bench.run_until_end(6).state == GoalState::succeeded);
  }
}

TEST_CASE("only so many trajectories are held for their starts") {
  Bench bench;
  bench.make_ready();
  std::vector<std::unique_ptr<Request>> requests;
  for (GoalId id = 1; id <= JointTrajectoryController::max_scheduled + 1; ++id) {
    requests.push_back(bench.move(id, {0}, {1.0}, 1));
    requests.back()->start = bench.now + std::chrono::hours(1);
    bench.cycle({requests.back().get()});
  }
  CHECK(bench.events.size() == 1);
  CHECK(bench.events.back().reason == Errc::queue_full);
  auto all = Bench::simple(RequestKind::cancel);
  bench.cycle({all.get()});
  CHECK(bench.events.size() == JointTrajectoryController::max_scheduled + 2);
}

TEST_CASE("a move to the very end of the range can be cancelled at any time within the limit of jerk") {
  auto random = test::generator(2);
  for (std::size_t n = 0; n < test::count(200); ++n) {
    robot::RobotDescription robot = test::three_joints();
    robot.joints[0].limits.acceleration = test::uniform(random, 2, 10);
    Bench bench(robot);
    bench.make_ready();
    auto away = bench.fastest_move(1, {0}, {2});
    bench.cycle({away.get()});
    for (int i = 0; i < 40; ++i) bench.cycle();
    auto to_the_end = bench.fastest_move(2, {0}, {robot.joints[0].limits.position_max});
    bench.cycle({to_the_end.get()});
    const auto pause = test::uniform_int(random, 1, 400);
    for (int i = 0; i < pause; ++i) bench.cycle();
    auto cancel = Bench::simple(RequestKind::cancel);
    for (int i = 0; i < 250; ++i) {
      const Snapshot before = bench.snapshot;
      bench.cycle(i == 0 ? std::vector<Request*>{cancel.get()} : std::vector<Request*>{});
      check_cycle(bench, before);
    }
  }
}

TEST_CASE(
    "a joint beyond the new goal's own limits brakes first, by the least violation, and the goal says so") {
  for (const auto quantity : {trajectory::Quantity::velocity, trajectory::Quantity::acceleration}) {
    const bool is_speed = quantity == trajectory::Quantity::velocity;
    MovingBench bench;
    std::unique_ptr<Request> faster;  // the cycle borrows it while the goal lives
    if (!is_speed) {                  // it speeds up again
      faster = bench.fastest_move(9, {0}, {2.9});
      bench.checked_cycle({faster.get()});
      for (int i = 0; i < 12; ++i) bench.checked_cycle({});
    }
    auto slow = bench.fastest_move(2, {0}, {2.9});
    JointLimits& limits = slow->limits[0];
    const double limit = is_speed ? 0.3 : 4;
    (is_speed ? limits.velocity : limits.acceleration) = limit;
    slow->trajectory = bench.move(2, {0}, {2.9}, 30)->trajectory;
    slow->may_gain = 30;
    const MotionState at_first = bench.snapshot.joints[0].reference;
    const JointLimits raised = trajectory::raised_for(at_first, limits);
    bench.checked_cycle({slow.get()});
    const Event begun = bench.events.back();
    REQUIRE(begun.state == GoalState::active);
    CHECK(begun.reason == (is_speed ? Errc::velocity_limit : Errc::acceleration_limit));
    CHECK(begun.joint == 0);
    CHECK(begun.quantity == quantity);
    CHECK(begun.limit == limit);
    CHECK(begun.value == (is_speed ? raised.velocity : raised.acceleration));
    bool inside = false;
    for (int i = 0; i < 6000 && bench.states_of(2).back() == GoalState::active; ++i) {
      const MotionState& now = bench.snapshot.joints[0].reference;
      const double taken = is_speed ? std::abs(now.velocity) : std::abs(now.acceleration);
      const double allowed = inside ? limit : begun.value;
      CHECK(taken <= allowed * (1 + 1e-6));
      inside = inside || taken <= limit;
      bench.checked_cycle({});
    }
    CHECK(inside);
    CHECK(bench.states_of(2).back() == GoalState::succeeded);
  }
}

TEST_CASE("a lead that would leave the range is refused by the limit, with joint, value and limit") {
  MovingBench bench;
  auto request = bench.through({0, 2.99}, 1);
  request->limits[0].position_max = bench.position() + 0.01;
  bench.checked_cycle({request.get()});
  const Event refusal = bench.events.back();
  CHECK(refusal.state == GoalState::rejected);
  CHECK(refusal.reason == Errc::position_limit);
  CHECK(refusal.limit == request->limits[0].position_max);
  CHECK(refusal.value > refusal.limit);
}

TEST_CASE("a cycle plans leads for a bounded number of joints, and takes the rest in the next ones") {
  robot::RobotDescription robot = test::three_joints();
  while (robot.joints.size() < 40) {
    robot.joints.push_back(robot.joints.back());
    robot.joints.back().name = "joint" + std::to_string(robot.joints.size());
  }
  Bench bench(robot);
  bench.make_ready();
  std::vector<std::size_t> all(40);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<std::unique_ptr<Request>> requests;
  requests.push_back(bench.fastest_move(1, all, std::vector<double>(40, 1.0)));
  bench.cycle({requests.back().get()});
  for (int i = 0; i < 20; ++i) bench.cycle();
  for (GoalId id = 2; id < 5; ++id)
    requests.push_back(bench.fastest_move(id, all, std::vector<double>(40, -1.0)));
  bench.now += bench.robot.period;
  for (auto& joint : bench.feedback) joint.stamp = bench.now;
  bench.robot_cycle.begin(bench.now, bench.robot.period, 0);
  std::size_t taken = 0;
  while (bench.robot_cycle.accepts_requests()) bench.robot_cycle.submit(*requests[1 + taken++]);
  CHECK(taken == 2);
}

TEST_CASE("moves that splice each other at any time keep every limit, and none is refused") {
  auto random = test::generator();
  std::size_t refused = 0;
  for (std::size_t run = 0; run < test::count(20); ++run) {
    Bench bench;
    bench.make_ready();
    std::vector<std::unique_ptr<Request>> requests;
    for (int i = 0; i < 2000; ++i) {
      std::vector<Request*> now;
      if (test::uniform_int(random, 0, 40) == 0) {
        const auto target = [&] { return test::uniform(random, -3, 3); };
        const GoalId id = requests.size() + 1;
        requests.push_back(test::uniform_int(random, 0, 2) == 0
                               ? bench.fastest_move(id, {1}, {target()})
                               : bench.fastest_move(id, {0, 1, 2}, {target(), target(), target()}));
        now.push_back(requests.back().get());
      }
      const Snapshot before = bench.snapshot;
      bench.cycle(now);
      check_cycle(bench, before);
    }
    for (const Event& event : bench.events) refused += event.state == GoalState::rejected ? 1 : 0;
  }
  CHECK(refused == 0);
}

}  // namespace
