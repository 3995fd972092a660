// A parameter's value as JSON and back, for the sources that use nlohmann_json.
#pragma once

#include <optional>
#include <string>

#include "json/strict.hpp"
#include "takt/component/parameter.hpp"

namespace takt::component {

[[nodiscard]] json::Value to_json(const ParameterValue& value);
/// Nothing, and a mistake at `where`, for a null, an object, or an array of other things than numbers.
[[nodiscard]] std::optional<ParameterValue> value_from_json(const json::Value& value,
                                                            const std::string& where,
                                                            json::Mistakes& mistakes);
[[nodiscard]] json::Value to_json(const ParameterSet& parameters);
/// The members of an object.
[[nodiscard]] std::vector<Assignment> assignments_from_json(const json::Value& value,
                                                            const std::string& where,
                                                            json::Mistakes& mistakes);

}  // namespace takt::component
