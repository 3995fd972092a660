// Bus load: computed for a plan before anything is built, and measured while the bus runs.
//
// bus_load() adds up the frames of one cycle, by the bounds of can/bits.hpp. Example: twenty drives with a
// command and a status each, and a SYNC, on one classic bus at 1 Mbit/s:
//
//     constexpr std::array plan = {can::PlannedFrame{.length = 8, .period = 1ms, .count = 40},
//                                  can::PlannedFrame{.length = 0, .period = 1ms}};
//
//     constexpr can::BusLoad load = *can::bus_load(plan, {1'000'000}, 1ms);
//     static_assert(load.worst.time > 0.005);  // 5455 us = 40 * 135 + 55: more than five times the cycle
//     static_assert(!load.fits());             // two CAN FD buses with packed commands need 808 us each
//
// BusMeter takes every frame of a running bus. It gives the load of the last moments. For each watched
// message it gives the rate, the jitter and the number of missing frames.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/can/bits.hpp"
#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"

namespace takt::can {

/// Bit rates in bit/s.
struct BitRates {
  std::uint32_t nominal = 1'000'000;
  std::uint32_t data = 5'000'000;  ///< of the data phase of FD frames with bit-rate switch
};

/// Frames of one kind: each is sent once in each period.
struct PlannedFrame {
  FrameFormat format{};
  std::uint8_t length = 8;  ///< data bytes
  Duration period{};
  std::uint32_t count = 1;  ///< number of such frames
};

/// The bus time that a plan takes in one cycle.
struct CycleLoad {
  double frames = 0;
  double nominal_bits = 0;
  double data_bits = 0;
  double time = 0;         ///< s: the bits divided by their bit rates
  double utilisation = 0;  ///< share of the cycle; a plan above 1 cannot be sent
};

/// The load of a plan in the best, the average and the worst cycle.
struct BusLoad {
  Duration cycle{};
  CycleLoad least;  ///< no stuff bits; without the frames of longer periods that can be sent in another cycle
  CycleLoad mean;   ///< random identifiers and data; frames of longer periods count by their share
  CycleLoad worst;  ///< most possible stuff bits; all frames of longer periods fall into this cycle

  /// Returns whether the worst cycle uses at most this share of the bus. Usual: 0.8 for a planned cycle, 0.5
  /// with events.
  [[nodiscard]] constexpr bool fits(double at_most = 1) const noexcept {
    return worst.utilisation <= at_most;
  }
};

namespace detail {

constexpr void add(CycleLoad& load, double frames, double nominal_bits, double data_bits) noexcept {
  load.frames += frames;
  load.nominal_bits += frames * nominal_bits;
  load.data_bits += frames * data_bits;
}

constexpr void finish(CycleLoad& load, BitRates rates, Duration cycle) noexcept {
  load.time = load.nominal_bits / rates.nominal + load.data_bits / rates.data;
  load.utilisation = load.time / to_seconds(cycle);
}

/// Returns to - from, clamped to the range of Duration, because stamps may come from outside.
[[nodiscard]] constexpr Duration between(Time from, Time to) noexcept {
  const Duration a = from.time_since_epoch();
  const Duration b = to.time_since_epoch();
  if (a >= Duration(0)) return b < Duration::min() + a ? Duration::min() : b - a;
  return b > Duration::max() + a ? Duration::max() : b - a;
}

}  // namespace detail

/// Returns the load of one cycle of a bus. The cycle is usually the shortest period of the plan. Remote
/// frames count as data frames without data. Error frames and repetitions are not planned: leave room for
/// them. Errors: bad_plan (a period, the cycle or a bit rate is not positive), wrong_length (a length that
/// the format lacks).
[[nodiscard]] constexpr Result<BusLoad> bus_load(std::span<const PlannedFrame> plan, BitRates rates,
                                                 Duration cycle) noexcept {
  if (cycle <= Duration(0) || rates.nominal == 0 || rates.data == 0) return fail(Errc::bad_plan);
  BusLoad load{cycle, {}, {}, {}};
  for (const PlannedFrame& frame : plan) {
    if (frame.period <= Duration(0)) return fail(Errc::bad_plan);
    if (!is_frame_length(frame.length, frame.format)) return fail(Errc::wrong_length);
    const Duration::rep whole = cycle / frame.period;
    const double exact = static_cast<double>(cycle.count()) / static_cast<double>(frame.period.count());
    const auto most = static_cast<double>(whole + (cycle % frame.period > Duration(0) ? 1 : 0));
    const FrameBits least = min_frame_bits(frame.length, frame.format);
    const MeanFrameBits mean = mean_frame_bits(frame.length, frame.format);
    const FrameBits worst = max_frame_bits(frame.length, frame.format);
    detail::add(load.least, frame.count * static_cast<double>(whole), least.nominal, least.data);
    detail::add(load.mean, frame.count * exact, mean.nominal, mean.data);
    detail::add(load.worst, frame.count * most, worst.nominal, worst.data);
  }
  detail::finish(load.least, rates, cycle);
  detail::finish(load.mean, rates, cycle);
  detail::finish(load.worst, rates, cycle);
  return load;
}

/// The mean time of a frame on the wire, from a table by format and length. For adding up the load of a bus
/// where the exact length of each frame (can/bits.hpp) costs too much. About 1 % off over many frames of
/// random data; at most 20 % off for one frame.
class MeanFrameTimes {
 public:
  /// Computes the table. A rate of 0 counts as 1. Not real-time safe: it takes some 100 us.
  explicit constexpr MeanFrameTimes(BitRates rates) noexcept {
    for (std::size_t format = 0; format < formats; ++format) {
      for (std::size_t code = 0; code < codes; ++code) {
        times_[format][code] = mean_time(fd_lengths[code], format_of(format), rates);
      }
    }
  }

  /// Returns the mean time of a frame. A remote frame counts without data. A length that the format lacks
  /// counts as the next longer one, at most the longest. Real-time safe.
  [[nodiscard]] constexpr Duration time_of(const Frame& frame) const noexcept {
    const std::uint8_t code = frame.remote ? std::uint8_t{0} : fd_length_code(frame.length);
    return times_[index_of({frame.extended, frame.fd, frame.bit_rate_switch})][code];
  }

 private:
  static constexpr std::size_t formats =
      6;  ///< 11 or 29 bits; each as classic, FD, and FD with bit-rate switch
  static constexpr std::size_t codes = fd_lengths.size();

  [[nodiscard]] static constexpr std::size_t index_of(FrameFormat format) noexcept {
    const std::size_t kind = !format.fd ? 0 : format.bit_rate_switch ? 2 : 1;
    return 2 * kind + (format.extended ? 1 : 0);
  }
  [[nodiscard]] static constexpr FrameFormat format_of(std::size_t index) noexcept {
    return {.extended = index % 2 == 1, .fd = index >= 2, .bit_rate_switch = index >= 4};
  }
  [[nodiscard]] static constexpr Duration mean_time(std::size_t length, FrameFormat format,
                                                    BitRates rates) noexcept {
    const MeanFrameBits bits = mean_frame_bits(length, format);
    const double seconds = bits.nominal / std::max<std::uint32_t>(rates.nominal, 1) +
                           bits.data / std::max<std::uint32_t>(rates.data, 1);
    return from_seconds(seconds);
  }

  std::array<std::array<Duration, codes>, formats> times_{};
};

/// The statistics of one message.
struct MessageStatistics {
  std::uint64_t frames = 0;
  std::uint64_t missing = 0;  ///< missing frames, from gaps in multiples of the period; 0 without a period
  Time last{};                ///< stamp of the newest frame; meaningless without frames
  Duration shortest{};        ///< interval between two successive frames with none missing between them
  Duration longest{};
  double mean = 0;  ///< s, of the same intervals; 0 before the second frame

  /// Frames per second; 0 before the second frame.
  [[nodiscard]] constexpr double rate() const noexcept { return mean > 0 ? 1 / mean : 0; }
  /// The longest interval minus the shortest.
  [[nodiscard]] constexpr Duration jitter() const noexcept { return longest - shortest; }
};

/// Measures the load of a bus from the stamps of its frames. Memory is fixed: it watches up to `MaxMessages`
/// messages, and adds up the time on the wire in `Slices` slices of its window. Real-time safe except
/// watch(), which is for set-up. Each note() computes the exact length of the frame (can/bits.hpp) and does a
/// binary search. One thread.
template <std::size_t MaxMessages = 64, std::size_t Slices = 20>
class BusMeter {
 public:
  /// Argument `window`: how far load() looks back. Each slice has at least 1 ns.
  constexpr BusMeter(BitRates rates, Duration window) noexcept
      : rates_(rates), slice_(std::max<Duration>(window / Slices, Duration(1))) {}

  /// Starts the statistics of a message. `period`: the expected interval, by which missing frames are
  /// counted; 0: none are counted. Returns false if the message is watched already or there is no room.
  constexpr bool watch(std::uint32_t id, bool extended, Duration period = {}) noexcept {
    const std::uint64_t key = key_of(id, extended);
    Watched* const at = std::lower_bound(begin(), end(), key, before);
    if (count_ == MaxMessages || (at != end() && at->key == key)) return false;
    std::move_backward(at, end(), end() + 1);
    *at = Watched{key, std::max(period, Duration(0)), {}};
    ++count_;
    return true;
  }

  /// Adds a frame. Error frames are ignored. Real-time safe.
  constexpr void note(const Frame& frame) noexcept {
    if (frame.error) return;  // a report of the controller: its time on the wire is unknown
    const Duration time = transmission_time(frame, rates_.nominal, rates_.data);
    busy_in(slice_of(frame.stamp), time);
    first_ = any_ ? std::min(first_, frame.stamp) : frame.stamp;
    any_ = true;
    Watched* const watched = find(*this, key_of(frame.id, frame.extended));
    if (watched == nullptr) {
      ++unwatched_;
    } else {
      count(*watched, frame.stamp);
    }
  }

  /// Returns the share of the window before `now` in which the bus was busy. Before the window is full, the
  /// share since the first frame counts. 0 before any frame.
  [[nodiscard]] constexpr double load(Time now) const noexcept {
    if (!any_ || now <= first_) return 0;
    const std::int64_t newest = slice_of(now);
    Duration busy{};
    for (const Slice& slice : slices_) {
      if (slice.number > newest - static_cast<std::int64_t>(Slices) && slice.number <= newest)
        busy += slice.busy;
    }
    const Time window_start = Time((newest - static_cast<std::int64_t>(Slices) + 1) * slice_);
    return to_seconds(busy) / to_seconds(detail::between(std::max(window_start, first_), now));
  }

  /// Returns the statistics of a message; nullopt if it is not watched.
  [[nodiscard]] constexpr std::optional<MessageStatistics> statistics(std::uint32_t id,
                                                                      bool extended) const noexcept {
    const Watched* const watched = find(*this, key_of(id, extended));
    if (watched == nullptr) return std::nullopt;
    return watched->statistics;
  }

  /// Returns how many watched messages are later than 1.5 periods, or were never received. Messages without a
  /// period are not counted.
  [[nodiscard]] constexpr std::size_t overdue(Time now) const noexcept {
    return static_cast<std::size_t>(std::count_if(begin(), end(), [&](const Watched& watched) {
      const bool never = watched.statistics.frames == 0;
      return watched.period > Duration(0) &&
             (never || is_late(watched, detail::between(watched.statistics.last, now)));
    }));
  }

  /// The number of frames of messages that are not watched.
  [[nodiscard]] constexpr std::uint64_t unwatched() const noexcept { return unwatched_; }

  /// Resets the statistics. The watched messages stay.
  constexpr void reset_statistics() noexcept {
    for (Watched* watched = begin(); watched != end(); ++watched) watched->statistics = {};
    unwatched_ = 0;
  }

 private:
  struct Watched {
    std::uint64_t key = 0;
    Duration period{};
    MessageStatistics statistics;
    std::uint64_t intervals = 0;
  };
  struct Slice {
    std::int64_t number = -1 - static_cast<std::int64_t>(Slices);  ///< time / slice_
    Duration busy{};
  };

  [[nodiscard]] static constexpr std::uint64_t key_of(std::uint32_t id, bool extended) noexcept {
    return id | (extended ? std::uint64_t{1} << 32 : 0);
  }
  [[nodiscard]] static constexpr bool before(const Watched& watched, std::uint64_t key) noexcept {
    return watched.key < key;
  }
  [[nodiscard]] constexpr Watched* begin() noexcept { return watched_.data(); }
  [[nodiscard]] constexpr Watched* end() noexcept { return watched_.data() + count_; }
  [[nodiscard]] constexpr const Watched* begin() const noexcept { return watched_.data(); }
  [[nodiscard]] constexpr const Watched* end() const noexcept { return watched_.data() + count_; }
  template <class Meter>
  [[nodiscard]] static constexpr auto* find(Meter& meter, std::uint64_t key) noexcept {
    auto* const at = std::lower_bound(meter.begin(), meter.end(), key, before);
    return at != meter.end() && at->key == key ? at : nullptr;
  }

  [[nodiscard]] constexpr std::int64_t slice_of(Time time) const noexcept {
    return time.time_since_epoch() / slice_;
  }

  constexpr void busy_in(std::int64_t number, Duration time) noexcept {
    // Times before the epoch do not occur, but a wrong stamp must not become an index out of range.
    Slice& slice = slices_[static_cast<std::uint64_t>(number) % Slices];
    if (slice.number > number) {
      const std::uint64_t ahead =
          static_cast<std::uint64_t>(slice.number) - static_cast<std::uint64_t>(number);
      if (ahead <= Slices) return;  // a frame from before the window; if further ahead, the slice was wrong
    }
    if (slice.number != number) slice = {number, {}};
    slice.busy += time;
  }

  [[nodiscard]] static constexpr bool is_late(const Watched& watched, Duration interval) noexcept {
    return interval > watched.period && interval - watched.period > watched.period / 2;
  }

  static constexpr void count(Watched& watched, Time stamp) noexcept {
    MessageStatistics& statistics = watched.statistics;
    const Duration interval = detail::between(statistics.last, stamp);
    const bool is_first = statistics.frames == 0;
    ++statistics.frames;
    statistics.last = stamp;
    if (is_first) {
      watched.intervals = 0;
      return;
    }
    if (watched.period > Duration(0) && is_late(watched, interval)) {
      const bool rounds_up = interval % watched.period >= watched.period - watched.period / 2;
      statistics.missing += static_cast<std::uint64_t>(interval / watched.period) - (rounds_up ? 0 : 1);
      return;
    }
    ++watched.intervals;
    const bool is_second = watched.intervals == 1;
    statistics.shortest = is_second ? interval : std::min(statistics.shortest, interval);
    statistics.longest = is_second ? interval : std::max(statistics.longest, interval);
    statistics.mean += (to_seconds(interval) - statistics.mean) / static_cast<double>(watched.intervals);
  }

  BitRates rates_;
  Duration slice_;
  std::array<Watched, MaxMessages> watched_{};
  std::size_t count_ = 0;
  std::array<Slice, Slices> slices_{};
  Time first_{};
  bool any_ = false;
  std::uint64_t unwatched_ = 0;
};

}  // namespace takt::can
