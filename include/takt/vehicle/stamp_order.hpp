// The order in which a vehicle's frames were sent, and their age. The inputs are only the stamps of the
// frames and the receiver's clock.
//
//     StampOrder order(silence);
//     if (order.admit(frame.stamp, now) == Arrival::newest) take(frame);  // all others are old or invalid
//     const Duration age = order.age(order.newest(), now);
//
// The sender's clock is unknown. So the age counts from the earliest possible arrival, which is that of the
// fastest frame so far. A frame that the network held back for a second is one second old at its arrival. The
// delay that all frames share is not visible. The clocks drift apart, so the fastest frame's advantage fades
// by 0.5 ms per second, as fast as NTP slews a clock. A delay that grows more slowly, and stays, is not
// visible either.
//
// Impossible stamps are refused while other frames arrive. They are farther ahead than the network's jitter
// allows, or too far back. So a corrupted stamp, or one from the far future, does not block the following
// frames. After no frame for `silence`, the sender may have restarted or set its clock. Then any impossible
// stamp begins a new order. A late frame never does.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/vehicle/timestamp.hpp"

namespace takt::vehicle {

/// The judgement on a frame's stamp.
enum class Arrival : std::uint8_t {
  newest,      ///< later than all before
  late,        ///< a later one came before it
  duplicate,   ///< already received; beyond `window` it counts as late
  impossible,  ///< see above; the frame is refused
  first,       ///< the first one, or the first after a restart of the sender: earlier data are obsolete
};

/// A value; every function is real-time safe. Times must never go back, and must be within time_reach.
class StampOrder {
 public:
  /// A stamp is recognised as a duplicate if it is less than this many ms behind the newest.
  static constexpr std::int64_t window = 64;
  /// A step back of the stamps by less is not a restart of the sender: its frames are late.
  static constexpr auto longest_delay = std::chrono::seconds(10);
  /// The most drift between two clocks is 1/drift_divisor: 500 ppm.
  static constexpr std::int64_t drift_divisor = 2000;

  /// Argument `silence`: without frames for longer, the sender may have restarted.
  explicit constexpr StampOrder(Duration silence) noexcept : silence_(silence) {}

  /// Takes the stamp of a frame that arrived at `now`. Only newest and first change the order.
  constexpr Arrival admit(std::uint32_t stamp, Time now) noexcept {
    if (!begun_) return begin(stamp, now);
    const Duration step = stamp_difference(stamp, stamp_);
    const Duration difference = now.time_since_epoch() - (newest_ + step);
    const bool ahead = difference < difference_ - silence_ / 2;
    if (ahead || step < -longest_delay)
      return now - received_ > silence_ ? begin(stamp, now) : Arrival::impossible;
    if (step <= Duration(0)) return mark(-step);
    advance(step);
    const Duration faded = difference_ + (now - received_) / drift_divisor;
    difference_ = std::min(difference, faded);
    stamp_ = stamp;
    received_ = now;
    return Arrival::newest;
  }

  /// When the newest frame was sent, on a sender's clock that begins at zero and does not wrap.
  [[nodiscard]] constexpr Duration newest() const noexcept { return newest_; }

  /// The age of data at `now`. Argument `sent`: the value of newest() when their frame was admitted. Never
  /// below zero.
  [[nodiscard]] constexpr Duration age(Duration sent, Time now) const noexcept {
    return std::max(now.time_since_epoch() - sent - difference_, Duration(0));
  }

 private:
  constexpr Arrival begin(std::uint32_t stamp, Time now) noexcept {
    begun_ = true;
    stamp_ = stamp;
    newest_ = Duration(0);
    received_ = now;
    difference_ = now.time_since_epoch();
    seen_ = 1;
    return Arrival::first;
  }

  constexpr void advance(Duration step) noexcept {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(step).count();
    seen_ = ms < window ? seen_ << ms | 1 : 1;
    newest_ += step;
  }

  constexpr Arrival mark(Duration back) noexcept {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(back).count();
    if (ms >= window) return Arrival::late;
    const std::uint64_t bit = std::uint64_t{1} << ms;
    if ((seen_ & bit) != 0) return Arrival::duplicate;
    seen_ |= bit;
    return Arrival::late;
  }

  Duration silence_;
  bool begun_ = false;
  std::uint32_t stamp_ = 0;  ///< of the newest frame
  Duration newest_{};        ///< the same, counted from the first frame
  Time received_{};          ///< arrival of the newest frame
  /// The receiver's clock minus the sender's, plus the delay of the fastest frame.
  Duration difference_{};
  std::uint64_t seen_ = 0;  ///< bit n: the stamp n ms before the newest
};

}  // namespace takt::vehicle
