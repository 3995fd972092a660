// What travels between the side without deadlines (server, planner) and the loop: requests one way, events the other, each
// through a lock-free ring. A Request is allocated and filled outside, validated there, borrowed by the loop as a pointer and
// handed back inside an Event when the loop is done with it; only the outside frees it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/error.hpp"
#include "takt/motion/goal.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/tolerances.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::motion {

/// The loop takes at most this many requests in one cycle.
inline constexpr std::size_t max_requests_per_cycle = 8;

/// How an emergency stop ends (IEC 60204-1).
enum class StopCategory : std::uint8_t {
  power_off = 0,            ///< power is removed at once
  stop_then_power_off = 1,  ///< bounded stop, then power is removed
  stop = 2,                 ///< bounded stop, power stays on
};

enum class RequestKind : std::uint8_t {
  trajectory,      ///< begin a goal that follows `trajectory`
  setpoint,        ///< begin or continue a streamed goal
  cancel,          ///< stop goal `goal`, or every goal when it is 0
  speed,           ///< change the speed of trajectory goal `goal`, or of all of them when it is 0
  emergency_stop,  ///< stop the robot by `category` and latch
  reset,           ///< leave a latched stop: clear faults, power on, start again from the measured positions;
                   ///< rejected (bus_down) while the bus of a drive is down
  shutdown,        ///< bounded stop, then power off; the loop reports itself down when that is done
};

/// Whether such a request begins a goal, or goes on with one.
[[nodiscard]] constexpr bool begins_goal(RequestKind kind) noexcept {
  return kind == RequestKind::trajectory || kind == RequestKind::setpoint;
}

/// What becomes of a motion whose joints belong to another goal.
enum class WhenBusy : std::uint8_t {
  splice,  ///< it takes them over from their present reference; the other goal ends preempted
  queue,   ///< it waits until the other goal has succeeded
  reject,  ///< it is refused
};

/// One target of a stream, in the order of the request's joints (rising joint index).
struct Setpoint {
  std::array<double, max_joints> positions{};   ///< rad
  std::array<double, max_joints> velocities{};  ///< rad/s: how fast the target itself moves; zero holds it
  Duration timeout{};  ///< no further set-point within this time: bounded stop, goal aborted
};

/// A validated request. Vectors and trajectory are sized outside; the loop never resizes them.
struct Request {
  RequestKind kind = RequestKind::cancel;
  GoalId goal = 0;
  JointSet joints;                    ///< which joints; columns below follow their rising order
  trajectory::Trajectory trajectory;  ///< kind trajectory: one column for each joint
  trajectory::PointToPoint<>
      lead;  ///< sized for the joints: when these have moved since validation, the loop
             ///< plans here how the trajectory is joined
  std::vector<JointLimits> limits;  ///< one for each joint, the robot's or tighter
  bool spares_others =
      false;  ///< kind trajectory: rejected (joint_busy) if a joint belongs to a goal or still stops
  bool starts_here =
      false;  ///< kind trajectory: rejected (start_mismatch) if a joint has left its first waypoint
              ///< by more than its goal tolerance
  std::optional<Time>
      start;  ///< when the trajectory's time is 0, on the loop's clock; nothing: when it is taken
  trajectory::Synchronisation synchronisation = trajectory::Synchronisation::time;  ///< of the lead
  std::size_t first_waypoint = 1;  ///< the knot of the trajectory that a lead may end at, or at later ones
  double may_gain = 0;  ///< s by which a lead may bring the waypoints forward, from where they were planned
  bool may_be_late = false;  ///< the waypoints may be later than that, as far as a lead makes it necessary
  std::vector<trajectory::JointTolerance> path_tolerance;  ///< kind trajectory: one for each joint
  std::vector<trajectory::JointTolerance> goal_tolerance;  ///< kind trajectory: one for each joint
  double goal_time = 0;  ///< kind trajectory: s after its end that the joints may take to settle
  Setpoint setpoint;
  StopCategory category = StopCategory::stop_then_power_off;
  bool on_path =
      false;         ///< kind cancel: trajectory goals come to rest on their paths, not each joint by itself
  double speed = 1;  ///< kind speed: 0 (rest on the path) to 1 (as planned)
  Errc reason{};     ///< kind cancel: why, if not because a client asked (0)
  Time received{};   ///< when its last byte arrived (server's clock)
  Time handed_over{};  ///< when it entered the ring
};

/// What the loop says to the outside. `retired`, if set, is the outside's again.
struct Event {
  GoalId goal = 0;
  GoalState state = GoalState::pending;  ///< the goal's new state; pending for events of no goal
  Errc reason{};           ///< of a rejected or aborted goal, 0 = none; of one that becomes active: the
                           ///< limit of its own that it begins beyond
  std::uint8_t joint = 0;  ///< which joint the reason is about, where it is about one
  double time = 0;         ///< s from the goal's start, where the reason has a time
  trajectory::Quantity quantity{};  ///< of a tolerance or a limit: what is off
  double value = 0;                 ///< what was found, where the reason has a value
  double limit = 0;                 ///< what is allowed
  double duration = 0;              ///< state active, of a trajectory: s from here to its end
  double speed_excess = 0;          ///< of a goal that ended: as in JointSnapshot
  Time received{};                  ///< copied from the request
  Time handed_over{};               ///< copied from the request
  Time first_reference{};           ///< state active: when its first reference had been written to the bus
  Request* retired = nullptr;
};
static_assert(std::is_trivially_copyable_v<Event>);

}  // namespace takt::motion
