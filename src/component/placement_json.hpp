// A component's rate and budget from JSON, for the sources that use nlohmann_json.
#pragma once

#include "json/strict.hpp"
#include "takt/component/execution_context.hpp"

namespace takt::component {

/// Reads "divisor", "phase", "budget_us" and "over_budget", which are all optional.
void read_rate(json::Object& object, json::Mistakes& mistakes, Placement& placement);
/// The same four keys.
[[nodiscard]] json::Value rate_json(const Placement& placement);

}  // namespace takt::component
