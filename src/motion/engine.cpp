#include "takt/motion/engine.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "takt/trajectory/brake.hpp"
#include "takt/trajectory/limits.hpp"

namespace takt::motion {

namespace {

using trajectory::Tracking;

constexpr std::size_t no_goal = max_joints + 1;

/// If dense waypoints leave no time to join the first one, a waypoint this many knots later is tried.
constexpr std::array<std::size_t, 3> lead_steps{0, 3, 15};

/// While drives are powering up, silence is reported only after this time, and is no fault.
constexpr Duration patience_at_start = std::chrono::seconds(2);
/// A joint stands if its velocity is below this fraction of its limit.
constexpr double standstill = 0.05;
/// How long a shutdown waits until the drives confirm that they are off.
constexpr Duration patience_at_end = std::chrono::seconds(1);

}  // namespace

/// The lead, then the rest of the trajectory, by the time since the goal began.
struct Engine::Path {
  using Cursor = trajectory::Trajectory::Cursor;
  const Goal& goal;

  [[nodiscard]] double on_trajectory(double t) const noexcept {
    return t - goal.lead.duration + goal.lead.leads_to;
  }
  [[nodiscard]] double duration() const noexcept {
    return goal.lead.duration + goal.request->trajectory.duration() - goal.lead.leads_to;
  }
  template <class Visit>
  void derivatives(double t, Cursor& cursor, Visit&& visit) const noexcept {
    if (t < goal.lead.duration) return goal.request->lead.derivatives(t, {}, visit);
    goal.request->trajectory.derivatives(on_trajectory(t), cursor, visit);
  }
  void sample(double t, Cursor& cursor, std::span<double> positions, std::span<double> velocities,
              std::span<double> accelerations) const noexcept {
    if (t < goal.lead.duration) return goal.request->lead.sample(t, positions, velocities, accelerations);
    goal.request->trajectory.sample(on_trajectory(t), cursor, positions, velocities, accelerations);
  }
};

Engine::Engine(const robot::RobotDescription& robot)
    : period_(robot.period),
      overrun_limit_(robot.overrun_limit),
      silence_limit_(robot.silence_limit()),
      axes_(robot.joints.size()),
      goals_(robot.joints.size() + 1),
      feedback_(robot.joints.size()) {
  assert(robot.joints.size() <= max_joints);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    axes_[i].limits = robot.joints[i].limits;
    axes_[i].safe = robot.joints[i].safe;
    axes_[i].following_error.position = robot.joints[i].following_error;
    axes_[i].goal_tolerance = robot.joints[i].goal_tolerance;
  }
  powered_ = JointSet::first(axes_.size());
}

// ---- the cycle --------------------------------------------------------------------------------------------

void Engine::begin(Time now, std::span<const robot::JointFeedback> feedback, std::uint64_t missed) noexcept {
  now_ = now;
  ++tick_;
  submitted_ = 0;
  planned_ = 0;
  backlog_ = event_count_;
  clear_faults_ = false;
  take_feedback(feedback);
  if (shutdown_asked_) stop_for_good();
  const bool was_ready = state_ == RobotState::ready;
  watch_loop(missed);  // First: drives that lost their reference meanwhile are not the cause.
  if (state_ == RobotState::starting) {
    watch_start();
  } else if (state_ != RobotState::down) {
    watch_drives(was_ready);
  }
  begin_scheduled();
}

bool Engine::accepts_requests() const noexcept {
  return backlog_ == 0 && submitted_ < max_requests_per_cycle && planned_ < max_joints;
}

void Engine::submit(Request& request) noexcept {
  ++submitted_;
  switch (request.kind) {
    case RequestKind::trajectory:
      return start_trajectory(request);
    case RequestKind::setpoint:
      return start_or_continue_stream(request);
    case RequestKind::cancel:
      return cancel(request);
    case RequestKind::speed:
      return change_speed(request);
    case RequestKind::emergency_stop:
      return emergency_stop(request);
    case RequestKind::reset:
      return reset(request);
    case RequestKind::shutdown:
      stop_for_good();
      return answer(request, GoalState::succeeded, Fault{});
  }
}

void Engine::advance(std::span<JointCommand> commands) noexcept {
  for (Goal& goal : goals_) {
    if (goal.request == nullptr || !(goal.state == GoalState::active || goal.stops_on_path)) continue;
    if (goal.request->kind == RequestKind::trajectory) {
      advance_trajectory(goal);
    } else {
      advance_stream(goal);
    }
  }
  advance_stops();
  finish_preempted();
  settle_robot_state();
  write_commands(commands);
}

void Engine::describe(Snapshot& snapshot) const noexcept {
  snapshot.time = now_;
  snapshot.state = state_;
  snapshot.reason = fault_.reason;
  snapshot.reason_joint = static_cast<std::uint8_t>(fault_.joint);
  snapshot.reason_value = fault_.value;
  snapshot.reason_limit = fault_.limit;
  snapshot.joint_count = static_cast<std::uint8_t>(axes_.size());
  snapshot.active_goals = 0;
  for (const Goal& goal : goals_) {
    if (goal.request != nullptr) ++snapshot.active_goals;
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    JointSnapshot& joint = snapshot.joints[i];
    joint.command = axis.command;
    joint.reference = axis.reference;
    joint.measured_position = feedback_[i].position;
    joint.measured_velocity = feedback_[i].velocity;
    joint.measured_effort = feedback_[i].effort;
    joint.drive = feedback_[i].drive;
    joint.fault = feedback_[i].fault;
    const bool owned = axis.source == Source::goal || (stopping(axis) && axis.waited_for);
    const Goal* goal = owned && goals_[axis.goal].request != nullptr ? &goals_[axis.goal] : nullptr;
    joint.goal = goal != nullptr ? goal->request->goal : 0;
    joint.goal_time = goal != nullptr ? goal->travel.time() : 0;
    joint.speed = goal != nullptr ? goal->travel.speed() : 1;
    joint.speed_excess = goal != nullptr ? goal->speed_excess : 0;
  }
}

// ---- small helpers ----------------------------------------------------------------------------------------

double Engine::seconds_since(std::uint64_t tick) const noexcept {
  return to_seconds(period_ * static_cast<Duration::rep>(tick_ - tick));
}

std::size_t Engine::free_goal() const noexcept {
  std::size_t i = 0;
  // One slot is always free: every held goal has at least one joint of its own, which it moves or waits for.
  while (i + 1 < goals_.size() && goals_[i].request != nullptr) ++i;
  return i;
}

bool Engine::waits_for_a_stop(std::size_t goal) const noexcept {
  return std::any_of(axes_.begin(), axes_.end(), [this, goal](const Axis& axis) {
    return stopping(axis) && axis.waited_for && axis.goal == goal;
  });
}

std::size_t Engine::find_goal(GoalId id) const noexcept {
  for (std::size_t i = 0; i < goals_.size(); ++i) {
    if (goals_[i].request != nullptr && goals_[i].request->goal == id) return i;
  }
  return no_goal;
}

void Engine::emit(const Event& event) noexcept {
  assert(event_count_ < events_.size());
  if (event_count_ < events_.size()) events_[event_count_++] = event;
}

void Engine::answer(Request& request, GoalState state, const Fault& fault, double speed_excess) noexcept {
  Event event;
  event.goal = request.goal;
  event.state = state;
  event.reason = fault.reason;
  event.joint = static_cast<std::uint8_t>(fault.joint);
  event.value = fault.value;
  event.limit = fault.limit;
  event.quantity = fault.quantity;
  event.speed_excess = speed_excess;
  event.received = request.received;
  event.handed_over = request.handed_over;
  event.retired = &request;
  emit(event);
}

void Engine::end_goal(Goal& goal, GoalState state, const Fault& fault) noexcept {
  answer(*goal.request, state, fault, goal.speed_excess);
  goal = Goal{};
}

// ---- watching the loop and the drives ---------------------------------------------------------------------

void Engine::take_feedback(std::span<const robot::JointFeedback> feedback) noexcept {
  for (std::size_t i = 0; i < std::min(feedback.size(), feedback_.size()); ++i) {
    const bool is_news = !feedback_[i].heard || feedback[i].stamp != feedback_[i].stamp;
    if (feedback[i].heard && is_news) axes_[i].answered = tick_;
    feedback_[i] = feedback[i];
  }
}

void Engine::watch_start() noexcept {
  fault_ = {};
  const bool patient = period_ * static_cast<Duration::rep>(tick_ - waiting_since_) <= patience_at_start;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    Axis& axis = axes_[i];
    const Fault fault = fault_of(i);
    if (fault.reason == Errc{}) {
      // A drive's reference begins where its joint stands, and only once it stands. A drive that held its
      // joint all the time keeps its reference.
      const bool stands = !(std::abs(feedback_[i].velocity) > standstill * axis.limits.velocity);
      if (settled_.contains(i) || !stands) continue;
      axis.reference = {feedback_[i].position, 0, 0};
      axis.command = feedback_[i].position;
      settled_.insert(i);
    } else {
      settled_.erase(i);
      const bool reports_a_fault = feedback_[i].drive == DriveState::fault;
      if (fault_.reason != Errc{} || (patient && !reports_a_fault)) continue;
      fault_ =
          reports_a_fault ? Fault{Errc::drive_fault, i, static_cast<double>(feedback_[i].fault), 0} : fault;
    }
  }
  if (settled_ == JointSet::first(axes_.size())) state_ = RobotState::ready;
}

Engine::Fault Engine::fault_of(std::size_t joint) const noexcept {
  const robot::JointFeedback& seen = feedback_[joint];
  if (seen.drive == DriveState::no_bus) return {Errc::bus_down, joint, 0, 0};
  if (const std::uint64_t unanswered = tick_ - axes_[joint].answered;
      !seen.heard || unanswered >= silence_limit_) {
    return {Errc::drive_silent, joint, seconds_since(axes_[joint].answered),
            to_seconds(period_ * silence_limit_)};
  }
  switch (seen.drive) {
    case DriveState::ready:
      break;
    case DriveState::fault:
      return {Errc::drive_fault, joint, static_cast<double>(seen.fault), 0};
    case DriveState::off:
      return {Errc::drive_off, joint, 0, 0};
    case DriveState::no_bus:
      return {Errc::bus_down, joint, 0, 0};
    case DriveState::unknown:  // its position is known, its state is not
      return {Errc::drive_silent, joint, 0, 0};
  }
  if (state_ == RobotState::starting && !settled_.contains(joint)) return {};
  trajectory::WorstDeviation<double> off;
  off.look_at(joint, axes_[joint].following_error, axes_[joint].reference, {seen.position, 0, 0});
  if (!off.result()) return {};
  return {Errc::following_error, joint, off.result()->value, off.result()->allowed};
}

void Engine::watch_loop(std::uint64_t missed) noexcept {
  const bool holds_joints = state_ == RobotState::starting || state_ == RobotState::ready;
  if (missed <= overrun_limit_ || !holds_joints) return;
  stop_robot({Errc::loop_overrun, 0, static_cast<double>(missed), static_cast<double>(overrun_limit_)},
             false);
}

void Engine::watch_drives(bool was_ready) noexcept {
  Fault first;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!powered_.contains(i)) continue;
    const Fault fault = fault_of(i);
    if (fault.reason == Errc{}) continue;
    if (first.reason == Errc{}) first = fault;
    axes_[i].source = Source::hold;
    axes_[i].reference = {feedback_[i].position, 0, 0};
    // A joint that was pushed off its reference holds its measured position. A joint that does not answer or
    // obey is powered off, and so is one that leaves its reference again during the stop. The other joints
    // brake.
    const bool may_hold = fault.reason == Errc::following_error && was_ready;
    if (!may_hold) powered_.erase(i);
  }
  if (first.reason != Errc{} && state_ == RobotState::ready) stop_robot(first, false);
}

// ---- requests ---------------------------------------------------------------------------------------------

void Engine::start_trajectory(Request& request) noexcept {
  if (state_ != RobotState::ready)
    return answer(request, GoalState::rejected, {Errc::robot_not_ready, 0, 0, 0});
  if (request.start && *request.start >= now_) {
    if (scheduled_count_ == scheduled_.size())
      return answer(request, GoalState::rejected, {Errc::queue_full, 0, 0, 0});
    scheduled_[scheduled_count_++] = &request;
    return;
  }
  if (const std::size_t busy = busy_joint(request.joints); request.spares_others && busy < axes_.size())
    return answer(request, GoalState::rejected, {Errc::joint_busy, busy, 0, 0});
  Lead lead;
  if (const Fault fault = join_present_motion(request, lead); fault.reason != Errc{})
    return answer(request, GoalState::rejected, fault);
  const std::size_t slot = free_goal();
  take_joints(request, slot, lead.duration + request.trajectory.duration() - lead.leads_to,
              unavoidable_excess(request));
  goals_[slot].lead = lead;
}

/// The worst limit that the joints' present motion inevitably exceeds; no reason if there is none.
Engine::Fault Engine::unavoidable_excess(const Request& request) const noexcept {
  Fault worst;
  double worst_ratio = 1 + trajectory::limit_slack;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    const JointLimits& limits = request.limits[column++];
    const JointLimits raised = trajectory::raised_for(axes_[joint].reference, limits);
    const auto look_at = [&](trajectory::Quantity quantity, double value, double limit) noexcept {
      if (!(value > worst_ratio * limit)) return;
      worst_ratio = value / limit;
      worst = {limit_of(quantity), joint, value, limit, quantity};
    };
    look_at(trajectory::Quantity::velocity, raised.velocity, limits.velocity);
    look_at(trajectory::Quantity::acceleration, raised.acceleration, limits.acceleration);
  });
  return worst;
}

/// Begins the trajectories whose start has passed, in the order of their starts, within the cycle's share.
void Engine::begin_scheduled() noexcept {
  while (scheduled_count_ > 0 && accepts_requests()) {
    const auto end = scheduled_.begin() + static_cast<std::ptrdiff_t>(scheduled_count_);
    const auto first =
        std::min_element(scheduled_.begin(), end,
                         [](const Request* a, const Request* b) noexcept { return *a->start < *b->start; });
    if (*(*first)->start >= now_) return;
    Request& request = **first;
    std::copy(first + 1, end, first);
    --scheduled_count_;
    submit(request);
  }
}

/// Recalls the trajectory of that goal, or of all if it is 0.
void Engine::recall_scheduled(GoalId goal, Errc reason) noexcept {
  const std::size_t count = std::exchange(scheduled_count_, 0);
  for (std::size_t i = 0; i < count; ++i) {
    Request* request = scheduled_[i];
    if (goal == 0 || request->goal == goal) {
      answer(*request, GoalState::recalled, {reason, 0, 0, 0});
    } else {
      scheduled_[scheduled_count_++] = request;
    }
  }
}

/// The trajectory's time for which the present reference was computed.
double Engine::time_at_last_reference(const Request& request) const noexcept {
  return request.start ? to_seconds(now_ - period_ - *request.start) : 0;
}

/// A joint of the set that is moving or owned; an index beyond the robot's joints if there is none.
std::size_t Engine::busy_joint(JointSet joints) const noexcept {
  std::size_t i = 0;
  while (i < axes_.size() && (!joints.contains(i) || axes_[i].source == Source::hold)) ++i;
  return i;
}

/// Returns why the trajectory cannot be joined; no reason if it can.
Engine::Fault Engine::join_present_motion(Request& request, Lead& lead) noexcept {
  std::size_t columns = 0;
  bool moved = false;
  bool at_rest = true;
  request.joints.for_each([&](std::size_t joint) noexcept {
    const MotionState& start = starts_[columns] = axes_[joint].reference;
    moved = moved || !(start == request.trajectory.knot(0, columns));
    at_rest = at_rest && start.velocity == 0 && start.acceleration == 0;
    ++columns;
  });
  const double time = time_at_last_reference(request);
  lead = {0, time};
  if (!moved && (time == 0 || (time < 0 && at_rest))) return {};
  if (const Fault left = start_mismatch(request); time <= 0 && left.reason != Errc{}) return left;
  for (std::size_t c = 0; c < columns; ++c) {
    limits_[c] = trajectory::raised_for(starts_[c], request.limits[c]);
    limits_[c].position_min = std::min(limits_[c].position_min, starts_[c].position);
    limits_[c].position_max = std::max(limits_[c].position_max, starts_[c].position);
    bounds_[c] = trajectory::both_ways(request.limits[c]);
  }
  return find_lead(request, lead);
}

/// Which joint has left the first waypoint since validation, for a trajectory that has to start there.
Engine::Fault Engine::start_mismatch(const Request& request) const noexcept {
  Fault fault;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    const double distance =
        std::abs(axes_[joint].reference.position - request.trajectory.knot(0, column++).position);
    if (request.starts_here && !(distance <= axes_[joint].goal_tolerance)) {
      fault = {Errc::start_mismatch, joint, distance, axes_[joint].goal_tolerance};
    }
  });
  return fault;
}

/// Plans the lead to the first of a few waypoints that is reachable in time. If no waypoint is, and the goal
/// may be late, it plans the lead with the least delay.
Engine::Fault Engine::find_lead(Request& request, Lead& lead) noexcept {
  const std::size_t last = request.trajectory.segments();
  const double now = time_at_last_reference(request);
  const auto time_to = [&](std::size_t knot) noexcept {
    return std::max(request.trajectory.knot_time(knot) - request.may_gain, 0.0) - now;
  };
  std::size_t first = request.first_waypoint;
  // bisection: the first waypoint that has not passed
  for (std::size_t past_last = last + 1; first < past_last;) {
    const std::size_t middle = first + (past_last - first) / 2;
    if (time_to(middle) < 0) {
      first = middle + 1;
    } else {
      past_last = middle;
    }
  }
  if (first > last) return {Errc::start_too_far, 0, now, request.trajectory.duration()};
  std::size_t best = 0;
  double least_delay = std::numeric_limits<double>::infinity();
  std::size_t knot = 0;
  Fault fault;
  for (const std::size_t step : lead_steps) {
    const std::size_t next = std::min(first + step, last);
    if (next == knot) break;
    knot = next;
    fault = plan_lead(request, knot, time_to(knot));
    if (fault.reason != Errc{}) continue;
    const double delay = request.lead.duration() - time_to(knot);
    if (delay < least_delay) {
      least_delay = delay;
      best = knot;
    }
    if (delay <= 0) break;
    if (!request.may_be_late) fault = missing_time(request, time_to(knot));
  }
  if (best == 0 || (least_delay > 0 && !request.may_be_late)) return fault;
  if (best != knot) fault = plan_lead(request, best, time_to(best));
  lead = {request.lead.duration(), request.trajectory.knot_time(best)};
  return {};
}

/// Plans a lead from starts_ to a waypoint.
Engine::Fault Engine::plan_lead(Request& request, std::size_t knot, double at_least) noexcept {
  const std::size_t columns = request.joints.size();
  planned_ += columns;
  for (std::size_t c = 0; c < columns; ++c) ends_[c] = request.trajectory.knot(knot, c);
  const Status planned =
      request.lead.plan(std::span<const MotionState>(starts_).first(columns),
                        std::span<const MotionState>(ends_).first(columns),
                        std::span<const trajectory::DirectionalLimits>(bounds_).first(columns),
                        request.synchronisation, at_least);
  if (!planned) {
    const bool leaves_the_line = planned.error() == trajectory::Errc::not_in_phase;
    return {leaves_the_line ? Errc::not_in_phase : Errc::out_of_domain, 0, 0, 0};
  }
  const auto violation =
      trajectory::keep_in_range(request.lead, std::span<const JointLimits>(limits_).first(columns));
  if (!violation) return {};
  return {limit_of(violation->quantity), request.joints.at(violation->joint), violation->value,
          violation->limit};
}

/// The joint that prevents the latest lead from ending in time, and that joint's shortest duration.
Engine::Fault Engine::missing_time(const Request& request, double time) const noexcept {
  Fault fault{Errc::joint_already_moving, 0, 0, time};
  for (std::size_t c = 0; c < request.joints.size(); ++c) {
    const auto transfer = trajectory::Transfer::between(starts_[c], ends_[c], bounds_[c]);
    const double needed = transfer ? transfer->not_less_than(time) : 0;
    if (needed <= fault.value) continue;
    fault.joint = request.joints.at(c);
    fault.value = needed;
  }
  return fault;
}

void Engine::start_or_continue_stream(Request& request) noexcept {
  if (state_ != RobotState::ready)
    return answer(request, GoalState::rejected, {Errc::robot_not_ready, 0, 0, 0});
  std::size_t slot = find_goal(request.goal);
  const bool continues = slot != no_goal && goals_[slot].state == GoalState::active;
  if (continues) {
    goals_[slot].setpoint = request.setpoint;
    goals_[slot].setpoint_began = tick_ - 1;
    return answer(request, GoalState::active, Fault{});
  }
  if (slot != no_goal)
    return answer(request, GoalState::rejected, {Errc::unknown_goal, 0, 0, 0});  // it is already stopping
  slot = free_goal();
  take_joints(request, slot, 0, Fault{});
  goals_[slot].setpoint = request.setpoint;
  goals_[slot].setpoint_began = tick_ - 1;
  request.joints.for_each([&](std::size_t joint) noexcept {
    axes_[joint].follower = control::SetpointFollower(axes_[joint].reference);
  });
}

void Engine::take_joints(Request& request, std::size_t slot, double duration, const Fault& excess) noexcept {
  request.joints.for_each([&](std::size_t joint) noexcept {
    axes_[joint].source = Source::goal;
    axes_[joint].goal = static_cast<std::uint8_t>(slot);
    axes_[joint].waited_for = false;
  });
  for (std::size_t other = 0; other < goals_.size(); ++other) {
    const Goal& loser = goals_[other];
    if (loser.request == nullptr || (loser.request->joints & request.joints).empty()) continue;
    if (loser.state == GoalState::active) preempt(other, Errc{});
    if (loser.stops_on_path) stop_joints(other);
  }
  finish_preempted();

  Goal& goal = goals_[slot];
  goal = Goal{};
  goal.request = &request;
  // The present reference was computed for the end of the last period. The goal's time zero is there, so this
  // cycle's reference already moves.
  goal.state = GoalState::active;

  Event event;
  event.goal = request.goal;
  event.state = GoalState::active;
  event.reason = excess.reason;
  event.joint = static_cast<std::uint8_t>(excess.joint);
  event.quantity = excess.quantity;
  event.value = excess.value;
  event.limit = excess.limit;
  event.duration = duration;
  event.received = request.received;
  event.handed_over = request.handed_over;
  emit(event);
}

void Engine::preempt(std::size_t slot, Errc reason) noexcept {
  stop_joints(slot);
  begin_preempting(goals_[slot], reason);
}

/// Brings all joints of a trajectory goal to rest together, on its path.
void Engine::stop_on_path(std::size_t slot, Errc reason) noexcept {
  goals_[slot].stops_on_path = true;
  goals_[slot].travel.aim(0);
  begin_preempting(goals_[slot], reason);
}

/// Stops each joint that the goal still owns by itself.
void Engine::stop_joints(std::size_t slot) noexcept {
  goals_[slot].stops_on_path = false;
  goals_[slot].request->joints.for_each([&](std::size_t joint) noexcept {
    if (axes_[joint].source != Source::goal || axes_[joint].goal != slot) return;
    begin_stop(joint);
    axes_[joint].waited_for = stopping(axes_[joint]);
  });
}

void Engine::begin_preempting(Goal& goal, Errc reason) noexcept {
  goal.state = GoalState::preempting;
  goal.reason = reason;
  Event event;
  event.goal = goal.request->goal;
  event.state = GoalState::preempting;
  event.reason = reason;
  event.received = goal.request->received;
  event.handed_over = goal.request->handed_over;
  emit(event);
}

void Engine::cancel(Request& request) noexcept {
  const std::size_t scheduled = scheduled_count_;
  recall_scheduled(request.goal, request.reason != Errc{} ? request.reason : Errc::recalled);
  bool found = request.goal == 0 || scheduled_count_ < scheduled;
  for (std::size_t i = 0; i < goals_.size(); ++i) {
    if (goals_[i].request == nullptr || (request.goal != 0 && goals_[i].request->goal != request.goal))
      continue;
    found = true;
    const bool on_path = request.on_path && goals_[i].request->kind == RequestKind::trajectory;
    if (goals_[i].state == GoalState::active && on_path) {
      stop_on_path(i, request.reason);
    } else if (goals_[i].state == GoalState::active) {
      preempt(i, request.reason);
    } else if (goals_[i].stops_on_path && !on_path) {
      stop_joints(i);
    }
  }
  answer(request, found ? GoalState::succeeded : GoalState::rejected,
         {found ? Errc{} : Errc::unknown_goal, 0, 0, 0});
}

void Engine::change_speed(Request& request) noexcept {
  bool found = request.goal == 0;
  for (Goal& goal : goals_) {
    const bool travels = goal.request != nullptr && goal.request->kind == RequestKind::trajectory &&
                         goal.state == GoalState::active;
    if (!travels || (request.goal != 0 && goal.request->goal != request.goal)) continue;
    found = true;
    goal.travel.aim(request.speed);
  }
  answer(request, found ? GoalState::succeeded : GoalState::rejected,
         {found ? Errc{} : Errc::unknown_goal, 0, 0, 0});
}

void Engine::emergency_stop(Request& request) noexcept {
  const Fault fault{Errc::emergency_stop, 0, 0, 0};
  if (state_ == RobotState::down) return answer(request, GoalState::rejected, {Errc::shutting_down, 0, 0, 0});
  if (request.category == StopCategory::category_0) {
    abort_all(fault);
    for (Axis& axis : axes_) axis.source = Source::hold;
    powered_ = {};
  }
  stop_robot(fault, request.category != StopCategory::category_2);
  answer(request, GoalState::succeeded, Fault{});
}

void Engine::reset(Request& request) noexcept {
  const Fault refusal = leave_stop();
  answer(request, refusal.reason == Errc{} ? GoalState::succeeded : GoalState::rejected, refusal);
}

Engine::Fault Engine::leave_stop() noexcept {
  if (state_ == RobotState::ready) return {};
  if (state_ != RobotState::stopped && state_ != RobotState::starting)
    return {Errc::robot_not_ready, 0, 0, 0};
  // A drive without its bus would not get the command to clear its fault, and would need a second reset
  // later.
  const auto lost = std::ranges::find(feedback_, DriveState::no_bus, &robot::JointFeedback::drive);
  if (lost != feedback_.end()) {
    return {Errc::bus_down, static_cast<std::size_t>(lost - feedback_.begin()), 0, 0};
  }
  // Drives that held their joints all the time stay on, at the present position.
  if (state_ == RobotState::stopped) settled_ = powered_;
  state_ = RobotState::starting;
  fault_ = {};
  powered_ = JointSet::first(axes_.size());
  clear_faults_ = true;
  waiting_since_ = tick_;
  return {};
}

void Engine::stop_for_good() noexcept {
  if (down_after_stop_) return;
  down_after_stop_ = true;
  stop_robot({Errc::shutting_down, 0, 0, 0}, true);
}

// ---- stopping ---------------------------------------------------------------------------------------------

bool Engine::stopping(const Axis& axis) const noexcept {
  return axis.source == Source::stop || axis.source == Source::brake;
}

void Engine::begin_stop(std::size_t joint) noexcept {
  Axis& axis = axes_[joint];
  axis.waited_for = false;
  if (axis.reference.velocity == 0 && axis.reference.acceleration == 0) {
    axis.source = Source::hold;
    return;
  }
  axis.stop = trajectory::plan_stop(axis.reference, axis.limits);
  axis.stop_began = tick_ - 1;
  axis.source = Source::stop;
  // Near the end of the range only a stop at the acceleration limit may fit. A motion that obeyed that limit
  // and has to stay inside always leaves room for it.
  const double end = axis.reference.position + axis.stop.distance;
  const double rounding = trajectory::limit_slack * (axis.limits.position_max - axis.limits.position_min);
  if (end < axis.limits.position_min - rounding || end > axis.limits.position_max + rounding) {
    axis.follower = control::SetpointFollower(axis.reference);
    axis.source = Source::brake;
  }
}

void Engine::abort_all(const Fault& fault) noexcept {
  for (Goal& goal : goals_) {
    if (goal.request == nullptr) continue;
    const bool was_cancelled = goal.state == GoalState::preempting;
    end_goal(goal, was_cancelled ? GoalState::preempted : GoalState::aborted,
             was_cancelled ? Fault{goal.reason, 0, 0, 0} : fault);
  }
}

void Engine::stop_robot(const Fault& fault, bool power_off_after) noexcept {
  recall_scheduled(0, Errc::recalled);
  abort_all(fault);
  // A drive that is not on yet must stay off: its reference is not measured.
  if (state_ == RobotState::starting) powered_ = powered_ & settled_;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].source == Source::goal) begin_stop(i);
    axes_[i].waited_for = false;
  }
  // Keep the first cause for the operator. A shutdown is not a fault.
  if (fault_.reason == Errc{} || state_ == RobotState::starting) fault_ = fault;
  power_off_after_stop_ = power_off_after || (state_ == RobotState::stopping && power_off_after_stop_);
  if (state_ == RobotState::stopping) return;
  state_ = RobotState::stopping;
  waiting_since_ = tick_;
}

void Engine::settle_robot_state() noexcept {
  if (state_ != RobotState::stopping) return;
  const bool moving =
      std::any_of(axes_.begin(), axes_.end(), [this](const Axis& axis) { return stopping(axis); });
  if (moving) {
    waiting_since_ = tick_;
    return;
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (power_off_after_stop_ || axes_[i].safe == SafeBehaviour::release) powered_.erase(i);
  }
  if (!down_after_stop_) {
    state_ = RobotState::stopped;
    return;
  }
  const bool all_off = std::all_of(feedback_.begin(), feedback_.end(), [](const robot::JointFeedback& joint) {
    return joint.drive != DriveState::ready;
  });
  const bool waited = period_ * static_cast<Duration::rep>(tick_ - waiting_since_) > patience_at_end;
  if (all_off || waited) state_ = RobotState::down;
}

// ---- one period of motion ---------------------------------------------------------------------------------

void Engine::advance_trajectory(Goal& goal) noexcept {
  if (has_ended(goal)) return;
  const Request& request = *goal.request;
  const Path path{goal};
  goal.travel.step(path, goal.cursor, request.limits, period_);
  goal.speed_excess = std::max(goal.speed_excess, goal.travel.excess());

  const std::size_t columns = request.joints.size();
  const std::span<double> positions = std::span<double>(positions_).first(columns);
  const std::span<double> velocities = std::span<double>(velocities_).first(columns);
  const std::span<double> accelerations = std::span<double>(accelerations_).first(columns);
  path.sample(goal.travel.time(), goal.cursor, positions, velocities, accelerations);
  goal.travel.scale(velocities, accelerations);

  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    axes_[joint].reference = {positions[column], velocities[column], accelerations[column]};
    axes_[joint].command = positions[column];
    ++column;
  });
  goal.overtime = path.on_trajectory(goal.travel.time()) - request.trajectory.duration();
  if (goal.stops_on_path && (goal.overtime >= 0 || (goal.travel.steady() && goal.travel.speed() == 0))) {
    request.joints.for_each([&](std::size_t joint) noexcept { axes_[joint].source = Source::hold; });
    end_goal(goal, GoalState::preempted, Fault{goal.reason, 0, 0, 0});
  }
}

/// Ends the goal if the feedback shows that it has arrived or failed. Returns whether it ended.
bool Engine::has_ended(Goal& goal) noexcept {
  const Request& request = *goal.request;
  if (goal.overtime < 0 && request.path_tolerance.empty()) return false;
  std::size_t columns = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    starts_[columns] = axes_[joint].reference;
    measured_[columns] = {feedback_[joint].position, feedback_[joint].velocity,
                          std::numeric_limits<double>::quiet_NaN()};
    ++columns;
  });
  const trajectory::Verdict verdict = trajectory::judge<double>(
      {request.path_tolerance, request.goal_tolerance, request.goal_time}, std::span(starts_).first(columns),
      std::span(measured_).first(columns), goal.overtime);
  const bool arrived = verdict.tracking == Tracking::reached;
  const bool left_path = verdict.tracking == Tracking::path_violated;
  if (!arrived && !left_path && verdict.tracking != Tracking::not_in_time) return false;
  request.joints.for_each(
      [&](std::size_t joint) noexcept { begin_stop(joint); });  // at its end no motion is left to stop
  const trajectory::Deviation& worst = verdict.worst;
  const Fault fault{left_path ? Errc::path_tolerance : Errc::goal_tolerance, request.joints.at(worst.joint),
                    worst.value, worst.allowed, worst.quantity};
  end_goal(goal, arrived ? GoalState::succeeded : GoalState::aborted, arrived ? Fault{} : fault);
  return true;
}

void Engine::advance_stream(Goal& goal) noexcept {
  const Request& request = *goal.request;
  const double age = seconds_since(goal.setpoint_began);
  if (age > to_seconds(goal.setpoint.timeout)) {
    request.joints.for_each([&](std::size_t joint) noexcept { begin_stop(joint); });
    return end_goal(goal, GoalState::aborted,
                    {Errc::setpoint_timeout, 0, age, to_seconds(goal.setpoint.timeout)});
  }
  const double period = to_seconds(period_);
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    // The target moves at its own velocity. It is valid for the end of the period in which it arrived.
    const double velocity = goal.setpoint.velocities[column];
    const control::Target target{goal.setpoint.positions[column] + velocity * (age - period), velocity};
    axes_[joint].command = target.position;
    axes_[joint].reference = axes_[joint].follower.step(target, request.limits[column], period);
    ++column;
  });
}

void Engine::advance_stops() noexcept {
  const control::Target none{std::numeric_limits<double>::quiet_NaN(),
                             0};  // a follower without a target brakes
  for (Axis& axis : axes_) {
    if (axis.source == Source::stop) {
      const double elapsed = seconds_since(axis.stop_began);
      axis.reference = axis.stop.at(elapsed);
      if (elapsed >= axis.stop.duration) finish_stop(axis);
    } else if (axis.source == Source::brake) {
      axis.reference = axis.follower.step(none, axis.limits, to_seconds(period_));
      if (axis.reference.velocity == 0) finish_stop(axis);
    }
    if (axis.source != Source::goal) axis.command = axis.reference.position;
  }
}

void Engine::finish_stop(Axis& axis) noexcept {
  axis.reference.velocity = 0;
  axis.reference.acceleration = 0;
  axis.source = Source::hold;
}

void Engine::finish_preempted() noexcept {
  for (std::size_t i = 0; i < goals_.size(); ++i) {
    Goal& goal = goals_[i];
    if (goal.request == nullptr || goal.state != GoalState::preempting) continue;
    if (!goal.stops_on_path && !waits_for_a_stop(i))
      end_goal(goal, GoalState::preempted, Fault{goal.reason, 0, 0, 0});
  }
}

void Engine::write_commands(std::span<JointCommand> commands) noexcept {
  for (std::size_t i = 0; i < std::min(commands.size(), axes_.size()); ++i) {
    Axis& axis = axes_[i];
    const robot::JointFeedback& seen = feedback_[i];
    const bool holds_the_joint =
        powered_.contains(i) && (state_ != RobotState::starting || settled_.contains(i));
    if (!holds_the_joint && seen.heard) {
      // No drive holds the joint. Its reference follows the measured position, so switching on causes no
      // jump.
      axis.reference = {seen.position, 0, 0};
      axis.command = seen.position;
    }
    commands[i] = {axis.reference.position, axis.reference.velocity, axis.reference.acceleration,
                   powered_.contains(i), clear_faults_};
  }
}

}  // namespace takt::motion
