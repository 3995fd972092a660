// A clock that moves only when it is set. A loop that runs in real time on the robot runs on this clock as
// fast as the processor can. Every run gives the same numbers.
#pragma once

#include "takt/core/time.hpp"

namespace takt {

/// A clock for tests and simulation. Single-threaded; real-time safe.
class ManualClock {
 public:
  constexpr ManualClock() = default;
  explicit constexpr ManualClock(Time start) noexcept : now_(start) {}

  /// Returns the time that was last set.
  [[nodiscard]] constexpr Time now() const noexcept { return now_; }

  /// Moves the clock to `time` at once, because sleeping is the only way time passes here. A time in the past
  /// changes nothing.
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
