// A vehicle of a robot from JSON, for the sources that use nlohmann_json. description_json.hpp documents the
// form.
#pragma once

#include <string>
#include <vector>

#include "json/strict.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/description_json.hpp"

namespace takt::robot {

/// Reads all keys of one vehicle, and finishes the object.
[[nodiscard]] RobotVehicle read_robot_vehicle(json::Object& object, json::Mistakes& mistakes);
/// The inverse.
[[nodiscard]] json::Value robot_vehicle_json(const RobotVehicle& vehicle);
/// The paths of their files begin at the folder of the robot's file. Returns the mistakes of the vehicles'
/// own descriptions.
[[nodiscard]] std::vector<Mistake> locate_files(std::vector<RobotVehicle>& vehicles,
                                                const std::string& robot_file);

}  // namespace takt::robot
