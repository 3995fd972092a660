// The goals of the trajectory controller: requests, one period of motion, and their ends.
#include "takt/motion/joint_trajectory.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "takt/robot/error.hpp"

namespace takt::motion {

namespace {

using trajectory::Tracking;

constexpr std::size_t no_goal = max_joints + 1;

}  // namespace

/// The lead, then the rest of the trajectory, by the time since the goal began.
struct JointTrajectoryController::Path {
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
  [[nodiscard]] double next_knot(double t, Cursor& cursor) const noexcept {
    if (t < goal.lead.duration) return std::min(goal.request->lead.next_knot(t, {}), goal.lead.duration);
    const double next = goal.request->trajectory.next_knot(on_trajectory(t), cursor);
    return next - goal.lead.leads_to + goal.lead.duration;
  }
  void sample(double t, Cursor& cursor, std::span<double> positions, std::span<double> velocities,
              std::span<double> accelerations) const noexcept {
    if (t < goal.lead.duration) return goal.request->lead.sample(t, positions, velocities, accelerations);
    goal.request->trajectory.sample(on_trajectory(t), cursor, positions, velocities, accelerations);
  }
};

// ---- life cycle and cycle

SetupResult<void> JointTrajectoryController::on_configure(robot::Resources& resources) {
  const robot::RobotDescription& robot = resources.robot();
  if (robot.joints.size() > max_joints)
    return takt::fail(robot::Errc::too_many_joints, name() + ": a goal moves at most 64 joints");
  period_ = robot.period;
  supervisor_ = &resources.supervisor();
  axes_.resize(robot.joints.size());
  goals_.resize(robot.joints.size() + 1);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    auto joint =
        resources.claim_joint(robot.joints[i].name, CommandMode::position, robot::ClaimKind::lending);
    if (!joint) return tl::unexpected<SetupError>(std::move(joint.error()));
    axes_[i].joint = *joint;
    axes_[i].goal_tolerance = robot.joints[i].goal_tolerance;
  }
  return {};
}

void JointTrajectoryController::begin(Time now) noexcept {
  now_ = now;
  ++tick_;
  submitted_ = 0;
  planned_ = 0;
  backlog_ = event_count_;
  begin_scheduled();
}

bool JointTrajectoryController::accepts_requests() const noexcept {
  return backlog_ == 0 && submitted_ < max_requests_per_cycle && planned_ < max_joints;
}

void JointTrajectoryController::submit(Request& request) noexcept {
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
    case RequestKind::reset:
    case RequestKind::shutdown:
    case RequestKind::accept_positions:
      return answer(request, GoalState::rejected, {Errc::unknown_request, 0, 0, 0});
  }
}

Status JointTrajectoryController::on_execute(const component::CycleTime& /*cycle*/) noexcept {
  for (Goal& goal : goals_) {
    if (goal.request == nullptr || !(goal.state == GoalState::active || goal.stops_on_path)) continue;
    const bool waited = std::exchange(goal.waited, waits(goal));
    if (goal.waited) continue;
    if (waited) go_on(goal);
    if (goal.request->kind == RequestKind::trajectory) {
      advance_trajectory(goal);
    } else {
      advance_stream(goal);
    }
  }
  return {};
}

Status JointTrajectoryController::on_state_update(const component::CycleTime& /*cycle*/) noexcept {
  for (Axis& axis : axes_) axis.stops = axis.stops && axis.joint->stopping();
  finish_preempted();
  return {};
}

void JointTrajectoryController::on_deactivate(const component::CycleTime& /*cycle*/) noexcept {
  recall_scheduled(0, Errc::recalled);
  const auto& stop = supervisor_->fault();
  abort_all(stop && supervisor_->state() != RobotState::ready ? fault_of(*stop)
                                                              : Fault{Errc::controller_stopped, 0, 0, 0});
  for (Axis& axis : axes_) axis.has_goal = axis.waited_for = axis.stops = axis.is_lent = false;
}

/// The goals that move this joint end, and their other joints come to rest.
void JointTrajectoryController::on_lent(std::size_t joint) noexcept {
  for (std::size_t i = 0; i < goals_.size(); ++i) {
    if (goals_[i].request == nullptr || !goals_[i].request->joints.contains(joint)) continue;
    stop_joints(i);
    for (Axis& axis : axes_) axis.waited_for = axis.waited_for && axis.goal != i;
    end_goal(goals_[i], GoalState::aborted, {Errc::joint_taken, joint, 0, 0});
  }
  axes_[joint].is_lent = true;
}

void JointTrajectoryController::describe(Snapshot& snapshot) const noexcept {
  snapshot.active_goals = 0;
  for (const Goal& goal : goals_) {
    if (goal.request != nullptr) ++snapshot.active_goals;
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    JointSnapshot& joint = snapshot.joints[i];
    if (axis.has_goal) joint.command = axis.command;
    const bool owned = axis.has_goal || (axis.stops && axis.waited_for);
    const Goal* goal = owned && goals_[axis.goal].request != nullptr ? &goals_[axis.goal] : nullptr;
    joint.goal = goal != nullptr ? goal->request->goal : 0;
    joint.goal_time = goal != nullptr ? goal->travel.time() : 0;
    joint.speed = goal != nullptr ? goal->travel.speed() : 1;
    joint.speed_excess = goal != nullptr ? goal->speed_excess : 0;
  }
}

// ---- small helpers

double JointTrajectoryController::seconds_since(std::uint64_t tick) const noexcept {
  return to_seconds(period_ * static_cast<Duration::rep>(tick_ - tick));
}

std::size_t JointTrajectoryController::free_goal() const noexcept {
  std::size_t i = 0;
  // One slot is always free: every held goal has at least one joint of its own, which it moves or waits for.
  while (i + 1 < goals_.size() && goals_[i].request != nullptr) ++i;
  return i;
}

bool JointTrajectoryController::waits_for_a_stop(std::size_t goal) const noexcept {
  return std::any_of(axes_.begin(), axes_.end(),
                     [goal](const Axis& axis) { return axis.stops && axis.waited_for && axis.goal == goal; });
}

std::size_t JointTrajectoryController::find_goal(GoalId id) const noexcept {
  for (std::size_t i = 0; i < goals_.size(); ++i) {
    if (goals_[i].request != nullptr && goals_[i].request->goal == id) return i;
  }
  return no_goal;
}

void JointTrajectoryController::emit(const Event& event) noexcept {
  assert(event_count_ < events_.size());
  if (event_count_ < events_.size()) events_[event_count_++] = event;
}

void JointTrajectoryController::answer(Request& request, GoalState state, const Fault& fault,
                                       double speed_excess) noexcept {
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

void JointTrajectoryController::end_goal(Goal& goal, GoalState state, const Fault& fault) noexcept {
  answer(*goal.request, state, fault, goal.speed_excess);
  goal = Goal{};
}

/// Why no goal can begin now; no reason if one can.
JointTrajectoryController::Fault JointTrajectoryController::unavailable(JointSet joints) const noexcept {
  if (supervisor_->state() != RobotState::ready) return {Errc::robot_not_ready, 0, 0, 0};
  if (state() != component::ComponentState::active) return {Errc::controller_stopped, 0, 0, 0};
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (joints.contains(i) && axes_[i].is_lent) return {Errc::joint_taken, i, 0, 0};
  }
  return {};
}

// ---- requests

void JointTrajectoryController::start_trajectory(Request& request) noexcept {
  if (const Fault why = unavailable(request.joints); why.reason != Errc{})
    return answer(request, GoalState::rejected, why);
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

/// Begins the trajectories whose start has passed, in the order of their starts, within the cycle's share.
void JointTrajectoryController::begin_scheduled() noexcept {
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
void JointTrajectoryController::recall_scheduled(GoalId goal, Errc reason) noexcept {
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

/// A joint of the set that is moving or owned; an index beyond the robot's joints if there is none.
std::size_t JointTrajectoryController::busy_joint(JointSet joints) const noexcept {
  std::size_t i = 0;
  while (i < axes_.size() && !(joints.contains(i) && is_busy(axes_[i]))) ++i;
  return i;
}

void JointTrajectoryController::start_or_continue_stream(Request& request) noexcept {
  if (const Fault why = unavailable(request.joints); why.reason != Errc{})
    return answer(request, GoalState::rejected, why);
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
    axes_[joint].follower = control::SetpointFollower(axes_[joint].joint->reference());
  });
}

void JointTrajectoryController::take_joints(Request& request, std::size_t slot, double duration,
                                            const Fault& excess) noexcept {
  request.joints.for_each([&](std::size_t joint) noexcept {
    axes_[joint].has_goal = true;
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

void JointTrajectoryController::preempt(std::size_t slot, Errc reason) noexcept {
  stop_joints(slot);
  begin_preempting(goals_[slot], reason);
}

/// Brings all joints of a trajectory goal to rest together, on its path.
void JointTrajectoryController::stop_on_path(std::size_t slot, Errc reason) noexcept {
  goals_[slot].stops_on_path = true;
  goals_[slot].travel.aim(0);
  begin_preempting(goals_[slot], reason);
}

/// Stops each joint that the goal still owns by itself.
void JointTrajectoryController::stop_joints(std::size_t slot) noexcept {
  goals_[slot].stops_on_path = false;
  goals_[slot].request->joints.for_each([&](std::size_t joint) noexcept {
    if (!axes_[joint].has_goal || axes_[joint].goal != slot) return;
    begin_stop(joint);
    axes_[joint].waited_for = axes_[joint].stops;
  });
}

void JointTrajectoryController::begin_preempting(Goal& goal, Errc reason) noexcept {
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

void JointTrajectoryController::cancel(Request& request) noexcept {
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

void JointTrajectoryController::change_speed(Request& request) noexcept {
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

// ---- stops

/// The manager brings the joint to rest.
void JointTrajectoryController::begin_stop(std::size_t joint) noexcept {
  Axis& axis = axes_[joint];
  axis.waited_for = false;
  axis.has_goal = false;
  const MotionState& reference = axis.joint->reference();
  axis.stops = reference.velocity != 0 || reference.acceleration != 0;
  axis.joint->release();
}

void JointTrajectoryController::abort_all(const Fault& fault) noexcept {
  for (Goal& goal : goals_) {
    if (goal.request == nullptr) continue;
    const bool was_cancelled = goal.state == GoalState::preempting;
    end_goal(goal, was_cancelled ? GoalState::preempted : GoalState::aborted,
             was_cancelled ? Fault{goal.reason, 0, 0, 0} : fault);
  }
}

// ---- after a pause of the loop

/// Whether a joint has not answered yet how far its drive has gone in a pause of the loop.
bool JointTrajectoryController::waits(const Goal& goal) const noexcept {
  bool any = false;
  goal.request->joints.for_each(
      [&](std::size_t joint) noexcept { any = any || axes_[joint].joint->waits(); });
  return any;
}

/// Goes on from where the manager has led the joints. On a path they have kept its direction, more or less.
/// Its place and speed follow from their moves by least squares; the manager removes the rest.
void JointTrajectoryController::go_on(Goal& goal) noexcept {
  const Request& request = *goal.request;
  if (request.kind == RequestKind::setpoint) {
    request.joints.for_each([&](std::size_t joint) noexcept {
      axes_[joint].follower = control::SetpointFollower(axes_[joint].joint->reference());
    });
    return;
  }
  const Path path{goal};
  sample(goal, path);
  double square = 0;
  double passed = 0;
  double kept = 0;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    const MotionState& present = axes_[joint].joint->reference();
    const double velocity = velocities_[column];
    square += velocity * velocity;
    passed += velocity * (present.position - positions_[column]);
    kept += velocity * present.velocity;
    ++column;
  });
  if (square == 0) return;
  const double speed = goal.travel.speed();
  const double time = goal.travel.time();
  const double ahead = std::max(passed / square, 0.0) * speed;
  goal.travel.restart(std::min(time + ahead, std::max(time, path.duration())),
                      std::clamp(kept / square, 0.0, 1.0) * speed);
}

// ---- one period of motion

/// Computes the joints' motion at the goal's present place and speed.
void JointTrajectoryController::sample(Goal& goal, const Path& path) noexcept {
  const std::size_t columns = goal.request->joints.size();
  const std::span<double> velocities = std::span<double>(velocities_).first(columns);
  const std::span<double> accelerations = std::span<double>(accelerations_).first(columns);
  path.sample(goal.travel.time(), goal.cursor, std::span<double>(positions_).first(columns), velocities,
              accelerations);
  goal.travel.scale(velocities, accelerations);
}

void JointTrajectoryController::advance_trajectory(Goal& goal) noexcept {
  if (has_ended(goal)) return;
  const Request& request = *goal.request;
  const Path path{goal};
  goal.travel.step(path, goal.cursor, request.limits, period_);
  goal.speed_excess = std::max(goal.speed_excess, goal.travel.excess());

  sample(goal, path);
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    axes_[joint].joint->follow({positions_[column], velocities_[column], accelerations_[column]});
    axes_[joint].command = positions_[column];
    ++column;
  });
  goal.overtime = path.on_trajectory(goal.travel.time()) - request.trajectory.duration();
  if (goal.stops_on_path && (goal.overtime >= 0 || (goal.travel.steady() && goal.travel.speed() == 0))) {
    request.joints.for_each([&](std::size_t joint) noexcept { axes_[joint].has_goal = false; });
    end_goal(goal, GoalState::preempted, Fault{goal.reason, 0, 0, 0});
  }
}

/// Ends the goal if the feedback shows that it has arrived or failed. Returns whether it ended.
bool JointTrajectoryController::has_ended(Goal& goal) noexcept {
  const Request& request = *goal.request;
  if (goal.overtime < 0 && request.path_tolerance.empty()) return false;
  std::size_t columns = 0;
  bool is_there = true;
  request.joints.for_each([&](std::size_t joint) noexcept {
    starts_[columns] = axes_[joint].joint->reference();
    is_there = is_there && !axes_[joint].joint->catches_up();
    measured_[columns] = {axes_[joint].joint->feedback().position, axes_[joint].joint->feedback().velocity,
                          std::numeric_limits<double>::quiet_NaN()};
    ++columns;
  });
  const trajectory::Verdict verdict = trajectory::judge<double>(
      {request.path_tolerance, request.goal_tolerance, request.goal_time}, std::span(starts_).first(columns),
      std::span(measured_).first(columns), goal.overtime);
  const bool arrived = verdict.tracking == Tracking::reached && is_there;
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

void JointTrajectoryController::advance_stream(Goal& goal) noexcept {
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
    axes_[joint].joint->follow(axes_[joint].follower.step(target, request.limits[column], period));
    ++column;
  });
}

void JointTrajectoryController::finish_preempted() noexcept {
  for (std::size_t i = 0; i < goals_.size(); ++i) {
    Goal& goal = goals_[i];
    if (goal.request == nullptr || goal.state != GoalState::preempting) continue;
    if (!goal.stops_on_path && !waits_for_a_stop(i))
      end_goal(goal, GoalState::preempted, Fault{goal.reason, 0, 0, 0});
  }
}

}  // namespace takt::motion
