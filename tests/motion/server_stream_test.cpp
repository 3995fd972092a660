// A stream of set-points is one goal for a client and a set of joints. It stops with its client, and begins
// anew after a stop only when the sender has paused.
#include <doctest/doctest.h>

#include <chrono>

#include "motion/server_bench.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using namespace std::chrono_literals;

TEST_CASE("a stream is one goal for a client and a set of joints, and every set-point is answered") {
  Bench bench;
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, elbow_setpoint);
  bench.ask(1, elbow_setpoint);
  Request* first = bench.taken();
  Request* second = bench.taken();
  REQUIRE(second != nullptr);
  CHECK(first->goal == 1);
  CHECK(second->goal == 1);
  bench.emit(GoalState::active, 1, nullptr);
  bench.emit(GoalState::active, 1, second);
  auto said = bench.said(1);
  REQUIRE(said.size() == 2);
  CHECK(said[0]["accepted"]["goal"] == 1);
  CHECK(said[1]["accepted"]["goal"] == 1);
  CHECK(said[1]["accepted"].contains("latency_us"));
  CHECK(bench.server.borrowed() == 1);

  bench.ask(1, R"({"setpoint":{"joint_names":["wrist_1_joint"],"positions":[-2.1]}})");
  bench.ask(2, elbow_setpoint);
  CHECK(bench.taken()->goal == 2);
  CHECK(bench.taken()->goal == 3);

  bench.emit(GoalState::aborted, 1, first, Errc::setpoint_timeout);
  said = bench.said(1);
  CHECK(said[0]["result"]["reason"] == "setpoint_timeout");
  bench.ask(1, elbow_setpoint);
  CHECK(bench.taken()->goal == 4);  // a new stream
}

TEST_CASE("a set-point that was on its way when its stream ended begins it anew") {
  Bench bench;
  bench.connect(1);
  bench.ask(1, elbow_setpoint);
  Request* first = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  bench.ask(1, elbow_setpoint);
  Request* late = bench.taken();
  bench.said(1);
  bench.emit(GoalState::aborted, 1, first, Errc::setpoint_timeout);
  CHECK(bench.said(1)[0]["result"]["state"] == "aborted");
  bench.emit(GoalState::active, 1, nullptr);  // the loop did not know goal 1 any more
  CHECK(bench.said(1)[0]["accepted"]["goal"] == 1);
  CHECK(bench.server.goals() == 1);
  bench.ask(1, elbow_setpoint);
  CHECK(bench.taken()->goal == 1);
  bench.emit(GoalState::preempted, 1, late);
  CHECK(bench.said(1).back()["result"]["state"] == "preempted");
  CHECK(bench.server.goals() == 0);
}

TEST_CASE("a stream that comes to life after its client has gone is cancelled") {
  Bench bench;
  bench.connect(1);
  bench.ask(1, elbow_setpoint);
  Request* first = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  bench.ask(1, elbow_setpoint);
  Request* late = bench.taken();
  bench.emit(GoalState::aborted, 1, first, Errc::setpoint_timeout);
  bench.server.disconnected(1, bench.now);
  bench.poll();
  CHECK(bench.taken() == nullptr);
  bench.emit(GoalState::active, 1, nullptr);
  bench.poll();
  Request* cancel = bench.taken();
  REQUIRE(cancel != nullptr);
  CHECK(cancel->goal == 1);
  bench.emit(GoalState::succeeded, 1, cancel);
  bench.emit(GoalState::preempted, 1, late);
  CHECK(bench.server.borrowed() == 0);
  CHECK(bench.server.goals() == 0);
}

TEST_CASE("a stream that others stopped begins anew only after a pause") {
  Bench bench;
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, elbow_setpoint);
  Request* first = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  bench.ask(1, elbow_setpoint);
  Request* late = bench.taken();  // arrives in the loop after the joints were taken
  bench.said(1);
  bench.emit(GoalState::preempting, 1, nullptr);
  CHECK(bench.said(1)[0]["feedback"]["state"] == "preempting");
  CHECK(bench.ask(1, elbow_setpoint)[0]["rejected"]["reason"] == "stream_ended");
  bench.emit(GoalState::preempted, 1, first);
  bench.said(1);
  for (int i = 0; i < 5; ++i) {
    bench.poll(50ms);
    CHECK(bench.ask(1, elbow_setpoint)[0]["rejected"]["reason"] == "stream_ended");
  }
  CHECK(bench.taken() == nullptr);

  bench.emit(GoalState::active, 1, nullptr);  // the late one began it again
  Request* cancel = bench.taken();
  REQUIRE(cancel != nullptr);
  CHECK(cancel->kind == RequestKind::cancel);
  bench.emit(GoalState::succeeded, 1, cancel);
  bench.emit(GoalState::preempted, 1, late);
  CHECK(bench.server.goals() == 0);
  bench.said(1);

  bench.poll(100ms);
  CHECK(bench.ask(1, elbow_setpoint).empty());
  REQUIRE(bench.taken() != nullptr);
  bench.emit(GoalState::active, 2, nullptr);
  bench.said(1);
  bench.ask(2, R"({"cancel":{}})");
  CHECK(bench.ask(1, elbow_setpoint)[0]["rejected"]["reason"] ==
        "stream_ended");  // before the loop reports it
}

}  // namespace
