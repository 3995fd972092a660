// Requests to the robot's manager of controllers: they reach its desk in order, their answers reach their
// clients, and nobody else waits for them.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "motion/planning_bench.hpp"
#include "takt/robot/error.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using takt::fail;
using takt::SetupResult;

const std::string list = R"({"id":7,"controllers":{"list":{}}})";
const std::string start = R"({"id":"s","controllers":{"start":{"name":"tip"}}})";

/// A desk that notes what it is asked, on an executor that works when the test asks for it.
struct Desk {
  std::vector<std::string> asked;
  SetupResult<std::string> answer = std::string(R"({"list":[{"name":"trajectory"}]})");
  Elsewhere elsewhere;

  ServerOptions options() {
    ServerOptions options;
    options.controllers = [this](const std::string& request) {
      asked.push_back(request);
      return answer;
    };
    options.controllers_executor = std::ref(elsewhere);
    return options;
  }
};

TEST_CASE("a request to the controllers is answered under its id, and nobody waits for it") {
  Desk desk;
  Bench bench(arm6(), desk.options());
  bench.connect(1);
  bench.connect(2);
  CHECK(bench.ask(1, list).empty());
  CHECK(bench.server.owes(1));
  CHECK_FALSE(bench.server.idle());
  CHECK(bench.ask(2, R"({"state":{}})").size() == 1);
  CHECK(bench.ask(1, move_elbow).empty());
  CHECK(bench.taken() != nullptr);
  desk.elsewhere.finish_one();
  CHECK(bench.poll() == 1ms);
  const auto said = bench.said(1);
  REQUIRE(said.size() == 1);
  CHECK(said[0] == Json::parse(R"({"controllers":{"id":7,"list":[{"name":"trajectory"}]}})"));
  CHECK(desk.asked == std::vector<std::string>{R"({"list":{}})"});
}

TEST_CASE("a refusal of the manager is a rejection with its words") {
  Desk desk;
  desk.answer = fail(takt::robot::Errc::claimed, "elbow belongs to tip");
  ServerOptions options = desk.options();
  options.controllers_executor = ServerOptions{}.controllers_executor;
  Bench bench(arm6(), std::move(options));
  bench.connect(1);
  const auto said = bench.ask(1, start);
  REQUIRE(said.size() == 1);
  CHECK(said[0] == Json::parse(R"({"rejected":{"id":"s","reason":"controllers_refused",
                                               "message":"elbow belongs to tip"}})"));
  CHECK(bench.server.counters().rejected == 1);
}

TEST_CASE("a server of another process than the loop has no controllers") {
  Bench bench;
  bench.connect(1);
  const auto said = bench.ask(1, list);
  REQUIRE(said.size() == 1);
  CHECK(said[0]["rejected"]["reason"] == "no_controllers");
}

TEST_CASE("requests to the controllers run one after the other, and a client has few of them") {
  Desk desk;
  ServerOptions options = desk.options();
  options.max_controllers_requests = 4;
  options.max_controllers_requests_per_client = 3;
  Bench bench(arm6(), std::move(options));
  bench.connect(1);
  bench.connect(2);
  for (int i = 0; i < 3; ++i) CHECK(bench.ask(1, list).empty());
  CHECK(bench.ask(1, list)[0]["rejected"]["reason"] == "queue_full");
  CHECK(bench.ask(2, start).empty());
  CHECK(bench.ask(2, start)[0]["rejected"]["reason"] == "queue_full");
  for (int i = 0; i < 4; ++i) {
    CHECK(desk.elsewhere.pending.size() == 1);
    desk.elsewhere.finish_one();
    bench.poll();
  }
  CHECK(bench.said(1).size() == 3);
  CHECK(bench.said(2).size() == 1);
  CHECK(desk.asked.back() == R"({"start":{"name":"tip"}})");
  CHECK(bench.server.idle());
}

TEST_CASE("a client that vanished commands no more, and gets no answer") {
  Desk desk;
  Bench bench(arm6(), desk.options());
  bench.connect(1);
  bench.connect(2);
  bench.ask(1, list);
  bench.ask(1, start);
  bench.ask(2, list);
  bench.server.disconnected(1, bench.now);
  desk.elsewhere.finish_one();
  bench.poll();
  desk.elsewhere.finish_one();
  bench.poll();
  CHECK(bench.said(1).empty());
  CHECK(bench.said(2).size() == 1);
  CHECK(desk.asked.size() == 2);
  CHECK(bench.server.idle());
}

TEST_CASE("what is no request to the controllers is rejected before it reaches the desk") {
  Desk desk;
  Bench bench(arm6(), desk.options());
  bench.connect(1);
  for (const char* body : {"[]", "{}", "3", "null", R"("list")", R"({"list":{},"show":{}})"}) {
    CAPTURE(body);
    const auto said = bench.ask(1, std::string(R"({"id":1,"controllers":)") + body + "}");
    REQUIRE(said.size() == 1);
    CHECK(said[0]["rejected"]["reason"] == "malformed");
  }
  CHECK(desk.asked.empty());
}

}  // namespace
