// The server's motions between request and plan. Long ones wait for the executor, queued ones for other
// goals, and those with a start for their time. They can be recalled until the loop has them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "motion/motion_message.hpp"
#include "motion/server_parts.hpp"

namespace takt::motion {
namespace {

/// How long before its start a trajectory is planned.
constexpr Duration short_planning = std::chrono::milliseconds(100);
constexpr Duration long_planning = std::chrono::milliseconds(2000);

/// A stop in a long line acts when the line is parsed, even if another stop overtook it.
bool can_be_recalled(const ClientMessage& message) {
  return std::holds_alternative<TrajectoryMessage>(message.body) ||
         std::holds_alternative<MoveMessage>(message.body) ||
         std::holds_alternative<SetpointMessage>(message.body) ||
         std::holds_alternative<ResetMessage>(message.body);
}

}  // namespace

// ---- from a request to a plan ----

void Server::Parts::plan_or_queue(ClientId client, const std::string& id, MotionMessage message, Time now) {
  if (!has_room(client, id, now)) return;
  PlanningJob job;
  job.client = client;
  job.id = id;
  job.bytes = line_bytes_;
  job.received = now;
  set_message(job, std::move(message));
  const auto is_mine = [client](const PlanningJob& other) { return other.client == client; };
  const bool is_next =
      !(working_ && is_mine(working_->job())) && std::none_of(planning_.begin(), planning_.end(), is_mine);
  if (is_next && is_short(job)) return plan_now(std::move(job));
  if (!has_room_to_wait(job)) return refuse(job, Errc::queue_full);
  planning_.push_back(std::move(job));
}

void Server::Parts::set_message(PlanningJob& job, MotionMessage message) const {
  std::visit(
      [&](const auto& motion) {
        job.start = start_of(motion);
        job.joints = joints_of(motion.joints, *robot_).value_or(JointSet{});
      },
      message);
  job.request = std::move(message);
}

bool Server::Parts::is_short(const PlanningJob& job) const {
  return std::visit(
      [this](const auto& message) {
        return waypoints_of(message) <= options_.plan_at_once && !has_to_search(message);
      },
      std::get<MotionMessage>(job.request));
}

void Server::Parts::plan_now(PlanningJob job) {
  if (has_to_wait(job)) return wait(std::move(job));
  const Snapshot state = state_at_start(job);
  Plan planned = std::visit([&](const auto& message) { return plan(message, *robot_, state); },
                            std::get<MotionMessage>(job.request));
  take_plan(job, std::move(planned));
}

void Server::Parts::take_plan(const PlanningJob& job, Plan&& planned) {
  if (!planned) return refuse(job, std::move(planned).error());
  if ((*planned)->kind == RequestKind::setpoint) return continue_stream(job, std::move(planned));
  begin_motion(job, std::move(planned));
}

void Server::Parts::continue_stream(const PlanningJob& job, Plan&& planned) {
  auto& streams = clients_[job.client].streams;
  const auto stream = streams.find((*planned)->joints.bits());
  if (stream == streams.end()) return begin_motion(job, std::move(planned));
  if (stream->second.goal == 0) return refuse(job, Errc::stream_ended);
  (*planned)->goal = stream->second.goal;
  hand_over(job.client, job.id, std::move(*planned), job.received);
}

void Server::Parts::advance_planning(Time now) {
  take_work(now);
  if (working_ || planning_.empty()) return;
  PlanningJob job = std::move(planning_.front());
  planning_.pop_front();
  if (has_to_wait(job)) return wait(std::move(job));
  const Snapshot state = state_at_start(job);
  working_ = std::make_shared<PlanningWork>(std::move(job), robot_, state, options_.max_waypoints);
  options_.executor([work = working_] { work->run(); });
  take_work(now);
}

/// If the executor has finished its work, processes the result.
void Server::Parts::take_work(Time now) {
  if (!working_ || !working_->done()) return;
  const std::shared_ptr<PlanningWork> work = std::exchange(working_, nullptr);
  PlanningJob& job = work->job();
  if (auto* read = std::get_if<PlanningWork::Read>(&work->result())) {
    return take_read(std::move(job), std::move(*read), now);
  }
  if (job.recalled) return refuse(job, Errc::recalled);
  if (clients_.count(job.client) == 0 && ends_with_client(job)) return refuse(job, Errc::client_lost);
  if (has_to_wait(job)) return wait(std::move(job));  // its joints may have been taken meanwhile
  take_plan(job, std::move(std::get<Plan>(work->result())));
}

/// Handles a parsed line: a motion goes to the head of the queue, any other message is handled at once.
void Server::Parts::take_read(PlanningJob job, PlanningWork::Read read, Time now) {
  const bool is_here = clients_.count(job.client) != 0;
  const bool recalled = job.recalled && read && can_be_recalled(*read);
  if (recalled && is_here) return refuse(job.client, read->id, Errc::recalled, now);
  if (recalled) return;
  const auto queue_first = [&](auto& message) {
    job.id = read->id;
    set_message(job, MotionMessage(std::move(message)));
    planning_.push_front(std::move(job));
  };
  if (read && std::holds_alternative<TrajectoryMessage>(read->body))
    return queue_first(std::get<TrajectoryMessage>(read->body));
  if (read && std::holds_alternative<MoveMessage>(read->body))
    return queue_first(std::get<MoveMessage>(read->body));
  if (is_here) take_message(job.client, std::move(read), job.bytes, now);
}

// ---- motions that wait for others ----

/// Whether the motion has to wait for its start or for other goals.
bool Server::Parts::has_to_wait(PlanningJob& job) const {
  job.before = goals_before(job);
  return !job.before.empty() || !may_begin(job);
}

/// Whether it is time to plan the motion. Its client is first told that it waits.
bool Server::Parts::may_begin(const PlanningJob& job) const {
  const Time now = state_->value().time;
  if (!job.start || *job.start <= now) return true;
  return job.goal != 0 && *job.start <= now + (is_short(job) ? short_planning : long_planning);
}

/// The state from which a motion is planned. For a later start, it is where the running goals lead to by
/// then. They may end or change their speed meanwhile; the controller then joins the motion to the actual
/// state.
Snapshot Server::Parts::state_at_start(const PlanningJob& job) const {
  Snapshot state = state_->value();
  if (!job.start || *job.start <= state.time) return state;
  const double ahead = to_seconds(*job.start - state.time);
  for (const auto& [number, goal] : goals_) {
    if (goal.kind != RequestKind::trajectory || goal.state != GoalState::active) continue;
    const trajectory::Trajectory& path = goal.first->trajectory;
    const double lead = goal.duration - path.duration();  // the duration that joining added or saved
    std::size_t column = 0;
    goal.joints.for_each([&, owner = number](std::size_t joint) {
      JointSnapshot& seen = state.joints[joint];
      MotionState then = path.at(seen.goal_time + seen.speed * ahead - lead, column++);
      then.velocity *= seen.speed;
      then.acceleration *= seen.speed * seen.speed;
      if (seen.goal == owner) seen.reference = then;
    });
  }
  return state;
}

void Server::Parts::begin_scheduled() {
  std::vector<PlanningJob> begin;
  for (PlanningJob& job : std::exchange(waiting_, {})) {
    const bool begins = job.before.empty() && may_begin(job);
    (begins ? begin.emplace_back() : waiting_.emplace_back()) = std::move(job);
  }
  begin_waiting(std::move(begin));
}

/// The goals before a queued motion: goals of its joints, and motions that will become such goals. Empty for
/// all other motions.
std::vector<GoalBefore> Server::Parts::goals_before(const PlanningJob& job) const {
  std::vector<GoalBefore> before;
  if (!queues(job)) return before;
  const auto overlaps = [&](JointSet joints) { return !(joints & job.joints).empty(); };
  for (const auto& [number, goal] : goals_) {
    if (!overlaps(goal.joints)) continue;
    before.push_back({number, goal.kind != RequestKind::setpoint && goal.state != GoalState::preempting});
  }
  const auto look_at = [&](const PlanningJob& other) {
    // A job without a number is not parsed or planned yet, and does not count.
    const bool is_first = other.goal != 0 && (job.goal == 0 || other.goal < job.goal);
    if (is_first && overlaps(other.joints)) before.push_back({other.goal, true});
  };
  for (const PlanningJob& other : waiting_) look_at(other);
  for (const PlanningJob& other : planning_) look_at(other);
  if (working_) look_at(working_->job());
  return before;
}

/// The rejection of a start that is too far ahead of the loop's clock.
Rejection Server::Parts::too_far(Time start, Time on_loop) const {
  Rejection why;
  why.reason = Errc::start_too_far;
  why.value = to_seconds(start - on_loop);
  why.limit = to_seconds(options_.farthest_start);
  why.message = fmt::format(
      "the start is {:.6g} s ahead; at most {:.6g} s are allowed. It is a time of the loop's clock, which "
      "shows {:.6g} s",
      *why.value, *why.limit, to_seconds(on_loop.time_since_epoch()));
  return why;
}

/// Tells the client the goal's number now. A result will report the goal's end.
void Server::Parts::wait(PlanningJob job) {
  if (job.goal != 0) return waiting_.push_back(std::move(job));  // it has waited before
  const auto mistake = std::visit([this](const auto& message) { return find_mistake(message, *robot_); },
                                  std::get<MotionMessage>(job.request));
  if (mistake) return refuse(job, *mistake);
  const Time on_loop = state_->value().time;
  if (job.start && *job.start > on_loop + options_.farthest_start)
    return refuse(job, too_far(*job.start, on_loop));
  if (!has_room_to_wait(job)) return refuse(job, Errc::queue_full);
  job.goal = ++last_goal_;
  AcceptedReply reply;
  reply.id = job.id;
  reply.goal = job.goal;
  reply.state = GoalState::pending;
  job.joints.for_each([&](std::size_t joint) { reply.joint_names.push_back(robot_->joints[joint].name); });
  accept(job.client, std::move(reply));
  waiting_.push_back(std::move(job));
}

/// Begins the motions that waited only for this goal, or recalls them.
void Server::Parts::goal_ended(GoalId goal, bool succeeded) {
  std::vector<PlanningJob> begin;
  std::vector<PlanningJob> recall;
  for (PlanningJob& job : std::exchange(waiting_, {})) {
    const auto found = std::find_if(job.before.begin(), job.before.end(),
                                    [goal](const GoalBefore& before) { return before.goal == goal; });
    const bool concerned = found != job.before.end();
    if (concerned && found->must_succeed && !succeeded) {
      recall.push_back(std::move(job));
      continue;
    }
    if (concerned) job.before.erase(found);
    if (concerned && job.before.empty()) {
      begin.push_back(std::move(job));
    } else {
      waiting_.push_back(std::move(job));
    }
  }
  for (const PlanningJob& job : recall) refuse(job, Errc::goal_before_failed);
  state_->update();
  begin_waiting(std::move(begin));
}

void Server::Parts::begin_waiting(std::vector<PlanningJob> jobs) {
  for (PlanningJob& job : jobs) {
    job.received = now_;  // its latency counts from now
    if (is_short(job)) {
      plan_now(std::move(job));
    } else {
      planning_.push_back(std::move(job));
    }
  }
}

/// Whether one more request may wait for parsing, planning or the end of goals.
bool Server::Parts::has_room_to_wait(const PlanningJob& job) const {
  std::size_t count = 0;
  std::size_t bytes = 0;
  std::size_t own_count = 0;
  std::size_t own_bytes = 0;
  const auto add = [&](const PlanningJob& other) {
    ++count;
    bytes += other.bytes;
    if (other.client != job.client) return;
    ++own_count;
    own_bytes += other.bytes;
  };
  for (const PlanningJob& other : waiting_) add(other);
  for (const PlanningJob& other : planning_) add(other);
  if (working_) add(working_->job());
  return count < options_.max_waiting && own_count < options_.max_waiting_per_client &&
         bytes + job.bytes <= options_.max_waiting_bytes &&
         own_bytes + job.bytes <= options_.max_waiting_bytes_per_client;
}

// ---- taking back what the loop does not know yet ----

/// Recalls all of them. A line must be parsed for its id before its client can be told.
void Server::Parts::recall_motions() {
  if (working_) working_->job().recalled = true;
  std::vector<PlanningJob> recalled;
  for (PlanningJob& job : std::exchange(planning_, {})) {
    job.recalled = true;
    const bool is_line = std::holds_alternative<std::string>(job.request);
    (is_line ? planning_.emplace_back() : recalled.emplace_back()) = std::move(job);
  }
  for (PlanningJob& job : std::exchange(waiting_, {})) recalled.push_back(std::move(job));
  for (const PlanningJob& job : recalled) refuse(job, Errc::recalled);
}

/// Recalls a goal that has not begun. Returns whether there was one.
bool Server::Parts::recall(GoalId goal) {
  if (working_ && working_->job().goal == goal) return working_->job().recalled = true;
  for (std::deque<PlanningJob>* queue : {&planning_, &waiting_}) {
    const auto found = std::find_if(queue->begin(), queue->end(),
                                    [goal](const PlanningJob& job) { return job.goal == goal; });
    if (found == queue->end()) continue;
    const PlanningJob job = std::move(*found);
    queue->erase(found);
    refuse(job, Errc::recalled);
    return true;
  }
  return false;
}

}  // namespace takt::motion
