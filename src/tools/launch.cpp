// takt launch: runs a system of components from its file, in one process or several.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/control_socket.hpp"
#include "json/strict.hpp"
#include "takt/app/system.hpp"
#include "takt/platform/event_waiter.hpp"
#include "tools/commands.hpp"
#include "tools/number_checks.hpp"
#include "tools/open_recording.hpp"
#include "tools/printer.hpp"
#include "tools/signals.hpp"

#include <unistd.h>

namespace takt::tools {
namespace {

using WallClock = std::chrono::steady_clock;

/// Time for a process to end in order.
constexpr auto farewell = std::chrono::seconds(5);

struct LaunchOptions {
  std::string file;
  std::vector<std::string> folders;
  std::string process;
  std::vector<std::string> bells;  ///< CONTEXT=DESCRIPTOR, inherited from the launcher
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
  auto control = app::ControlSocket::open(
      app::control_path(description.name, description.processes.size() > 1 ? options.process : ""),
      [&](std::string_view line) { return (*system)->command(line, "takt component"); });
  if (!control) {
    fmt::print(stderr, "{}\n", control.error().message);
    return exit_failed;
  }
  printer.print(title + " runs\n");
  for (;;) {
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

/// One process of the system, and its restarts.
struct Child {
  app::ProcessDescription description;
  pid_t pid = -1;  ///< -1: it does not run
  bool is_due = false;
  WallClock::time_point start_at{};
  std::deque<WallClock::time_point> restarts;
};

/// Starts the processes of a system, and those again that die.
class Supervisor {
 public:
  /// The processes inherit the bells.
  Supervisor(const app::SystemDescription& description, const LaunchOptions& options,
             const std::map<std::string, platform::EventBell>& bells)
      : description_(description), options_(options) {
    for (const app::ProcessDescription& process : description.processes)
      children_.push_back({process, -1, true, {}, {}});
    for (const auto& [context, bell] : bells)
      bells_.insert(bells_.end(), {"--bell", fmt::format("{}={}", context, bell.descriptor())});
  }

  int run() {
    sigset_t signals = block_ending_signals();
    sigaddset(&signals, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    auto control = app::ControlSocket::open(app::control_path(description_.name),
                                            [this](std::string_view line) { return forward(line); });
    if (!control) {
      fmt::print(stderr, "{}\n", control.error().message);
      return exit_failed;
    }
    bool failed = false;
    while (!failed && is_alive()) {
      for (Child& child : children_) {
        if (child.is_due && WallClock::now() >= child.start_at) start(child);
      }
      timespec wait{0, 20'000'000};
      const int signal = sigtimedwait(&signals, nullptr, &wait);
      {
        const std::scoped_lock lock(mutex_);
        failed = reap();
      }
      if (signal > 0 && signal != SIGCHLD) break;
    }
    control->reset();
    end_all();
    return failed ? exit_failed : exit_ok;
  }

 private:
  [[nodiscard]] bool is_alive() const {
    return std::any_of(children_.begin(), children_.end(),
                       [](const Child& child) { return child.pid > 0 || child.is_due; });
  }

  void start(Child& child) {
    child.is_due = false;
    std::vector<std::string> words = {"takt", "launch", options_.file, "--process", child.description.name};
    for (const std::string& folder : options_.folders) words.insert(words.end(), {"--folder", folder});
    words.insert(words.end(), bells_.begin(), bells_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = ::getpid();
    std::fflush(stdout);
    child.pid = ::fork();
    if (child.pid != 0) return;
    // The child ends in order when the launcher is gone.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(exit_failed);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(exit_failed);
  }

  /// Notes who has died. Returns whether the system must end.
  bool reap() {
    bool must_end = false;
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto child =
          std::find_if(children_.begin(), children_.end(), [&](const Child& c) { return c.pid == pid; });
      if (child == children_.end()) continue;
      child->pid = -1;
      must_end = after_death(*child, status) || must_end;
    }
    return must_end;
  }

  bool after_death(Child& child, int status) {
    const bool in_order = WIFEXITED(status) && WEXITSTATUS(status) == exit_ok;
    const std::string how = WIFSIGNALED(status) ? fmt::format("was killed by signal {} ({})",
                                                              WTERMSIG(status), strsignal(WTERMSIG(status)))
                                                : fmt::format("ended with code {}", WEXITSTATUS(status));
    const app::RestartPolicy policy = child.description.restart;
    const bool again =
        policy == app::RestartPolicy::always || (policy == app::RestartPolicy::on_failure && !in_order);
    const auto now = WallClock::now();
    while (!child.restarts.empty() && now - child.restarts.front() > std::chrono::minutes(1))
      child.restarts.pop_front();
    const bool too_often = again && child.restarts.size() >= child.description.most;
    fmt::print("{}@{} {}{}\n", description_.name, child.description.name, how,
               too_often ? fmt::format("; {} restarts within a minute are the limit", child.description.most)
               : again   ? "; it is started again"
                         : "");
    std::fflush(stdout);
    if (too_often) return true;
    if (!again) return !in_order;
    child.restarts.push_back(now);
    child.is_due = true;
    child.start_at = now + std::chrono::duration_cast<WallClock::duration>(child.description.delay);
    return false;
  }

  /// Ends the processes in the opposite order of their start.
  void end_all() {
    for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
      if (child->pid <= 0) continue;
      ::kill(child->pid, SIGTERM);
      const auto deadline = WallClock::now() + farewell;
      while (::waitpid(child->pid, nullptr, WNOHANG) == 0) {
        if (WallClock::now() >= deadline) ::kill(child->pid, SIGKILL);
        ::usleep(2000);
      }
    }
  }

  /// Gives a command to the process whose component it names; `list` to all.
  std::string forward(std::string_view line) {
    std::string_view rest = line;
    const std::string_view verb = take_word(rest);
    if (verb == "list") return list();
    const std::string_view name = take_word(rest);
    if (verb == "connect" || verb == "disconnect") return wire(verb, name, take_word(rest), rest);
    const std::string process = description_.process_of(name);
    return process.empty() ? refuse_name(name) : ask(process, line);
  }

  /// The next word of a command.
  static std::string_view take_word(std::string_view& line) {
    const std::size_t space = line.find(' ');
    const std::string_view word = line.substr(0, space);
    line = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    return word;
  }

  static std::string refuse_name(std::string_view name) {
    return json::to_text({{"ok", false}, {"error", fmt::format("there is no component \"{}\"", name)}});
  }

  [[nodiscard]] std::string ask(const std::string& process, std::string_view line) const {
    const auto answer =
        app::ask(app::control_path(description_.name, process), line, std::chrono::seconds(5));
    return answer ? *answer : json::to_text({{"ok", false}, {"error", answer.error().message}});
  }

  static bool is_ok(const std::string& answer) {
    const auto value = json::parse(answer);
    return value && value->is_object() && value->value("ok", false);
  }

  /// Connects or disconnects ports, also those of two processes. A process that starts again has only the
  /// connections of the system's file.
  std::string wire(std::string_view verb, std::string_view from, std::string_view to,
                   std::string_view options) {
    const std::string_view writer_name = from.substr(0, from.rfind('.'));
    const std::string_view reader_name = to.substr(0, to.rfind('.'));
    const std::string writer = description_.process_of(writer_name);
    const std::string reader = description_.process_of(reader_name);
    if (writer.empty()) return refuse_name(writer_name);
    if (reader.empty()) return refuse_name(reader_name);
    const std::string cut = fmt::format("disconnect {} {}", from, to);
    if (writer == reader) return ask(writer, fmt::format("{} {} {} {}", verb, from, to, options));
    if (verb == "disconnect") {
      const std::string answer = ask(writer, cut);
      const std::string other = ask(reader, cut);
      return is_ok(answer) ? answer : other;
    }
    const std::string ends = fmt::format("{}-{}-{} {} {} {}", app::segment_name(description_), ::getpid(),
                                         ++joined_, from, to, options);
    const std::string offered = ask(writer, "offer " + ends);
    if (!is_ok(offered)) return offered;
    const std::string joined = ask(reader, "join " + ends);
    if (!is_ok(joined)) {
      static_cast<void>(ask(writer, cut));
      static_cast<void>(platform::Segment::remove(ends.substr(0, ends.find(' '))));
    }
    return joined;
  }

  std::string list() const {
    const std::scoped_lock lock(mutex_);
    json::Value all = {{"ok", true},
                       {"system", description_.name},
                       {"contexts", json::Value::array()},
                       {"components", json::Value::array()},
                       {"connections", json::Value::array()},
                       {"processes", json::Value::array()}};
    for (const Child& child : children_) {
      const auto answer = app::ask(app::control_path(description_.name, child.description.name), "list",
                                   std::chrono::seconds(5));
      const auto one = answer ? json::parse(*answer) : tl::unexpected<json::Mistake>(json::Mistake{});
      all["processes"].push_back({{"name", child.description.name},
                                  {"answers", one.has_value()},
                                  {"restarts", child.restarts.size()}});
      if (!one) continue;
      for (const char* key : {"contexts", "components", "connections"}) {
        if (!one->is_object() || !one->contains(key)) continue;
        for (const json::Value& row : (*one)[key]) all[key].push_back(row);
      }
    }
    return json::to_text(all);
  }

  const app::SystemDescription& description_;
  const LaunchOptions& options_;
  std::vector<std::string> bells_;  ///< arguments
  std::uint64_t joined_ = 0;        ///< connections between processes that commands asked for
  mutable std::mutex mutex_;        ///< the loop changes the children while the socket's thread lists them
  std::vector<Child> children_;
};

/// A bell for each context that runs on events.
SetupResult<std::map<std::string, platform::EventBell>> make_bells(
    const app::SystemDescription& description) {
  std::map<std::string, platform::EventBell> bells;
  for (const app::ContextDescription& context : description.contexts) {
    if (context.period != Duration(0)) continue;
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
  auto system = app::ComponentSystem::create(*description, library, system_options(options));
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
  const int code = Supervisor(*description, options, *bells).run();
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
