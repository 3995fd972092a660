// A trajectory with a start in the future waits in the server, and goes to the loop shortly before. It is
// planned from where the running goals lead to by then.
#include <doctest/doctest.h>

#include <string>

#include "motion/planning_bench.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;

/// The elbow to 1.6 within a second after `start`, on the loop's clock.
std::string scheduled(double start) {
  return Json{{"id", "later"},
              {"trajectory",
               {{"joint_names", {"elbow_joint"}},
                {"start", start},
                {"points", {{{"time_from_start", 1.0}, {"positions", {1.6}}}}}}}}
      .dump();
}

/// Sets the loop's clock to this time.
void set_loop_time(Bench& bench, double seconds) {
  Snapshot state = takt::test::ready_state(bench.robot);
  state.time = takt::Time{} + takt::from_seconds(seconds);
  bench.state.write(state);
  bench.poll();
}

TEST_CASE("a trajectory with a start in the future is pending, and is handed over shortly before") {
  Bench bench;
  bench.connect(1);
  set_loop_time(bench, 10);
  const auto said = bench.ask(1, scheduled(12.5));
  REQUIRE(said.size() == 1);
  CHECK(said[0]["accepted"]["id"] == "later");
  CHECK(said[0]["accepted"]["state"] == "pending");
  const GoalId goal = said[0]["accepted"]["goal"];
  set_loop_time(bench, 12.3);
  CHECK(bench.taken() == nullptr);
  set_loop_time(bench, 12.41);
  Request* request = only_taken(bench);
  CHECK(request->goal == goal);
  CHECK(request->start == takt::Time{} + takt::from_seconds(12.5));
  bench.emit(GoalState::active, goal, nullptr);
  bench.emit(GoalState::succeeded, goal, request);
  const auto ended = bench.said(1);
  REQUIRE_FALSE(ended.empty());
  CHECK(ended.back()["result"] == Json({{"id", "later"}, {"goal", goal}, {"state", "succeeded"}}));
  CHECK(bench.server.idle());
}

TEST_CASE("a trajectory whose start is past goes to the loop at once, and too far ahead nowhere") {
  Bench bench;
  bench.connect(1);
  set_loop_time(bench, 10);
  CHECK(bench.ask(1, scheduled(9.7)).empty());
  CHECK(only_taken(bench)->start == takt::Time{} + takt::from_seconds(9.7));
  const auto said = bench.ask(1, scheduled(10 + 3601));
  REQUIRE(said.size() == 1);
  CHECK(said[0]["rejected"]["reason"] == "start_too_far");
  CHECK(
      said[0]["rejected"]["message"] ==
      "the start is 3601 s ahead; at most 3600 s are allowed. It is a time of the loop's clock, which shows "
      "10 s");
  CHECK(said[0]["rejected"]["value"] == 3601);
}

TEST_CASE("what waits for its start is recalled, here and in the loop") {
  for (const std::string stop : {R"({"cancel":{}})", R"({"cancel":{"goal":1}})", R"({"estop":{}})"}) {
    Bench bench;
    bench.connect(1);
    set_loop_time(bench, 10);
    bench.ask(1, scheduled(12.5));
    const auto said = bench.ask(1, stop);
    REQUIRE_FALSE(said.empty());
    CHECK(said[0]["result"]["state"] == "recalled");
    CHECK(said[0]["result"]["goal"] == 1);
    set_loop_time(bench, 13);
    for (const Request* request = bench.taken(); request != nullptr; request = bench.taken())
      CHECK(request->kind != RequestKind::trajectory);
  }
  Bench bench;
  bench.connect(1);
  set_loop_time(bench, 10);
  bench.ask(1, scheduled(12.5));
  set_loop_time(bench, 12.45);
  Request* request = only_taken(bench);
  bench.ask(1, R"({"cancel":{"goal":1}})");
  CHECK(only_taken(bench)->kind == RequestKind::cancel);
  bench.emit(GoalState::recalled, 1, request, Errc::recalled);
  const auto said = bench.said(1);
  REQUIRE_FALSE(said.empty());
  CHECK(said.back()["result"]["state"] == "recalled");
  CHECK(bench.server.goals() == 0);
}

TEST_CASE("a trajectory is planned from where the goals that run lead to by its start") {
  Bench bench;
  Request* running = run_elbow(bench);  // to 1.2
  const auto& path = running->trajectory;
  const double lead = bench.begun_duration - path.duration();
  Snapshot state = takt::test::ready_state(bench.robot);
  /// The plan for a first waypoint at 1.2, 20 ms after the start. The running goal is there on its path 0.09
  /// s earlier.
  const auto plan_at = [&](double path_time, double speed, double start) {
    bench.ask(1, Json{{"trajectory",
                       {{"joint_names", {"elbow_joint"}},
                        {"start", start},
                        {"points", {{{"time_from_start", 0.02}, {"positions", {1.2}}}}}}}}
                     .dump());
    bench.said(1);
    state.time = takt::Time{} + takt::from_seconds(start - 0.09);
    state.joints[2].goal = running->goal;
    state.joints[2].goal_time = path_time + lead;
    state.joints[2].speed = speed;
    state.joints[2].reference = path.at(path_time, 0);
    bench.state.write(state);
    bench.poll();
    return bench.taken();
  };
  const Request* planned = plan_at(path.duration() - 0.08, 1, 20);
  REQUIRE(planned != nullptr);
  CHECK(planned->trajectory.knot(0, 0) == path.knot(path.segments(), 0));
  CHECK(plan_at(path.duration() - 0.08, 0, 30) == nullptr);  // paused, it will not arrive
  CHECK(bench.said(1).back()["result"]["state"] == "rejected");
}

TEST_CASE("what waits for its start counts among what waits, and goes with its client") {
  ServerOptions options;
  options.max_waiting_per_client = 2;
  Bench bench(arm6(), options);
  bench.connect(1);
  set_loop_time(bench, 10);
  bench.ask(1, scheduled(12.5));
  bench.ask(1, scheduled(13.5));
  const auto said = bench.ask(1, scheduled(14.5));
  REQUIRE(said.size() == 1);
  CHECK(said[0]["rejected"]["reason"] == "queue_full");
  bench.server.disconnected(1, bench.now);
  CHECK(bench.server.idle());
}

}  // namespace
