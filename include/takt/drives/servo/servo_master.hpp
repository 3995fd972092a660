// The master of one servo drive: its start-up and shut-down sequence, and its last reply. It has no bus and
// no joints: replies go in, and the drive's slot of the next command comes out. can/servo.hpp has the
// protocol.
//
// From the start, every command addresses the drive, without enable, so that it reports its position. The
// master enables the drive when power is wanted, the drive has replied, and it has no fault. Until it reports
// ready, it gets its measured position as reference, so that it starts without a jump. Switching off takes
// effect with the next command, and holds until the drive reports it. A drive that was ready and goes off
// without a command is at fault (power_lost). Clearing the fault, or switching the drive off, ends it.
// Real-time safe.
#pragma once

#include <cmath>
#include <cstdint>

#include "takt/can/servo.hpp"
#include "takt/core/time.hpp"
#include "takt/drives/drive_watch.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// A bit in JointFeedback::fault that the master sets, above the drive's own fault codes.
inline constexpr std::uint32_t servo_power_lost = 1U << 8;

/// One drive, as its master sees it.
class ServoMaster {
 public:
  /// `reversed`: the drive turns in the opposite direction of its joint.
  ServoMaster(std::uint8_t node, bool reversed) noexcept : sign_(reversed ? -1 : 1), node_(node) {}

  /// Returns the drive's number on the bus.
  [[nodiscard]] std::uint8_t node() const noexcept { return node_; }

  // ---- Frames from the drive

  /// Handles a reply that ended on the bus at `time`.
  void heard(const can::servo::DriveReply& reply, Time time) noexcept {
    using can::servo::State;
    reply_ = reply;
    heard_ = true;
    silence_.heard();
    time_ = time;
    if (reply.state == State::ready) {
      power_.heard_ready();
    } else if (reply.state == State::off) {
      power_.heard_off();
    } else {
      power_.heard_fault();
    }
    if (reply.state != State::fault) clearing_ = 0;
  }

  /// Call it once per cycle, after the replies. The drive's state becomes unknown after `limit` unanswered
  /// commands in a row.
  void check_silence(std::uint32_t limit) noexcept { silence_.pass_cycle(limit); }

  // ---- Feedback for its joint

  /// Writes the drive's state and measurements to its joint's feedback.
  void report(robot::JointFeedback& feedback) const noexcept {
    feedback.drive = state();
    feedback.fault = reply_.fault | (power_.lost() ? servo_power_lost : 0U);
    if (!heard_) return;
    feedback.position = sign_ * reply_.position;
    feedback.velocity = sign_ * reply_.velocity;
    feedback.effort = sign_ * reply_.torque;
    feedback.has_effort = true;
    feedback.stamp = time_;
    feedback.heard = true;
  }

  /// The drive's state, for its joint.
  [[nodiscard]] DriveState state() const noexcept {
    using can::servo::State;
    if (reply_.state == State::fault || power_.lost())
      return DriveState::fault;  // also if it is silent since
    if (!heard_ || silence_.silent()) return DriveState::unknown;
    return reply_.state == State::ready ? DriveState::ready : DriveState::off;
  }

  // ---- Commands for the drive

  /// The drive's slot in this cycle's command frame. NaN, infinity and other modes than position are counted
  /// in `rejected`; the last good position is held instead, at velocity 0.
  [[nodiscard]] can::servo::DriveCommand command(const JointCommand& joint,
                                                 std::uint64_t& rejected) noexcept {
    power_.want(joint.want_power);
    if (joint.clear_fault) {
      power_.forget();
      clearing_ = reply_.state == can::servo::State::fault ? clear_cycles : 0;
    }

    const bool good =
        joint.mode == CommandMode::position && std::isfinite(joint.position) && std::isfinite(joint.velocity);
    if (!good) ++rejected;
    can::servo::DriveCommand command;
    command.addressed = true;
    if (state() == DriveState::ready && good) {
      position_ = sign_ * joint.position;
      command.velocity = sign_ * joint.velocity;
    } else if (reply_.state != can::servo::State::ready || power_.lost()) {
      position_ = reply_.position;  // one that is silent, but was on, keeps its reference
    }
    command.position = position_;
    command.clear_fault = clearing_ > 0;
    if (clearing_ > 0) --clearing_;
    command.enable = power_.may_be_on() && heard_ && !command.clear_fault && state() != DriveState::fault;
    return command;
  }

 private:
  static constexpr int clear_cycles = 20;  // a command to clear a fault is sent at most so often

  can::servo::DriveReply reply_;
  Time time_{};
  double sign_;
  double position_ = 0;  ///< the last good reference, in the drive's direction
  std::uint8_t node_;
  bool heard_ = false;
  SilenceWatch silence_;
  PowerLatch power_;
  int clearing_ = 0;  ///< remaining cycles of the command to clear a fault
};

}  // namespace takt::drives
