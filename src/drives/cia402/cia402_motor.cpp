#include "takt/drives/cia402/cia402_motor.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace takt::drives {

using can::cia402::Homing;
using can::cia402::Mode;
using can::cia402::State;
using Object = Cia402Object;
namespace control = can::cia402::control;
namespace status = can::cia402::status;

namespace {

/// Servo periods in the interpolation period 60C2h: value times ten to the exponent, in seconds.
std::int32_t interpolation_steps(const Cia402Objects& objects) noexcept {
  const double seconds = static_cast<double>(objects[Object::period_value]) *
                         std::pow(10.0, std::clamp(objects.number(Object::period_exponent), -9, 0));
  return static_cast<std::int32_t>(std::max(1.0, std::round(seconds / sim::servo_seconds)));
}

bool is_known(const Cia402Objects& objects, Mode mode) noexcept {
  const int number = static_cast<int>(mode);
  return number >= 1 && number <= 32 && (objects[Object::supported_modes] >> (number - 1) & 1U) != 0;
}

std::uint16_t word_of(State state) noexcept {
  switch (state) {
    case State::not_ready_to_switch_on:
      return 0x00;
    case State::switch_on_disabled:
      return 0x40;
    case State::ready_to_switch_on:
      return 0x21;
    case State::switched_on:
      return 0x23;
    case State::operation_enabled:
      return 0x27;
    case State::quick_stop_active:
      return 0x07;
    case State::fault_reaction_active:
      return 0x0F;
    case State::fault:
      return 0x08;
  }
  return 0;
}

}  // namespace

Cia402Motor::Cia402Motor(const robot::JointDescription& joint) noexcept
    : axis_(joint), counts_per_radian_(joint.counts_per_radian), torque_limit_(joint.plant.torque_limit) {}

void Cia402Motor::reset() noexcept {
  leave(State::not_ready_to_switch_on);
  control_ = 0;
  error_ = 0;
  mode_ = Mode::none;
  homing_ = Homing::interrupted;
}

// ---- The state machine

void Cia402Motor::obey(Cia402Objects& objects) noexcept {
  const std::uint16_t before = control_;
  obey_control_word(objects);
  follow_mode(objects);
  if (state_ != State::operation_enabled) return;
  const bool rises = (control_ & control::new_setpoint) != 0 && (before & control::new_setpoint) == 0;
  if (rises || mode_ == Mode::cyclic_position) start_what_is_new(objects);
  if ((control_ & control::new_setpoint) == 0) acknowledged_ = false;
}

void Cia402Motor::obey_control_word(const Cia402Objects& objects) noexcept {
  const auto word = static_cast<std::uint16_t>(objects[Object::control_word]);
  const bool edge = (word & control::fault_reset) != 0 && (control_ & control::fault_reset) == 0;
  control_ = word;
  if (state_ == State::fault && edge) {
    error_ = 0;
    state_ = State::switch_on_disabled;
    notice_faults();
    return;
  }
  const bool listens = state_ != State::fault && state_ != State::fault_reaction_active &&
                       state_ != State::not_ready_to_switch_on;
  if (!listens || (word & control::fault_reset) != 0) return;
  const bool waits =
      can::cia402::stays(static_cast<can::cia402::QuickStop>(objects.number(Object::quick_stop_option)));
  if ((word & 0x02U) == 0) {
    leave(State::switch_on_disabled);
  } else if ((word & 0x04U) == 0) {
    if (state_ == State::operation_enabled) {
      state_ = State::quick_stop_active;
    } else if (state_ != State::quick_stop_active) {
      leave(State::switch_on_disabled);
    }
  } else if (state_ == State::quick_stop_active) {
    if ((word & 0x0FU) == control::enable_operation && waits) state_ = State::operation_enabled;
  } else if ((word & 0x01U) == 0) {
    leave(State::ready_to_switch_on);
  } else if (state_ != State::switch_on_disabled) {
    if ((word & 0x08U) == 0) {
      leave(State::switched_on);
    } else if (state_ != State::operation_enabled) {
      enable();
    }
  }
}

/// To a state without torque.
void Cia402Motor::leave(State to) noexcept {
  state_ = to;
  axis_.switch_off();
  acknowledged_ = false;
}

void Cia402Motor::enable() noexcept {
  state_ = State::operation_enabled;
  axis_.switch_on();
  reference_ = {axis_.measured(), 0, 0};
  profile_target_ = reference_.position;
  steps_left_ = 0;
  increment_ = 0;
  homing_ = Homing::interrupted;
}

void Cia402Motor::fail(std::uint16_t error) noexcept {
  error_ = error;
  leave(State::fault);
}

void Cia402Motor::lose_connection() noexcept {
  if (state_ != State::operation_enabled && state_ != State::quick_stop_active) return;
  error_ = cia402_error::connection_lost;
  state_ = State::fault_reaction_active;
}

void Cia402Motor::notice_faults() noexcept {
  if (axis_.fault() == sim::JointFault::encoder) fail(cia402_error::encoder);
  if (axis_.fault() == sim::JointFault::power_stage) fail(cia402_error::over_current);
}

void Cia402Motor::inject(sim::JointFault fault, Duration since) noexcept {
  axis_.inject(fault, since);
  notice_faults();
}

// ---- The modes

void Cia402Motor::follow_mode(Cia402Objects& objects) noexcept {
  const auto wanted = static_cast<Mode>(objects.number(Object::mode));
  if (refuses_mode_ || wanted == mode_ || !is_known(objects, wanted)) return;
  mode_ = wanted;
  profile_target_ = reference_.position;
  steps_left_ = 0;
  homing_ = Homing::interrupted;
  acknowledged_ = false;
}

void Cia402Motor::start_what_is_new(Cia402Objects& objects) noexcept {
  const double target = axis_.encoder().position(objects.number(Object::target_position));
  if (mode_ == Mode::cyclic_position) {
    steps_left_ = interpolation_steps(objects);
    increment_ = (target - reference_.position) / steps_left_;
  } else if (mode_ == Mode::profile_position) {
    profile_target_ = target;
    acknowledged_ = true;
  } else if (mode_ == Mode::homing) {
    constexpr double turn = 2 * std::numbers::pi;
    const int method = objects.number(Object::homing_method);
    const bool up = (method == 34) == (counts_per_radian_ > 0);
    home_ =
        (up ? std::floor(reference_.position / turn) + 1 : std::ceil(reference_.position / turn) - 1) * turn;
    if (method == 35 || method == 37) home_ = reference_.position;
    homing_ = method == 33 || method == 34 || method == 35 || method == 37 ? Homing::running : Homing::failed;
  }
}

void Cia402Motor::move(Cia402Objects& objects) noexcept {
  const double step = std::abs(radians(objects[Object::profile_acceleration])) * sim::servo_seconds;
  const double wanted = radians(objects.number(Object::target_velocity));
  const bool halted = (control_ & control::halt) != 0;
  reference_.torque = 0;
  switch (mode_) {
    case Mode::cyclic_position:
      reference_.velocity = steps_left_ > 0 ? increment_ / sim::servo_seconds : 0;
      if (steps_left_ > 0) reference_.position += increment_;
      steps_left_ = std::max(0, steps_left_ - 1);
      break;
    case Mode::cyclic_velocity:
      move_at(wanted, std::abs(wanted - reference_.velocity));
      break;
    case Mode::profile_velocity:
      move_at(halted ? 0 : wanted, step);
      break;
    case Mode::profile_position:
      if (halted) {
        move_at(0, step);
      } else {
        move_to(profile_target_, std::abs(radians(objects[Object::profile_velocity])), step);
      }
      break;
    case Mode::homing:
      move_home(objects);
      break;
    default:
      break;
  }
}

void Cia402Motor::move_at(double velocity, double step) noexcept {
  reference_.velocity += std::clamp(velocity - reference_.velocity, -step, step);
  reference_.position += reference_.velocity * sim::servo_seconds;
}

/// As fast as allowed, so that it can still stop in the target.
void Cia402Motor::move_to(double target, double speed, double step) noexcept {
  const double left = target - reference_.position;
  if (std::abs(left) <= step * sim::servo_seconds && std::abs(reference_.velocity) <= 2 * step) {
    reference_ = {target, 0, 0};
    return;
  }
  // Half a step less than what stops in the distance: time goes in steps.
  const double stopping = std::sqrt(2 * step / sim::servo_seconds * std::abs(left)) - step / 2;
  const double fastest =
      std::min(std::max(stopping, std::min(step, std::abs(left) / sim::servo_seconds)), speed);
  move_at(std::copysign(fastest, left), step);
}

void Cia402Motor::move_home(Cia402Objects& objects) noexcept {
  const double step = std::abs(radians(objects[Object::profile_acceleration])) * sim::servo_seconds;
  const bool started = (control_ & control::start_homing) != 0;
  if (homing_ == Homing::running && !started) homing_ = Homing::interrupted;
  if (homing_ != Homing::running) return move_at(0, step);
  move_to(home_, std::abs(radians(objects[Object::homing_speed])), step);
  if (reference_.position != home_) return;
  homing_ = Homing::attained;
  axis_.zero_encoder(Duration{0});
  reference_ = {axis_.measured(), 0, 0};
}

void Cia402Motor::brake(const Cia402Objects& objects) noexcept {
  move_at(0, std::abs(radians(objects[Object::quick_stop_deceleration])) * sim::servo_seconds);
  if (reference_.velocity != 0) return;
  const auto option = static_cast<can::cia402::QuickStop>(objects.number(Object::quick_stop_option));
  if (state_ == State::fault_reaction_active) {
    leave(State::fault);
  } else if (!can::cia402::stays(option)) {
    leave(State::switch_on_disabled);
  }
}

void Cia402Motor::tick(Cia402Objects& objects) noexcept {
  follow_mode(objects);
  const bool enabled = state_ == State::operation_enabled;
  if (enabled) {
    move(objects);
  } else if (axis_.on()) {
    brake(objects);
  }
  if (enabled && (mode_ == Mode::cyclic_torque || mode_ == Mode::profile_torque)) {
    const double sign = counts_per_radian_ < 0 ? -1 : 1;
    axis_.push(sign * objects.number(Object::target_torque) / 1000.0 * torque_limit_);
    reference_ = {axis_.measured(), axis_.measured_velocity(), 0};
  } else if (!axis_.step(reference_)) {
    fail(cia402_error::following);
  }
  report(objects, Duration{0});
}

std::uint16_t Cia402Motor::mode_bits(const Cia402Objects& objects) const noexcept {
  if (state_ != State::operation_enabled) return 0;
  const bool resting = reference_.velocity == 0;
  const auto when = [](bool condition, std::uint16_t bit) { return condition ? bit : std::uint16_t{0}; };
  switch (mode_) {
    case Mode::profile_position:
      return when(resting && reference_.position == profile_target_, status::target_reached) |
             when(acknowledged_, status::setpoint_acknowledge);
    case Mode::profile_velocity:
      return when(reference_.velocity == radians(objects.number(Object::target_velocity)),
                  status::target_reached) |
             when(resting, status::speed_zero);
    case Mode::homing:
      return when(homing_ != Homing::running, status::target_reached) |
             when(homing_ == Homing::attained, status::homing_attained) |
             when(homing_ == Homing::failed, status::homing_error);
    default:
      return status::follows_command;
  }
}

void Cia402Motor::report(Cia402Objects& objects, Duration since) noexcept {
  const unsigned word =
      word_of(state_) | mode_bits(objects) | status::remote | (axis_.on() ? status::voltage_enabled : 0U);
  const double torque = axis_.torque() / torque_limit_ * (counts_per_radian_ < 0 ? -1000 : 1000);
  objects.set(Object::status_word, word);
  objects.set(Object::mode_display, static_cast<std::int64_t>(mode_));
  objects.set(Object::error_code, error_);
  objects.set(Object::position, axis_.count(since));
  objects.set(Object::velocity, std::llrint(axis_.measured_velocity() * counts_per_radian_));
  objects.set(Object::torque, std::llrint(torque));
}

}  // namespace takt::drives
