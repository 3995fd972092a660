// The states of a motion goal. They are the states of actionlib, without its middleware.
//
//   pending --> active --> succeeded
//      |          |------> aborted
//      |          '------> preempting --> preempted or aborted
//      |--> rejected
//      '--> recalled
//
// * aborted: a fault, a stream without setpoints, or joints that did not arrive.
// * preempting: the goal was cancelled or lost its joints, and it stops first. It is aborted if it leaves its
//   path tolerance meanwhile.
// * rejected: no motion within the limits exists, or none from the present state.
// * recalled: a stop came before the goal began, or a goal that it waited for did not succeed.
//
// The motion server (motion/server.hpp) holds pending goals. The trajectory controller (joint_trajectory.hpp)
// holds the goals that own joints, and reports each change of state in an event. A goal that never became
// active has a result only if its client was told that it waits. Otherwise the answer to its request is a
// rejection.
//
// Real-time safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace takt::motion {

/// A goal's number, unique while the robot's process runs. 0 is no goal.
using GoalId = std::uint64_t;

/// The state of a goal; see the diagram above.
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

/// Whether the goal has ended or will never begin. Such a goal owns no joint.
[[nodiscard]] constexpr bool is_terminal(GoalState state) noexcept {
  return state != GoalState::pending && state != GoalState::active && state != GoalState::preempting;
}

/// The word on the wire.
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
