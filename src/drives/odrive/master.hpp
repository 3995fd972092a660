// The master of one ODrive: its start-up and shut-down, its modes, and its last frames. It has no bus and no
// clock: frames of the drive go in, the frames of a cycle come out.
//
//   greeting -> (clearing) -> off -> preparing -> starting -> on -> stopping -> off
//
// A drive reports its state only in a heartbeat, ten times a second, and confirms no command. Hence each
// important step is repeated until a heartbeat shows it. A change of mode counts once the drive has answered
// a later request, because drives handle their frames in order. This request is for the firmware version,
// which no drive sends by itself.
//
// Errors from before this master's start are cleared once, before power is wanted. Later ones stay until they
// are cleared. A drive that is on at the start was left on by another program, and is switched off first. A
// drive that goes off without a command is at fault (power_lost). Clearing the fault, or switching the drive
// off, ends it.
//
// Two drives with one node id would both obey. Before it is on, a drive is at fault (duplicate) if it
// gives its version more often than it was asked. So is one whose estimates jump to and fro. Real-time safe.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "drives/odrive/frames.hpp"
#include "drives/odrive/setup.hpp"
#include "takt/can/error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// After how many cycles without a word a drive is given up.
struct OdrivePatience {
  std::uint32_t answers = 1;     ///< without an estimate, which is asked for in each
  std::uint32_t heartbeats = 1;  ///< without a heartbeat
};

/// One drive, as its master sees it.
class OdriveMaster {
 public:
  OdriveMaster(const OdriveSetup& setup, const OdrivePatience& patience) noexcept
      : setup_(setup), patience_(patience) {}

  [[nodiscard]] std::uint8_t node() const noexcept { return setup_.node; }

  // ---- Frames from the drive

  /// Handles a frame with the drive's node that ended on the bus at `time`. Errors, which change nothing:
  /// unexpected_id (a frame that a master does not use), wrong_format, wrong_length, not_finite.
  [[nodiscard]] Status heard(const can::Frame& frame, Time time) noexcept {
    Status taken;
    const auto take_in = [&](const auto& message) noexcept { taken = take(message, time); };
    const Status decoded = odrive::visit(odrive_frame::of_node_0(frame), take_in);
    return decoded ? taken : decoded;
  }

  /// Call it once per cycle, after the drive's frames.
  void check_silence() noexcept {
    if (unanswered_++ >= patience_.answers) silent_ = true;
    if (heartbeat_age_++ >= patience_.heartbeats) silent_ = true;
  }

  // ---- Feedback for its joint

  void report(robot::JointFeedback& feedback) const noexcept {
    feedback.drive = state();
    feedback.fault = faults();
    feedback.mode = mode_;
    if (!measured_) return;
    feedback.position = setup_.scale.joint(position_);
    feedback.velocity = setup_.scale.joint(velocity_);
    feedback.effort = setup_.scale.effort(torque_.value_or(0));
    feedback.has_effort = torque_.has_value();
    feedback.stamp = time_;
    feedback.heard = true;
  }

  [[nodiscard]] DriveState state() const noexcept {
    if (faults() != 0) return DriveState::fault;  // also when silent since
    if (silent_ || !measured_ || phase_ == Phase::greeting || phase_ == Phase::clearing)
      return DriveState::unknown;
    return phase_ == Phase::on ? DriveState::ready : DriveState::off;
  }
  /// What it said when the master greeted it; none before, and from firmware 0.5.
  [[nodiscard]] const std::optional<odrive::Version>& version() const noexcept { return version_; }
  /// Bits of odrive_fault.
  [[nodiscard]] std::uint32_t faults() const noexcept {
    const std::uint32_t duplicate = duplicate_ ? odrive_fault::duplicate : 0;
    if (phase_ == Phase::greeting || phase_ == Phase::clearing) return duplicate;
    const std::uint32_t errors = (errors_ & ~odrive_fault::initializing) | disarm_reason_;
    return errors | duplicate | (errors != 0 && old_firmware_ ? odrive_fault::old_firmware : 0) |
           (start_refused_ ? odrive_fault::start_refused : 0) | (power_lost_ ? odrive_fault::power_lost : 0);
  }

  // ---- Commands for the drive

  /// Call it once per cycle, before the frames of it. NaN, infinity, and modes that the drive's firmware
  /// cannot confirm are counted in `rejected`. Instead the last good position is held, and a velocity and an
  /// effort are 0.
  void command(const JointCommand& joint, std::uint64_t& rejected) noexcept {
    if (!take(joint)) ++rejected;
    if (!joint.want_power && want_power_) forget_loss();
    want_power_ = joint.want_power;
    if (joint.clear_fault) clear();
    if (!heartbeat_) return;

    const bool may_run = want_power_ && faults() == 0;
    const bool runs = phase_ == Phase::preparing || phase_ == Phase::starting || phase_ == Phase::on;
    if (runs && !may_run) stop();
    if (phase_ == Phase::stopping && ++stopping_cycles_ % patience_.answers == 0) idle_wanted_ = true;
    if (phase_ == Phase::off && may_run && !silent_ && measured_ && errors_ == 0 &&
        axis_state_ == AxisState::idle) {
      phase_ = Phase::preparing;
      step_ = Step::limits;
    }
    if (phase_ == Phase::on) watch_mode();
  }

  /// The next command that must not be replaced by another, if there is one.
  [[nodiscard]] std::optional<can::Frame> order() noexcept {
    if (idle_wanted_) {
      idle_wanted_ = false;
      return frame(odrive::SetState{odrive::SetState::State::idle});
    }
    if (clear_wanted_) {
      clear_wanted_ = false;
      return frame(odrive::ClearErrors{});
    }
    if (reason_wanted_) {
      reason_wanted_ = false;
      return odrive_frame::ask<odrive::Errors>(node());
    }
    if (version_wanted_) {
      version_wanted_ = false;
      ++versions_asked_;
      return odrive_frame::ask<odrive::Version>(node());
    }
    if (phase_ == Phase::preparing) return prepare();
    if (phase_ == Phase::on && change_ == Change::wanted) {
      change_ = Change::sent;
      version_wanted_ = true;
      return set_mode(next_mode_);
    }
    return std::nullopt;
  }

  /// The set-point of this cycle, once the drive is on; after order(), as it depends on the mode.
  [[nodiscard]] std::optional<can::Frame> set_point() noexcept {
    if (phase_ != Phase::on) return std::nullopt;
    Reference next = reference_;
    if (change_ == Change::sent) {
      next = as_it_moves(next_mode_);
    } else if (next.mode != mode_) {
      next = last_;
    }
    if (silent_) next = last_;
    if (silent_ || change_cycles_ > patience_.answers) next = at_rest(next);
    last_ = next;
    return frame_of(next);
  }

 private:
  using AxisState = odrive::Heartbeat::State;
  enum class Phase : std::uint8_t {
    greeting,  ///< which firmware it has
    clearing,  ///< it forgets older errors
    off,
    preparing,  ///< step by step
    starting,   ///< until it shows closed loop
    on,
    stopping,  ///< until it shows another state than closed loop
  };
  enum class Step : std::uint8_t { limits, mode, set_point, closed_loop };
  enum class Change : std::uint8_t { none, wanted, sent };
  /// Turns, turns/s or N m of the motor.
  struct Reference {
    CommandMode mode = CommandMode::position;
    double value = 0;
    double velocity = 0;  ///< feed-forward of a position
  };

  static constexpr std::uint32_t heartbeats_to_answer =
      3;  // a drive that knows its version has told it by then
  static constexpr std::uint32_t heartbeats_to_start = 5;
  static constexpr std::uint32_t attempts = 3;
  static constexpr double largest_feed_forward = 32.767;
  static constexpr double same_position = 0.02;  // turns
  static constexpr int estimates_of_two = 8;     // to and fro, until they are those of two drives

  // ---- Messages

  [[nodiscard]] Status take(const odrive::Heartbeat& heartbeat, Time) noexcept {
    heartbeat_ = true;
    heartbeat_age_ = 0;
    ++heartbeats_;
    errors_ = heartbeat.errors;
    axis_state_ = heartbeat.state;
    const bool is_on = axis_state_ == AxisState::closed_loop;
    switch (phase_) {
      case Phase::greeting:
        version_wanted_ = true;
        if (heartbeats_ > heartbeats_to_answer) greeted(true);
        break;
      case Phase::clearing:
        if (errors_ == 0 || heartbeats_ >= heartbeats_to_answer) phase_ = Phase::off;
        break;
      case Phase::off:
        version_wanted_ = !version_;  // the answers to its greeting may have been lost
        if (is_on) stop();
        break;
      case Phase::preparing:
        break;
      case Phase::starting:
        started(is_on, heartbeat.result);
        break;
      case Phase::on:
        if (!is_on) lose();
        break;
      case Phase::stopping:
        if (!is_on) phase_ = Phase::off;
        break;
    }
    return {};
  }
  [[nodiscard]] Status take(const odrive::Version& version, Time) noexcept {
    version_ = version;
    if (versions_asked_ > 0) {
      --versions_asked_;
    } else if (phase_ != Phase::on) {
      duplicate_ = true;
    }
    old_firmware_ = version.firmware_major == 0 && version.firmware_minor < 6;
    if (phase_ == Phase::greeting && heartbeat_) greeted(old_firmware_);
    if (change_ == Change::sent && !version_wanted_) {
      mode_ = next_mode_;
      change_ = Change::none;
      change_cycles_ = 0;
    }
    return {};
  }
  [[nodiscard]] Status take(const odrive::Errors& errors, Time) noexcept {
    if (old_firmware_) return {};  // another message there
    errors_ = errors.active;
    if (power_lost_) disarm_reason_ = errors.disarm_reason;
    return {};
  }
  [[nodiscard]] Status take(const odrive::Estimate& estimate, Time time) noexcept {
    if (!std::isfinite(estimate.position) || !std::isfinite(estimate.velocity))
      return fail(can::Errc::not_finite);
    watch_estimate(estimate.position);
    position_ = estimate.position;
    velocity_ = estimate.velocity;
    time_ = time;
    measured_ = true;
    unanswered_ = 0;
    if (heartbeat_age_ < patience_.heartbeats) silent_ = false;
    return {};
  }
  [[nodiscard]] Status take(const odrive::Torques& torques, Time) noexcept {
    if (!std::isfinite(torques.estimate)) return fail(can::Errc::not_finite);
    torque_ = torques.estimate;
    return {};
  }
  /// Another program's command to the same drive.
  template <class Message>
  [[nodiscard]] Status take(const Message&, Time) noexcept {
    return fail(can::Errc::unexpected_id);
  }

  /// A motor that is off does not move to and fro between two estimates.
  void watch_estimate(double position) noexcept {
    const bool is_back = std::abs(position - position_) > 2 * same_position &&
                         std::abs(position - earlier_position_) < same_position;
    if (phase_ != Phase::on && is_back && ++estimates_back_ >= estimates_of_two) duplicate_ = true;
    earlier_position_ = position_;
  }

  // ---- Phases

  void greeted(bool old_firmware) noexcept {
    old_firmware_ = old_firmware;
    clear_wanted_ = (errors_ & ~odrive_fault::initializing) != 0;
    phase_ = clear_wanted_ ? Phase::clearing : Phase::off;
    heartbeats_ = 0;
    if (axis_state_ == AxisState::closed_loop) stop();
  }
  void started(bool is_on, odrive::Heartbeat::Result result) noexcept {
    using Result = odrive::Heartbeat::Result;
    if (is_on) {
      phase_ = Phase::on;
      mode_ = next_mode_;
      change_ = Change::none;
      change_cycles_ = attempts_ = 0;
      return;
    }
    if (heartbeats_ < heartbeats_to_start) return;
    start_refused_ =
        result == Result::invalid_state || result == Result::not_calibrated || ++attempts_ >= attempts;
    phase_ = start_refused_ ? Phase::off : Phase::preparing;
    step_ = Step::limits;
  }
  void stop() noexcept {
    phase_ = Phase::stopping;
    idle_wanted_ = true;
    stopping_cycles_ = 0;
  }
  void lose() noexcept {
    phase_ = Phase::off;
    power_lost_ = true;
    reason_wanted_ = !old_firmware_;
  }
  void forget_loss() noexcept {
    power_lost_ = start_refused_ = false;
    attempts_ = 0;
  }
  void clear() noexcept {
    clear_wanted_ = clear_wanted_ || (errors_ | disarm_reason_) != 0;
    if (duplicate_) version_wanted_ = true;  // asks anew how many answer
    duplicate_ = false;
    estimates_back_ = 0;
    disarm_reason_ = 0;
    forget_loss();
  }

  /// The drive keeps earlier settings: send limits, mode and set-point again, with feed-forwards of 0.
  [[nodiscard]] std::optional<can::Frame> prepare() noexcept {
    switch (step_) {
      case Step::limits:
        step_ = Step::mode;
        return frame(odrive::SetLimits{setup_.velocity_limit, setup_.current_limit});
      case Step::mode:
        step_ = Step::set_point;
        next_mode_ = reference_.mode;
        return set_mode(next_mode_);
      case Step::set_point:
        step_ = Step::closed_loop;
        last_ = at_rest(as_it_moves(next_mode_));
        return frame_of(last_);
      case Step::closed_loop:
        phase_ = Phase::starting;
        heartbeats_ = 0;
        break;
    }
    return frame(odrive::SetState{odrive::SetState::State::closed_loop});
  }

  // ---- References

  /// Makes a command the reference, if it is good.
  bool take(const JointCommand& joint) noexcept {
    Reference next{joint.mode, 0, 0};
    switch (joint.mode) {
      case CommandMode::position:
        next.value = setup_.scale.turns(joint.position);
        next.velocity = setup_.scale.turns(joint.velocity);
        break;
      case CommandMode::velocity:
        next.value = setup_.scale.turns(joint.velocity);
        break;
      case CommandMode::effort:
        next.value = setup_.scale.torque(joint.effort);
        break;
    }
    const bool good = is_single(next.value) && is_single(next.velocity) &&
                      (joint.mode == CommandMode::position || !old_firmware_);
    if (good) {
      reference_ = next;
    } else {
      reference_ = phase_ == Phase::on ? at_rest(reference_) : Reference{CommandMode::position, position_, 0};
    }
    return good;
  }
  /// Whether it fits a 32-bit float.
  [[nodiscard]] static bool is_single(double value) noexcept {
    return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
  }
  /// A position is held; what would move the joint on is 0.
  [[nodiscard]] static Reference at_rest(const Reference& reference) noexcept {
    return {reference.mode, reference.mode == CommandMode::position ? reference.value : 0, 0};
  }
  /// The reference of a mode that changes least.
  [[nodiscard]] Reference as_it_moves(CommandMode mode) const noexcept {
    switch (mode) {
      case CommandMode::position:
        return {mode, position_, velocity_};
      case CommandMode::velocity:
        return {mode, velocity_, 0};
      case CommandMode::effort:
        break;
    }
    return {mode, 0, 0};
  }
  void watch_mode() noexcept {
    if (change_ == Change::none && reference_.mode == mode_) return;
    if (change_ == Change::none) {
      next_mode_ = reference_.mode;
      change_ = Change::wanted;
    } else if (++change_cycles_ % patience_.answers == 0) {
      change_ = Change::wanted;  // the order or the answer was lost
    }
  }

  // ---- Frames

  /// All that is sent was checked before.
  template <class Message>
  [[nodiscard]] can::Frame frame(const Message& message) const noexcept {
    return odrive_frame::of_node(node(), message).value_or(can::Frame{});
  }
  [[nodiscard]] can::Frame set_mode(CommandMode mode) const noexcept {
    using Control = odrive::SetMode::Control;
    const Control control = mode == CommandMode::position   ? Control::position
                            : mode == CommandMode::velocity ? Control::velocity
                                                            : Control::torque;
    return frame(odrive::SetMode{control, odrive::SetMode::Input::passthrough});
  }
  [[nodiscard]] can::Frame frame_of(const Reference& reference) const noexcept {
    switch (reference.mode) {
      case CommandMode::position:
        return frame(odrive::SetPosition{
            reference.value, std::clamp(reference.velocity, -largest_feed_forward, largest_feed_forward), 0});
      case CommandMode::velocity:
        return frame(odrive::SetVelocity{reference.value, 0});
      case CommandMode::effort:
        break;
    }
    return frame(odrive::SetTorque{reference.value});
  }

  OdriveSetup setup_;
  OdrivePatience patience_;

  // The drive's reports, in turns, turns/s and N m of the motor.
  double position_ = 0;
  double velocity_ = 0;
  std::optional<double> torque_{};  ///< none before its first message
  Time time_{};
  std::uint32_t errors_ = 0;
  std::uint32_t disarm_reason_ = 0;  ///< since power was lost
  AxisState axis_state_ = AxisState::undefined;
  bool measured_ = false;
  bool heartbeat_ = false;  ///< one was heard
  bool old_firmware_ = false;
  std::optional<odrive::Version> version_;
  std::uint32_t versions_asked_ = 0;  ///< and not answered
  double earlier_position_ = 0;       ///< before `position_`
  int estimates_back_ = 0;
  bool duplicate_ = false;
  std::uint32_t unanswered_ = 0;
  std::uint32_t heartbeat_age_ = 0;
  bool silent_ = false;

  Phase phase_ = Phase::greeting;
  Step step_ = Step::limits;
  std::uint32_t heartbeats_ = 0;  ///< in this phase
  std::uint32_t attempts_ = 0;    ///< to switch it on
  std::uint32_t stopping_cycles_ = 0;
  bool want_power_ = false;
  bool start_refused_ = false;
  bool power_lost_ = false;
  bool idle_wanted_ = false;
  bool clear_wanted_ = false;
  bool reason_wanted_ = false;
  bool version_wanted_ = false;

  Reference reference_;  ///< the last good command, or its rest
  Reference last_;       ///< what the drive was last sent
  CommandMode mode_ = CommandMode::position;
  CommandMode next_mode_ = CommandMode::position;
  Change change_ = Change::none;
  std::uint32_t change_cycles_ = 0;
};

}  // namespace takt::drives
