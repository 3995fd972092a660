// Shared by the loaders of descriptions: their limits, and the texts of mistakes.
#pragma once

#include <cstddef>
#include <vector>

#include "json/strict.hpp"
#include "takt/robot/description_json.hpp"

namespace takt::robot {

inline constexpr std::size_t max_description_file = std::size_t{4} << 20;
inline constexpr std::size_t max_mistakes = 1000;
inline constexpr double huge_number = 1e9;  ///< above any machine's values; formulas stay exact

[[nodiscard]] inline std::vector<Mistake> to_mistakes(const std::vector<json::Mistake>& list) {
  std::vector<Mistake> mistakes;
  mistakes.reserve(list.size());
  for (const json::Mistake& mistake : list) mistakes.push_back({mistake.where, mistake.reason, mistake.line});
  return mistakes;
}

}  // namespace takt::robot
