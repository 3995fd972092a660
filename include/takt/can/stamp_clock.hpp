// Converts the time stamps of a controller's own clock to the clock of the program. The controller's clock
// has an unknown offset and an unknown small drift. The program knows only its own time of each frame, which
// is later than the controller's by a latency. The latency is small for some frames.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "takt/core/time.hpp"

namespace takt::can {

/// Follows the smallest difference between the two clocks. Pure; real-time safe. One thread.
class StampClock {
 public:
  /// The assumed drift: 0.1 ms each second. The smallest latency of the last frames counts; older ones fade
  /// at this rate.
  static constexpr std::int64_t drift_divisor = 10'000;
  /// A difference that changes by more than this means that the controller's clock was set or restarted.
  static constexpr Duration largest_step = std::chrono::seconds(1);

  /// Returns when a frame ended on the wire, on the program's clock. Arguments: the controller's stamp in ns;
  /// `seen`, the program's own time of the frame. The result is never after `seen`. It is late by at most the
  /// smallest latency of the last frames.
  [[nodiscard]] constexpr Time to_local(std::int64_t stamp_nanoseconds, Time seen) noexcept {
    // Unsigned, so that no stamp from outside overflows. Only the difference of two such differences counts.
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
