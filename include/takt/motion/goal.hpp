// The life of a motion goal: the state machine of actionlib, as its users know it, without its middleware.
//
//   pending --accept--> active --succeed--> succeeded
//      |                  |---abort-------> aborted
//      |                  |---preempt-----> preempting --stopped--> preempted   (cancelled, or its joints were taken)
//      |                                        |------abort----> aborted
//      |--reject--> rejected
//      '--preempt-> recalled            (cancelled before it began)
//
// Real-time safe.
#pragma once

#include <cstdint>
#include <optional>
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

enum class GoalEvent : std::uint8_t { accept, reject, preempt, stopped, succeed, abort };

/// The state after `event`, or nothing if the event makes no sense in this state.
[[nodiscard]] constexpr std::optional<GoalState> next(GoalState state, GoalEvent event) noexcept {
  using enum GoalState;
  switch (state) {
    case pending:
      if (event == GoalEvent::accept) return active;
      if (event == GoalEvent::reject) return rejected;
      if (event == GoalEvent::preempt) return recalled;
      return std::nullopt;
    case active:
      if (event == GoalEvent::succeed) return succeeded;
      if (event == GoalEvent::abort) return aborted;
      if (event == GoalEvent::preempt) return preempting;
      return std::nullopt;
    case preempting:
      if (event == GoalEvent::stopped) return preempted;
      if (event == GoalEvent::abort) return aborted;
      return std::nullopt;
    case succeeded:
    case aborted:
    case rejected:
    case preempted:
    case recalled:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Whether the goal has ended: it has a result and no joint.
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
