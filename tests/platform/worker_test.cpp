#include "takt/platform/worker.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "motion/planning_bench.hpp"

using takt::platform::Worker;

TEST_CASE("work is done in order, on a thread of its own") {
  std::vector<int> order;
  std::promise<std::thread::id> done;
  Worker worker;
  for (int i = 0; i < 100; ++i) worker([&order, i] { order.push_back(i); });
  worker([&done] { done.set_value(std::this_thread::get_id()); });
  CHECK(done.get_future().get() != std::this_thread::get_id());
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a worker that ends finishes what it has begun") {
  std::promise<void> begun;
  bool finished = false;
  {
    Worker worker;
    worker([&] {
      begun.set_value();
      finished = true;
    });
    begun.get_future().wait();
  }
  CHECK(finished);
}

TEST_CASE("a worker plans for a motion server while clients come, ask and go") {
  using namespace takt::motion;
  using namespace takt::test;
  using namespace std::chrono_literals;
  Worker worker;
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
  for (takt::ClientId client = 1; client <= 20; ++client) {
    bench.connect(client);
    bench.ask(client, long_trajectory({{"on_disconnect", "continue"}}));
    bench.ask(client, move_elbow);
    if (client % 3 == 0) bench.ask(client, R"({"cancel":{}})");
    if (client % 2 == 0) bench.server.disconnected(client, bench.now);
    play_loop();
  }
  while (bench.poll() < 10ms) {
    play_loop();
    std::this_thread::yield();
  }
  CHECK(begun >= 2);  // only the last client's disconnection recalls those of the last two
  CHECK(bench.server.goals() == 0);
  CHECK(bench.server.borrowed() == 0);
}
