// takt top: the live state of a running robot in the terminal, redrawn some times a second.
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "tools/commands.hpp"
#include "tools/connection.hpp"
#include "tools/number_checks.hpp"
#include "tools/signals.hpp"
#include "tools/state_table.hpp"
#include "tools/terminal.hpp"

namespace takt::tools {
namespace {

struct TopOptions {
  Address address;
  double rate = 5;
  bool once = false;
};

/// The rows of a text on a terminal: a line longer than `columns` takes several.
std::vector<std::string> rows_of(const std::string& text, std::size_t columns) {
  std::vector<std::string> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    for (; line.size() > columns; line.erase(0, columns)) rows.push_back(line.substr(0, columns));
    rows.push_back(line);
  }
  return rows;
}

/// The output that redraws the terminal: at most as many rows as it has, each cleared before. The last row
/// has no line end, which would scroll.
std::string screen(const std::string& text) {
  const std::vector<std::string> rows = rows_of(text, terminal_columns());
  const std::size_t shown = std::min(rows.size(), terminal_rows() - 1);
  std::string drawn = "\x1b[H";
  for (std::size_t row = 0; row < shown; ++row) drawn += "\x1b[K" + rows[row] + "\n";
  drawn += "\x1b[K";
  if (shown < rows.size()) drawn += fmt::format("({} more lines) ", rows.size() - shown);
  return drawn + "(q ends this, not the robot)\x1b[J";
}

/// Whether the end was requested: by the key q, or by a signal.
bool asked_to_end(TypedText& typed, const sigset_t& signals) {
  constexpr timespec at_once{};
  const std::string keys = typed.take();
  return keys.find_first_of("qQ") != std::string::npos || sigtimedwait(&signals, nullptr, &at_once) > 0;
}

/// Redraws until the end is requested. Errors: those of the connection; message_too_slow.
SetupResult<void> redraw(MotionClient& client, const std::string& robot, Duration patience) {
  constexpr Duration between_keys = std::chrono::milliseconds(50);
  const platform::SteadyClock clock;
  const sigset_t signals = block_ending_signals();
  // Output to a pipe may end this program when its reader ends; the terminal must then be in its usual mode.
  std::optional<RawTerminal> terminal;
  if (::isatty(STDOUT_FILENO) == 1) terminal.emplace();
  TypedText typed;
  fmt::print("\x1b[2J");
  for (Time heard = clock.now(); !asked_to_end(typed, signals);) {
    const auto message = client.next(between_keys);
    if (!message) return tl::unexpected<SetupError>(message.error());
    const auto* state = *message ? std::get_if<motion::StateReply>(&**message) : nullptr;
    if (state != nullptr) {
      heard = clock.now();
      fmt::print("{}", screen(state_table(*state, robot, terminal_columns())));
      std::fflush(stdout);
    } else if (clock.now() - heard > patience) {
      return fail(motion::Errc::message_too_slow, "the server does not answer any more");
    }
  }
  return {};
}

void watch(const TopOptions& options) {
  motion::GreetingReply greeting;
  MotionClient client = connect_or_exit(options.address, &greeting);
  if (options.once) {
    const auto state = client.state(answer_time);
    if (!state) exit_with(state.error());
    fmt::print("{}", state_table(*state, greeting.robot));
    return;
  }
  const auto subscribed = client.request({"", motion::SubscribeMessage{options.rate}}, answer_time);
  if (!subscribed) exit_with(subscribed.error());
  const auto ended = redraw(client, greeting.robot, from_seconds(1 / options.rate) + answer_time);
  fmt::print("\n");
  std::fflush(stdout);
  if (!ended) exit_with(ended.error());
}

}  // namespace

void add_top(CLI::App& app) {
  auto* command = app.add_subcommand("top", "Watch a running robot live");
  const auto options = std::make_shared<TopOptions>();
  command->add_option("--rate", options->rate, "Redraw this many times a second")
      ->check(number_between(0.1, 100, "number from 0.1 to 100"))
      ->capture_default_str();
  command->add_flag("--once", options->once, "Print one state and end");
  options->address.add_options(*command);
  command->footer(
      "Ends with q or Ctrl-C; the robot goes on. Units are those of `takt state`.\n"
      "Example:\n  takt top --rate 10");
  command->callback([options] { watch(*options); });
}

}  // namespace takt::tools
