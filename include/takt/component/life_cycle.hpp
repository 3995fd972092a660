// The one life cycle of components, devices and controllers, as data. The machine (execution_context.hpp),
// its tests and the table in README.md all come from the two tables below. Plain data; real-time safe.
//
//                 initialize            activate
//       created --------------> inactive --------> active
//                               |  ^  ^ <-------- |
//                      finalize |  |  deactivate  | a callback fails
//                               v  '----------.   v
//                        finalised <--------- error
//                                   finalize    reset leads back to inactive
//
// A component has a state in its execution context. A component that participates in none is created, or
// inactive once it was initialized.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace takt::component {

/// The state of a component in its context.
enum class ComponentState : std::uint8_t {
  created,    ///< constructed
  inactive,   ///< initialized; the cycle does not call it
  active,     ///< runs in each cycle that is due
  error,      ///< failed; on_error() runs in each cycle that is due, until a reset
  finalised,  ///< has ended for good
};

/// The state's name; empty for an unknown number.
[[nodiscard]] constexpr std::string_view to_string(ComponentState state) noexcept {
  constexpr std::array<std::string_view, 5> names = {"created", "inactive", "active", "error", "finalised"};
  const auto index = static_cast<std::size_t>(state);
  return index < names.size() ? names[index] : std::string_view();
}

/// What leads from one state to another.
enum class Transition : std::uint8_t { initialize, activate, deactivate, fail, reset, finalize };

/// The transition's name; empty for an unknown number.
[[nodiscard]] constexpr std::string_view to_string(Transition transition) noexcept {
  constexpr std::array<std::string_view, 6> names = {"initialize", "activate", "deactivate",
                                                     "fail",       "reset",    "finalize"};
  const auto index = static_cast<std::size_t>(transition);
  return index < names.size() ? names[index] : std::string_view();
}

/// The functions of a component that its context calls.
enum class Callback : std::uint8_t {
  none,
  on_initialize,
  on_activate,
  on_execute,
  on_state_update,
  on_deactivate,
  on_abort,
  on_error,
  on_reset,
  on_finalize,
  on_startup,
  on_shutdown,
  on_rate_change,
};

/// The callback's name; "-" for none.
[[nodiscard]] constexpr std::string_view to_string(Callback callback) noexcept {
  constexpr std::array<std::string_view, 13> names = {"-",
                                                      "on_initialize",
                                                      "on_activate",
                                                      "on_execute",
                                                      "on_state_update",
                                                      "on_deactivate",
                                                      "on_abort",
                                                      "on_error",
                                                      "on_reset",
                                                      "on_finalize",
                                                      "on_startup",
                                                      "on_shutdown",
                                                      "on_rate_change"};
  const auto index = static_cast<std::size_t>(callback);
  return index < names.size() ? names[index] : std::string_view();
}

/// A permitted transition. Its callbacks run in order. If one fails, the state becomes `if_it_fails`.
/// Entering the state error calls on_abort().
struct TransitionRow {
  ComponentState from;
  Transition transition;
  ComponentState to;
  ComponentState if_it_fails;
  std::array<Callback, 2> callbacks;
};

/// All permitted transitions. Callbacks that answer nothing cannot fail. Of the callbacks outside the table,
/// the context calls on_startup() and on_shutdown() when it starts and stops, and on_rate_change() when the
/// component's rate changes.
inline constexpr std::array transition_table = [] {
  using enum ComponentState;
  using enum Callback;
  return std::array{
      TransitionRow{created, Transition::initialize, inactive, created, {on_initialize, none}},
      TransitionRow{inactive, Transition::activate, active, error, {on_activate, none}},
      TransitionRow{active, Transition::deactivate, inactive, inactive, {on_deactivate, none}},
      TransitionRow{active, Transition::fail, error, error, {on_deactivate, on_abort}},
      TransitionRow{error, Transition::reset, inactive, error, {on_reset, none}},
      TransitionRow{created, Transition::finalize, finalised, finalised, {none, none}},
      TransitionRow{inactive, Transition::finalize, finalised, finalised, {on_finalize, none}},
      TransitionRow{error, Transition::finalize, finalised, finalised, {on_finalize, none}},
  };
}();

/// The row of this transition; std::nullopt if the state does not permit it.
[[nodiscard]] constexpr std::optional<TransitionRow> find_transition(ComponentState from,
                                                                     Transition transition) noexcept {
  for (const TransitionRow& row : transition_table) {
    if (row.from == from && row.transition == transition) return row;
  }
  return std::nullopt;
}

/// The callbacks of a cycle in one state: in its second sweep (execute) and in its third (state update).
struct CycleRow {
  ComponentState state;
  Callback execute;
  Callback state_update;
  bool may_fail;  ///< a failure leads to the transition `fail` at the beginning of the next cycle
};

/// The callbacks of a cycle. In other states a cycle calls nothing.
inline constexpr std::array cycle_table = {
    CycleRow{ComponentState::active, Callback::on_execute, Callback::on_state_update, true},
    CycleRow{ComponentState::error, Callback::on_error, Callback::none, false},
};

}  // namespace takt::component
