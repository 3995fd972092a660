#include "robot/urdf/joints.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "robot/mistakes.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {
namespace {

/// A servo follows its reference with about this delay, s; three times as much is a fault.
constexpr double allowed_delay = 0.05;
/// Of its largest effort, a simulated joint needs this part for its largest acceleration, and at most the
/// other for friction.
constexpr double share_of_acceleration = 0.25;
constexpr double share_of_friction = 0.5;
constexpr double tiny = 1e-9;

const UrdfRange* command_of(const UrdfControlJoint* control, std::string_view interface_name) {
  if (control == nullptr) return nullptr;
  const auto found = control->commands.find(interface_name);
  return found != control->commands.end() ? &found->second : nullptr;
}

/// The smaller magnitude of a command interface's range; std::nullopt without one.
std::optional<double> magnitude(const UrdfControlJoint* control, std::string_view interface_name) {
  const UrdfRange* range = command_of(control, interface_name);
  if (range == nullptr) return std::nullopt;
  std::optional<double> least;
  for (const auto& bound : {range->least, range->most}) {
    if (bound && *bound != 0 && (!least || std::abs(*bound) < *least)) least = std::abs(*bound);
  }
  return least;
}

void narrow(JointLimits& limits, std::optional<double> least, std::optional<double> most) {
  if (least) limits.position_min = std::max(limits.position_min, *least);
  if (most) limits.position_max = std::min(limits.position_max, *most);
}

bool is_positive(double number) { return number > 0 && number <= huge_number; }

}  // namespace

std::optional<JointDescription> UrdfJointMaker::make(const urdf::Joint& source,
                                                     const UrdfControlJoint* control) {
  JointDescription joint;
  joint.name = source.name;
  joint.kind = kind_of(source);
  joint.counts_per_radian =
      joint.kind == JointKind::linear ? options_.counts_per_metre : options_.counts_per_radian;
  set_rates(joint.limits, source, control);
  if (!set_range(joint, source, control)) return std::nullopt;
  const double scale = joint.kind == JointKind::linear ? 0.1 : 1;
  joint.following_error = std::max(0.2 * scale, std::min(joint.limits.velocity * allowed_delay, huge_number));
  joint.goal_tolerance = 0.02 * scale;
  set_plant(joint, source, control);
  if (source.safety) {
    note("joint/safety_controller", source,
         "not taken over: takt brakes before the limits of position by itself");
  }
  return joint;
}

void UrdfJointMaker::set_rates(JointLimits& limits, const urdf::Joint& source,
                               const UrdfControlJoint* control) {
  limits.velocity = source.limits ? source.limits->velocity : 0;
  if (!is_positive(limits.velocity)) {
    limits.velocity = options_.velocity;
    note("joint/limit", source,
         fmt::format("no velocity limit above 0: {:g} rad/s or m/s is assumed", options_.velocity));
  }
  limits.velocity = std::min(limits.velocity, magnitude(control, "velocity").value_or(huge_number));
  const auto acceleration = magnitude(control, "acceleration");
  limits.acceleration =
      std::min(acceleration.value_or(limits.velocity / options_.acceleration_time), huge_number);
  if (!acceleration) {
    note("joint/limit", source,
         fmt::format("a file has no acceleration limit: the velocity limit is reached in {:g} s",
                     options_.acceleration_time));
  }
  const auto jerk = magnitude(control, "jerk");
  limits.jerk = std::min(jerk.value_or(limits.acceleration / options_.jerk_time), huge_number);
  if (!jerk) {
    note("joint/limit", source,
         fmt::format("a file has no jerk limit: the acceleration limit is reached in {:g} s",
                     options_.jerk_time));
  }
  for (const auto& effort :
       {source.limits ? std::optional(source.limits->effort) : std::nullopt, magnitude(control, "effort")}) {
    if (effort && is_positive(*effort)) limits.effort = std::min(limits.effort, *effort);
  }
  if (!std::isfinite(limits.effort)) note("joint/limit", source, "no effort limit above 0: none is set");
}

bool UrdfJointMaker::set_range(JointDescription& joint, const urdf::Joint& source,
                               const UrdfControlJoint* control) {
  const double reach = options_.protocol->reach(joint);
  JointLimits& limits = joint.limits;
  const UrdfRange* range = command_of(control, "position");
  if (joint.kind == JointKind::continuous) {
    limits.position_min = -reach;
    limits.position_max = reach;
    set_range_of_continuous(joint, source, range);
    return true;
  }
  limits.position_min = source.limits ? source.limits->lower : 0;
  limits.position_max = source.limits ? source.limits->upper : 0;
  if (range != nullptr) narrow(limits, range->least, range->most);
  if (const double most = std::min(reach, huge_number);
      limits.position_min < -most || limits.position_max > most) {
    note("joint/limit", source, "position limits reduced to what the words of the protocol hold");
    limits.position_min = std::max(limits.position_min, -most);
    limits.position_max = std::min(limits.position_max, most);
  }
  if (limits.position_min < limits.position_max) return true;
  note("joint/limit", source, "joint left out: its lower position limit is not below the upper one");
  return false;
}

/// A range says that a cable or a stop ends the turn, whatever the type says.
void UrdfJointMaker::set_range_of_continuous(JointDescription& joint, const urdf::Joint& source,
                                             const UrdfRange* range) {
  JointLimits limits = joint.limits;
  if (source.limits && source.limits->lower != source.limits->upper)
    narrow(limits, source.limits->lower, source.limits->upper);
  if (range != nullptr) narrow(limits, range->least, range->most);
  if (!(limits.position_min < limits.position_max)) {
    note("joint/limit", source, "turns without end: its lower position limit is not below the upper one");
    return;
  }
  if (limits.position_min == joint.limits.position_min && limits.position_max == joint.limits.position_max)
    return;
  joint.kind = JointKind::rotary;
  joint.limits = limits;
  note("joint/limit", source,
       fmt::format(
           "continuous in the file, but its range is from {:g} to {:g} rad: taken as a rotary joint. If "
           "it turns without end, remove the range from the URDF file",
           limits.position_min, limits.position_max));
}

void UrdfJointMaker::set_plant(JointDescription& joint, const urdf::Joint& source,
                               const UrdfControlJoint* control) {
  const JointLimits& limits = joint.limits;
  PlantDescription& plant = joint.plant;
  if (std::isfinite(limits.effort)) plant.torque_limit = limits.effort;
  plant.inertia =
      std::clamp(share_of_acceleration * plant.torque_limit / limits.acceleration, tiny, huge_number);
  plant.viscous_friction = source.dynamics ? std::clamp(source.dynamics->damping, 0.0, huge_number) : 0;
  plant.coulomb_friction = source.dynamics ? std::clamp(source.dynamics->friction, 0.0, huge_number) : 0;
  const double resistance = plant.viscous_friction * limits.velocity + plant.coulomb_friction;
  if (const double most = share_of_friction * plant.torque_limit; resistance > most) {
    plant.viscous_friction *= most / resistance;
    plant.coulomb_friction *= most / resistance;
    note("joint/dynamics", source,
         "reduced for the simulated joint: at the velocity limit it took more than half of the effort limit");
  }
  plant.start = std::clamp(0.0, limits.position_min, limits.position_max);
  if (control != nullptr && control->initial_position)
    plant.start = std::clamp(*control->initial_position, limits.position_min, limits.position_max);
}

}  // namespace takt::robot
