// The clock of a robot: CLOCK_MONOTONIC, which never jumps, waited for with absolute deadlines, so that
// waiting does not drift.
#pragma once

#include "takt/core/time.hpp"

namespace takt::platform {

/// A Clock over CLOCK_MONOTONIC; its epoch is the start of the machine. Real-time safe: sleeping is its one
/// system call.
class SteadyClock {
 public:
  [[nodiscard]] Time now() const noexcept;

  /// Returns at `time` or later, at once when it has passed. Interrupted by a signal, it goes on sleeping.
  void sleep_until(Time time) noexcept;
};

static_assert(Clock<SteadyClock>);

}  // namespace takt::platform
