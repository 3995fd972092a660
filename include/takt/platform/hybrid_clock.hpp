// Wakes up on the nanosecond rather than some tens of microseconds late: sleeps until shortly before the time
// that it is asked for and spins over the rest. How long before adapts to how late the operating system wakes
// this thread.
#pragma once

#include "takt/core/time.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {

/// A Clock over CLOCK_MONOTONIC that trades processor time for punctuality. One sleep spins for at most
/// `longest_spin` of the configuration, and for at most a quarter of the time since the wake-up before: a
/// thread of SCHED_FIFO priority that spun on would be stopped by the kernel (real-time throttling, 95 % by
/// default). Real-time safe.
class HybridClock {
 public:
  struct Config {
    Duration shortest_spin = std::chrono::microseconds(20);
    Duration longest_spin = std::chrono::microseconds(200);
  };

  HybridClock() noexcept : HybridClock(Config{}) {}
  explicit HybridClock(const Config& config) noexcept;

  [[nodiscard]] Time now() const noexcept { return clock_.now(); }

  /// Returns at `time` or later, at once when it has passed.
  void sleep_until(Time time) noexcept;

  /// How long before the time asked for the thread is to be woken, at present.
  [[nodiscard]] Duration margin() const noexcept { return margin_; }

 private:
  void adapt(Duration wake_up_lateness) noexcept;

  SteadyClock clock_;
  Config config_;
  Duration margin_;
  Time last_return_;
};

static_assert(Clock<HybridClock>);

}  // namespace takt::platform
