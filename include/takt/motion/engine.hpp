// The motion engine: what the loop computes every period. It owns the reference of every joint, gives joints to goals, takes
// them away again, follows trajectories and streams, stops what has to be stopped, and watches the drives. It knows no bus, no
// clock and no thread: feedback and the nominal time go in, commands and events come out, so the same engine runs on the
// robot, in simulated time and in a test.
//
// Every call is real-time safe; only the constructor allocates. One cycle is:
//
//     engine.begin(now, feedback, missed);    // what the drives say, and for how long the loop was away
//     engine.submit(request);                 // any number of requests, each already validated outside
//     engine.advance(commands);               // one period of motion
//     ... commands are written to the bus ...
//     engine.deliver(written, sink);          // events, stamped with when the reference left
//
// A goal owns joints. A new goal on owned joints takes them over from their present reference; the old goal ends `preempted`,
// and those of its joints that the new one does not take come to a bounded stop. A new goal that cannot be joined to the
// present motion within its limits, or that asked not to take joints from others, is rejected and the old one goes on as if
// nothing had happened. Where the joints already exceed the new goal's own limits, it brakes first, with the least violation there
// is, and its event `active` says so.
//
// A goal that follows a trajectory is judged each cycle by its tolerances: the feedback against the reference that it answers.
// One that leaves its path ends aborted, and its joints come to a bounded stop; at its end it has succeeded when its joints are
// within the tolerances there. They may be wider than the robot's own: whatever a goal allows itself, the robot's following
// error stops the robot.
//
// A trajectory with a start in the future is held until then, and joined in the first cycle after it: at whose time the reference
// is the trajectory's at exactly that time, if it could be joined at once. One with a start in the past is joined at a waypoint
// that is still ahead, at its time. What is held is recalled by a cancel and by whatever stops the robot.
//
// Motion time is counted in executed periods: a loop that misses a period delays the motion and never jumps the reference. A
// loop that misses more in a row than overrun_limit stops the robot, before it judges what the drives did meanwhile. The
// silence of drives is counted in executed cycles, too: a loop that paused asked them nothing.
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

class Engine {
 public:
  /// The most trajectories that are held for their start; more are rejected (queue_full).
  static constexpr std::size_t max_scheduled = max_joints;

  /// Sizes everything for the robot. Set-up time: allocates.
  explicit Engine(const robot::RobotDescription& robot);

  /// Begins a cycle: takes in the feedback, one entry for each joint, and reacts to what is wrong with it. `missed` is how many
  /// periods in a row passed without a cycle since the one before.
  void begin(Time now, std::span<const robot::JointFeedback> feedback, std::uint64_t missed = 0) noexcept;

  /// Whether submit() may be called: false while earlier events wait for delivery or the cycle's share is used up: eight
  /// requests, and about as many joints to plan leads for as a robot can have.
  [[nodiscard]] bool accepts_requests() const noexcept;

  /// Takes one validated request. The engine borrows it until an event carries it back in `retired`:
  ///   trajectory, first set-point of a stream   with the event that ends the goal (rejects it, recalls it); before that, one with
  ///                                             state `active` and no `retired` says that it runs
  ///   further set-points of a stream            with an event `active` of this cycle
  ///   cancel, speed, emergency_stop, reset, shutdown
  ///                                             with an event of this cycle, state `succeeded` or `rejected`: that of the
  ///                                             request itself; what it did to goals comes in events of their own
  void submit(Request& request) noexcept;

  /// From the next begin() on: a bounded stop of everything, then power off, then RobotState::down. For the end of the process.
  void shut_down() noexcept { shutdown_asked_ = true; }

  /// Leaves a latched stop, as a reset request does: faults are cleared, drives powered. Between begin() and advance(). False: the
  /// robot still stops, or is down.
  bool reset() noexcept;

  /// One period of motion: writes one command for each joint.
  void advance(std::span<robot::JointCommand> commands) noexcept;

  /// Hands the events of this cycle, oldest first, to `sink(const Event&) -> bool`; one that it does not take is offered again
  /// next cycle. `written` is when the commands had been written to the bus.
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

  /// Fills in everything but the loop's and the hardware's own figures.
  void describe(Snapshot& snapshot) const noexcept;

  [[nodiscard]] RobotState state() const noexcept { return state_; }

 private:
  /// What moves a joint.
  enum class Source : std::uint8_t {
    hold,
    goal,
    stop,   ///< along a stop that was planned with bounded jerk
    brake,  ///< as hard as the acceleration limit allows
  };

  struct Axis {
    JointLimits limits;
    SafeBehaviour safe = SafeBehaviour::hold;
    trajectory::JointTolerance following_error;
    double goal_tolerance = 0;

    Source source = Source::hold;
    std::uint8_t goal = 0;    ///< index into goals_: of the goal that moves it, or that waits for its stop
    bool waited_for = false;  ///< source stop or brake: goal `goal` ends when this does
    double command = 0;
    MotionState reference;
    control::SetpointFollower follower;
    trajectory::StopMotion stop;
    std::uint64_t stop_began = 0;  ///< tick at which the stop's time is zero
    std::uint64_t answered = 0;    ///< tick at which its drive's latest answer came
  };

  /// How a goal comes from the reference that it found to its trajectory.
  struct Lead {
    double duration = 0;  ///< s of Request::lead; 0 = it is not needed
    double leads_to = 0;  ///< s of the trajectory at which it goes on from there
  };

  /// A goal that the engine holds. Free while `request` is null.
  struct Goal {
    Request* request = nullptr;
    GoalState state = GoalState::pending;
    Lead lead;
    trajectory::SpeedScaling travel;  ///< on the path: the lead, then the trajectory
    double speed_excess = 0;          ///< by what part changes of its speed have exceeded limits at worst
    bool stops_on_path = false;       ///< preempting, but still travelling
    trajectory::Trajectory::Cursor cursor;
    double overtime = -std::numeric_limits<double>::infinity();  ///< s from the trajectory's end to the
                                                                 ///< reference that stands
    Setpoint setpoint;
    std::uint64_t setpoint_began = 0;  ///< tick at which the latest set-point arrived
    Errc reason{};
  };

  /// What a trajectory goal travels along.
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
  void write_commands(std::span<robot::JointCommand> commands) noexcept;

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
  std::vector<Goal>
      goals_;  ///< one more than joints: each goal here holds a joint, and a new one takes its joints last
  std::array<Request*, max_scheduled> scheduled_{};  ///< trajectories whose start is in the future
  std::size_t scheduled_count_ = 0;
  std::vector<robot::JointFeedback> feedback_;

  Time now_{};
  std::uint64_t tick_ = 0;
  RobotState state_ = RobotState::starting;
  Fault fault_;
  JointSet powered_;  ///< joints whose drives are to be on
  JointSet settled_;  ///< starting: joints whose drive has been seen ready
  bool power_off_after_stop_ = false;
  bool shutdown_asked_ = false;
  bool down_after_stop_ = false;
  bool clear_faults_ = false;
  std::uint64_t waiting_since_ = 0;  ///< tick at which the robot began to wait for its drives
  std::size_t submitted_ = 0;
  std::size_t planned_ = 0;  ///< joints that leads were planned for in this cycle

  // Room for the worst: no request is taken while an event of an earlier cycle waits, so what can come together is the answers
  // to one cycle's requests, what is recalled, and, for each goal held then, its beginning, its preemption and its end.
  std::array<Event, 3 * max_joints + 4 * max_requests_per_cycle + max_scheduled> events_;
  std::size_t event_count_ = 0;
  std::size_t backlog_ = 0;  ///< events of earlier cycles that still waited when this cycle began

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
