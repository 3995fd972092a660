// The motion engine: the computation of one loop period. It owns the reference of every joint and decides
// which goal owns which joint. It follows trajectories and streams, plans stops, and watches the drives.
//
// The engine knows no bus, no clock and no thread. Feedback and the nominal time go in; commands and events
// come out. The same engine therefore runs on the robot, in simulated time and in a test.
//
// Every function is real-time safe; only the constructor allocates. One cycle is:
//
//     engine.begin(now, feedback, missed);  // the drives' answers; periods without a cycle
//
//     engine.submit(request);               // any number of requests, validated by the planner
//     engine.advance(commands);             // one period of motion
//
//     hardware.write(now, commands);        // to the buses
//     engine.deliver(written, sink);        // events, with the time at which the reference left
//
// Ownership. A goal owns its joints. A new goal on owned joints takes them over from their present reference,
// and the old goal ends `preempted`. Joints of the old goal that the new one does not take come to a bounded
// stop. The engine rejects a new goal if no motion within its limits joins it to the present motion. It also
// rejects one that may not take joints from others and needs such joints. A rejected goal leaves the old one
// unchanged. If the joints already exceed the new goal's own limits, the goal brakes first, with the least
// possible violation. Its event `active` reports this.
//
// Tolerances. In each cycle the engine compares the feedback with the reference that it answers. A goal
// outside its path tolerance ends aborted, and its joints come to a bounded stop. A goal succeeds when its
// joints are within the goal tolerance at its end. A goal's tolerances may be wider than the robot's own. The
// robot's following error still stops the robot.
//
// Start times. A trajectory with a start in the future waits here until then. The engine joins it in the
// first cycle after the start. If it can be joined at once, the reference of that cycle is the trajectory's
// at exactly that time. A trajectory with a start in the past is joined at a later waypoint, at that
// waypoint's time. A cancel, and everything that stops the robot, recalls waiting trajectories.
//
// Time. Motion time counts executed periods, so a missed period delays the motion and the reference never
// jumps. A loop that misses more than overrun_limit periods in a row stops the robot. It does so before it
// judges the drives. The silence of drives also counts in executed cycles, because a paused loop sent them
// nothing.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "takt/control/setpoint_follower.hpp"
#include "takt/core/joint.hpp"
#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/speed_scaling.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/tolerances.hpp"

namespace takt::motion {

/// Computes one robot's motion, cycle by cycle. For one thread, the loop's.
class Engine {
 public:
  /// How many trajectories may wait for their start. Further ones are rejected (queue_full).
  static constexpr std::size_t max_scheduled = max_joints;

  /// Sizes all memory for the robot. Allocates: call it at set-up.
  explicit Engine(const robot::RobotDescription& robot);

  /// Begins a cycle: takes the feedback, one entry per joint, and reacts to faults. Argument `now`: the
  /// nominal time of the cycle. Argument `missed`: the number of periods in a row without a cycle before this
  /// one.
  void begin(Time now, std::span<const robot::JointFeedback> feedback, std::uint64_t missed = 0) noexcept;

  /// Whether submit() may be called. False while events of an earlier cycle wait for delivery, or when this
  /// cycle's share is used up. The share is eight requests, and lead motions for about as many joints as a
  /// robot can have.
  [[nodiscard]] bool accepts_requests() const noexcept;

  /// Takes one validated request. The engine borrows it until an event carries it back in `retired`:
  ///
  /// * A trajectory, or the first setpoint of a stream: with the event that ends, rejects or recalls the
  ///   goal. An earlier event with state `active` and no `retired` reports its beginning.
  /// * A further setpoint of a stream: with an event `active` of this cycle.
  /// * Cancel, speed, emergency_stop, reset, shutdown: with an event of this cycle, `succeeded` or
  ///   `rejected`. It concerns the request itself; each affected goal has events of its own.
  void submit(Request& request) noexcept;

  /// From the next begin() on, stops all joints, powers off, then enters RobotState::down. For the end of the
  /// process.
  void shut_down() noexcept { shutdown_asked_ = true; }

  /// Leaves a latched stop, as a reset request does: clears the faults and powers the drives. Call it between
  /// begin() and advance(). Nothing happens while the robot is still stopping, is down, or the bus of a drive
  /// is down.
  void reset() noexcept { leave_stop(); }

  /// Computes one period of motion and writes one command per joint.
  void advance(std::span<JointCommand> commands) noexcept;

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

  /// Fills in the snapshot, except the loop's and the hardware's own counters.
  void describe(Snapshot& snapshot) const noexcept;

  /// The state of the robot after the last begin() or advance().
  [[nodiscard]] RobotState state() const noexcept { return state_; }

 private:
  /// What moves a joint.
  enum class Source : std::uint8_t {
    hold,
    goal,
    stop,   ///< along a stop with bounded jerk
    brake,  ///< at the acceleration limit
  };

  struct Axis {
    JointLimits limits;
    SafeBehaviour safe = SafeBehaviour::hold;
    trajectory::JointTolerance following_error;
    double goal_tolerance = 0;

    Source source = Source::hold;
    std::uint8_t goal = 0;  ///< index into goals_: the goal that moves the joint, or that waits for its stop
    bool waited_for = false;  ///< source stop or brake: goal `goal` ends when this motion ends
    double command = 0;
    MotionState reference;
    control::SetpointFollower follower;
    trajectory::StopMotion stop;
    std::uint64_t stop_began = 0;  ///< tick at which the stop's time is zero
    std::uint64_t answered = 0;    ///< tick of its drive's latest answer
  };

  /// The motion that joins the present reference to a goal's trajectory.
  struct Lead {
    double duration = 0;  ///< s, of Request::lead; 0 = none needed
    double leads_to = 0;  ///< s of the trajectory at which the lead ends
  };

  /// A goal that the engine holds. Free while `request` is null.
  struct Goal {
    Request* request = nullptr;
    GoalState state = GoalState::pending;
    Lead lead;
    trajectory::SpeedScaling travel;  ///< progress along the path: the lead, then the trajectory
    double speed_excess = 0;          ///< worst relative excess of a limit by changes of the speed
    bool stops_on_path = false;       ///< preempting, but still moving along its path
    trajectory::Trajectory::Cursor cursor;
    /// s from the trajectory's end to the present reference
    double overtime = -std::numeric_limits<double>::infinity();
    Setpoint setpoint;
    std::uint64_t setpoint_began = 0;  ///< tick at which the latest setpoint arrived
    Errc reason{};
  };

  /// The path of a trajectory goal: its lead, then its trajectory.
  struct Path;

  struct Fault {
    Errc reason{};
    std::size_t joint = 0;
    double value = 0;
    double limit = 0;
    trajectory::Quantity quantity{};
  };

  [[nodiscard]] double seconds_since(std::uint64_t tick) const noexcept;
  [[nodiscard]] std::size_t free_goal() const noexcept;
  [[nodiscard]] bool waits_for_a_stop(std::size_t goal) const noexcept;
  [[nodiscard]] std::size_t find_goal(GoalId id) const noexcept;

  void take_feedback(std::span<const robot::JointFeedback> feedback) noexcept;
  void watch_start() noexcept;
  void watch_loop(std::uint64_t missed) noexcept;
  void watch_drives(bool was_ready) noexcept;
  [[nodiscard]] Fault fault_of(std::size_t joint) const noexcept;

  void start_trajectory(Request& request) noexcept;
  void start_or_continue_stream(Request& request) noexcept;
  void cancel(Request& request) noexcept;
  void change_speed(Request& request) noexcept;
  void emergency_stop(Request& request) noexcept;
  void reset(Request& request) noexcept;
  /// Returns why the robot stays in its stop; the reason Errc{} if it leaves it.
  Fault leave_stop() noexcept;
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

  void advance_trajectory(Goal& goal) noexcept;
  void advance_stream(Goal& goal) noexcept;
  void advance_stops() noexcept;
  void finish_preempted() noexcept;
  [[nodiscard]] bool has_ended(Goal& goal) noexcept;
  void settle_robot_state() noexcept;
  void write_commands(std::span<JointCommand> commands) noexcept;

  void begin_stop(std::size_t joint) noexcept;
  [[nodiscard]] bool stopping(const Axis& axis) const noexcept;
  void finish_stop(Axis& axis) noexcept;
  void preempt(std::size_t goal, Errc reason) noexcept;
  void stop_on_path(std::size_t goal, Errc reason) noexcept;
  void begin_preempting(Goal& goal, Errc reason) noexcept;
  void stop_joints(std::size_t goal) noexcept;
  void abort_all(const Fault& fault) noexcept;
  void stop_robot(const Fault& fault, bool power_off_after) noexcept;
  void stop_for_good() noexcept;
  void end_goal(Goal& goal, GoalState state, const Fault& fault) noexcept;
  void emit(const Event& event) noexcept;
  void answer(Request& request, GoalState state, const Fault& fault, double speed_excess = 0) noexcept;

  Duration period_;
  std::uint32_t overrun_limit_;
  std::uint32_t silence_limit_;  ///< cycles
  std::vector<Axis> axes_;
  /// One more than joints: each goal here holds a joint, and a new goal takes its joints last.
  std::vector<Goal> goals_;
  std::array<Request*, max_scheduled> scheduled_{};  ///< trajectories whose start is in the future
  std::size_t scheduled_count_ = 0;
  std::vector<robot::JointFeedback> feedback_;

  Time now_{};
  std::uint64_t tick_ = 0;
  RobotState state_ = RobotState::starting;
  Fault fault_;
  JointSet powered_;  ///< joints whose drives are to be on
  JointSet settled_;  ///< state starting: joints whose drive was seen ready
  bool power_off_after_stop_ = false;
  bool shutdown_asked_ = false;
  bool down_after_stop_ = false;
  bool clear_faults_ = false;
  std::uint64_t waiting_since_ = 0;  ///< tick at which the robot began to wait for its drives
  std::size_t submitted_ = 0;
  std::size_t planned_ = 0;  ///< joints with a lead planned in this cycle

  // Sized for the worst case: the engine takes no request while an event of an earlier cycle waits. So at
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
