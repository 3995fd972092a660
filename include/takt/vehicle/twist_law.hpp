// From a commanded twist to what drives a car-like vehicle: steering angle, throttle, brake. The law of the Furbot report
//
//     steering = atan(L rotation / v)   with v the commanded speed above 0.1 m/s, else the measured one above 0.5 m/s, else 0
//     throttle and brake from a speed PID each
//
// made safe. Speeds count by magnitude, so that reverse is as good as forward. Between one half of a threshold and the whole of
// it the regimes are blended, so that the angle never jumps; above the thresholds it is the report's. The angle and its rate are
// limited. Either the throttle or the brake is used, never both: throttle until the vehicle is too fast by the hysteresis, brake
// until it is no longer too fast; a vehicle that rolls against the command is braked to a stand before it drives the other way;
// standing still, it is held, and a command slower than what counts as standing is one to stand. Where a number is none, as of a
// speed sensor that died, nothing drives: the steering stays, the throttle is let go, and the brake holds.
//
// The PIDs have the form of the Dataspeed controller that the original used (control/pid.hpp), so that its gains can be brought
// along, but that a pedal begins without a kick of the derivative. The command is the set-point of both, which the weights of the
// gains are about; the output limits are the law's: from 0 to as far as it may press.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "takt/control/pid.hpp"
#include "takt/control/rate_limiter.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::vehicle {

/// What a car-like vehicle is driven with.
template <class Scalar>
struct BasicDriveCommand {
  Scalar steering = 0;  ///< rad, counter-clockwise: left when driving forward
  Scalar throttle = 0;  ///< -1..1 of full throttle; negative drives backwards
  Scalar brake = 0;     ///< 0..1 of full braking

  friend constexpr bool operator==(const BasicDriveCommand&, const BasicDriveCommand&) = default;
};
using DriveCommand = BasicDriveCommand<double>;

namespace detail {
/// Dataspeed's, but that the first derivative is none.
inline constexpr control::PidForm pedal{control::Integration::forward_euler,
                                        control::AntiWindup::hold_when_saturated,
                                        control::IntegralState::error};
}  // namespace detail

/// A value; every function is real-time safe.
template <class Scalar>
class BasicTwistLaw {
 public:
  using Pid = control::BasicPid<Scalar, detail::pedal>;
  using Command = BasicDriveCommand<Scalar>;

  struct Configuration {
    Scalar wheelbase = 0;                     ///< m
    Scalar max_steering = 0;                  ///< rad, below pi/2
    Scalar steering_rate = 0;                 ///< rad/s
    Scalar command_threshold = Scalar(0.1);   ///< m/s: above it the commanded speed decides on the steering
    Scalar measured_threshold = Scalar(0.5);  ///< m/s: above it, and below the other, the measured one does
    Scalar standstill = Scalar(0.05);         ///< m/s: slower, the vehicle stands, or is to stand
    Scalar hysteresis = Scalar(0.1);          ///< m/s: too fast by this, it brakes
    Scalar holding_brake = Scalar(0.2);       ///< 0..1: holds the vehicle where it stands, or is blind
    Scalar max_throttle = 1;  ///< 0..1 of full throttle forwards: no integral learns from more
    Scalar max_reverse = 1;   ///< 0..1 of full throttle backwards
    control::BasicPidGains<Scalar> throttle{};  ///< from m/s to 0..1
    control::BasicPidGains<Scalar> brake{};     ///< from m/s too fast to 0..1, the proportional one above 0
  };

  /// Errors: not_finite; out_of_domain (lengths, angles, rates and thresholds are above zero, the steering below pi/2, the
  /// shares of pedals within 0..1, no gain below zero, and the brake's proportional one above it: else nothing brakes); those of
  /// BasicPid::make().
  [[nodiscard]] static Result<BasicTwistLaw> make(const Configuration& c) noexcept {
    for (const Scalar number : {c.wheelbase, c.max_steering, c.steering_rate, c.command_threshold,
                                c.measured_threshold, c.standstill, c.hysteresis}) {
      if (!std::isfinite(number)) return fail(control::Errc::not_finite);
      if (!(number > 0)) return fail(control::Errc::out_of_domain);
    }
    for (const Scalar share : {c.holding_brake, c.max_throttle, c.max_reverse})
      if (!(share >= 0 && share <= 1)) return fail(control::Errc::out_of_domain);
    if (!(c.max_steering < std::numbers::pi_v<Scalar> / 2)) return fail(control::Errc::out_of_domain);
    for (const auto* gains : {&c.throttle, &c.brake})
      if (gains->proportional < 0 || gains->integral < 0 || gains->derivative < 0)
        return fail(control::Errc::out_of_domain);
    if (c.brake.proportional == 0) return fail(control::Errc::out_of_domain);
    const auto throttle = pid_of(c.throttle, c.max_throttle);
    if (!throttle) return fail(throttle.error());
    const auto reverse = pid_of(c.throttle, c.max_reverse);
    if (!reverse) return fail(reverse.error());
    const auto brake = pid_of(c.brake, 1);
    if (!brake) return fail(brake.error());
    typename control::BasicRateLimiter<Scalar>::Limits limits;
    limits.min = -c.max_steering;
    limits.max = c.max_steering;
    limits.forward_acceleration = limits.forward_braking = c.steering_rate;
    limits.reverse_acceleration = limits.reverse_braking = c.steering_rate;
    const auto steering = control::BasicRateLimiter<Scalar>::make(limits);
    if (!steering) return fail(steering.error());
    return BasicTwistLaw(c, {*brake, *throttle, *reverse}, *steering);
  }

  /// The command for the next `period` seconds; `measured` is the speed along the vehicle (m/s, backwards below zero). Of the
  /// twist, `left` is not looked at. Errors: bad_period: nothing changes; not_finite (an overflow too): command() is then the
  /// last steering, no throttle, and the brake as it was but no less than the holding brake. The next good step goes on from there.
  Result<Command> step(const mobile::BasicTwist<Scalar>& wanted, Scalar measured, Scalar period) noexcept {
    if (!is_period(period)) return fail(control::Errc::bad_period);
    if (!std::isfinite(wanted.forward) || !std::isfinite(wanted.rotation) || !std::isfinite(measured))
      return hold();
    const BasicTwistLaw before = *this;
    const auto steering = steering_.step(wanted_steering(wanted, measured), period);
    const auto pedal = press(wanted.forward, measured, period);
    if (!steering.ok() || !pedal.ok()) {
      *this = before;
      return hold();
    }
    command_ = {steering.value, 0, 0};
    switch (pedal_) {
      case Pedal::brake:
        command_.brake = pedal.value;
        break;
      case Pedal::throttle:
        command_.throttle = pedal.value;
        break;
      case Pedal::reverse:
        command_.throttle = -pedal.value;
        break;
    }
    return command_;
  }

  /// What the vehicle is to be driven with now; before the first step the holding brake.
  [[nodiscard]] const Command& command() const noexcept { return command_; }

  /// As new, but for the steering angle, which the wheels have.
  void reset(Scalar steering = 0) noexcept {
    for (Pid& pid : pids_) pid.reset();
    steering_.reset(std::isfinite(steering) ? std::clamp(steering, -c_.max_steering, c_.max_steering) : 0);
    pedal_ = Pedal::brake;
    command_ = {steering_.value(), 0, c_.holding_brake};
  }

 private:
  enum class Pedal : std::uint8_t { brake, throttle, reverse };
  using Pids = std::array<Pid, 3>;  // by pedal

  BasicTwistLaw(const Configuration& c, const Pids& pids,
                const control::BasicRateLimiter<Scalar>& steering) noexcept
      : c_(c), pids_(pids), steering_(steering), command_{0, 0, c.holding_brake} {}

  [[nodiscard]] static Result<Pid> pid_of(control::BasicPidGains<Scalar> gains, Scalar most) noexcept {
    gains.output_min = 0;
    gains.output_max = most;
    return Pid::make(gains);
  }

  /// Nothing is known of the vehicle. What the pedals had learnt of it is kept, but no derivative reaches over the gap.
  [[nodiscard]] Result<Command> hold() noexcept {
    for (Pid& pid : pids_) pid.reset(control::IntegralReset::keep);
    command_.throttle = 0;
    command_.brake = std::max(command_.brake, c_.holding_brake);
    return fail(control::Errc::not_finite);
  }

  /// How much a regime counts: nothing up to half of its threshold, all from there on.
  [[nodiscard]] static Scalar weight(Scalar speed, Scalar threshold) noexcept {
    return std::clamp(2 * std::abs(speed) / threshold - 1, Scalar(0), Scalar(1));
  }

  [[nodiscard]] Scalar wanted_steering(const mobile::BasicTwist<Scalar>& wanted,
                                       Scalar measured) const noexcept {
    const auto angle = [&](Scalar speed) {
      if (speed == 0 || wanted.rotation == 0) return Scalar(0);
      const Scalar a = std::atan(c_.wheelbase * wanted.rotation / speed);
      return std::clamp(a, -c_.max_steering, c_.max_steering);
    };
    const Scalar by_command = weight(wanted.forward, c_.command_threshold);
    const Scalar by_measurement = weight(measured, c_.measured_threshold);
    return by_command * angle(wanted.forward) + (1 - by_command) * by_measurement * angle(measured);
  }

  /// How far which pedal is pressed: pedal_ says which.
  [[nodiscard]] control::BasicStep<Scalar> press(Scalar wanted, Scalar measured, Scalar period) noexcept {
    const bool backwards_to_it = wanted * measured < 0 && std::abs(measured) > c_.standstill;
    const bool to_stand = std::abs(wanted) < c_.standstill || backwards_to_it;
    const Scalar target = to_stand ? 0 : std::abs(wanted);
    const Scalar speed = wanted * measured < 0 && !backwards_to_it ? 0 : std::abs(measured);
    const bool too_fast = speed > target + (pedal_ == Pedal::brake ? 0 : c_.hysteresis);
    const Pedal drives = wanted < 0 ? Pedal::reverse : Pedal::throttle;
    const Pedal pedal = to_stand || too_fast ? Pedal::brake : drives;
    Pid& pid = pids_[static_cast<std::size_t>(pedal)];
    if (pedal != pedal_) pid.reset();
    pedal_ = pedal;
    if (pedal != Pedal::brake) return pid.step(target, speed, period);
    auto pressed = pid.step(-target, -speed, period);  // from how much too fast it is
    if (to_stand && speed <= c_.standstill) pressed.value = std::max(pressed.value, c_.holding_brake);
    return pressed;
  }

  Configuration c_;
  Pids pids_;
  control::BasicRateLimiter<Scalar> steering_;
  Pedal pedal_ = Pedal::brake;
  Command command_;
};
using TwistLaw = BasicTwistLaw<double>;

}  // namespace takt::vehicle
