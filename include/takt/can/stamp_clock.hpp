// Brings the stamps of a controller's own clock onto the clock of the program. A controller counts from when it was switched on,
// a little too fast or too slow; nobody says by how much. What is known is when the program's side saw each frame: later than
// the controller did, by a latency that is sometimes small.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "takt/core/time.hpp"

namespace takt::can {

/// Follows the smallest difference of the two clocks. Pure; real-time safe.
class StampClock {
 public:
  /// How far a crystal may be off: 0.1 ms each second. The smallest latency of the last moments counts, older ones fade at this rate.
  static constexpr std::int64_t drift_divisor = 10'000;
  /// A difference that changes by more is a clock that was set anew, or restarted.
  static constexpr Duration largest_step = std::chrono::seconds(1);

  /// When a frame ended on the wire, on the program's clock: never after `seen`, the program's own time of the frame, and late by
  /// no more than the smallest latency of the last frames.
  [[nodiscard]] constexpr Time to_local(std::int64_t stamp_nanoseconds, Time seen) noexcept {
    // Unsigned, so that no number from outside overflows; the difference of two such differences is what counts.
    const std::uint64_t difference =
        static_cast<std::uint64_t>(to_nanoseconds(seen)) - static_cast<std::uint64_t>(stamp_nanoseconds);
    const auto later = static_cast<std::int64_t>(difference - offset_);
    const bool is_new_clock = !last_ || later > largest_step.count() || later < -largest_step.count();
    if (is_new_clock) {
      offset_ = difference;
    } else {
      const std::int64_t elapsed = std::clamp<std::int64_t>((seen - *last_).count(), 0, largest_step.count());
      offset_ += static_cast<std::uint64_t>(std::min(later, elapsed / drift_divisor));
    }
    last_ = seen;
    return time_from_nanoseconds(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(stamp_nanoseconds) + offset_));
  }

 private:
  std::uint64_t offset_ = 0;
  std::optional<Time> last_{};
};

}  // namespace takt::can
