// The error codes of the component room.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::component {

/// The codes of the component room. The numbers are part of the C API and never reused.
enum class Errc : std::uint16_t {
  not_a_participant = 1,
  wrong_state = 2,
  timed_out = 3,
  too_many_components = 4,
  already_participates = 5,
  own_thread = 6,
  busy = 7,
  already_running = 8,
  stuck = 9,
  named_twice = 10,
  rolled_back = 11,
  rollback_failed = 12,
  bad_rate = 13,
  over_budget = 14,
  threw = 15,
  bad_name = 16,
  wrong_type = 17,
  too_many_connections = 18,
  no_such_port = 19,
  no_such_service = 20,
  no_such_parameter = 21,
  bad_value = 22,
  no_such_set = 23,
  no_such_type = 24,
  bad_plugin = 25,
  bad_system = 26,
  no_such_component = 27,
  not_connected = 28,
};

/// The room of the codes.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::component; }

/// The code as a sentence.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::not_a_participant:
      return "the component does not participate in this context";
    case Errc::wrong_state:
      return "the component's state does not allow this transition";
    case Errc::timed_out:
      return "the context reached no cycle boundary in time; nothing was changed";
    case Errc::too_many_components:
      return "the context has no room for another component";
    case Errc::already_participates:
      return "the component participates in a context already; remove or migrate it";
    case Errc::own_thread:
      return "a request from inside the context's cycle would wait for itself";
    case Errc::busy:
      return "too many requests wait for this context";
    case Errc::already_running:
      return "another thread runs this context";
    case Errc::stuck:
      return "the context is inside a callback that does not return; the request's outcome is unknown";
    case Errc::named_twice:
      return "the request names a component twice";
    case Errc::rolled_back:
      return "a component failed to activate; all components are in their previous states";
    case Errc::rollback_failed:
      return "a component failed to activate, and another one failed to return to its previous state";
    case Errc::bad_rate:
      return "the divisor must be positive and the phase below it";
    case Errc::over_budget:
      return "the component ran longer than its budget";
    case Errc::threw:
      return "the component threw an exception";
    case Errc::bad_name:
      return "a name has 1 to 31 letters, digits, '_', '-' or '.', and only one of its kind has it";
    case Errc::wrong_type:
      return "the two ends of a connection have different types";
    case Errc::too_many_connections:
      return "the port has no room for another connection";
    case Errc::no_such_port:
      return "the component has no port with this name";
    case Errc::no_such_service:
      return "the component has no service with this name";
    case Errc::no_such_parameter:
      return "the component has no parameter with this name";
    case Errc::bad_value:
      return "the value breaks the rules of the parameter or option";
    case Errc::no_such_set:
      return "the component has no set of parameters with this name";
    case Errc::no_such_type:
      return "no loaded library has a component of this type";
    case Errc::bad_plugin:
      return "the shared object is not a plug-in for this program";
    case Errc::bad_system:
      return "the description of the system has mistakes";
    case Errc::no_such_component:
      return "the system has no component or context with this name";
    case Errc::not_connected:
      return "the required service has no provider";
  }
  return "unknown component error";
}

}  // namespace takt::component
