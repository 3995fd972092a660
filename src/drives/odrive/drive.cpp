#include "drives/odrive/drive.hpp"

#include <bit>
#include <cmath>
#include <utility>

namespace takt::drives {
namespace {

constexpr double counts_per_turn = 16384;  // of the magnetic encoder behind the motor
constexpr double overspeed = 1.2;          // of the velocity limit: an error
constexpr double newest = 0.63;            // weight of the newest velocity in the estimate

/// The joint, with the motor's encoder seen through the gear.
robot::JointDescription with_encoder(robot::JointDescription joint, const OdriveSetup& setup) {
  joint.counts_per_radian = counts_per_turn * std::abs(setup.scale.turns(1));
  return joint;
}

}  // namespace

OdriveDrive::OdriveDrive(std::uint8_t node, const OdriveDriveOptions& options, Time start,
                         const robot::JointDescription& joint) noexcept
    : setup_(odrive_setup(joint).value_or(OdriveSetup{})),
      options_(options),
      ticks_(start, node),
      now_(start),
      axis_(with_encoder(joint, setup_)),
      heartbeat_due_(start + options.heartbeat),
      estimate_due_(start + options.estimate) {
  setup_.node = node;
}

void OdriveDrive::receive(const can::Frame& frame) noexcept {
  if (silent_) return;
  advance(frame.stamp);
  if (setup_.watchdog) watchdog_ends_ = now_ + *setup_.watchdog;
  if (frame.remote) {
    if (asked_ == 0) answer_due_ = now_ + options_.reply_delay;
    asked_ |= bit_of(frame) & answers;
    return;
  }
  const auto obey = [this](const auto& message) noexcept { take(message); };
  if (!odrive::visit(odrive_frame::of_node_0(frame), obey)) ++ignored_;
}

void OdriveDrive::take(const odrive::SetState& order) noexcept {
  if (order.state == odrive::SetState::State::idle) {
    state_ = State::idle;
    result_ = {};
    axis_.switch_off();
  } else if (order.state != odrive::SetState::State::closed_loop) {
    result_ = odrive::Heartbeat::Result::invalid_state;
  } else if (errors_ != 0) {
    result_ = odrive::Heartbeat::Result::disarmed;
  } else if (state_ != State::closed_loop) {
    state_ = State::closed_loop;
    result_ = {};
    disarm_reason_ = 0;
    input_.position = estimate().position;
    reference_ = {axis_.measured(), 0, 0};
    axis_.switch_on();
  }
}

void OdriveDrive::take(const odrive::SetMode& order) noexcept {
  mode_ = order;
  if (mode_.control == odrive::SetMode::Control::position) input_.position = estimate().position;
  reference_ = {axis_.measured(), 0, 0};
}

// It is unknown how a real drive handles NaN and infinity: this one ignores them.

void OdriveDrive::take(const odrive::SetPosition& order) noexcept {
  if (std::isfinite(order.position)) {
    input_ = order;
  } else {
    ++ignored_;
  }
}

void OdriveDrive::take(const odrive::SetVelocity& order) noexcept {
  if (std::isfinite(order.velocity) && std::isfinite(order.torque)) {
    input_.velocity = order.velocity;
    input_.torque = order.torque;
  } else {
    ++ignored_;
  }
}

void OdriveDrive::take(const odrive::SetTorque& order) noexcept {
  if (std::isfinite(order.torque)) {
    input_.torque = order.torque;
  } else {
    ++ignored_;
  }
}

void OdriveDrive::take(const odrive::SetLimits& order) noexcept {
  if (std::isfinite(order.velocity) && order.velocity >= 0) {
    limits_ = order;
  } else {
    ++ignored_;
  }
}

void OdriveDrive::take(const odrive::ClearErrors&) noexcept {
  errors_ = disarm_reason_ = 0;
  notice_faults();
}

odrive::Estimate OdriveDrive::estimate() const noexcept {
  const double position = axis_.encoder().position(axis_.count(ticks_.since(now_)));
  return {setup_.scale.turns(position), setup_.scale.turns(velocity_)};
}

can::Frame OdriveDrive::heartbeat() const noexcept {
  return odrive_frame::of_node(setup_.node, odrive::Heartbeat{errors_, state_, result_, true})
      .value_or(can::Frame{});
}

can::Frame OdriveDrive::answer(std::uint32_t message) const noexcept {
  const auto frame = [this](const auto& said) {
    return odrive_frame::of_node(setup_.node, said).value_or(can::Frame{});
  };
  switch (message) {
    case odrive::Version::message.id:
      return frame(odrive::Version{.protocol = 2,
                                   .hardware_line = 4,
                                   .hardware_version = 4,
                                   .hardware_variant = 58,
                                   .firmware_minor = 6,
                                   .firmware_revision = 10});
    case odrive::Heartbeat::message.id:
      return heartbeat();
    case odrive::Errors::message.id:
      return frame(odrive::Errors{errors_, disarm_reason_});
    case odrive::Torques::message.id: {
      const double torque = setup_.scale.torque(axis_.torque());
      return frame(odrive::Torques{torque, torque});
    }
    default:
      return frame(estimate());
  }
}

can::Frame OdriveDrive::take_frame() noexcept {
  const Time due = next_send();
  advance(due);
  if (heartbeat_due_ == due) {
    heartbeat_due_ += options_.heartbeat;
    return heartbeat();
  }
  if (estimate_due_ == due) {
    estimate_due_ += options_.estimate;
    return answer(odrive::Estimate::message.id);
  }
  const auto message = static_cast<std::uint32_t>(std::countr_zero(asked_));
  asked_ &= asked_ - 1;
  return answer(message);
}

void OdriveDrive::advance(Time to) noexcept {
  for (; ticks_.next() <= to; ticks_.pass()) run(ticks_.next());
  now_ = std::max(now_, to);
}

void OdriveDrive::run(Time tick) noexcept {
  follow();
  velocity_ += newest * (axis_.measured_velocity() - velocity_);
  if (state_ != State::closed_loop) return;
  if (tick >= watchdog_ends_) fail(odrive_fault::watchdog);
  if (std::abs(setup_.scale.turns(velocity_)) > overspeed * limits_.velocity) fail(odrive_fault::velocity);
}

void OdriveDrive::follow() noexcept {
  using Control = odrive::SetMode::Control;
  const double torque = setup_.scale.effort(input_.torque);
  const double velocity =
      setup_.scale.joint(std::clamp(input_.velocity, -limits_.velocity, limits_.velocity));
  if (mode_.control == Control::torque) {
    axis_.push(torque);
    return;
  }
  if (mode_.control == Control::position) {
    reference_ = {setup_.scale.joint(input_.position), velocity, torque};
  } else {
    reference_ = {reference_.position + velocity * sim::servo_seconds, velocity, torque};
  }
  // However far it is off: these drives know no following error.
  static_cast<void>(axis_.step(reference_));
}

void OdriveDrive::fail(std::uint32_t error) noexcept {
  errors_ |= error;
  if (state_ != State::closed_loop) return;
  state_ = State::idle;
  result_ = odrive::Heartbeat::Result::disarmed;
  disarm_reason_ = error;
  axis_.switch_off();
}

void OdriveDrive::notice_faults() noexcept {
  if (axis_.fault() == sim::JointFault::encoder) fail(odrive_fault::no_estimate);
  if (axis_.fault() == sim::JointFault::power_stage) fail(odrive_fault::gate_driver);
}

void OdriveDrive::inject(sim::JointFault fault) noexcept {
  axis_.inject(fault, ticks_.since(now_));
  const bool was_silent = std::exchange(silent_, fault == sim::JointFault::silent);
  if (silent_) {  // a drive without power loses this
    state_ = State::idle;
    errors_ = disarm_reason_ = asked_ = 0;
    limits_ = as_delivered;
    input_ = {};
  } else if (was_silent) {
    heartbeat_due_ = now_ + options_.heartbeat;
    estimate_due_ = now_ + options_.estimate;
  }
  notice_faults();
}

}  // namespace takt::drives
