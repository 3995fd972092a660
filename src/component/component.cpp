#include "takt/component/component.hpp"

#include <exception>

#include "takt/component/execution_context.hpp"

namespace takt::component {

Component::~Component() {
  if (ExecutionContext* present = context()) present->forget(*this);
}

SetupResult<void> Component::initialize() {
  if (state() != ComponentState::created) return fail(Errc::wrong_state, name_ + " is initialized already");
  if (!is_valid_name(name_)) return fail(Errc::bad_name, "component \"" + name_ + "\": bad name");
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
