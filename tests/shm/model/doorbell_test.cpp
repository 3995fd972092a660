// Explores the doorbell: no ring is missed, and a waiter that dies leaves the bell to the next. A waiter
// without its barrier must be found asleep.
#include <doctest/doctest.h>

#include <atomic>
#include <string>

#include "shm/model/proofs.hpp"
#include "takt/platform/doorbell.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::model;

namespace {

/// Doorbells without clocks. A waiter that is not woken sleeps until the end, and the explorer reports it.
template <bool registers, bool barriers>
struct DoorbellModel : Machine {
  static bool register_for_barriers() noexcept { return registers; }
  static bool barrier() noexcept {
    if (barriers) Machine::barrier();
    return true;
  }
  static void keep_order() noexcept {}  // the model runs the steps of a thread in program order
  static void sleep_while(const Atomic<std::uint32_t>& word, std::uint32_t expected, Time) noexcept {
    word.sleep_while(expected);
  }
  static void wake_all(Atomic<std::uint32_t>& word) noexcept { word.wake_all(); }
  static Time now() noexcept { return Time::min(); }
};

/// Waiters for a count that ringers increment. Every wait must end.
template <class System>
class DoorbellProblem {
 public:
  [[nodiscard]] auto ringer(std::uint32_t messages) {
    return [this, messages] {
      platform::BasicRinger<System> ringer(bell);
      for (std::uint32_t i = 0; i < messages; ++i) {
        // relaxed: the doorbell alone must make the waiter see it.
        published.fetch_add(1, std::memory_order_relaxed);
        ringer.ring();
      }
    };
  }
  [[nodiscard]] auto waiter(std::uint32_t messages) {
    return [this, messages] {
      platform::BasicWaiter<System> waiter(bell);
      for (std::uint32_t i = 1; i <= messages; ++i) {
        const bool ready =
            waiter.wait_until(Time::max(), [&] { return published.load(std::memory_order_relaxed) >= i; });
        Explorer::require(ready, "a wait ended without cause");
      }
    };
  }

  Explorer explorer;
  platform::BasicDoorbell<System> bell;
  Machine::Atomic<std::uint32_t> published;
};

template <class System>
test::model::Verdict explore_doorbell(std::size_t ringers, std::size_t waiters, std::uint32_t messages) {
  DoorbellProblem<System> problem;
  problem.explorer.check([](const Observed&) { return std::string(); });
  const auto all = static_cast<std::uint32_t>(ringers) * messages;
  for (std::size_t i = 0; i < ringers; ++i) problem.explorer.thread(problem.ringer(messages));
  for (std::size_t i = 0; i < waiters; ++i) problem.explorer.thread(problem.waiter(all));
  const auto verdict = problem.explorer.explore();
  MESSAGE(verdict.states << " states, " << verdict.runs << " ends");
  return verdict;
}

}  // namespace

TEST_CASE(
    "model: no ring of a doorbell is missed, with the barrier or, unregistered, with read-modify-writes") {
  using ByBarrier = DoorbellModel<true, true>;
  using ByExchange = DoorbellModel<false, false>;
  CHECK(explore_doorbell<ByBarrier>(1, 1, 2).violation == "");
  CHECK(explore_doorbell<ByBarrier>(1, 2, 1).violation == "");
  CHECK(explore_doorbell<ByBarrier>(2, 1, 1).violation == "");
  CHECK(explore_doorbell<ByExchange>(1, 1, 2).violation == "");
  CHECK(explore_doorbell<ByExchange>(1, 2, 1).violation == "");
  CHECK(explore_doorbell<ByExchange>(2, 1, 1).violation == "");
}

TEST_CASE("model: a doorbell whose waiter leaves the barrier out is found to be missed") {
  CHECK(explore_doorbell<DoorbellModel<true, false>>(1, 1, 1).violation ==
        "asleep, and nobody is left to wake it");
}

TEST_CASE("model: every order of an unregistered doorbell is needed") {
  DoorbellProblem<DoorbellModel<false, false>> problem;
  problem.explorer.check([](const Observed&) { return std::string(); });
  problem.explorer.thread(problem.ringer(1));
  problem.explorer.thread(problem.waiter(1));
  problem.explorer.thread(problem.waiter(1));
  prove(problem.explorer);
}

TEST_CASE("model: a waiter that dies anywhere, also asleep, leaves the bell to the next") {
  DoorbellProblem<DoorbellModel<true, true>> problem;
  problem.explorer.check([](const Observed&) { return std::string(); });
  problem.explorer.thread(problem.ringer(2));
  problem.explorer.mortal_thread(problem.waiter(1), problem.waiter(2));
  CHECK(problem.explorer.explore().violation == "");
}
