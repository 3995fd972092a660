// The server plans long motions beside its other work, one in a poll or elsewhere. Meanwhile it
// answers everybody, and stops recall what waits to be planned.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "motion/planning_bench.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using takt::ClientId;
using takt::Duration;

TEST_CASE("long trajectories are planned one in a poll, and their client's motions wait behind them") {
  Bench bench;
  bench.connect(1);
  bench.connect(2);
  bench.server.received(1, long_trajectory(), bench.now);
  bench.server.received(1, long_trajectory(), bench.now);
  bench.server.received(1, move_elbow, bench.now);
  bench.server.received(2, R"({"move":{"joint_names":["wrist_1_joint"],"positions":[-2]}})", bench.now);
  CHECK(bench.poll() == Duration(0));
  CHECK(bench.taken()->goal == 1);  // of the other client, which waits for nothing
  Request* first = bench.taken();
  REQUIRE(first != nullptr);
  CHECK(first->trajectory.segments() == 300);
  CHECK(bench.taken() == nullptr);
  CHECK(bench.poll() == Duration(0));
  CHECK(bench.taken()->trajectory.segments() == 300);
  CHECK(bench.poll() > Duration(0));
  CHECK(bench.taken()->trajectory.segments() < 10);
  CHECK(bench.said(1).empty());
}

TEST_CASE("stops overtake motions that wait to be planned, and recall them") {
  for (const std::string stop : {R"({"estop":{}})", R"({"cancel":{}})"}) {
    Bench bench;
    bench.connect(1);
    bench.connect(2);
    for (int i = 0; i < 32; ++i) bench.server.received(1, long_trajectory(), bench.now);
    bench.server.received(1, long_trajectory(), bench.now);
    CHECK(bench.said(1)[0]["rejected"]["reason"] == "queue_full");
    bench.server.received(2, stop, bench.now);
    bench.poll();
    Request* taken = bench.taken();
    REQUIRE(taken != nullptr);
    CHECK(taken->kind != RequestKind::trajectory);
    CHECK(bench.taken() == nullptr);
    const auto said = bench.said(1);
    REQUIRE(said.size() == 32);
    for (const Json& reply : said) {
      CHECK(reply["rejected"]["id"] == "long");
      CHECK(reply["rejected"]["reason"] == "recalled");
    }
    CHECK(bench.ask(1, move_elbow).empty());  // there is room again
  }
}

TEST_CASE("a motion that waits to be planned goes with its client, unless it said continue") {
  Bench bench;
  bench.connect(1);
  bench.server.received(1, long_trajectory(), bench.now);
  bench.server.received(1, long_trajectory({{"on_disconnect", "continue"}}), bench.now);
  bench.server.disconnected(1, bench.now);
  CHECK(bench.poll() >= Duration(1ms));
  REQUIRE(bench.taken() != nullptr);
  bench.poll();
  CHECK(bench.taken() == nullptr);
  CHECK(bench.server.goals() == 1);
}

TEST_CASE("while a motion is planned elsewhere the server answers everybody") {
  Elsewhere elsewhere;
  Bench bench(arm6(), with(elsewhere));
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, long_trajectory());
  REQUIRE(elsewhere.pending.size() == 1);
  CHECK(bench.poll() >= Duration(1ms));
  CHECK(bench.ask(2, R"({"state":{}})")[0].contains("state"));
  bench.ask(2, R"({"estop":{}})");
  CHECK(only_taken(bench)->kind == RequestKind::emergency_stop);
  elsewhere.finish_one();
  bench.poll();
  CHECK(bench.taken() == nullptr);  // the stop overtook it
  CHECK(bench.said(1)[0]["rejected"]["reason"] == "recalled");
}

TEST_CASE("a plan that comes back when its server has gone does no harm") {
  Elsewhere elsewhere;
  {
    Bench bench(arm6(), with(elsewhere));
    bench.connect(1);
    bench.ask(1, long_trajectory());
  }
  elsewhere.finish_one();
}

TEST_CASE("a plan whose client has vanished meanwhile is dropped, unless it said continue") {
  for (const bool goes_on : {false, true}) {
    Elsewhere elsewhere;
    Bench bench(arm6(), with(elsewhere));
    bench.connect(1);
    bench.ask(1, long_trajectory({{"on_disconnect", goes_on ? "continue" : "stop"}}));
    bench.server.disconnected(1, bench.now);
    elsewhere.finish_one();
    bench.poll();
    CHECK((bench.taken() != nullptr) == goes_on);
    CHECK(bench.server.goals() == (goes_on ? 1 : 0));
  }
}

TEST_CASE("a motion that spares others is handed over so, for the loop to judge") {
  Bench bench;
  bench.connect(1);
  bench.ask(1, R"({"move":{"joint_names":["elbow_joint"],"positions":[1.2],"when_busy":"reject"}})");
  CHECK(only_taken(bench)->spares_others);
  bench.ask(1, move_elbow);
  CHECK(!only_taken(bench)->spares_others);
}

TEST_CASE("a motion that queues does not take joints from a goal that began while it was planned") {
  Elsewhere elsewhere;
  Bench bench(arm6(), with(elsewhere));
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, long_trajectory({{"when_busy", "queue"}}));
  bench.ask(2, move_elbow);
  Request* other = only_taken(bench);
  bench.emit(GoalState::active, other->goal, nullptr);
  elsewhere.finish_one();
  bench.poll();
  CHECK(bench.taken() == nullptr);
  CHECK(bench.said(1)[0]["accepted"]["state"] == "pending");
  bench.emit(GoalState::succeeded, other->goal, other);
  elsewhere.finish_one();
  bench.poll();
  CHECK(only_taken(bench)->trajectory.segments() == 300);
}

TEST_CASE("cancels find room however much waits to be planned") {
  Elsewhere elsewhere;
  ServerOptions options = with(elsewhere);
  options.read_at_once = 1000;
  Bench bench(arm6(), options);
  run_elbow(bench);
  for (ClientId client = 2; client <= 10; ++client) {
    bench.connect(client);
    for (int i = 0; i < 40; ++i) bench.server.received(client, long_trajectory(), bench.now);
  }
  CHECK(bench.ask(1, R"({"cancel":{"goal":1}})").empty());
  CHECK(only_taken(bench)->goal == 1);
  CHECK(bench.ask(1, R"({"cancel":{}})").empty());
  CHECK(only_taken(bench)->kind == RequestKind::cancel);
}

TEST_CASE("a motion from before a fault does not begin after the reset") {
  Elsewhere elsewhere;
  Bench bench(arm6(), with(elsewhere));
  bench.connect(1);
  bench.ask(1, long_trajectory());
  Snapshot stopped = ready_state(bench.robot);
  stopped.state = RobotState::stopped;
  bench.state.write(stopped);
  bench.poll();
  bench.ask(1, R"({"reset":{}})");
  bench.emit(GoalState::succeeded, 0, only_taken(bench));
  bench.state.write(ready_state(bench.robot));
  elsewhere.finish_one();
  bench.poll();
  CHECK(bench.taken() == nullptr);
  CHECK(bench.said(1).back()["rejected"]["reason"] == "recalled");
}

}  // namespace
