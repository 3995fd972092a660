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
      return "a name has 1 to 31 letters, digits, '_', '-' or '.'";
  }
  return "unknown component error";
}

}  // namespace takt::component
