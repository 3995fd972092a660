// takt top: the live state of a running robot in the terminal, redrawn some times a second.
#include <fmt/format.h>
#include <cstdio>
#include <memory>
#include <optional>

#include "tools/commands.hpp"
#include "tools/connection.hpp"
#include "tools/number_checks.hpp"
#include "tools/state_table.hpp"

namespace takt::tools {
namespace {

struct TopOptions {
  Address address;
  double rate = 5;
  bool once = false;
};

/// Each line ends by clearing what an earlier, longer one left behind it.
std::string with_line_ends_cleared(const std::string& text) {
  std::string cleared;
  for (const char c : text) {
    if (c == '\n') cleared += "\x1b[K";
    cleared += c;
  }
  return cleared;
}

void watch(const TopOptions& options) {
  MotionClient client = connect_or_exit(options.address);
  const auto subscribed = client.request({"", motion::SubscribeMessage{options.rate}}, answer_time);
  if (!subscribed) exit_with(subscribed.error());
  if (!options.once) fmt::print("\x1b[2J");
  for (;;) {
    const auto message = client.next(answer_time);
    if (!message) exit_with(message.error());
    if (!*message) exit_with(SetupError{motion::Errc::message_too_slow, "the server fell silent"});
    const auto* state = std::get_if<motion::StateReply>(&**message);
    if (state == nullptr) continue;
    if (options.once) {
      fmt::print("{}", state_table(*state));
      return;
    }
    // Home, the table, and away with whatever the last, longer one left below it: no flicker.
    fmt::print("\x1b[H{}\x1b[J(Ctrl-C ends this, not the robot)\n",
               with_line_ends_cleared(state_table(*state)));
    std::fflush(stdout);
  }
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
  command->footer("Example:\n  takt top --rate 10");
  command->callback([options] { watch(*options); });
}

}  // namespace takt::tools
