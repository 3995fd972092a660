// The time of another clock, estimated in a real-time loop: wall time, a camera's clock, a network's master.
// Another thread measures how far that clock and the loop's own are apart, at any rate. The loop adds the
// filtered offset to its own time. The estimate never goes back.
//
//     takt::rt::RealtimeClock wall;
//     const Time before = clock.now();                         // the other thread, now and then
//     wall.observe(before, wall_time(), clock.now());
//     if (const auto time = wall.at(tick.woke)) stamp(*time);  // the loop
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "takt/core/time.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/memory.hpp"

namespace takt::rt {

/// The configuration of an estimated clock.
struct RealtimeClockConfig {
  /// About so many measurements are averaged, with weights that decay exponentially; clamped to 1 ... 2^20.
  /// If the other clock runs faster by d, the estimate lags by d times the time that they span.
  std::int64_t window = 64;
  /// The limit of a correction, in millionths of the time that passes; clamped to 1 ... 999999. A clock that
  /// was set back by 1 s is reached again after 1 s * 10^6 / max_slew_ppm.
  std::int64_t max_slew_ppm = 5000;
  /// A measurement that differs this much counts as a step of the other clock, if the next one differs, too.
  /// A step ahead is followed at once, a step back with max_slew_ppm. At least 1 ns.
  Duration step = std::chrono::milliseconds(100);
  /// A measurement that took longer is rejected, because its thread was interrupted. At least 0.
  Duration longest_measurement = std::chrono::microseconds(100);
};

/// Estimates another clock. One thread measures, and one real-time thread reads.
class RealtimeClock {
 public:
  explicit RealtimeClock(const RealtimeClockConfig& config = {}) noexcept
      : measuring_{{.window = std::clamp<std::int64_t>(config.window, 1, 1 << 20),
                    .step = std::max(config.step, Duration(1)),
                    .longest = std::max(config.longest_measurement, Duration(0))}},
        reading_{{.max_slew_ppm = std::clamp<std::int64_t>(config.max_slew_ppm, 1, parts - 1),
                  .step = std::max(config.step, Duration(1))}} {}
  RealtimeClock(const RealtimeClock&) = delete;
  RealtimeClock& operator=(const RealtimeClock&) = delete;

  /// Takes one measurement: the other clock's time, read between `before` and `after` of the loop's clock.
  /// Times are clamped to within time_reach. Returns false if the measurement is not used. Reasons: it took
  /// too long, its times are in the wrong order, or it is the first after a step. For the measuring thread;
  /// real-time safe.
  bool observe(Time before, Time other, Time after) noexcept {
    const Duration took = within_reach(after) - within_reach(before);
    if (took < Duration(0) || took > measuring_.end.longest) return false;
    const Time middle = within_reach(before) + took / 2;
    if (!measuring_.end.take(std::clamp(within_reach(other) - middle, -time_reach, time_reach))) return false;
    offset_.write(measuring_.end.offset);
    return true;
  }

  /// The other clock's time when the loop's clock tells `local`, which must not decrease from call to call.
  /// Returns nothing before the first measurement. Afterwards no result is smaller than an earlier one. For
  /// the loop; wait-free and real-time safe.
  [[nodiscard]] std::optional<Time> at(Time local) noexcept {
    if (offset_.update() == shm::Freshness::none) return std::nullopt;
    return reading_.end.follow(within_reach(local), offset_.value());
  }

 private:
  static constexpr std::int64_t parts = 1'000'000;

  /// The filter, in integers: an offset of 50 years has no nanoseconds as a double.
  struct Measuring {
    std::int64_t window;
    Duration step;
    Duration longest;
    Duration offset{};           // the mean
    std::int64_t remainder = 0;  // of the division by the weight, so that small errors add up
    std::int64_t count = 0;      // measurements in the mean, up to the window
    bool stepped = false;        // the last measurement was away by a step

    bool take(Duration measured) noexcept {
      const Duration error = measured - offset;
      const bool is_step = count > 0 && (error >= step || error <= -step);
      if (is_step && !std::exchange(stepped, true)) return false;
      if (is_step || count == 0) {
        offset = measured;
        remainder = 0;
        count = 1;
      } else {
        count = std::min(count + 1, window);
        const std::int64_t sum = error.count() + remainder;
        offset += Duration(sum / count);
        remainder = sum % count;
      }
      stepped = false;
      return true;
    }
  };

  /// The loop's side: it approaches the mean so slowly that time never goes back.
  struct Reading {
    std::int64_t max_slew_ppm;
    Duration step;
    std::optional<Time> last{};  // the last result
    Time corrected_at{};         // the loop's time at the last correction
    Duration offset{};

    Time follow(Time local, Duration mean) noexcept {
      const Duration error = mean - offset;
      if (!last || error >= step) {
        offset = mean;
        corrected_at = local;
      } else if (const Duration limit = longest_correction(local - corrected_at); limit > Duration(0)) {
        offset += std::clamp(error, -limit, limit);
        corrected_at = local;
      }
      const Time result = local + offset;
      last = last ? std::max(*last, result) : result;
      return *last;
    }

    [[nodiscard]] Duration longest_correction(Duration passed) const noexcept {
      return Duration(passed.count() / parts * max_slew_ppm + passed.count() % parts * max_slew_ppm / parts);
    }
  };

  shm::LatestValue<Duration> offset_;
  shm::OwnLine<Measuring> measuring_;
  shm::OwnLine<Reading> reading_;
};

}  // namespace takt::rt
