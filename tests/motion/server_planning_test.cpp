// The server's long work runs beside it, and queued motions begin after the goals that they wait for.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "motion/server_bench.hpp"
#include "support/random.hpp"
#include "takt/platform/worker.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using takt::ClientId;
using takt::Duration;

/// An executor that works when the test asks for it.
struct Elsewhere {
  std::deque<std::function<void()>> pending;

  void operator()(std::function<void()> work) { pending.push_back(std::move(work)); }
  void finish_one() {
    REQUIRE(!pending.empty());
    pending.front()();
    pending.pop_front();
  }
};

ServerOptions with(Elsewhere& elsewhere) {
  ServerOptions options;
  options.executor = std::ref(elsewhere);
  return options;
}

std::string queued_move(const std::string& joint, double position, int id) {
  return Json{{"id", id},
              {"move", {{"joint_names", {joint}}, {"positions", {position}}, {"when_busy", "queue"}}}}
      .dump();
}

/// The only request that reached the loop since the last call.
Request* only_taken(Bench& bench) {
  Request* request = bench.taken();
  REQUIRE(request != nullptr);
  REQUIRE(bench.taken() == nullptr);
  return request;
}

/// A running goal of client 1 on the elbow.
Request* run_elbow(Bench& bench) {
  bench.connect(1);
  bench.ask(1, move_elbow);
  Request* running = only_taken(bench);
  bench.emit(GoalState::active, 1, nullptr);
  bench.said(1);
  return running;
}

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

TEST_CASE("a worker thread plans while clients come, ask and go") {
  takt::platform::Worker worker;
  ServerOptions options;
  options.executor = std::ref(worker);
  options.plan_at_once = 0;
  options.read_at_once = 1000;
  Bench bench(arm6(), options);
  std::size_t begun = 0;
  const auto play_loop = [&] {
    while (Request* request = bench.taken()) {
      begun += request->kind == RequestKind::trajectory;
      bench.emit(GoalState::preempted, request->goal, request);
    }
  };
  for (ClientId client = 1; client <= 20; ++client) {
    bench.connect(client);
    bench.ask(client, long_trajectory({{"on_disconnect", "continue"}}));
    bench.ask(client, move_elbow);
    if (client % 3 == 0) bench.ask(client, R"({"cancel":{}})");
    if (client % 2 == 0) bench.server.disconnected(client, bench.now);
    play_loop();
  }
  while (bench.poll() < Duration(10ms)) {
    play_loop();
    std::this_thread::yield();
  }
  CHECK(begun >= 2);  // only the last client's disconnection recalls those of the last two
  CHECK(bench.server.goals() == 0);
  CHECK(bench.server.borrowed() == 0);
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

TEST_CASE("long lines are read elsewhere, in their client's order") {
  Elsewhere elsewhere;
  ServerOptions options = with(elsewhere);
  options.read_at_once = 1000;
  Bench bench(arm6(), options);
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, long_trajectory());
  bench.ask(1, move_elbow);
  bench.ask(2, R"({"move":{"joint_names":["wrist_1_joint"],"positions":[-2]}})");
  only_taken(bench);       // of the other client
  elsewhere.finish_one();  // the line is parsed
  bench.poll();
  CHECK(bench.taken() == nullptr);
  elsewhere.finish_one();  // the motion is planned
  bench.poll();
  CHECK(only_taken(bench)->trajectory.segments() == 300);
  bench.poll();
  elsewhere.finish_one();
  bench.poll();
  CHECK(only_taken(bench)->trajectory.segments() < 10);
}

TEST_CASE("a long line that is no motion, or wrong, is answered as a short one") {
  ServerOptions options;
  options.read_at_once = 100;
  Bench bench(arm6(), options);
  bench.connect(1);
  const std::string spaces(200, ' ');
  CHECK(bench.ask(1, spaces + R"({"id":1,"state":{}})")[0]["state"]["id"] == 1);
  CHECK(bench.ask(1, spaces + R"({"id":1,"dance":{}})")[0]["rejected"]["reason"] == "unknown_request");
  CHECK(bench.ask(1, spaces + "[")[0]["error"]["reason"] == "malformed");
  bench.ask(1, spaces + elbow_setpoint);
  CHECK(only_taken(bench)->kind == RequestKind::setpoint);
}

TEST_CASE("a recalled line is answered under its id") {
  ServerOptions options;
  options.read_at_once = 100;
  Bench bench(arm6(), options);
  bench.connect(1);
  bench.connect(2);
  bench.server.received(1, long_trajectory(), bench.now);
  bench.server.received(2, R"({"cancel":{}})", bench.now);
  bench.poll();
  const auto said = bench.said(1);
  REQUIRE(said.size() == 1);
  CHECK(said[0]["rejected"]["id"] == "long");
  CHECK(said[0]["rejected"]["reason"] == "recalled");
}

TEST_CASE("long lines are bounded like all requests") {
  Elsewhere elsewhere;
  ServerOptions options = with(elsewhere);
  options.read_at_once = 1000;
  Bench bench(arm6(), options);
  bench.connect(1);
  for (std::size_t i = 0; i < options.max_waiting_per_client; ++i)
    CHECK(bench.ask(1, long_trajectory()).empty());
  CHECK(bench.ask(1, long_trajectory())[0]["error"]["reason"] == "queue_full");
}

TEST_CASE("what waits is bounded in bytes, for each client and for all") {
  const std::size_t bytes = long_trajectory().size();
  for (const bool for_all : {false, true}) {
    Elsewhere elsewhere;
    ServerOptions options = with(elsewhere);
    options.read_at_once = 1000;
    (for_all ? options.max_waiting_bytes : options.max_waiting_bytes_per_client) = 2 * bytes;
    Bench bench(arm6(), options);
    for (const ClientId client : {ClientId{1}, ClientId{2}}) bench.connect(client);
    for (int i = 0; i < 2; ++i) CHECK(bench.ask(1, long_trajectory()).empty());
    CHECK(bench.ask(1, long_trajectory())[0]["error"]["reason"] == "queue_full");
    CHECK(bench.ask(2, long_trajectory()).size() == (for_all ? 1 : 0));
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

TEST_CASE("a stop in a long line is carried out, whatever overtook it") {
  Elsewhere elsewhere;
  ServerOptions options = with(elsewhere);
  options.read_at_once = 100;
  Bench bench(arm6(), options);
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, std::string(200, ' ') + R"({"id":1,"estop":{}})");
  bench.ask(2, R"({"cancel":{}})");
  CHECK(only_taken(bench)->kind == RequestKind::cancel);
  elsewhere.finish_one();
  bench.poll();
  CHECK(only_taken(bench)->kind == RequestKind::emergency_stop);
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

TEST_CASE("waiting motions are bounded for each client") {
  ServerOptions options;
  options.max_waiting_per_client = 3;
  Bench bench(arm6(), options);
  run_elbow(bench);
  for (int i = 0; i < 3; ++i) CHECK(bench.ask(1, queued_move("elbow_joint", 1.0, 8))[0].contains("accepted"));
  CHECK(bench.ask(1, queued_move("elbow_joint", 1.0, 8))[0]["rejected"]["reason"] == "queue_full");
}

/// A loop that randomly takes, rejects and ends goals, and a record of all answers to two clients.
class Chaos {
 public:
  explicit Chaos(std::uint64_t salt) : random_(takt::test::generator(salt)), bench_(arm6(), options()) {
    bench_.connect(1);
    bench_.connect(2);
  }

  void run() {
    for (int i = 0; i < 60; ++i) {
      ask();
      act();
    }
    // No more requests: everything ends.
    for (int i = 0; i < 400; ++i) act();
  }

  void check() {
    CHECK(answers_.size() + errors_ == asked_);
    for (const auto& entry : answers_) CHECK_MESSAGE(entry.second == 1, entry.first);
    for (const auto& entry : open_) CHECK_MESSAGE(entry.second == 0, entry.first);
    CHECK(bench_.server.goals() == 0);
    CHECK(bench_.server.borrowed() == 0);
    CHECK(bench_.poll() > Duration(1ms));
  }

 private:
  static constexpr std::array<const char*, 3> joints{"elbow_joint", "wrist_1_joint", "wrist_2_joint"};

  ServerOptions options() {
    ServerOptions options = with(elsewhere_);
    options.plan_at_once = chance(0.5) ? 0 : 256;
    options.read_at_once = chance(0.5) ? 0 : 64 << 10;
    return options;
  }

  bool chance(double likelihood) { return takt::test::uniform(random_, 0, 1) < likelihood; }
  std::size_t any(std::size_t count) {
    return static_cast<std::size_t>(
        takt::test::uniform_int(random_, 0, static_cast<std::int64_t>(count) - 1));
  }

  void ask() {
    Json request{{"id", ++asked_}};
    const double kind = takt::test::uniform(random_, 0, 1);
    if (kind < 0.1) {
      request["cancel"] = chance(0.3) ? Json::object() : Json{{"goal", 1 + any(asked_)}};
    } else if (kind < 0.13) {
      request["estop"] = Json::object();
    } else {
      Json names = Json::array();
      Json targets = Json::array();
      for (const char* joint : joints) {
        if (!chance(0.5) && !(names.empty() && joint == joints.back())) continue;
        names.push_back(joint);
        targets.push_back(joint == joints.front() ? 1.5 : -1.5);
      }
      const char* when_busy = chance(0.6) ? "queue" : chance(0.7) ? "splice" : "reject";
      request["move"] = {{"joint_names", names}, {"positions", targets}, {"when_busy", when_busy}};
    }
    bench_.server.received(1 + any(2), request.dump(), bench_.now);
  }

  void act() {
    if (!elsewhere_.pending.empty() && chance(0.7)) elsewhere_.finish_one();
    if (chance(0.7)) take();
    if (!running_.empty() && chance(0.3)) {
      const std::size_t i = any(running_.size());
      end(i, chance(0.8) ? GoalState::succeeded : GoalState::aborted);
    }
    bench_.poll();
    read();
  }

  /// The loop takes one request.
  void take() {
    Request* request = bench_.taken();
    if (request == nullptr) return;
    if (request->kind != RequestKind::trajectory) {
      // In the engine's order: the goals begin to stop, the request is answered, the goals end.
      const GoalId cancelled = request->goal;
      const auto concerned = [&](const Request* goal) { return cancelled == 0 || goal->goal == cancelled; };
      for (const Request* goal : running_) {
        if (concerned(goal)) bench_.emit(GoalState::preempting, goal->goal, nullptr);
      }
      bench_.emit(GoalState::succeeded, cancelled, request);
      for (std::size_t i = running_.size(); i-- > 0;) {
        if (concerned(running_[i])) end(i, GoalState::preempted);
      }
      return;
    }
    if (chance(0.1)) return bench_.emit(GoalState::rejected, request->goal, request, Errc::joint_busy);
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (!(running_[i]->joints & request->joints).empty()) end(i, GoalState::preempted);
    }
    bench_.emit(GoalState::active, request->goal, nullptr);
    running_.push_back(request);
  }

  void end(std::size_t i, GoalState state) {
    Request* request = running_[i];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    bench_.emit(state, request->goal, request, state == GoalState::aborted ? Errc::drive_fault : Errc{});
  }

  void read() {
    for (const ClientId client : {ClientId{1}, ClientId{2}}) {
      for (const Json& reply : bench_.said(client)) {
        if (reply.contains("accepted") || reply.contains("rejected")) {
          const Json& body = reply.contains("accepted") ? reply["accepted"] : reply["rejected"];
          ++answers_[body["id"].get<std::size_t>()];
          if (body.contains("goal")) ++open_[body["goal"].get<GoalId>()];
        }
        errors_ += reply.contains("error") ? 1U : 0U;
        if (reply.contains("result")) --open_[reply["result"]["goal"].get<GoalId>()];
      }
    }
  }

  std::mt19937_64 random_;
  Elsewhere elsewhere_;
  Bench bench_;
  std::vector<Request*> running_;
  std::size_t asked_ = 0;
  std::map<std::size_t, int> answers_;  ///< by request: accepted or rejected
  std::size_t errors_ = 0;              ///< lines that found no room and were never parsed
  std::map<GoalId, int> open_;          ///< by goal: accepted, without a result yet
};

TEST_CASE("every request gets one answer and every goal that was accepted one result") {
  for (std::size_t i = 0; i < takt::test::count(300); ++i) {
    CAPTURE(i);
    Chaos chaos(1000 + i);
    chaos.run();
    chaos.check();
  }
}

}  // namespace
