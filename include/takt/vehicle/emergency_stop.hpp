// The latched emergency stop of a vehicle with steering, throttle and brake. It follows the stop categories
// of IEC 60204-1 (9.2.2) as far as such a vehicle can.
//
// * Category 0: throttle off and the full brake at once, as if the power were cut.
// * Category 1: throttle off, the brake increases gradually. The full brake holds the standing vehicle.
// * Category 2: as 1, but the brake of the standing vehicle stays as it is, and the drives stay ready.
//
// The steering angle stays constant during a stop, so the vehicle stays on its curve. A stop can only change
// to a more urgent category. The brake increases or stays; it is never released. Only recover() ends a stop,
// and only while the vehicle is known to stand.
//
//     EmergencyStop stop = *EmergencyStop::make({});
//     stop.trigger(StopCategory::category_1, last_command, now);
//     if (stop.active()) command = stop.step(measured_speed, now);  // each cycle
//     if (stop.recover()) drive();                                  // to drive again
//
// The stop is only as reliable as the brake and the messages to it. A safety-rated stop must be wired.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/twist_law.hpp"

namespace takt::vehicle {

/// A value; every function is real-time safe. Times: see StampOrder.
class EmergencyStop {
 public:
  /// The parameters of a stop.
  struct Configuration {
    double service_brake = 0.5;  ///< 0..1 of full braking, of a controlled stop
    double brake_rate = 1;       ///< 1/s of full braking: the rate of the increase
    double standstill = 0.05;    ///< m/s: a slower vehicle is standing
    /// The vehicle stands only after it was slow for this long. Reason: locked wheels stand while the vehicle
    /// slides.
    Duration settling = std::chrono::milliseconds(500);
    /// If the vehicle does not stand after this time, or its speed is unknown, the full brake follows. At
    /// most a minute.
    Duration longest_braking = std::chrono::seconds(5);
  };

  /// Checks the configuration. Errors: not_finite; out_of_range. These ranges are valid:
  /// * service_brake: above 0, at most 1, and reached within longest_braking;
  /// * settling: zero or more;
  /// * all others: above zero.
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

  /// Begins a stop. Argument `last`: the last command to the vehicle. During a stop, only a more urgent
  /// category has an effect, and `last` is ignored. Returns true if this began a stop or made it more urgent.
  bool trigger(StopCategory category, const DriveCommand& last, Time now) noexcept {
    if (active()) {
      if (category >= *category_) return false;
    } else {
      begun_ = now;
      begun_with_ = last.brake > 0 ? std::min(last.brake, 1.0) : 0;  // 0 for a NaN
      command_ = {std::isfinite(last.steering) ? last.steering : 0, 0, begun_with_};
      slow_ = false;
      stood_ = standing_ = false;
    }
    category_ = category;
    press(now);
    return true;
  }

  /// Computes the command for this cycle. Argument `speed`: measured along the vehicle, in m/s; nothing if
  /// unknown. Without a stop, returns the last command.
  const DriveCommand& step(std::optional<double> speed, Time now) noexcept {
    if (active()) {
      watch(speed, now);
      press(now);
    }
    return command_;
  }

  /// Ends the stop. Error: not_standing (or not known to stand); the stop then continues. Without a stop it
  /// does nothing.
  Status recover() noexcept {
    if (active() && !standing_) return fail(Errc::not_standing);
    category_.reset();
    return {};
  }

  /// Whether a stop is active.
  [[nodiscard]] bool active() const noexcept { return category_.has_value(); }
  /// The category of the active stop; nothing without a stop.
  [[nodiscard]] std::optional<StopCategory> category() const noexcept { return category_; }
  /// Whether the vehicle is known to stand, for at least `settling`.
  [[nodiscard]] bool standing() const noexcept { return active() && standing_; }
  /// The command of the last step() or trigger().
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
  double begun_with_ = 0;  ///< brake at the beginning
  Time slow_since_{};
  bool slow_ = false;
  bool standing_ = false;
  bool stood_ = false;  ///< at any time of this stop; if it moves again, the brake is too weak
  DriveCommand command_{0, 0, 1};
};

}  // namespace takt::vehicle
