// The program takt: the real-time process, its client and the report, as sub-commands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "tools/commands.hpp"

#include "takt/version.hpp"

namespace {

/// The given sub-command; of a group such as `takt shm`, the innermost one that CLI11 recognized.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.front());
}

std::string command_line(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : command_line(*app.get_parent()) + ' ' + app.get_name();
}

/// The error message for a wrong command line, with the command that prints the right help.
std::string complaint(const CLI::App* app, const CLI::Error& error) {
  const CLI::App& command = deepest(*app);
  const std::string name = command_line(command);
  // Groups of options are subcommands without a name.
  const auto commands =
      command.get_subcommands([](const CLI::App* each) { return !each->get_name().empty(); });
  if (commands.empty()) return fmt::format("{}: {}\nSee: {} --help\n", name, error.what(), name);
  const std::vector<std::string> unknown = command.remaining();
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* known : commands) names.push_back(known->get_name());
  return fmt::format(
      "{}: {}. Commands: {}\nSee: {} --help\n", name,
      unknown.empty() ? "a command is missing" : fmt::format("there is no command '{}'", unknown.front()),
      fmt::join(names, ", "), name);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("takt: from a motion request to joint commands that never miss their beat", "takt");
  app.set_version_flag("--version", TAKT_VERSION);
  app.require_subcommand(1);
  app.failure_message(complaint);
  takt::tools::add_run(app);
  takt::tools::add_launch(app);
  takt::tools::add_component(app);
  takt::tools::add_new(app);
  takt::tools::add_serve(app);
  takt::tools::add_import(app);
  takt::tools::add_check(app);
  takt::tools::add_scan(app);
  takt::tools::add_candump(app);
  takt::tools::add_sdo(app);
  takt::tools::add_jog(app);
  takt::tools::add_simulate(app);
  takt::tools::add_move(app);
  takt::tools::add_send(app);
  takt::tools::add_state(app);
  takt::tools::add_cancel(app);
  takt::tools::add_speed(app);
  takt::tools::add_estop(app);
  takt::tools::add_reset(app);
  takt::tools::add_top(app);
  takt::tools::add_ctl(app);
  takt::tools::add_replay(app);
  takt::tools::add_report(app);
  takt::tools::add_shm(app);
  takt::tools::add_dbc2hpp(app);
  takt::tools::add_key(app);
  takt::tools::add_vehicle_sim(app);
  takt::tools::add_drive(app);
  takt::tools::add_teleop(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {  // of a command, which has printed its message
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? takt::tools::exit_ok : takt::tools::exit_bad_input;
  }
  return takt::tools::exit_ok;
}
