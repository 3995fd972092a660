// The server reads long lines beside its other work, in their client's order. What waits to be read is
// bounded, and a stop in a long line is carried out.
#include <doctest/doctest.h>

#include <string>

#include "motion/planning_bench.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using takt::ClientId;

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

}  // namespace
