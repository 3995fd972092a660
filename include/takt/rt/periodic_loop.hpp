// Calls a function once per period at absolute deadlines, with any Clock. On a robot the clock is a
// SteadyClock or HybridClock. With a ManualClock the same loop runs as fast as the processor can, with the
// same ticks in every run.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/rt/error.hpp"
#include "takt/rt/histogram.hpp"
#include "takt/rt/tracer.hpp"

namespace takt::rt {

/// The reaction to a cycle that ends after the next one was due.
enum class OverrunPolicy : std::uint8_t {
  /// Continues at the next multiple of the period that lies ahead, and counts the missed periods. Nominal
  /// time jumps. A motion that advances one period per executed cycle does not jump: a late loop delays the
  /// motion, and the reference stays continuous.
  skip,
  /// Runs the late cycles at once, back to back, if at most `catch_up_limit` are due; otherwise skips. A
  /// motion keeps up with the clock, but drives receive several commands in quick succession. For loops that
  /// count cycles.
  catch_up,
};

/// The configuration of a loop.
struct PeriodicConfig {
  /// The time between two calls; must be positive.
  Duration period = std::chrono::milliseconds(1);
  /// The time of the first call. The default, or a past time, means at once.
  Time start = Time::min();
  OverrunPolicy overrun = OverrunPolicy::skip;
  std::uint32_t catch_up_limit = 4;  ///< cycles
  /// Records what each cycle does, while it is on; must outlive the loop. Null: nothing does.
  Tracer* tracer = nullptr;
};

/// The argument of each call. In the first call index, lateness (nearly), overruns, missed and busy are 0.
struct Tick {
  std::uint64_t index = 0;     ///< cycles executed before this one
  Time due{};                  ///< nominal time: start + (index + overruns) * period
  Time woke{};                 ///< time at which the loop woke up
  Duration lateness{};         ///< woke - due
  Duration busy{};             ///< of the cycle before: from its waking to the end of its work
  std::uint64_t overruns = 0;  ///< periods since the start in which no cycle was executed
  /// Periods in a row without a cycle, between the cycle before and this one. It is the larger of the skipped
  /// periods and the periods that passed on the clock, rounded. So it tells, for any policy, how long the
  /// loop was silent.
  std::uint64_t missed = 0;
  Tracer* tracer = nullptr;  ///< for the spans of this cycle; null: it is not traced
};

/// The return value of a cycle.
enum class Verdict : std::uint8_t { proceed, stop };

/// The statistics of all runs of a loop.
struct LoopStatistics {
  std::uint64_t cycles = 0;
  std::uint64_t overruns = 0;     ///< periods in which no cycle was executed
  std::uint64_t late_cycles = 0;  ///< cycles that ended after the next one was due
  /// Wake-up time minus due time of each cycle.
  Histogram lateness;
  /// Time from the wake-up to the end of the work of each cycle.
  Histogram busy;
};

/// Runs a function periodically on the calling thread.
template <Clock C>
class PeriodicLoop {
 public:
  /// Makes a loop. The clock must outlive it. Errors: period_not_positive.
  [[nodiscard]] static Result<PeriodicLoop> create(C& clock, const PeriodicConfig& config) noexcept {
    if (config.period <= Duration(0)) return fail(Errc::period_not_positive);
    return PeriodicLoop(clock, config);
  }

  /// Calls cycle(const Tick&) once per period until it returns Verdict::stop. A second run() starts again, at
  /// once if the configured start has passed; statistics continue. Real-time safe if `cycle` is.
  template <class Cycle>
  requires std::is_nothrow_invocable_r_v<Verdict, Cycle&, const Tick&>
  void run(Cycle&& cycle) noexcept {
    Tick tick;
    const Time now = clock_->now();
    tick.due = config_.start > now ? config_.start : now;
    for (;;) {
      tick.tracer = config_.tracer == nullptr ? nullptr : config_.tracer->in_this_cycle();
      sleep_until(tick);
      const Time before = tick.woke;
      tick.woke = clock_->now();
      if (tick.index > 0) tick.missed = std::max(tick.missed, passed_between(before, tick.woke));
      tick.lateness = tick.woke - tick.due;
      statistics_.lateness.record(tick.lateness);
      if (tick.tracer != nullptr && tick.missed > 0)
        tick.tracer->mark(overrun_text, static_cast<std::uint32_t>(tick.missed));

      const Verdict verdict = run_one(cycle, tick);

      const Time done = clock_->now();
      tick.busy = done - tick.woke;
      statistics_.busy.record(tick.busy);
      ++statistics_.cycles;
      if (verdict == Verdict::stop) return;
      advance(tick, done);
    }
  }

  /// Statistics of all runs so far. Call it only on the loop's own thread: inside the cycle, or after run().
  [[nodiscard]] const LoopStatistics& statistics() const noexcept { return statistics_; }
  [[nodiscard]] const PeriodicConfig& config() const noexcept { return config_; }

 private:
  PeriodicLoop(C& clock, const PeriodicConfig& config) noexcept : clock_(&clock), config_(config) {}

  void sleep_until(const Tick& tick) noexcept {
    const TraceScope span(tick.tracer, sleep_text);
    clock_->sleep_until(tick.due);
  }
  template <class Cycle>
  [[nodiscard]] Verdict run_one(Cycle& cycle, const Tick& tick) noexcept {
    const TraceScope span(tick.tracer, cycle_text);
    return cycle(tick);
  }

  /// Whole periods between the wake-ups of two cycles, not counting the expected one.
  [[nodiscard]] std::uint64_t passed_between(Time before, Time now) const noexcept {
    const std::int64_t periods = (now - before + config_.period / 2) / config_.period;
    return periods > 1 ? static_cast<std::uint64_t>(periods - 1) : 0;
  }

  void advance(Tick& tick, Time done) noexcept {
    ++tick.index;
    tick.missed = 0;
    tick.due += config_.period;
    if (done <= tick.due) return;
    ++statistics_.late_cycles;
    // The number of cycles whose time has passed, rounded up. With skip, the first cycle after them runs
    // next.
    const std::int64_t missed = (done - tick.due - Duration(1)) / config_.period + 1;
    if (config_.overrun == OverrunPolicy::catch_up && missed <= config_.catch_up_limit) return;
    tick.due += missed * config_.period;
    tick.missed = static_cast<std::uint64_t>(missed);
    tick.overruns += tick.missed;
    statistics_.overruns += tick.missed;
  }

  C* clock_;
  PeriodicConfig config_;
  LoopStatistics statistics_;
};

}  // namespace takt::rt
