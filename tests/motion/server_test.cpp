// The motion server: answers, goals, streams, stops and limits, with a loop that the test plays.
#include "takt/motion/server.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "motion/server_bench.hpp"
#include "support/random.hpp"

namespace {

using namespace takt::motion;
using namespace std::chrono_literals;
using takt::ClientId;
using takt::Duration;
using takt::LineFault;
using takt::Time;
using namespace takt::test;

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
      "message":"elbow_joint: begins with a velocity of 1.3, beyond the limit of 0.5, and comes back first"})");
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

TEST_CASE("a client that has ended its input is owed answers, results, and what it subscribed to") {
  Bench bench;
  bench.connect(1);
  CHECK_FALSE(bench.server.owes(1));
  CHECK_FALSE(bench.server.owes(2));
  bench.ask(1, R"({"state":{}})");
  CHECK_FALSE(bench.server.owes(1));
  bench.ask(1, move_elbow);
  CHECK(bench.server.owes(1));
  Request* const move = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  CHECK(bench.server.owes(1));
  bench.emit(GoalState::succeeded, 1, move);
  CHECK_FALSE(bench.server.owes(1));
  bench.ask(1, R"({"subscribe":{"rate":10}})");
  CHECK(bench.server.owes(1));
  bench.server.disconnected(1, bench.now);
  CHECK_FALSE(bench.server.owes(1));
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
      R"(the robot is stopped: elbow_joint: a drive does not answer. `takt reset` (or {"reset":{}}) leads on)");
}

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

TEST_CASE("goals of a client that vanished are stopped, unless they said continue") {
  Bench bench;
  bench.connect(1);
  bench.ask(1, move_elbow);
  bench.ask(1, R"({"move":{"joint_names":["wrist_1_joint"],"positions":[-2],"on_disconnect":"continue"}})");
  Request* stops = bench.taken();
  Request* goes_on = bench.taken();
  bench.emit(GoalState::active, 1, nullptr);
  bench.emit(GoalState::active, 2, nullptr);
  bench.said(1);
  bench.server.disconnected(1, bench.now);
  bench.poll();
  Request* cancel = bench.taken();
  REQUIRE(cancel != nullptr);
  CHECK(cancel->kind == RequestKind::cancel);
  CHECK(cancel->goal == 1);
  CHECK(cancel->reason == Errc::client_lost);
  CHECK(bench.taken() == nullptr);
  bench.emit(GoalState::succeeded, 1, cancel);
  bench.emit(GoalState::preempted, 1, stops, Errc::client_lost);
  bench.emit(GoalState::succeeded, 2, goes_on);
  CHECK(bench.said(1).empty());
  CHECK(bench.server.borrowed() == 0);
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

TEST_CASE("what is no request is answered with an error, and a browser with the door") {
  Bench bench;
  bench.connect(1);
  CHECK(bench.ask(1, "hello")[0]["error"]["reason"] == "malformed");
  CHECK(bench.ask(1, "[1]")[0]["error"]["reason"] == "malformed");
  CHECK(bench.ask(1, R"({"id":3,"dance":{}})")[0]["rejected"] ==
        Json::parse(
            R"({"id":3,"reason":"unknown_request","message":"/dance: no request of this name exists"})"));
  CHECK(bench.closed.empty());
  CHECK(bench.ask(1, "POST / HTTP/1.1")[0].contains("error"));
  CHECK(bench.closed == std::vector<ClientId>{1});
  for (const auto& [fault, reason] : {std::pair{LineFault::too_long, "message_too_large"},
                                      std::pair{LineFault::too_slow, "message_too_slow"},
                                      std::pair{LineFault::too_many_clients, "too_many_clients"}}) {
    bench.server.refused(2, fault, bench.now);
    CHECK(bench.said(2)[0]["error"]["reason"] == reason);
    CHECK(bench.closed.back() == 2);
  }
}

TEST_CASE("no client can fill the queue of the others") {
  ServerOptions options;
  options.max_in_flight = 8;
  options.max_in_flight_per_client = 4;
  Bench bench(takt::test::arm6(), options);
  for (ClientId client = 1; client <= 3; ++client) bench.connect(client);
  for (int i = 0; i < 4; ++i) CHECK(bench.ask(1, elbow_setpoint).empty());
  CHECK(bench.ask(1, elbow_setpoint)[0]["rejected"]["reason"] == "queue_full");
  for (int i = 0; i < 4; ++i) CHECK(bench.ask(2, elbow_setpoint).empty());
  CHECK(bench.ask(3, elbow_setpoint)[0]["rejected"]["reason"] == "queue_full");
  Request* request = bench.taken();
  bench.emit(GoalState::active, request->goal, nullptr);
  CHECK(bench.ask(3, elbow_setpoint).empty());
}

TEST_CASE("goals are bounded") {
  ServerOptions options;
  options.max_goals = 2;
  Bench bench(takt::test::arm6(), options);
  bench.connect(1);
  CHECK(bench.ask(1, move_elbow).empty());
  CHECK(bench.ask(1, move_elbow).empty());
  CHECK(bench.ask(1, move_elbow)[0]["rejected"]["reason"] == "too_many_goals");
}

TEST_CASE("a full ring delays a request and loses none") {
  Bench bench;
  bench.connect(1);
  Request filler;
  while (bench.requests.try_push(&filler)) {
  }
  bench.ask(1, move_elbow);
  bench.server.disconnected(1, bench.now);
  bench.poll();
  while (Request* request = bench.taken()) REQUIRE(request == &filler);
  bench.poll();
  CHECK(bench.taken()->kind == RequestKind::trajectory);
  CHECK(bench.taken()->kind == RequestKind::cancel);  // in order
}

TEST_CASE("an emergency stop has room always and overtakes what waits for the loop") {
  ServerOptions options;
  options.max_in_flight = 4;
  options.max_in_flight_per_client = 4;
  Bench bench(takt::test::arm6(), options);
  bench.connect(1);
  Request filler;
  while (bench.requests.try_push(&filler)) {
  }
  bench.ask(1, elbow_setpoint);
  bench.ask(1, elbow_setpoint);
  bench.ask(1, move_elbow);
  bench.ask(1, R"({"id":"reset","reset":{}})");
  const auto said = bench.ask(1, R"({"estop":{"category":0}})");
  REQUIRE(said.size() == 4);  // a reset must not undo a later stop
  for (const Json& reply : said) CHECK(reply["rejected"]["reason"] == "recalled");
  while (Request* request = bench.taken()) REQUIRE(request == &filler);
  bench.poll();
  CHECK(bench.taken()->kind == RequestKind::emergency_stop);
  CHECK(bench.taken() == nullptr);
  CHECK(bench.server.goals() == 0);

  // The stops of a flood are bounded too.
  std::size_t refused = 0;
  for (int i = 0; i < 10; ++i) refused += bench.ask(1, R"({"estop":{}})").size();
  CHECK(refused == 7);
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

TEST_CASE("mutated requests leave the loop untouched") {
  Bench bench;
  bench.connect(1);
  auto random = takt::test::generator(11);
  const std::string seeds[] = {
      R"({"id":1,"trajectory":{"joint_names":["elbow_joint","wrist_1_joint"],"points":[{"time_from_start":0.5,"positions":[1.25,-2]},{"time_from_start":{"sec":1,"nanosec":5},"positions":[1,2]}],"fit":true}})",
      move_elbow,
      elbow_setpoint,
      R"({"id":2,"cancel":{"goal":1}})",
      R"({"estop":{"category":1}})",
      R"({"subscribe":{"rate":10}})"};
  std::size_t reached = 0;
  std::size_t answered = 0;
  const std::size_t cases = takt::test::count(10'000);
  for (std::size_t i = 0; i < cases; ++i) {
    std::string line = seeds[i % std::size(seeds)];
    for (auto edits = takt::test::uniform_int(random, 1, 3); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(
          takt::test::uniform_int(random, 0, static_cast<std::int64_t>(line.size()) - 1));
      line[at] = static_cast<char>(takt::test::uniform_int(random, 0, 255));
    }
    bench.server.received(1, line, bench.now);
    bench.server.poll(bench.now);
    while (Request* request = bench.taken()) {
      // A mutation may be a valid request. It must then be within the robot's limits.
      ++reached;
      for (std::size_t c = 0; c < request->trajectory.joints(); ++c) {
        const double end = request->trajectory.knot(request->trajectory.segments(), c).position;
        REQUIRE(std::abs(end) <= 6.2832);
      }
      Event event;
      event.goal = request->goal;
      event.state = GoalState::rejected;
      event.reason = Errc::robot_not_ready;
      event.retired = request;
      REQUIRE(bench.events.try_push(event));
    }
    bench.poll(10us);
    answered += static_cast<std::size_t>(!bench.said(1).empty());
  }
  MESSAGE(reached, " of ", cases, " mutated requests were still good ones");
  CHECK(answered == cases);
  CHECK(reached < cases / 2);
  CHECK(bench.server.borrowed() == 0);
  CHECK(bench.server.goals() == 0);
}

}  // namespace

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
