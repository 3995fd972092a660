// Reads the table of a vehicle's systems from its description.
#pragma once

#include <memory>
#include <string>

#include "json/strict.hpp"
#include "takt/vehicle/system_layout.hpp"

namespace takt::robot {

/// Returns the table with all parts to which it refers; or null, and the mistakes.
[[nodiscard]] std::shared_ptr<const vehicle::Layouts> read_layouts(const json::Value& list,
                                                                   const std::string& where,
                                                                   json::Mistakes& mistakes);

}  // namespace takt::robot
