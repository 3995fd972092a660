// takt cancel, takt speed, takt estop, takt reset: the short commands to a running robot.
#include <fmt/format.h>
#include <memory>

#include "tools/commands.hpp"
#include "tools/connection.hpp"
#include "tools/number_checks.hpp"

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
    bool path = false;
  };
  auto* command = app.add_subcommand("cancel", "Bring one goal, or all of them, to a bounded stop");
  const auto options = std::make_shared<Options>();
  command->add_option("goal", options->goal, "The goal's number; all goals without it")
      ->check(positive_number());
  command->add_flag("--path", options->path,
                    "Stop on the path; without it, each joint stops by itself as fast as it can");
  options->address.add_options(*command);
  command->footer(
      "Examples:\n  takt cancel             stop everything\n  takt cancel 3 --path    stop goal 3 on its "
      "path");
  command->callback([options] {
    const auto stop = options->path ? motion::StopAt::path : motion::StopAt::now;
    request_or_exit(options->address, {"", motion::CancelMessage{options->goal, stop}}, "cancelled");
  });
}

void add_speed(CLI::App& app) {
  struct Options {
    Address address;
    motion::SpeedMessage message;
  };
  auto* command = app.add_subcommand(
      "speed", "Let one trajectory goal, or all of them, go slower along its path, or pause");
  const auto options = std::make_shared<Options>();
  command->add_option("scale", options->message.scale, "0 pauses, 1 is as planned")
      ->required()
      ->check(number_between(0, 1, "number from 0 to 1"));
  command->add_option("goal", options->message.goal, "The goal's number; all goals without it")
      ->check(positive_number());
  options->address.add_options(*command);
  command->footer("Examples:\n  takt speed 0.3 7    goal 7 at 30 %\n  takt speed 0        pause everything");
  command->callback([options] { request_or_exit(options->address, {"", options->message}, "accepted"); });
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
    const auto category = static_cast<StopCategory>(options->category);
    request_or_exit(options->address, {"", motion::EmergencyStopMessage{category}}, "stopping");
  });
}

void add_reset(CLI::App& app) {
  auto* command = app.add_subcommand(
      "reset", "Leave a latched stop: clear faults, power on, start from the joints' present positions");
  struct Options {
    Address address;
    motion::ResetMessage message;
  };
  const auto options = std::make_shared<Options>();
  command->add_flag("--accept-positions", options->message.accept_positions,
                    "Positions that jumped while their drives were away are right: you have looked");
  options->address.add_options(*command);
  command->footer(
      "A drive whose encoder lost its zero would move its joint too far. Where `takt state` shows another "
      "angle than\nthe joint has, move it to the angle shown, search its home, or set the drive's zero.\n"
      "Examples:\n  takt reset && takt state\n  takt reset --accept-positions");
  command->callback([options] { request_or_exit(options->address, {"", options->message}, "resetting"); });
}

}  // namespace takt::tools
