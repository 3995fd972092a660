// In which order a vehicle's frames were sent, and how old each one is, from nothing but their stamps and the receiver's clock.
//
//     StampOrder order(silence);
//     if (order.admit(frame.stamp, now) == Arrival::newest) ...      // the others change nothing: older news, or none
//     const Duration age = order.age(order.newest(), now);
//
// Nobody knows what the sender's clock shows, so the age counts from when the frame that came quickest would have been here: a
// frame that the network held back for a second is a second old when it comes, not new. What every frame needs is not seen. As
// the two clocks drift apart, the quickest frame is forgotten by 0.5 ms in each second, as fast as NTP slews a clock: a delay that
// grows more slowly, and stays, is not seen either.
//
// A stamp that cannot be is refused while others come: from further ahead than the network can be unsteady, or from long ago. One
// that was corrupted, or one from the far future, so does not lock out those that follow. When nothing has come for `silence`, it
// may be that the sender began anew, or set its clock, and then any such stamp begins a new order. A frame that is merely late
// never does.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/vehicle/timestamp.hpp"

namespace takt::vehicle {

/// What a stamp makes of its frame.
enum class Arrival : std::uint8_t {
  newest,      ///< later than all before
  late,        ///< overtaken by a later one
  duplicate,   ///< of one that came; beyond `window` it counts as late
  impossible,  ///< see above
  first,       ///< the first, or the first of a sender that began anew: what was known before says nothing
};

/// A value; every function is real-time safe. Times never go back, and are within time_reach.
class StampOrder {
 public:
  /// Up to so many ms after it a stamp is known again.
  static constexpr std::int64_t window = 64;
  /// A sender whose clock goes back by less has not begun anew: its frames are late.
  static constexpr auto longest_delay = std::chrono::seconds(10);
  static constexpr std::int64_t drift_divisor = 2000;

  explicit constexpr StampOrder(Duration silence) noexcept : silence_(silence) {}

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

  /// When the newest was sent, on a clock of the sender's that begins with zero and does not wrap.
  [[nodiscard]] constexpr Duration newest() const noexcept { return newest_; }

  /// How long ago something was sent that came at the time newest() gave this. Never below zero.
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
  std::uint32_t stamp_ = 0;  ///< the newest
  Duration newest_{};        ///< the same, counted from the first
  Time received_{};          ///< the newest
  Duration
      difference_{};  ///< between the receiver's clock and the sender's, and what the quickest frame needed
  std::uint64_t seen_ = 0;  ///< bit n: the stamp of n ms before the newest
};

}  // namespace takt::vehicle
