// Both ends of a link, with the test in the place of server and loop. It can send anything that either could.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "motion/wire_support.hpp"
#include "takt/motion/planner.hpp"
#include "takt/motion/remote_loop.hpp"
#include "takt/motion/request_gateway.hpp"

namespace takt::test {

/// A trajectory of megabytes for the loop.
inline std::string long_way(int points) {
  const auto robot = arm6();
  nlohmann::json trajectory = nlohmann::json::object();
  for (const auto& joint : robot.joints) trajectory["joint_names"].push_back(joint.name);
  for (int i = 1; i <= points; ++i) {
    nlohmann::json positions = nlohmann::json::array();
    const double there = 1 - std::cos(2 * std::numbers::pi * i / points);
    for (const auto& joint : robot.joints) positions.push_back(joint.plant.start + 0.02 * there * there);
    trajectory["points"].push_back({{"time_from_start", 0.02 * i}, {"positions", positions}});
  }
  return nlohmann::json{{"id", "long"}, {"trajectory", trajectory}}.dump();
}

/// The two ends of a link; the test plays server and loop.
struct Ends {
  robot::RobotDescription robot = arm6();
  motion::Channels loop;
  motion::Channels server;
  std::vector<std::string> marks;  ///< received by the loop's side
  std::vector<motion::Refusal> refusals;
  int calls = 0;  ///< callbacks of the loop's side
  std::unique_ptr<motion::Link> link = std::make_unique<motion::Link>();
  motion::RequestGateway gateway{
      robot,
      loop,
      {.on_mark = [this](Time, std::string_view text) { marks.emplace_back(text); },
       .on_refusal = [this](Time, const motion::Refusal& why) { refusals.push_back(why); }}};
  motion::RemoteLoop remote{robot, server, {.on_sent = [this] { ++calls; }}};
  Time now = time_from_nanoseconds(1'000'000'000);
  std::vector<std::unique_ptr<motion::Request>> requests;

  Ends() {
    loop.state.write(ready_state(robot));
    gateway.attach(*link);
    REQUIRE(remote.attach(*link));
    poll();
  }
  void poll() {
    now += std::chrono::milliseconds(1);
    remote.poll(now);
    gateway.poll(now);
  }
  void hand_over(motion::RequestKind kind, motion::GoalId goal = 0) {
    auto request = std::make_unique<motion::Request>();
    request->kind = kind;
    request->goal = goal;
    hand_over(std::move(request));
  }
  void hand_over(std::unique_ptr<motion::Request> request) {
    REQUIRE(server.requests.try_push(request.get()));
    requests.push_back(std::move(request));
  }
  void hand_over_trajectory(motion::GoalId goal, int points) {
    const auto message = motion::parse_client_message(long_way(points));
    REQUIRE(message);
    auto planned =
        motion::plan(std::get<motion::TrajectoryMessage>(message->body), robot, ready_state(robot));
    if (!planned) FAIL(planned.error().message);
    (*planned)->goal = goal;
    hand_over(std::move(*planned));
  }
  /// The requests that the loop takes in one cycle.
  std::vector<motion::Request*> cycle() {
    std::vector<motion::Request*> taken;
    motion::Request* request = nullptr;
    while (taken.size() < motion::max_requests_per_cycle && loop.requests.try_pop(request))
      taken.push_back(request);
    return taken;
  }
  std::vector<motion::Event> events() {
    std::vector<motion::Event> events;
    motion::Event event;
    while (server.events.try_pop(event)) events.push_back(event);
    return events;
  }
};

}  // namespace takt::test
