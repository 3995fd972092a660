// The value of a parameter of any type, as data. Set-up: not real-time safe.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "takt/core/finite_math.hpp"

namespace takt::component {

/// The value of a parameter of any type. Enums are their names.
using ParameterValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

/// A value for people: 2.5, true, "left", [1, 2].
[[nodiscard]] std::string to_string(const ParameterValue& value);

/// A parameter and a value for it.
struct Assignment {
  std::string parameter;
  ParameterValue value;
};

}  // namespace takt::component
