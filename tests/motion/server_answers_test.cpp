// Tests the server with random requests, plans, rejections and ends, in any order. Every request gets one
// answer, and every accepted goal gets one result.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <map>
#include <random>
#include <vector>

#include "motion/planning_bench.hpp"
#include "support/random.hpp"

namespace {

using namespace takt::motion;
using namespace takt::test;
using takt::ClientId;
using takt::Duration;

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
      // In the order of the cycle: the goals begin to stop, the request is answered, the goals end.
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
