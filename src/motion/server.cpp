#include "takt/motion/server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "motion/motion_message.hpp"

namespace takt::motion {
namespace {

using std::chrono::milliseconds;

constexpr Duration busy_poll = milliseconds(1);
constexpr Duration idle_poll = milliseconds(10);

/// A web page can make a browser send such a line to any port of this machine. No line of that connection can
/// be trusted.
bool is_http(std::string_view line) {
  constexpr std::array<std::string_view, 9> verbs{"GET ",     "POST ",  "PUT ",     "HEAD ", "DELETE ",
                                                  "OPTIONS ", "PATCH ", "CONNECT ", "TRACE "};
  return std::any_of(verbs.begin(), verbs.end(),
                     [&](std::string_view verb) { return line.substr(0, verb.size()) == verb; });
}

Errc reason_of(LineFault fault) {
  switch (fault) {
    case LineFault::too_long:
      return Errc::message_too_large;
    case LineFault::too_slow:
      return Errc::message_too_slow;
    case LineFault::too_many_clients:
      return Errc::too_many_clients;
  }
  return Errc::malformed;
}

Rejection to_rejection(Errc reason) {
  Rejection why;
  why.reason = reason;
  why.message = describe(reason);
  return why;
}

std::unique_ptr<Request> command(RequestKind kind, GoalId goal = 0) {
  auto request = std::make_unique<Request>();
  request->kind = kind;
  request->goal = goal;
  return request;
}

}  // namespace

Server::Server(robot::RobotDescription robot, shm::SpscRing<Request*>& requests, shm::SpscRing<Event>& events,
               shm::LatestValue<Snapshot>& state, ServerOptions options)
    : robot_(std::make_shared<const robot::RobotDescription>(std::move(robot))),
      requests_(&requests),
      events_(&events),
      state_(&state),
      options_(std::move(options)) {}

// ---- what the carrier says ----

void Server::set_interfaces(std::span<const std::string> interfaces) {
  robot::RobotDescription robot = *robot_;  // a new one: what is being planned goes on with the old one
  for (std::size_t bus = 0; bus < std::min(interfaces.size(), robot.buses.size()); ++bus)
    robot.buses[bus].interface = interfaces[bus];
  robot_ = std::make_shared<const robot::RobotDescription>(std::move(robot));
}

void Server::connected(ClientId client, Time now) {
  now_ = now;
  clients_.try_emplace(client);
  send(client, greeting(*robot_));
}

void Server::received(ClientId client, std::string_view line, Time now) {
  now_ = now;
  ++counters_.lines;
  if (is_http(line)) {
    ++counters_.errors;
    Rejection why;
    why.reason = Errc::malformed;
    why.message = "this is not a web server: send one JSON object per line";
    send(client, ErrorReply{std::move(why)}, true);
    return;
  }
  if (line.size() <= options_.read_at_once) {
    return take_message(client, parse_client_message(line, options_.max_waypoints), line.size(), now);
  }
  PlanningJob job;
  job.client = client;
  job.bytes = line.size();
  job.received = now;
  if (!has_room_to_wait(job)) {
    ++counters_.errors;
    return send(client, ErrorReply{to_rejection(Errc::queue_full)});
  }
  job.request = std::string(line);
  planning_.push_back(std::move(job));
}

void Server::take_message(ClientId client, PlanningWork::Read read, std::size_t bytes, Time now) {
  if (!read) {
    ParseFailure& failure = read.error();
    if (failure.is_object) return refuse(client, failure.id, std::move(failure.why), now);
    ++counters_.errors;
    return send(client, ErrorReply{std::move(failure.why)});
  }
  state_->update();
  line_bytes_ = bytes;
  std::visit([&](const auto& body) { handle(client, read->id, body, now); }, read->body);
}

void Server::refused(ClientId client, LineFault fault, Time) {
  ++counters_.errors;
  output_.push_back({client, to_line(ErrorReply{to_rejection(reason_of(fault))}), true});
}

void Server::disconnected(ClientId client, Time now) {
  now_ = now;
  clients_.erase(client);
  std::vector<PlanningJob> dropped;
  for (std::deque<PlanningJob>* queue : {&planning_, &waiting_}) {
    for (PlanningJob& job : std::exchange(*queue, {})) {
      if (job.client != client || !ends_with_client(job)) {
        queue->push_back(std::move(job));
      } else {
        dropped.push_back(std::move(job));
      }
    }
  }
  for (const PlanningJob& job : dropped) refuse(job, Errc::client_lost);
  for (auto& [number, goal] : goals_) {
    if (goal.client != client) continue;
    if (goal.on_disconnect == OnDisconnect::stop) cancel_goal(number, Errc::client_lost, now);
  }
}

bool Server::owes(ClientId client) const {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return false;
  const auto is_its = [client](const PlanningJob& job) { return job.client == client; };
  return found->second.in_flight > 0 || found->second.state_rate > 0 ||
         std::any_of(planning_.begin(), planning_.end(), is_its) ||
         std::any_of(waiting_.begin(), waiting_.end(), is_its) || (working_ && is_its(working_->job())) ||
         std::any_of(goals_.begin(), goals_.end(),
                     [&](const auto& goal) { return goal.second.client == client; });
}

// ---- requests ----

void Server::handle(ClientId client, const std::string& id, const TrajectoryMessage& message, Time now) {
  plan_or_queue(client, id, message, now);
}

void Server::handle(ClientId client, const std::string& id, const MoveMessage& message, Time now) {
  plan_or_queue(client, id, message, now);
}

void Server::handle(ClientId client, const std::string& id, const SetpointMessage& message, Time now) {
  if (!may_stream(client, message, now)) return refuse(client, id, Errc::stream_ended, now);
  plan_or_queue(client, id, message, now);
}

void Server::handle(ClientId client, const std::string& id, const CancelMessage& message, Time now) {
  if (message.goal != 0 && recall(message.goal)) {
    AcceptedReply reply;
    reply.id = id;
    return accept(client, std::move(reply));
  }
  if (message.goal != 0 && goals_.count(message.goal) == 0)
    return refuse(client, id, Errc::unknown_goal, now);
  if (!has_room(client, id, now)) return;
  if (message.goal == 0) recall_motions();
  for (const auto& [number, stopped] : goals_) {
    if (message.goal != 0 && message.goal != number) continue;
    // A client that stops its own stream knows it, and may begin another at once.
    if (stopped.client == client) {
      forget_stream(stopped, number);
    } else {
      end_stream(stopped, number, now);
    }
  }
  auto request = command(RequestKind::cancel, message.goal);
  request->on_path = message.stop == StopAt::path;
  hand_over(client, id, std::move(request), now);
}

void Server::handle(ClientId client, const std::string& id, const SpeedMessage& message, Time now) {
  const auto goal = goals_.find(message.goal);
  if (message.goal != 0 && (goal == goals_.end() || goal->second.kind != RequestKind::trajectory))
    return refuse(client, id, Errc::unknown_goal, now);
  if (!has_room(client, id, now)) return;
  auto request = command(RequestKind::speed, message.goal);
  request->speed = message.scale;
  hand_over(client, id, std::move(request), now);
}

void Server::handle(ClientId client, const std::string& id, const StateMessage&, Time) {
  StateReply reply = state_now();
  reply.id = id;
  send(client, reply);
}

void Server::handle(ClientId client, const std::string& id, const SubscribeMessage& message, Time now) {
  Client& subscriber = clients_[client];
  subscriber.state_rate = message.rate;
  subscriber.next_state = now;
  subscriber.subscription_id = id;
  AcceptedReply reply;
  reply.id = id;
  accept(client, std::move(reply));
}

/// An emergency stop overtakes every request that the loop has not got yet. Only a flooding client is
/// refused: its waiting stops fill the limit of waiting requests, and the first of them has the same effect.
void Server::handle(ClientId client, const std::string& id, const EmergencyStopMessage& message, Time now) {
  const auto stops = std::count_if(borrowed_.begin(), borrowed_.end(), [&](const auto& entry) {
    const Borrowed& borrowed = entry.second;
    return borrowed.client == client && !borrowed.answered &&
           borrowed.request->kind == RequestKind::emergency_stop;
  });
  recall_motions();
  recall_outbox(now);
  end_all_streams(now);
  if (static_cast<std::size_t>(stops) >= options_.max_in_flight_per_client)
    return refuse(client, id, Errc::queue_full, now);
  auto request = command(RequestKind::emergency_stop);
  request->category = message.category;
  hand_over(client, id, std::move(request), now);
}

void Server::handle(ClientId client, const std::string& id, const ResetMessage&, Time now) {
  if (!has_room(client, id, now)) return;
  if (state_->value().state != RobotState::ready) recall_motions();
  hand_over(client, id, command(RequestKind::reset), now);
}

void Server::handle(ClientId client, const std::string& id, const MarkMessage& message, Time now) {
  if (options_.on_mark) options_.on_mark(now, message.text);
  AcceptedReply reply;
  reply.id = id;
  accept(client, std::move(reply));
}

// ---- streams ----

/// Whether the setpoint may begin or continue a stream, after an earlier stream of the same joints. Stores
/// its arrival time.
bool Server::may_stream(ClientId client, const SetpointMessage& message, Time now) {
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
void Server::end_stream(const Goal& goal, GoalId number, Time now) {
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

void Server::end_all_streams(Time now) {
  for (const auto& [number, goal] : goals_) end_stream(goal, number, now);
}

// ---- handing over to the loop ----

void Server::begin_motion(const PlanningJob& job, Plan&& planned) {
  if (goals_.size() >= options_.max_goals) return refuse(job, Errc::too_many_goals);
  Request& request = **planned;
  request.goal = job.goal != 0 ? job.goal : ++last_goal_;
  request.received = job.received;
  begin_goal(job.client, job.id, request, on_disconnect_of(std::get<MotionMessage>(job.request)));
  goals_[request.goal].waited = job.goal != 0;
  hand_over(job.client, job.id, std::move(*planned), job.received);
}

void Server::begin_goal(ClientId client, const std::string& id, Request& request,
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

bool Server::has_room(ClientId client) const {
  const auto found = clients_.find(client);
  return in_flight_ < options_.max_in_flight && found != clients_.end() &&
         found->second.in_flight < options_.max_in_flight_per_client;
}

bool Server::has_room(ClientId client, const std::string& id, Time now) {
  const bool room = has_room(client);
  if (!room) refuse(client, id, Errc::queue_full, now);
  return room;
}

/// Appends to the outbox. The next poll() moves it into the ring.
void Server::hand_over(ClientId client, const std::string& id, std::unique_ptr<Request> request, Time now) {
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

void Server::cancel_goal(GoalId goal, Errc reason, Time now) {
  auto request = command(RequestKind::cancel, goal);
  request->reason = reason;
  request->received = now;
  outbox_.push_back(request.get());
  Request* raw = request.get();
  borrowed_[raw] = {std::move(request), 0, "", ++last_order_, true};
}

/// Recalls the requests that the loop has not got yet. Stops stay: they are harmless, and their clients wait
/// for the answer.
void Server::recall_outbox(Time now) {
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

void Server::push_outbox(Time now) {
  while (!outbox_.empty()) {
    outbox_.front()->handed_over = now;
    if (!requests_->try_push(outbox_.front())) return;
    outbox_.pop_front();
  }
}

bool Server::idle() const noexcept {
  return borrowed_.empty() && waiting_.empty() && planning_.empty() && !working_;
}

// ---- events ----

Duration Server::poll(Time now) {
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
  push_outbox(now);
  if (!working_ && !planning_.empty()) return Duration(0);
  Duration wait = idle() ? idle_poll : busy_poll;
  for (const auto& [id, client] : clients_) {
    if (client.state_rate > 0) wait = std::min(wait, client.next_state - now);
  }
  return std::max(wait, busy_poll);
}

void Server::take_event(const Event& event, Time now) {
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
void Server::take_goal_event(const Event& event, Time now) {
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

void Server::forget_stream(const Goal& goal, GoalId number) {
  const auto client = clients_.find(goal.client);
  if (client == clients_.end()) return;
  const auto stream = client->second.streams.find(goal.joints.bits());
  if (stream != client->second.streams.end() && stream->second.goal == number)
    client->second.streams.erase(stream);
}

/// A setpoint in the ring may begin a stream after its client vanished or the stream was stopped. Stops such
/// a stream.
void Server::stop_unwanted_stream(const Goal& goal, GoalId number, Time now) {
  const auto client = clients_.find(goal.client);
  if (client == clients_.end()) return cancel_goal(number, Errc::client_lost, now);
  const auto stream = client->second.streams.find(goal.joints.bits());
  const bool is_current = stream != client->second.streams.end() && stream->second.goal == number;
  if (!is_current) cancel_goal(number, Errc::stream_ended, now);
}

/// A stream ended in the loop while its next setpoint was in the ring. That setpoint began the stream
/// again, under the same number.
bool Server::revive_stream(GoalId goal) {
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
void Server::answer(Borrowed& borrowed, const Event& event) {
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

// ---- replies ----

void Server::accept(ClientId client, AcceptedReply reply) {
  ++counters_.accepted;
  send(client, reply);
}

void Server::reject(ClientId client, const std::string& id, Rejection why) {
  ++counters_.rejected;
  send(client, RejectedReply{id, std::move(why)});
}

void Server::refuse(ClientId client, const std::string& id, Rejection why, Time now) {
  if (options_.on_refusal) options_.on_refusal(now, why);
  reject(client, id, std::move(why));
}

void Server::refuse(ClientId client, const std::string& id, Errc reason, Time now) {
  refuse(client, id, to_rejection(reason), now);
}

/// If the client knows the goal's number, it gets a result. Requests that wait for the goal must not wait for
/// ever.
void Server::refuse(const PlanningJob& job, Rejection why) {
  if (job.goal == 0) return refuse(job.client, job.id, std::move(why), now_);
  if (options_.on_refusal) options_.on_refusal(now_, why);
  const bool recalled = why.reason == Errc::recalled || why.reason == Errc::goal_before_failed;
  send(job.client,
       ResultReply{
           job.id, job.goal, recalled ? GoalState::recalled : GoalState::rejected, std::move(why), {}});
  goal_ended(job.goal, false);
}

void Server::refuse(const PlanningJob& job, Errc reason) { refuse(job, to_rejection(reason)); }

void Server::send(ClientId client, const ServerMessage& message, bool close) {
  if (clients_.count(client) == 0) return;
  output_.push_back({client, to_line(message), close});
}

Rejection Server::why(const Event& event) const {
  Rejection why = explain(event, *robot_);
  const Snapshot& state = state_->value();
  if (event.reason == Errc::robot_not_ready && state.state != RobotState::ready)
    why.message = "the robot is " + describe_state(state, *robot_);
  return why;
}

/// The limit that a goal exceeds as it becomes active.
Rejection Server::excess_of(const Event& event) const {
  Rejection excess;
  excess.reason = event.reason;
  excess.joint = robot_->joints[event.joint].name;
  excess.value = event.value;
  excess.limit = event.limit;
  excess.message =
      fmt::format("{}: begins with a {} of {:.6g}, beyond the limit of {:.6g}, and first returns within it",
                  excess.joint, quantity_name(event.quantity), event.value, event.limit);
  return excess;
}

void Server::send_states(Time now) {
  std::optional<StateReply> reply;
  for (auto& [id, client] : clients_) {
    if (client.state_rate <= 0 || client.next_state > now) continue;
    if (!reply) reply = state_now();
    reply->id = client.subscription_id;
    send(id, *reply);
    const Duration interval = from_seconds(1 / client.state_rate);
    client.next_state += interval;
    if (client.next_state <= now) client.next_state = now + interval;  // at most one per late poll
  }
}

/// The loop's state and the server's goals.
StateReply Server::state_now() const {
  StateReply reply = state_reply(state_->value(), *robot_);
  for (const auto& [number, goal] : goals_) reply.goals.push_back({number, goal.state});
  const auto add = [&reply](const PlanningJob& job) {
    if (job.goal != 0) reply.goals.push_back({job.goal, GoalState::pending});
  };
  for (const PlanningJob& job : planning_) add(job);
  for (const PlanningJob& job : waiting_) add(job);
  if (working_) add(working_->job());
  std::sort(reply.goals.begin(), reply.goals.end(),
            [](const GoalStatus& a, const GoalStatus& b) { return a.goal < b.goal; });
  return reply;
}

void Server::send_feedback(Time now) {
  const Snapshot& state = state_->value();
  for (auto& [number, goal] : goals_) {
    const bool moves = goal.state == GoalState::active || goal.state == GoalState::preempting;
    if (!moves || goal.kind != RequestKind::trajectory || goal.next_feedback > now) continue;
    goal.next_feedback = now + from_seconds(1 / options_.feedback_rate);
    bool is_over = true;
    goal.joints.for_each([&, owner = number](std::size_t joint) {
      if (state.joints[joint].goal == owner) is_over = false;
    });
    if (!is_over) send_feedback(number, goal);
  }
}

void Server::send_feedback(GoalId number, Goal& goal) {
  if (clients_.count(goal.client) == 0) return;
  const Snapshot& state = state_->value();
  FeedbackReply reply;
  reply.goal = number;
  reply.state = goal.state;
  reply.duration = goal.duration;
  goal.joints.for_each([&](std::size_t joint) {
    const JointSnapshot& seen = state.joints[joint];
    reply.reference.push_back(seen.reference.position);
    reply.measured.push_back(seen.measured_position);
    if (seen.goal != number) return;
    goal.time = std::clamp(seen.goal_time, 0.0, goal.duration);
    reply.speed = seen.speed;
    reply.speed_excess = seen.speed_excess;
  });
  reply.time = goal.time;
  reply.fraction = goal.duration > 0 ? reply.time / goal.duration : 1;
  send(goal.client, reply);
}

}  // namespace takt::motion
