#include "takt/rt/tracer.hpp"

#include <cmath>
#include <limits>

namespace takt::rt {

TickAnchor TickAnchor::now() noexcept {
  TickAnchor best;
  auto shortest = std::numeric_limits<std::uint64_t>::max();
  // Of some readings of the clock, the one that took the least ticks was not interrupted.
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = ticks_now();
    const auto clock = std::chrono::steady_clock::now();
    const std::uint64_t took = ticks_now() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, Time(std::chrono::duration_cast<Duration>(clock.time_since_epoch()))};
  }
  return best;
}

TickScale::TickScale(const TickAnchor& first, const TickAnchor& second) noexcept : anchor_(first) {
  if (second.ticks <= first.ticks || second.time <= first.time) return;
  nanoseconds_per_tick_ = static_cast<double>((second.time - first.time).count()) /
                          static_cast<double>(second.ticks - first.ticks);
}

Time TickScale::time_of(std::uint64_t ticks) const noexcept {
  const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - anchor_.ticks));
  return anchor_.time + Duration(std::llround(since * nanoseconds_per_tick_));
}

}  // namespace takt::rt
