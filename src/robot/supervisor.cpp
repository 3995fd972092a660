#include "takt/robot/supervisor.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "takt/trajectory/tolerances.hpp"

namespace takt::robot {
namespace {

/// While drives are powering up, silence is reported only after this time, and is no fault.
constexpr Duration patience_at_start = std::chrono::seconds(2);
/// A joint stands if its velocity is below this fraction of its limit.
constexpr double standstill = 0.05;
/// How long a shutdown waits until the drives confirm that they are off.
constexpr Duration patience_at_end = std::chrono::seconds(1);

}  // namespace

Supervisor::Supervisor(const RobotDescription& robot)
    : period_(robot.period),
      power_(robot.power),
      overrun_limit_(robot.overrun_limit),
      silence_limit_(robot.silence_limit()),
      joints_(robot.joints.size()),
      feedback_(robot.joints.size()) {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    joints_[i].max_velocity = robot.joints[i].limits.velocity;
    joints_[i].deceleration = robot.joints[i].limits.acceleration;
    const double allowed = robot.joints[i].following_error;
    joints_[i].following_error = allowed > 0 ? allowed : std::numeric_limits<double>::infinity();
    joints_[i].safe = robot.joints[i].safe;
    joints_[i].keep_commanding = robot.joints[i].keep_commanding;
    joints_[i].powered = power_;
  }
}

double Supervisor::seconds(std::uint64_t cycles) const noexcept {
  return to_seconds(period_ * static_cast<Duration::rep>(cycles));
}

// ---- the cycle

std::optional<RobotFault> Supervisor::begin(std::span<const JointFeedback> feedback, std::uint64_t missed,
                                            std::span<const MotionState> references) noexcept {
  ++cycle_;
  clears_faults_ = false;
  take(feedback, missed);
  const bool was_ready = state_ == RobotState::ready;
  // The loop first: drives that lost their reference meanwhile are not the cause.
  const auto late = watch_loop(missed);
  if (state_ == RobotState::down) return late;
  if (state_ == RobotState::starting) {
    watch_start(references);
    return late;
  }
  const auto fault = watch_drives(was_ready, references);
  return late ? late : fault;
}

void Supervisor::take(std::span<const JointFeedback> feedback, std::uint64_t missed) noexcept {
  if (missed > 0) {
    pause_ = missed;
    paused_until_ = cycle_;
  }
  for (std::size_t i = 0; i < std::min(feedback.size(), feedback_.size()); ++i) {
    const bool is_news = !feedback_[i].heard || feedback[i].stamp != feedback_[i].stamp;
    if (feedback[i].heard && is_news) {
      watch_position(i, feedback[i]);
      joints_[i].answered = cycle_;
    }
    feedback_[i] = feedback[i];
  }
  // A drive may report the code of its fault after the fault.
  if (fault_ && fault_->reason == FaultReason::drive_fault && fault_->value == 0)
    fault_->value = static_cast<double>(feedback_[fault_->joint].fault);
  if (!std::exchange(any_restarts_, false)) return;
  for (Joint& joint : joints_) joint.restarts = joint.freezes = false;
}

/// Compares the position with the last one, if the drive left requests unanswered. While it is on, the
/// following error judges it.
void Supervisor::watch_position(std::size_t index, const JointFeedback& now) noexcept {
  Joint& joint = joints_[index];
  const JointFeedback& before = feedback_[index];
  if (now.home == HomeState::due || before.home == HomeState::due) {
    joint.jump = 0;
    return;
  }
  const std::uint64_t away = cycle_ - joint.answered;
  const bool was_silent = away > silence_limit_;
  const bool was_on = before.drive == DriveState::ready && now.drive == DriveState::ready;
  if (!before.heard || away <= 1 || (was_on && !was_silent)) return;
  // It stopped from its last velocity. Or it was moved as fast as its limit, for a short silence and while
  // the loop was away.
  const double speed = std::abs(before.velocity);
  const bool after_pause = cycle_ - paused_until_ <= silence_limit_;
  const std::uint64_t short_silence = std::min<std::uint64_t>(away, silence_limit_);
  const double most = joint.following_error + speed * seconds(silence_limit_) +
                      speed * speed / (2 * joint.deceleration) +
                      joint.max_velocity * seconds(short_silence + (after_pause ? pause_ : 0));
  const double jump = std::abs(now.position - before.position);
  if (!(jump > most)) return;
  joint.jump = jump;
  joint.most_jump = most;
}

std::optional<RobotFault> Supervisor::watch_loop(std::uint64_t missed) noexcept {
  const bool holds_joints = state_ == RobotState::starting || state_ == RobotState::ready;
  if (missed <= overrun_limit_ || !holds_joints || !power_) return std::nullopt;
  const RobotFault fault{FaultReason::loop_overrun, 0, static_cast<double>(missed),
                         static_cast<double>(overrun_limit_)};
  stop(fault, false);
  return fault;
}

void Supervisor::watch_start(std::span<const MotionState> references) noexcept {
  fault_.reset();
  const bool patient = period_ * static_cast<Duration::rep>(cycle_ - waiting_since_) <= patience_at_start;
  bool all_well = power_;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    const auto fault = fault_of(i, references[i]);
    if (joint.jump > 0) {
      all_well = joint.settled = joint.powered = false;
      if (!fault_) fault_ = RobotFault{FaultReason::position_jumped, i, joint.jump, joint.most_jump};
    } else if (fault && !(fault->reason == FaultReason::drive_off && !power_)) {
      all_well = false;
      joint.settled = joint.settled && keeps(i, *fault);
      const bool reports_a_fault = feedback_[i].drive == DriveState::fault;
      if (!fault_ && (!patient || reports_a_fault)) {
        fault_ = reports_a_fault
                     ? RobotFault{FaultReason::drive_fault, i, static_cast<double>(feedback_[i].fault), 0}
                     : *fault;
      }
    } else if (!joint.settled) {
      // A drive's reference begins where its joint stands, and only once it stands. A drive that held its
      // joint all the time keeps its reference.
      joint.settled = joint.restarts = !(std::abs(feedback_[i].velocity) > standstill * joint.max_velocity);
      any_restarts_ = any_restarts_ || joint.restarts;
    }
    all_well = all_well && joint.settled;
  }
  if (all_well) state_ = RobotState::ready;
  if (!power_ && !fault_) fault_ = RobotFault{FaultReason::power_off};
}

std::optional<RobotFault> Supervisor::fault_of(std::size_t joint,
                                               const MotionState& reference) const noexcept {
  const JointFeedback& seen = feedback_[joint];
  if (seen.drive == DriveState::no_bus) return RobotFault{FaultReason::bus_down, joint};
  const std::uint64_t unanswered = cycle_ - joints_[joint].answered;
  if (!seen.heard || unanswered >= silence_limit_)
    return RobotFault{FaultReason::drive_silent, joint, seconds(unanswered), seconds(silence_limit_)};
  switch (seen.drive) {
    case DriveState::ready:
      break;
    case DriveState::fault:
      return RobotFault{FaultReason::drive_fault, joint, static_cast<double>(seen.fault), 0};
    case DriveState::off:
      return RobotFault{FaultReason::drive_off, joint};
    case DriveState::no_bus:
      return RobotFault{FaultReason::bus_down, joint};
    case DriveState::unknown:  // its position is known, its state is not
      return RobotFault{FaultReason::drive_silent, joint};
  }
  if (state_ == RobotState::starting && !joints_[joint].settled) return std::nullopt;
  trajectory::JointTolerance allowed;
  allowed.position = joints_[joint].following_error;
  trajectory::WorstDeviation<double> off;
  off.look_at(joint, allowed, reference, {seen.position, 0, 0});
  if (!off.result()) return std::nullopt;
  return RobotFault{FaultReason::following_error, joint, off.result()->value, off.result()->allowed};
}

/// Whether the joint's commands go on, although its drive is not heard.
bool Supervisor::keeps(std::size_t joint, const RobotFault& fault) const noexcept {
  const bool is_unheard = fault.reason == FaultReason::drive_silent || fault.reason == FaultReason::bus_down;
  return is_unheard && joints_[joint].keep_commanding;
}

std::optional<RobotFault> Supervisor::watch_drives(bool was_ready,
                                                   std::span<const MotionState> references) noexcept {
  // The common case of fault_of(), in few instructions.
  const auto is_well = [this](const Joint& joint, const JointFeedback& seen, const MotionState& reference) {
    return seen.drive == DriveState::ready && seen.heard && cycle_ - joint.answered < silence_limit_ &&
           std::abs(reference.position - seen.position) <= joint.following_error;
  };
  std::optional<RobotFault> first;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    Joint& joint = joints_[i];
    if (!joint.powered || is_well(joint, feedback_[i], references[i])) continue;
    const auto fault = fault_of(i, references[i]);
    if (!fault) continue;
    if (!first) first = fault;
    joint.restarts = any_restarts_ = true;
    joint.freezes = keeps(i, *fault);  // masters freeze a silent drive too; what was measured last is old
    // A joint that was pushed off its reference holds its measured position. A joint that does not answer or
    // obey is powered off, and so is one that leaves its reference again during the stop. The other joints
    // brake.
    const bool may_hold = fault->reason == FaultReason::following_error && was_ready;
    if (!may_hold && !joint.freezes) joint.powered = false;
  }
  if (!first || state_ != RobotState::ready) return std::nullopt;
  stop(*first, false);
  return first;
}

void Supervisor::settle(bool moving) noexcept {
  if (state_ != RobotState::stopping) return;
  if (moving) {
    waiting_since_ = cycle_;
    return;
  }
  for (Joint& joint : joints_) {
    if (powers_off_after_stop_ || joint.safe == SafeBehaviour::release) joint.powered = false;
  }
  if (!goes_down_) {
    state_ = RobotState::stopped;
    return;
  }
  const bool all_off = std::ranges::none_of(
      feedback_, [](DriveState drive) { return drive == DriveState::ready; }, &JointFeedback::drive);
  const bool waited = period_ * static_cast<Duration::rep>(cycle_ - waiting_since_) > patience_at_end;
  if (all_off || waited) state_ = RobotState::down;
}

// ---- requests

void Supervisor::stop(const RobotFault& fault, bool power_off) noexcept {
  if (state_ == RobotState::down) return;
  // A drive that is not on yet must stay off: its reference is not measured.
  if (state_ == RobotState::starting) {
    for (Joint& joint : joints_) joint.powered = joint.powered && joint.settled;
  }
  // Keep the first cause for the operator. A shutdown is not a fault.
  if (!fault_ || state_ == RobotState::starting) fault_ = fault;
  powers_off_after_stop_ = power_off || (state_ == RobotState::stopping && powers_off_after_stop_);
  if (state_ == RobotState::stopping) return;
  state_ = RobotState::stopping;
  waiting_since_ = cycle_;
}

void Supervisor::power_off() noexcept {
  for (Joint& joint : joints_) joint.powered = false;
}

bool Supervisor::shut_down() noexcept {
  if (goes_down_) return false;
  goes_down_ = true;
  stop({FaultReason::shutting_down, 0, 0, 0}, true);
  return true;
}

Supervisor::ResetAnswer Supervisor::reset(bool accepts_positions) noexcept {
  using Result = ResetAnswer::Result;
  if (state_ == RobotState::ready) return {};
  if (state_ != RobotState::stopped && state_ != RobotState::starting) return {Result::not_stopped, 0};
  // A drive without its bus would not get the command to clear its fault, and would need a second reset
  // later.
  const auto lost = std::ranges::find(feedback_, DriveState::no_bus, &JointFeedback::drive);
  if (lost != feedback_.end()) return {Result::bus_down, static_cast<std::size_t>(lost - feedback_.begin())};
  const auto jumped = std::ranges::find_if(joints_, [](const Joint& joint) { return joint.jump > 0; });
  if (jumped != joints_.end() && !accepts_positions) {
    return {Result::position_jumped, static_cast<std::size_t>(jumped - joints_.begin()), jumped->jump,
            jumped->most_jump};
  }
  // Drives that held their joints all the time stay on, at the present position.
  for (Joint& joint : joints_) {
    joint.jump = 0;
    if (state_ == RobotState::stopped) joint.settled = joint.powered;
    joint.powered = power_;
  }
  state_ = RobotState::starting;
  fault_.reset();
  clears_faults_ = true;
  waiting_since_ = cycle_;
  return {};
}

}  // namespace takt::robot
