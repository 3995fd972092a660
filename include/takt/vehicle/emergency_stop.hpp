// The emergency stop of a vehicle that is driven by steering, throttle and brake: latched, with the stop categories of
// IEC 60204-1 (9.2.2) as far as such a vehicle can do them
//
//     0   throttle off and the full brake at once: the way of a machine whose power is cut
//     1   throttle off, the brake pressed gradually; once the vehicle stands, the full brake holds it
//     2   as 1, but the brake stays as it is once the vehicle stands, and the drives stay ready
//
// In each of them the steering stays where it was, so that the vehicle stays on its curve. A more urgent category may follow on a
// less urgent one, never the other way; the brake is pressed further or stays, and is never let go. Nothing but recover() ends a
// stop, and that only while the vehicle is known to stand.
//
//     EmergencyStop stop = *EmergencyStop::make({});
//     stop.trigger(StopCategory::category_1, last_command, now);
//     each cycle:  if (stop.active()) command = stop.step(measured_speed, now);
//     when told:   if (stop.recover()) ...
//
// It makes no other promise than the brake makes: a stop that must be safe by the standard is wired, not sent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/twist_law.hpp"

namespace takt::vehicle {

/// The lower, the more urgent. Numbers are part of the C API.
enum class StopCategory : std::uint8_t { category_0 = 0, category_1 = 1, category_2 = 2 };

/// A value; every function is real-time safe. Times as for StampOrder.
class EmergencyStop {
 public:
  struct Configuration {
    double service_brake = 0.5;  ///< 0..1 of full braking: how far a controlled stop presses the brake
    double brake_rate = 1;       ///< 1/s of full braking: how fast it does
    double standstill = 0.05;    ///< m/s: slower, the vehicle stands
    /// For so long it has to be slow before it is taken to stand: locked wheels stand while the vehicle slides.
    Duration settling = std::chrono::milliseconds(500);
    /// If it does not stand by then, or nobody knows, the full brake is pressed. A minute at most.
    Duration longest_braking = std::chrono::seconds(5);
  };

  /// Errors: not_finite; out_of_range (the service brake is above 0 and at most 1, settling zero or more, the others above zero;
  /// the service brake is reached within the longest braking).
  [[nodiscard]] static Result<EmergencyStop> make(const Configuration& c) noexcept {
    for (const double number : {c.service_brake, c.brake_rate, c.standstill}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
      if (!(number > 0)) return fail(Errc::out_of_range);
    }
    if (c.service_brake > 1 || c.settling < Duration(0) || c.longest_braking <= Duration(0) ||
        c.longest_braking > std::chrono::minutes(1) ||
        c.service_brake > c.brake_rate * to_seconds(c.longest_braking))
      return fail(Errc::out_of_range);
    return EmergencyStop(c);
  }

  /// Stops the vehicle, which was driven with `last`. While a stop is active, only a more urgent category changes anything, and
  /// `last` is not looked at. True if this began a stop or made it more urgent.
  bool trigger(StopCategory category, const DriveCommand& last, Time now) noexcept {
    if (active()) {
      if (category >= *category_) return false;
    } else {
      begun_ = now;
      begun_with_ = last.brake > 0 ? std::min(last.brake, 1.0) : 0;  // 0 of a NaN
      command_ = {std::isfinite(last.steering) ? last.steering : 0, 0, begun_with_};
      slow_ = false;
      stood_ = standing_ = false;
    }
    category_ = category;
    press(now);
    return true;
  }

  /// What to drive with from now on. `speed` is what was measured along the vehicle (m/s), nothing if nobody knows. While no stop
  /// is active, command() of the last.
  const DriveCommand& step(std::optional<double> speed, Time now) noexcept {
    if (active()) {
      watch(speed, now);
      press(now);
    }
    return command_;
  }

  /// Ends the stop. Errors: not_standing (or not known to stand): it goes on. Without a stop it does nothing.
  Status recover() noexcept {
    if (active() && !standing_) return fail(Errc::not_standing);
    category_.reset();
    return {};
  }

  [[nodiscard]] bool active() const noexcept { return category_.has_value(); }
  [[nodiscard]] std::optional<StopCategory> category() const noexcept { return category_; }
  /// Whether the vehicle is known to stand, since `settling` at least.
  [[nodiscard]] bool standing() const noexcept { return active() && standing_; }
  [[nodiscard]] const DriveCommand& command() const noexcept { return command_; }

 private:
  explicit EmergencyStop(const Configuration& c) noexcept : c_(c) {}

  void watch(std::optional<double> speed, Time now) noexcept {
    const bool slow = speed && std::abs(*speed) < c_.standstill;  // a NaN is not slow
    if (slow && !slow_) slow_since_ = now;
    slow_ = slow;
    standing_ = slow && now - slow_since_ >= c_.settling;
    stood_ = stood_ || standing_;
  }

  void press(Time now) noexcept {
    const bool does_not_stop = !standing_ && (stood_ || now - begun_ >= c_.longest_braking);
    const bool full = category_ == StopCategory::category_0 || does_not_stop ||
                      (category_ == StopCategory::category_1 && standing_);
    const double gradual = begun_with_ + c_.brake_rate * to_seconds(now - begun_);
    command_.brake = std::max(command_.brake, full ? 1.0 : std::min(gradual, c_.service_brake));
  }

  Configuration c_;
  std::optional<StopCategory> category_;  ///< while a stop is active
  Time begun_{};
  double begun_with_ = 0;  ///< the brake
  Time slow_since_{};
  bool slow_ = false;
  bool standing_ = false;
  bool stood_ = false;  ///< at any time of this stop: if it moves again, the brake is too weak
  DriveCommand command_{0, 0, 1};
};

}  // namespace takt::vehicle
