#include "takt/sim/vehicle_controller.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "takt/vehicle/timestamp.hpp"

namespace takt::sim {

using vehicle::StatusFrame;
using vehicle::System;
using vehicle::SystemState;

namespace {

constexpr double mass = 1500;           // kg
constexpr double standing_power = 150;  // W, at standstill

/// Writes value / of_one to the field, clamped to the field's range. A field that the table does not have is
/// left out.
void put(StatusFrame& status, System system, std::string_view field, double value,
         double of_one = 1) noexcept {
  const auto found = status.layouts().find(system, field);
  if (!found) return;
  const double count = std::ldexp(1.0, 8 * static_cast<int>(size_of(found->type)));  // number of its values
  const double low = is_signed(found->type) ? -count / 2 : 0;
  const auto counts = std::llrint(std::clamp(value / of_one, low, low + count - 1));
  static_cast<void>(status.set(system, field, counts));
}

/// The units of the provisional blocks: tenths of a bar and of a degree, millimetres.
constexpr double tenths = 0.1, millimetres = 1e-3;

[[nodiscard]] System numbered(System first, std::size_t i) noexcept {
  return static_cast<System>(static_cast<std::size_t>(first) + i);
}

}  // namespace

Result<VehicleController> VehicleController::make(const VehicleOptions& options, Time start) noexcept {
  const auto plant = VehiclePlant::make(options.plant, options.start);
  if (!plant) return fail(plant.error());
  if (!(options.charge >= 0 && options.charge <= 1)) return fail(Errc::bad_vehicle);
  if (options.command_timeout <= Duration{} || options.cold <= Duration{}) return fail(Errc::bad_vehicle);
  const auto units = vehicle::Units::make(options.units);
  if (!units) return fail(units.error());
  return VehicleController(options, *units, *plant, start);
}

void VehicleController::obey(const vehicle::ControlFrame& frame, secure::Urgency urgency, Time now) noexcept {
  advance(now);
  const bool is_stop = urgency == secure::Urgency::stop;
  const bool is_new = !newest_ || vehicle::newer(frame.stamp, *newest_);
  if (!is_new && !is_stop) {
    ++counters_.outdated;
    return;
  }
  if (is_new) {
    newest_ = frame.stamp;
    heard_at_ = now_;
  }
  if (stopping_ && !is_stop) {
    ++counters_.overruled;
    return;
  }
  stopping_ = is_stop;
  // A stop counts even if it is old. It brakes, whatever else the frame says.
  command_ = is_stop ? vehicle::DriveCommand{command_.steering, 0, 1} : units_.command(frame);
  // An old frame does not show that the driver has released the throttle.
  if (is_new && state_ == SystemState::running && command_.throttle == 0) may_drive_ = true;
  ++(is_stop || (is_driven() && may_drive_) ? counters_.obeyed : counters_.held);
}

void VehicleController::set_halted(vehicle::SystemSet systems) noexcept {
  for (const System drives : {System::traction, System::steering, System::hydraulics})
    if (broken_.contains(drives) && !systems.contains(drives)) may_drive_ = false;
  broken_ = systems;
}

void VehicleController::tick() noexcept {
  now_ += vehicle_period;
  watch();
  const double steering = plant_.steering();
  plant_.step(effective());
  step_auxiliaries(steering);
  change_state();
  if (plant_.speed() == 0) stopping_ = false;
  if ((now_ - start_) % status_period == Duration{}) measure_wheels();
}

/// After a timeout any stamp is new: the sender may be another one.
void VehicleController::watch() noexcept {
  if (!newest_ || now_ - heard_at_ <= options_.command_timeout) return;
  newest_.reset();
  if (state_ != SystemState::running) return;
  ++counters_.timeouts;
  halt();
}

void VehicleController::change_state() noexcept {
  if (state_ == SystemState::cold && now_ - start_ >= options_.cold) state_ = SystemState::init;
  if (state_ == SystemState::init && is_ready()) state_ = SystemState::running;
  if (state_ == SystemState::running && battery_.charge() == 0) halt();
}

void VehicleController::halt() noexcept {
  state_ = SystemState::halted;
  may_drive_ = false;
  stopping_ = false;
}

bool VehicleController::is_ready() const noexcept {
  const auto ready = [](const auto& part) { return part.ready(); };
  return hydraulics_.ready() && std::all_of(suspension_.begin(), suspension_.end(), ready) &&
         std::all_of(forks_.begin(), forks_.end(), ready) && plant_.speed() == 0;
}

vehicle::DriveCommand VehicleController::effective() const noexcept {
  const bool obeys = is_driven() && may_drive_;
  vehicle::DriveCommand command = obeys ? command_ : vehicle::DriveCommand{plant_.steering(), 0, 1};
  if (broken_.contains(System::traction)) command.throttle = 0;
  if (broken_.contains(System::steering)) command.steering = plant_.steering();
  if (broken_.contains(System::hydraulics)) command.brake = 1;
  return command;
}

/// Acceleration loads the rear corners, and a curve its outer ones.
void VehicleController::step_auxiliaries(double steering_before) noexcept {
  const auto& p = plant_.parameters();
  const double drive_power = mass * p.acceleration * std::abs(plant_.throttle() * plant_.speed());
  battery_.step(standing_power + hydraulics_.power() + drive_power);
  if (state_ == SystemState::cold) return;
  hydraulics_.step(std::abs(plant_.steering() - steering_before) / (p.steering_rate * vehicle_seconds));
  const double backwards = plant_.acceleration();
  const double rightwards = plant_.speed() * plant_.twist().rotation;
  for (std::size_t i = 0; i < corners; ++i) {
    const bool is_rear = i < 2, is_right = i % 2 == 1;
    const double shift = (is_rear ? backwards : -backwards) + (is_right ? rightwards : -rightwards);
    suspension_[i].step(hydraulics_.ready(), shift);
  }
  for (SimulatedFork& fork : forks_) fork.step(hydraulics_.ready());
}

/// The speed is the difference of the encoders' counts, so no distance is lost by rounding.
void VehicleController::measure_wheels() noexcept {
  const std::array turned{plant_.turned().left, plant_.turned().right};
  const double step = options_.units.wheel_rate * to_seconds(status_period);
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const auto count = static_cast<std::int64_t>(std::floor(turned[i] / step));
    wheel_speeds_[i] = static_cast<std::int32_t>(count - wheel_counts_[i]);
    wheel_counts_[i] = count;
  }
}

SystemState VehicleController::state_of(System system) const noexcept {
  if (broken_.contains(system)) return SystemState::halted;
  if (state_ == SystemState::cold) return state_;
  const auto running_if = [](bool ready) { return ready ? SystemState::running : SystemState::init; };
  switch (system) {
    case System::communication:
      return SystemState::running;
    case System::battery:
      return battery_.charge() > 0 ? SystemState::running : SystemState::halted;
    case System::hydraulics:
      return running_if(hydraulics_.ready());
    case System::suspension_rear_left:
    case System::suspension_rear_right:
    case System::suspension_front_left:
    case System::suspension_front_right:
      return running_if(suspension_[static_cast<std::size_t>(system) -
                                    static_cast<std::size_t>(System::suspension_rear_left)]
                            .ready());
    case System::rear_fork:
    case System::front_fork:
      return running_if(
          forks_[static_cast<std::size_t>(system) - static_cast<std::size_t>(System::rear_fork)].ready());
    case System::motion_control:
    case System::traction:
    case System::steering:
      break;
  }
  return state_;
}

/// The systems that are known: traction, steering and battery.
void VehicleController::report_drive(StatusFrame& status) const noexcept {
  const vehicle::Units::Configuration& units = options_.units;
  const vehicle::DriveCommand command = effective();
  const double throttle = 1 / units.full_throttle, brake = 1 / units.full_brake;
  put(status, System::traction, "mode", may_drive_ ? 1 : 0);
  const auto told = [&](double speed) { return units.speed_is_magnitude ? std::abs(speed) : speed; };
  put(status, System::traction, "speed", told(plant_.speed()), units.speed);
  put(status, System::traction, "left_speed", told(wheel_speeds_[0]));
  put(status, System::traction, "right_speed", told(wheel_speeds_[1]));
  put(status, System::traction, "throttle", plant_.throttle(), throttle);
  put(status, System::traction, "brake", plant_.brake(), brake);
  put(status, System::traction, "reverse", plant_.speed() < 0 ? 1 : 0);
  put(status, System::traction, "odometer", units_.odometer(plant_.travelled()).value_or(0));
  put(status, System::steering, "current_angle", plant_.steering(), units.angle);
  put(status, System::steering, "target_angle", command.steering, units.angle);
  put(status, System::battery, "charge", battery_.charge(), units.charge);
  put(status, System::battery, "current", battery_.current(), units.current);
  put(status, System::battery, "voltage", battery_.voltage(), units.voltage);
  put(status, System::battery, "highest_temperature", battery_.temperature() + 2);
  put(status, System::battery, "lowest_temperature", battery_.temperature() - 1);
  put(status, System::motion_control, "steer", command.steering, units.angle);
  put(status, System::motion_control, "throttle", command.throttle, throttle);
  put(status, System::motion_control, "brake", command.brake, brake);
}

/// The systems that are guesses.
void VehicleController::report_auxiliaries(StatusFrame& status) const noexcept {
  put(status, System::hydraulics, "hydraulic_state", static_cast<std::uint8_t>(hydraulics_.state()));
  put(status, System::hydraulics, "pressure", hydraulics_.pressure(), tenths);
  put(status, System::hydraulics, "temperature", hydraulics_.temperature(), tenths);
  put(status, System::hydraulics, "motor_speed", hydraulics_.motor_speed());
  for (std::size_t i = 0; i < suspension_.size(); ++i) {
    const System corner = numbered(System::suspension_rear_left, i);
    put(status, corner, "height", suspension_[i].height(), millimetres);
    put(status, corner, "target_height", SimulatedSuspension::ride_height, millimetres);
    put(status, corner, "pressure", suspension_[i].pressure(), tenths);
  }
  for (std::size_t i = 0; i < forks_.size(); ++i) {
    const System fork = numbered(System::rear_fork, i);
    put(status, fork, "fork_state", static_cast<std::uint8_t>(forks_[i].state()));
    put(status, fork, "sensors", forks_[i].sensors());
  }
}

StatusFrame VehicleController::status() const noexcept {
  StatusFrame status(*options_.layouts);
  for (const vehicle::SystemLayout& layout : options_.layouts->systems())
    static_cast<void>(status.set(layout.system, state_of(layout.system)));
  report_drive(status);
  report_auxiliaries(status);
  return status;
}

}  // namespace takt::sim
