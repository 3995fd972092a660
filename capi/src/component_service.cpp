// Services of the C API: tables of functions that one component provides and others require.
#include "takt/component/service.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "boundary.hpp"
#include "component.hpp"
#include "takt/component.h"

namespace component = takt::component;
using takt::fail;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::to_result;
using takt::capi::told;

namespace {

/// Adds a service to a component that is not initialized yet.
template <class Service, class... Table>
[[nodiscard]] Status add_service(takt_component* of,
                                 std::vector<std::unique_ptr<Service>> takt_component::*list,
                                 const char* name, const char* interface_name, Service** service,
                                 Table... table) {
  if (of == nullptr || name == nullptr || interface_name == nullptr || service == nullptr)
    return fail(Errc::null_pointer);
  if (*interface_name == '\0') return fail(component::Errc::bad_name);
  if (of->state() != component::ComponentState::created) return fail(component::Errc::wrong_state);
  (of->*list).push_back(std::make_unique<Service>(*of, name, interface_name, table...));
  *service = (of->*list).back().get();
  return {};
}

}  // namespace

int32_t takt_component_add_provided_service(takt_component* of, const char* name, const char* interface_name,
                                            void* table, takt_provided_service** service) {
  return guarded([&]() -> Status {
    if (table == nullptr) return fail(Errc::null_pointer);
    return add_service(of, &takt_component::provided, name, interface_name, service, table);
  });
}

int32_t takt_component_add_required_service(takt_component* of, const char* name, const char* interface_name,
                                            takt_required_service** service) {
  return guarded([&] { return add_service(of, &takt_component::required, name, interface_name, service); });
}

int32_t takt_service_connect(takt_provided_service* provider, takt_required_service* client, char* text,
                             size_t size) {
  return guarded(text, size, [&]() -> Status {
    if (provider == nullptr || client == nullptr) return fail(Errc::null_pointer);
    return told(component::connect(*provider, *client), text, size);
  });
}

int32_t takt_service_disconnect(takt_required_service* client) {
  return guarded([&]() -> Status {
    if (client == nullptr) return fail(Errc::null_pointer);
    return component::disconnect(*client);
  });
}

void* takt_service_table(const takt_required_service* client) {
  return client == nullptr ? nullptr : client->table();
}

int32_t takt_service_call(const takt_required_service* client, takt_service_function call, void* user) {
  return guarded([&]() -> Status {
    if (client == nullptr || call == nullptr) return fail(Errc::null_pointer);
    const component::service_detail::DeferredCall deferred(*client);
    if (deferred.object() == nullptr) return fail(component::Errc::not_connected);
    return deferred.run([table = deferred.object(), call, user] { return to_result(call(table, user)); },
                        component::default_patience);
  });
}
