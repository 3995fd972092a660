// The conversion between the vehicle's counts and SI units. No unit is known for certain. The original
// odometry took the wheels' speeds as rpm. Everything else must be measured on the vehicle, so a missing unit
// is an error.
//
//     auto units = Units::make({.speed = 0.01, .angle = 0.001, .odometer = 0.001, .steer = 0.001,
//                               .full_throttle = 100, .full_brake = 100});
//
//     const auto frame = units->control(command, stamp);
//
// Angles are positive to the left, as everywhere in takt. If the vehicle counts them to the right, `angle`
// and `steer` are negative. Speeds are positive forwards, or magnitudes (`speed_is_magnitude`).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "takt/core/error.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/vehicle/control_frame.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/system_layout.hpp"
#include "takt/vehicle/twist_law.hpp"

namespace takt::vehicle {

/// Converts a value to counts. It rounds to the nearest count, ties away from zero. Errors: not_finite;
/// out_of_range (beyond 32 bits). Real-time safe.
template <class Scalar>
[[nodiscard]] Result<std::int32_t> to_counts(Scalar value, Scalar unit) noexcept {
  const Scalar counts = std::round(value / unit);
  if (!std::isfinite(counts)) return fail(Errc::not_finite);
  constexpr auto edge = static_cast<Scalar>(std::int64_t{1} << 31);
  if (counts < -edge || counts >= edge) return fail(Errc::out_of_range);
  return static_cast<std::int32_t>(counts);
}

/// The battery block in SI units.
template <class Scalar>
struct BasicBatteryReading {
  Scalar charge = 0;               ///< 0..1
  Scalar current = 0;              ///< A
  Scalar voltage = 0;              ///< V
  Scalar highest_temperature = 0;  ///< degrees Celsius
  Scalar lowest_temperature = 0;   ///< degrees Celsius
};
using BatteryReading = BasicBatteryReading<double>;

/// A value; every function is real-time safe.
template <class Scalar>
class BasicUnits {
 public:
  using Command = BasicDriveCommand<Scalar>;

  /// The size of each count in SI units. A value of 0 must be replaced.
  struct Configuration {
    Scalar wheel_rate = std::numbers::pi_v<Scalar> / 30;  ///< rad/s per count: rpm
    Scalar speed = 0;                                     ///< m/s per count of the vehicle's speed
    Scalar angle = 0;                                     ///< rad per count of the steering's angles
    Scalar odometer = 0;                                  ///< m per count of the distance travelled
    Scalar steer = 0;                                     ///< rad per count of the commanded steering
    Scalar full_throttle = 0;                             ///< counts of the command
    Scalar full_brake = 0;                                ///< counts of the command
    Scalar charge = Scalar(0.005);                        ///< of a full battery, per count; provisional
    Scalar current = Scalar(0.1);                         ///< A per count; provisional
    Scalar voltage = Scalar(0.1);                         ///< V per count; provisional
    /// Whether the speeds of the vehicle and its wheels have no sign. The reverse flag then gives it.
    bool speed_is_magnitude = false;
  };

  /// Checks the configuration. Errors: not_finite; out_of_range. Every unit must be above zero, except that
  /// `angle` and `steer` may be negative. Full counts must be at least 1 and fit into 31 bits.
  [[nodiscard]] static Result<BasicUnits> make(const Configuration& c) noexcept {
    for (const Scalar unit : {c.wheel_rate, c.speed, c.odometer, c.full_throttle, c.full_brake, c.charge,
                              c.current, c.voltage, std::abs(c.angle), std::abs(c.steer)}) {
      if (!std::isfinite(unit)) return fail(Errc::not_finite);
      if (!(unit > 0)) return fail(Errc::out_of_range);
    }
    for (const Scalar full : {c.full_throttle, c.full_brake})
      if (to_counts(full, Scalar(1)).value_or(0) < 1) return fail(Errc::out_of_range);
    return BasicUnits(c);
  }

  /// The configuration of make().
  [[nodiscard]] const Configuration& configuration() const noexcept { return c_; }

  /// The speed that the vehicle itself measures, in m/s.
  [[nodiscard]] Scalar speed(const Traction& traction) const noexcept {
    return c_.speed * with_sign(traction.speed, traction);
  }
  /// The rates of the rear wheels, in rad/s.
  [[nodiscard]] mobile::BasicSides<Scalar> wheel_rates(const Traction& traction) const noexcept {
    return {c_.wheel_rate * with_sign(traction.left_speed, traction),
            c_.wheel_rate * with_sign(traction.right_speed, traction)};
  }
  /// The distance between two readings of the odometer, in m. The odometer may have advanced by at most half
  /// of its 32 bits.
  [[nodiscard]] Scalar travelled(const Traction& from, const Traction& to) const noexcept {
    const auto counts = static_cast<std::uint32_t>(to.odometer) - static_cast<std::uint32_t>(from.odometer);
    return c_.odometer * static_cast<Scalar>(static_cast<std::int32_t>(counts));
  }
  /// The measured steering angle, in rad.
  [[nodiscard]] Scalar angle(const Steering& steering) const noexcept {
    return c_.angle * static_cast<Scalar>(steering.current_angle);
  }
  /// The steering angle that the vehicle aims at, in rad.
  [[nodiscard]] Scalar target_angle(const Steering& steering) const noexcept {
    return c_.angle * static_cast<Scalar>(steering.target_angle);
  }
  /// The battery in SI units.
  [[nodiscard]] BasicBatteryReading<Scalar> reading(const Battery& battery) const noexcept {
    return {
        c_.charge * static_cast<Scalar>(battery.charge), c_.current * static_cast<Scalar>(battery.current),
        c_.voltage * static_cast<Scalar>(battery.voltage), static_cast<Scalar>(battery.highest_temperature),
        static_cast<Scalar>(battery.lowest_temperature)};
  }

  /// The reading of an odometer after a distance in m, wrapped to 32 bits. Error: not_finite.
  [[nodiscard]] Result<std::int32_t> odometer(Scalar metres) const noexcept {
    constexpr auto turn = static_cast<Scalar>(std::int64_t{1} << 32);
    const Scalar counts = std::fmod(std::round(metres / c_.odometer), turn);
    if (!std::isfinite(counts)) return fail(Errc::not_finite);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(counts)));
  }

  /// The frame for a command. Errors: not_finite; out_of_range (throttle beyond -1..1, brake beyond 0..1,
  /// steering beyond 32 bits).
  [[nodiscard]] Result<ControlFrame> control(const Command& command, std::uint32_t stamp) const noexcept {
    if (std::abs(command.throttle) > 1 || command.brake < 0 || command.brake > 1)
      return fail(Errc::out_of_range);
    const auto steer = to_counts(command.steering, c_.steer);
    const auto throttle = to_counts(command.throttle * c_.full_throttle, Scalar(1));
    const auto brake = to_counts(command.brake * c_.full_brake, Scalar(1));
    for (const auto& counts : {steer, throttle, brake})
      if (!counts) return fail(counts.error());
    return ControlFrame{stamp, *steer, *throttle, static_cast<std::uint32_t>(*brake)};
  }

  /// The command in a frame, for the vehicle's side. The vehicle must limit it: a frame can hold more than
  /// full throttle.
  [[nodiscard]] Command command(const ControlFrame& frame) const noexcept {
    return {c_.steer * static_cast<Scalar>(frame.steer),
            static_cast<Scalar>(frame.throttle) / c_.full_throttle,
            static_cast<Scalar>(frame.brake) / c_.full_brake};
  }

 private:
  explicit BasicUnits(const Configuration& c) noexcept : c_(c) {}

  [[nodiscard]] Scalar with_sign(std::int32_t count, const Traction& traction) const noexcept {
    const auto speed = static_cast<Scalar>(count);
    if (!c_.speed_is_magnitude) return speed;
    return traction.reverse != 0 ? -std::abs(speed) : std::abs(speed);
  }

  Configuration c_;
};
using Units = BasicUnits<double>;

/// Guessed units for a simulated vehicle and for tests. Never use them for a real vehicle: nothing was
/// measured.
inline constexpr Units::Configuration provisional_units{.speed = 0.01,
                                                        .angle = 0.001,
                                                        .odometer = 0.001,
                                                        .steer = 0.001,
                                                        .full_throttle = 100,
                                                        .full_brake = 100};

}  // namespace takt::vehicle
