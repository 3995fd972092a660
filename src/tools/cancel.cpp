// takt cancel, takt estop, takt reset: the short commands to a running robot.
#include <fmt/format.h>
#include <memory>

#include "tools/commands.hpp"
#include "tools/connection.hpp"

namespace takt::tools {
namespace {

void request_or_exit(const Address& address, motion::ClientMessage message, std::string_view done) {
  MotionClient client = connect_or_exit(address);
  const auto accepted = client.request(std::move(message), answer_time);
  if (!accepted) exit_with(accepted.error());
  fmt::print("{}\n", done);
}

}  // namespace

void add_cancel(CLI::App& app) {
  struct Options {
    Address address;
    motion::GoalId goal = 0;
  };
  auto* command = app.add_subcommand("cancel", "Bring one goal, or all of them, to a bounded stop");
  const auto options = std::make_shared<Options>();
  command->add_option("goal", options->goal, "The goal's number; all goals without it")
      ->check(CLI::PositiveNumber);
  options->address.add_options(*command);
  command->footer("Examples:\n  takt cancel      stop everything\n  takt cancel 3    stop goal 3");
  command->callback([options] {
    request_or_exit(options->address, {"", motion::CancelMessage{options->goal}}, "cancelled");
  });
}

void add_estop(CLI::App& app) {
  struct Options {
    Address address;
    int category = 1;
  };
  auto* command = app.add_subcommand("estop", "Stop the robot and keep it stopped until `takt reset`");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("--category", options->category,
                   "0 power off at once, 1 bounded stop and then power off, 2 bounded stop with power on")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  options->address.add_options(*command);
  command->footer(
      "A request over a network is no substitute for the wired emergency stop of the machine.\n"
      "Example:\n  takt estop --category 0");
  command->callback([options] {
    const auto category = static_cast<motion::StopCategory>(options->category);
    request_or_exit(options->address, {"", motion::EmergencyStopMessage{category}}, "stopping");
  });
}

void add_reset(CLI::App& app) {
  auto* command = app.add_subcommand(
      "reset", "Leave a latched stop: clear faults, power on, start from where the joints are");
  const auto address = std::make_shared<Address>();
  address->add_options(*command);
  command->footer("Example:\n  takt reset && takt state");
  command->callback([address] { request_or_exit(*address, {"", motion::ResetMessage{}}, "resetting"); });
}

}  // namespace takt::tools
