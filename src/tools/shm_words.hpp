// What stands in the types that takt itself shares, for people: words in place of codes, and no rows of joints or seats that the
// robot does not have.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "takt/shm/joint_image.hpp"

namespace takt::tools {

/// How many rows of a robot's tables are in use.
struct RowsInUse {
  std::size_t joints = max_joints;
  std::size_t seats = shm::max_joint_seats;
};
/// Of a decoded value, if it is a joint image.
std::optional<RowsInUse> rows_in_use(std::string_view schema, const nlohmann::ordered_json& value);

/// Changes a decoded value of one of takt's types. Others, and codes without a word, stay as they are.
void put_words(std::string_view schema, const RowsInUse& rows, nlohmann::ordered_json& value);

}  // namespace takt::tools
