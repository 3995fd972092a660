// takt send: asks a running robot for a motion that stands in a file, and shows how it goes.
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "tools/commands.hpp"
#include "tools/connection.hpp"
#include "tools/number_checks.hpp"

namespace takt::tools {
namespace {

struct SendOptions {
  std::string file;
  Address address;
  bool fit = false;
  bool stop_at_end = false;
  std::optional<motion::WhenBusy> when_busy;
  std::optional<double> start;
  std::optional<double> velocity;
  std::optional<double> acceleration;
  double timeout = 3600;
};

constexpr std::size_t longest_file = std::size_t{4} << 20;  // what the server takes in one message

std::string read_file_or_exit(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(longest_file + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const char* trouble = text.empty()                 ? "cannot be read, or is empty"
                        : text.size() > longest_file ? "is larger than 4 MiB"
                                                     : nullptr;
  if (trouble == nullptr) return text;
  fmt::print(stderr, "takt: {} {}\n", path, trouble);
  throw CLI::RuntimeError(exit_bad_input);
}

/// The options of the command line on top of what the file says.
template <class Message>
void apply(const SendOptions& options, Message& message) {
  message.fit = message.fit || options.fit;
  if (options.when_busy) message.when_busy = *options.when_busy;
  if (options.velocity) message.limits.velocity = {*options.velocity};
  if (options.acceleration) message.limits.acceleration = {*options.acceleration};
}

motion::ClientMessage read_message_or_exit(const SendOptions& options) {
  auto message = motion::parse_motion_file(read_file_or_exit(options.file));
  if (!message) {
    fmt::print(stderr, "takt: {}: {}\n", options.file, to_text(message.error().why));
    throw CLI::RuntimeError(exit_bad_input);
  }
  if (auto* trajectory = std::get_if<motion::TrajectoryMessage>(&message->body)) {
    apply(options, *trajectory);
    if (options.stop_at_end) trajectory->at_end = motion::AtEnd::stop;
    if (options.start) trajectory->start = options.start;
  } else if (auto* move = std::get_if<motion::MoveMessage>(&message->body);
             move != nullptr && !options.start) {
    apply(options, *move);
  } else {
    fmt::print(
        stderr, "takt: {}: holds {}\n", options.file,
        options.start ? "no trajectory, and nothing else has a start" : "neither a trajectory nor a move");
    throw CLI::RuntimeError(exit_bad_input);
  }
  return *message;
}

/// One line that is rewritten in place; nothing where nobody looks.
void show_progress(const motion::FeedbackReply& feedback) {
  static const bool somebody_looks = ::isatty(STDOUT_FILENO) == 1;
  if (!somebody_looks) return;
  constexpr int cells = 40;
  const int done = static_cast<int>(feedback.fraction * cells);
  double worst = 0;
  for (std::size_t i = 0; i < std::min(feedback.reference.size(), feedback.measured.size()); ++i) {
    worst = std::max(worst, std::abs(feedback.reference[i] - feedback.measured[i]));
  }
  fmt::print("\r[{:=<{}}{: <{}}] {:6.2f} of {:.2f} s   worst error {:.4f} rad or m ", "", done, "",
             cells - done, feedback.time, feedback.duration, worst);
  std::fflush(stdout);
}

void send(const SendOptions& options) {
  const motion::ClientMessage message = read_message_or_exit(options);
  MotionClient client = connect_or_exit(options.address);
  const auto accepted = client.request(message, answer_time);
  if (!accepted) exit_with(accepted.error());
  fmt::print("goal {} accepted", accepted->goal);
  if (accepted->state == motion::GoalState::pending) fmt::print(", waits");
  if (accepted->duration) fmt::print(", {:.3f} s", *accepted->duration);
  if (accepted->latency)
    fmt::print(", first reference after {:.0f} us", accepted->latency->receive_to_reference);
  fmt::print("\n");
  const auto result = client.result(accepted->goal, from_seconds(options.timeout), show_progress);
  if (::isatty(STDOUT_FILENO) == 1) fmt::print("\r\x1b[K");
  if (!result) exit_with(result.error());
  fmt::print("goal {} {}\n", result->goal, motion::state_name(result->state));
  if (result->why.reason != motion::Errc{}) fmt::print(stderr, "{}\n", to_text(result->why));
  if (result->state != motion::GoalState::succeeded) throw CLI::RuntimeError(exit_failed);
}

}  // namespace

void add_send(CLI::App& app) {
  auto* command =
      app.add_subcommand("send", "Send a trajectory or a move to a running robot and wait for its end");
  const auto options = std::make_shared<SendOptions>();
  command
      ->add_option("file", options->file,
                   "JSON: a trajectory as trajectory_msgs/JointTrajectory spells it, or a request")
      ->required()
      ->type_name("FILE");
  command->add_flag("--fit", options->fit,
                    "Slow the motion down until it fits the limits, instead of refusing it");
  command->add_flag("--stop-at-end", options->stop_at_end,
                    "Bring a trajectory that ends in motion to a bounded stop");
  command
      ->add_option("--when-busy", options->when_busy,
                   "What becomes of joints that another goal moves: 'splice' takes them over, 'queue' waits "
                   "until it has "
                   "succeeded, 'reject' gives up")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, motion::WhenBusy>{{"splice", motion::WhenBusy::splice},
                                                  {"queue", motion::WhenBusy::queue},
                                                  {"reject", motion::WhenBusy::reject}}));
  command
      ->add_option("--start", options->start,
                   "Begin a trajectory at this time on the loop's clock, in seconds; `takt state` says what "
                   "time it is")
      ->check(positive_number());
  command
      ->add_option("--velocity", options->velocity,
                   "Tighten the velocity limits, rad/s (m/s for linear joints)")
      ->check(positive_number());
  command
      ->add_option("--acceleration", options->acceleration,
                   "Tighten the acceleration limits, rad/s^2 (m/s^2 for linear joints)")
      ->check(positive_number());
  command
      ->add_option("--timeout", options->timeout,
                   "Give up waiting after this many seconds; the motion then stops")
      ->check(positive_number())
      ->capture_default_str();
  options->address.add_options(*command);
  command->footer(
      "Example, with `takt run examples/robots/arm6.json` in another terminal:\n"
      "  takt send examples/data/ur_arm_planned.json --stop-at-end\n"
      "Exit code: 0 the goal succeeded, 1 it was rejected or ended otherwise, 2 the file is wrong.\n"
      "Ctrl-C here ends the connection, and with it the motion, unless the file says \"on_disconnect\": "
      "\"continue\".");
  command->callback([options] { send(*options); });
}

}  // namespace takt::tools
