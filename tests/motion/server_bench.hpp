// A motion server with a loop that the test plays.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "motion/wire_support.hpp"
#include "takt/motion/server.hpp"

namespace takt::test {

using namespace takt::motion;
using namespace std::chrono_literals;
using Json = nlohmann::json;

/// A server with a loop that the test plays: it takes requests out of the ring and pushes events.
struct Bench {
  explicit Bench(takt::robot::RobotDescription description = takt::test::arm6(), ServerOptions options = {})
      : robot(std::move(description)), server(robot, requests, events, state, options) {
    state.write(takt::test::ready_state(robot));
    server.poll(now);
  }

  takt::robot::RobotDescription robot;
  takt::shm::SpscRing<Request*> requests{256};
  takt::shm::SpscRing<Event> events{1024};
  takt::shm::LatestValue<Snapshot> state;
  Server server;
  Time now = takt::time_from_nanoseconds(1'000'000'000);

  /// All lines to one client since the last call.
  std::vector<Json> said(ClientId client) {
    for (auto& output : server.take_output()) {
      REQUIRE(output.bytes.back() == '\n');
      REQUIRE(output.bytes.find('\n') == output.bytes.size() - 1);
      inbox[output.client].push_back(Json::parse(output.bytes));
      if (output.close) closed.push_back(output.client);
    }
    return std::exchange(inbox[client], {});
  }

  void connect(ClientId client) {
    server.connected(client, now);
    const auto hello = said(client);
    REQUIRE(hello.size() == 1);
    REQUIRE(hello[0].contains("takt"));
  }

  std::vector<Json> ask(ClientId client, const std::string& line) {
    server.received(client, line, now);
    poll();
    return said(client);
  }

  Duration poll(Duration passed = 1ms) {
    now += passed;
    return server.poll(now);
  }

  /// The oldest request that reached the loop, or null.
  Request* taken() {
    Request* request = nullptr;
    return requests.try_pop(request) ? request : nullptr;
  }

  void emit(GoalState goal_state, GoalId goal, Request* retired, Errc reason = Errc{}) {
    Event event;
    event.goal = goal;
    event.state = goal_state;
    event.reason = reason;
    event.retired = retired;
    if (goal_state == GoalState::active) {
      event.first_reference = now + 500us;
      event.duration = begun_duration;
    }
    REQUIRE(events.try_push(event));
    poll();
  }

  double begun_duration = 0.5;  ///< s, of every goal that becomes active
  std::map<ClientId, std::vector<Json>> inbox;
  std::vector<ClientId> closed;
};

inline const std::string move_elbow = R"({"id":7,"move":{"joint_names":["elbow_joint"],"positions":[1.2]}})";
inline const std::string elbow_setpoint =
    R"({"id":"s","setpoint":{"joint_names":["elbow_joint"],"positions":[1.61]}})";

/// A trajectory long enough to wait in the planning queue.
inline std::string long_trajectory(const Json& more = Json::object()) {
  Json points = Json::array();
  for (int i = 1; i <= 300; ++i) points.push_back({{"time_from_start", 1.0 * i}, {"positions", {1.57}}});
  Json body{{"joint_names", {"elbow_joint"}}, {"points", points}};
  body.update(more);
  return Json{{"id", "long"}, {"trajectory", body}}.dump();
}

}  // namespace takt::test
