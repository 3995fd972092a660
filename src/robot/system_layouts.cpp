#include "robot/system_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/vehicle/status_frame.hpp"
#include "takt/vehicle/systems.hpp"

namespace takt::robot {
namespace {

using json::Object;
using json::Value;
using vehicle::FieldType;
using vehicle::Layouts;
using vehicle::System;
using vehicle::SystemField;
using vehicle::SystemLayout;

constexpr std::array<std::pair<std::string_view, FieldType>, 6> field_types{{{"u8", FieldType::u8},
                                                                             {"u16", FieldType::u16},
                                                                             {"u32", FieldType::u32},
                                                                             {"i8", FieldType::i8},
                                                                             {"i16", FieldType::i16},
                                                                             {"i32", FieldType::i32}}};

/// A table that owns the parts to which Layouts refers; moving it keeps their addresses.
struct Table {
  std::deque<std::string> names;
  std::deque<std::vector<SystemField>> fields;
  std::vector<SystemLayout> systems;
  std::optional<Layouts> layouts;
};

class TableReader {
 public:
  TableReader(Table& table, json::Mistakes& mistakes) : table_(&table), mistakes_(&mistakes) {}

  void read_system(const Value& value, const std::string& where) {
    SystemLayout layout;
    Object object(value, where, *mistakes_);
    std::string name;
    object.required_name("name", name);
    layout.name = table_->names.emplace_back(std::move(name));
    layout.system = static_cast<System>(read_byte(object, "id", 0, vehicle::max_systems - 1));
    layout.length = read_byte(object, "length", 1, Layouts::max_length);
    object.boolean("provisional", layout.provisional);
    std::vector<SystemField>& fields = table_->fields.emplace_back();
    if (const Value* list = object.require("fields")) read_fields(*list, object.at("fields"), layout, fields);
    layout.fields = fields;
    object.finish();
    for (const SystemLayout& other : table_->systems) {
      if (other.system == layout.system && object.has("id"))
        mistakes_->add(object.at("id"), "another system has this id");
      if (other.name == layout.name && !layout.name.empty())
        mistakes_->add(object.at("name"), "another system has this name");
    }
    table_->systems.push_back(layout);
  }

 private:
  std::uint8_t read_byte(Object& object, std::string_view key, std::uint64_t least, std::uint64_t most) {
    const Value* value = object.require(key);
    if (value == nullptr) return 0;
    return static_cast<std::uint8_t>(
        json::to_integer(*value, object.at(key), *mistakes_, least, most).value_or(0));
  }

  void read_fields(const Value& value, const std::string& where, const SystemLayout& layout,
                   std::vector<SystemField>& fields) {
    if (!value.is_object()) return mistakes_->add(where, "must be an object: offset and type of each field");
    for (const auto& [name, place] : value.get_ref<const Value::object_t&>()) {
      const std::string at = json::child(where, name);
      if (!json::is_name(name)) mistakes_->add(at, "this is not a valid name");
      Object object(place, at, *mistakes_);
      SystemField field;
      field.name = table_->names.emplace_back(name);
      field.offset = read_byte(object, "offset", 0, Layouts::max_length - 1);
      if (object.require("type") != nullptr) object.word<FieldType>("type", field.type, field_types);
      object.finish();
      if (layout.length != 0 && field.offset + size_of(field.type) > layout.length)
        mistakes_->add(at, fmt::format("ends beyond the {} bytes of its block", layout.length));
      fields.push_back(field);
    }
    check_state(where, fields);
    check_typed<vehicle::Traction>(where, layout, fields);
    check_typed<vehicle::Steering>(where, layout, fields);
    check_typed<vehicle::Battery>(where, layout, fields);
  }

  static const SystemField* find(const std::vector<SystemField>& fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &SystemField::name);
    return found == fields.end() ? nullptr : &*found;
  }

  void check_state(const std::string& where, const std::vector<SystemField>& fields) {
    const SystemField* state = find(fields, "state");
    if (state == nullptr)
      mistakes_->add(json::child(where, "state"), "is missing");
    else if (size_of(state->type) != 1)
      mistakes_->add(json::child(where, "state"), "must have a type of one byte");
  }

  /// Checks blocks that takt itself reads.
  template <class Block>
  void check_typed(const std::string& where, const SystemLayout& layout,
                   const std::vector<SystemField>& fields) {
    if (layout.system != Block::system) return;
    const Block block;
    Block::visit(block, [&](std::string_view name, std::int32_t) {
      const SystemField* field = find(fields, name);
      if (field == nullptr && name != "state")
        mistakes_->add(json::child(where, name), "is missing");
      else if (field != nullptr && field->type == FieldType::u32)
        mistakes_->add(json::child(where, name), "must not be a u32");
    });
  }

  Table* table_;
  json::Mistakes* mistakes_;
};

/// Bytes of a frame with all blocks.
std::size_t frame_size(const Table& table) {
  std::size_t bytes = vehicle::status_header_bytes;
  for (const SystemLayout& layout : table.systems) bytes += layout.length + 2U;
  return bytes;
}

}  // namespace

std::shared_ptr<const Layouts> read_layouts(const Value& list, const std::string& where,
                                            json::Mistakes& mistakes) {
  if (!list.is_array() || list.empty() || list.size() > vehicle::max_systems) {
    mistakes.add(where, fmt::format("must be a list of 1 to {} systems", vehicle::max_systems));
    return nullptr;
  }
  const std::size_t before = mistakes.list().size();
  const auto table = std::make_shared<Table>();
  TableReader reader(*table, mistakes);
  for (std::size_t i = 0; i < list.size(); ++i) reader.read_system(list[i], json::child(where, i));
  if (frame_size(*table) > vehicle::max_status_bytes)
    mistakes.add(where, fmt::format("a frame with all systems has {} bytes; at most {} are allowed",
                                    frame_size(*table), vehicle::max_status_bytes));
  if (std::ranges::find(table->systems, System::traction, &SystemLayout::system) == table->systems.end())
    mistakes.add(where,
                 fmt::format("the system traction, id {}, is missing", static_cast<int>(System::traction)));
  if (mistakes.list().size() != before) return nullptr;
  const auto made = Layouts::make(table->systems);
  if (!made) {
    mistakes.add(where, "the systems do not form a valid table");
    return nullptr;
  }
  table->layouts = *made;
  return {table, &*table->layouts};
}

}  // namespace takt::robot
