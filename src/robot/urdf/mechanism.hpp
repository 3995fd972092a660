// The tags of a URDF file that urdfdom does not read: <transmission>, of ROS 1 and of the PR2, and
// <ros2_control>.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "robot/urdf/notes.hpp"
#include "robot/urdf/xml.hpp"
#include "takt/robot/description.hpp"

namespace takt::robot {

/// A joint of a transmission, by name.
struct UrdfTransmissionJoint {
  std::string name;
  double reduction = 1;
  double offset = 0;
};

/// A <transmission> of a kind that takt has.
struct UrdfTransmission {
  std::string name;
  TransmissionKind kind = TransmissionKind::simple;
  std::vector<UrdfTransmissionJoint> joints;
  std::vector<TransmissionActuator> actuators;
};

/// The range of a command interface.
struct UrdfRange {
  std::optional<double> least;
  std::optional<double> most;
};

/// A <mimic> of <ros2_control>'s older form, by parameters.
struct UrdfMimic {
  std::string joint;
  double multiplier = 1;
  double offset = 0;
};

/// A <joint> of <ros2_control>.
struct UrdfControlJoint {
  std::map<std::string, UrdfRange, std::less<>> commands;  ///< by the interface: "position"
  std::optional<double> initial_position;
  std::optional<UrdfMimic> mimic;
  bool is_never_mimic = false;  ///< mimic="false": it has a drive in spite of its <mimic>
};

/// All of them.
struct UrdfMechanism {
  std::vector<UrdfTransmission> transmissions;
  std::map<std::string, UrdfControlJoint, std::less<>> joints;
  std::set<std::string, std::less<>> in_transmissions;  ///< joints of any transmission tag
};

/// Reads the children of <robot>. Everything that is wrong or unknown becomes a note.
[[nodiscard]] UrdfMechanism read_mechanism(const urdf_xml::Element& robot, UrdfNotes& notes);

}  // namespace takt::robot
