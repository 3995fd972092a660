// An executor that works when the test asks for it, and requests that queue behind a running goal. The tests
// of planning and of waiting motions share them.
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "motion/server_bench.hpp"

namespace takt::test {

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

inline ServerOptions with(Elsewhere& elsewhere) {
  ServerOptions options;
  options.executor = std::ref(elsewhere);
  return options;
}

inline std::string queued_move(const std::string& joint, double position, int id) {
  return Json{{"id", id},
              {"move", {{"joint_names", {joint}}, {"positions", {position}}, {"when_busy", "queue"}}}}
      .dump();
}

/// The only request that reached the loop since the last call.
inline Request* only_taken(Bench& bench) {
  Request* request = bench.taken();
  REQUIRE(request != nullptr);
  REQUIRE(bench.taken() == nullptr);
  return request;
}

/// A running goal of client 1 on the elbow.
inline Request* run_elbow(Bench& bench) {
  bench.connect(1);
  bench.ask(1, move_elbow);
  Request* running = only_taken(bench);
  bench.emit(GoalState::active, 1, nullptr);
  bench.said(1);
  return running;
}

}  // namespace takt::test
