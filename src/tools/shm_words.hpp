// Makes decoded values of takt's shared types readable: words replace codes, and unused rows of joints and
// owner slots are removed.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "takt/shm/joint_image.hpp"

namespace takt::tools {

/// The number of used rows of a joint image.
struct RowsInUse {
  std::size_t joints = max_joints;
  std::size_t slots = shm::max_joint_slots;
};
/// The rows in use of a decoded value, if its schema is that of a joint image.
std::optional<RowsInUse> rows_in_use(std::string_view schema, const nlohmann::ordered_json& value);

/// Replaces codes by words, and removes unused rows, in a decoded value of one of takt's types. Other types,
/// and codes without a word, do not change.
void put_words(std::string_view schema, const RowsInUse& rows, nlohmann::ordered_json& value);

}  // namespace takt::tools
