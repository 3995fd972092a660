#include "takt/sim/hubo_board.hpp"

#include <algorithm>
#include <cmath>

namespace takt::sim {

namespace hubo = can::hubo;

namespace {

/// Servo periods in a span of time, at least one, and few enough to be counted.
std::int32_t steps_in(Duration time) noexcept {
  return static_cast<std::int32_t>(std::clamp<Duration::rep>(time / servo_period, 1, 1'000'000));
}

// The limit switch is closed within so many radians of a joint's zero.
constexpr double switch_width = 0.01;
// Set when a search found nothing. Which flag real boards set then is not known: any but success.
constexpr std::uint8_t home_not_found = 1;

}  // namespace

HuboBoard::HuboBoard(std::uint8_t number, const HuboBoardOptions& options, Time start) noexcept
    : number_(number),
      ticks_(start, number),
      now_(start),
      options_(options),
      reference_steps_(std::min(steps_in(options.reference_period), 1000)) {}

bool HuboBoard::fit(std::uint8_t channel, const robot::JointDescription& joint) noexcept {
  if (channel >= motors_.size() || motors_[channel]) return false;
  Motor& motor = motors_[channel].emplace(joint);
  if (options_.at_home) {
    motor.home = hubo::home_done;
  } else {
    motor.axis.zero_encoder(Duration{0});
    hold(motor);
  }
  return true;
}

void HuboBoard::receive(const can::Frame& frame) noexcept {
  if (silent_) return;
  advance(frame.stamp);
  if (const auto reference = hubo::decode_reference(frame)) {
    follow(*reference);
  } else if (const auto command = hubo::decode_command(frame)) {
    obey(*command);
  } else {
    ++ignored_;
  }
}

void HuboBoard::follow(const hubo::Reference& reference) noexcept {
  for (std::size_t channel = 0; channel < motors_.size(); ++channel) {
    if (!motors_[channel] || !motors_[channel]->axis.on()) continue;
    Motor& motor = *motors_[channel];
    if (motor.search_left > 0) continue;
    motor.target = motor.axis.encoder().position(reference.counts[channel]);
    motor.steps_left = reference_steps_;
    motor.increment = (motor.target - motor.reference) / reference_steps_;
  }
}

void HuboBoard::obey(const hubo::Command& command) noexcept {
  using Code = hubo::CommandCode;
  if (command.code == Code::status || command.code == Code::encoder) return answer_later(command.code);
  for (std::size_t channel = 0; channel < motors_.size(); ++channel) {
    if (!motors_[channel]) continue;
    Motor& motor = *motors_[channel];
    switch (command.code) {
      case Code::zero_encoder:
        if (command.argument != hubo::all_channels && command.argument != channel) break;
        motor.axis.zero_encoder(ticks_.since(now_));
        motor.faults = 0;
        hold(motor);
        break;
      case Code::driver:
        motor.driver_on = command.argument == 1;
        break;
      case Code::control_on:
        motor.control_on = true;
        break;
      case Code::control_off:
        motor.control_on = false;
        break;
      case Code::initialise:
        motor.faults = 0;
        motor.driver_on = motor.control_on = false;
        break;
      case Code::home:
        if (command.argument == hubo::home_argument(hubo::all_channels) ||
            command.argument == hubo::home_argument(static_cast<std::uint8_t>(channel)))
          begin_search(motor);
        break;
      default:  // the others change nothing that is simulated
        break;
    }
    notice_faults(motor);
    power(motor);
  }
}

void HuboBoard::answer_later(hubo::CommandCode kind) noexcept {
  if (pending_ == replies_.size()) {
    ++ignored_;
    return;
  }
  replies_[(first_ + pending_) % replies_.size()] = {now_ + options_.reply_delay + faults_.late, kind};
  ++pending_;
}

can::Frame HuboBoard::take_frame() noexcept {
  const Reply reply = replies_[first_];
  first_ = static_cast<std::uint8_t>((first_ + 1) % replies_.size());
  --pending_;
  advance(reply.due);
  can::Frame frame = reply.kind == hubo::CommandCode::encoder ? encoder_frame() : status_frame();
  frame.length = static_cast<std::uint8_t>(frame.length - std::min(frame.length, faults_.cut));
  return frame;
}

can::Frame HuboBoard::encoder_frame() const noexcept {
  hubo::EncoderReply reply{number_, {}};
  for (std::size_t channel = 0; channel < motors_.size(); ++channel) {
    if (motors_[channel]) reply.counts[channel] = motors_[channel]->axis.count(ticks_.since(now_));
  }
  return hubo::encode(reply).value_or(can::Frame{});
}

can::Frame HuboBoard::status_frame() const noexcept {
  hubo::StatusReply reply{number_, {}};
  for (std::size_t channel = 0; channel < motors_.size(); ++channel) {
    if (!motors_[channel]) continue;
    const Motor& motor = *motors_[channel];
    hubo::MotorStatus& status = reply.motors[channel];
    status.driver_on = motor.driver_on;
    status.control_on = motor.control_on;
    status.limit_switch =
        faults_.limit_switch || std::abs(motor.axis.plant().position(ticks_.since(now_))) <= switch_width;
    status.home = motor.home;
    status.faults = motor.faults;
  }
  return hubo::encode(reply, options_.dialect).value_or(can::Frame{});
}

void HuboBoard::advance(Time to) noexcept {
  for (; ticks_.next() <= to; ticks_.pass()) {
    for (auto& motor : motors_) {
      if (motor) run(*motor);
    }
  }
  now_ = std::max(now_, to);
}

void HuboBoard::run(Motor& motor) noexcept {
  double velocity = 0;
  if (motor.steps_left > 0) {
    --motor.steps_left;
    motor.reference = motor.steps_left == 0 ? motor.target : motor.reference + motor.increment;
    velocity = motor.increment / servo_seconds;
  }
  const bool follows = motor.axis.step({motor.reference, velocity, 0});
  if (motor.search_left > 0 && --motor.search_left == 0) end_search(motor);
  if (follows) return;
  motor.faults |= hubo::fault::big_error;
  if (motor.axis.plant().velocity() == 0) motor.faults |= hubo::fault::jam;
  notice_faults(motor);
  power(motor);
}

/// The board leads the joint to where it really is at zero, whatever the encoder calls that place.
void HuboBoard::begin_search(Motor& motor) noexcept {
  if (!motor.axis.on()) return;
  motor.home = 0;
  motor.search_left = steps_in(options_.home_time);
  motor.steps_left = motor.search_left;
  motor.target = motor.axis.measured() - motor.axis.plant().position(ticks_.since(now_));
  if (faults_.never_home) motor.target = motor.reference;
  motor.increment = (motor.target - motor.reference) / motor.steps_left;
}

/// Found, if the switch is closed: a joint that jammed on the way is not there.
void HuboBoard::end_search(Motor& motor) noexcept {
  const bool is_there = !faults_.never_home && std::abs(motor.axis.plant().position()) <= switch_width;
  motor.home = is_there ? hubo::home_done : home_not_found;
  if (is_there) motor.axis.zero_encoder(Duration{0});
  hold(motor);
}

/// The reference stays where the joint is.
void HuboBoard::hold(Motor& motor) noexcept {
  motor.reference = motor.target = motor.axis.measured();
  motor.increment = 0;
  motor.steps_left = 0;
}

/// The servo runs while the driver and the control loop are on.
void HuboBoard::power(Motor& motor) noexcept {
  if (!motor.driver_on || !motor.control_on) {
    motor.search_left = 0;
    return motor.axis.switch_off();
  }
  if (motor.axis.on()) return;
  hold(motor);
  motor.axis.switch_on();
}

/// A fault, fresh or remembered, keeps the motor off.
void HuboBoard::notice_faults(Motor& motor) noexcept {
  if (motor.axis.fault() == JointFault::encoder) motor.faults |= hubo::fault::encoder;
  if (motor.axis.fault() == JointFault::power_stage) motor.faults |= hubo::fault::driver;
  if (motor.faults != 0) motor.driver_on = motor.control_on = false;
}

void HuboBoard::inject(std::uint8_t channel, JointFault fault) noexcept {
  motors_[channel]->axis.inject(fault, ticks_.since(now_));
  silent_ = std::any_of(motors_.begin(), motors_.end(),
                        [](const auto& motor) { return motor && motor->axis.fault() == JointFault::silent; });
  for (auto& motor : motors_) {
    if (!motor) continue;
    if (silent_) {  // what a board without power forgets
      motor->driver_on = motor->control_on = false;
      motor->faults = 0;
      motor->home = 0;
    }
    notice_faults(*motor);
    power(*motor);
  }
  if (silent_) pending_ = 0;
}

}  // namespace takt::sim
