#include "takt/robot/actuator_space.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <string>

#include "takt/control/error.hpp"
#include "takt/robot/error.hpp"

namespace takt::robot {
namespace {

using control::Transmission;

std::array<double, 2> joint_values(const TransmissionDescription& transmission,
                                   double TransmissionJoint::*value) {
  return {transmission.joints[0].*value, transmission.joints[1].*value};
}

/// A simple transmission may have gears at its actuator and at its joint: together they are one.
Result<Transmission<1>> single(const TransmissionDescription& transmission) {
  const TransmissionJoint& joint = transmission.joints[0];
  return control::simple_transmission(transmission.actuators[0].reduction * joint.reduction, joint.offset);
}

Result<Transmission<2>> pair(const TransmissionDescription& transmission) {
  const std::array actuators{transmission.actuators[0].reduction, transmission.actuators[1].reduction};
  const std::array joints = joint_values(transmission, &TransmissionJoint::reduction);
  const std::array offsets = joint_values(transmission, &TransmissionJoint::offset);
  return transmission.kind == TransmissionKind::four_bar
             ? control::four_bar_transmission(actuators, joints, offsets)
             : control::differential_transmission(actuators, joints, offsets);
}

tl::unexpected<SetupError> refuse(const TransmissionDescription& transmission, Error error,
                                  std::string_view reason) {
  return fail(error, fmt::format("transmission {}: {}", transmission.name, reason));
}

}  // namespace

SetupResult<ActuatorSpace> ActuatorSpace::create(const RobotDescription& robot) {
  ActuatorSpace space(robot.joints.size());
  std::vector<bool> is_taken(robot.joints.size());
  for (const TransmissionDescription& transmission : robot.transmissions) {
    const std::size_t count = joint_count(transmission.kind);
    if (transmission.joints.size() != count || transmission.actuators.size() != count) {
      return refuse(transmission, control::Errc::wrong_size,
                    fmt::format("{} joints and {} actuators: its type has {} of each",
                                transmission.joints.size(), transmission.actuators.size(), count));
    }
    for (const TransmissionJoint& joint : transmission.joints) {
      if (joint.joint >= robot.joints.size())
        return refuse(transmission, Errc::no_such_joint, fmt::format("there is no joint {}", joint.joint));
      if (is_taken[joint.joint]) {
        return refuse(transmission, control::Errc::out_of_domain,
                      fmt::format("joint {} is in a transmission already", robot.joints[joint.joint].name));
      }
      is_taken[joint.joint] = true;
    }
    if (const auto added = space.add(transmission); !added) return tl::unexpected<SetupError>(added.error());
  }
  return space;
}

SetupResult<void> ActuatorSpace::add(const TransmissionDescription& transmission) {
  const auto complaint = [&](Error error) {
    return refuse(transmission, error,
                  error == control::Errc::not_finite
                      ? "a reduction or an offset is NaN or infinite"
                      : "a reduction is 0, or its reductions are too different to be computed with");
  };
  if (joint_count(transmission.kind) == 1) {
    const auto map = single(transmission);
    if (!map) return complaint(map.error());
    singles_.push_back({{transmission.joints[0].joint}, *map});
  } else {
    const auto map = pair(transmission);
    if (!map) return complaint(map.error());
    pairs_.push_back({{transmission.joints[0].joint, transmission.joints[1].joint}, *map});
  }
  return {};
}

}  // namespace takt::robot
