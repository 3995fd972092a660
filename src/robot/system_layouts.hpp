// The table of a vehicle's systems out of its description.
#pragma once

#include <memory>
#include <string>

#include "json/strict.hpp"
#include "takt/vehicle/system_layout.hpp"

namespace takt::robot {

/// The table, with all that it refers to; or nothing, and the mistakes.
[[nodiscard]] std::shared_ptr<const vehicle::Layouts> read_layouts(const json::Value& list,
                                                                   const std::string& where,
                                                                   json::Mistakes& mistakes);

}  // namespace takt::robot
