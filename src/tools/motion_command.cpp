#include "tools/motion_command.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <variant>

#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"

namespace takt::tools {
namespace {

/// Rewrites one line of at most 80 columns in place; prints nothing unless stdout is a terminal.
void show_progress(const motion::FeedbackReply& feedback) {
  static const bool somebody_looks = ::isatty(STDOUT_FILENO) == 1;
  if (!somebody_looks) return;
  constexpr int cells = 24;
  const int done = static_cast<int>(feedback.fraction * cells);
  double worst = 0;
  for (std::size_t i = 0; i < std::min(feedback.reference.size(), feedback.measured.size()); ++i) {
    worst = std::max(worst, std::abs(feedback.reference[i] - feedback.measured[i]));
  }
  fmt::print("\r[{:=<{}}{: <{}}] {:.2f} of {:.2f} s   worst error {:.4f} rad or m\x1b[K", "", done, "",
             cells - done, feedback.time, feedback.duration, worst);
  std::fflush(stdout);
}

bool goes_on_without_client(const motion::ClientMessage& message) {
  return std::visit(
      [](const auto& body) {
        if constexpr (requires { body.on_disconnect; })
          return body.on_disconnect == motion::OnDisconnect::proceed;
        return false;
      },
      message.body);
}

/// The goal's result; std::nullopt while the goal runs.
std::optional<motion::ResultReply> wait_or_exit(MotionClient& client, motion::GoalId goal, double timeout,
                                                bool goes_on) {
  auto result = client.result(goal, from_seconds(timeout), show_progress);
  if (::isatty(STDOUT_FILENO) == 1) fmt::print("\r\x1b[K");
  if (!result && result.error().error == motion::Errc::message_too_slow) {
    fmt::print(stderr, "takt: goal {} has not ended after {:g} s (--timeout): ", goal, timeout);
    if (goes_on) {
      fmt::print(stderr, "it goes on; `takt cancel {}` stops it\n", goal);
      return std::nullopt;
    }
    fmt::print(stderr, "it is stopped\n");
    // If it has ended meanwhile, it is unknown; its result is reported all the same.
    static_cast<void>(client.request({"", motion::CancelMessage{goal, motion::StopAt::now}}, answer_time));
    result = client.result(goal, answer_time);
  }
  if (!result) exit_with(result.error());
  return *std::move(result);
}

}  // namespace

void MotionOptions::add_options(CLI::App& command) {
  command.add_flag("--fit", fit, "Slow the motion down until it fits the limits, instead of rejecting it");
  add_choice<std::optional<motion::WhenBusy>, motion::WhenBusy>(
      command, "--when-busy", when_busy,
      {{"splice", motion::WhenBusy::splice},
       {"queue", motion::WhenBusy::queue},
       {"reject", motion::WhenBusy::reject}},
      "If another goal moves the joints: splice takes them over, queue waits until that goal has succeeded, "
      "reject gives up");
  command.add_option("--velocity", velocity, "Tighten the velocity limits, rad/s (m/s for linear joints)")
      ->check(positive_number());
  command
      .add_option("--acceleration", acceleration,
                  "Tighten the acceleration limits, rad/s^2 (m/s^2 for linear joints)")
      ->check(positive_number());
  command
      .add_option("--timeout", timeout,
                  "Wait at most this many seconds for the end. Then the goal is stopped; one with "
                  "\"on_disconnect\": \"continue\" goes on. A message tells which")
      ->check(positive_number())
      ->capture_default_str();
  address.add_options(command);
}

void move_or_exit(const MotionOptions& options, const motion::ClientMessage& message) {
  MotionClient client = connect_or_exit(options.address);
  const auto accepted = client.request(message, answer_time);
  if (!accepted) exit_with(accepted.error());
  fmt::print("goal {} accepted", accepted->goal);
  if (accepted->state == motion::GoalState::pending) fmt::print(", waits");
  if (accepted->duration) fmt::print(", {:.3f} s", *accepted->duration);
  if (accepted->latency)
    fmt::print(", first reference after {:.0f} us", accepted->latency->receive_to_reference);
  fmt::print("\n");
  std::fflush(stdout);  // before output on stderr
  const auto result = wait_or_exit(client, accepted->goal, options.timeout, goes_on_without_client(message));
  if (!result) throw CLI::RuntimeError(exit_failed);
  fmt::print("goal {} {}\n", result->goal, motion::state_name(result->state));
  if (result->why.reason != motion::Errc{}) fmt::print(stderr, "{}\n", to_text(result->why));
  if (result->state != motion::GoalState::succeeded) throw CLI::RuntimeError(exit_failed);
}

}  // namespace takt::tools
