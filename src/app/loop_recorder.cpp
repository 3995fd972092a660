#include "app/loop_recorder.hpp"

#include <algorithm>
#include <limits>

#include "takt/app/loop_metadata.hpp"
#include "takt/motion/error.hpp"
#include "takt/motion/goal.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/version.hpp"

namespace takt::app {

namespace {
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr Duration between_bus_records = std::chrono::milliseconds(100);
}  // namespace

record::Metadata loop_metadata() {
  record::Metadata metadata;
  for (const auto state :
       {motion::RobotState::starting, motion::RobotState::ready, motion::RobotState::stopping,
        motion::RobotState::stopped, motion::RobotState::down}) {
    metadata.robot_states.emplace_back(motion::state_name(state));
  }
  using enum motion::GoalState;
  for (const auto state : {pending, active, preempting, succeeded, aborted, rejected, preempted, recalled}) {
    metadata.goal_states.emplace_back(motion::state_name(state));
  }
#define TAKT_ADD_REASON(name, number, text) metadata.reasons.emplace(std::uint16_t{number}, #name);
  TAKT_MOTION_ERRORS(TAKT_ADD_REASON)
#undef TAKT_ADD_REASON
  metadata.takt_version = TAKT_VERSION;
  return metadata;
}

record::Metadata describe_recording(const robot::RobotDescription& robot, std::string created) {
  record::Metadata metadata = loop_metadata();
  metadata.robot = robot.name;
  metadata.period = robot.period;
  for (const robot::JointDescription& joint : robot.joints) {
    metadata.joints.push_back(joint.name);
    metadata.units.emplace_back(robot::position_unit(joint.kind));
    JointLimits& limits = metadata.limits.emplace_back(joint.limits);
    if (joint.kind == robot::JointKind::continuous) {
      // The range of the bus's position words does not limit its motion.
      limits.position_min = JointLimits{}.position_min;
      limits.position_max = JointLimits{}.position_max;
    }
    metadata.following_errors.push_back(joint.following_error);
  }
  for (const robot::GroupDescription& group : robot.groups)
    metadata.groups.push_back({group.name, group.joints});
  for (const robot::BusDescription& bus : robot.buses) metadata.buses.push_back(bus.name);
  metadata.created = std::move(created);
  metadata.description = robot::to_json(robot);
  return metadata;
}

LoopRecorder::LoopRecorder(const robot::RobotDescription& robot, record::Lane& lane, const Devices* devices)
    : lane_(&lane),
      devices_(devices),
      cycles_between_bus_records_(
          static_cast<std::uint64_t>(std::max<Duration::rep>(between_bus_records / robot.period, 1))),
      before_(robot.buses.size()),
      samples_(robot.buses.size()),
      heard_(robot.joints.size()) {}

void LoopRecorder::on_event(const motion::Event& event) noexcept {
  record::GoalEvent recorded;
  recorded.at = now_;
  recorded.goal = event.goal;
  recorded.state = static_cast<std::uint8_t>(event.state);
  recorded.joint = event.joint;
  recorded.reason = static_cast<std::uint16_t>(event.reason);
  recorded.time = event.time;
  recorded.value = event.value;
  recorded.limit = event.limit;
  recorded.received = event.received;
  recorded.handed_over = event.handed_over;
  recorded.first_reference = event.first_reference;
  lane_->event(recorded);
}

void LoopRecorder::after_cycle(const motion::Snapshot& snapshot) noexcept {
  record::Cycle cycle;
  cycle.time = snapshot.time;
  cycle.lateness = snapshot.loop.lateness;
  cycle.busy = snapshot.loop.busy;
  cycle.robot_state = static_cast<std::uint8_t>(snapshot.state);
  cycle.reason = static_cast<std::uint16_t>(snapshot.reason);
  cycle.reason_joint = snapshot.reason_joint;
  cycle.active_goals = snapshot.active_goals;
  lane_->cycle(cycle, [this, &snapshot](std::size_t i) noexcept {
    const motion::JointSnapshot& joint = snapshot.joints[i];
    const bool is_heard = joint.drive != DriveState::unknown && joint.drive != DriveState::no_bus;
    heard_[i] = heard_[i] || is_heard;
    return record::JointSample{joint.command,
                               joint.reference.position,
                               joint.reference.velocity,
                               heard_[i] ? joint.measured_position : no_number,
                               heard_[i] ? joint.measured_velocity : no_number,
                               joint.goal,
                               joint.has_effort ? joint.measured_effort : no_number};
  });
  if (snapshot.loop.cycles % cycles_between_bus_records_ == 0) record_buses(snapshot.time);
  if (snapshot.loop.cycles % cycles_between_bus_records_ == 0 || snapshot.state == motion::RobotState::down) {
    lane_->totals({snapshot.time, snapshot.loop.cycles, snapshot.loop.overruns});
  }
}

void LoopRecorder::record_buses(Time now) noexcept {
  const Duration elapsed = now - last_record_;
  last_record_ = now;
  for (std::size_t i = 0; devices_ != nullptr && i < samples_.size(); ++i) {
    const robot::BusTraffic traffic = devices_->traffic(i);
    const Duration busy = traffic.busy - before_[i].busy;
    samples_[i].load =
        elapsed > Duration(0) ? std::clamp(to_seconds(busy) / to_seconds(elapsed), 0.0, 1.0) : 0;
    samples_[i].frames = traffic.frames;
    samples_[i].refused = traffic.refused;
    before_[i] = traffic;
  }
  lane_->buses(now, samples_);
}

}  // namespace takt::app
