#include "experiment.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "statistics.hpp"

namespace paper {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

namespace {

constexpr Duration settling = 200ms;   ///< how long a stream holds its last set-point
constexpr std::size_t most_tries = 4;  ///< tries of a section that a pause of the machine interrupts
constexpr Duration time_to_be_ready = 30s;
constexpr Duration stream_rest = 500ms;  ///< pause before a stopped stream may start again

std::string text_of(const motion::Rejection& why) {
  return fmt::format("{}: {}", motion::reason_name(why.reason), why.message);
}

/// Without values there are no quantiles.
Json to_json(const std::vector<double>& microseconds) {
  if (microseconds.empty()) return {{"count", 0}};
  const Quantiles q = quantiles(microseconds);
  return {{"count", q.count}, {"p50", q.p50}, {"p99", q.p99}, {"p99_9", q.p99_9}, {"max", q.max}};
}

Json to_json(const SectionBooks& books) {
  return {{"name", books.name},
          {"mark", books.mark},
          {"rate_hz", books.rate},
          {"sent", books.sent},
          {"answered", books.answered()},
          {"accepted", books.accepted},
          {"rejected", books.rejected},
          {"refusals", books.refusals},
          {"handover_to_reference_us", to_json(books.handover_to_reference)},
          {"receive_to_reference_us", to_json(books.receive_to_reference)}};
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) give_up(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

// 10 s^3 - 15 s^4 + 6 s^5: Flash and Hogan, The coordination of arm movements, 1985.
QuinticPoint rest_to_rest(double from, double to, double duration, double time) {
  const double s = std::min(std::max(time / duration, 0.0), 1.0);
  return {from + (to - from) * s * s * s * (10 + s * (6 * s - 15)),
          (to - from) / duration * 30 * s * s * (1 - s) * (1 - s)};
}

void Experiment::measure(const std::string& name, const std::function<void()>& body) {
  if (!only_.empty() && only_ != name) return;
  const auto steps = static_cast<std::ptrdiff_t>(steps_.size());
  const auto skipped = static_cast<std::ptrdiff_t>(skipped_.size());
  std::vector<double> start;
  for (std::size_t attempt = 1;; ++attempt) {
    try {
      make_ready(start);
      if (start.empty()) start = session_->state().reference;
      const std::string mark = attempt == 1 ? name : fmt::format("{} (try {})", name, attempt);
      session_->begin_section(name, mark);
      fmt::print("{}: {}\n", session_->robot().robot, mark);
      std::fflush(stdout);
      body();
      if (const auto why = session_->interruption()) throw Interruption{*why};
      if (const motion::StateReply left = session_->state(); left.robot != motion::RobotState::ready) {
        add("the robot afterwards", "ready",
            fmt::format("{}: {}", motion::state_name(left.robot), motion::describe(left.reason)), false);
      }
      session_->section().measured = true;
      return;
    } catch (const Interruption& hit) {
      steps_.erase(steps_.begin() + steps, steps_.end());
      skipped_.erase(skipped_.begin() + skipped, skipped_.end());
      hits_.push_back({name, hit.why});
      fmt::print("  a pause of the machine hit it: {}\n", hit.why);
      if (attempt < most_tries) continue;
      not_measured_ = hits_.back();
      throw;
    }
  }
}

void Experiment::make_ready(const std::vector<double>& positions) {
  const bool again = !positions.empty();
  if (again) {
    session_->wait_for_answers();
    session_->mark("back to the start");
    (void)session_->answer(session_->send(motion::CancelMessage{}));
    session_->wait_until(session_->now() + stream_rest);
  }
  const Time end = session_->now() + time_to_be_ready;
  motion::StateReply state = session_->state();
  while (state.robot != motion::RobotState::ready) {
    if (session_->now() > end) {
      throw Interruption{fmt::format("the robot is {} for {} s: {}", motion::state_name(state.robot),
                                     takt::to_seconds(time_to_be_ready), motion::describe(state.reason))};
    }
    if (state.robot == motion::RobotState::stopped)
      (void)session_->answer(session_->send(motion::ResetMessage{}));
    session_->wait_until(session_->now() + 50ms);
    state = session_->state();
  }
  if (!again) return;
  motion::MoveMessage back;
  back.joints.names = state.joint_names;
  back.positions = positions;
  const auto moved = session_->answer(session_->send(back));
  const auto result = moved && !moved->why ? session_->result(moved->goal, time_to_be_ready) : std::nullopt;
  if (!result || result->state != motion::GoalState::succeeded)
    throw Interruption{session_->interruption().value_or("the joints did not come back to where they began")};
}

void Experiment::add(std::string name, std::string expected, std::string outcome, bool as_expected) {
  if (!as_expected) {
    if (const auto why = session_->interruption()) throw Interruption{*why};
    fmt::print(stderr, "  {}: expected {}, but {}\n", name, expected, outcome);
  }
  steps_.push_back(
      {session_->section().name, std::move(name), std::move(expected), std::move(outcome), as_expected});
}

Running Experiment::start(std::string name, Body body, double expected_duration) {
  return {std::move(name), session_->answer(session_->send(std::move(body))), expected_duration};
}

Running Experiment::start_waiting(std::string name, Body body, double expected_duration) {
  Running running = start(std::move(name), std::move(body), expected_duration);
  if (running.answer && !running.answer->why) {
    const motion::GoalState state = running.answer->state;
    add(running.name + ": waits", "pending", std::string(motion::state_name(state)),
        state == motion::GoalState::pending);
  }
  return running;
}

void Experiment::await(const std::vector<Running>& goals, motion::GoalState expected) {
  const std::string wanted(motion::state_name(expected));
  for (const Running& goal : goals) {
    if (!goal.answer || goal.answer->why) {
      add(goal.name, wanted, goal.answer ? "refused: " + text_of(*goal.answer->why) : "no answer", false);
      continue;
    }
    const auto result = session_->result(goal.answer->goal, takt::from_seconds(goal.expected_duration) + 5s);
    std::string outcome = result ? std::string(motion::state_name(result->state)) : "no result in time";
    const bool as_expected = result && result->state == expected;
    if (result && !as_expected) outcome += ": " + text_of(result->why);
    add(goal.name, wanted, std::move(outcome), as_expected);
  }
}

void Experiment::run(std::string name, Body body, double expected_duration) {
  await({start(std::move(name), std::move(body), expected_duration)});
}

void Experiment::ask(std::string name, Body body) {
  const auto answer = session_->answer(session_->send(std::move(body)));
  const bool accepted = answer && !answer->why;
  add(std::move(name), "accepted",
      accepted ? "accepted"
      : answer ? "refused: " + text_of(*answer->why)
               : "no answer",
      accepted);
}

void Experiment::expect_all_accepted() {
  const SectionBooks& books = session_->section();
  std::string outcome = fmt::format("{} of {} accepted", books.accepted, books.sent);
  for (const auto& [reason, count] : books.refusals) outcome += fmt::format(", {} {}", count, reason);
  add("answers", "every request accepted", std::move(outcome), books.accepted == books.sent);
}

void Experiment::stream(double rate, std::size_t count,
                        const std::function<motion::SetpointMessage(std::size_t)>& make) {
  const auto [first, last] =
      session_->send_at_rate(rate, count, [&](std::size_t k) { return Body(make(k)); });
  expect_all_accepted();
  session_->wait_until(session_->now() + settling);
  const auto goal = session_->answer(last);
  if (!goal || goal->why) return;  // expect_all_accepted() has reported it
  const auto cancelled = session_->answer(session_->send(motion::CancelMessage{goal->goal}));
  const auto result = session_->result(goal->goal, 5s);
  const bool lived = cancelled && !cancelled->why && result &&
                     result->state == motion::GoalState::preempted &&
                     session_->answer(first)->goal == goal->goal;
  add("stream", "lives until it is cancelled",
      result ? fmt::format("{} {}", motion::state_name(result->state), result->why.message) : "no result",
      lived);
}

void Experiment::preempting_moves(double rate, std::size_t count,
                                  const std::function<motion::MoveMessage(std::size_t)>& make) {
  // A slightly higher rate, so the requests sweep once through all phases of the loop's period.
  const double sweeping_rate = rate * (1 + 1 / static_cast<double>(count));
  const std::uint64_t last =
      session_->send_at_rate(sweeping_rate, count, [&](std::size_t k) { return Body(make(k)); }).second;
  expect_all_accepted();
  await({{"the last of the moves", session_->answer(last), 5}});
}

void Experiment::expect_refusal(std::string name, Body body, motion::Errc reason, const std::string& joint,
                                double value) {
  const auto answer = session_->answer(session_->send(std::move(body)));
  std::string expected = fmt::format("refused: {}", motion::reason_name(reason));
  if (!joint.empty()) expected += fmt::format(" of {}, near {}", joint, value);
  if (!answer || !answer->why)
    return add(std::move(name), expected, answer ? "accepted" : "no answer", false);
  const motion::Rejection& why = *answer->why;
  const bool right_place =
      joint.empty() || (why.joint == joint && std::abs(why.value.value_or(0) - value) < 0.01);
  add(std::move(name), expected, "refused: " + text_of(why), why.reason == reason && right_place);
}

bool Experiment::finish(const std::string& path) const {
  bool good = session_->unanswered() == 0 && !not_measured_;
  Json sections = Json::array();
  for (const SectionBooks& books : session_->sections()) {
    if (books.measured) sections.push_back(to_json(books));
  }
  Json steps = Json::array();
  for (const Step& step : steps_) {
    good = good && step.as_expected;
    steps.push_back({{"section", step.section},
                     {"step", step.name},
                     {"expected", step.expected},
                     {"outcome", step.outcome},
                     {"as_expected", step.as_expected}});
  }
  const auto to_json = [](const Hit& hit) { return Json{{"section", hit.section}, {"why", hit.why}}; };
  Json hits = Json::array();
  for (const Hit& hit : hits_) hits.push_back(to_json(hit));
  const Json root{
      {"robot", session_->robot().robot}, {"as_expected", good},
      {"lost", session_->unanswered()},   {"sections", std::move(sections)},
      {"steps", std::move(steps)},        {"left_out", skipped_},
      {"pauses", std::move(hits)},        {"not_measured", not_measured_ ? to_json(*not_measured_) : Json()}};
  std::ofstream file(path);
  file << root.dump(2) << '\n';
  if (!file.flush()) give_up(path + " cannot be written");
  return good;
}

}  // namespace paper
