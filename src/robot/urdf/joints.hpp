// One joint of a URDF file as a joint of a description.
#pragma once

#include <optional>
#include <string>

#include "robot/urdf/mechanism.hpp"
#include "robot/urdf/model.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/urdf.hpp"

namespace takt::robot {

[[nodiscard]] inline JointKind kind_of(const urdf::Joint& joint) noexcept {
  if (joint.type == urdf::Joint::PRISMATIC) return JointKind::linear;
  return joint.type == urdf::Joint::CONTINUOUS ? JointKind::continuous : JointKind::rotary;
}

/// Makes joints with limits, tolerances and plants, yet without an address.
class UrdfJointMaker {
 public:
  /// All must outlive the maker.
  UrdfJointMaker(const UrdfOptions& options, UrdfNotes& notes) : options_(options), notes_(notes) {}

  /// `control`: the joint of <ros2_control>, or null. std::nullopt and a note if the joint cannot move.
  [[nodiscard]] std::optional<JointDescription> make(const urdf::Joint& source,
                                                     const UrdfControlJoint* control);

 private:
  void set_rates(JointLimits& limits, const urdf::Joint& source, const UrdfControlJoint* control);
  [[nodiscard]] bool set_range(JointDescription& joint, const urdf::Joint& source,
                               const UrdfControlJoint* control);
  void set_range_of_continuous(JointDescription& joint, const urdf::Joint& source, const UrdfRange* range);
  void set_plant(JointDescription& joint, const urdf::Joint& source, const UrdfControlJoint* control);
  void note(const char* tag, const urdf::Joint& source, std::string_view reason) {
    notes_.add(tag, source.name, reason);
  }

  const UrdfOptions& options_;
  UrdfNotes& notes_;
};

}  // namespace takt::robot
