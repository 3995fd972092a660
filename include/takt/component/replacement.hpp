// Replaces a component while it runs, for example by one from a newer plug-in:
//
//     auto done = takt::component::replace(controller, better_controller, "update");
//     if (!done) complain(done.error().message);  // the old one goes on as if nothing had happened
//
// The new component takes over parameters, connections, services and kept state. It also takes the place in
// the context: order, rate, phase and budget. All of it happens at one cycle boundary, so no cycle is missed
// or doubled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/component/boundary_calls.hpp"
#include "takt/component/component.hpp"
#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::component {

/// The result of a replacement.
struct Replacement {
  /// For people: parameters, sets and kept states of the old component that the new one lacks.
  std::vector<std::string> not_taken_over;
};

/// Lets `fresh` take the place of `old`. Steps:
///   1. Here: `fresh` takes the parameters and is initialized. Each connected port and service of `old` needs
///      one of the same name and type.
///   2. At the boundary: if `old` is active, `fresh` is activated, still unconnected.
///   3. It takes the kept states and the ends of all connections. The last samples that were read go along.
///   4. `old` is deactivated, unconnected now, and leaves the context.
/// If anything fails, `old` goes on as before. A failed component is replaced by an inactive one.
///
/// Afterwards nobody uses `old`, and it may be destroyed. Set-up: not real-time safe. One thread at a time
/// may replace, and nobody may change the parameters of `old` meanwhile.
///
/// Errors: not_a_participant; wrong_state (`fresh` is not new, or `old` contains components); bad_value (a
/// parameter); no_such_port, no_such_service, wrong_type. Those of initialize(), on_activate() and
/// BoundaryCalls::run(). After stuck, both components must stay.
[[nodiscard]] SetupResult<Replacement> replace(Component& old, Component& fresh, std::string_view who,
                                               Duration patience = default_patience);

}  // namespace takt::component
