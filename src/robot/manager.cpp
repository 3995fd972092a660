// The set-up side of the manager: devices, controllers, and what people ask about them.
#include "takt/robot/manager.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "robot/manager_parts.hpp"
#include "takt/component/error.hpp"
#include "takt/component/port.hpp"

namespace takt::robot {
namespace {

/// Lends a component the object with which it initializes itself.
template <class T>
class Lent {
 public:
  Lent(T*& place, T& object) noexcept : place_(&place) { place = &object; }
  ~Lent() { *place_ = nullptr; }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  T** place_;
};

}  // namespace

std::string_view to_string(ControllerState state) noexcept {
  constexpr std::array<std::string_view, 4> names = {"inactive", "active", "suspended", "failed"};
  const auto index = static_cast<std::size_t>(state);
  return index < names.size() ? names[index] : std::string_view();
}

std::string_view to_string(ManagerEvent::Kind kind) noexcept {
  constexpr std::array<std::string_view, 6> names = {"controller_failed", "controller_ended",
                                                     "fallback_started",  "device_lost",
                                                     "device_returned",   "activation_failed"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : std::string_view();
}

Manager::Manager(const RobotDescription& robot, ManagerOptions options)
    : robot_(robot),
      options_(std::move(options)),
      period_(to_seconds(robot.period)),
      device_context_({.name = "devices", .period = robot.period}),
      controllers_(
          {.name = "controllers", .period = robot.period, .max_components = options_.max_controllers}),
      supervisor_(robot),
      feedback_(robot.joints.size()),
      commands_(robot.joints.size()),
      references_(robot.joints.size()),
      mimics_(JointCoupling::create(robot).value_or(JointCoupling(robot.joints.size()))),
      by_number_(options_.max_controllers) {
  chain_.reserve(options_.max_controllers);
  for (std::size_t i = 0; i < event_log_.kinds.size(); ++i)
    event_log_.kinds[i] = rt::intern(to_string(static_cast<ManagerEvent::Kind>(i)));
  joints_.reserve(robot.joints.size());
  views_.reserve(robot.joints.size());
  starting_.reserve(options_.max_controllers);
  changes_.reserve(robot.joints.size());
  its_changes_.reserve(robot.joints.size());
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    const JointDescription& joint = robot.joints[i];
    JointRecord& made = joints_.emplace_back(joint.name, i, joint.limits, feedback_[i]);
    views_.emplace_back(made);
    const std::string position = joint.kind == JointKind::linear ? "m" : "rad";
    const std::string effort = joint.kind == JointKind::linear ? "N" : "N m";
    const auto add_state = [&](const char* what, std::string unit, const double& value) {
      (void)table_.add(
          InterfaceTable::StateRow{joint.name + "/" + what, std::move(unit), &value, nullptr, i});
    };
    add_state("position", position, feedback_[i].position);
    add_state("velocity", position + "/s", feedback_[i].velocity);
    add_state("effort", effort, feedback_[i].effort);
    const auto add_command = [&](const char* what, std::string unit, double& value, std::uint8_t part) {
      (void)table_.add(InterfaceTable::CommandRow{.name = joint.name + "/" + what,
                                                  .unit = std::move(unit),
                                                  .value = &value,
                                                  .driven = &made.driven,
                                                  .joint = i,
                                                  .part = part});
    };
    JointRecord::Wanted& wanted = made.wanted;
    add_command("position", position, wanted.motion.position, Joint::part_of(CommandMode::position));
    add_command("velocity", position + "/s", wanted.motion.velocity, Joint::part_of(CommandMode::velocity));
    add_command("effort", effort, wanted.effort, Joint::part_of(CommandMode::effort));
    add_command("acceleration", position + "/s^2", wanted.motion.acceleration, Joint::acceleration_part);
  }
  if (robot.mimics.empty()) return;
  for (auto& numbers : coupled_) numbers.resize(robot.joints.size());
  for (auto& numbers : followers_) numbers.resize(robot.mimics.size());
  for (std::size_t i = 0; i < robot.mimics.size(); ++i) {
    const std::string unit = robot.mimics[i].kind == JointKind::linear ? "m" : "rad";
    const std::string& name = robot.mimics[i].name;
    (void)table_.add(InterfaceTable::StateRow{name + "/position", unit, &followers_[0][i]});
    (void)table_.add(InterfaceTable::StateRow{name + "/velocity", unit + "/s", &followers_[1][i]});
  }
}

Manager::~Manager() = default;

// ---- commands that are no joint's ----

/// The commands with those of a new owner. Free cells are used again, and the indices of others stay. The
/// cycle writes the owners, so they are copied in adopt().
std::shared_ptr<std::vector<Manager::CommandCell>> Manager::cells_with(
    const component::Component& owner) const {
  auto cells = std::make_shared<std::vector<CommandCell>>();
  for (const CommandCell& cell : cells_)
    cells->push_back({cell.value, cell.driven, cell.safe, cell.rate, cell.of});
  for (const auto& row : table_.commands()) {
    if (row.owner != &owner) continue;
    auto free = std::ranges::find(*cells, nullptr, &CommandCell::value);
    if (free == cells->end()) free = cells->insert(free, CommandCell{});
    *free = {row.value, row.driven, row.safe, row.rate, row.owner};
  }
  return cells;
}

/// At a boundary: takes the new cells.
void Manager::adopt(std::vector<CommandCell>& cells) noexcept {
  for (std::size_t i = 0; i < cells_.size(); ++i) cells[i].owner = cells_[i].owner;
  cells_.swap(cells);
}

// ---- devices ----

SetupResult<void> Manager::add(Device& device, const DeviceConfig& config) {
  const std::lock_guard lock(mutex_);
  for (const DeviceRow& row : devices_) {
    if (row.device->name() == device.name())
      return fail(Errc::duplicate_name, "device \"" + device.name() + "\" exists already");
  }
  Declarations declarations(table_, device, feedback_, commands_);
  {
    const Lent lent(device.declarations_, declarations);
    auto added = device_context_.add(device, config.placement);
    if (!added) {
      table_.remove(device);
      return added;
    }
  }
  // The cycle reads both lists: it takes the longer ones at a boundary.
  auto devices = std::make_shared<std::vector<DeviceRow>>(devices_.size() + 1);
  const auto retry =
      config.retry > Duration(0) ? std::max<Duration::rep>(config.retry / robot_.period, 1) : 0;
  devices->back() = {.device = &device,
                     .drives = dynamic_cast<DriveDevice*>(&device),
                     .moving = declarations.moving_,
                     .retry = static_cast<std::uint64_t>(retry)};
  const Status adopted = controllers_.call([this, devices, cells = cells_with(device)]() noexcept -> Status {
    std::ranges::copy(devices_, devices->begin());
    devices_.swap(*devices);
    adopt(*cells);
    return {};
  });
  if (!adopted) return fail(adopted.error(), "device \"" + device.name() + "\" cannot join the manager");
  if (const Status active = device_context_.activate(device); !active)
    return fail(active.error(), "device \"" + device.name() + "\" cannot be activated");
  return {};
}

DeviceMemory Manager::memory_of(const Device& device) {
  const std::lock_guard lock(mutex_);
  return table_.memory_of(device);
}

SetupResult<void> Manager::reset_device(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto row = std::ranges::find(devices_, name, [](const DeviceRow& r) { return r.device->name(); });
  if (row == devices_.end())
    return fail(Errc::no_such_device, "no device \"" + std::string(name) + "\" was added");
  Status status;
  if (row->device->state() == component::ComponentState::error) status = device_context_.reset(*row->device);
  if (status) status = device_context_.activate(*row->device);
  if (!status) return fail(status.error(), std::string(name) + " cannot be led back to active");
  return {};
}

HardwareCounters Manager::counters() const noexcept {
  HardwareCounters sum;
  for (const DeviceRow& row : devices_) {
    if (row.drives != nullptr) sum += row.drives->hardware().counters();
  }
  return sum;
}

// ---- controllers ----

Manager::Entry* Manager::find_entry(std::string_view name) const noexcept {
  for (const auto& entry : entries_) {
    if (entry->controller->name() == name) return entry.get();
  }
  return nullptr;
}

Manager::Entry* Manager::find_entry(const component::Component& component) const noexcept {
  for (const auto& entry : entries_) {
    if (entry->controller.get() == &component) return entry.get();
  }
  return nullptr;
}

SetupResult<void> Manager::load(std::shared_ptr<Controller> controller, ControllerConfig config) {
  const std::lock_guard lock(mutex_);
  const std::string& name = controller->name();
  const auto is_joint_or_device = [&] {
    return robot_.find_joint(name).has_value() ||
           std::ranges::any_of(devices_, [&](const DeviceRow& row) { return row.device->name() == name; });
  };
  if (find_entry(name) != nullptr || is_joint_or_device())
    return fail(Errc::duplicate_name, "\"" + name + "\" is a controller, a device or a joint already");
  auto entry = std::make_unique<Entry>();
  entry->controller = std::move(controller);
  entry->config = std::move(config);
  if (auto found = find_fallbacks(*entry); !found) return found;
  if (auto done = initialize(*entry); !done) return done;
  link(*entry);
  for (Entry* follower : entry->followers) follower->leaders.push_back(entry.get());
  entries_.push_back(std::move(entry));
  auto entered = enter(*entries_.back());
  if (!entered) forget(*entries_.back());
  return entered;
}

/// Initializes the controller, which gets its interfaces with that.
SetupResult<void> Manager::initialize(Entry& entry) {
  Resources resources(*this, *entry.controller, entry.needs, robot_.period * entry.config.divisor);
  const Lent lent(entry.controller->resources_, resources);
  auto done = entry.controller->initialize();
  if (!done) table_.remove(*entry.controller);
  return done;
}

SetupResult<void> Manager::find_fallbacks(Entry& entry) const {
  for (const std::string& name : entry.config.fallbacks) {
    Entry* fallback = find_entry(name);
    if (fallback == nullptr) {
      return fail(Errc::no_such_controller,
                  entry.controller->name() + ": its fallback \"" + name + "\" is not loaded");
    }
    entry.fallbacks.push_back(fallback);
  }
  return {};
}

/// Resolves the needs of a new entry into indices and pointers.
void Manager::link(Entry& entry) {
  for (const std::string& name : entry.needs.commands) {
    const auto* row = table_.find_command(name);
    const auto cell = std::ranges::find(cells_, row->value, &CommandCell::value);
    entry.cells.push_back(static_cast<std::size_t>(cell - cells_.begin()));
  }
  const auto add_use = [&](const component::Component* component) {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].device == component && std::ranges::find(entry.devices, i) == entry.devices.end())
        entry.devices.push_back(i);
    }
  };
  for (const auto* component : entry.needs.reads_from) add_use(component);
  for (const auto* component : entry.needs.commands_into) {
    add_use(component);
    Entry* follower = find_entry(*component);
    if (follower != nullptr && std::ranges::find(entry.followers, follower) == entry.followers.end())
      entry.followers.push_back(follower);
  }
  for (const Joint& claim : entry.controller->joints_) {
    for (const DeviceRow& row : devices_) {
      if (row.device->drives(claim.index())) add_use(row.device);
    }
  }
}

/// Lets the cycle know the entry, the order of all, and the commands that its inputs are, at one boundary.
SetupResult<void> Manager::enter(Entry& entry) {
  const ControllerConfig& config = entry.config;
  const component::Placement placement{.divisor = config.divisor,
                                       .phase = config.phase,
                                       .budget = config.budget,
                                       .over_budget = config.over_budget};
  const auto free = std::ranges::find(by_number_, nullptr);
  entry.number = static_cast<std::uint16_t>(free - by_number_.begin());
  for (Joint& claim : entry.controller->joints_) claim.number_ = entry.number;
  const auto cells = cells_with(*entry.controller);
  const auto order = std::make_shared<std::vector<Entry*>>(in_chain_order());
  const auto components = std::make_shared<std::vector<const component::Component*>>();
  for (const Entry* each : *order) components->push_back(each->controller.get());
  // The cycle gets the neighbours of all followers as new lists, because it cannot allocate.
  const auto neighbours = std::make_shared<std::vector<std::vector<Entry*>>>();
  for (const Entry* follower : entry.followers) {
    neighbours->push_back(follower->neighbours);
    neighbours->back().push_back(&entry);
  }
  entry.neighbours = entry.followers;
  const Status status =
      controllers_.call([this, &entry, placement, cells, order, components, neighbours]() noexcept -> Status {
        const Status added = controllers_.add_now(*entry.controller, placement);
        if (!added) return added;
        controllers_.reorder(*components);
        adopt(*cells);
        running_.swap(*order);
        number_running();
        for (std::size_t i = 0; i < neighbours->size(); ++i)
          entry.followers[i]->neighbours.swap((*neighbours)[i]);
        by_number_[entry.number] = &entry;
        return {};
      });
  if (status) return {};
  return fail(status.error(), entry.controller->name() + " cannot join the manager: " +
                                  std::string(describe(component::Errc{status.error().code})));
}

/// At a boundary: tells the entries where they are in the cycle's list.
void Manager::number_running() noexcept {
  for (std::size_t i = 0; i < running_.size(); ++i) running_[i]->place = i;
}

/// Removes what a loaded entry, which the cycle does not know, left in the lists.
void Manager::forget(const Entry& entry) {
  table_.remove(*entry.controller);
  for (Entry* follower : entry.followers) std::erase(follower->leaders, &entry);
  std::erase_if(entries_, [&](const auto& each) { return each.get() == &entry; });
}

/// All entries, leaders before their followers. Of several, the one that was loaded first. A controller can
/// only command inputs that exist, so there is no circle.
std::vector<Manager::Entry*> Manager::in_chain_order() const {
  std::vector<Entry*> order;
  const auto is_placed = [&](const Entry* e) { return std::ranges::find(order, e) != order.end(); };
  while (order.size() < entries_.size()) {
    for (const auto& entry : entries_) {
      if (is_placed(entry.get()) || !std::ranges::all_of(entry->leaders, is_placed)) continue;
      order.push_back(entry.get());
      break;
    }
  }
  return order;
}

/// Whether another controller commands its inputs, reads its outputs, or has it as fallback.
bool Manager::is_used(const Entry& entry) const noexcept {
  return std::ranges::any_of(entries_, [&](const auto& other) {
    const auto& reads = other->needs.reads_from;
    return std::ranges::find(other->followers, &entry) != other->followers.end() ||
           std::ranges::find(other->fallbacks, &entry) != other->fallbacks.end() ||
           std::ranges::find(reads, entry.controller.get()) != reads.end();
  });
}

SetupResult<std::shared_ptr<Controller>> Manager::unload(std::string_view name) {
  const std::lock_guard lock(mutex_);
  Entry* entry = find_entry(name);
  if (entry == nullptr)
    return fail(Errc::no_such_controller, "no controller \"" + std::string(name) + "\" is loaded");
  if (is_used(*entry))
    return fail(Errc::in_use, std::string(name) + " is used by another controller; unload that first");
  std::shared_ptr<Controller> controller = entry->controller;
  const Status status = controllers_.call([this, entry]() noexcept -> Status {
    if (entry->wanted || is_active(*entry) || pending_ != nullptr) return fail(Errc::wrong_state);
    if (const Status removed = controllers_.remove_now(*entry->controller); !removed) return removed;
    for (CommandCell& cell : cells_) {
      if (cell.of == entry->controller.get()) cell = {};
    }
    std::erase(running_, entry);
    number_running();
    for (Entry* follower : entry->followers) std::erase(follower->neighbours, entry);
    by_number_[entry->number] = nullptr;
    return {};
  });
  if (!status) return fail(status.error(), std::string(name) + " is active or to be; stop it first");
  for (component::Port* const port : controller->ports()) {
    if (auto* const in = dynamic_cast<component::InPortBase*>(port)) in->remove_taps();
  }
  forget(*entry);
  return controller;
}

SetupResult<void> Manager::reset_controller(std::string_view name) {
  const std::lock_guard lock(mutex_);
  Entry* entry = find_entry(name);
  if (entry == nullptr)
    return fail(Errc::no_such_controller, "no controller \"" + std::string(name) + "\" is loaded");
  if (const Status status = controllers_.reset(*entry->controller); !status)
    return fail(status.error(), std::string(name) + " cannot be reset");
  return {};
}

Controller* Manager::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  Entry* entry = find_entry(name);
  return entry == nullptr ? nullptr : entry->controller.get();
}

// ---- what people ask ----

std::vector<ControllerStatus> Manager::controllers() {
  const std::lock_guard lock(mutex_);
  const auto rows = controllers_.participants();
  std::vector<ControllerStatus> list;
  if (!rows) return list;
  for (const Entry* entry : in_chain_order()) list.push_back(status_of(*entry, *rows));
  return list;
}

ControllerStatus Manager::status_of(const Entry& entry, std::span<const component::Participant> rows) const {
  ControllerStatus status;
  status.name = entry.controller->name();
  status.type = entry.controller->metadata().type;
  status.config = entry.config;
  status.reads = entry.needs.states;
  for (const Joint& claim : entry.controller->joints_)
    status.claims.push_back(claim.name() + " (" + std::string(to_string(Joint::mode_of(claim.parts_))) + ")");
  status.claims.insert(status.claims.end(), entry.needs.commands.begin(), entry.needs.commands.end());
  const auto row = std::ranges::find(rows, entry.controller.get(), &component::Participant::component);
  if (row == rows.end()) return status;
  status.error = row->error;
  status.executions = row->executions;
  status.over_budget = row->over_budget;
  status.longest = row->longest;
  if (row->state == component::ComponentState::active) status.state = ControllerState::active;
  if (row->state == component::ComponentState::error) status.state = ControllerState::failed;
  if (row->state == component::ComponentState::inactive && entry.wanted)
    status.state = ControllerState::suspended;
  return status;
}

std::vector<InterfaceInfo> Manager::interfaces() {
  const std::lock_guard lock(mutex_);
  std::vector<InterfaceInfo> list;
  const auto owner_name = [&](const component::Component* owner) {
    return owner == nullptr ? std::string() : owner->name();
  };
  /// What the cycle copies: plain words, whose addresses are known before.
  struct Reading {
    const double* from = nullptr;
    const std::uint16_t* owned_by = nullptr;
    double value = 0;
    std::uint16_t owner = nobody;
  };
  const auto readings = std::make_shared<std::vector<Reading>>();
  std::unordered_map<const double*, const std::uint16_t*> cell_owners;
  for (const CommandCell& cell : cells_) cell_owners.emplace(cell.value, &cell.owner);
  for (const auto& row : table_.states()) {
    list.push_back({row.name, row.unit, owner_name(row.owner), false, SafeValue::hold, 0, {}});
    readings->push_back({row.value});
  }
  for (const auto& row : table_.commands()) {
    list.push_back({row.name, row.unit, owner_name(row.owner), true, row.safe, 0, {}});
    readings->push_back({row.value, row.joint != InterfaceTable::no_joint ? &joints_[row.joint].owner
                                                                          : cell_owners[row.value]});
  }
  // Boundaries read the values, so that those of one boundary are of one cycle. The mutex keeps the table,
  // the joints and the cells where they are.
  for (std::size_t begin = 0; begin < list.size(); begin += interfaces_per_cycle) {
    const Status read = controllers_.call([readings, begin]() noexcept -> Status {
      const std::size_t end = std::min(begin + interfaces_per_cycle, readings->size());
      for (std::size_t i = begin; i < end; ++i) {
        Reading& reading = (*readings)[i];
        reading.value = *reading.from;
        if (reading.owned_by != nullptr) reading.owner = *reading.owned_by;
      }
      return {};
    });
    if (!read) return {};
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Reading& reading = (*readings)[i];
    list[i].value = reading.value;
    if (reading.owner != nobody && by_number_[reading.owner] != nullptr)
      list[i].claimed_by = by_number_[reading.owner]->controller->name();
  }
  return list;
}

std::optional<ManagerEvent> Manager::next_event() {
  ManagerEvent event;
  if (!events_.try_pop(event)) return std::nullopt;
  return event;
}

Status Manager::request_stop(StopCategory category, FaultReason reason) {
  return controllers_.call([this, category, reason]() noexcept -> Status {
    stop_robot({reason, 0, 0, 0}, category);
    return {};
  });
}

}  // namespace takt::robot
