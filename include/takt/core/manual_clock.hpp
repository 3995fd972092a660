// A clock that stands still until it is told to move: the same loop that runs in wall time on the robot runs
// over it as fast as the processor goes, with the same numbers on every run.
#pragma once

#include "takt/core/time.hpp"

namespace takt {

/// A clock for tests and simulation. Single-threaded; real-time safe.
class ManualClock {
 public:
  constexpr ManualClock() = default;
  explicit constexpr ManualClock(Time start) noexcept : now_(start) {}

  [[nodiscard]] constexpr Time now() const noexcept { return now_; }

  /// Sleeping *is* the passing of time here: moves the clock to `time` at once. A time in the past changes
  /// nothing.
  constexpr void sleep_until(Time time) noexcept {
    if (time > now_) now_ = time;
  }

  /// Moves the clock forward; a negative duration changes nothing.
  constexpr void advance(Duration duration) noexcept { sleep_until(now_ + duration); }

 private:
  Time now_{};
};

static_assert(Clock<ManualClock>);

}  // namespace takt
