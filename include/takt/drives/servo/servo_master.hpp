// What a master knows and wants of one servo drive: its start-up and shut-down sequence, and what it last
// said. No bus, no joints: replies go in, the drive's slot of the next command comes out. The protocol is
// that of can/servo.hpp.
//
// A drive is addressed every cycle from the start, without enable, so that it says where it stands. It is
// enabled when power is wanted, it has been heard, and it has no fault; until it reports ready it is sent its
// measured position, so that it starts without a jump. Switching off takes effect with the next command and
// holds until the drive reports it. A drive that was ready and goes off unasked is at fault (power_lost)
// until somebody clears the fault or switches it off. All of it is real-time safe.
#pragma once

#include <cmath>
#include <cstdint>

#include "takt/can/servo.hpp"
#include "takt/core/time.hpp"
#include "takt/drives/drive_watch.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::drives {

/// Set in JointFeedback::fault by the master, above the drives' own fault codes.
inline constexpr std::uint32_t servo_power_lost = 1U << 8;

/// One drive, as its master sees it.
class ServoMaster {
 public:
  /// A drive on a joint that turns the other way round has `reversed`.
  ServoMaster(std::uint8_t node, bool reversed) noexcept : sign_(reversed ? -1 : 1), node_(node) {}

  [[nodiscard]] std::uint8_t node() const noexcept { return node_; }

  // ---- What the drive says

  /// A reply that ended on the bus at `time`.
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

  /// Once per cycle, after its replies: forgets the drive's state when it left `limit` commands in a row unanswered.
  void check_silence(std::uint32_t limit) noexcept { silence_.pass_cycle(limit); }

  // ---- What its joint is told

  void report(robot::JointFeedback& feedback) const noexcept {
    feedback.drive = state();
    feedback.fault = reply_.fault | (power_.lost() ? servo_power_lost : 0U);
    if (!heard_) return;
    feedback.position = sign_ * reply_.position;
    feedback.velocity = sign_ * reply_.velocity;
    feedback.effort = sign_ * reply_.torque;
    feedback.stamp = time_;
    feedback.heard = true;
  }

  [[nodiscard]] robot::DriveState state() const noexcept {
    using can::servo::State;
    if (reply_.state == State::fault || power_.lost())
      return robot::DriveState::fault;  // also when silent since
    if (!heard_ || silence_.silent()) return robot::DriveState::unknown;
    return reply_.state == State::ready ? robot::DriveState::ready : robot::DriveState::off;
  }

  // ---- What the drive is told

  /// The drive's slot in this cycle's command frame. A position or velocity that is not a number, or another mode, is
  /// counted in `rejected`, and the last good position held at rest in its place.
  [[nodiscard]] can::servo::DriveCommand command(const robot::JointCommand& joint,
                                                 std::uint64_t& rejected) noexcept {
    power_.want(joint.want_power);
    if (joint.clear_fault) {
      power_.forget();
      clearing_ = reply_.state == can::servo::State::fault ? clear_cycles : 0;
    }

    const bool good = joint.mode == robot::CommandMode::position && std::isfinite(joint.position) &&
                      std::isfinite(joint.velocity);
    if (!good) ++rejected;
    can::servo::DriveCommand command;
    command.addressed = true;
    if (state() == robot::DriveState::ready && good) {
      position_ = sign_ * joint.position;
      command.velocity = sign_ * joint.velocity;
    } else if (state() != robot::DriveState::ready) {
      position_ = reply_.position;
    }
    command.position = position_;
    command.clear_fault = clearing_ > 0;
    if (clearing_ > 0) --clearing_;
    command.enable =
        power_.may_be_on() && heard_ && !command.clear_fault && state() != robot::DriveState::fault;
    return command;
  }

 private:
  static constexpr int clear_cycles = 20;  // an order to clear a fault is repeated so often at most

  can::servo::DriveReply reply_;
  Time time_{};
  double sign_;
  double position_ = 0;  ///< the last good reference, in the drive's direction
  std::uint8_t node_;
  bool heard_ = false;
  SilenceWatch silence_;
  PowerLatch power_;
  int clearing_ = 0;  ///< cycles left of the order to clear a fault
};

}  // namespace takt::drives
