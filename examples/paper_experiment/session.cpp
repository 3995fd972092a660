#include "session.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace paper {

using namespace std::chrono_literals;

namespace {

constexpr Duration answer_time = 5s;
/// Half of the requests that a server queues for one client. So a late program can send its backlog without
/// rejections.
constexpr std::size_t most_unanswered = 16;

takt::platform::TcpStream connect(std::uint16_t port) {
  auto stream = takt::platform::TcpStream::connect("127.0.0.1", port, answer_time);
  if (!stream) give_up(stream.error().message);
  return std::move(*stream);
}

std::string text_of(motion::Errc reason, const std::string& joint) {
  const std::string of = joint.empty() ? "" : " of " + joint;
  return fmt::format("{}{}: {}", motion::reason_name(reason), of, motion::describe(reason));
}

/// Whether a robot stops for this reason because of a pause of the machine, without a fault of its own.
bool is_a_pause(motion::Errc reason) {
  return reason == motion::Errc::loop_overrun || reason == motion::Errc::drive_silent;
}

bool asks_for_motion(const Body& body) {
  return std::holds_alternative<motion::TrajectoryMessage>(body) ||
         std::holds_alternative<motion::MoveMessage>(body) ||
         std::holds_alternative<motion::SetpointMessage>(body);
}

}  // namespace

void give_up(const std::string& why) {
  fmt::print(stderr, "paper_experiment: {}\n", why);
  std::exit(1);
}

Session::Session(std::uint16_t port) : client_(connect(port), clock_) {
  auto greeting = client_.greeting(answer_time);
  if (!greeting) give_up(greeting.error().message);
  robot_ = std::move(*greeting);
}

void Session::begin_section(const std::string& name, const std::string& mark_text) {
  sections_.push_back({});
  section().name = name;
  section().mark = mark_text;
  late_.reset();
  mark(mark_text);
}

void Session::mark(const std::string& text) {
  if (const auto marked = answer(send(motion::MarkMessage{text})); !marked || marked->why)
    give_up("no mark could be set");
}

std::optional<std::string> Session::interruption() {
  const motion::StateReply now = state();
  if (now.robot != motion::RobotState::ready && is_a_pause(now.reason))
    return "the robot stopped: " + text_of(now.reason, now.joint);
  if (late_) return text_of(late_->reason, late_->joint);
  return std::nullopt;
}

std::uint64_t Session::send(Body body) {
  const bool counts = asks_for_motion(body);
  const std::uint64_t request = ++last_request_;
  pending_[request] = {sections_.size() - 1, counts};
  if (counts) ++section().sent;
  if (const auto sent = client_.send({std::to_string(request), std::move(body)}); !sent)
    give_up(sent.error().message);
  return request;
}

std::pair<std::uint64_t, std::uint64_t> Session::send_at_rate(double rate, std::size_t count,
                                                              const std::function<Body(std::size_t)>& make) {
  const Time start = now();
  const std::uint64_t first = last_request_ + 1;
  const std::string not_ready(motion::reason_name(motion::Errc::robot_not_ready));
  for (std::size_t k = 0; k < count && section().refusals.count(not_ready) == 0; ++k) {
    clock_.sleep_until(start + takt::from_seconds(static_cast<double>(k) / rate));
    take_until(now() + answer_time, [this] { return pending_.size() < most_unanswered; });
    send(make(k));
    while (take(Duration(0))) {
    }
  }
  if (count > 1) section().rate = static_cast<double>(count - 1) / takt::to_seconds(now() - start);
  wait_for_answers();
  return {first, last_request_};
}

void Session::wait_for_answers() {
  take_until(now() + answer_time, [this] { return pending_.empty(); });
}

std::optional<Answer> Session::answer(std::uint64_t request) {
  take_until(now() + answer_time, [&] { return answers_.count(request) > 0; });
  const auto found = answers_.find(request);
  return found == answers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<motion::ResultReply> Session::result(motion::GoalId goal, Duration patience) {
  take_until(now() + patience, [&] { return results_.count(goal) > 0; });
  const auto found = results_.find(goal);
  return found == results_.end() ? std::nullopt : std::optional(found->second);
}

motion::StateReply Session::state() {
  auto state = client_.state(answer_time);
  if (!state) give_up(state.error().message);
  return *std::move(state);
}

void Session::wait_until(Time time) {
  take_until(time, [] { return false; });
}

template <class Done>
void Session::take_until(Time deadline, Done&& done) {
  while (!done() && now() < deadline) take(deadline - now());
}

bool Session::take(Duration patience) {
  const auto message = client_.next(patience);
  if (!message) give_up(message.error().message);
  if (!*message) return false;
  book(**message);
  return true;
}

void Session::book(const motion::ServerMessage& message) {
  if (const auto* accepted = std::get_if<motion::AcceptedReply>(&message)) {
    book_answer(accepted->id, {accepted->goal, accepted->state, std::nullopt}, accepted->latency);
  } else if (const auto* rejected = std::get_if<motion::RejectedReply>(&message)) {
    book_answer(rejected->id, {0, motion::GoalState::rejected, rejected->why}, std::nullopt);
  } else if (const auto* result = std::get_if<motion::ResultReply>(&message)) {
    results_[result->goal] = *result;
    if (result->why.reason == motion::Errc::setpoint_timeout) late_ = result->why;
  } else if (const auto* error = std::get_if<motion::ErrorReply>(&message)) {
    give_up("the robot did not understand: " + error->why.message);
  }
}

void Session::book_answer(const std::string& id, Answer answer,
                          const std::optional<motion::LatencyReply>& latency) {
  std::uint64_t request = 0;
  std::from_chars(id.data(), id.data() + id.size(), request);
  const auto pending = pending_.find(request);
  if (pending == pending_.end()) give_up("an answer to a request that nobody made, or a second one: " + id);
  if (pending->second.counts) {
    SectionBooks& books = sections_[pending->second.section];
    ++(answer.why ? books.rejected : books.accepted);
    if (answer.why && answer.why->reason == motion::Errc::queue_full) late_ = *answer.why;
    if (answer.why) ++books.refusals[std::string(motion::reason_name(answer.why->reason))];
    if (latency) {
      books.handover_to_reference.push_back(latency->handover_to_reference);
      books.receive_to_reference.push_back(latency->receive_to_reference);
    }
  }
  answers_[request] = std::move(answer);
  pending_.erase(pending);
}

}  // namespace paper
