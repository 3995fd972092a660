#include "takt/sim/vehicle_controller.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "takt/vehicle/timestamp.hpp"

namespace takt::sim {

using vehicle::StatusFrame;
using vehicle::System;
using vehicle::SystemState;

namespace {

constexpr double mass = 1500;           // kg, which the battery feels
constexpr double standing_power = 150;  // W

/// Whole counts that fit into the field, whatever it is that is measured.
template <class Field>
[[nodiscard]] std::int32_t counts(double value, double of_one) noexcept {
  const double low = std::numeric_limits<Field>::min(), high = std::numeric_limits<Field>::max();
  return static_cast<std::int32_t>(std::lrint(std::clamp(value / of_one, low, high)));
}

/// The fields of the provisional blocks, in tenths of a bar and of a degree, revolutions per minute and millimetres.
[[nodiscard]] std::int32_t tenths(double value) noexcept { return counts<std::int16_t>(value, 0.1); }
[[nodiscard]] std::int32_t millimetres(double value) noexcept { return counts<std::int16_t>(value, 1e-3); }

/// The table has all that is written here: nothing can fail.
void put(StatusFrame& status, System system, std::string_view field, std::int64_t value) noexcept {
  static_cast<void>(status.set(system, field, value));
}

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

void VehicleController::obey(const vehicle::ControlFrame& frame, vehicle::Urgency urgency,
                             Time now) noexcept {
  advance(now);
  const bool is_stop = urgency == vehicle::Urgency::stop;
  const bool is_new = !newest_ || vehicle::newer(frame.stamp, *newest_);
  if (!is_new && !is_stop) {
    ++counters_.outdated;
    return;
  }
  if (is_new) {
    newest_ = frame.stamp;
    heard_at_ = now_;
  }
  ++counters_.obeyed;
  if (stopping_ && !is_stop) return;
  stopping_ = is_stop;
  // A stop may be old: it brakes, whatever else it says.
  command_ = is_stop ? vehicle::DriveCommand{command_.steering, 0, 1} : units_.command(frame);
  may_drive_ = may_drive_ || (state_ == SystemState::running && command_.throttle == 0);
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

/// After a silence any stamp is new: the sender may be another one.
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

/// What speeds up presses the rear down, a curve its outer side.
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

/// Encoders count, and what they count in a period is the speed: no part of the way is lost to rounding.
void VehicleController::measure_wheels() noexcept {
  const std::array turned{plant_.turned().left, plant_.turned().right};
  const double step = options_.units.wheel_rate * to_seconds(status_period);
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const auto count = static_cast<std::int64_t>(std::floor(turned[i] / step));
    wheel_speeds_[i] = counts<std::int16_t>(static_cast<double>(count - wheel_counts_[i]), 1);
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

/// What is known of them: traction, steering and battery.
void VehicleController::report_drive(StatusFrame& status) const noexcept {
  const vehicle::Units::Configuration& units = options_.units;
  const vehicle::DriveCommand command = effective();
  vehicle::Traction traction;
  traction.state = static_cast<std::int32_t>(state_of(System::traction));
  traction.mode = may_drive_ ? 1 : 0;
  traction.speed = counts<std::int16_t>(plant_.speed(), units.speed);
  traction.left_speed = wheel_speeds_[0];
  traction.right_speed = wheel_speeds_[1];
  traction.throttle = counts<std::int16_t>(plant_.throttle(), 1 / units.full_throttle);
  traction.brake = counts<std::int16_t>(plant_.brake(), 1 / units.full_brake);
  traction.reverse = plant_.speed() < 0 ? 1 : 0;
  traction.odometer = units_.odometer(plant_.travelled()).value_or(0);
  vehicle::Steering steering;
  steering.state = static_cast<std::int32_t>(state_of(System::steering));
  steering.current_angle = counts<std::int16_t>(plant_.steering(), units.angle);
  steering.target_angle = counts<std::int16_t>(command.steering, units.angle);
  vehicle::Battery battery;
  battery.state = static_cast<std::int32_t>(state_of(System::battery));
  battery.charge = counts<std::uint8_t>(battery_.charge(), units.charge);
  battery.current = counts<std::uint16_t>(battery_.current(), units.current);
  battery.voltage = counts<std::uint16_t>(battery_.voltage(), units.voltage);
  battery.highest_temperature = counts<std::uint8_t>(battery_.temperature() + 2, 1);
  battery.lowest_temperature = counts<std::uint8_t>(battery_.temperature() - 1, 1);
  static_cast<void>(status.set(traction));
  static_cast<void>(status.set(steering));
  static_cast<void>(status.set(battery));
  put(status, System::motion_control, "steer", steering.target_angle);
  put(status, System::motion_control, "throttle",
      counts<std::int16_t>(command.throttle, 1 / units.full_throttle));
  put(status, System::motion_control, "brake", counts<std::int16_t>(command.brake, 1 / units.full_brake));
}

/// What is guessed.
void VehicleController::report_auxiliaries(StatusFrame& status) const noexcept {
  put(status, System::hydraulics, "hydraulic_state", static_cast<std::uint8_t>(hydraulics_.state()));
  put(status, System::hydraulics, "pressure", tenths(hydraulics_.pressure()));
  put(status, System::hydraulics, "temperature", tenths(hydraulics_.temperature()));
  put(status, System::hydraulics, "motor_speed", counts<std::int16_t>(hydraulics_.motor_speed(), 1));
  for (std::size_t i = 0; i < suspension_.size(); ++i) {
    const System corner = numbered(System::suspension_rear_left, i);
    put(status, corner, "height", millimetres(suspension_[i].height()));
    put(status, corner, "target_height", millimetres(SimulatedSuspension::ride_height));
    put(status, corner, "pressure", tenths(suspension_[i].pressure()));
  }
  for (std::size_t i = 0; i < forks_.size(); ++i) {
    const System fork = numbered(System::rear_fork, i);
    put(status, fork, "fork_state", static_cast<std::uint8_t>(forks_[i].state()));
    put(status, fork, "sensors", forks_[i].sensors());
  }
}

StatusFrame VehicleController::status() const noexcept {
  StatusFrame status;
  for (std::size_t i = 0; i < static_cast<std::size_t>(vehicle::furbot_systems.size()); ++i) {
    const auto system = static_cast<System>(i);
    static_cast<void>(status.set(system, state_of(system)));
  }
  report_drive(status);
  report_auxiliaries(status);
  return status;
}

}  // namespace takt::sim
