// The auxiliary systems of a simulated vehicle: battery, hydraulics, suspension, forks. The Furbot's
// parameters are unknown. These are the simplest models with telemetry like that of a light electric freight
// vehicle. The voltage falls under load, a pump runs now and then, and corners sink in curves. Each is
// stepped with the vehicle's period. Deterministic, real-time safe.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "takt/sim/vehicle_plant.hpp"
#include "takt/vehicle/systems.hpp"

namespace takt::sim {

/// A battery: a voltage linear in the charge, behind a resistance that heats it with a first-order lag.
class SimulatedBattery {
 public:
  static constexpr double capacity = 160 * 3600;  ///< A s
  static constexpr double empty_voltage = 66;     ///< V, without load
  static constexpr double full_voltage = 78;      ///< V, without load
  static constexpr double resistance = 0.02;      ///< ohm
  static constexpr double ambient = 20;           ///< degrees Celsius
  static constexpr double heating = 0.02;         ///< degrees for each W of losses, steady state
  static constexpr double thermal_lag = 900;      ///< s

  /// `charge`: 0..1.
  explicit SimulatedBattery(double charge) noexcept : charge_(charge) {}

  /// Delivers this power (W, not negative) for one period. The current I is the smaller root of P = I (U - R
  /// I).
  void step(double power) noexcept {
    const double open = empty_voltage + charge_ * (full_voltage - empty_voltage);
    current_ = (open - std::sqrt(std::max(open * open - 4 * resistance * power, 0.0))) / (2 * resistance);
    voltage_ = open - resistance * current_;
    charge_ = std::max(charge_ - vehicle_seconds * current_ / capacity, 0.0);
    const double settled = ambient + heating * resistance * current_ * current_;
    temperature_ += vehicle_seconds / thermal_lag * (settled - temperature_);
  }

  [[nodiscard]] double charge() const noexcept { return charge_; }            ///< 0..1
  [[nodiscard]] double current() const noexcept { return current_; }          ///< A
  [[nodiscard]] double voltage() const noexcept { return voltage_; }          ///< V
  [[nodiscard]] double temperature() const noexcept { return temperature_; }  ///< degrees Celsius

 private:
  double charge_;
  double current_ = 0;
  double voltage_ = full_voltage;
  double temperature_ = ambient;
};

/// A pump that is switched on in steps, then keeps the pressure between two limits.
class SimulatedHydraulics {
 public:
  static constexpr double low_pressure = 90;        ///< bar: the pump starts
  static constexpr double high_pressure = 120;      ///< bar: the pump stops
  static constexpr double pumping = 80;             ///< bar/s
  static constexpr double leakage = 0.5;            ///< bar/s
  static constexpr double consumption = 15;         ///< bar/s at full use
  static constexpr double pump_speed = 2800;        ///< rpm
  static constexpr double pump_power = 1500;        ///< W
  static constexpr Duration switching{50'000'000};  ///< duration of each step

  /// One period; brakes and steering need `use`, 0..1.
  void step(double use) noexcept {
    switch_on();
    if (pressure_ < low_pressure) pumps_ = enabled();
    if (pressure_ >= high_pressure) pumps_ = false;
    const double rate = (pumps_ ? pumping : 0) - leakage - consumption * use;
    pressure_ = std::max(pressure_ + vehicle_seconds * rate, 0.0);
    temperature_ += vehicle_seconds / thermal_lag * ((pumps_ ? hot : cold) - temperature_);
  }

  /// Whether the pump is enabled and the pressure suffices.
  [[nodiscard]] bool ready() const noexcept { return enabled() && pressure_ >= low_pressure - consumption; }
  [[nodiscard]] vehicle::HydraulicState state() const noexcept { return state_; }
  [[nodiscard]] double pressure() const noexcept { return pressure_; }                   ///< bar
  [[nodiscard]] double temperature() const noexcept { return temperature_; }             ///< degrees Celsius
  [[nodiscard]] double motor_speed() const noexcept { return pumps_ ? pump_speed : 0; }  ///< rpm
  [[nodiscard]] double power() const noexcept { return pumps_ ? pump_power : 0; }        ///< W

 private:
  static constexpr double cold = 20, hot = 70;  // degrees Celsius
  static constexpr double thermal_lag = 600;    // s

  [[nodiscard]] bool enabled() const noexcept { return state_ == vehicle::HydraulicState::enabled; }

  /// Passes the states before `enabled` in order.
  void switch_on() noexcept {
    if (enabled()) return;
    since_ += vehicle_period;
    if (since_ < switching) return;
    since_ = {};
    state_ = static_cast<vehicle::HydraulicState>(static_cast<std::uint8_t>(state_) + 1);
  }

  vehicle::HydraulicState state_ = vehicle::HydraulicState::no_op;
  Duration since_{};
  double pressure_ = 0;
  double temperature_ = cold;
  bool pumps_ = false;
};

/// The suspension of one corner: it rises to ride height once there is pressure, and sinks under shifted
/// load.
class SimulatedSuspension {
 public:
  static constexpr double ride_height = 0.08;     ///< m above the lowest
  static constexpr double lifting = 0.1;          ///< m/s
  static constexpr double softness = 0.006;       ///< m for each m/s^2 of load shift
  static constexpr double softness_lag = 0.2;     ///< s
  static constexpr double pressure_at_rest = 45;  ///< bar
  static constexpr double pressure_by_shift = 4;  ///< bar for each m/s^2

  /// One period. `shift` (m/s^2) is the acceleration that shifts load to this corner; negative if it takes
  /// load off.
  void step(bool pressurised, double shift) noexcept {
    const double wanted = pressurised ? ride_height : level_;
    const double before = level_;
    level_ += std::clamp(wanted - level_, -vehicle_seconds * lifting, vehicle_seconds * lifting);
    shift_ += vehicle_seconds / softness_lag * (shift - shift_);
    if (!ready_) ready_ = level_ == ride_height;
    rises_ = level_ > before;
  }

  /// Whether the corner has reached its ride height.
  [[nodiscard]] bool ready() const noexcept { return ready_; }
  /// Returns the state, as in telemetry.
  [[nodiscard]] vehicle::SuspensionState state() const noexcept {
    if (rises_) return vehicle::SuspensionState::rising;
    return ready_ ? vehicle::SuspensionState::stopped : vehicle::SuspensionState::init;
  }
  [[nodiscard]] double height() const noexcept { return level_ - softness * shift_; }  ///< m
  [[nodiscard]] double pressure() const noexcept {                                     ///< bar
    return pressure_at_rest + pressure_by_shift * shift_;
  }

 private:
  double level_ = 0;
  double shift_ = 0;
  bool ready_ = false;
  bool rises_ = false;
};

/// A fork that starts a little extended, and is retracted before the vehicle may drive.
class SimulatedFork {
 public:
  static constexpr double left_out = 0.1;    ///< of its travel, at the start
  static constexpr double retracting = 0.2;  ///< of its travel, per s

  /// One period.
  void step(bool pressurised) noexcept {
    moves_ = pressurised && position_ > 0;
    if (moves_) position_ = std::max(position_ - vehicle_seconds * retracting, 0.0);
  }

  /// Whether the fork is fully retracted.
  [[nodiscard]] bool ready() const noexcept { return position_ == 0; }
  /// Returns the state, as in telemetry.
  [[nodiscard]] vehicle::ForkState state() const noexcept {
    if (moves_) return vehicle::ForkState::retracting;
    return ready() ? vehicle::ForkState::stopped : vehicle::ForkState::unknown;
  }
  [[nodiscard]] double position() const noexcept { return position_; }  ///< 0 (in) .. 1 (out)
  /// The closed switches, one bit for each ForkSensor.
  [[nodiscard]] std::uint16_t sensors() const noexcept {
    const std::uint16_t always = bit(vehicle::ForkSensor::centre) | bit(vehicle::ForkSensor::bottom);
    const std::uint16_t in = bit(vehicle::ForkSensor::in1) | bit(vehicle::ForkSensor::in2);
    return ready() ? always | in : always;
  }

 private:
  [[nodiscard]] static constexpr std::uint16_t bit(vehicle::ForkSensor sensor) noexcept {
    return static_cast<std::uint16_t>(1u << static_cast<unsigned>(sensor));
  }
  double position_ = left_out;
  bool moves_ = false;
};

}  // namespace takt::sim
