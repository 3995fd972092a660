#include "drives/mit/drive.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace takt::drives::mit {

namespace {

/// What the encoder of the motor counts on the output side.
constexpr double counts_per_radian = 65536;

// Errors as their vendors number them.
constexpr std::uint8_t cubemars_over_current = 2;
constexpr std::uint8_t cubemars_encoder = 5;
constexpr std::uint8_t damiao_over_current = 0xA;
constexpr std::uint8_t damiao_communication_lost = 0xD;

constexpr std::int16_t warm = 30;  // degrees Celsius

robot::JointDescription with_encoder(robot::JointDescription joint) {
  joint.counts_per_radian = std::copysign(counts_per_radian, joint.counts_per_radian);
  return joint;
}

}  // namespace

Drive::Drive(std::uint8_t id, const DriveOptions& options, Time start,
             const robot::JointDescription& joint) noexcept
    : setup_(setup_of(joint).value_or(Setup{})),
      options_(options),
      ticks_(start, id),
      now_(start),
      powered_at_(start - options.power_on_delay),
      fed_at_(start),
      axis_(with_encoder(joint)),
      direction_(joint.counts_per_radian < 0 ? -1 : 1),
      registers_(stored_registers()),
      exists_(setup_of(joint).has_value()) {
  setup_.id = id;
}

Drive::Registers Drive::stored_registers() const noexcept {
  const auto bits = [](double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); };
  return {0, mit_mode, bits(setup_.ranges.position), bits(setup_.ranges.velocity),
          bits(setup_.ranges.torque)};
}

std::uint32_t* Drive::find_register(std::uint8_t number) noexcept {
  switch (static_cast<Register>(number)) {
    case Register::timeout:
      return &registers_.timeout;
    case Register::control_mode:
      return &registers_.control_mode;
    case Register::position_range:
      return &registers_.position_range;
    case Register::velocity_range:
      return &registers_.velocity_range;
    case Register::torque_range:
      return &registers_.torque_range;
  }
  return nullptr;
}

void Drive::receive(const can::Frame& frame) noexcept {
  if (silent_) return;
  advance(frame.stamp);
  if (frame.id == register_id) {
    const auto request = decode_register(frame, register_id);
    if (request && request->drive == setup_.id) take_register(*request);
    return;
  }
  if (setup_.vendor == Vendor::damiao && registers_.control_mode != mit_mode) return;
  const auto special = decode_special(frame);
  if (special && (special->special != Special::clear_error || setup_.vendor == Vendor::damiao)) {
    answer_with_state();
    if (setup_.vendor == Vendor::damiao) fed_at_ = now_;
    obey(special->special);
    return;
  }
  // A special frame that the vendor does not have is a command with all fields at their ends.
  const auto command = special ? Result<Command>(Command{setup_.ranges.position, setup_.ranges.velocity,
                                                         max_kp, max_kd, setup_.ranges.torque})
                               : decode_command(frame, setup_.id, setup_.ranges);
  if (!command) return;
  answer_with_state();
  fed_at_ = now_;
  command_ = *command;
}

void Drive::obey(Special special) noexcept {
  const bool is_damiao = setup_.vendor == Vendor::damiao;
  switch (special) {
    case Special::enter:
      if (error_ != 0 || (is_damiao && now_ - powered_at_ < options_.power_on_delay)) return;
      if (!axis_.on()) fed_at_ = now_;
      axis_.switch_on();
      notice_faults();
      return;
    case Special::exit:
      axis_.switch_off();
      if (setup_.vendor == Vendor::cheetah) command_ = {};
      if (!is_damiao) error_ = 0;
      notice_faults();
      return;
    case Special::clear_error:
      error_ = 0;
      notice_faults();
      return;
    case Special::set_zero:
      if (!axis_.on()) axis_.zero_encoder(ticks_.since(now_));
      return;
  }
}

void Drive::take_register(const RegisterFrame& request) noexcept {
  if (request.operation == RegisterOperation::status) return answer_with_state();
  std::uint32_t* const place = find_register(request.number);
  if (place == nullptr) return;
  if (request.operation == RegisterOperation::write) *place = request.value;
  answer(encode(RegisterFrame{setup_.reply_id, setup_.id, request.operation, request.number, *place}));
}

double Drive::measured() const noexcept {
  return direction_ * axis_.encoder().position(axis_.count(ticks_.since(now_)));
}

void Drive::answer_with_state() noexcept {
  Reply reply;
  reply.id = setup_.id;
  reply.status = setup_.vendor == Vendor::damiao && error_ == 0 && axis_.on() ? 1 : error_;
  reply.count = static_cast<std::uint16_t>(count_of(measured(), setup_.ranges));
  reply.velocity = direction_ * axis_.measured_velocity();
  reply.torque = direction_ * axis_.torque();
  reply.driver_temperature = reply.coil_temperature = warm;
  answer(encode(reply, setup_.reply_id, setup_.vendor, setup_.ranges));
}

/// A controller has one buffer for replies: a newer one replaces one that waits.
void Drive::answer(const Result<can::Frame>& frame) noexcept {
  if (!frame) return;
  reply_ = *frame;
  reply_due_ = now_ + options_.reply_delay;
}

can::Frame Drive::take_frame() noexcept {
  reply_due_ = Time::max();
  return reply_;
}

void Drive::advance(Time to) noexcept {
  for (; ticks_.next() <= to; ticks_.pass()) run(ticks_.next());
  now_ = std::max(now_, to);
}

void Drive::run(Time tick) noexcept {
  if (setup_.vendor == Vendor::cheetah && tick - fed_at_ >= cheetah_timeout) command_ = {};
  if (setup_.vendor == Vendor::damiao && axis_.on() && registers_.timeout != 0 &&
      tick - fed_at_ >= Duration(50'000) * registers_.timeout) {
    fail(damiao_communication_lost);
  }
  const double position = direction_ * axis_.measured();
  const double velocity = direction_ * axis_.measured_velocity();
  const double torque = command_.kp * (command_.position - position) +
                        command_.kd * (command_.velocity - velocity) + command_.torque;
  axis_.push(direction_ * std::clamp(torque, -setup_.ranges.torque, setup_.ranges.torque));
}

void Drive::fail(std::uint8_t error) noexcept {
  axis_.switch_off();
  error_ = error;
}

/// A cheetah has no words for a fault: it is limp.
void Drive::notice_faults() noexcept {
  const bool encoder = axis_.fault() == sim::JointFault::encoder;
  if (!encoder && axis_.fault() != sim::JointFault::power_stage) return;
  switch (setup_.vendor) {
    case Vendor::cheetah:
      return fail(0);
    case Vendor::cubemars:
      return fail(encoder ? cubemars_encoder : cubemars_over_current);
    case Vendor::damiao:
      return fail(damiao_over_current);  // it has no word for an encoder
  }
}

void Drive::inject(sim::JointFault fault) noexcept {
  axis_.inject(fault, ticks_.since(now_));
  const bool was_silent = silent_;
  silent_ = fault == sim::JointFault::silent;
  if (silent_) {  // a drive without power loses this
    command_ = {};
    error_ = 0;
    registers_ = stored_registers();
    reply_due_ = Time::max();
  }
  if (was_silent && !silent_) powered_at_ = now_;
  notice_faults();
}

}  // namespace takt::drives::mit
