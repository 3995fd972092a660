#include "motion/server_parts.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "motion/motion_message.hpp"

namespace takt::motion {
namespace {

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
  if (reason == Errc::message_too_large)
    why.message +=
        fmt::format(": at most {} bytes. Send fewer waypoints, or numbers of fewer digits", max_line_bytes);
  return why;
}

}  // namespace

// ---- what the carrier says ----

void Server::Parts::set_interfaces(std::span<const std::string> interfaces) {
  robot::RobotDescription robot = *robot_;  // a new one: what is being planned goes on with the old one
  for (std::size_t bus = 0; bus < std::min(interfaces.size(), robot.buses.size()); ++bus)
    robot.buses[bus].interface = interfaces[bus];
  robot_ = std::make_shared<const robot::RobotDescription>(std::move(robot));
}

void Server::Parts::connected(ClientId client, Time now) {
  now_ = now;
  clients_.try_emplace(client);
  send(client, greeting(*robot_));
}

void Server::Parts::received(ClientId client, std::string_view line, Time now) {
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

void Server::Parts::take_message(ClientId client, PlanningWork::Read read, std::size_t bytes, Time now) {
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

void Server::Parts::refused(ClientId client, LineFault fault) {
  ++counters_.errors;
  output_.push_back({client, to_line(ErrorReply{to_rejection(reason_of(fault))}), true});
}

void Server::Parts::disconnected(ClientId client, Time now) {
  now_ = now;
  clients_.erase(client);
  drop_controllers_requests(client);
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

bool Server::Parts::owes(ClientId client) const {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return false;
  const auto is_its = [client](const PlanningJob& job) { return job.client == client; };
  return found->second.in_flight > 0 || found->second.state_rate > 0 ||
         std::any_of(planning_.begin(), planning_.end(), is_its) ||
         std::any_of(waiting_.begin(), waiting_.end(), is_its) || (working_ && is_its(working_->job())) ||
         std::any_of(controllers_.begin(), controllers_.end(),
                     [client](const auto& work) { return work->client() == client; }) ||
         std::any_of(goals_.begin(), goals_.end(),
                     [&](const auto& goal) { return goal.second.client == client; });
}

// ---- requests ----

void Server::Parts::handle(ClientId client, const std::string& id, const TrajectoryMessage& message,
                           Time now) {
  plan_or_queue(client, id, message, now);
}

void Server::Parts::handle(ClientId client, const std::string& id, const MoveMessage& message, Time now) {
  plan_or_queue(client, id, message, now);
}

void Server::Parts::handle(ClientId client, const std::string& id, const SetpointMessage& message, Time now) {
  if (!may_stream(client, message, now)) return refuse(client, id, Errc::stream_ended, now);
  plan_or_queue(client, id, message, now);
}

void Server::Parts::handle(ClientId client, const std::string& id, const CancelMessage& message, Time now) {
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

void Server::Parts::handle(ClientId client, const std::string& id, const SpeedMessage& message, Time now) {
  const auto goal = goals_.find(message.goal);
  if (message.goal != 0 && (goal == goals_.end() || goal->second.kind != RequestKind::trajectory))
    return refuse(client, id, Errc::unknown_goal, now);
  if (!has_room(client, id, now)) return;
  auto request = command(RequestKind::speed, message.goal);
  request->speed = message.scale;
  hand_over(client, id, std::move(request), now);
}

void Server::Parts::handle(ClientId client, const std::string& id, const StateMessage&, Time) {
  StateReply reply = state_now();
  reply.id = id;
  send(client, reply);
}

void Server::Parts::handle(ClientId client, const std::string& id, const SubscribeMessage& message,
                           Time now) {
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
void Server::Parts::handle(ClientId client, const std::string& id, const EmergencyStopMessage& message,
                           Time now) {
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

void Server::Parts::handle(ClientId client, const std::string& id, const ResetMessage& message, Time now) {
  if (!has_room(client, id, now)) return;
  if (state_->value().state != RobotState::ready) recall_motions();
  hand_over(client, id,
            command(message.accept_positions ? RequestKind::accept_positions : RequestKind::reset), now);
}

void Server::Parts::handle(ClientId client, const std::string& id, const MarkMessage& message, Time now) {
  if (options_.on_mark) options_.on_mark(now, message.text);
  AcceptedReply reply;
  reply.id = id;
  accept(client, std::move(reply));
}

// ---- replies ----

void Server::Parts::accept(ClientId client, AcceptedReply reply) {
  ++counters_.accepted;
  send(client, reply);
}

void Server::Parts::reject(ClientId client, const std::string& id, Rejection why) {
  ++counters_.rejected;
  send(client, RejectedReply{id, std::move(why)});
}

void Server::Parts::refuse(ClientId client, const std::string& id, Rejection why, Time now) {
  if (options_.on_refusal) options_.on_refusal(now, why);
  reject(client, id, std::move(why));
}

void Server::Parts::refuse(ClientId client, const std::string& id, Errc reason, Time now) {
  refuse(client, id, to_rejection(reason), now);
}

/// If the client knows the goal's number, it gets a result. Requests that wait for the goal must not wait for
/// ever.
void Server::Parts::refuse(const PlanningJob& job, Rejection why) {
  if (job.goal == 0) return refuse(job.client, job.id, std::move(why), now_);
  if (options_.on_refusal) options_.on_refusal(now_, why);
  const bool recalled = why.reason == Errc::recalled || why.reason == Errc::goal_before_failed;
  send(job.client,
       ResultReply{
           job.id, job.goal, recalled ? GoalState::recalled : GoalState::rejected, std::move(why), {}});
  goal_ended(job.goal, false);
}

void Server::Parts::refuse(const PlanningJob& job, Errc reason) { refuse(job, to_rejection(reason)); }

void Server::Parts::send(ClientId client, const ServerMessage& message, bool close) {
  if (clients_.count(client) == 0) return;
  output_.push_back({client, to_line(message), close});
}

Rejection Server::Parts::why(const Event& event) const {
  Rejection why = explain(event, *robot_);
  const Snapshot& state = state_->value();
  if (event.reason == Errc::robot_not_ready && state.state != RobotState::ready)
    why.message = "the robot is " + describe_state(state, *robot_);
  return why;
}

/// The limit that a goal exceeds as it becomes active.
Rejection Server::Parts::excess_of(const Event& event) const {
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

void Server::Parts::send_states(Time now) {
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
StateReply Server::Parts::state_now() const {
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

void Server::Parts::send_feedback(Time now) {
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

void Server::Parts::send_feedback(GoalId number, Goal& goal) {
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

// ---- the server ----

Server::Server(robot::RobotDescription robot, shm::SpscRing<Request*>& requests, shm::SpscRing<Event>& events,
               shm::LatestValue<Snapshot>& state, ServerOptions options)
    : parts_(std::make_unique<Parts>(std::move(robot), requests, events, state, std::move(options))) {}
Server::~Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;

void Server::connected(ClientId client, Time now) { parts_->connected(client, now); }
void Server::received(ClientId client, std::string_view line, Time now) {
  parts_->received(client, line, now);
}
void Server::refused(ClientId client, LineFault fault, Time /*now*/) { parts_->refused(client, fault); }
void Server::disconnected(ClientId client, Time now) { parts_->disconnected(client, now); }
bool Server::owes(ClientId client) const { return parts_->owes(client); }
Duration Server::poll(Time now) { return parts_->poll(now); }
std::vector<LineOutput> Server::take_output() { return std::exchange(parts_->output_, {}); }
void Server::set_interfaces(std::span<const std::string> interfaces) { parts_->set_interfaces(interfaces); }
const ServerCounters& Server::counters() const noexcept { return parts_->counters_; }
std::size_t Server::goals() const noexcept { return parts_->goals_.size(); }
bool Server::idle() const noexcept { return parts_->idle(); }
std::size_t Server::borrowed() const noexcept { return parts_->borrowed_.size(); }

}  // namespace takt::motion
