#include "robot/robot_vehicle_json.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "robot/device_variant.hpp"
#include "takt/component/component.hpp"
#include "takt/robot/vehicle_description.hpp"

namespace takt::robot {
namespace {

constexpr std::uint64_t largest_key_id = 255;

/// An address, or a path: any text that may be a path.
void read_place(json::Object& object, std::string_view key, json::Mistakes& mistakes, std::string& out) {
  const json::Value* value = object.find(key);
  if (value == nullptr) return;
  out = value->is_string() ? value->get<std::string>() : std::string();
  if (!is_path(out)) mistakes.add(object.at(key), json::text_of(*value) + " is no address or path");
}

}  // namespace

RobotVehicle read_robot_vehicle(json::Object& object, json::Mistakes& mistakes) {
  RobotVehicle made;
  object.required_name("name", made.name);
  if (!made.name.empty() && !component::is_valid_name(made.name)) {
    mistakes.add(object.at("name"),
                 "\"" + made.name + "\" is no name: 1 to 31 letters, digits, '_', '-' or '.' are allowed");
  }
  if (object.require("file") != nullptr) read_place(object, "file", mistakes, made.file);
  read_place(object, "local", mistakes, made.local);
  read_place(object, "peer", mistakes, made.peer);
  read_place(object, "send_to", mistakes, made.send_to);
  read_place(object, "key", mistakes, made.key);
  bool plain = false;
  object.boolean("plain", plain);
  if (const json::Value* id = object.find("key_id")) {
    if (const auto number = json::to_integer(*id, object.at("key_id"), mistakes, 0, largest_key_id))
      made.key_id = static_cast<std::uint8_t>(*number);
  }
  const bool has_peer = object.has("peer");
  if (has_peer != object.has("local"))
    mistakes.add(object.at(has_peer ? "local" : "peer"), "\"local\" and \"peer\" go together");
  if (object.has("send_to") && !has_peer) mistakes.add(object.at("peer"), "is missing, beside \"send_to\"");
  if (object.has("key_id") && !object.has("key"))
    mistakes.add(object.at("key_id"), "is the number of a \"key\", and there is none");
  if (plain && object.has("key")) mistakes.add(object.at("plain"), "there is a key, so frames are not plain");
  if (has_peer && !plain && !object.has("key")) {
    mistakes.add(object.at("key"),
                 "is missing: the path of a key (see: takt key), or \"plain\": true for frames without one");
  }
  object.finish();
  return made;
}

json::Value robot_vehicle_json(const RobotVehicle& vehicle) {
  json::Value made = {{"name", vehicle.name}, {"file", vehicle.file}};
  if (!vehicle.peer.empty()) {
    made["local"] = vehicle.local;
    made["peer"] = vehicle.peer;
    if (vehicle.key.empty()) made["plain"] = true;
  }
  if (!vehicle.send_to.empty()) made["send_to"] = vehicle.send_to;
  if (!vehicle.key.empty()) {
    made["key"] = vehicle.key;
    made["key_id"] = vehicle.key_id;
  }
  return made;
}

std::vector<Mistake> locate_files(std::vector<RobotVehicle>& vehicles, const std::string& robot_file) {
  const std::filesystem::path folder = std::filesystem::path(robot_file).parent_path();
  std::vector<Mistake> mistakes;
  for (std::size_t i = 0; i < vehicles.size(); ++i) {
    RobotVehicle& vehicle = vehicles[i];
    vehicle.file = (folder / vehicle.file).string();
    if (!vehicle.key.empty()) vehicle.key = (folder / vehicle.key).string();
    const auto loaded = load_vehicle_file(vehicle.file);
    if (loaded) continue;
    for (const Mistake& mistake : loaded.error())
      mistakes.push_back({fmt::format("/vehicles/{}/file", i), vehicle.file + ": " + to_string(mistake)});
  }
  return mistakes;
}

}  // namespace takt::robot
