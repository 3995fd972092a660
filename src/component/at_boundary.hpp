// Calls a function between two cycles of a component, wherever the component participates.
#pragma once

#include <utility>

#include "takt/component/component.hpp"
#include "takt/component/execution_context.hpp"

namespace takt::component {

/// Runs `call() noexcept -> Status` while no callback of the component runs. Follows the component if it
/// migrates meanwhile. `call` may outlive the caller (boundary_calls.hpp). Errors: those of
/// BoundaryCalls::run() and of `call`.
template <class Call>
[[nodiscard]] Status at_boundary(Component& component, Call call, Duration patience) {
  for (;;) {
    ExecutionContext* context = component.context();
    if (context == nullptr) return call();
    const Status status = context->call(
        [&component, context, call]() mutable noexcept -> Status {
          return component.context() == context ? call() : Status(fail(Errc::not_a_participant));
        },
        patience);
    if (status || status.error() != Errc::not_a_participant) return status;
  }
}

}  // namespace takt::component
