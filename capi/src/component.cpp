// Components, ports, parameters and contexts of the C API, by the room component/.
#include "takt/component.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "callbacks.hpp"
#include "component.hpp"
#include "context.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/context_thread.hpp"
#include "takt/component/drivers.hpp"
#include "takt/component/opaque_port.hpp"
#include "takt/component/parameters_json.hpp"
#include "takt/component/plugin.hpp"
#include "takt/platform/hybrid_clock.hpp"

namespace component = takt::component;
using takt::Error;
using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::metadata_of;
using takt::capi::to_duration;
using takt::capi::to_result;
using takt::capi::to_status;
using takt::capi::to_time;
using takt::capi::told;
using takt::capi::write_text;

struct takt_connection {
  component::Connection connection;
};

namespace {

[[nodiscard]] Result<takt_component_type> read_type(const takt_component_type* type) noexcept {
  auto read = takt::capi::read_struct(type);
  if (read && read->reserved != 0) return fail(Errc::bad_argument);
  if (read && (read->type == nullptr || !component::is_valid_name(read->type)))
    return fail(component::Errc::bad_name);
  return read;
}

}  // namespace

namespace {

/// Makes a component; `create` of the type adds its ports.
[[nodiscard]] Result<std::unique_ptr<takt_component>> make(const takt_component_type& type, const char* name,
                                                           void* user) {
  if (name == nullptr) return fail(Errc::null_pointer);
  if (!component::is_valid_name(name)) return fail(component::Errc::bad_name);
  auto made = std::make_unique<takt_component>(type, name, user);
  if (type.create != nullptr) {
    void* created = user;
    if (const Status status = to_result(type.create(made.get(), &created)); !status) {
      made->user = created;
      return fail(status.error());
    }
    made->user = created;
  }
  return Result<std::unique_ptr<takt_component>>(std::move(made));
}

template <class Port, class Handle>
[[nodiscard]] Status add_port(takt_component* owner,
                              std::vector<std::unique_ptr<Handle>> takt_component::*list, const char* name,
                              const char* schema, Handle** handle) {
  if (owner == nullptr || name == nullptr || schema == nullptr || handle == nullptr)
    return fail(Errc::null_pointer);
  if (owner->state() != component::ComponentState::created) return fail(component::Errc::wrong_state);
  auto made = Port::create(*owner, name, schema);
  if (!made) return fail(made.error().error);
  (owner->*list).push_back(std::unique_ptr<Handle>(new Handle{std::move(*made)}));
  *handle = (owner->*list).back().get();
  return {};
}

template <class Add>
[[nodiscard]] Status add_parameter(takt_component* owner, const char* name, const char* unit,
                                   const char* description, takt_parameter** handle, Add add) {
  if (owner == nullptr || name == nullptr || handle == nullptr) return fail(Errc::null_pointer);
  if (owner->state() != component::ComponentState::created) return fail(component::Errc::wrong_state);
  auto made = std::make_unique<takt_parameter>();
  made->unit = unit != nullptr ? unit : "";
  made->description = description != nullptr ? description : "";
  add(*made);
  owner->owned_parameters.push_back(std::move(made));
  *handle = owner->owned_parameters.back().get();
  return {};
}

template <class Number>
[[nodiscard]] component::NumberRules<Number> rules_of(Number initial, Number minimum, Number maximum,
                                                      const takt_parameter& parameter) {
  component::NumberRules<Number> rules;
  rules.initial = initial;
  if (minimum != maximum) {
    rules.minimum = minimum;
    rules.maximum = maximum;
  }
  rules.unit = parameter.unit;
  rules.description = parameter.description;
  return rules;
}

/// A request to a context about one of its components.
template <class Request>
[[nodiscard]] std::int32_t request(takt_context* context, takt_component* of, Request ask) noexcept {
  return guarded([&]() -> Status {
    if (context == nullptr || of == nullptr) return fail(Errc::null_pointer);
    return ask(context->context, *of);
  });
}

[[nodiscard]] Status read_list(takt_component* const* list, std::size_t count,
                               std::vector<component::Component*>& out) {
  if (count > 0 && list == nullptr) return fail(Errc::null_pointer);
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i] == nullptr) return fail(Errc::null_pointer);
    out.push_back(list[i]);
  }
  return {};
}

}  // namespace

// ---- components ----

void takt_component_type_init(takt_component_type* type, std::size_t size) {
  takt::capi::init_struct(type, size);
}

int32_t takt_component_create(const takt_component_type* type, const char* name, void* user,
                              takt_component** out) {
  return guarded([&]() -> Status {
    if (out == nullptr) return fail(Errc::null_pointer);
    *out = nullptr;
    const auto read = read_type(type);
    if (!read) return fail(read.error());
    auto made = make(*read, name, user);
    if (!made) return fail(made.error());
    *out = made->release();
    return {};
  });
}

void takt_component_destroy(takt_component* of) { delete of; }

int32_t takt_component_get_state(const takt_component* of) {
  return of == nullptr ? -1 : static_cast<std::int32_t>(of->state());
}

int32_t takt_component_error(const takt_component* of) {
  if (of == nullptr || of->error() == Error{}) return TAKT_OK;
  return to_status(of->error());
}

// ---- ports ----

int32_t takt_component_add_out_port(takt_component* of, const char* name, const char* schema,
                                    takt_out_port** port) {
  return guarded(
      [&] { return add_port<component::OpaqueOutPort>(of, &takt_component::out_ports, name, schema, port); });
}

int32_t takt_component_add_in_port(takt_component* of, const char* name, const char* schema,
                                   takt_in_port** port) {
  return guarded(
      [&] { return add_port<component::OpaqueInPort>(of, &takt_component::in_ports, name, schema, port); });
}

int32_t takt_out_port_write(takt_out_port* port, const void* value, size_t size, int64_t stamp_ns) {
  if (port == nullptr || value == nullptr) return to_status(Errc::null_pointer);
  if (size != port->port->value_bytes()) return to_status(Errc::bad_argument);
  return port->port->write(value, to_time(stamp_ns)) ? TAKT_OK : to_status(takt::shm::Errc::full);
}

int32_t takt_in_port_read(takt_in_port* port, void* value, size_t size, takt_sample_info* info) {
  if (port == nullptr || value == nullptr || size != port->port->value_bytes()) return -1;
  const takt::shm::Freshness freshness = port->port->read();
  if (freshness != takt::shm::Freshness::none) std::memcpy(value, port->port->value(), size);
  if (info != nullptr) {
    *info = {port->port->stamp().time_since_epoch().count(), port->port->sequence(), port->port->missed()};
  }
  return static_cast<std::int32_t>(freshness);
}

int32_t takt_connect(takt_out_port* from, takt_in_port* to, int32_t buffering, uint32_t capacity,
                     takt_connection** connection, char* text, size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (from == nullptr || to == nullptr || connection == nullptr) return fail(Errc::null_pointer);
    if (buffering < TAKT_BUFFERING_LATEST || buffering > TAKT_BUFFERING_FIFO) return fail(Errc::bad_argument);
    component::ConnectionOptions options;
    options.buffering = static_cast<component::Buffering>(buffering);
    if (options.buffering != component::Buffering::latest) options.capacity = capacity;
    auto made = component::connect(*from->port, *to->port, options);
    if (!made) return told(made, text, size);
    *connection = new takt_connection{std::move(*made)};
    return {};
  });
}

void takt_connection_destroy(takt_connection* connection) { delete connection; }

// ---- parameters ----

int32_t takt_component_add_number(takt_component* of, const char* name, double initial, double minimum,
                                  double maximum, const char* unit, const char* description,
                                  takt_parameter** parameter) {
  return guarded([&]() -> Status {
    if (!std::isfinite(initial) || !std::isfinite(minimum) || !std::isfinite(maximum) || minimum > maximum)
      return fail(component::Errc::bad_value);
    return add_parameter(of, name, unit, description, parameter, [&](takt_parameter& made) {
      made.number = std::make_unique<component::Parameter<double>>(*of, name,
                                                                   rules_of(initial, minimum, maximum, made));
    });
  });
}

int32_t takt_component_add_integer(takt_component* of, const char* name, int64_t initial, int64_t minimum,
                                   int64_t maximum, const char* unit, const char* description,
                                   takt_parameter** parameter) {
  return guarded([&]() -> Status {
    if (minimum > maximum) return fail(component::Errc::bad_value);
    return add_parameter(of, name, unit, description, parameter, [&](takt_parameter& made) {
      made.integer = std::make_unique<component::Parameter<std::int64_t>>(
          *of, name, rules_of<std::int64_t>(initial, minimum, maximum, made));
    });
  });
}

int32_t takt_component_add_boolean(takt_component* of, const char* name, int32_t initial,
                                   const char* description, takt_parameter** parameter) {
  return guarded([&] {
    return add_parameter(of, name, nullptr, description, parameter, [&](takt_parameter& made) {
      made.boolean = std::make_unique<component::Parameter<bool>>(
          *of, name, component::PlainRules<bool>{initial != 0, {}, made.description});
    });
  });
}

double takt_parameter_number(const takt_parameter* parameter) {
  return parameter != nullptr && parameter->number ? **parameter->number
                                                   : std::numeric_limits<double>::quiet_NaN();
}
int64_t takt_parameter_integer(const takt_parameter* parameter) {
  return parameter != nullptr && parameter->integer ? **parameter->integer : 0;
}
int32_t takt_parameter_boolean(const takt_parameter* parameter) {
  return parameter != nullptr && parameter->boolean && **parameter->boolean ? 1 : 0;
}
double takt_parameter_proposed_number(const takt_parameter* parameter) {
  return parameter != nullptr && parameter->number ? parameter->number->proposed()
                                                   : std::numeric_limits<double>::quiet_NaN();
}
int64_t takt_parameter_proposed_integer(const takt_parameter* parameter) {
  return parameter != nullptr && parameter->integer ? parameter->integer->proposed() : 0;
}
int32_t takt_parameter_proposed_boolean(const takt_parameter* parameter) {
  return parameter != nullptr && parameter->boolean && parameter->boolean->proposed() ? 1 : 0;
}

int32_t takt_component_set(takt_component* of, const char* json, const char* who, char* text, size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (of == nullptr || json == nullptr) return fail(Errc::null_pointer);
    const auto assignments = component::assignments_from_json(json);
    if (!assignments) return told(assignments, text, size);
    return told(of->parameters().set(*assignments, who != nullptr ? who : "C"), text, size);
  });
}

int32_t takt_component_parameters(const takt_component* of, char* text, size_t size) {
  return guarded([&]() -> Status {
    if (of == nullptr || text == nullptr) return fail(Errc::null_pointer);
    const std::string list = component::parameters_to_json(of->parameters());
    if (list.size() >= size) return fail(Errc::buffer_too_small);
    write_text(list, text, size);
    return {};
  });
}

// ---- contexts ----

int32_t takt_context_create(const char* name, int64_t period_ns, takt_context** out) {
  return guarded([&]() -> Status {
    if (name == nullptr || out == nullptr) return fail(Errc::null_pointer);
    *out = nullptr;
    if (period_ns < 0) return fail(component::Errc::bad_rate);
    *out = new takt_context({.name = name, .period = to_duration(period_ns)});
    return {};
  });
}

void takt_context_destroy(takt_context* context) { delete context; }

int32_t takt_context_add(takt_context* context, takt_component* of, const takt_placement* placement,
                         char* text, size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (context == nullptr || of == nullptr) return fail(Errc::null_pointer);
    component::Placement place;
    if (placement != nullptr) {
      if (placement->over_budget < 0 || placement->over_budget > 2 || placement->budget_ns < 0)
        return fail(Errc::bad_argument);
      place = {placement->order, placement->divisor != 0 ? placement->divisor : 1, placement->phase,
               to_duration(placement->budget_ns),
               static_cast<component::BudgetAction>(placement->over_budget)};
    }
    return told(context->context.add(*of, place), text, size);
  });
}

int32_t takt_context_remove(takt_context* context, takt_component* of) {
  return request(context, of, [](auto& in, auto& one) { return in.remove(one); });
}
int32_t takt_context_activate(takt_context* context, takt_component* of) {
  return request(context, of, [](auto& in, auto& one) { return in.activate(one); });
}
int32_t takt_context_deactivate(takt_context* context, takt_component* of) {
  return request(context, of, [](auto& in, auto& one) { return in.deactivate(one); });
}
int32_t takt_context_reset(takt_context* context, takt_component* of) {
  return request(context, of, [](auto& in, auto& one) { return in.reset(one); });
}

int32_t takt_context_switch(takt_context* context, takt_component* const* deactivate, size_t deactivate_count,
                            takt_component* const* activate, size_t activate_count,
                            takt_component* const* migrate, size_t migrate_count, takt_context* target) {
  return guarded([&]() -> Status {
    if (context == nullptr || (migrate_count > 0 && target == nullptr)) return fail(Errc::null_pointer);
    component::Switch change;
    std::vector<component::Component*> migrants;
    if (Status status = read_list(deactivate, deactivate_count, change.deactivate); !status) return status;
    if (Status status = read_list(activate, activate_count, change.activate); !status) return status;
    if (Status status = read_list(migrate, migrate_count, migrants); !status) return status;
    for (component::Component* one : migrants) change.migrate.push_back({one, &target->context, {}});
    return context->context.apply(change).status;
  });
}

int32_t takt_context_start_thread(takt_context* context) {
  return guarded([&]() -> Status {
    if (context == nullptr) return fail(Errc::null_pointer);
    if (context->thread) return fail(component::Errc::already_running);
    if (context->context.period() <= takt::Duration(0)) return fail(component::Errc::bad_rate);
    context->thread =
        std::make_unique<component::ContextThread>(context->context, takt::rt::ThreadConfig{}, [context] {
          return component::run_periodically(context->context, context->clock,
                                             {.period = context->context.period()});
        });
    return {};
  });
}

int32_t takt_context_stop_thread(takt_context* context) {
  return guarded([&]() -> Status {
    if (context == nullptr) return fail(Errc::null_pointer);
    if (!context->thread) return {};
    const Status status = context->thread->stop();
    context->thread.reset();
    return status;
  });
}

int32_t takt_context_start(takt_context* context, int64_t now_ns) {
  return context == nullptr ? to_status(Errc::null_pointer)
                            : to_status(context->context.start(to_time(now_ns)));
}
void takt_context_run_cycle(takt_context* context, int64_t now_ns, int64_t measured_ns) {
  if (context != nullptr) context->context.run_cycle(to_time(now_ns), to_duration(measured_ns));
}
void takt_context_stop(takt_context* context, int64_t now_ns) {
  if (context != nullptr) context->context.stop(to_time(now_ns));
}
uint64_t takt_context_cycles(const takt_context* context) {
  return context == nullptr ? 0 : context->context.cycles();
}

// ---- plug-ins ----

namespace {

/// The memory of a table. It is never freed, because components may live until the end of the program.
struct PluginTypes {
  component::PluginAbi abi = component::plugin_abi();
  std::vector<takt_component_type> functions;
  std::vector<component::ComponentMetadata> metadata;
  std::vector<component::ComponentType> types;
  component::PluginTable table;
};

[[nodiscard]] component::Component* make_of_plugin(const char* name, const void* data) {
  auto made = make(*static_cast<const takt_component_type*>(data), name, nullptr);
  return made ? made->release() : nullptr;
}

}  // namespace

const takt_plugin* takt_plugin_make(const takt_component_type* const* types, size_t count) {
  const takt_plugin* result = nullptr;
  static_cast<void>(guarded([&]() -> Status {
    if (types == nullptr || count == 0 || count > 1000) return fail(Errc::bad_argument);
    auto made = std::make_unique<PluginTypes>();
    for (std::size_t i = 0; i < count; ++i) {
      const auto read = read_type(types[i]);
      if (!read || read->create == nullptr) return fail(Errc::bad_argument);
      made->functions.push_back(*read);
      made->metadata.push_back(metadata_of(*read));
    }
    for (std::size_t i = 0; i < count; ++i) {
      made->types.push_back(
          {&made->metadata[i], &make_of_plugin,
           [](component::Component* one) noexcept { delete static_cast<takt_component*>(one); },
           &made->functions[i]});
    }
    made->table.count = static_cast<std::uint32_t>(count);
    made->table.abi = made->abi.c_str();
    made->table.types = made->types.data();
    result = reinterpret_cast<const takt_plugin*>(&made.release()->table);
    return {};
  }));
  return result;
}
