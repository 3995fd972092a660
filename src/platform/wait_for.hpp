// Waits for a descriptor until a deadline.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>

#include "takt/platform/steady_clock.hpp"

namespace takt::platform::detail {

/// Waits until the descriptor is ready for `events` or until `deadline`. Returns whether it is ready.
[[nodiscard]] inline bool wait_for(int descriptor, short events, Time deadline) {
  const SteadyClock clock;
  pollfd entry{descriptor, events, 0};
  for (;;) {
    const Duration left = std::max(deadline - clock.now(), Duration(0));
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    const auto limit =
        static_cast<int>(std::min<std::int64_t>(milliseconds, std::numeric_limits<int>::max()));
    const int ready = ::poll(&entry, 1, limit);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace takt::platform::detail
