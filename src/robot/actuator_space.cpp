#include "takt/robot/actuator_space.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>

#include "takt/control/error.hpp"
#include "takt/robot/drive_protocol.hpp"
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

namespace {

/// The linear maps between the joints and actuators of one transmission, by slots.
class Ratios {
 public:
  Ratios(const ActuatorSpace& space, const TransmissionDescription& transmission)
      : space_(&space), transmission_(&transmission) {}

  /// Calls visit(joint, ratio) for each joint: rad of the actuator for each rad of the joint.
  template <class Visit>
  void of_joints(std::size_t actuator, const Visit& visit) const {
    visit_slots(actuator, visit, [this](auto in, auto out) { space_->actuator_velocities(in, out); });
  }
  /// Calls visit(joint, ratio) for each joint: N m of the actuator for each N m of the joint.
  template <class Visit>
  void of_efforts(std::size_t actuator, const Visit& visit) const {
    visit_slots(actuator, visit, [this](auto in, auto out) { space_->actuator_efforts(in, out); });
  }

 private:
  template <class Visit, class Convert>
  void visit_slots(std::size_t actuator, const Visit& visit, const Convert& convert) const {
    std::vector<double> unit(space_->size());
    std::vector<double> image(space_->size());
    for (const TransmissionJoint& joint : transmission_->joints) {
      unit[joint.joint] = 1;
      convert(std::span<const double>(unit), std::span(image));
      visit(joint.joint, image[actuator]);
      unit[joint.joint] = 0;
    }
  }

  const ActuatorSpace* space_;
  const TransmissionDescription* transmission_;
};

/// Sums |ratio| * value of the joints, where a joint without influence counts nothing, also if it is endless.
class WeightedSum {
 public:
  void add(double ratio, double value) {
    if (ratio != 0) sum_ += std::abs(ratio) * value;
  }
  [[nodiscard]] double value() const { return sum_; }

 private:
  double sum_ = 0;
};

/// The actuator in the slot of `joint`, seen from the joints of its transmission.
JointDescription actuator_of(const RobotDescription& robot, std::size_t joint, const Ratios& ratios,
                             double at_zero, double at_start) {
  JointDescription actuator = robot.joints[joint];
  WeightedSum velocity, acceleration, jerk, following_error, tolerance;
  double least = at_zero;
  double most = at_zero;
  ratios.of_joints(joint, [&](std::size_t other, double ratio) {
    const JointDescription& its = robot.joints[other];
    velocity.add(ratio, its.limits.velocity);
    acceleration.add(ratio, its.limits.acceleration);
    jerk.add(ratio, its.limits.jerk);
    following_error.add(ratio, its.following_error);
    tolerance.add(ratio, its.goal_tolerance);
    if (ratio == 0) return;
    const auto [low, high] = std::minmax({ratio * its.limits.position_min, ratio * its.limits.position_max});
    least += low;
    most += high;
  });
  WeightedSum effort, rated, torque, coulomb;
  PlantDescription& plant = actuator.plant;
  plant.inertia = plant.viscous_friction = 0;
  ratios.of_efforts(joint, [&](std::size_t other, double ratio) {
    const JointDescription& its = robot.joints[other];
    effort.add(ratio, its.limits.effort);
    rated.add(ratio, its.rated_effort);
    torque.add(ratio, its.plant.torque_limit);
    coulomb.add(ratio, its.plant.coulomb_friction);
    plant.inertia += ratio * ratio * its.plant.inertia;  // M^T J M, without the coupling of two actuators
    plant.viscous_friction += ratio * ratio * its.plant.viscous_friction;
    if (ratio != 0) plant.bandwidth = std::min(plant.bandwidth, its.plant.bandwidth);
  });
  actuator.limits = {least, most, velocity.value(), acceleration.value(), jerk.value(), effort.value()};
  actuator.following_error = following_error.value();
  actuator.goal_tolerance = tolerance.value();
  actuator.rated_effort = actuator.rated_effort > 0 ? rated.value() : 0;
  plant.torque_limit = torque.value();
  plant.coulomb_friction = coulomb.value();
  plant.start = at_start;
  return actuator;
}

}  // namespace

RobotDescription at_actuators(const RobotDescription& robot, const ActuatorSpace& space) {
  RobotDescription actuators = robot;
  std::vector<double> start(space.size());
  std::vector<double> zero(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) start[i] = robot.joints[i].plant.start;
  space.actuator_positions(start, start);
  space.actuator_positions(zero, zero);
  for (const TransmissionDescription& transmission : robot.transmissions) {
    const Ratios ratios(space, transmission);
    for (const TransmissionJoint& joint : transmission.joints)
      actuators.joints[joint.joint] =
          actuator_of(robot, joint.joint, ratios, zero[joint.joint], start[joint.joint]);
  }
  return actuators;
}

SetupResult<void> fit_reach(RobotDescription& robot, std::size_t index, const ActuatorSpace& space) {
  const TransmissionDescription& transmission = robot.transmissions[index];
  RobotDescription still = robot;
  for (const TransmissionJoint& joint : transmission.joints) {
    JointDescription& its = still.joints[joint.joint];
    if (its.kind == JointKind::continuous) its.limits.position_min = its.limits.position_max = 0;
  }
  still = at_actuators(still, space);
  const RobotDescription turning = at_actuators(robot, space);
  double share = 1;
  for (std::size_t i = 0; i < transmission.joints.size(); ++i) {
    const JointDescription& actuator = turning.joints[transmission.joints[i].joint];
    const double reach = robot.buses[actuator.bus].protocol->reach(actuator);
    const double without = still.joints[transmission.joints[i].joint].farthest_position();
    if (without > reach) {
      return fail(
          Errc::position_out_of_reach,
          fmt::format("actuator {} reaches {:g} rad from zero, but the position words of its bus hold "
                      "at most {:g} rad",
                      transmission.actuators[i].name, without, reach));
    }
    if (const double turns = actuator.farthest_position() - without; turns > 0)
      share = std::min(share, (reach - without) / turns);
  }
  for (const TransmissionJoint& joint : transmission.joints) {
    JointDescription& its = robot.joints[joint.joint];
    if (its.kind != JointKind::continuous) continue;
    its.limits.position_min *= share;
    its.limits.position_max *= share;
  }
  return {};
}

std::string short_turn(const RobotDescription& robot, std::size_t joint) {
  constexpr double half_a_turn = 3.141592653589793;
  const JointDescription& its = robot.joints[joint];
  if (its.kind != JointKind::continuous || its.limits.position_max >= half_a_turn) return {};
  return fmt::format(
      "turns only from {:.3g} to {:.3g} rad, although it is continuous: the position words of protocol {} "
      "hold no more turns of its actuators",
      its.limits.position_min, its.limits.position_max, robot.buses[its.bus].protocol->name());
}

}  // namespace takt::robot
