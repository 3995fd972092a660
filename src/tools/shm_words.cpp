#include "tools/shm_words.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "tools/drive_publication.hpp"

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view image_schema = shm::schema_text<shm::JointImage>();
constexpr std::string_view command_schema = shm::schema_text<shm::OwnerCommand>();
constexpr std::string_view vehicle_schema = shm::schema_text<VehicleStatus>();

template <class Enum>
std::string_view word_of(std::uint64_t code) {
  return to_string(static_cast<Enum>(code));
}
std::string_view owner_word(std::uint64_t owner_slot) { return owner_slot == shm::no_owner ? "nobody" : ""; }
std::string_view error_word(std::uint64_t code) {
  return code == 0 ? "none" : describe(static_cast<shm::Errc>(code));
}

struct Coded {
  std::string_view schema;
  std::string_view field;
  std::string_view (*word)(std::uint64_t code);  ///< empty if there is none
};
constexpr std::array coded_fields{
    Coded{image_schema, "mode", word_of<shm::JointMode>},
    Coded{image_schema, "owner", owner_word},
    Coded{image_schema, "phase", word_of<shm::JointPhase>},
    Coded{image_schema, "error", error_word},
    Coded{image_schema, "answer", word_of<shm::OwnerSlotAnswer>},
    Coded{command_schema, "mode", word_of<shm::JointMode>},
    Coded{vehicle_schema, "state", word_of<vehicle::SupervisorState>},
    Coded{vehicle_schema, "cause", word_of<vehicle::StopCause>},
};

void put_word(Json& code, std::string_view (*word)(std::uint64_t)) {
  if (const std::string_view known = word(code.get<std::uint64_t>()); !known.empty()) code = known;
}

void keep_rows(Json& value, const RowsInUse& rows) {
  for (auto& [name, column] : value.items()) {
    if (!column.is_array()) continue;
    auto& list = column.get_ref<Json::array_t&>();
    list.resize(std::min(list.size(), list.size() == max_joints ? rows.joints : rows.slots));
  }
}

}  // namespace

std::optional<RowsInUse> rows_in_use(std::string_view schema, const Json& value) {
  if (schema != image_schema || !value.is_object()) return std::nullopt;
  return RowsInUse{value["joints"].get<std::size_t>(), value["slots"].get<std::size_t>()};
}

void put_words(std::string_view schema, const RowsInUse& rows, Json& value) {
  if (!value.is_object()) return;
  if (schema == image_schema || schema == command_schema) keep_rows(value, rows);
  for (const Coded& coded : coded_fields) {
    if (coded.schema != schema) continue;
    Json& field = value[std::string(coded.field)];
    if (!field.is_array()) {
      put_word(field, coded.word);
    } else {
      for (Json& one : field) put_word(one, coded.word);
    }
  }
  if (schema != command_schema) return;
  Json wanted = Json::array();
  JointSet::from_bits(value["wanted"].get<std::uint64_t>()).for_each([&](std::size_t joint) {
    wanted.push_back(joint);
  });
  value["wanted"] = std::move(wanted);
}

}  // namespace takt::tools
