// A controller's description from JSON, for the sources that use nlohmann_json. description_json.hpp
// documents the form.
#pragma once

#include "json/strict.hpp"
#include "takt/robot/controller_config.hpp"

namespace takt::robot {

/// Reads all keys of one controller, and finishes the object.
[[nodiscard]] ControllerDescription read_controller(json::Object& object, json::Mistakes& mistakes);
/// The inverse.
[[nodiscard]] json::Value controller_json(const ControllerDescription& controller);

}  // namespace takt::robot
