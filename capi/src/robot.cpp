// Controllers of the C API: commands to those of a robot, and controllers whose functions are C.
#include "takt/robot.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "callbacks.hpp"
#include "robot_handle.hpp"
#include "takt/component/component.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/controller_config.hpp"
#include "takt/robot/interfaces.hpp"

namespace component = takt::component;
namespace robot = takt::robot;
using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;

struct takt_state {
  robot::StateHandle state;
};
struct takt_command {
  robot::CommandHandle command;
};

namespace {

/// The functions and metadata of a controller of C, which its base needs.
struct ControllerData {
  takt_controller_type type;
  component::ComponentMetadata metadata;
};

component::ComponentMetadata metadata_of(const takt_controller_type& type) noexcept {
  using takt::capi::to_text;
  return {to_text(type.type), to_text(type.version), to_text(type.vendor), "controller",
          to_text(type.description)};
}

/// A controller whose functions are C.
class ControllerOfC final : private ControllerData, public robot::Controller {
 public:
  ControllerOfC(const takt_controller_type& of, const char* name, void* user)
      : ControllerData{of, metadata_of(of)}, Controller(ControllerData::metadata, name), user_(user) {}

  takt::SetupResult<void> on_configure(robot::Resources& resources) override;
  [[nodiscard]] bool works_in_stop() const noexcept override { return type.works_in_stop != 0; }
  Status on_activate(const component::CycleTime& time) noexcept override { return run(type.activate, time); }
  Status on_execute(const component::CycleTime& time) noexcept override { return run(type.execute, time); }
  void on_deactivate(const component::CycleTime& time) noexcept override {
    if (type.deactivate == nullptr) return;
    const takt_cycle cycle = takt::capi::to_cycle(time);
    type.deactivate(user_, &cycle);
  }

  std::vector<std::unique_ptr<takt_state>> states;
  std::vector<std::unique_ptr<takt_command>> commands;

 private:
  Status run(std::int32_t (*function)(void*, const takt_cycle*), const component::CycleTime& time) noexcept {
    if (function == nullptr) return {};
    const takt_cycle cycle = takt::capi::to_cycle(time);
    return takt::capi::to_result(function(user_, &cycle));
  }

  void* user_;
};

}  // namespace

struct takt_resources {
  robot::Resources* resources;
  ControllerOfC* controller;
  std::string why;  ///< the explanation of the last error
};

namespace {

takt::SetupResult<void> ControllerOfC::on_configure(robot::Resources& resources) {
  takt_resources lent{&resources, this, {}};
  const std::int32_t status = type.configure(user_, &lent);
  if (status == TAKT_OK) return {};
  return fail(takt::capi::to_error(status),
              name() + ": " + (lent.why.empty() ? takt_status_text(status) : lent.why));
}

/// Gets one interface, and keeps its handle with the controller.
template <class Handle, class Get>
std::int32_t get_interface(takt_resources* resources, const char* name,
                           std::vector<std::unique_ptr<Handle>> ControllerOfC::*list, Handle** handle,
                           Get get) noexcept {
  return guarded([&]() -> Status {
    if (resources == nullptr || name == nullptr || handle == nullptr) return fail(Errc::null_pointer);
    auto found = get(*resources->resources, name);
    if (!found) {
      resources->why = std::move(found.error().message);
      return fail(found.error().error);
    }
    auto& handles = resources->controller->*list;
    handles.push_back(std::make_unique<Handle>(Handle{*found}));
    *handle = handles.back().get();
    return {};
  });
}

Result<takt_controller_type> read_type(const takt_controller_type* type) noexcept {
  auto read = takt::capi::read_struct(type);
  if (!read) return read;
  if (read->configure == nullptr) return fail(Errc::null_pointer);
  if (read->works_in_stop != 0 && read->works_in_stop != 1) return fail(Errc::bad_argument);
  if (!component::is_valid_name(takt::capi::to_text(read->type))) return fail(component::Errc::bad_name);
  return read;
}

Result<robot::ControllerConfig> config_of(const takt_placement* placement) {
  robot::ControllerConfig config;
  if (placement == nullptr) return config;
  if (placement->over_budget < 0 || placement->over_budget > 2 || placement->budget_ns < 0)
    return fail(Errc::bad_argument);
  if (placement->divisor != 0) config.divisor = placement->divisor;
  config.phase = placement->phase;
  config.budget = takt::capi::to_duration(placement->budget_ns);
  config.over_budget = static_cast<component::BudgetAction>(placement->over_budget);
  return config;
}

}  // namespace

void takt_controller_type_init(takt_controller_type* type, std::size_t size) {
  takt::capi::init_struct(type, size);
}

std::int32_t takt_resources_state(takt_resources* resources, const char* name, takt_state** state) {
  return get_interface(resources, name, &ControllerOfC::states, state,
                       [](robot::Resources& from, const char* of) { return from.state(of); });
}

std::int32_t takt_resources_command(takt_resources* resources, const char* name, takt_command** command) {
  return get_interface(resources, name, &ControllerOfC::commands, command,
                       [](robot::Resources& from, const char* of) { return from.claim(of); });
}

double takt_state_get(const takt_state* state) {
  return state == nullptr ? std::numeric_limits<double>::quiet_NaN() : state->state.get();
}

void takt_command_set(takt_command* command, double value) {
  if (command != nullptr) command->command.set(value);
}

void takt_command_release(takt_command* command) {
  if (command != nullptr) command->command.release();
}

std::int32_t takt_robot_load_controller(takt_robot* handle, const takt_controller_type* type,
                                        const char* name, void* user, const takt_placement* placement,
                                        char* text, std::size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (handle == nullptr || name == nullptr) return fail(Errc::null_pointer);
    const auto read = read_type(type);
    if (!read) return fail(read.error());
    auto config = config_of(placement);
    if (!config) return fail(config.error());
    auto controller = std::make_shared<ControllerOfC>(*read, name, user);
    auto loaded = takt::capi::robot_of(*handle).manager().load(std::move(controller), *std::move(config));
    return loaded ? Status() : takt::capi::refuse(loaded.error(), text, size);
  });
}

std::int32_t takt_robot_command(takt_robot* handle, const char* request, char* answer, std::size_t size,
                                std::size_t* length) {
  if (length != nullptr) *length = 0;
  return guarded(answer, size, [&]() -> Status {
    if (handle == nullptr || request == nullptr || (answer == nullptr && size != 0))
      return fail(Errc::null_pointer);
    auto& commands = takt::capi::robot_of(*handle).controllers();
    const auto said = *request == '{' ? commands.request(request) : commands.command(request);
    if (!said) return takt::capi::refuse(said.error(), answer, size);
    return takt::capi::write_whole(*said, answer, size, length);
  });
}

std::int32_t takt_robot_request_stop(takt_robot* handle, std::int32_t category) {
  return guarded([&]() -> Status {
    if (handle == nullptr) return fail(Errc::null_pointer);
    if (category < 0 || category > 2) return fail(Errc::bad_argument);
    return takt::capi::robot_of(*handle).manager().request_stop(static_cast<takt::StopCategory>(category));
  });
}
