#include "robot/urdf/mechanism.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace takt::robot {
namespace {

using urdf_xml::attribute;
using urdf_xml::Element;

constexpr std::string_view transmission_tag = "transmission";
constexpr std::string_view control_tag = "ros2_control";

/// "transmission_interface/SimpleTransmission" without its package.
std::string_view class_of(std::string_view type) {
  const std::size_t end = type.find_last_of("/:");
  return end == std::string_view::npos ? type : type.substr(end + 1);
}

std::optional<TransmissionKind> kind_of(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, TransmissionKind>, 3> kinds{
      {{"SimpleTransmission", TransmissionKind::simple},
       {"DifferentialTransmission", TransmissionKind::differential},
       {"FourBarLinkageTransmission", TransmissionKind::four_bar}}};
  for (const auto& [name, kind] : kinds) {
    if (type == name) return kind;
  }
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(UrdfNotes& notes) : notes_(notes) {}

  UrdfMechanism read(const Element& robot) {
    for (const Element* element : urdf_xml::children(robot, "transmission")) read_transmission(*element);
    for (const Element* element : urdf_xml::children(robot, "ros2_control")) read_control(*element);
    return std::move(mechanism_);
  }

 private:
  // ---- <transmission>

  void read_transmission(const Element& element) {
    const std::string name(attribute(element, "name"));
    for (const char* tag : {"joint", "gap_joint", "flexJoint", "rollJoint"}) {
      for (const Element* joint : urdf_xml::children(element, tag))
        mechanism_.in_transmissions.emplace(attribute(*joint, "name"));
    }
    const std::string type(type_of(element));
    std::optional<UrdfTransmission> transmission;
    if (type == "WristTransmission") {
      transmission = wrist(element);
    } else if (const auto kind = kind_of(type)) {
      transmission = linear(element, *kind);
    } else {
      notes_.add(transmission_tag, name,
                 fmt::format("not taken over: takt has no type \"{}\". Its joints are taken as if each had a "
                             "drive of its own",
                             type));
      return;
    }
    if (!transmission) {
      notes_.add(transmission_tag, name,
                 "not taken over: a name or a number is wrong, or it has not as many joints and actuators as "
                 "its type");
      return;
    }
    transmission->name = name;
    mechanism_.transmissions.push_back(std::move(*transmission));
  }

  /// ROS 1 has <type>, the PR2 an attribute, ros2_control <plugin>.
  static std::string_view type_of(const Element& element) {
    for (const char* tag : {"type", "plugin"}) {
      if (const auto text = urdf_xml::child_text(element, tag)) return class_of(*text);
    }
    return class_of(attribute(element, "type"));
  }

  static std::optional<UrdfTransmission> linear(const Element& element, TransmissionKind kind) {
    UrdfTransmission transmission{{}, kind, {}, {}};
    for (const Element* joint : in_order_of_roles(element, "joint")) {
      const auto reduction = reduction_of(*joint);
      const auto offset = number_of(*joint, "offset", 0);
      if (!reduction || !offset) return std::nullopt;
      transmission.joints.push_back({std::string(attribute(*joint, "name")), *reduction, *offset});
    }
    for (const Element* actuator : in_order_of_roles(element, "actuator")) {
      const auto reduction = reduction_of(*actuator);
      if (!reduction) return std::nullopt;
      transmission.actuators.push_back({std::string(attribute(*actuator, "name")), *reduction});
    }
    const std::size_t count = joint_count(kind);
    // An actuator may go without saying where there is one only, as in <ros2_control>.
    if (kind == TransmissionKind::simple && transmission.actuators.empty() && !transmission.joints.empty())
      transmission.actuators.push_back({transmission.joints[0].name + "_actuator", 1});
    if (transmission.joints.size() != count || transmission.actuators.size() != count) return std::nullopt;
    const auto reduction = reduction_of(element);  // the PR2 has it here
    if (!reduction) return std::nullopt;
    transmission.actuators[0].reduction *= *reduction;
    return transmission;
  }

  /// The PR2's wrist. Its roll is (-a1/n1 - a2/n2) / (2 m), which is a differential's sum with the reduction
  /// -m; its flexion is the difference.
  static std::optional<UrdfTransmission> wrist(const Element& element) {
    UrdfTransmission transmission{{}, TransmissionKind::differential, {}, {}};
    for (const auto& [tag, sign] : {std::pair{"rollJoint", -1.0}, std::pair{"flexJoint", 1.0}}) {
      const auto end = end_of(element, tag);
      if (!end) return std::nullopt;
      transmission.joints.push_back({end->name, sign * end->reduction, 0});
    }
    for (const char* tag : {"rightActuator", "leftActuator"}) {
      auto end = end_of(element, tag);
      if (!end) return std::nullopt;
      transmission.actuators.push_back(std::move(*end));
    }
    return transmission;
  }

  /// One end of the PR2's wrist, whose reduction is an attribute.
  static std::optional<TransmissionActuator> end_of(const Element& element, const char* tag) {
    const Element* end = element.FirstChildElement(tag);
    if (end == nullptr) return std::nullopt;
    const auto reduction = urdf_xml::number(attribute(*end, "mechanicalReduction"));
    if (!reduction || *reduction == 0) return std::nullopt;
    return TransmissionActuator{std::string(attribute(*end, "name")), *reduction};
  }

  /// joint1 and actuator1 come first, whatever the order in the file.
  static std::vector<const Element*> in_order_of_roles(const Element& element, const char* tag) {
    std::vector<const Element*> ends = urdf_xml::children(element, tag);
    const std::string second = std::string(tag) + "2";
    std::stable_partition(ends.begin(), ends.end(),
                          [&](const Element* end) { return role_of(*end) != second; });
    return ends;
  }

  /// ROS 1 has a child, ros2_control an attribute.
  static std::string_view role_of(const Element& element) {
    return urdf_xml::child_text(element, "role").value_or(attribute(element, "role"));
  }

  /// 1 if the file says nothing; std::nullopt for 0 and for what is not a number.
  static std::optional<double> reduction_of(const Element& element) {
    auto reduction = number_of(element, "mechanicalReduction", 1);
    if (element.FirstChildElement("mechanical_reduction") != nullptr)
      reduction = number_of(element, "mechanical_reduction", 1);
    return reduction && *reduction != 0 ? reduction : std::nullopt;
  }

  static std::optional<double> number_of(const Element& element, const char* tag, double otherwise) {
    const auto text = urdf_xml::child_text(element, tag);
    return text ? urdf_xml::number(*text) : std::optional(otherwise);
  }

  // ---- <ros2_control>

  void read_control(const Element& element) {
    const std::string system(attribute(element, "name"));
    if (const Element* hardware = element.FirstChildElement("hardware")) {
      const auto plugin = urdf_xml::child_text(*hardware, "plugin");
      notes_.add("ros2_control/hardware", system,
                 fmt::format("not taken over: plug-in {} and its parameters. The drives are those of the "
                             "chosen protocol",
                             plugin.value_or("without a name")));
    }
    for (const Element* joint : urdf_xml::children(element, "joint")) read_control_joint(*joint);
    for (const Element* transmission : urdf_xml::children(element, "transmission"))
      read_transmission(*transmission);
    for (const char* tag : {"sensor", "gpio"}) {
      for (const Element* part : urdf_xml::children(element, tag)) {
        notes_.add(fmt::format("{}/{}", control_tag, tag), attribute(*part, "name"),
                   "not taken over: a description has joints only");
      }
    }
  }

  void read_control_joint(const Element& element) {
    const std::string name(attribute(element, "name"));
    UrdfControlJoint& joint = mechanism_.joints[name];
    joint.is_never_mimic = attribute(element, "mimic") == "false";
    for (const Element* command : urdf_xml::children(element, "command_interface"))
      joint.commands[std::string(attribute(*command, "name"))] = {parameter(*command, "min", name),
                                                                  parameter(*command, "max", name)};
    for (const Element* state : urdf_xml::children(element, "state_interface")) {
      if (attribute(*state, "name") == "position")
        joint.initial_position = parameter(*state, "initial_value", name);
    }
    if (const auto other = parameter_text(element, "mimic")) {
      joint.mimic = UrdfMimic{std::string(*other), parameter(element, "multiplier", name).value_or(1),
                              parameter(element, "offset", name).value_or(0)};
    }
  }

  static std::optional<std::string_view> parameter_text(const Element& element, std::string_view name) {
    for (const Element* parameter : urdf_xml::children(element, "param")) {
      if (attribute(*parameter, "name") == name) return urdf_xml::text_of(*parameter);
    }
    return std::nullopt;
  }

  std::optional<double> parameter(const Element& element, std::string_view key, std::string_view joint) {
    const auto text = parameter_text(element, key);
    if (!text) return std::nullopt;
    const auto value = urdf_xml::number(*text);
    if (!value)
      notes_.add(control_tag, joint,
                 fmt::format("parameter {} left out: \"{}\" is not a number", key, *text));
    return value;
  }

  UrdfNotes& notes_;
  UrdfMechanism mechanism_;
};

}  // namespace

UrdfMechanism read_mechanism(const Element& robot, UrdfNotes& notes) { return Reader(notes).read(robot); }

}  // namespace takt::robot
