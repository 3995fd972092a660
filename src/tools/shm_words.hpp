// Makes decoded values of takt's own shared types readable: words replace codes, and unused rows of joints and seats are left
// out.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "takt/shm/joint_image.hpp"

namespace takt::tools {

/// How many rows of a joint image are in use.
struct RowsInUse {
  std::size_t joints = max_joints;
  std::size_t seats = shm::max_joint_seats;
};
/// The rows in use of a decoded value, if its schema is that of a joint image.
std::optional<RowsInUse> rows_in_use(std::string_view schema, const nlohmann::ordered_json& value);

/// Replaces codes by words, and drops unused rows, in a decoded value of one of takt's types. Other types, and codes without
/// a word, stay as they are.
void put_words(std::string_view schema, const RowsInUse& rows, nlohmann::ordered_json& value);

}  // namespace takt::tools
