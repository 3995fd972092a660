#include "takt/robot/interfaces.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/component/error.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/manager.hpp"
#include "takt/trajectory/domain.hpp"

namespace takt::robot {
namespace {

template <class Row>
[[nodiscard]] const Row* find_in(const std::vector<Row>& rows, std::string_view name) noexcept {
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? nullptr : &*found;
}

/// "owner/what", or a single name for a struct.
[[nodiscard]] bool is_interface_name(std::string_view name) noexcept {
  const std::size_t slash = name.find('/');
  const std::string_view what = slash == std::string_view::npos ? name : name.substr(slash + 1);
  return component::is_valid_name(name.substr(0, slash)) && component::is_valid_name(what);
}

template <class Row>
[[nodiscard]] SetupResult<void> add_to(std::vector<Row>& rows, Row row) {
  if (!is_interface_name(row.name)) {
    return fail(component::Errc::bad_name, "interface \"" + row.name + "\": a name is \"owner/what\", each " +
                                               std::string(component::describe(component::Errc::bad_name)));
  }
  if (find_in(rows, row.name) != nullptr)
    return fail(Errc::duplicate_name, "interface \"" + row.name + "\" exists already");
  rows.push_back(std::move(row));
  return {};
}

/// The names that a user may have meant: those with the same owner, or all owners.
template <class Row>
[[nodiscard]] std::string similar(std::span<const Row> rows, std::string_view name) {
  const std::string_view owner = name.substr(0, name.find('/'));
  std::string list;
  const auto add = [&](std::string_view text) {
    if (("," + list + ",").find(", " + std::string(text) + ",") != std::string::npos) return;
    list += (list.empty() ? " " : ", ") + std::string(text);
  };
  for (const Row& row : rows) {
    if (std::string_view(row.name).substr(0, row.name.find('/')) == owner) add(row.name);
  }
  if (!list.empty()) return "; it has" + list;
  for (const Row& row : rows) add(std::string_view(row.name).substr(0, row.name.find('/')));
  return list.empty() ? "; there are none" : "; owners are" + list;
}

}  // namespace

SetupResult<void> InterfaceTable::add(StateRow row) { return add_to(states_, std::move(row)); }
SetupResult<void> InterfaceTable::add(CommandRow row) { return add_to(commands_, std::move(row)); }
SetupResult<void> InterfaceTable::add(StructRow row) { return add_to(structs_, std::move(row)); }

SetupResult<void> InterfaceTable::add_struct(const StructRow& row) {
  const auto fields = shm::parse_schema(row.schema);
  if (!fields) return fail(fields.error(), "struct \"" + row.name + "\" has no schema");
  if (auto added = add(row); !added) return added;
  const auto* bytes = static_cast<const std::byte*>(row.value);
  for (const shm::Field& field : fields->all()) {
    if (field.type != Scalar::f64 || field.is_padding()) continue;
    // The field is a double of the struct: its schema says so.
    const auto* numbers = static_cast<const double*>(static_cast<const void*>(bytes + field.offset));
    for (std::uint32_t i = 0; i < field.count; ++i) {
      std::string path = row.name + "/" + std::string(field.name);
      if (field.is_array) path += "." + std::to_string(i);
      if (auto added = add(StateRow{std::move(path), {}, &numbers[i], row.owner}); !added) return added;
    }
  }
  return {};
}

void InterfaceTable::remove(const component::Component& owner) {
  const auto is_its = [&](const auto& row) { return row.owner == &owner; };
  std::erase_if(states_, is_its);
  std::erase_if(commands_, is_its);
  std::erase_if(structs_, is_its);
}

DeviceMemory InterfaceTable::memory_of(const component::Component& owner) const {
  DeviceMemory memory;
  const auto is_field = [&](const StateRow& row) {
    return std::ranges::any_of(structs_, [&](const StructRow& whole) {
      if (whole.owner != &owner) return false;
      const auto* begin = static_cast<const std::byte*>(whole.value);
      const auto* number = static_cast<const std::byte*>(static_cast<const void*>(row.value));
      return std::less_equal<>()(begin, number) &&
             std::less<>()(number, begin + shm::parse_schema(whole.schema).value_or(shm::Fields{}).bytes);
    });
  };
  for (const StructRow& row : structs_) {
    if (row.owner == &owner) memory.readings.push_back({row.name, {}, row.schema, row.value});
  }
  for (const StateRow& row : states_) {
    if (row.owner == &owner && !is_field(row)) memory.readings.push_back({row.name, row.unit, {}, row.value});
  }
  for (const CommandRow& row : commands_) {
    if (row.owner == &owner) memory.outputs.push_back({row.name, row.unit, row.safe, row.rate, row.value});
  }
  return memory;
}

const InterfaceTable::StateRow* InterfaceTable::find_state(std::string_view name) const noexcept {
  return find_in(states_, name);
}
const InterfaceTable::CommandRow* InterfaceTable::find_command(std::string_view name) const noexcept {
  return find_in(commands_, name);
}
const InterfaceTable::StructRow* InterfaceTable::find_struct(std::string_view name) const noexcept {
  return find_in(structs_, name);
}

// ---- declarations of a device ----

SetupResult<void> Device::on_initialize() {
  if (declarations_ == nullptr)
    return fail(component::Errc::wrong_state, name() + " is a device: add it to a manager");
  return on_declare(*declarations_);
}

SetupResult<void> Declarations::state(std::string name, std::string unit, const double& value) {
  return table_->add(InterfaceTable::StateRow{std::move(name), std::move(unit), &value, device_});
}

SetupResult<void> Declarations::sensor(const std::string& name, std::string_view schema, const void* value) {
  return table_->add_struct({name, schema, value, device_});
}

SetupResult<void> Declarations::command(std::string name, std::string unit, double& value, bool& driven,
                                        SafeValue safe, double rate) {
  return table_->add(InterfaceTable::CommandRow{.name = std::move(name),
                                                .unit = std::move(unit),
                                                .value = &value,
                                                .driven = &driven,
                                                .owner = device_,
                                                .safe = safe,
                                                .rate = rate});
}

SetupResult<void> Declarations::moving(const double& value) {
  moving_ = &value;
  return state(device_->name() + std::string(moving_state), {}, value);
}

// ---- needs of a controller ----

SetupResult<void> Controller::on_initialize() {
  if (resources_ == nullptr)
    return fail(component::Errc::wrong_state, name() + " is a controller: load it into a manager");
  return on_configure(*resources_);
}

const RobotDescription& Resources::robot() const noexcept { return manager_->robot_; }
const Supervisor& Resources::supervisor() const noexcept { return manager_->supervisor_; }

SetupResult<StateHandle> Resources::state(std::string_view name) {
  const InterfaceTable& table = manager_->table_;
  const auto* row = table.find_state(name);
  if (row == nullptr) {
    return fail(Errc::no_such_interface, controller_->name() + ": no state \"" + std::string(name) + "\"" +
                                             similar(table.states(), name));
  }
  needs_->states.emplace_back(name);
  if (row->owner != nullptr && row->owner != controller_) needs_->reads_from.push_back(row->owner);
  return StateHandle(row->value);
}

SetupResult<const void*> Resources::find_struct(std::string_view name, std::string_view schema) {
  const auto* row = manager_->table_.find_struct(name);
  if (row == nullptr) {
    return fail(Errc::no_such_interface,
                controller_->name() + ": no struct \"" + std::string(name) + "\" is declared by a device");
  }
  if (row->schema != schema) {
    return fail(component::Errc::wrong_type, controller_->name() + ": \"" + row->name + "\" is {" +
                                                 std::string(row->schema) + "}, not {" + std::string(schema) +
                                                 "}");
  }
  needs_->states.emplace_back(name);
  needs_->reads_from.push_back(row->owner);
  return row->value;
}

SetupResult<ReadingMemory> Resources::reading(std::string_view name) {
  const InterfaceTable& table = manager_->table_;
  if (const auto* row = table.find_struct(name)) {
    needs_->states.emplace_back(name);
    needs_->reads_from.push_back(row->owner);
    return ReadingMemory{row->name, {}, row->schema, row->value};
  }
  if (const auto* row = table.find_command(name);
      row != nullptr && row->joint == InterfaceTable::no_joint && table.find_state(name) == nullptr) {
    needs_->states.emplace_back(name);
    needs_->reads_from.push_back(row->owner);
    return ReadingMemory{row->name, row->unit, {}, row->value};
  }
  if (const auto found = state(name); !found) return tl::unexpected<SetupError>(found.error());
  const auto* row = table.find_state(name);
  return ReadingMemory{row->name, row->unit, {}, row->value};
}

SetupResult<const Joint*> Resources::joint(std::string_view name) {
  const auto index = manager_->robot_.find_joint(name);
  if (!index) {
    std::string list;
    for (const JointDescription& joint : manager_->robot_.joints)
      list += (list.empty() ? "" : ", ") + joint.name;
    return fail(Errc::no_such_joint,
                controller_->name() + ": no joint \"" + std::string(name) + "\"; joints are " + list);
  }
  needs_->states.emplace_back(name);
  return &manager_->views_[*index];
}

/// The controller's claim of a joint, with one part more.
Joint& Resources::claim_part(std::size_t joint, std::uint8_t part, ClaimKind kind) {
  auto& claims = controller_->joints_;
  const auto found = std::ranges::find(claims, joint, &Joint::index);
  Joint& claim = found != claims.end()
                     ? *found
                     : claims.emplace_back(manager_->joints_[joint], *controller_, controller_->refused_);
  claim.parts_ = static_cast<std::uint8_t>(claim.parts_ | part);
  if (kind == ClaimKind::exclusive) claim.kind_ = kind;
  return claim;
}

SetupResult<Joint*> Resources::claim_joint(std::string_view name, CommandMode mode, ClaimKind kind) {
  const auto found = joint(name);
  if (!found) return tl::unexpected<SetupError>(found.error());
  return &claim_part((*found)->index(), Joint::part_of(mode), kind);
}

SetupResult<CommandHandle> Resources::claim(std::string_view name) {
  const InterfaceTable& table = manager_->table_;
  const auto* row = table.find_command(name);
  if (row == nullptr) {
    return fail(Errc::no_such_interface, controller_->name() + ": no command \"" + std::string(name) + "\"" +
                                             similar(table.commands(), name));
  }
  if (row->joint != InterfaceTable::no_joint) {
    Joint& claim = claim_part(row->joint, row->part, ClaimKind::exclusive);
    return CommandHandle(row->value, row->driven, claim.gate_, trajectory::max_magnitude);
  }
  needs_->commands.emplace_back(name);
  needs_->commands_into.push_back(row->owner);
  return CommandHandle(row->value, row->driven, controller_->gate_);
}

SetupResult<InputHandle> Resources::input(std::string_view name, std::string unit, double initial,
                                          SafeValue safe) {
  Controller::InputCell& cell = controller_->inputs_.emplace_back();
  cell.value = initial;
  if (auto added = manager_->table_.add(
          InterfaceTable::CommandRow{.name = controller_->name() + "/" + std::string(name),
                                     .unit = std::move(unit),
                                     .value = &cell.value,
                                     .driven = &cell.driven,
                                     .owner = controller_,
                                     .safe = safe});
      !added)
    return tl::unexpected<SetupError>(std::move(added.error()));
  return InputHandle(&cell.value, &cell.driven);
}

SetupResult<void> Resources::output(std::string_view name, std::string unit, const double& value) {
  return manager_->table_.add(InterfaceTable::StateRow{controller_->name() + "/" + std::string(name),
                                                       std::move(unit), &value, controller_});
}

SetupResult<void> Resources::add_struct(std::string_view name, std::string_view schema, const void* value) {
  return manager_->table_.add_struct(
      {controller_->name() + "." + std::string(name), schema, value, controller_});
}

}  // namespace takt::robot
