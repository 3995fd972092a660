#include "takt/rt/realtime_goal_handle.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/rt/realtime_buffer.hpp"

using namespace takt;
using namespace takt::rt;

namespace {

struct Result {
  std::array<int, 5> sequence{};
  bool operator==(const Result&) const = default;
};
using Handle = RealtimeGoalHandle<Result, int>;
constexpr Result fibonacci{{1, 1, 2, 3, 5}};

/// A client that notes what arrives.
struct Client {
  std::vector<int> feedback;
  std::vector<GoalOutcome> ends;
  std::optional<Result> result;

  bool serve(Handle& handle) {
    return handle.run_non_realtime(
        [&](int value) {
          CHECK(ends.empty());
          feedback.push_back(value);
        },
        [&](GoalOutcome outcome, const Result& value) {
          ends.push_back(outcome);
          result = value;
        });
  }
};

}  // namespace

// ---- the cases of realtime_tools ----

TEST_CASE("a goal that succeeds, aborts or is canceled delivers its outcome with its result") {
  for (const GoalOutcome outcome : {GoalOutcome::succeeded, GoalOutcome::aborted, GoalOutcome::canceled}) {
    Handle handle;
    Client client;
    CHECK_FALSE(client.serve(handle));
    CHECK(client.ends.empty());
    if (outcome == GoalOutcome::canceled) {
      handle.request_cancel();
      CHECK(handle.cancel_requested());
      CHECK(handle.set_canceled(fibonacci));
    } else {
      CHECK_FALSE(handle.cancel_requested());
      CHECK((outcome == GoalOutcome::aborted ? handle.set_aborted(fibonacci)
                                             : handle.set_succeeded(fibonacci)));
    }
    CHECK(client.serve(handle));
    CHECK(client.ends == std::vector{outcome});
    CHECK(client.result == fibonacci);
  }
}

TEST_CASE("feedback is delivered once") {
  Handle handle;
  Client client;
  CHECK(handle.set_feedback(7));
  CHECK_FALSE(client.serve(handle));
  CHECK_FALSE(client.serve(handle));
  CHECK(client.feedback == std::vector{7});
}

// ---- what takt adds ----

TEST_CASE("the first end of a goal counts, and is delivered once") {
  Handle handle;
  Client client;
  CHECK(handle.set_aborted(fibonacci));
  CHECK_FALSE(handle.set_succeeded());
  CHECK_FALSE(handle.set_canceled());
  CHECK_FALSE(handle.set_feedback(1));
  CHECK(client.serve(handle));
  CHECK(client.serve(handle));
  CHECK(client.ends == std::vector{GoalOutcome::aborted});
  CHECK(client.result == fibonacci);
  CHECK(client.feedback.empty());
}

TEST_CASE("the newest feedback wins, the others are counted, and the last comes before the end") {
  Handle handle;
  Client client;
  for (int i = 1; i <= 5; ++i) handle.set_feedback(i);
  CHECK(handle.set_succeeded());
  CHECK(client.serve(handle));
  CHECK(client.feedback == std::vector{5});
  CHECK(client.ends == std::vector{GoalOutcome::succeeded});
  CHECK(handle.overwritten_feedback() == 4);
}

TEST_CASE("an end survives a client whose feedback function throws") {
  Handle handle;
  Client client;
  handle.set_feedback(1);
  handle.set_succeeded(fibonacci);
  CHECK_THROWS_AS(handle.run_non_realtime([](int) { throw std::runtime_error("away"); },
                                          [](GoalOutcome, const Result&) {}),
                  std::runtime_error);
  CHECK(client.serve(handle));
  CHECK(client.result == fibonacci);
}

TEST_CASE("a goal without data needs no types") {
  RealtimeGoalHandle<> handle;
  handle.set_feedback({});
  handle.set_succeeded();
  int calls = 0;
  CHECK(handle.run_non_realtime([&](NoGoalData) { ++calls; }, [&](GoalOutcome, NoGoalData) { ++calls; }));
  CHECK(calls == 2);
}

TEST_CASE("the loop's side of a goal keeps the rules of the loop") {
  Handle handle;
  test::RtGuard guard;
  for (int i = 0; i < 100; ++i) {
    if (handle.cancel_requested()) handle.set_canceled(fibonacci);
    handle.set_feedback(i);
  }
  handle.set_succeeded(fibonacci);
  CHECK(guard.report() == "");
}

TEST_CASE("between threads goals pass to the loop, and all ends and last feedbacks come back") {
  constexpr int goals = 300;
  RealtimeBuffer<std::shared_ptr<Handle>> active;
  std::atomic<bool> over{false};
  std::thread loop([&] {
    const std::shared_ptr<Handle>* last = nullptr;
    while (!over.load()) {
      const std::shared_ptr<Handle>* const goal = active.read();
      if (goal == last) {
        std::this_thread::yield();
        continue;
      }
      last = goal;
      for (int i = 1; i <= 10; ++i) (*goal)->set_feedback(i);
      (*goal)->set_succeeded(fibonacci);
    }
  });
  std::uint64_t feedback = 0;
  for (int i = 0; i < goals; ++i) {
    const auto handle = std::make_shared<Handle>();
    active.write(handle);
    Client client;
    while (!client.serve(*handle)) std::this_thread::yield();
    CHECK(client.ends == std::vector{GoalOutcome::succeeded});
    CHECK(client.result == fibonacci);
    REQUIRE_FALSE(client.feedback.empty());
    CHECK(client.feedback.back() == 10);
    feedback += client.feedback.size() + handle->overwritten_feedback();
  }
  over = true;
  loop.join();
  CHECK(feedback == 10 * goals);
}

TEST_CASE("random reports arrive as from a plain state machine") {
  for (std::size_t round = 0; round < test::count(300); ++round) {
    auto random = test::generator(round);
    Handle handle;
    Client client;
    std::vector<int> expected;
    std::optional<int> waiting;
    std::optional<GoalOutcome> ended;
    for (int step = 1; step <= 30; ++step) {
      switch (test::uniform_int(random, 0, 12)) {
        case 0:
          if (handle.set_succeeded()) ended = GoalOutcome::succeeded;
          break;
        case 1:
          if (handle.set_aborted()) ended = GoalOutcome::aborted;
          break;
        case 2:
        case 3:
        case 4:
        case 5:
          REQUIRE(handle.set_feedback(step) == !ended);
          if (!ended) waiting = step;
          break;
        default:
          if (waiting) expected.push_back(*waiting);
          waiting.reset();
          REQUIRE(client.serve(handle) == ended.has_value());
          REQUIRE(client.feedback == expected);
          REQUIRE(client.ends.size() == (ended ? 1u : 0u));
          if (ended) REQUIRE(client.ends.front() == *ended);
      }
    }
  }
}
