// Clients that leave, flood the server or send what is no request. None of them blocks the others, and an
// emergency stop always finds room.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "motion/server_bench.hpp"
#include "support/random.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using namespace std::chrono_literals;
using takt::ClientId;
using takt::LineFault;

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

TEST_CASE("who sends a line that is too long learns how long it may be") {
  Bench bench(takt::test::arm6(), {});
  bench.server.refused(2, LineFault::too_long, bench.now);
  CHECK(
      bench.said(2)[0]["error"]["message"] ==
      "the message is longer than the server allows: at most 8388608 bytes. Send fewer waypoints, or numbers "
      "of fewer digits");
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
