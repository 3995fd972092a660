// A component of the C API and what it owns: ports, parameters and services.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "boundary.hpp"
#include "callbacks.hpp"
#include "takt/component.h"
#include "takt/component/component.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/component/parameter.hpp"
#include "takt/component/service.hpp"
#include "takt/rt/logger.hpp"

struct takt_out_port {
  std::unique_ptr<takt::component::OpaqueOutPort> port;
};
struct takt_in_port {
  std::unique_ptr<takt::component::OpaqueInPort> port;
};
struct takt_parameter {
  std::unique_ptr<takt::component::Parameter<double>> number;
  std::unique_ptr<takt::component::Parameter<std::int64_t>> integer;
  std::unique_ptr<takt::component::Parameter<bool>> boolean;
  std::string unit, description;
};

/// The line of a log, by the count of its numbers.
struct takt_log_statement {
  takt_component* component;
  std::variant<takt::rt::LogStatement<>, takt::rt::LogStatement<double>,
               takt::rt::LogStatement<double, double>, takt::rt::LogStatement<double, double, double>,
               takt::rt::LogStatement<double, double, double, double>,
               takt::rt::LogStatement<double, double, double, double, double>>
      statement;
};

namespace takt::capi {

/// The text of an interface's name, which the service port refers to.
struct InterfaceName {
  std::string interface_text;
};

}  // namespace takt::capi

struct takt_provided_service final : private takt::capi::InterfaceName, takt::component::ProvidedServiceBase {
  takt_provided_service(takt::component::Component& of, const char* name, const char* interface_name,
                        void* table)
      : InterfaceName{interface_name}, ProvidedServiceBase(of, name, interface_text, table) {}
};
struct takt_required_service final : private takt::capi::InterfaceName, takt::component::RequiredServiceBase {
  takt_required_service(takt::component::Component& of, const char* name, const char* interface_name)
      : InterfaceName{interface_name}, RequiredServiceBase(of, name, interface_text) {}
  /// The provider's table; null: none.
  [[nodiscard]] void* table() const noexcept { return object_; }
};

namespace takt::capi {

/// Hands the explanation of a set-up error to the caller.
template <class T>
[[nodiscard]] Status told(const SetupResult<T>& result, char* text, std::size_t size) noexcept {
  return result ? Status() : refuse(result.error(), text, size);
}

[[nodiscard]] inline component::ComponentMetadata metadata_of(const takt_component_type& type) noexcept {
  return {to_text(type.type), to_text(type.version), to_text(type.vendor), to_text(type.category),
          to_text(type.description)};
}

/// The functions and metadata of a component of C, which its base needs.
struct TypeData {
  takt_component_type type;
  component::ComponentMetadata metadata;
};

}  // namespace takt::capi

struct takt_component final : private takt::capi::TypeData, takt::component::Component {
  takt_component(const takt_component_type& of, const char* name, void* its_user)
      : TypeData{of, takt::capi::metadata_of(of)}, Component(TypeData::metadata, name), user(its_user) {}
  ~takt_component() override {
    // First, because calls that are under way use what destroy() frees.
    provided.clear();
    required.clear();
    if (type.destroy != nullptr) type.destroy(user);
  }

  takt::SetupResult<void> on_initialize() override { return set_up_by(type.on_initialize, "on_initialize"); }
  takt::SetupResult<void> on_check() override { return set_up_by(type.on_check, "on_check"); }
  void on_finalize() noexcept override {
    if (type.on_finalize != nullptr) type.on_finalize(user);
  }
  takt::Status on_activate(const takt::component::CycleTime& cycle) noexcept override {
    return run(type.on_activate, cycle);
  }
  takt::Status on_execute(const takt::component::CycleTime& cycle) noexcept override {
    return run(type.on_execute, cycle);
  }
  takt::Status on_state_update(const takt::component::CycleTime& cycle) noexcept override {
    return run(type.on_state_update, cycle);
  }
  void on_deactivate(const takt::component::CycleTime& cycle) noexcept override {
    notify(type.on_deactivate, cycle);
  }
  void on_abort(const takt::component::CycleTime& cycle) noexcept override { notify(type.on_abort, cycle); }
  void on_error(const takt::component::CycleTime& cycle) noexcept override { notify(type.on_error, cycle); }
  takt::Status on_reset(const takt::component::CycleTime& cycle) noexcept override {
    return run(type.on_reset, cycle);
  }
  void on_parameters() noexcept override {
    if (type.on_parameters != nullptr) type.on_parameters(user);
  }
  [[nodiscard]] const takt_component_type& functions() const noexcept { return type; }
  using takt::component::Component::log;

  void* user;
  std::vector<std::unique_ptr<takt_out_port>> out_ports;
  std::vector<std::unique_ptr<takt_in_port>> in_ports;
  std::vector<std::unique_ptr<takt_parameter>> owned_parameters;
  std::vector<std::unique_ptr<takt_log_statement>> log_statements;
  std::vector<std::unique_ptr<takt_provided_service>> provided;
  std::vector<std::unique_ptr<takt_required_service>> required;

 private:
  takt::SetupResult<void> set_up_by(std::int32_t (*function)(void*), const char* what) {
    const std::int32_t status = function == nullptr ? TAKT_OK : function(user);
    if (status == TAKT_OK) return {};
    return takt::fail(takt::capi::to_error(status), name() + ": " + what + ": " + takt_status_text(status));
  }
  takt::Status run(std::int32_t (*function)(void*, const takt_cycle*),
                   const takt::component::CycleTime& time) noexcept {
    if (function == nullptr) return {};
    const takt_cycle cycle = takt::capi::to_cycle(time);
    return takt::capi::to_result(function(user, &cycle));
  }
  void notify(void (*function)(void*, const takt_cycle*), const takt::component::CycleTime& time) noexcept {
    if (function == nullptr) return;
    const takt_cycle cycle = takt::capi::to_cycle(time);
    function(user, &cycle);
  }
};
