// The life of a motion goal: the states of actionlib, as its users know them, without its middleware.
//
//   pending --> active --> succeeded
//      |          |------> aborted                     (a fault, a stream that fell silent, joints that did not arrive)
//      |          '------> preempting --> preempted    (cancelled, or its joints were taken: it stops first;
//      |                                                aborted, if it leaves its path tolerances on the way)
//      |--> rejected                                   (there is no such motion within the limits, or not from here)
//      '--> recalled                                   (a stop came before it began, or a goal that it waited for did not succeed)
//
// A pending goal is the server's (motion/server.hpp), one that owns joints the engine's (motion/engine.hpp), which says each change
// of a state by an event. What never became active has a result only if its client was told that it waits; otherwise the answer to
// its request is a rejection.
//
// Real-time safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace takt::motion {

/// Numbers a goal for the life of the process that runs the robot; 0 is no goal.
using GoalId = std::uint64_t;

enum class GoalState : std::uint8_t {
  pending,
  active,
  preempting,
  succeeded,
  aborted,
  rejected,
  preempted,
  recalled,
};

/// Whether the goal has ended or will never begin: it owns no joint.
[[nodiscard]] constexpr bool is_terminal(GoalState state) noexcept {
  return state != GoalState::pending && state != GoalState::active && state != GoalState::preempting;
}

/// The word for the wire.
[[nodiscard]] constexpr std::string_view state_name(GoalState state) noexcept {
  using enum GoalState;
  switch (state) {
    case pending:
      return "pending";
    case active:
      return "active";
    case preempting:
      return "preempting";
    case succeeded:
      return "succeeded";
    case aborted:
      return "aborted";
    case rejected:
      return "rejected";
    case preempted:
      return "preempted";
    case recalled:
      return "recalled";
  }
  return "unknown";
}

}  // namespace takt::motion
