// How busy a bus is: worked out for a plan before anything is built, and measured while it runs.
//
// bus_load() adds up what is to be sent in one cycle, by the bounds of can/bits.hpp. Twenty drives with a command and
// a status each, and a SYNC, on one classic bus at 1 Mbit/s:
//
//     constexpr std::array plan = {can::PlannedFrame{.length = 8, .period = 1ms, .count = 40},
//                                  can::PlannedFrame{.length = 0, .period = 1ms}};
//     constexpr can::BusLoad load = *can::bus_load(plan, {1'000'000}, 1ms);
//     load.worst.time      5455 us = 40 * 135 + 55: five times what there is, so
//     load.fits()          false; two CAN FD buses with packed commands need 808 us each
//
// BusMeter is told each frame, and knows the load of the last moments and, for each message that it watches, rate, jitter
// and how many are missing.
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

/// In bit/s.
struct BitRates {
  std::uint32_t nominal = 1'000'000;
  std::uint32_t data = 5'000'000;  ///< of the data phase of FD frames that switch
};

/// Frames that are sent once in each period.
struct PlannedFrame {
  FrameFormat format{};
  std::uint8_t length = 8;  ///< data bytes
  Duration period{};
  std::uint32_t count = 1;  ///< how many such frames there are
};

/// What a plan takes of one cycle.
struct CycleLoad {
  double frames = 0;
  double nominal_bits = 0;
  double data_bits = 0;
  double time = 0;         ///< s: bits by their rates
  double utilisation = 0;  ///< of the cycle; more than 1 cannot be sent
};

struct BusLoad {
  Duration cycle{};
  CycleLoad
      least;       ///< no stuff bits; frames of longer periods are not due in this cycle, if they need not be
  CycleLoad mean;  ///< random identifiers and data; of frames of longer periods their share
  CycleLoad worst;  ///< as many stuff bits as can be; all frames of longer periods are due in this cycle

  /// Whether even the worst cycle leaves what is asked for. Usual: 0.8 for a planned cycle, 0.5 with events.
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

/// to - from; where that is beyond the range, its end: stamps may come from outside.
[[nodiscard]] constexpr Duration between(Time from, Time to) noexcept {
  const Duration a = from.time_since_epoch();
  const Duration b = to.time_since_epoch();
  if (a >= Duration(0)) return b < Duration::min() + a ? Duration::min() : b - a;
  return b > Duration::max() + a ? Duration::max() : b - a;
}

}  // namespace detail

/// What a plan takes of each cycle of a bus, control cycles of a length of your choice: usually the shortest period.
/// Remote frames count as data frames without data. Error frames and repetitions are not planned: leave room.
/// Errors: bad_plan (a period, the cycle or a bit rate that is not positive), wrong_length (which no such frame has).
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

/// The mean time of a frame on the wire, by its format and length alone: a look-up, for adding up how busy a bus was where the exact
/// length of each frame (can/bits.hpp) costs too much. About 1 % off over many frames of random data, at most 20 % for one frame.
class MeanFrameTimes {
 public:
  /// A rate of 0 counts as 1. Some 100 us: for set-up.
  explicit constexpr MeanFrameTimes(BitRates rates) noexcept {
    for (std::size_t format = 0; format < formats; ++format) {
      for (std::size_t code = 0; code < codes; ++code) {
        times_[format][code] = mean_time(fd_lengths[code], format_of(format), rates);
      }
    }
  }

  /// A remote frame has no data; a length that the format does not know counts as the next longer one, at most the longest.
  /// Real-time safe.
  [[nodiscard]] constexpr Duration time_of(const Frame& frame) const noexcept {
    const std::uint8_t code = frame.remote ? std::uint8_t{0} : fd_length_code(frame.length);
    return times_[index_of({frame.extended, frame.fd, frame.bit_rate_switch})][code];
  }

 private:
  static constexpr std::size_t formats =
      6;  ///< 11 or 29 bits, of classic frames, FD, FD with bit-rate switch
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

/// What BusMeter knows of one message.
struct MessageStatistics {
  std::uint64_t frames = 0;
  std::uint64_t missing = 0;  ///< gaps in multiples of the period; 0 without one
  Time last{};                ///< of the newest frame; meaningless without frames
  Duration shortest{};        ///< between two frames that follow each other, none missing between them
  Duration longest{};
  double mean = 0;  ///< s, of the same intervals; 0 before the second frame

  /// In frames per second; 0 before the second frame.
  [[nodiscard]] constexpr double rate() const noexcept { return mean > 0 ? 1 / mean : 0; }
  /// From the shortest to the longest interval.
  [[nodiscard]] constexpr Duration jitter() const noexcept { return longest - shortest; }
};

/// Measures a bus from its frames, their stamps being the time. Memory is fixed: it watches up to `MaxMessages`, and adds
/// up the time on the wire in `Slices` slices of its window. All but watch(), which is for set-up, is real-time safe:
/// note() costs the exact length of the frame (can/bits.hpp), and a binary search. One thread.
template <std::size_t MaxMessages = 64, std::size_t Slices = 20>
class BusMeter {
 public:
  /// `window`: over how long load() looks back; at least a nanosecond for each slice is taken.
  constexpr BusMeter(BitRates rates, Duration window) noexcept
      : rates_(rates), slice_(std::max<Duration>(window / Slices, Duration(1))) {}

  /// Keeps statistics of a message from now on. `period`: when a frame is missing; 0: never. False: it is watched already, or
  /// there is no room.
  constexpr bool watch(std::uint32_t id, bool extended, Duration period = {}) noexcept {
    const std::uint64_t key = key_of(id, extended);
    Watched* const at = std::lower_bound(begin(), end(), key, before);
    if (count_ == MaxMessages || (at != end() && at->key == key)) return false;
    std::move_backward(at, end(), end() + 1);
    *at = Watched{key, std::max(period, Duration(0)), {}};
    ++count_;
    return true;
  }

  constexpr void note(const Frame& frame) noexcept {
    if (frame.error) return;  // a report, whose time on the wire nobody knows
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

  /// The part of the window before `now` in which the bus was busy; of the time since the first frame, while that is
  /// shorter. 0 before any frame.
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

  /// Nothing, if the message is not watched.
  [[nodiscard]] constexpr std::optional<MessageStatistics> statistics(std::uint32_t id,
                                                                      bool extended) const noexcept {
    const Watched* const watched = find(*this, key_of(id, extended));
    if (watched == nullptr) return std::nullopt;
    return watched->statistics;
  }

  /// How many watched messages with a period are later than one and a half of it; those never heard are.
  [[nodiscard]] constexpr std::size_t overdue(Time now) const noexcept {
    return static_cast<std::size_t>(std::count_if(begin(), end(), [&](const Watched& watched) {
      const bool never = watched.statistics.frames == 0;
      return watched.period > Duration(0) &&
             (never || is_late(watched, detail::between(watched.statistics.last, now)));
    }));
  }

  /// Frames of messages that nobody watches.
  [[nodiscard]] constexpr std::uint64_t unwatched() const noexcept { return unwatched_; }

  /// Begins the statistics anew; what is watched stays.
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
    // Times before the epoch do not occur; a stamp that is none must not become an index.
    Slice& slice = slices_[static_cast<std::uint64_t>(number) % Slices];
    if (slice.number > number) {
      const std::uint64_t ahead =
          static_cast<std::uint64_t>(slice.number) - static_cast<std::uint64_t>(number);
      if (ahead <= Slices) return;  // a frame from before the window; further ahead, the slice was wrong
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
