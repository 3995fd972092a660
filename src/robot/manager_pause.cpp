// Pauses of the loop: moving joints go on from where their drives are. All of it is real-time safe.
#include <algorithm>

#include "robot/manager_parts.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {

/// What the drive of a joint follows, if it got this reference last.
MotionState Manager::coast(const JointRecord& joint, const MotionState& reference,
                           Duration time) const noexcept {
  const JointDescription& description = robot_.joints[joint.index];
  const DriveProtocol* const protocol =
      description.bus < robot_.buses.size() ? robot_.buses[description.bus].protocol : nullptr;
  return protocol != nullptr ? protocol->coast(robot_, description, reference, time) : reference;
}

/// How far the drive of a joint takes a reference on by itself until the next one.
double Manager::carry(const JointRecord& joint, double velocity) const noexcept {
  return coast(joint, {0, velocity, 0}, robot_.period).position;
}

/// Notes which joints the loop left in motion. Call it before the states of the last cycle are replaced.
void Manager::begin_pause(std::uint64_t missed) noexcept {
  for (JointRecord& joint : joints_) {
    const MotionState& last = joint.reference;
    if (joint.waits || last.velocity == 0) continue;
    // A drive that holds has lost little in one period, and would lose more in the next, without a new
    // reference.
    if (missed == 1 && carry(joint, last.velocity) == 0) continue;
    // The feedback of the last cycle was measured as `answered` arrived: at the end of the reference before
    // it.
    const MotionState& answered = references_[joint.index];
    const double followed = answered.position - answered.velocity * period_ + carry(joint, answered.velocity);
    joint.pause = {last.position + carry(joint, last.velocity), last.velocity,
                   followed - supervisor_.feedback()[joint.index].position, -robot_.period,
                   joint.feedback->stamp};
    joint.waits = any_pauses_ = true;
  }
}

/// Goes on where the drives are, as far as they have answered since the pause.
void Manager::pass_pause(Duration gap) noexcept {
  any_pauses_ = false;
  for (JointRecord& joint : joints_) {
    if (!joint.waits) continue;
    joint.waits = joint.sent_mode == CommandMode::position && supervisor_.holds(joint.index);
    if (!joint.waits) continue;
    const bool answers = joint.pause.time >= robot_.period && joint.feedback->stamp != joint.pause.heard;
    joint.pause.heard = joint.feedback->stamp;
    if (answers) end_pause(joint);
    if (answers && gap <= robot_.period) continue;
    joint.pause.time += gap;
    joint.reference = coast(joint, joint.reference, gap);
    any_pauses_ = any_pauses_ || joint.waits;
  }
}

/// The joint was anywhere between where it would rest and where its velocity would have taken it. The bounds
/// keep a false position, such as a new zero of the encoder, from leading it away. It goes on from where it
/// is at the end of this cycle if it continues to decelerate as it did.
void Manager::end_pause(JointRecord& joint) noexcept {
  const JointRecord::Pause& pause = joint.pause;
  const auto kept = [](double value, double most) {
    return std::clamp(value, std::min(most, 0.0), std::max(most, 0.0));
  };
  const double time = to_seconds(pause.time);
  const double moved = kept(joint.feedback->position + pause.lag - pause.position, pause.velocity * time);
  const double then = kept(2 * moved / time - pause.velocity, pause.velocity);
  double now = kept(then - (pause.velocity - then) / time * period_, then);
  // A drive that keeps a velocity has got this one: the answer only corrects it.
  const double step = joint.limits.acceleration * period_ / 2;
  if (carry(joint, pause.velocity) != 0)
    now = std::clamp(now, joint.reference.velocity - step, joint.reference.velocity + step);
  const double passed = moved + (then + now) / 2 * period_;
  // The next step goes on from the reference before it.
  joint.reference = {pause.position + passed - carry(joint, now), now, 0};
  joint.waits = false;
  joint.catches_up = true;
  if (!joint.driven) joint.stop.begin(joint.reference, joint.limits);
}

}  // namespace takt::robot
