#include "takt/drives/hubo/hubo_board.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "takt/drives/hubo/hubo_settings.hpp"

namespace takt::drives {

namespace hubo = can::hubo;

namespace {

/// Servo periods in a span of time, at least one, and few enough to be counted.
std::int32_t steps_in(Duration time) noexcept {
  return static_cast<std::int32_t>(std::clamp<Duration::rep>(time / sim::servo_period, 1, 1'000'000));
}

// The limit switch is closed within so many radians of a joint's zero.
constexpr double switch_width = 0.01;
// Set when a search found nothing. It is unknown which flag real boards set then; any but success fits.
constexpr std::uint8_t home_not_found = 1;
// A neck's servos count 4096 to the turn; this is where they stand at 0 rad.
constexpr std::int32_t neck_middle = 2048;

}  // namespace

HuboBoard::HuboBoard(std::uint8_t number, const HuboBoardOptions& options, Time start) noexcept
    : number_(number),
      ticks_(start, number),
      now_(start),
      options_(options),
      reference_steps_(std::min(steps_in(options.reference_period), 1000)) {}

bool HuboBoard::fit(std::uint8_t channel, const robot::JointDescription& joint) noexcept {
  const bool is_of_board = channel < motors().size() && hubo_board_kind(joint) == options_.kind;
  if (!is_of_board || motors_[channel]) return false;
  robot::JointDescription fitted = joint;
  if (options_.kind == hubo::BoardKind::neck)
    fitted.counts_per_radian =
        std::copysign(2 * neck_middle / (2 * std::numbers::pi), joint.counts_per_radian);
  Motor& motor = motors_[channel].emplace(fitted);
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
  if (take_reference(frame)) return;
  if (const auto command = hubo::decode_command(frame)) {
    obey(*command);
  } else {
    ++ignored_;
  }
}

bool HuboBoard::is_finger(std::size_t channel) const noexcept {
  return options_.kind == hubo::BoardKind::hand || (options_.kind == hubo::BoardKind::hybrid && channel > 0);
}

/// Whether the frame is a reference of this kind of board.
bool HuboBoard::take_reference(const can::Frame& frame) noexcept {
  switch (options_.kind) {
    case hubo::BoardKind::two_channel:
      if (hubo::Reference reference; decode_into(reference, frame)) {
        for (std::size_t i = 0; i < reference.counts.size(); ++i) lead(i, reference.counts[i]);
        return true;
      }
      break;
    case hubo::BoardKind::hybrid:
      if (hubo::HybridReference reference; decode_into(reference, frame)) {
        lead(0, reference.wrist);
        for (std::size_t i = 0; i < reference.fingers.size() && is_hybrid_; ++i)
          push(i + 1, reference.fingers[i] / double{hubo::max_finger_current});
        return true;
      }
      break;
    case hubo::BoardKind::neck:
      if (hubo::NeckReference reference; decode_into(reference, frame)) {
        for (std::size_t i = 0; i < reference.words.size(); ++i) {
          const double turned = reference.words[i] * (2.0 * neck_middle / hubo::max_neck_word);
          lead(i, static_cast<std::int32_t>(std::lround(turned)) - neck_middle);
        }
        return true;
      }
      break;
    case hubo::BoardKind::hand:
      if (hubo::FingerDuty duty; decode_into(duty, frame, options_.kind)) {
        for (std::size_t i = 0; i < duty.percent.size(); ++i) push(i, duty.percent[i] / 100.0);
        return true;
      }
      break;
  }
  return false;
}

void HuboBoard::lead(std::size_t channel, std::int32_t counts) noexcept {
  if (!motors_[channel] || !motors_[channel]->axis.on()) return;
  Motor& motor = *motors_[channel];
  if (motor.search_left > 0) return;
  motor.target = motor.axis.encoder().position(counts);
  motor.steps_left = reference_steps_;
  motor.increment = (motor.target - motor.reference) / reference_steps_;
}

/// `part` of the largest effort, in the direction in which the encoder counts up.
void HuboBoard::push(std::size_t channel, double part) noexcept {
  if (!motors_[channel]) return;
  Motor& motor = *motors_[channel];
  const double sign = motor.axis.encoder().position(1) < motor.axis.encoder().position(0) ? -1 : 1;
  motor.push = sign * std::clamp(part, -1.0, 1.0) * motor.torque_limit;
}

void HuboBoard::obey(const hubo::Command& command) noexcept {
  using Code = hubo::CommandCode;
  if (command.code == Code::status || command.code == Code::encoder) return answer_later(command);
  if (command == hubo::parameter_request(number_, hubo::ParameterPage::g)) return answer_later(command);
  if (command.code == Code::control_mode)
    is_hybrid_ = command.argument == static_cast<std::uint8_t>(hubo::ControlMode::hybrid);
  if (command.code == Code::initialise) is_hybrid_ = false;
  for (std::size_t channel = 0; channel < motors().size(); ++channel) {
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

void HuboBoard::answer_later(const hubo::Command& request) noexcept {
  if (pending_ == replies_.size()) {
    ++ignored_;
    return;
  }
  replies_[(first_ + pending_) % replies_.size()] = {now_ + options_.reply_delay + faults_.late, request};
  ++pending_;
}

can::Frame HuboBoard::take_frame() noexcept {
  const Reply reply = replies_[first_];
  first_ = static_cast<std::uint8_t>((first_ + 1) % replies_.size());
  --pending_;
  advance(reply.due);
  can::Frame frame = answer_to(reply.request);
  frame.length = static_cast<std::uint8_t>(frame.length - std::min(frame.length, faults_.cut));
  return frame;
}

can::Frame HuboBoard::answer_to(const hubo::Command& request) const noexcept {
  if (request.code == hubo::CommandCode::encoder) return encoder_frame(request.argument);
  if (request.code == hubo::CommandCode::status) return status_frame();
  can::Frame frame;
  const hubo::BoardParameters page{.board_type = static_cast<std::uint8_t>(options_.kind)};
  return encode_into(frame, page, number_, hubo::ParameterPage::g) ? frame : can::Frame{};
}

/// The count of a channel's encoder; 0 without a motor.
std::int32_t HuboBoard::count(std::size_t channel) const noexcept {
  return motors_[channel] ? motors_[channel]->axis.count(ticks_.since(now_)) : 0;
}

can::Frame HuboBoard::encoder_frame(std::uint8_t half) const noexcept {
  const auto word = [this](std::size_t channel) { return static_cast<std::int16_t>(count(channel)); };
  switch (options_.kind) {
    case hubo::BoardKind::two_channel:
      return hubo::encode(hubo::EncoderReply{number_, {count(0), count(1)}}).value_or(can::Frame{});
    case hubo::BoardKind::hybrid:
      return hubo::encode(hubo::HybridEncoders{number_, {word(0), word(1), word(2)}}).value_or(can::Frame{});
    case hubo::BoardKind::neck: {
      hubo::NeckEncoders reply{number_, {}};
      for (std::size_t i = 0; i < reply.words.size(); ++i)
        reply.words[i] =
            static_cast<std::uint16_t>(std::clamp(count(i) + neck_middle, 0, 2 * neck_middle - 1));
      return hubo::encode(reply).value_or(can::Frame{});
    }
    case hubo::BoardKind::hand:
      break;
  }
  const bool second = half == 1;
  const hubo::HandEncoders reply = second ? hubo::HandEncoders{number_, 1, {word(3), word(4), 0}}
                                          : hubo::HandEncoders{number_, 0, {word(0), word(1), word(2)}};
  return hubo::encode(reply).value_or(can::Frame{});
}

hubo::MotorStatus HuboBoard::status(const Motor& motor) const noexcept {
  hubo::MotorStatus status;
  status.driver_on = motor.driver_on;
  status.control_on = motor.control_on;
  status.limit_switch =
      faults_.limit_switch || std::abs(motor.axis.plant().position(ticks_.since(now_))) <= switch_width;
  status.home = motor.home;
  status.faults = motor.faults;
  return status;
}

can::Frame HuboBoard::status_frame() const noexcept {
  const auto fill = [this](auto& reply) {
    for (std::size_t i = 0; i < motors().size(); ++i) {
      if (motors_[i]) reply.motors[i] = status(*motors_[i]);
    }
  };
  if (options_.kind == hubo::BoardKind::two_channel) {
    hubo::StatusReply reply{number_, {}};
    fill(reply);
    return hubo::encode(reply, options_.dialect).value_or(can::Frame{});
  }
  hubo::ShortStatusReply reply{number_, {}};
  fill(reply);
  return hubo::encode(reply, options_.kind).value_or(can::Frame{});
}

void HuboBoard::advance(Time to) noexcept {
  for (; ticks_.next() <= to; ticks_.pass()) {
    for (std::size_t channel = 0; channel < motors().size(); ++channel) {
      if (!motors_[channel]) continue;
      if (is_finger(channel)) {
        motors_[channel]->axis.push(motors_[channel]->push);
      } else {
        run(*motors_[channel]);
      }
    }
  }
  now_ = std::max(now_, to);
}

void HuboBoard::run(Motor& motor) noexcept {
  double velocity = 0;
  if (motor.steps_left > 0) {
    --motor.steps_left;
    motor.reference = motor.steps_left == 0 ? motor.target : motor.reference + motor.increment;
    velocity = motor.increment / sim::servo_seconds;
  }
  const bool follows = motor.axis.step({motor.reference, velocity, 0});
  if (motor.search_left > 0 && --motor.search_left == 0) end_search(motor);
  if (follows) return;
  motor.faults |= hubo::fault::big_error;
  if (motor.axis.plant().velocity() == 0) motor.faults |= hubo::fault::jam;
  notice_faults(motor);
  power(motor);
}

/// The board moves the joint to its real zero, whatever its encoder shows.
void HuboBoard::begin_search(Motor& motor) noexcept {
  if (!motor.axis.on()) return;
  motor.home = 0;
  motor.search_left = steps_in(options_.home_time);
  motor.steps_left = motor.search_left;
  motor.target = motor.axis.measured() - motor.axis.plant().position(ticks_.since(now_));
  if (faults_.never_home) motor.target = motor.reference;
  motor.increment = (motor.target - motor.reference) / motor.steps_left;
}

/// Home if the switch is closed: a joint that jammed on its way is not there.
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
  motor.push = 0;
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
  if (motor.axis.fault() == sim::JointFault::encoder) motor.faults |= hubo::fault::encoder;
  if (motor.axis.fault() == sim::JointFault::power_stage) motor.faults |= hubo::fault::driver;
  if (motor.faults != 0) motor.driver_on = motor.control_on = false;
}

void HuboBoard::inject(std::uint8_t channel, sim::JointFault fault) noexcept {
  motors_[channel]->axis.inject(fault, ticks_.since(now_));
  silent_ = std::any_of(motors_.begin(), motors_.end(), [](const auto& motor) {
    return motor && motor->axis.fault() == sim::JointFault::silent;
  });
  for (auto& motor : motors_) {
    if (!motor) continue;
    if (silent_) {  // a board without power loses this
      motor->driver_on = motor->control_on = false;
      motor->faults = 0;
      motor->home = 0;
    }
    notice_faults(*motor);
    power(*motor);
  }
  if (silent_) pending_ = 0;
}

}  // namespace takt::drives
