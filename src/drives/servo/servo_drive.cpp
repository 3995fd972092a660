#include "takt/drives/servo/servo_drive.hpp"

#include <algorithm>

namespace takt::drives {

namespace servo = can::servo;

double servo_braking(const robot::JointDescription& joint) noexcept {
  const double possible = joint.plant.torque_limit / joint.plant.inertia / 2;
  return joint.limits.acceleration > 0 ? std::min(possible, joint.limits.acceleration) : possible;
}

ServoDrive::ServoDrive(std::uint8_t node, const ServoDriveOptions& options, Time start,
                       const robot::JointDescription& joint) noexcept
    : command_id_(servo::command_base + servo::group_of(node)),
      node_(node),
      ticks_(start, node),
      now_(start),
      options_(options),
      axis_(joint),
      direction_(joint.counts_per_radian < 0 ? -1 : 1),
      braking_step_(servo_braking(joint) * sim::servo_seconds) {}

void ServoDrive::receive(const can::Frame& frame) noexcept {
  if (silent_) return;
  advance(frame.stamp);
  const auto received = servo::decode_for_node(frame, node_);
  if (!received || received->sequence == sequence_) {
    ++ignored_;
    return;
  }
  sequence_ = received->sequence;
  if (received->command.addressed) obey(*received);
}

void ServoDrive::obey(const servo::NodeCommand& received) noexcept {
  const servo::DriveCommand& command = received.command;
  commanded_ = {direction_ * command.position, direction_ * command.velocity, direction_ * command.torque};
  commanded_at_ = now_;
  overdue_at_ = now_ + options_.command_period + options_.command_period / 2;
  watchdog_ends_ = now_ + std::chrono::milliseconds(received.watchdog);
  if (command.clear_fault && !command.enable && state_ == servo::State::fault) {
    state_ = servo::State::off;
    fault_ = servo::Fault::none;
  }
  if (command.enable && !command.clear_fault && state_ == servo::State::off) {
    state_ = servo::State::ready;
    axis_.switch_on();
  } else if (!command.enable && state_ == servo::State::ready) {
    state_ = servo::State::off;
    axis_.switch_off();
  }
  if (state_ == servo::State::ready && command.mode != servo::Mode::position)
    fail(servo::Fault::unsupported_mode);
  notice_faults();

  reply_ = {node_,
            received.sequence,
            state_,
            static_cast<std::uint8_t>(fault_),
            direction_ * axis_.encoder().position(axis_.count(ticks_.since(now_))),
            direction_ * axis_.measured_velocity(),
            direction_ * axis_.torque()};
  reply_due_ = now_ + options_.reply_delay;
}

can::Frame ServoDrive::take_frame() noexcept {
  reply_due_ = Time::max();
  return servo::encode(reply_).value_or(can::Frame{});
}

void ServoDrive::advance(Time to) noexcept {
  for (; ticks_.next() <= to; ticks_.pass()) run(ticks_.next());
  now_ = std::max(now_, to);
}

void ServoDrive::run(Time tick) noexcept {
  if (tick <= overdue_at_) {
    reference_ = commanded_;
    reference_.position += commanded_.velocity * to_seconds(tick - commanded_at_);
  } else {
    reference_.velocity -= std::clamp(reference_.velocity, -braking_step_, braking_step_);
    reference_.position += reference_.velocity * sim::servo_seconds;
  }
  const bool followed = axis_.step(reference_);
  if (state_ != servo::State::ready) return;
  if (!followed) {
    fail(servo::Fault::following_error);
  } else if (tick >= watchdog_ends_ && reference_.velocity == 0) {
    fail(servo::Fault::reference_lost);
  }
}

void ServoDrive::fail(servo::Fault fault) noexcept {
  state_ = servo::State::fault;
  fault_ = fault;
  axis_.switch_off();
}

void ServoDrive::notice_faults() noexcept {
  if (axis_.fault() == sim::JointFault::encoder) fail(servo::Fault::encoder);
  if (axis_.fault() == sim::JointFault::power_stage) fail(servo::Fault::over_current);
}

void ServoDrive::inject(sim::JointFault fault) noexcept {
  axis_.inject(fault, ticks_.since(now_));
  silent_ = fault == sim::JointFault::silent;
  if (silent_) {  // a drive without power loses this
    state_ = servo::State::off;
    fault_ = servo::Fault::none;
    sequence_.reset();
    reply_due_ = Time::max();
  }
  notice_faults();
}

}  // namespace takt::drives
