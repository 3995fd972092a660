// Who runs an execution context, and when:
//
//   run_periodically()  at absolute deadlines, on any Clock (rt/periodic_loop.hpp)
//   run_on_events()     when an event, a tick or a request arrives
//   VirtualTime         several contexts in simulated time, as fast as the processor goes
//   Composite           inside a component of another context
//
// A program that owns its loop calls start(), run_cycle() and stop() itself. All functions here run in the
// caller's thread until somebody calls ExecutionContext::request_stop(). ContextThread starts a thread for
// them.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/component/execution_context.hpp"
#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/rt/periodic_loop.hpp"

namespace takt::component {

/// Makes a Clock the clock of budgets. The clock must outlive it.
template <Clock C>
class BudgetClockOf final : public BudgetClock {
 public:
  explicit BudgetClockOf(C& clock) noexcept : clock_(&clock) {}
  [[nodiscard]] Time now() noexcept override { return clock_->now(); }

 private:
  C* clock_;
};

/// Runs cycles once per period until one returns Verdict::stop: those of a context, of robot::Manager, of
/// motion::Loop. `cycles` has start(Time) -> Status, cycle(const rt::Tick&) -> rt::Verdict, stop(Time), and
/// context(), whose budgets use the clock meanwhile. They start with the first cycle, at its due time.
/// `statistics` receives the loop's statistics at the end. Real-time safe after set-up. Errors: those of
/// PeriodicLoop::create() and of start().
template <Clock C, class Cycles>
[[nodiscard]] Status run_cycles(Cycles& cycles, C& clock, const rt::PeriodicConfig& config,
                                rt::LoopStatistics* statistics = nullptr) {
  auto loop = rt::PeriodicLoop<C>::create(clock, config);
  if (!loop) return fail(loop.error());
  BudgetClockOf<C> budgets(clock);
  Status begun;
  bool runs = false;
  loop->run([&](const rt::Tick& tick) noexcept {
    if (!std::exchange(runs, true)) {
      begun = cycles.start(tick.due);
      if (!begun) return rt::Verdict::stop;
      cycles.context().set_budget_clock(&budgets);
      cycles.context().set_loop_statistics(&loop->statistics());
    }
    return cycles.cycle(tick);
  });
  if (!begun) return begun;
  cycles.context().set_budget_clock(nullptr);
  cycles.context().set_loop_statistics(nullptr);
  cycles.stop(clock.now());
  if (statistics != nullptr) *statistics = loop->statistics();
  return {};
}

/// Runs the context once per period until a stop is requested. The period is config.period, which becomes the
/// context's. `statistics` receives the loop's statistics at the end. Real-time safe after set-up.
/// Errors: already_running; those of PeriodicLoop::create().
template <Clock C>
[[nodiscard]] Status run_periodically(ExecutionContext& context, C& clock, const rt::PeriodicConfig& config,
                                      rt::LoopStatistics* statistics = nullptr) {
  struct Cycles {
    Status start(Time now) noexcept {
      last_woke = now;
      return of.start(now);
    }
    rt::Verdict cycle(const rt::Tick& tick) noexcept {
      of.set_tracer(tick.tracer);
      of.run_cycle(tick.due, tick.woke - std::exchange(last_woke, tick.woke));
      return of.stop_requested() ? rt::Verdict::stop : rt::Verdict::proceed;
    }
    void stop(Time now) noexcept {
      of.set_tracer(nullptr);
      of.stop(now);
    }
    ExecutionContext& context() noexcept { return of; }

    ExecutionContext& of;
    Time last_woke{};
  } cycles{context};
  if (config.period > Duration(0)) {
    if (const Status status = context.set_period(config.period); !status) return status;
  }
  return run_cycles(cycles, clock, config, statistics);
}

/// Where a context that runs on events waits. platform/event_waiter.hpp waits for file descriptors, too.
/// * wait_until(deadline): returns at the deadline, after a ring(), or earlier. True if it saw an event
///   of its own, such as input on a descriptor.
/// * ring(): ends the present wait, or the next one. From any thread; real-time safe.
template <class W>
concept WaitsForEvents = requires(W& waiter, Time deadline) {
  { waiter.wait_until(deadline) }
  noexcept->std::same_as<bool>;
  { waiter.ring() }
  noexcept;
};

/// Counts ticks that other threads post. None is lost: n ticks are n cycles.
class TickCounter {
 public:
  /// Posts ticks and wakes the context. Real-time safe; from any thread.
  void post(const ExecutionContext& context, std::uint32_t ticks = 1) noexcept {
    // acq_rel: the cycle sees what was written before the tick. And a tick that comes after the driver's
    // first take() finds the waiter that the driver has set before.
    ticks_.fetch_add(ticks, std::memory_order_acq_rel);
    context.ring();
  }
  /// Takes one tick. Returns false if there is none. Only the driver calls it.
  bool take() noexcept {
    // A read-modify-write, so that it has a place among the posts.
    if (ticks_.fetch_add(0, std::memory_order_acq_rel) == 0) return false;
    ticks_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

 private:
  std::atomic<std::uint32_t> ticks_{0};
};

/// Runs the context on events until a stop is requested. A cycle comes at the start, for each posted tick,
/// and after each other event (ExecutionContext::wake(), or one that the waiter saw). `silence` is the
/// longest time without a cycle; such a cycle finds no event. Requests take effect at once, and execute no
/// component. Only if one becomes active or arrives, a cycle follows: events may have come before it. Errors:
/// already_running.
template <Clock C, WaitsForEvents W>
[[nodiscard]] Status run_on_events(ExecutionContext& context, C& clock, W& waiter, TickCounter& ticks,
                                   Duration silence = std::chrono::milliseconds(100)) {
  struct Bell final : Wake {
    explicit Bell(W& to_ring) noexcept : rung(&to_ring) {}
    void ring() noexcept override { rung->ring(); }
    W* rung;
  } bell(waiter);
  Time last = clock.now();
  if (const Status status = context.start(last); !status) return status;
  BudgetClockOf<C> budgets(clock);
  context.set_wake(&bell);
  context.set_budget_clock(&budgets);
  const auto has_event = [&] {
    const bool was_woken = context.take_event();
    return ticks.take() || was_woken;
  };
  for (bool is_first = true; !context.stop_requested(); is_first = false) {
    bool is_due = has_event() || is_first;
    if (!is_due) {
      const Time deadline = last + silence;
      const bool has_input = waiter.wait_until(deadline);
      is_due = has_event() || has_input || clock.now() >= deadline;
    }
    const Time now = clock.now();
    if (is_due || context.serve(now)) context.run_cycle(now, now - std::exchange(last, now));
  }
  context.set_wake(nullptr);
  context.set_budget_clock(nullptr);
  context.stop(clock.now());
  return {};
}

/// Runs several contexts in simulated time, in one thread. The order is always the same: by due time, and at
/// equal times by the order of add(). Due times are integer multiples of the period, so nothing drifts.
class VirtualTime {
 public:
  explicit VirtualTime(Time start = Time{}) noexcept : now_(start) {}
  VirtualTime(const VirtualTime&) = delete;
  VirtualTime& operator=(const VirtualTime&) = delete;
  /// Stops the contexts.
  ~VirtualTime() {
    for (const Entry& entry : entries_) entry.context->stop(now_);
  }

  /// Adds a context, which must outlive this object, and starts it. It runs first at `phase` from now. Not
  /// real-time safe. Errors: bad_rate; already_running.
  [[nodiscard]] Status add(ExecutionContext& context, Duration period, Duration phase = {}) {
    if (period <= Duration(0) || phase < Duration(0)) return fail(Errc::bad_rate);
    if (const Status status = context.set_period(period); !status) return status;
    if (const Status status = context.start(now_); !status) return status;
    entries_.push_back({&context, period, now_ + phase});
    return {};
  }

  /// Runs all cycles that are due before `end`, and sets the time to `end`. Real-time safe.
  void run_until(Time end) noexcept {
    for (;;) {
      const auto next = std::min_element(entries_.begin(), entries_.end(),
                                         [](const Entry& a, const Entry& b) { return a.due < b.due; });
      if (next == entries_.end() || next->due >= end) break;
      now_ = next->due;
      next->context->run_cycle(now_, next->period);
      next->due += next->period;
    }
    now_ = std::max(now_, end);
  }

  /// The simulated time.
  [[nodiscard]] Time now() const noexcept { return now_; }

 private:
  struct Entry {
    ExecutionContext* context;
    Duration period;
    Time due;
  };

  Time now_;
  std::vector<Entry> entries_;
};

/// A component that runs others: the context inside it does one cycle in each cycle of the composite. The
/// components inside follow the composite's state: they run while it is active. Requests to them go to
/// inner(), and take effect at the composite's next cycle.
class Composite : public Component {
 public:
  /// Context of at most `max_components`.
  explicit Composite(std::string name, std::size_t max_components = 128)
      : Component(about, name),
        inner_({.name = std::move(name), .period = {}, .max_components = max_components}) {}

  static constexpr ComponentMetadata about{.type = "Composite",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "composite",
                                           .description = "Runs other components in its own cycle."};

  /// The context inside.
  [[nodiscard]] ExecutionContext& inner() noexcept { return inner_; }

  [[nodiscard]] Status on_activate(const CycleTime& cycle) noexcept override {
    return inner_.start(cycle.time);
  }
  [[nodiscard]] Status on_execute(const CycleTime& cycle) noexcept override {
    inner_.transitions(cycle.time, cycle.measured);
    inner_.execute();
    return {};
  }
  [[nodiscard]] Status on_state_update(const CycleTime& /*cycle*/) noexcept override {
    inner_.state_update();
    return {};
  }
  void on_deactivate(const CycleTime& cycle) noexcept override { inner_.stop(cycle.time); }

 private:
  ExecutionContext inner_;
};

}  // namespace takt::component
