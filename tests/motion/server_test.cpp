// The motion server tells each client what becomes of its requests: answers, goals, results, speeds, stops
// and state. The test plays the loop.
#include "takt/motion/server.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "motion/server_bench.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using namespace std::chrono_literals;
using takt::ClientId;

TEST_CASE("a move is accepted when its first reference has left, reported on, and answered at its end") {
  Bench bench;
  bench.connect(1);
  CHECK(bench.ask(1, move_elbow).empty());  // the loop has not answered yet
  Request* request = bench.taken();
  REQUIRE(request != nullptr);
  CHECK(request->kind == RequestKind::trajectory);
  CHECK(request->goal == 1);
  CHECK(request->handed_over - request->received == 1ms);

  // The loop publishes its state before its events.
  Snapshot state = takt::test::ready_state(bench.robot);
  JointSnapshot& elbow = state.joints[*bench.robot.find_joint("elbow_joint")];
  elbow.goal = 1;
  elbow.goal_time = 0.1;
  elbow.speed = 0.25;
  bench.state.write(state);
  bench.emit(GoalState::active, 1, nullptr);
  auto said = bench.said(1);
  REQUIRE(said.size() == 2);
  const Json accepted = said[0]["accepted"];
  CHECK(accepted["id"] == 7);
  CHECK(accepted["goal"] == 1);
  CHECK(accepted["duration"].get<double>() == doctest::Approx(bench.begun_duration));
  CHECK(accepted["joint_names"] == Json({"elbow_joint"}));
  CHECK(accepted["latency_us"]["handover_to_reference"].get<double>() == doctest::Approx(500));
  CHECK(accepted["latency_us"]["receive_to_reference"].get<double>() == doctest::Approx(1500));
  CHECK(said[1]["feedback"]["goal"] == 1);
  CHECK(said[1]["feedback"]["reference"].size() == 1);
  CHECK(said[1]["feedback"]["time"] == 0.1);
  CHECK(said[1]["feedback"]["fraction"].get<double>() == doctest::Approx(0.1 / bench.begun_duration));
  CHECK(said[1]["feedback"]["speed"] == 0.25);

  // ten times a second, however often the server is polled
  std::size_t feedback = 0;
  for (int i = 0; i < 1000; ++i) bench.poll();
  feedback = bench.said(1).size();
  CHECK(feedback >= 9);
  CHECK(feedback <= 11);

  bench.emit(GoalState::succeeded, 1, request);
  said = bench.said(1);
  REQUIRE(said.size() == 1);
  CHECK(said[0] == Json::parse(R"({"result":{"id":7,"goal":1,"state":"succeeded"}})"));
  CHECK(bench.server.borrowed() == 0);
  CHECK(bench.server.goals() == 0);
}

TEST_CASE("what the loop refuses is rejected with joint and value") {
  Bench bench;
  bench.connect(1);
  bench.ask(1, move_elbow);
  Request* request = bench.taken();
  Event event;
  event.goal = 1;
  event.state = GoalState::rejected;
  event.reason = Errc::joint_already_moving;
  event.joint = 2;
  event.value = 9;
  event.limit = 8;
  event.retired = request;
  REQUIRE(bench.events.try_push(event));
  bench.poll();
  const auto said = bench.said(1);
  REQUIRE(said.size() == 1);
  CHECK(said[0]["rejected"]["id"] == 7);
  CHECK(said[0]["rejected"]["reason"] == "joint_already_moving");
  CHECK(said[0]["rejected"]["joint"] == "elbow_joint");
  CHECK(said[0]["rejected"]["value"] == 9);
  CHECK(bench.server.borrowed() == 0);
  CHECK(bench.server.goals() == 0);
}

TEST_CASE("a goal that begins beyond its own limits says so when it is accepted, and with its result") {
  Bench bench;
  bench.connect(1);
  bench.ask(1, move_elbow);
  Request* request = bench.taken();
  Event event;
  event.goal = 1;
  event.state = GoalState::active;
  event.reason = Errc::velocity_limit;
  event.quantity = takt::trajectory::Quantity::velocity;
  event.joint = 2;
  event.value = 1.3;
  event.limit = 0.5;
  REQUIRE(bench.events.try_push(event));
  bench.poll();
  bench.emit(GoalState::succeeded, 1, request);
  const Json expected =
      Json::parse(R"({"reason":"velocity_limit","joint":"elbow_joint","value":1.3,"limit":0.5,
      "message":"elbow_joint: begins with a velocity of 1.3, beyond the limit of 0.5, and first returns within it"})");
  std::size_t told = 0;
  for (const Json& message : bench.said(1)) {
    for (const char* kind : {"accepted", "result"}) {
      if (!message.contains(kind)) continue;
      ++told;
      CHECK(message[kind]["exceeds"] == expected);
      CHECK_FALSE(message[kind].contains("reason"));
    }
  }
  CHECK(told == 2);
}

TEST_CASE("what the planner refuses never reaches the loop") {
  Bench bench;
  bench.connect(1);
  const auto said = bench.ask(1, R"({"id":1,"move":{"joint_names":["elbow_joint"],"positions":[9]}})");
  REQUIRE(said.size() == 1);
  CHECK(said[0]["rejected"]["reason"] == "position_limit");
  CHECK(bench.taken() == nullptr);
  CHECK(bench.server.goals() == 0);
}

TEST_CASE("an aborted goal says why") {
  Bench bench;
  bench.connect(1);
  bench.ask(1, move_elbow);
  Request* request = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  bench.said(1);
  bench.emit(GoalState::aborted, 1, request, Errc::following_error);
  const auto said = bench.said(1);
  CHECK(said.back()["result"]["state"] == "aborted");
  CHECK(said.back()["result"]["reason"] == "following_error");
  CHECK(said.back()["result"]["joint"] == "shoulder_pan_joint");
}

TEST_CASE("a drive's fault is told in its own words") {
  Bench bench;
  bench.connect(1);
  bench.ask(1, move_elbow);
  Event event;
  event.retired = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  event.goal = 1;
  event.state = GoalState::aborted;
  event.reason = Errc::drive_fault;
  event.joint = 2;
  event.value = 1;
  REQUIRE(bench.events.try_push(event));
  bench.poll();
  const auto result = bench.said(1).back()["result"];
  CHECK(result["message"] ==
        "elbow_joint: a drive reports a fault (0x1): no command came before its watchdog ran out");
  CHECK(result["value"] == 1);
  CHECK_FALSE(result.contains("limit"));
}

TEST_CASE("cancel, emergency stop and reset are answered when the loop has done them") {
  Bench bench;
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, move_elbow);
  Request* move = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  bench.said(1);

  CHECK(bench.ask(2, R"({"id":1,"cancel":{"goal":9}})")[0]["rejected"]["reason"] == "unknown_goal");
  CHECK(bench.ask(2, R"({"id":2,"cancel":{"goal":1}})").empty());
  Request* cancel = bench.taken();
  REQUIRE(cancel != nullptr);
  CHECK(cancel->kind == RequestKind::cancel);
  CHECK(cancel->goal == 1);
  bench.emit(GoalState::preempting, 1, nullptr);
  bench.emit(GoalState::succeeded, 1, cancel);  // the cancel's own answer has the goal's number
  CHECK(bench.said(2)[0] == Json::parse(R"({"accepted":{"id":2}})"));
  CHECK(bench.server.goals() == 1);
  bench.emit(GoalState::preempted, 1, move);
  CHECK(bench.said(1).back()["result"]["state"] == "preempted");
  CHECK(bench.server.borrowed() == 0);

  bench.ask(1, R"({"estop":{"category":0}})");
  Request* stop = bench.taken();
  CHECK(stop->kind == RequestKind::emergency_stop);
  CHECK(stop->category == StopCategory::category_0);
  bench.emit(GoalState::succeeded, 0, stop);
  CHECK(bench.said(1)[0].contains("accepted"));
  bench.ask(1, R"({"reset":{}})");
  Request* reset = bench.taken();
  CHECK(reset->kind == RequestKind::reset);
  bench.emit(GoalState::rejected, 0, reset, Errc::robot_not_ready);
  CHECK(bench.said(1)[0]["rejected"]["reason"] == "robot_not_ready");
}

TEST_CASE("a client hears that its goal is being preempted, and how the goals of all stand") {
  Bench bench;
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, move_elbow);
  Request* const move = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  bench.ask(2, R"({"move":{"joint_names":["elbow_joint"],"positions":[1],"when_busy":"queue"}})");
  bench.said(1);
  const auto goals = [&](ClientId client) {
    return bench.ask(client, R"({"state":{}})").back()["state"]["goals"];
  };
  CHECK(goals(2) == Json::parse(R"([{"goal":1,"state":"active"},{"goal":2,"state":"pending"}])"));
  bench.emit(GoalState::preempting, 1, nullptr);
  const auto said = bench.said(1);
  REQUIRE(said.size() == 1);
  CHECK(said[0]["feedback"]["goal"] == 1);
  CHECK(said[0]["feedback"]["state"] == "preempting");
  CHECK(goals(2)[0] == Json::parse(R"({"goal":1,"state":"preempting"})"));
  bench.emit(GoalState::preempted, 1, move);
  CHECK(bench.said(1).back()["result"]["state"] == "preempted");
}

TEST_CASE("a motion is told why the robot is stopped, and how it goes on") {
  Bench bench;
  bench.connect(1);
  Snapshot stopped = takt::test::ready_state(bench.robot);
  stopped.state = RobotState::stopped;
  stopped.reason = Errc::drive_silent;
  stopped.reason_joint = 2;
  bench.state.write(stopped);
  const auto said = bench.ask(1, move_elbow);
  REQUIRE(said.size() == 1);
  CHECK(said[0]["rejected"]["reason"] == "robot_not_ready");
  CHECK(
      said[0]["rejected"]["message"] ==
      R"(the robot is stopped: elbow_joint: a drive does not answer. To continue: `takt reset` (or {"reset":{}}))");
}

TEST_CASE("state is told once, or at the rate that was subscribed") {
  Bench bench;
  bench.connect(1);
  const auto once = bench.ask(1, R"({"id":5,"state":{}})");
  REQUIRE(once.size() == 1);
  CHECK(once[0]["state"]["id"] == 5);
  CHECK(once[0]["state"]["robot"] == "ready");
  CHECK(once[0]["state"]["joint_names"].size() == 6);

  auto said = bench.ask(1, R"({"id":6,"subscribe":{"rate":100}})");
  CHECK(said[0]["accepted"]["id"] == 6);
  CHECK(said[1]["state"]["id"] == 6);
  for (int i = 0; i < 1000; ++i) bench.poll();
  const auto count = bench.said(1).size();
  CHECK(count >= 99);
  CHECK(count <= 101);
  bench.poll(10s);  // a thousand states late: one is sent, not a thousand
  CHECK(bench.said(1).size() == 1);
  bench.ask(1, R"({"subscribe":{"rate":0}})");
  for (int i = 0; i < 100; ++i) bench.poll();
  CHECK(bench.said(1).empty());
}

TEST_CASE("events that make no sense change nothing") {
  Bench bench;
  bench.connect(1);
  Request stranger;
  for (const GoalState state :
       {GoalState::active, GoalState::succeeded, GoalState::rejected, GoalState::preempting}) {
    bench.emit(state, 0, nullptr);
    bench.emit(state, 77, nullptr);
    bench.emit(state, 77, &stranger);
  }
  CHECK(bench.said(1).empty());
}

TEST_CASE("an idle server wants to be left alone, a busy one does not") {
  Bench bench;
  bench.connect(1);
  CHECK(bench.poll() >= 10ms);
  bench.ask(1, move_elbow);
  CHECK(bench.poll() <= 1ms);
}

TEST_CASE("speeds and stops on the path are handed over for goals that the server knows") {
  Bench bench;
  bench.connect(1);
  CHECK(bench.ask(1, R"({"speed":{"goal":1,"scale":0.5}})")[0]["rejected"]["reason"] == "unknown_goal");
  bench.ask(1, move_elbow);
  REQUIRE(bench.taken() != nullptr);
  bench.emit(GoalState::active, 1, nullptr);
  bench.said(1);
  for (const char* line : {R"({"speed":{"goal":1,"scale":0.5}})", R"({"speed":{"scale":0.5}})"}) {
    CHECK(bench.ask(1, line).empty());
    Request* speed = bench.taken();
    REQUIRE(speed != nullptr);
    CHECK(speed->kind == RequestKind::speed);
    CHECK(speed->speed == 0.5);
    bench.emit(GoalState::succeeded, speed->goal, speed);
    CHECK(bench.said(1)[0].contains("accepted"));
  }
  for (const bool on_path : {false, true}) {
    bench.ask(1,
              on_path ? R"({"cancel":{"goal":1,"stop":"path"}})" : R"({"cancel":{"goal":1,"stop":"now"}})");
    const Request* cancel = bench.taken();
    REQUIRE(cancel != nullptr);
    CHECK(cancel->kind == RequestKind::cancel);
    CHECK(cancel->on_path == on_path);
  }
}

}  // namespace
