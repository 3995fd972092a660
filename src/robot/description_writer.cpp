// Writes a description as a robot file: the inverse of description_json.cpp.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "robot/controller_json.hpp"
#include "robot/description_words.hpp"
#include "robot/robot_vehicle_json.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {
namespace {

using Json = nlohmann::ordered_json;

Json limits_of(const JointDescription& joint) {
  const JointLimits& limits = joint.limits;
  Json json = Json::object();
  if (joint.kind != JointKind::continuous)
    json["position"] = Json::array({limits.position_min, limits.position_max});
  json["velocity"] = limits.velocity;
  json["acceleration"] = limits.acceleration;
  json["jerk"] = limits.jerk;
  if (std::isfinite(limits.effort)) json["effort"] = limits.effort;
  return json;
}

Json settings_of(const DriveSettings& drive) {
  Json json = Json::object();
  for (const auto& [key, value] : drive.list())
    std::visit([&json, &name = key](const auto& setting) { json[name] = setting; }, value);
  return json;
}

Json plant_of(const PlantDescription& plant) {
  return {{"inertia", plant.inertia},
          {"viscous_friction", plant.viscous_friction},
          {"coulomb_friction", plant.coulomb_friction},
          {"torque_limit", plant.torque_limit},
          {"bandwidth", plant.bandwidth},
          {"start", plant.start}};
}

Json bus_of(const BusDescription& bus) {
  Json json{{"name", bus.name}, {"protocol", bus.protocol != nullptr ? bus.protocol->name() : ""}};
  json["interface"] = bus.interface;
  json["bit_rate"] = bus.bit_rate;
  if (bus.protocol != nullptr && bus.protocol->has_fd_frames()) json["data_bit_rate"] = bus.data_bit_rate;
  return json;
}

Json joint_of(const RobotDescription& robot, const JointDescription& joint) {
  Json json{{"name", joint.name}, {"kind", word_of(joint_kinds, joint.kind)}, {"limits", limits_of(joint)}};
  json["safe"] = word_of(safe_words, joint.safe == SafeBehaviour::release ? SafeWord::release
                                     : joint.keep_commanding              ? SafeWord::keep_commanding
                                                                          : SafeWord::hold);
  json["bus"] = joint.bus < robot.buses.size() ? robot.buses[joint.bus].name : "";
  json["board"] = joint.board;
  json["channel"] = joint.channel;
  json["counts_per_radian"] = joint.counts_per_radian;
  if (joint.rated_effort > 0) json["rated_effort"] = joint.rated_effort;
  if (!joint.drive.list().empty()) json["drive"] = settings_of(joint.drive);
  json["following_error"] = joint.following_error;
  json["goal_tolerance"] = joint.goal_tolerance;
  json["plant"] = plant_of(joint.plant);
  return json;
}

std::string name_of(const RobotDescription& robot, std::size_t joint) {
  return joint < robot.joints.size() ? robot.joints[joint].name : "";
}

Json mimic_of(const RobotDescription& robot, const MimicDescription& mimic) {
  return {{"name", mimic.name},
          {"kind", word_of(joint_kinds, mimic.kind)},
          {"joint", name_of(robot, mimic.joint)},
          {"multiplier", mimic.multiplier},
          {"offset", mimic.offset}};
}

Json transmission_of(const RobotDescription& robot, const TransmissionDescription& transmission) {
  Json joints = Json::array();
  for (const TransmissionJoint& joint : transmission.joints) {
    joints.push_back(
        {{"name", name_of(robot, joint.joint)}, {"reduction", joint.reduction}, {"offset", joint.offset}});
  }
  Json actuators = Json::array();
  for (const TransmissionActuator& actuator : transmission.actuators)
    actuators.push_back({{"name", actuator.name}, {"reduction", actuator.reduction}});
  return {{"name", transmission.name},
          {"type", word_of(transmission_kinds, transmission.kind)},
          {"joints", std::move(joints)},
          {"actuators", std::move(actuators)}};
}

Json groups_of(const RobotDescription& robot) {
  Json json = Json::object();
  for (const GroupDescription& group : robot.groups) {
    Json& names = json[group.name] = Json::array();
    for (const std::size_t joint : group.joints) names.push_back(name_of(robot, joint));
  }
  return json;
}

template <class Entries, class Convert>
Json list_of(const Entries& entries, const Convert& convert) {
  Json list = Json::array();
  for (const auto& entry : entries) list.push_back(convert(entry));
  return list;
}

Json document_of(const RobotDescription& robot) {
  Json json{{"name", robot.name}, {"rate", 1 / to_seconds(robot.period)}};
  json["overrun"] = word_of(overrun_policies, robot.overrun);
  json["overrun_limit"] = robot.overrun_limit;
  json["feedback_timeout"] = to_seconds(robot.feedback_timeout);
  json["goal_time"] = to_seconds(robot.goal_time);
  if (robot.devices == DeviceVariant::recorded)
    json["devices"] = std::string(recorded_devices) + robot.recording;
  else if (robot.devices != DeviceVariant::real)
    json["devices"] = word_of(device_variants, robot.devices);
  if (!robot.power) json["power"] = word_of(powers, robot.power);
  if (!robot.joints.empty() || robot.vehicles.empty()) {
    json["buses"] = list_of(robot.buses, bus_of);
    json["joints"] = list_of(robot.joints, [&](const auto& joint) { return joint_of(robot, joint); });
  }
  if (!robot.groups.empty()) json["groups"] = groups_of(robot);
  if (!robot.mimics.empty())
    json["mimics"] = list_of(robot.mimics, [&](const auto& mimic) { return mimic_of(robot, mimic); });
  if (!robot.transmissions.empty()) {
    json["transmissions"] = list_of(
        robot.transmissions, [&](const auto& transmission) { return transmission_of(robot, transmission); });
  }
  if (!robot.vehicles.empty()) {
    json["vehicles"] =
        list_of(robot.vehicles, [](const RobotVehicle& each) { return Json(robot_vehicle_json(each)); });
  }
  if (!robot.controllers.empty())
    json["controllers"] = list_of(
        robot.controllers, [](const ControllerDescription& each) { return Json(controller_json(each)); });
  return json;
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// An object whose members have a line each.
std::string in_lines(const Json& object, std::string_view indent) {
  std::string text = "{";
  for (const auto& [key, value] : object.items())
    text += fmt::format("{}\n{}  {}: {}", text.size() > 1 ? "," : "", indent, text_of(key), text_of(value));
  return text + fmt::format("\n{}}}", indent);
}

}  // namespace

std::string to_json(const RobotDescription& robot) {
  const Json document = document_of(robot);
  std::string text = "{";
  for (const auto& [key, value] : document.items()) {
    text += fmt::format("{}\n  {}: ", text.size() > 1 ? "," : "", text_of(key));
    if (!value.is_array()) {
      text += text_of(value);
      continue;
    }
    text += "[";
    for (std::size_t i = 0; i < value.size(); ++i) text += (i > 0 ? ", " : "") + in_lines(value[i], "  ");
    text += "]";
  }
  return text + "\n}\n";
}

}  // namespace takt::robot
