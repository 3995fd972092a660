// The trajectory controller: it moves joints along trajectories and streams. It owns the goals, and decides
// which goal owns which joint.
//
// A robot's motion server sends it requests (robot_cycle.hpp). In a program without a server, the caller
// submits them in the manager's thread. Within a cycle: begin(), then submit() for any number of requests
// that the planner has validated, then on_execute() by the manager, then deliver().
//
// Ownership. A goal owns its joints. A new goal on owned joints takes them over from their present reference,
// and the old goal ends `preempted`. Joints of the old goal that the new one does not take come to a bounded
// stop. The controller rejects a new goal if no motion within its limits joins it to the present motion. It
// also rejects one that may not take joints from others and needs such joints. A rejected goal leaves the old
// one unchanged. If the joints already exceed the new goal's own limits, the goal brakes first, with the
// least possible violation. Its event `active` reports this.
//
// Tolerances. In each cycle the controller compares the feedback with the reference that it answers. A goal
// outside its path tolerance ends aborted, and its joints come to a bounded stop. A goal succeeds when its
// joints are within the goal tolerance at its end. A goal's tolerances may be wider than the robot's own. The
// robot's following error still stops the robot.
//
// Start times. A trajectory with a start in the future waits here until then. The controller joins it in the
// first cycle after the start. If it can be joined at once, the reference of that cycle is the trajectory's
// at exactly that time. A trajectory with a start in the past is joined at a later waypoint, at that
// waypoint's time. A cancel, and everything that stops the robot, recalls waiting trajectories.
//
// Joints. The controller lends its joints: another controller that claims one takes it while that one is
// active. The goals on it end aborted, and requests for it are rejected (joint_taken).
//
// Time. Motion time counts executed cycles, so a missed period delays the motion and the reference never
// jumps. After a pause of the loop a goal waits until its drives have answered (manager.hpp). Then it goes on
// at the place of the path, and at the speed on it, that the joints have. The manager runs the controller in
// each cycle (divisor 1).
//
// Every function is real-time safe, except the constructor and on_configure().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/control/setpoint_follower.hpp"
#include "takt/core/joint.hpp"
#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/robot/controller.hpp"
#include "takt/trajectory/speed_scaling.hpp"
#include "takt/trajectory/tolerances.hpp"

namespace takt::motion {

/// The reason of a supervisor's stop, as a reason of motion. Real-time safe.
[[nodiscard]] Errc reason_of(robot::FaultReason reason) noexcept;

/// Moves all joints of a robot by goals. For the manager's thread.
class JointTrajectoryController final : public robot::Controller {
 public:
  /// How many trajectories may wait for their start. Further ones are rejected (queue_full).
  static constexpr std::size_t max_scheduled = max_joints;

  static constexpr component::ComponentMetadata about{.type = "JointTrajectoryController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Moves joints along trajectories."};
  /// Claims all joints of the robot, at most 64.
  explicit JointTrajectoryController(std::string name) : Controller(about, std::move(name)) {}

  /// Begins a cycle, before its requests. `now`: the nominal time of the cycle.
  void begin(Time now) noexcept;
  /// Whether submit() may be called. False while events of an earlier cycle wait for delivery, or when this
  /// cycle's share is used up. The share is eight requests, and lead motions for about as many joints as a
  /// robot can have.
  [[nodiscard]] bool accepts_requests() const noexcept;
  /// Takes one validated request of the kinds trajectory, setpoint, cancel and speed. The controller borrows
  /// it until an event carries it back in `retired`:
  ///
  /// * A trajectory, or the first setpoint of a stream: with the event that ends, rejects or recalls the
  ///   goal. An earlier event with state `active` and no `retired` reports its beginning.
  /// * A further setpoint of a stream: with an event `active` of this cycle.
  /// * Cancel, speed: with an event of this cycle, `succeeded` or `rejected`. It concerns the request itself;
  ///   each affected goal has events of its own.
  void submit(Request& request) noexcept;

  /// Why a request failed, with its numbers.
  struct Fault {
    Errc reason{};
    std::size_t joint = 0;
    double value = 0;
    double limit = 0;
    trajectory::Quantity quantity{};
  };
  /// Gives a request back, with an event of this cycle.
  void answer(Request& request, GoalState state, const Fault& fault, double speed_excess = 0) noexcept;

  /// Passes the events of this cycle, oldest first, to `sink(const Event&) -> bool`. An event that the sink
  /// refuses is offered again in the next cycle. `written` is the time at which the commands were on the bus.
  template <class Sink>
  void deliver(Time written, Sink&& sink) noexcept {
    for (std::size_t i = 0; i < event_count_; ++i) {
      if (events_[i].state == GoalState::active && events_[i].first_reference == Time{}) {
        events_[i].first_reference = written;
      }
    }
    std::size_t taken = 0;
    while (taken < event_count_ && sink(static_cast<const Event&>(events_[taken]))) ++taken;
    for (std::size_t i = taken; i < event_count_; ++i) events_[i - taken] = events_[i];
    event_count_ -= taken;
  }

  /// Fills in the goals of the snapshot.
  void describe(Snapshot& snapshot) const noexcept;

  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override;
  [[nodiscard]] bool keeps_limits() const noexcept override { return true; }
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override;
  [[nodiscard]] Status on_state_update(const component::CycleTime& cycle) noexcept override;
  void on_deactivate(const component::CycleTime& cycle) noexcept override;
  void on_lent(std::size_t joint) noexcept override;
  void on_returned(std::size_t joint) noexcept override { axes_[joint].is_lent = false; }

 private:
  struct Axis {
    robot::Joint* joint = nullptr;
    double goal_tolerance = 0;
    std::uint8_t goal = 0;  ///< index into goals_: the goal that moves the joint, or that waits for its stop
    bool has_goal = false;  ///< goal `goal` moves it
    bool stops = false;     ///< the manager brings it to rest
    bool waited_for = false;  ///< goal `goal` ends when the joint is at rest
    bool is_lent = false;     ///< to another controller
    double command = 0;       ///< the goal's target, before any limiter
    control::SetpointFollower follower;
  };

  /// The motion that joins the present reference to a goal's trajectory.
  struct Lead {
    double duration = 0;  ///< s, of Request::lead; 0 = none needed
    double leads_to = 0;  ///< s of the trajectory at which the lead ends
  };

  /// A goal that the controller holds. Free while `request` is null.
  struct Goal {
    Request* request = nullptr;
    GoalState state = GoalState::pending;
    Lead lead;
    trajectory::SpeedScaling travel;  ///< progress along the path: the lead, then the trajectory
    double speed_excess = 0;          ///< worst relative excess of a limit by changes of the speed
    bool stops_on_path = false;       ///< preempting, but still moving along its path
    bool waited = false;              ///< in the last cycle, for the drives' answers after a pause
    trajectory::Trajectory::Cursor cursor;
    /// s from the trajectory's end to the present reference
    double overtime = -std::numeric_limits<double>::infinity();
    Setpoint setpoint;
    std::uint64_t setpoint_began = 0;  ///< tick at which the latest setpoint arrived
    Errc reason{};
  };

  /// The path of a trajectory goal: its lead, then its trajectory.
  struct Path;

  [[nodiscard]] static bool is_busy(const Axis& axis) noexcept {
    return axis.has_goal || axis.stops || axis.joint->stopping();
  }
  [[nodiscard]] static Fault fault_of(const robot::RobotFault& fault) noexcept {
    return {reason_of(fault.reason), fault.joint, fault.value, fault.limit};
  }
  [[nodiscard]] double seconds_since(std::uint64_t tick) const noexcept;
  [[nodiscard]] std::size_t free_goal() const noexcept;
  [[nodiscard]] bool waits_for_a_stop(std::size_t goal) const noexcept;
  [[nodiscard]] std::size_t find_goal(GoalId id) const noexcept;
  [[nodiscard]] Fault unavailable(JointSet joints) const noexcept;

  void start_trajectory(Request& request) noexcept;
  void start_or_continue_stream(Request& request) noexcept;
  void cancel(Request& request) noexcept;
  void change_speed(Request& request) noexcept;
  [[nodiscard]] std::size_t busy_joint(JointSet joints) const noexcept;
  [[nodiscard]] Fault join_present_motion(Request& request, Lead& lead) noexcept;
  void begin_scheduled() noexcept;
  void recall_scheduled(GoalId goal, Errc reason) noexcept;
  [[nodiscard]] double time_at_last_reference(const Request& request) const noexcept;
  [[nodiscard]] Fault start_mismatch(const Request& request) const noexcept;
  [[nodiscard]] Fault find_lead(Request& request, Lead& lead) noexcept;
  [[nodiscard]] Fault plan_lead(Request& request, std::size_t knot, double at_least) noexcept;
  [[nodiscard]] Fault missing_time(const Request& request, double time) const noexcept;
  [[nodiscard]] Fault unavoidable_excess(const Request& request) const noexcept;
  void take_joints(Request& request, std::size_t goal, double duration, const Fault& excess) noexcept;

  [[nodiscard]] bool waits(const Goal& goal) const noexcept;
  void go_on(Goal& goal) noexcept;
  void sample(Goal& goal, const Path& path) noexcept;
  void advance_trajectory(Goal& goal) noexcept;
  void advance_stream(Goal& goal) noexcept;
  void finish_preempted() noexcept;
  [[nodiscard]] bool has_ended(Goal& goal) noexcept;

  void begin_stop(std::size_t joint) noexcept;
  void preempt(std::size_t goal, Errc reason) noexcept;
  void stop_on_path(std::size_t goal, Errc reason) noexcept;
  void begin_preempting(Goal& goal, Errc reason) noexcept;
  void stop_joints(std::size_t goal) noexcept;
  void abort_all(const Fault& fault) noexcept;
  void end_goal(Goal& goal, GoalState state, const Fault& fault) noexcept;
  void emit(const Event& event) noexcept;

  Duration period_{1};
  const robot::Supervisor* supervisor_ = nullptr;
  std::vector<Axis> axes_;
  /// One more than joints: each goal here holds a joint, and a new goal takes its joints last.
  std::vector<Goal> goals_;
  std::array<Request*, max_scheduled> scheduled_{};  ///< trajectories whose start is in the future
  std::size_t scheduled_count_ = 0;

  Time now_{};
  std::uint64_t tick_ = 0;
  std::size_t submitted_ = 0;
  std::size_t planned_ = 0;  ///< joints with a lead planned in this cycle

  // Sized for the worst case: the controller takes no request while an event of an earlier cycle waits. So at
  // most these come together: the answers to one cycle's requests, the recalled trajectories, and three
  // events per goal. The three events of a goal are its beginning, its preemption and its end.
  std::array<Event, 3 * max_joints + 4 * max_requests_per_cycle + max_scheduled> events_;
  std::size_t event_count_ = 0;
  std::size_t backlog_ = 0;  ///< events of earlier cycles that were waiting when this cycle began

  std::array<double, max_joints> positions_{};
  std::array<double, max_joints> velocities_{};
  std::array<double, max_joints> accelerations_{};
  std::array<MotionState, max_joints> starts_{};
  std::array<MotionState, max_joints> ends_{};
  std::array<MotionState, max_joints> measured_{};
  std::array<trajectory::DirectionalLimits, max_joints> bounds_{};
  std::array<JointLimits, max_joints> limits_{};
};

}  // namespace takt::motion
