#include "takt/robot/transmission_hardware.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace takt::robot {
namespace {

/// Copies one number of each entry, converts all of them, and copies them back.
template <class Entries, class Number, class Convert>
void convert(Entries& entries, Number number, std::vector<double>& values, const Convert& convert) noexcept {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = entries[i].*number;
  convert(std::span(values));
  for (std::size_t i = 0; i < values.size(); ++i) entries[i].*number = values[i];
}

}  // namespace

TransmissionHardware::TransmissionHardware(const RobotDescription& robot, ActuatorSpace space,
                                           Hardware& drives)
    : space_(std::move(space)),
      drives_(&drives),
      period_(to_seconds(robot.period)),
      actuators_(space_.size()),
      commands_(space_.size()),
      values_(space_.size()),
      measured_(space_.size()),
      integral_(space_.size()),
      integrates_(space_.size()) {
  for (const TransmissionDescription& transmission : robot.transmissions) {
    if (transmission.joints.size() == 2)
      pairs_.push_back({transmission.joints[0].joint, transmission.joints[1].joint});
  }
}

void TransmissionHardware::read(Time now, std::span<JointFeedback> feedback) noexcept {
  if (feedback.size() < space_.size()) return;
  drives_->read(now, actuators_);
  std::copy(actuators_.begin(), actuators_.end(), feedback.begin());
  convert(feedback, &JointFeedback::position, values_,
          [this](std::span<double> values) { space_.joint_positions(values, values); });
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (std::isfinite(values_[i])) measured_[i] = values_[i];
  }
  convert(feedback, &JointFeedback::velocity, values_,
          [this](std::span<double> values) { space_.joint_velocities(values, values); });
  convert(feedback, &JointFeedback::effort, values_,
          [this](std::span<double> values) { space_.joint_efforts(values, values); });
  for (const Pair& pair : pairs_) {
    JointFeedback& first = feedback[pair.first];
    JointFeedback& second = feedback[pair.second];
    first.heard = second.heard = first.heard && second.heard;
    first.has_effort = second.has_effort = first.has_effort && second.has_effort;
    if (!first.has_effort) first.effort = second.effort = 0;
    first.stamp = second.stamp = std::min(first.stamp, second.stamp);
    if (first.home == HomeState::due || second.home == HomeState::due)
      first.home = second.home = HomeState::due;
  }
}

void TransmissionHardware::write(Time now, std::span<const JointCommand> commands) noexcept {
  if (commands.size() < space_.size()) return;
  std::copy(commands.begin(), commands.begin() + static_cast<std::ptrdiff_t>(space_.size()),
            commands_.begin());
  for (const Pair& pair : pairs_) share_modes(pair);
  convert(commands_, &JointCommand::position, values_,
          [this](std::span<double> values) { space_.actuator_positions(values, values); });
  for (double JointCommand::*rate : {&JointCommand::velocity, &JointCommand::acceleration})
    convert(commands_, rate, values_,
            [this](std::span<double> values) { space_.actuator_velocities(values, values); });
  convert(commands_, &JointCommand::effort, values_,
          [this](std::span<double> values) { space_.actuator_efforts(values, values); });
  drives_->write(now, commands_);
}

void TransmissionHardware::share_modes(const Pair& pair) noexcept {
  const bool differ = commands_[pair.first].mode != commands_[pair.second].mode;
  for (const std::size_t joint : {pair.first, pair.second}) {
    const bool by_position = differ && commands_[joint].mode != CommandMode::position;
    if (by_position) move_by_position(joint);
    integrates_[joint] = by_position;
  }
}

/// Replaces a command by velocity or effort with one by position, from the measured position on.
void TransmissionHardware::move_by_position(std::size_t joint) noexcept {
  JointCommand& command = commands_[joint];
  if (!integrates_[joint]) integral_[joint] = measured_[joint];
  if (command.mode == CommandMode::effort) command.velocity = command.acceleration = command.effort = 0;
  integral_[joint] += command.velocity * period_;
  command.position = integral_[joint];
  command.mode = CommandMode::position;
}

}  // namespace takt::robot
