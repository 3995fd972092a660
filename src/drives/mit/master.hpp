// The master of one MIT-mode drive: its start-up and shut-down sequence, and its last reply. It has no bus:
// the drive's frames go in, and its one frame of each cycle comes out. The protocol is in
// drives/mit/frames.hpp.
//
//   checking    Damiao: reads mode and ranges, writes the timeout, and rejects a deviation from the setup
//   zeroing     one command without gains, so that nothing is held or stored
//   leaving     exit, or clear error, until the drive answers that it is off
//   idle        requests the position; power may be wanted
//   aligning    commands without gains at the present position: a cheetah stores commands, and acts on the
//               last one when it is enabled
//   entering    enter, until the drive answers that it is on
//   ramping     holds the present position, while kd and then kp grow to the description's gains
//   running     follows its joint
//
// Only a Damiao reports whether it is on. The other drives only answer, so commands to them are repeated
// several times. If a drive that was on leaves its requests unanswered, its last reference is held. Its state
// is then unknown, even when it answers again, until it was switched off or its fault cleared. A Damiao that
// goes off without a command has the fault power_lost. A drive that is being switched off counts as ready
// until it is off, so that no program ends before.
//
// Positions in replies wrap at the end of their field; the master keeps counting. No command can hold a drive
// beyond its field, so it is not enabled there. Real-time safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "drives/mit/frames.hpp"
#include "drives/mit/setup.hpp"
#include "takt/core/time.hpp"
#include "takt/drives/drive_watch.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives::mit {

/// JointFeedback::fault has the drive's own error in the two low bytes. They differ by vendor, so that each
/// number has one meaning.
namespace fault {
inline constexpr std::uint32_t cubemars = 0xFF;
inline constexpr std::uint32_t damiao = 0xF00;
inline constexpr unsigned damiao_shift = 8;
inline constexpr std::uint32_t power_lost = 1U << 16;
inline constexpr std::uint32_t wrong_mode = 1U << 17;
inline constexpr std::uint32_t wrong_position_range = 1U << 18;
inline constexpr std::uint32_t wrong_velocity_range = 1U << 19;
inline constexpr std::uint32_t wrong_torque_range = 1U << 20;
inline constexpr std::uint32_t wrong_timeout = 1U << 21;
inline constexpr std::uint32_t beyond_range = 1U << 22;
}  // namespace fault

/// One drive, as its master sees it.
class Master {
 public:
  /// Gains take this long to grow.
  static constexpr Duration ramp_time{200'000'000};

  /// `timeout`: that of a Damiao. `period`: that of the cycle.
  Master(const Setup& setup, Duration timeout, Duration period) noexcept
      : setup_(setup),
        sign_(setup.reversed ? -1 : 1),
        timeout_(static_cast<std::uint32_t>(
            std::clamp<Duration::rep>(timeout / timeout_unit, 1, std::numeric_limits<std::uint32_t>::max()))),
        ramp_cycles_(
            static_cast<std::uint32_t>(std::clamp<Duration::rep>(ramp_time / period, 1, 1'000'000))) {
    begin();
  }

  [[nodiscard]] const Setup& setup() const noexcept { return setup_; }
  /// The ranges that a Damiao reported; 0: not yet.
  [[nodiscard]] const Ranges& said_ranges() const noexcept { return said_; }

  // ---- Frames from the drive

  /// Whether this drive sent a frame. Drives may share a reply id.
  [[nodiscard]] bool is_from_drive(const can::Frame& frame) const noexcept {
    const std::uint8_t id = setup_.vendor == Vendor::damiao ? frame.data[0] & 0xF : frame.data[0];
    return !frame.extended && frame.id == setup_.reply_id && id == setup_.id;
  }

  /// Handles a frame of the drive that ended on the bus at `time`. Errors, which change nothing: those of
  /// decode_reply() and decode_register().
  Status heard(const can::Frame& frame, Time time) noexcept {
    if (setup_.vendor == Vendor::damiao && is_register_answer(frame, setup_.id)) {
      const auto answer = decode_register(frame, setup_.reply_id);
      if (!answer) return fail(answer.error());
      note_answer();
      note_range(*answer);
      if (phase_ == Phase::checking) check(*answer);
      return {};
    }
    const auto reply = decode_reply(frame, setup_.reply_id, setup_.vendor, setup_.ranges);
    if (!reply) return fail(reply.error());
    note_answer();
    time_ = time;
    status_ = reply->status;
    velocity_ = reply->velocity;
    torque_ = reply->torque;
    // The count goes the shorter way, since replies come often.
    count_ = heard_ ? count_ + static_cast<std::int16_t>(reply->count - static_cast<std::uint16_t>(count_))
                    : reply->count;
    heard_ = true;
    if (phase_ >= Phase::idle) judge();
    return {};
  }

  /// Call it once per cycle, after the replies. The drive is silent after `limit` unanswered requests in a
  /// row.
  void check_silence(std::uint32_t limit) noexcept {
    const bool was_silent = silence_.silent();
    silence_.pass_cycle(limit);
    if (was_silent || !silence_.silent()) return;
    ready_ = false;
    if (phase_ >= Phase::ramping) {
      held_ = true;
    } else if (phase_ != Phase::refused) {
      begin();
    }
  }

  // ---- Feedback for its joint

  void report(robot::JointFeedback& feedback) const noexcept {
    feedback.drive = state();
    feedback.fault = faults();
    feedback.mode = mode_;
    if (!heard_) return;
    feedback.position = sign_ * position();
    feedback.velocity = sign_ * velocity_;
    feedback.effort = sign_ * torque_;
    feedback.has_effort = true;
    feedback.stamp = time_;
    feedback.heard = true;
  }
  [[nodiscard]] DriveState state() const noexcept {
    if (faults() != 0) return DriveState::fault;  // also when silent since
    if (!heard_ || silence_.silent() || held_) return DriveState::unknown;
    if (ready_ || (switching_off_ && !want_power_)) return DriveState::ready;
    return phase_ < Phase::idle ? DriveState::unknown : DriveState::off;
  }
  [[nodiscard]] std::uint32_t faults() const noexcept {
    const bool is_beyond = !ready_ && (count_ < 0 || count_ > std::numeric_limits<std::uint16_t>::max());
    return faults_ | (is_beyond ? fault::beyond_range : 0);
  }

  // ---- Commands for the drive

  /// The drive's frame of this cycle. NaN and infinity are counted in `rejected`. Instead the drive stays in
  /// the mode of the last good command, holds its position, and has a velocity and effort of 0.
  [[nodiscard]] Result<can::Frame> command(const JointCommand& joint, std::uint64_t& rejected) noexcept {
    const bool answered = std::exchange(answered_, false);
    if (!joint.want_power && want_power_) switch_off();
    want_power_ = joint.want_power;
    if (joint.clear_fault && (held_ || faults() != 0)) clear();
    const bool follows = ready_;  // as its joint was told: a command of before does not know where it stands
    proceed(answered);
    if (!take(joint, follows && ready_)) ++rejected;
    sent_ = true;
    return frame();
  }

 private:
  enum class Phase : std::uint8_t {
    refused,
    checking,
    zeroing,
    leaving,
    idle,
    aligning,
    entering,
    ramping,
    running
  };

  /// A step of a Damiao's start-up: the request, and the fault if the answer differs from the setup.
  struct Check {
    RegisterOperation operation;
    Register number;
    std::uint32_t fault;
  };
  static constexpr std::array<Check, 6> checks{
      {{RegisterOperation::read, Register::control_mode, fault::wrong_mode},
       {RegisterOperation::read, Register::position_range, fault::wrong_position_range},
       {RegisterOperation::read, Register::velocity_range, fault::wrong_velocity_range},
       {RegisterOperation::read, Register::torque_range, fault::wrong_torque_range},
       {RegisterOperation::write, Register::timeout, fault::wrong_timeout},
       {RegisterOperation::read, Register::timeout, fault::wrong_timeout}}};

  static constexpr Duration timeout_unit{50'000};
  static constexpr std::uint32_t clear_cycles =
      20;  // an order to clear an error is repeated so often at most
  static constexpr std::uint32_t order_cycles =
      3;  // an order that the drive cannot confirm is answered so often
  static constexpr double damping_share = 0.25;  // of the ramp, in which kd grows

  void go(Phase phase) noexcept {
    phase_ = phase;
    sent_ = false;
    step_ = 0;
  }
  /// From the start, as with a drive of which nothing is known.
  void begin() noexcept {
    switching_off_ = false;
    checked_ = setup_.vendor != Vendor::damiao;
    clearing_ = clear_cycles;
    go(checked_ ? Phase::zeroing : Phase::checking);
  }
  /// Without torque in this very cycle.
  void stop() noexcept {
    ready_ = held_ = switching_off_ = false;
    checked_ = setup_.vendor != Vendor::damiao;
    go(Phase::zeroing);
  }
  void switch_off() noexcept {
    faults_ &= ~fault::power_lost;
    const bool was_ready = ready_;
    if (phase_ > Phase::idle) stop();
    switching_off_ = switching_off_ || was_ready;
  }
  void clear() noexcept {
    const bool was_refused = phase_ == Phase::refused;
    faults_ = 0;
    stop();
    if (was_refused) begin();
    clearing_ = clear_cycles;
  }

  void note_answer() noexcept {
    answered_ = true;
    silence_.heard();
  }

  // ---- Answers

  [[nodiscard]] bool is_off() const noexcept { return setup_.vendor != Vendor::damiao || status_ != 1; }
  [[nodiscard]] std::uint32_t drive_error() const noexcept {
    if (setup_.vendor != Vendor::damiao) return status_;
    return status_ >= 8 ? std::uint32_t{status_} << fault::damiao_shift : 0;
  }
  /// The first error stays: what follows is its consequence.
  void keep_error() noexcept {
    if ((faults_ & (fault::cubemars | fault::damiao)) == 0) faults_ |= drive_error();
  }
  void judge() noexcept {
    keep_error();
    if (phase_ >= Phase::ramping && setup_.vendor == Vendor::damiao && status_ == 0 && !held_)
      faults_ |= fault::power_lost;
    if (faults_ != 0 && phase_ > Phase::idle) stop();
  }

  [[nodiscard]] std::uint32_t wanted(Register number) const noexcept {
    const auto bits = [](double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); };
    switch (number) {
      case Register::timeout:
        return timeout_;
      case Register::control_mode:
        break;
      case Register::position_range:
        return bits(setup_.ranges.position);
      case Register::velocity_range:
        return bits(setup_.ranges.velocity);
      case Register::torque_range:
        return bits(setup_.ranges.torque);
    }
    return mit_mode;
  }
  /// Floats may differ in how their last digit was rounded. Models differ by half a thousandth and more.
  [[nodiscard]] bool is_wanted(Register number, std::uint32_t value) const noexcept {
    if (number == Register::timeout || number == Register::control_mode) return value == wanted(number);
    constexpr float tolerance = 1e-5F;
    const auto expected = std::bit_cast<float>(wanted(number));
    return std::abs(std::bit_cast<float>(value) - expected) <=
           tolerance * expected;  // not if it is no number
  }
  void note_range(const RegisterFrame& answer) noexcept {
    const double value = std::bit_cast<float>(answer.value);
    if (answer.number == static_cast<std::uint8_t>(Register::position_range)) said_.position = value;
    if (answer.number == static_cast<std::uint8_t>(Register::velocity_range)) said_.velocity = value;
    if (answer.number == static_cast<std::uint8_t>(Register::torque_range)) said_.torque = value;
  }
  void check(const RegisterFrame& answer) noexcept {
    const Check& asked = checks[step_];
    if (answer.operation != asked.operation || answer.number != static_cast<std::uint8_t>(asked.number))
      return;
    if (!is_wanted(asked.number, answer.value)) faults_ |= asked.fault;
    if (++step_ < checks.size()) return;
    constexpr std::uint32_t mismatches = fault::wrong_mode | fault::wrong_position_range |
                                         fault::wrong_velocity_range | fault::wrong_torque_range |
                                         fault::wrong_timeout;
    checked_ = true;
    go((faults_ & mismatches) != 0 ? Phase::refused : Phase::zeroing);
  }

  // ---- From phase to phase, once per cycle

  void proceed(bool answered) noexcept {
    answered = answered && sent_;
    switch (phase_) {
      case Phase::refused:
      case Phase::checking:
      case Phase::running:
        break;
      case Phase::zeroing:
        if (sent_) go(Phase::leaving);
        break;
      case Phase::leaving:
        leave(answered);
        break;
      case Phase::idle:
        if (want_power_ && state() == DriveState::off) go(Phase::aligning);
        break;
      case Phase::aligning:
        if (in_a_row(answered)) go(Phase::entering);
        break;
      case Phase::entering:
        if (!in_a_row(answered && (setup_.vendor != Vendor::damiao || !is_off()))) break;
        target_ = position();
        go(Phase::ramping);
        break;
      case Phase::ramping:
        if (++step_ < ramp_cycles_ || held_) break;
        ready_ = true;
        go(Phase::running);
        break;
    }
  }
  [[nodiscard]] bool in_a_row(bool good) noexcept {
    step_ = good ? step_ + 1 : 0;
    return step_ >= order_cycles;
  }
  void leave(bool answered) noexcept {
    if (silence_.silent() && sent_) {
      begin();
    } else if (answered && drive_error() != 0 && clearing_ > 0) {
      --clearing_;
    } else if (in_a_row(answered && is_off())) {
      keep_error();
      clearing_ = 0;
      switching_off_ = false;
      go(checked_ ? Phase::idle : Phase::checking);
    }
  }

  // ---- The frame of a cycle

  /// Takes over what the joint wants, if the drive follows it and its numbers are good.
  [[nodiscard]] bool take(const JointCommand& joint, bool follows) noexcept {
    bool good = joint.mode <= CommandMode::effort;
    if (joint.mode == CommandMode::position)
      good = std::isfinite(joint.position) && std::isfinite(joint.velocity);
    if (joint.mode == CommandMode::velocity) good = std::isfinite(joint.velocity);
    if (joint.mode == CommandMode::effort) good = std::isfinite(joint.effort);
    speed_ = effort_ = 0;
    if (!good) return false;
    if (held_) return true;
    mode_ = joint.mode;
    if (!follows) return true;
    if (mode_ == CommandMode::position) target_ = sign_ * joint.position;
    if (mode_ != CommandMode::effort) speed_ = sign_ * joint.velocity;
    if (mode_ == CommandMode::effort) effort_ = sign_ * joint.effort;
    return true;
  }

  [[nodiscard]] Result<can::Frame> frame() const noexcept {
    switch (phase_) {
      case Phase::refused:
        return ask({RegisterOperation::read, Register::control_mode, 0});
      case Phase::checking:
        return ask(checks[step_]);
      case Phase::leaving:
        return leaving_frame();
      case Phase::idle:
        if (setup_.vendor != Vendor::damiao) return leaving_frame();
        return encode(RegisterFrame{register_id, setup_.id, RegisterOperation::status, 0, 0});
      case Phase::entering:
        return encode(SpecialFrame{setup_.id, Special::enter});
      case Phase::zeroing:
      case Phase::aligning:
      case Phase::ramping:
      case Phase::running:
        break;
    }
    return encode(demand(), setup_.id, setup_.ranges);
  }
  [[nodiscard]] Result<can::Frame> ask(const Check& question) const noexcept {
    const bool writes = question.operation == RegisterOperation::write;
    return encode(RegisterFrame{register_id, setup_.id, question.operation,
                                static_cast<std::uint8_t>(question.number),
                                writes ? wanted(question.number) : 0});
  }
  [[nodiscard]] Result<can::Frame> leaving_frame() const noexcept {
    const bool clears = setup_.vendor == Vendor::damiao && drive_error() != 0 && clearing_ > 0;
    return encode(SpecialFrame{setup_.id, clears ? Special::clear_error : Special::exit});
  }
  [[nodiscard]] Command demand() const noexcept {
    if (phase_ == Phase::ramping) {
      const double part = static_cast<double>(step_) / ramp_cycles_;
      return {target_, 0, setup_.kp * std::clamp((part - damping_share) / (1 - damping_share), 0.0, 1.0),
              setup_.kd * std::min(1.0, part / damping_share), 0};
    }
    if (phase_ != Phase::running) return {position(), 0, 0, 0, 0};
    switch (mode_) {
      case CommandMode::position:
        break;
      case CommandMode::velocity:
        return {position(), speed_, 0, setup_.kd, 0};
      case CommandMode::effort:
        return {position(), 0, 0, 0, effort_};
    }
    return {target_, speed_, setup_.kp, setup_.kd, 0};
  }

  /// In the drive's direction, rad.
  [[nodiscard]] double position() const noexcept { return position_of(count_, setup_.ranges); }

  Setup setup_;
  Ranges said_{0, 0, 0};
  double sign_;
  std::uint32_t timeout_;  ///< of a Damiao, in its unit
  std::uint32_t ramp_cycles_;
  Time time_{};
  std::int64_t count_ = 0;  ///< the position, counted on where replies wrap
  double velocity_ = 0;
  double torque_ = 0;
  double target_ = 0;  ///< the last good reference, in the drive's direction
  double speed_ = 0;
  double effort_ = 0;
  std::uint32_t faults_ = 0;    ///< until they are cleared
  std::uint32_t step_ = 0;      ///< of the phase
  std::uint32_t clearing_ = 0;  ///< orders to clear an error that are left
  CommandMode mode_ = CommandMode::position;
  Phase phase_ = Phase::zeroing;
  std::uint8_t status_ = 0;
  bool heard_ = false;
  SilenceWatch silence_;
  bool held_ = false;  ///< fell silent while it was on
  bool ready_ = false;
  bool switching_off_ = false;  ///< was ready: until it says that it is off, or answered exit
  bool checked_ = false;        ///< its registers are those of the description
  bool answered_ = false;       ///< since the last frame
  bool sent_ = false;           ///< a frame of this phase
  bool want_power_ = false;
};

}  // namespace takt::drives::mit
