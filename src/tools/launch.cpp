// takt launch: runs a system of components from its file, in one process or several.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/control_socket.hpp"
#include "takt/app/system.hpp"
#include "takt/platform/event_waiter.hpp"
#include "takt/platform/steady_clock.hpp"
#include "tools/alive_channel.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"
#include "tools/open_recording.hpp"
#include "tools/printer.hpp"
#include "tools/process_supervisor.hpp"
#include "tools/signals.hpp"

#include <unistd.h>

namespace takt::tools {
namespace {

struct LaunchOptions {
  std::string file;
  std::vector<std::string> folders;
  std::string process;
  std::vector<std::string> bells;  ///< CONTEXT=DESCRIPTOR, inherited from the launcher
  int alive = -1;                  ///< descriptor of the launcher's alive channel; -1: there is none
  double virtual_time = 0;
  bool check = false;
};

int complain(const std::string& file, const std::string& mistakes) {
  std::size_t begin = 0;
  while (begin <= mistakes.size()) {
    const std::size_t end = std::min(mistakes.find('\n', begin), mistakes.size());
    fmt::print(stderr, "{}: {}\n", file, mistakes.substr(begin, end - begin));
    begin = end + 1;
  }
  return exit_bad_input;
}

app::SystemOptions system_options(const LaunchOptions& options) {
  app::SystemOptions result;
  result.folders = options.folders;
  for (const std::string& bell : options.bells) {
    const std::size_t sign = bell.rfind('=');
    int descriptor = -1;  // which no process has
    if (sign != std::string::npos)
      std::from_chars(bell.data() + sign + 1, bell.data() + bell.size(), descriptor);
    result.bells[bell.substr(0, sign)] = descriptor;
  }
  const auto folder = std::filesystem::absolute(options.file).parent_path();
  result.folders.push_back(folder.string());
  result.compression = recording_compression();
  return result;
}

// ---- one process ----

/// Runs the system, or the process of it that options.process names, until a signal comes.
int run_here(const app::SystemDescription& description, const LaunchOptions& options) {
  const sigset_t signals = block_ending_signals();
  app::ComponentLibrary library;
  app::SystemOptions how = system_options(options);
  how.process = options.process;
  std::optional<platform::Segment> segment;
  if (!options.process.empty() && description.processes.size() > 1) {
    auto opened = platform::Segment::open(app::segment_name(description));
    if (opened) segment.emplace(std::move(*opened));
    how.segment = segment ? &*segment : nullptr;
  }
  auto system = app::ComponentSystem::create(description, library, how);
  if (!system) return complain(options.file, system.error().message);
  if (options.virtual_time > 0) {
    if (auto done = (*system)->run_virtual(from_seconds(options.virtual_time)); !done)
      return complain(options.file, done.error().message), exit_failed;
    const std::string list = (*system)->command("list", "launch");
    static_cast<void>((*system)->stop());
    while (const auto report = (*system)->next_report()) fmt::print("{}\n", *report);
    fmt::print("{}\n", list);
    return exit_ok;
  }
  if (auto started = (*system)->start(); !started) {
    fmt::print(stderr, "{}: {}\n", description.name, started.error().message);
    return exit_failed;
  }
  Printer printer;
  const std::string title =
      options.process.empty() ? description.name : description.name + "@" + options.process;
  std::mutex commands;  ///< one thread at a time gives them
  std::string status;
  auto control = app::ControlSocket::open(
      app::control_path(description.name, description.processes.size() > 1 ? options.process : ""),
      [&](std::string_view line) {
        const std::scoped_lock lock(commands);
        return (*system)->command(line, "takt component");
      });
  if (!control) {
    fmt::print(stderr, "{}\n", control.error().message);
    return exit_failed;
  }
  printer.print(title + " runs\n");
  AliveSender alive(options.alive);
  const Duration period = description.process(options.process).alive;
  for (;;) {
    if (alive.is_due(platform::SteadyClock().now(), period)) {
      // While another thread obeys a command, the former status is sent again.
      if (const std::unique_lock lock(commands, std::try_to_lock); lock)
        status = (*system)->command("status", title);
      if (!status.empty()) alive.send(status);
    }
    timespec wait{0, 20'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &wait);
    while (const auto report = (*system)->next_report()) printer.print(title + ": " + *report + "\n");
    if (signal > 0 || (*system)->must_end()) break;
  }
  control->reset();
  const bool is_failure = (*system)->must_end();
  const bool whole = (*system)->stop();
  while (const auto report = (*system)->next_report()) printer.print(title + ": " + *report + "\n");
  printer.print(title + (whole ? " has stopped\n" : " is stuck in a callback, and ends without it\n"));
  static_cast<void>(printer.end());
  // A thread that never returns cannot be joined.
  if (!whole) ::_exit(exit_failed);
  return is_failure ? exit_failed : exit_ok;
}

// ---- several processes ----

/// A bell for each context that runs on events.
SetupResult<std::map<std::string, platform::EventBell>> make_bells(
    const app::SystemDescription& description) {
  std::map<std::string, platform::EventBell> bells;
  for (const app::ContextDescription& context : description.contexts) {
    if (context.period != Duration(0) || context.robot) continue;
    auto bell = platform::EventBell::create();
    if (!bell) return tl::unexpected<SetupError>(std::move(bell.error()));
    bells.emplace(context.name, std::move(*bell));
  }
  return bells;
}

int launch(const LaunchOptions& options) {
  const auto description = app::system_from_file(options.file);
  if (!description) return complain(options.file, description.error().message);
  const auto& processes = description->processes;
  if (!options.process.empty()) {
    const bool known = std::any_of(processes.begin(), processes.end(),
                                   [&](const auto& process) { return process.name == options.process; });
    if (!known) return complain(options.file, fmt::format("there is no process \"{}\"", options.process));
    return run_here(*description, options);
  }
  const bool is_single = processes.size() == 1 || options.virtual_time > 0;
  if (is_single && !options.check) return run_here(*description, options);
  // All of it is checked before anything starts.
  app::ComponentLibrary library;
  app::SystemOptions how = system_options(options);
  how.opens_robots = false;
  auto system = app::ComponentSystem::create(*description, library, how);
  if (!system) return complain(options.file, system.error().message);
  if (options.check) {
    fmt::print("{}: {} components in {} contexts, {} processes: no mistakes\n", options.file,
               description->components.size(), description->contexts.size(), processes.size());
    return exit_ok;
  }
  const auto segment = (*system)->make_segment();
  if (!segment) return complain(options.file, segment.error().message);
  system->reset();
  const auto bells = make_bells(*description);
  if (!bells) return complain(options.file, bells.error().message), exit_failed;
  // The processes inherit the bells.
  std::vector<std::string> arguments = {options.file};
  for (const std::string& folder : options.folders) arguments.insert(arguments.end(), {"--folder", folder});
  for (const auto& [context, bell] : *bells)
    arguments.insert(arguments.end(), {"--bell", fmt::format("{}={}", context, bell.descriptor())});
  const int code = ProcessSupervisor(*description, std::move(arguments)).run();
  if (*segment) static_cast<void>(platform::Segment::remove(app::segment_name(*description)));
  return code;
}

}  // namespace

void add_launch(CLI::App& app) {
  auto options = std::make_shared<LaunchOptions>();
  CLI::App* command = app.add_subcommand("launch", "Run a system of components from its file");
  command->add_option("system", options->file, "The system's file (JSON)")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--folder", options->folders, "Folder of libraries; the file's own is searched last");
  CLI::Option* process =
      command->add_option("--process", options->process, "Run only this process of the system, here");
  command
      ->add_option("--bell", options->bells, "CONTEXT=DESCRIPTOR: the bell of a context, from the launcher")
      ->group("");
  command->add_option("--alive", options->alive, "Descriptor for alive messages, from the launcher")
      ->group("");
  CLI::Option* check =
      command->add_flag("--check", options->check, "Check the file and its libraries; start nothing");
  command
      ->add_option("--virtual-time", options->virtual_time,
                   "Run this many seconds as fast as possible, and list the system")
      ->check(positive_number())
      ->excludes(process)
      ->excludes(check);
  command->footer(
      "Ends, in the opposite order of the start, on SIGINT, SIGTERM, SIGHUP or SIGQUIT.\n"
      "Exit code: 0 it ended as it should, 1 it did not, 2 the file is wrong (every mistake is listed).\n"
      "While it runs: takt component list, show, start, stop, reset, set, connect, disconnect, migrate, "
      "load, replace");
  command->callback([options] {
    const int code = launch(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
