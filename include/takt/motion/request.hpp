// The messages between the server side (server, planner) and the loop. Requests go one way, events the other,
// each through a lock-free ring. The server side allocates, fills and validates a Request. The loop borrows
// it as a pointer and gives it back inside an Event. Only the server side frees it.
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

/// The kinds of requests.
enum class RequestKind : std::uint8_t {
  trajectory,      ///< begin a goal that follows `trajectory`
  setpoint,        ///< begin or continue a streamed goal
  cancel,          ///< stop goal `goal`, or every goal if it is 0
  speed,           ///< change the speed of trajectory goal `goal`, or of all if it is 0
  emergency_stop,  ///< stop the robot by `category` and latch
  reset,           ///< leave a latched stop: clear faults, power on, start again from the measured positions;
  ///< rejected (bus_down) while the bus of a drive is down, and (position_jumped) while a position
  ///< that jumped is not accepted
  shutdown,          ///< bounded stop, then power off; the loop then reports RobotState::down
  accept_positions,  ///< as reset, and positions that jumped are right
};

/// Whether a request of this kind begins or continues a goal. Real-time safe.
[[nodiscard]] constexpr bool begins_goal(RequestKind kind) noexcept {
  return kind == RequestKind::trajectory || kind == RequestKind::setpoint;
}

/// The behaviour of a motion whose joints belong to another goal.
enum class WhenBusy : std::uint8_t {
  splice,  ///< it takes them over from their present reference; the other goal ends preempted
  queue,   ///< it waits until the other goal has succeeded
  reject,  ///< it is refused
};

/// One target of a stream. Columns follow the request's joints, by rising joint index.
struct Setpoint {
  std::array<double, max_joints> positions{};   ///< rad
  std::array<double, max_joints> velocities{};  ///< rad/s: the target's own velocity; zero for a fixed target
  Duration timeout{};  ///< without a further setpoint within this time: bounded stop, goal aborted
};

/// A validated request. The server side sizes vectors and trajectory; the loop never resizes them.
struct Request {
  RequestKind kind = RequestKind::cancel;
  GoalId goal = 0;                    ///< 0 = all, for cancel and speed
  JointSet joints;                    ///< the joints; columns below follow their rising index
  trajectory::Trajectory trajectory;  ///< kind trajectory: one column for each joint
  /// Memory for the motion that joins the trajectory, sized for the joints. The loop plans it here if the
  /// joints have moved since validation.
  trajectory::PointToPoint<> lead;
  std::vector<JointLimits> limits;  ///< one per joint, the robot's or tighter
  /// Kind trajectory: reject it (joint_busy) if a joint belongs to another goal or is still stopping.
  bool spares_others = false;
  /// Kind trajectory: reject it (start_mismatch) if a joint is farther from the first waypoint than its goal
  /// tolerance.
  bool starts_here = false;
  /// When the trajectory's time is 0, on the loop's clock. Nothing: when the loop takes it.
  std::optional<Time> start;
  trajectory::Synchronisation synchronisation = trajectory::Synchronisation::time;  ///< of the lead
  std::size_t first_waypoint = 1;  ///< knot of the trajectory; a lead ends at it or at a later one
  double may_gain = 0;       ///< s by which a lead may move the waypoints forward from their planned times
  bool may_be_late = false;  ///< a lead may delay the waypoints as far as necessary
  std::vector<trajectory::JointTolerance> path_tolerance;  ///< kind trajectory: one per joint
  std::vector<trajectory::JointTolerance> goal_tolerance;  ///< kind trajectory: one per joint
  double goal_time = 0;  ///< kind trajectory: s after its end in which the joints may settle
  Setpoint setpoint;     ///< kind setpoint
  StopCategory category = StopCategory::category_1;  ///< kind emergency_stop
  /// Kind cancel: trajectory goals come to rest on their paths, instead of each joint by itself.
  bool on_path = false;
  double speed = 1;    ///< kind speed: 0 (rest on the path) to 1 (as planned)
  Errc reason{};       ///< kind cancel: the reason, or 0 if a client asked
  Time received{};     ///< when its last byte arrived, on the server's clock
  Time handed_over{};  ///< when it entered the ring
};

/// A report of the loop. A `retired` request belongs to the server side again.
struct Event {
  GoalId goal = 0;                       ///< 0 = the event concerns no goal
  GoalState state = GoalState::pending;  ///< the goal's new state; pending if the event concerns no goal
  /// Rejected or aborted: why, 0 = no reason. Active: which limit of its own the goal exceeds as it begins.
  Errc reason{};
  std::uint8_t joint = 0;           ///< the joint of the reason, if it concerns one
  double time = 0;                  ///< s from the goal's start, if the reason has a time
  trajectory::Quantity quantity{};  ///< the quantity of the exceeded tolerance or limit
  double value = 0;                 ///< the value found, if the reason has one
  double limit = 0;                 ///< the value allowed
  double duration = 0;              ///< state active, of a trajectory: s from now to its end
  double speed_excess = 0;          ///< of an ended goal: as in JointSnapshot
  Time received{};                  ///< copied from the request
  Time handed_over{};               ///< copied from the request
  Time first_reference{};           ///< state active: when its first reference was on the bus
  /// The request that is given back; null: none.
  Request* retired = nullptr;

  TAKT_FIELDS(Event, goal, state, reason, joint, time, quantity, value, limit, duration, speed_excess,
              received, handed_over, first_reference, retired)
};
static_assert(std::is_trivially_copyable_v<Event>);

}  // namespace takt::motion
