#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "component/probe.hpp"
#include "support/random.hpp"
#include "takt/component/context_thread.hpp"
#include "takt/component/drivers.hpp"
#include "takt/component/parameter.hpp"
#include "takt/platform/event_waiter.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using namespace takt::component;
using takt::test::Probe;

namespace {

constexpr Duration patience = std::chrono::seconds(60);

/// Notices when two threads execute it at once, and counts its cycles in plain memory. ThreadSanitizer sees
/// it if a context hands it over without order.
struct Counter final : Component {
  Counter() : Component(Probe::about, "counter") {}

  Status on_execute(const CycleTime& /*cycle*/) noexcept override {
    if (inside.exchange(true)) doubled = true;
    ++count;
    inside = false;
    return {};
  }

  std::uint64_t count = 0;
  std::atomic<bool> inside{false};
  std::atomic<bool> doubled{false};
};

}  // namespace

TEST_CASE(
    "a component migrates between a periodic and an event-driven context, and no cycle is missed or "
    "doubled") {
  ExecutionContext periodic({.name = "periodic"}), events({.name = "events"});
  Counter counter;
  REQUIRE(periodic.add(counter));
  REQUIRE(periodic.activate(counter));
  platform::SteadyClock clock;
  auto waiter = platform::EventWaiter::create();
  REQUIRE(waiter);
  TickCounter ticks;
  ContextThread one(periodic, {}, [&] {
    return run_periodically(periodic, clock, {.period = std::chrono::microseconds(100)});
  });
  ContextThread two(events, {}, [&] { return run_on_events(events, clock, *waiter, ticks); });

  // The executions of each stay must be the cycles of the context between its two boundaries.
  std::uint64_t executions = 0;
  std::array<ExecutionContext*, 2> contexts = {&periodic, &events};
  const std::size_t migrations = test::count(10000, 10);
  for (std::size_t i = 0; i < migrations; ++i) {
    ExecutionContext& from = *contexts[i % 2];
    ExecutionContext& to = *contexts[1 - i % 2];
    ticks.post(events);
    REQUIRE(
        from.apply({.deactivate = {}, .activate = {}, .migrate = {{&counter, &to, {}}}}, patience).status);
    std::uint64_t stayed = 0;
    const auto rows = to.participants(patience);
    REQUIRE(rows);
    for (const Participant& row : *rows) {
      if (row.component == &counter) stayed = row.executions;
    }
    // `executions` of the row travels with the component: it counts all of its cycles, in all contexts.
    CHECK(stayed >= executions);
    executions = stayed;
  }
  ExecutionContext& last = *contexts[migrations % 2];
  REQUIRE(last.deactivate(counter, patience));
  const auto rows = last.participants(patience);
  REQUIRE(rows);
  REQUIRE(rows->size() == 1);
  CHECK((*rows)[0].executions == counter.count);
  CHECK_FALSE(counter.doubled);
  CHECK(one.stop());
  CHECK(two.stop());
}

TEST_CASE("in virtual time a migrating component runs once in every period of its path") {
  auto random = test::generator(2110);
  ExecutionContext fast({.name = "fast"}), slow({.name = "slow"});
  Counter counter;
  REQUIRE(fast.add(counter));
  REQUIRE(fast.activate(counter));
  const Duration ms = std::chrono::milliseconds(1);
  VirtualTime time;
  REQUIRE(time.add(fast, ms));
  REQUIRE(time.add(slow, 3 * ms));
  std::uint64_t expected = 0;
  bool is_fast = true;
  for (std::size_t i = 0; i < test::count(2000); ++i) {
    const auto steps = test::uniform_int(random, 1, 12);
    const std::uint64_t fast_before = fast.cycles();
    const std::uint64_t slow_before = slow.cycles();
    time.run_until(time.now() + ms * steps);
    expected += is_fast ? fast.cycles() - fast_before : slow.cycles() - slow_before;
    CHECK(counter.count == expected);
    // From another thread, as a request must come; the boundary is the next cycle of the context.
    ExecutionContext& from = is_fast ? fast : slow;
    ExecutionContext& to = is_fast ? slow : fast;
    std::atomic<bool> applied = false;
    std::thread request([&] {
      CHECK(
          from.apply({.deactivate = {}, .activate = {}, .migrate = {{&counter, &to, {}}}}, patience).status);
      applied = true;
    });
    while (!applied) {
      const std::uint64_t fast_then = fast.cycles();
      const std::uint64_t slow_then = slow.cycles();
      const ExecutionContext* before = counter.context();
      const std::uint64_t count = counter.count;
      time.run_until(time.now() + ms);
      // In each period the component runs at most once per cycle of either context, and in its own always.
      const std::uint64_t fast_cycles = fast.cycles() - fast_then;
      const std::uint64_t slow_cycles = slow.cycles() - slow_then;
      CHECK(counter.count - count <= fast_cycles + slow_cycles);
      if (before == counter.context())
        CHECK(counter.count - count == (before == &fast ? fast_cycles : slow_cycles));
      std::this_thread::yield();
    }
    request.join();
    expected = counter.count;
    is_fast = !is_fast;
  }
  CHECK_FALSE(counter.doubled);
}

TEST_CASE("virtual time runs contexts by due time, and equal times in the order of their addition") {
  struct Writer final : Component {
    Writer(std::string name, std::string& to_record)
        : Component(Probe::about, std::move(name)), record(&to_record) {}
    Status on_execute(const CycleTime& cycle) noexcept override {
      *record += name() + std::to_string(to_nanoseconds(cycle.time)) + " ";
      return {};
    }
    std::string* record;
  };
  std::string record;
  Writer a("a", record), b("b", record);
  ExecutionContext first, second;
  REQUIRE(first.add(a));
  REQUIRE(second.add(b));
  REQUIRE(first.activate(a));
  REQUIRE(second.activate(b));
  VirtualTime time;
  REQUIRE(time.add(first, Duration(2)));
  REQUIRE(time.add(second, Duration(3)));
  time.run_until(Time(Duration(7)));
  CHECK(record == "a0 b0 a2 b3 a4 a6 b6 ");
  CHECK(time.now() == Time(Duration(7)));
}

TEST_CASE("a context that runs on events does one cycle for each tick") {
  ExecutionContext context;
  Probe probe;
  REQUIRE(context.add(probe));
  REQUIRE(context.activate(probe));
  platform::SteadyClock clock;
  auto waiter = platform::EventWaiter::create();
  REQUIRE(waiter);
  TickCounter ticks;
  ContextThread thread(context, {},
                       [&] { return run_on_events(context, clock, *waiter, ticks, std::chrono::hours(1)); });
  for (int i = 0; i < 1000; ++i) ticks.post(context);
  while (probe.executions < 1000) std::this_thread::yield();
  CHECK(thread.stop());
  CHECK(probe.executions <= 1001);  // the first cycle needs no tick
}

TEST_CASE("requests to a context that runs on events take effect, and execute no component") {
  struct Tunable final : Component {
    Tunable() : Component(Probe::about, "tunable") {}
    Status on_execute(const CycleTime& /*cycle*/) noexcept override {
      ++executions;
      return {};
    }
    Parameter<double> gain{*this, "gain", {.initial = 1}};
    std::atomic<int> executions{0};
  };
  ExecutionContext context;
  Tunable tunable;
  Probe probe;
  REQUIRE(context.add(tunable));
  REQUIRE(context.activate(tunable));
  platform::SteadyClock clock;
  auto waiter = platform::EventWaiter::create();
  REQUIRE(waiter);
  TickCounter ticks;
  ContextThread thread(context, {},
                       [&] { return run_on_events(context, clock, *waiter, ticks, std::chrono::hours(1)); });
  while (context.cycles() == 0) std::this_thread::yield();  // the first cycle, at the start
  for (int i = 1; i <= 100; ++i) {
    REQUIRE(context.participants(patience));
    REQUIRE(context.loop_statistics(patience));
    REQUIRE(tunable.parameters().set("gain", double(i), "test", patience));
    REQUIRE(context.add(probe, {}, patience));
    REQUIRE(context.place(probe, {.order = -1}, patience));
    REQUIRE(context.remove(probe, patience));
  }
  CHECK(*tunable.gain == 100);
  CHECK(context.cycles() == 1);
  CHECK(tunable.executions == 1);

  // An event is a cycle, once. So is an activation, because events may have come before it.
  context.wake();
  while (context.cycles() < 2) std::this_thread::yield();
  REQUIRE(context.deactivate(tunable, patience));
  REQUIRE(context.participants(patience));
  CHECK(context.cycles() == 2);
  CHECK(tunable.executions == 2);
  REQUIRE(context.activate(tunable, patience));
  while (context.cycles() < 3) std::this_thread::yield();
  REQUIRE(context.participants(patience));
  CHECK(context.cycles() == 3);
  CHECK(tunable.executions == 3);
  CHECK(thread.stop());
  CHECK(context.cycles() == 3);
}

TEST_CASE("a context that runs on events executes its silent cycles on time beside any number of requests") {
  ExecutionContext context;
  Probe probe;
  REQUIRE(context.add(probe));
  REQUIRE(context.activate(probe));
  platform::SteadyClock clock;
  auto waiter = platform::EventWaiter::create();
  REQUIRE(waiter);
  TickCounter ticks;
  ContextThread thread(context, {}, [&] {
    return run_on_events(context, clock, *waiter, ticks, std::chrono::milliseconds(1));
  });
  while (probe.executions < 20) REQUIRE(context.participants(patience));
  CHECK(thread.stop());
}

TEST_CASE(
    "a ring while a driver ends reaches no waiter that is gone, and a second driver disturbs no first") {
  ExecutionContext context;
  platform::SteadyClock clock;
  std::atomic<bool> done = false;
  std::thread ringer([&] {
    while (!done) context.wake();
  });
  for (std::size_t i = 0; i < test::count(300); ++i) {
    auto waiter = std::make_unique<platform::EventWaiter>(platform::EventWaiter::create().value());
    TickCounter ticks;
    {
      ContextThread thread(context, {}, [&] { return run_on_events(context, clock, *waiter, ticks); });
      while (!context.is_running()) std::this_thread::yield();
      TickCounter others;
      CHECK(run_on_events(context, clock, *waiter, others).error() == Errc::already_running);
      CHECK(thread.stop());
    }
    waiter.reset();
  }
  done = true;
  ringer.join();
}
