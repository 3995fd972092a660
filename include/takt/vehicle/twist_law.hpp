// The twist law converts a commanded twist into steering angle, throttle and brake of a car-like vehicle. It
// is the law of the Furbot report, made safe:
//
//   steering = atan(L rotation / v)
//   throttle and brake from one speed PID each
//
// L is the wheelbase. The speed v is the commanded one if above 0.1 m/s, otherwise the measured one if above
// 0.5 m/s. Below both the steering is 0.
//
// Steering. Speeds count by magnitude, so reverse works as forward. Between half a threshold and the whole
// threshold the two regimes are blended, so the angle never jumps. Above the thresholds the result equals the
// report's. The angle and its rate are limited.
//
// Pedals. Throttle and brake are never used at once:
//
// * The throttle acts until the vehicle is too fast by the hysteresis. Then the brake acts until the vehicle
//   is no longer too fast.
// * A vehicle that rolls against the command is braked to a stand before it drives in the commanded
//   direction.
// * At a stand, the brake holds the vehicle. A command below the standstill speed commands a stand.
// * After an input that is not finite the steering stays, the throttle is released, and the brake holds. A
//   dead speed sensor may cause such an input.
//
// Gains. The PIDs have the form of the Dataspeed controller that the original used (control/pid.hpp), so its
// gains can be reused. One difference: a pedal begins without a kick of the derivative. The command is the
// setpoint of both PIDs, for the weights in the gains. The law sets their output limits, from 0 to the
// pedal's maximum.
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

/// The command to a car-like vehicle.
template <class Scalar>
struct BasicDriveCommand {
  Scalar steering = 0;  ///< rad, counter-clockwise: left when driving forward
  Scalar throttle = 0;  ///< -1..1 of full throttle; negative drives backwards
  Scalar brake = 0;     ///< 0..1 of full braking

  friend constexpr bool operator==(const BasicDriveCommand&, const BasicDriveCommand&) = default;
};
using DriveCommand = BasicDriveCommand<double>;

namespace detail {
/// Dataspeed's form, without the derivative in the first step.
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

  /// The parameters of the law.
  struct Configuration {
    Scalar wheelbase = 0;                     ///< m
    Scalar max_steering = 0;                  ///< rad, below pi/2
    Scalar steering_rate = 0;                 ///< rad/s
    Scalar command_threshold = Scalar(0.1);   ///< m/s: above it the commanded speed determines the steering
    Scalar measured_threshold = Scalar(0.5);  ///< m/s: above it the measured one does, if the other does not
    Scalar standstill = Scalar(0.05);         ///< m/s: a slower vehicle stands, a slower command is a stand
    Scalar hysteresis = Scalar(0.1);          ///< m/s: it brakes when too fast by this
    Scalar holding_brake = Scalar(0.2);       ///< 0..1: at a stand, and after invalid input
    Scalar max_throttle = 1;                  ///< 0..1 of full throttle forwards; the integral stops there
    Scalar max_reverse = 1;                   ///< 0..1 of full throttle backwards
    control::BasicPidGains<Scalar> throttle{};  ///< from m/s to 0..1
    control::BasicPidGains<Scalar> brake{};     ///< from m/s of excess to 0..1; the proportional one above 0
  };

  /// Checks the configuration. Errors: those of BasicPid::make(), not_finite, and out_of_domain. These ranges
  /// are valid:
  /// - lengths, angles, rates and thresholds: above zero;
  /// - the maximum steering: below pi/2;
  /// - the shares of pedals: 0..1;
  /// - gains: zero or more. The brake's proportional gain must be above zero, because nothing brakes
  ///   otherwise.
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

  /// Computes the command for the next `period` seconds. Argument `wanted`: its `left` is ignored. Argument
  /// `measured`: the speed along the vehicle, in m/s, negative backwards.
  ///
  /// Error bad_period: nothing changes. Error not_finite, also after an overflow: command() then has the last
  /// steering and no throttle. Its brake stays, and is at least the holding brake. The next valid step
  /// continues from there.
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

  /// The present command. Before the first step it is the holding brake.
  [[nodiscard]] const Command& command() const noexcept { return command_; }

  /// Resets everything; the steering angle, in rad, starts from the wheels' present one.
  void reset(Scalar steering = 0) noexcept {
    for (Pid& pid : pids_) pid.reset();
    steering_.reset(std::isfinite(steering) ? std::clamp(steering, -c_.max_steering, c_.max_steering) : 0);
    pedal_ = Pedal::brake;
    command_ = {steering_.value(), 0, c_.holding_brake};
  }

 private:
  enum class Pedal : std::uint8_t { brake, throttle, reverse };
  using Pids = std::array<Pid, 3>;  // indexed by Pedal

  BasicTwistLaw(const Configuration& c, const Pids& pids,
                const control::BasicRateLimiter<Scalar>& steering) noexcept
      : c_(c), pids_(pids), steering_(steering), command_{0, 0, c.holding_brake} {}

  [[nodiscard]] static Result<Pid> pid_of(control::BasicPidGains<Scalar> gains, Scalar most) noexcept {
    gains.output_min = 0;
    gains.output_max = most;
    return Pid::make(gains);
  }

  /// The state of the vehicle is unknown. The integrals stay, but no derivative bridges the gap.
  [[nodiscard]] Result<Command> hold() noexcept {
    for (Pid& pid : pids_) pid.reset(control::IntegralReset::keep);
    command_.throttle = 0;
    command_.brake = std::max(command_.brake, c_.holding_brake);
    return fail(control::Errc::not_finite);
  }

  /// The weight of a regime: 0 up to half its threshold, 1 from the threshold on.
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

  /// Selects a pedal (pedal_) and computes its value.
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
    auto pressed = pid.step(-target, -speed, period);  // the excess speed
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
