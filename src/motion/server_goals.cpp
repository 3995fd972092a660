// The goals of the server's clients: handed over to the loop, followed by its events, streams included.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "motion/motion_message.hpp"
#include "motion/server_parts.hpp"

namespace takt::motion {
namespace {

constexpr Duration busy_poll = std::chrono::milliseconds(1);
constexpr Duration idle_poll = std::chrono::milliseconds(10);

}  // namespace

// ---- streams ----

/// Whether the setpoint may begin or continue a stream, after an earlier stream of the same joints. Stores
/// its arrival time.
bool Server::Parts::may_stream(ClientId client, const SetpointMessage& message, Time now) {
  const auto joints = joints_of(message.joints, *robot_);
  if (!joints) return true;
  auto& streams = clients_[client].streams;
  const auto found = streams.find(joints->bits());
  if (found == streams.end()) return true;
  Stream& stream = found->second;
  const bool has_paused = now - stream.last >= stream.timeout;
  stream.last = now;
  stream.timeout = from_seconds(message.timeout);
  if (stream.goal != 0) return true;
  if (has_paused) streams.erase(found);
  return has_paused;
}

/// Makes the stream's client pause from now on. Forgets other ended streams that have paused long enough,
/// which bounds their number.
void Server::Parts::end_stream(const Goal& goal, GoalId number, Time now) {
  const auto client = clients_.find(goal.client);
  if (client == clients_.end() || goal.kind != RequestKind::setpoint) return;
  auto& streams = client->second.streams;
  const auto found = streams.find(goal.joints.bits());
  if (found == streams.end() || found->second.goal != number) return;
  found->second.goal = 0;
  std::erase_if(streams, [&](const auto& entry) {
    const Stream& stream = entry.second;
    return stream.goal == 0 && now - stream.last >= stream.timeout;
  });
}

void Server::Parts::end_all_streams(Time now) {
  for (const auto& [number, goal] : goals_) end_stream(goal, number, now);
}

// ---- handing over to the loop ----

void Server::Parts::begin_motion(const PlanningJob& job, Plan&& planned) {
  if (goals_.size() >= options_.max_goals) return refuse(job, Errc::too_many_goals);
  Request& request = **planned;
  request.goal = job.goal != 0 ? job.goal : ++last_goal_;
  request.received = job.received;
  begin_goal(job.client, job.id, request, on_disconnect_of(std::get<MotionMessage>(job.request)));
  goals_[request.goal].waited = job.goal != 0;
  hand_over(job.client, job.id, std::move(*planned), job.received);
}

void Server::Parts::begin_goal(ClientId client, const std::string& id, Request& request,
                               OnDisconnect on_disconnect) {
  Goal& goal = goals_[request.goal];
  goal = Goal{};
  goal.client = client;
  goal.id = id;
  goal.kind = request.kind;
  goal.joints = request.joints;
  goal.on_disconnect = on_disconnect;
  goal.first = &request;
  if (request.kind == RequestKind::setpoint) {
    clients_[client].streams.try_emplace(request.joints.bits(),
                                         Stream{request.goal, request.received, request.setpoint.timeout});
  }
}

bool Server::Parts::has_room(ClientId client) const {
  const auto found = clients_.find(client);
  return in_flight_ < options_.max_in_flight && found != clients_.end() &&
         found->second.in_flight < options_.max_in_flight_per_client;
}

bool Server::Parts::has_room(ClientId client, const std::string& id, Time now) {
  const bool room = has_room(client);
  if (!room) refuse(client, id, Errc::queue_full, now);
  return room;
}

/// Appends to the outbox. The next poll() moves it into the ring.
void Server::Parts::hand_over(ClientId client, const std::string& id, std::unique_ptr<Request> request,
                              Time now) {
  request->received = now;
  Request* raw = request.get();
  const bool overtakes = raw->kind == RequestKind::emergency_stop;
  const auto place =
      overtakes
          ? std::find_if(outbox_.begin(), outbox_.end(),
                         [](const Request* waiting) { return waiting->kind != RequestKind::emergency_stop; })
          : outbox_.end();
  outbox_.insert(place, raw);
  borrowed_[raw] = {std::move(request), client, id, ++last_order_, false};
  ++in_flight_;
  if (const auto owner = clients_.find(client); owner != clients_.end()) ++owner->second.in_flight;
}

void Server::Parts::cancel_goal(GoalId goal, Errc reason, Time now) {
  auto request = command(RequestKind::cancel, goal);
  request->reason = reason;
  request->received = now;
  outbox_.push_back(request.get());
  Request* raw = request.get();
  borrowed_[raw] = {std::move(request), 0, "", ++last_order_, true};
}

/// Recalls the requests that the loop has not got yet. Stops stay: they are harmless, and their clients wait
/// for the answer.
void Server::Parts::recall_outbox(Time now) {
  for (Request* request : std::exchange(outbox_, {})) {
    if (request->kind == RequestKind::cancel || request->kind == RequestKind::emergency_stop) {
      outbox_.push_back(request);
      continue;
    }
    Event event;
    event.goal = request->goal;
    event.state = GoalState::rejected;
    event.reason = Errc::recalled;
    event.retired = request;
    if (options_.on_refusal) options_.on_refusal(now, why(event));
    take_event(event, now);
  }
}

void Server::Parts::push_outbox(Time now) {
  while (!outbox_.empty()) {
    outbox_.front()->handed_over = now;
    if (requests_->free_slots() == 0) return;
    if (options_.on_hand_over) options_.on_hand_over(now, *outbox_.front());
    static_cast<void>(requests_->try_push(outbox_.front()));  // there is room: no other thread pushes
    outbox_.pop_front();
  }
}

bool Server::Parts::idle() const noexcept {
  return borrowed_.empty() && waiting_.empty() && planning_.empty() && !working_ && controllers_.empty();
}

// ---- events ----

Duration Server::Parts::poll(Time now) {
  now_ = now;
  push_outbox(now);
  Event event;
  for (std::size_t i = 0; i < events_->capacity() && events_->try_pop(event); ++i) take_event(event, now);
  push_outbox(now);
  state_->update();
  send_states(now);
  send_feedback(now);
  begin_scheduled();
  advance_planning(now);
  advance_controllers(now);
  push_outbox(now);
  if (!working_ && !planning_.empty()) return Duration(0);
  Duration wait = idle() ? idle_poll : busy_poll;
  for (const auto& [id, client] : clients_) {
    if (client.state_rate > 0) wait = std::min(wait, client.next_state - now);
  }
  return std::max(wait, busy_poll);
}

void Server::Parts::take_event(const Event& event, Time now) {
  const auto returned = borrowed_.find(event.retired);
  if (event.retired == nullptr) {
    take_goal_event(event, now);
  } else if (returned != borrowed_.end()) {
    const auto goal = goals_.find(event.goal);
    const bool ends_goal = goal != goals_.end() && goal->second.first == event.retired;
    if (ends_goal)
      take_goal_event(event, now);
    else
      answer(returned->second, event);
    borrowed_.erase(event.retired);
  }
}

/// Handles an event of a whole goal: it began, is stopping, or ended.
void Server::Parts::take_goal_event(const Event& event, Time now) {
  if (goals_.count(event.goal) == 0 && !(event.state == GoalState::active && revive_stream(event.goal)))
    return;
  Goal& goal = goals_[event.goal];
  goal.state = event.state;
  if (event.state == GoalState::active && event.reason != Errc{}) goal.exceeds = excess_of(event);
  const auto first = borrowed_.find(goal.first);
  const bool was_answered = first != borrowed_.end() && first->second.answered;
  if (first != borrowed_.end()) answer(first->second, event);
  if (event.state == GoalState::active) {
    goal.duration = event.duration;
    goal.next_feedback = now;
    if (goal.kind == RequestKind::setpoint) stop_unwanted_stream(goal, event.goal, now);
    return;
  }
  if (event.state == GoalState::preempting) {
    end_stream(goal, event.goal, now);
    send_feedback(event.goal, goal);
  }
  if (!is_terminal(event.state)) return;
  if (event.state != GoalState::rejected || was_answered || goal.waited) {
    send(goal.client,
         ResultReply{goal.id, event.goal, event.state, why(event), goal.exceeds, event.speed_excess});
  }
  const bool ended_by_itself = event.reason == Errc::setpoint_timeout ||
                               (event.state == GoalState::rejected && event.reason != Errc::recalled);
  if (ended_by_itself)
    forget_stream(goal, event.goal);
  else
    end_stream(goal, event.goal, now);
  goals_.erase(event.goal);
  goal_ended(event.goal, event.state == GoalState::succeeded);
}

void Server::Parts::forget_stream(const Goal& goal, GoalId number) {
  const auto client = clients_.find(goal.client);
  if (client == clients_.end()) return;
  const auto stream = client->second.streams.find(goal.joints.bits());
  if (stream != client->second.streams.end() && stream->second.goal == number)
    client->second.streams.erase(stream);
}

/// A setpoint in the ring may begin a stream after its client vanished or the stream was stopped. Stops such
/// a stream.
void Server::Parts::stop_unwanted_stream(const Goal& goal, GoalId number, Time now) {
  const auto client = clients_.find(goal.client);
  if (client == clients_.end()) return cancel_goal(number, Errc::client_lost, now);
  const auto stream = client->second.streams.find(goal.joints.bits());
  const bool is_current = stream != client->second.streams.end() && stream->second.goal == number;
  if (!is_current) cancel_goal(number, Errc::stream_ended, now);
}

/// A stream ended in the loop while its next setpoint was in the ring. That setpoint began the stream
/// again, under the same number.
bool Server::Parts::revive_stream(GoalId goal) {
  Borrowed* first = nullptr;
  for (auto& [request, borrowed] : borrowed_) {
    const bool candidate =
        request->goal == goal && request->kind == RequestKind::setpoint && !borrowed.answered;
    if (candidate && (first == nullptr || borrowed.order < first->order)) first = &borrowed;
  }
  if (first == nullptr) return false;
  if (clients_.count(first->client) == 0) {
    // begin_goal() would create the client's entry again
    goals_[goal] = Goal{};
    goals_[goal].kind = RequestKind::setpoint;
    goals_[goal].first = first->request.get();
    return true;
  }
  begin_goal(first->client, first->id, *first->request, OnDisconnect::stop);
  return true;
}

/// Replies to the client of the request, once.
void Server::Parts::answer(Borrowed& borrowed, const Event& event) {
  if (borrowed.answered) return;
  borrowed.answered = true;
  --in_flight_;
  const auto client = clients_.find(borrowed.client);
  if (client == clients_.end()) return;
  --client->second.in_flight;
  const auto goal = goals_.find(event.goal);
  const bool was_accepted =
      goal != goals_.end() && goal->second.waited && goal->second.first == borrowed.request.get();
  if (was_accepted) return;
  if (event.state == GoalState::rejected) return reject(borrowed.client, borrowed.id, why(event));
  const Request& request = *borrowed.request;
  AcceptedReply reply;
  reply.id = borrowed.id;
  if (begins_goal(request.kind)) reply.goal = request.goal;
  if (request.kind == RequestKind::trajectory) {
    reply.duration = event.duration;
    if (goal != goals_.end()) reply.exceeds = goal->second.exceeds;
    request.joints.for_each(
        [&](std::size_t joint) { reply.joint_names.push_back(robot_->joints[joint].name); });
  }
  if (options_.report_latency && event.first_reference != Time{}) {
    reply.latency = LatencyReply{to_seconds(event.first_reference - request.handed_over) * 1e6,
                                 to_seconds(event.first_reference - request.received) * 1e6};
  }
  accept(borrowed.client, std::move(reply));
}

}  // namespace takt::motion
