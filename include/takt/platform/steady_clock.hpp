// The clock of a robot: CLOCK_MONOTONIC, which never jumps. It sleeps until absolute deadlines, so periods do
// not drift.
#pragma once

#include "takt/core/time.hpp"

namespace takt::platform {

/// A Clock over CLOCK_MONOTONIC, whose epoch is the boot of the machine. Real-time safe: its only system call
/// is the sleep.
class SteadyClock {
 public:
  /// The current time.
  [[nodiscard]] Time now() const noexcept;

  /// Returns at `time` or later; at once if `time` has passed. After a signal it continues to sleep.
  void sleep_until(Time time) noexcept;
};

static_assert(Clock<SteadyClock>);

}  // namespace takt::platform
