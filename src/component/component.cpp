#include "takt/component/component.hpp"

#include <algorithm>
#include <exception>

#include "takt/component/execution_context.hpp"
#include "takt/component/kept_state.hpp"
#include "takt/component/port.hpp"
#include "takt/component/service.hpp"

namespace takt::component {

Component::~Component() {
  if (ExecutionContext* present = context()) present->forget(*this);
}

namespace {

template <class Part>
[[nodiscard]] Part* find_in(const std::vector<Part*>& parts, std::string_view name) noexcept {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part* p) { return p->name() == name; });
  return found == parts.end() ? nullptr : *found;
}

template <class Part>
[[nodiscard]] const Part* badly_named(const std::vector<Part*>& parts) noexcept {
  for (const Part* part : parts) {
    if (!is_valid_name(part->name()) || find_in(parts, part->name()) != part) return part;
  }
  return nullptr;
}

}  // namespace

rt::Logger* Component::logger() const noexcept {
  ExecutionContext* const present = context();
  return present == nullptr ? nullptr : present->logger();
}

Port* Component::find_port(std::string_view name) const noexcept { return find_in(ports_, name); }

ServicePort* Component::find_service(std::string_view name) const noexcept {
  return find_in(services_, name);
}

SetupResult<void> Component::check_names() const {
  const auto refuse = [&](std::string_view kind, const std::string& name) {
    return fail(Errc::bad_name, name_ + ": " + std::string(kind) + " \"" + name +
                                    "\": " + std::string(describe(Errc::bad_name)));
  };
  if (const Port* port = badly_named(ports_)) return refuse("port", port->name());
  if (const ServicePort* service = badly_named(services_)) return refuse("service", service->name());
  if (const KeptStateBase* state = badly_named(kept_)) return refuse("state", state->name());
  return {};
}

SetupResult<void> Component::initialize() {
  if (state() != ComponentState::created) return fail(Errc::wrong_state, name_ + " is initialized already");
  if (!is_valid_name(name_)) return fail(Errc::bad_name, "component \"" + name_ + "\": bad name");
  if (auto checked = check_names(); !checked) return checked;
  if (auto checked = parameters_.check_initial(); !checked) return checked;
  try {
    if (auto done = on_initialize(); !done) return done;
  } catch (const std::exception& thrown) {
    return fail(Errc::threw, name_ + " threw in on_initialize(): " + thrown.what());
  } catch (...) {
    return fail(Errc::threw, name_ + " threw in on_initialize()");
  }
  set_state(ComponentState::inactive);
  return {};
}

Status Component::finalize() noexcept {
  if (context() != nullptr) return fail(Errc::already_participates);
  const auto row = find_transition(state(), Transition::finalize);
  if (!row) return fail(Errc::wrong_state);
  for (const Callback callback : row->callbacks) {
    if (callback == Callback::on_finalize) on_finalize();
  }
  set_state(ComponentState::finalised);
  return {};
}

}  // namespace takt::component
