// A clock that wakes up within nanoseconds instead of tens of microseconds late. It sleeps until shortly
// before the wanted time and spins for the rest. The length of the spin adapts to the wake-up latency that
// this thread sees.
#pragma once

#include "takt/core/time.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {

/// A Clock over CLOCK_MONOTONIC that spends processor time for punctuality. Real-time safe. One sleep spins
/// for at most `longest_spin`, and for at most a quarter of the time since the previous wake-up. Without this
/// limit, the kernel would stop a spinning SCHED_FIFO thread (real-time throttling, 95 % by default).
class HybridClock {
 public:
  /// Limits of the spin.
  struct Config {
    Duration shortest_spin = std::chrono::microseconds(20);
    Duration longest_spin = std::chrono::microseconds(200);
  };

  HybridClock() noexcept : HybridClock(Config{}) {}
  explicit HybridClock(const Config& config) noexcept;

  /// The time of CLOCK_MONOTONIC.
  [[nodiscard]] Time now() const noexcept { return clock_.now(); }

  /// Returns at `time` or later; at once if `time` has passed.
  void sleep_until(Time time) noexcept;

  /// The current time between the wake-up and the wanted time.
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
