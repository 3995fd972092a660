// Parameters as JSON: a file of settings, the answer of a tool. Set-up: not real-time safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/component/parameter.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::component {

/// The values in use: {"gain": 2.0, "mode": "slow"}.
[[nodiscard]] std::string values_to_json(const ParameterSet& parameters);
/// Descriptions and values: [{"name": "gain", "type": "number", "unit": "1/s", "value": 2.0, ...}].
[[nodiscard]] std::string parameters_to_json(const ParameterSet& parameters);
/// Reads an object of values: booleans, numbers, texts, and arrays of numbers. Whether they obey the rules,
/// ParameterSet::set() decides. Errors: bad_value, with the JSON pointer of the mistake.
[[nodiscard]] SetupResult<std::vector<Assignment>> assignments_from_json(std::string_view text);

}  // namespace takt::component
