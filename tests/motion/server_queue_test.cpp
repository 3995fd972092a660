// A queued motion begins when the goals that hold its joints have succeeded. Otherwise it is recalled and
// ends with a result.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "motion/planning_bench.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using takt::Duration;

TEST_CASE("a queued motion begins when the goals that hold its joints have succeeded") {
  Bench bench;
  Request* running = run_elbow(bench);
  const auto said = bench.ask(1, queued_move("elbow_joint", 1.0, 8));
  REQUIRE(said.size() == 1);
  CHECK(said[0] ==
        Json::parse(R"({"accepted":{"id":8,"goal":2,"state":"pending","joint_names":["elbow_joint"]}})"));
  bench.ask(1, queued_move("elbow_joint", 1.1, 9));
  bench.ask(1, queued_move("wrist_1_joint", -2, 10));
  CHECK(only_taken(bench)->goal == 4);  // its joint is free
  CHECK(bench.taken() == nullptr);

  bench.emit(GoalState::succeeded, 1, running);
  Request* second = only_taken(bench);
  CHECK(second->goal == 2);
  bench.emit(GoalState::active, 2, nullptr);
  for (const Json& reply : bench.said(1)) CHECK(!reply.contains("rejected"));
  bench.emit(GoalState::succeeded, 2, second);
  CHECK(bench.said(1)[0]["result"] == Json::parse(R"({"id":8,"goal":2,"state":"succeeded"})"));
  CHECK(only_taken(bench)->goal == 3);
}

TEST_CASE("a queued motion without anything before it begins at once") {
  Bench bench;
  bench.connect(1);
  CHECK(bench.ask(1, queued_move("elbow_joint", 1.0, 8)).empty());
  Request* request = only_taken(bench);
  bench.emit(GoalState::active, 1, nullptr);
  CHECK(bench.said(1)[0]["accepted"].contains("latency_us"));
  bench.emit(GoalState::succeeded, 1, request);
}

TEST_CASE("what waits is recalled when a goal before it does not succeed") {
  for (const GoalState end : {GoalState::aborted, GoalState::preempted, GoalState::rejected}) {
    Bench bench;
    Request* running = run_elbow(bench);
    bench.ask(1, queued_move("elbow_joint", 1.0, 8));
    bench.ask(1, queued_move("elbow_joint", 1.1, 9));
    bench.said(1);
    bench.emit(end, 1, running, Errc::drive_fault);
    const auto said = bench.said(1);
    REQUIRE(said.size() == 3);
    for (const std::size_t i : {1U, 2U}) {
      CHECK(said[i]["result"]["state"] == "recalled");
      CHECK(said[i]["result"]["reason"] == "goal_before_failed");
      CHECK(said[i]["result"]["id"] == 7 + i);
    }
    CHECK(bench.taken() == nullptr);
    CHECK(bench.poll() > Duration(1ms));
  }
}

TEST_CASE("what waits can be cancelled by its number, and what waits for it goes too") {
  Bench bench;
  run_elbow(bench);
  bench.ask(1, queued_move("elbow_joint", 1.0, 8));
  bench.ask(1, queued_move("elbow_joint", 1.1, 9));
  bench.said(1);
  const auto said = bench.ask(1, R"({"id":"c","cancel":{"goal":2}})");
  REQUIRE(said.size() == 3);
  CHECK(said[0]["result"]["reason"] == "recalled");
  CHECK(said[1]["result"]["reason"] == "goal_before_failed");
  CHECK(said[2]["accepted"]["id"] == "c");
  CHECK(bench.taken() == nullptr);  // the running goal continues
  CHECK(bench.ask(1, R"({"cancel":{"goal":2}})")[0]["rejected"]["reason"] == "unknown_goal");
}

TEST_CASE("the last that waits can be cancelled without those before it") {
  Bench bench;
  run_elbow(bench);
  bench.ask(1, queued_move("elbow_joint", 1.0, 8));
  bench.ask(1, queued_move("elbow_joint", 1.1, 9));
  bench.said(1);
  const auto said = bench.ask(1, R"({"id":"c","cancel":{"goal":3}})");
  REQUIRE(said.size() == 2);
  CHECK(said[0]["result"]["goal"] == 3);
  CHECK(said[1].contains("accepted"));
}

TEST_CASE("a goal that had waited can be cancelled while it runs") {
  Bench bench;
  Request* running = run_elbow(bench);
  bench.ask(1, queued_move("elbow_joint", 1.0, 8));
  bench.emit(GoalState::succeeded, 1, running);
  Request* second = only_taken(bench);
  bench.emit(GoalState::active, 2, nullptr);
  bench.said(1);
  bench.ask(1, R"({"id":"c","cancel":{"goal":2}})");
  Request* cancel = only_taken(bench);
  bench.emit(GoalState::preempting, 2, nullptr);
  bench.emit(GoalState::succeeded, 2, cancel);
  bench.emit(GoalState::preempted, 2, second);
  const auto said = bench.said(1);
  REQUIRE(said.size() == 3);
  CHECK(said[0]["feedback"]["state"] == "preempting");
  CHECK(said[1]["accepted"]["id"] == "c");
  CHECK(said[2]["result"]["state"] == "preempted");
}

TEST_CASE("a request that is refused changes nothing for what waits for others") {
  Bench bench;
  run_elbow(bench);
  bench.connect(2);
  bench.ask(1, queued_move("elbow_joint", 1.0, 8));
  bench.said(1);
  bench.ask(2, R"({"move":{"joint_names":["elbow_joint"],"positions":[1.2],"when_busy":"reject"}})");
  bench.emit(GoalState::rejected, 3, only_taken(bench), Errc::joint_busy);
  CHECK(bench.said(1).empty());
}

TEST_CASE("what waited for a motion goes when that cannot be planned") {
  Elsewhere elsewhere;
  Bench bench(arm6(), with(elsewhere));
  Request* elbow = run_elbow(bench);
  bench.ask(1, R"({"id":2,"move":{"joint_names":["wrist_1_joint"],"positions":[-2]}})");
  Request* wrist = only_taken(bench);
  bench.emit(GoalState::active, 2, nullptr);
  bench.ask(
      1,
      R"({"id":8,"move":{"joint_names":["elbow_joint"],"positions":[0],"duration":0.001,"when_busy":"queue"}})");
  bench.ask(1, R"({"id":9,"move":{"joint_names":["elbow_joint","wrist_1_joint"],"positions":[1.3,-1.9],
                   "when_busy":"queue"}})");
  bench.said(1);
  bench.emit(GoalState::succeeded, 2, wrist);
  bench.emit(GoalState::succeeded, 1, elbow);
  const auto said = bench.said(1);
  REQUIRE(said.size() == 4);
  CHECK(said[2]["result"]["state"] == "rejected");
  CHECK(said[3]["result"]["reason"] == "goal_before_failed");
  CHECK(bench.taken() == nullptr);
}

TEST_CASE("what can only be wrong is refused at once, not when its turn comes") {
  Bench bench;
  run_elbow(bench);
  CHECK(bench.ask(1, queued_move("elbow_joint", 99, 8))[0]["rejected"]["reason"] == "position_limit");
  CHECK(bench.ask(1, R"({"trajectory":{"joint_names":["elbow_joint"],"when_busy":"queue",
                         "points":[{"time_from_start":1,"positions":[1,2]}]}})")[0]["rejected"]["reason"] ==
        "wrong_size");
}

TEST_CASE("a stream, or a goal that is being stopped, has only to end") {
  for (const bool stream : {false, true}) {
    Bench bench;
    bench.connect(1);
    bench.ask(1, stream ? elbow_setpoint : move_elbow);
    Request* first = only_taken(bench);
    bench.emit(GoalState::active, 1, nullptr);
    if (!stream) bench.emit(GoalState::preempting, 1, nullptr);
    bench.ask(1, queued_move("elbow_joint", 1.0, 8));
    bench.emit(stream ? GoalState::aborted : GoalState::preempted, 1, first, Errc::setpoint_timeout);
    CHECK(only_taken(bench)->goal == 2);
  }
}

TEST_CASE("stops recall what waits") {
  for (const std::string stop : {R"({"estop":{}})", R"({"cancel":{}})"}) {
    Bench bench;
    run_elbow(bench);
    bench.connect(2);
    bench.ask(1, queued_move("elbow_joint", 1.0, 8));
    bench.said(1);
    bench.ask(2, stop);
    const auto said = bench.said(1);
    REQUIRE(said.size() == 1);
    CHECK(said[0]["result"]["state"] == "recalled");
    CHECK(only_taken(bench)->kind != RequestKind::trajectory);
  }
}

TEST_CASE("what waits goes with its client, unless it said continue") {
  Bench bench;
  Request* running = run_elbow(bench);
  bench.connect(2);
  bench.ask(2, queued_move("elbow_joint", 1.0, 8));
  bench.ask(1, R"({"id":9,"move":{"joint_names":["wrist_1_joint"],"positions":[-2]}})");
  Request* wrist = only_taken(bench);
  bench.emit(GoalState::active, 3, nullptr);
  bench.ask(2, R"({"move":{"joint_names":["wrist_1_joint"],"positions":[-1.9],"when_busy":"queue",
                   "on_disconnect":"continue"}})");
  bench.server.disconnected(2, bench.now);
  bench.emit(GoalState::succeeded, 1, running);
  CHECK(bench.taken() == nullptr);
  bench.emit(GoalState::succeeded, 3, wrist);
  CHECK(only_taken(bench)->goal == 4);
}

TEST_CASE("a queued motion that cannot be planned any more ends with a result") {
  Bench bench;
  Request* running = run_elbow(bench);
  bench.ask(1, queued_move("elbow_joint", 1.0, 8));
  bench.said(1);
  Snapshot stopped = ready_state(bench.robot);
  stopped.state = RobotState::stopped;
  bench.state.write(stopped);
  bench.emit(GoalState::succeeded, 1, running);
  const auto said = bench.said(1);
  REQUIRE(said.size() == 2);
  CHECK(said[1]["result"]["id"] == 8);
  CHECK(said[1]["result"]["state"] == "rejected");
  CHECK(said[1]["result"]["reason"] == "robot_not_ready");
  CHECK(bench.server.goals() == 0);
}

TEST_CASE("one that the loop refuses, after it had waited, ends with a result") {
  Bench bench;
  Request* running = run_elbow(bench);
  bench.ask(1, queued_move("elbow_joint", 1.0, 8));
  bench.emit(GoalState::succeeded, 1, running);
  bench.said(1);
  bench.emit(GoalState::rejected, 2, only_taken(bench), Errc::robot_not_ready);
  const auto said = bench.said(1);
  REQUIRE(said.size() == 1);
  CHECK(said[0]["result"]["state"] == "rejected");
  CHECK(bench.server.borrowed() == 0);
}

TEST_CASE("waiting motions are bounded for each client") {
  ServerOptions options;
  options.max_waiting_per_client = 3;
  Bench bench(arm6(), options);
  run_elbow(bench);
  for (int i = 0; i < 3; ++i) CHECK(bench.ask(1, queued_move("elbow_joint", 1.0, 8))[0].contains("accepted"));
  CHECK(bench.ask(1, queued_move("elbow_joint", 1.0, 8))[0]["rejected"]["reason"] == "queue_full");
}

}  // namespace
