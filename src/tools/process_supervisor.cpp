#include "tools/process_supervisor.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "app/control_socket.hpp"
#include "takt/app/system.hpp"
#include "takt/platform/segment.hpp"
#include "takt/platform/steady_clock.hpp"
#include "tools/commands.hpp"
#include "tools/signals.hpp"

#include <unistd.h>

namespace takt::tools {
namespace {

/// Time for a process to end in order.
constexpr auto farewell = std::chrono::seconds(5);

/// So many periods without an alive message are told.
constexpr int silent_periods = 3;

/// The next word of a command.
std::string_view take_word(std::string_view& line) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  return word;
}

std::string refuse(std::string_view reason) { return json::to_text({{"ok", false}, {"error", reason}}); }

std::string refuse_name(std::string_view name) {
  return refuse(fmt::format("there is no component \"{}\"", name));
}

bool is_ok(const std::string& answer) {
  const auto value = json::parse(answer);
  return value && value->is_object() && value->contains("ok") && value->at("ok") == true;
}

std::string refusal_in(const std::string& answer) {
  const auto value = json::parse(answer);
  const bool has_reason =
      value && value->is_object() && value->contains("error") && value->at("error").is_string();
  return has_reason ? value->at("error").get<std::string>() : "its answer is not understood";
}

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(format, std::forward<Args>(args)...);
  std::fflush(stdout);
}

}  // namespace

ProcessSupervisor::ProcessSupervisor(const app::SystemDescription& description,
                                     std::vector<std::string> arguments)
    : description_(description), arguments_(std::move(arguments)) {
  for (const app::ProcessDescription& process : description.processes)
    children_.emplace_back().description = process;
}

int ProcessSupervisor::run() {
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
  while (!failed && is_running()) {
    for (Child& child : children_) {
      if (child.is_due && WallClock::now() >= child.start_at) start(child);
    }
    timespec wait{0, 20'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &wait);
    {
      const std::scoped_lock lock(mutex_);
      for (Child& child : children_) hear(child);
      failed = reap();
    }
    if (signal > 0 && signal != SIGCHLD) break;
  }
  control->reset();
  end_all();
  return failed ? exit_failed : exit_ok;
}

bool ProcessSupervisor::is_running() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const Child& child) { return child.pid > 0 || child.is_due; });
}

void ProcessSupervisor::start(Child& child) {
  const std::scoped_lock lock(mutex_);
  child.is_due = false;
  const int descriptor = child.alive.open();
  std::vector<std::string> words = {"takt", "launch"};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  words.insert(words.end(), {"--process", child.description.name, fmt::format("--alive={}", descriptor)});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  std::fflush(stdout);
  child.pid = ::fork();
  if (child.pid != 0) {
    if (descriptor >= 0) ::close(descriptor);
    return;
  }
  // The child ends in order when the launcher is gone.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(exit_failed);
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(exit_failed);
}

/// Notes who has died. Returns whether the system must end.
bool ProcessSupervisor::reap() {
  bool must_end = false;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto child =
        std::find_if(children_.begin(), children_.end(), [&](const Child& c) { return c.pid == pid; });
    if (child == children_.end()) continue;
    child->pid = -1;
    child->alive.close();
    must_end = after_death(*child, status) || must_end;
  }
  return must_end;
}

bool ProcessSupervisor::after_death(Child& child, int status) {
  const bool in_order = WIFEXITED(status) && WEXITSTATUS(status) == exit_ok;
  const std::string how = WIFSIGNALED(status) ? fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                                                            strsignal(WTERMSIG(status)))
                                              : fmt::format("ended with code {}", WEXITSTATUS(status));
  const app::RestartPolicy policy = child.description.restart;
  const bool again =
      policy == app::RestartPolicy::always || (policy == app::RestartPolicy::on_failure && !in_order);
  const auto now = WallClock::now();
  while (!child.restarts.empty() && now - child.restarts.front() > std::chrono::minutes(1))
    child.restarts.pop_front();
  const bool too_often = again && child.restarts.size() >= child.description.most;
  say("{}@{} {}{}\n", description_.name, child.description.name, how,
      too_often ? fmt::format("; {} restarts within a minute are the limit", child.description.most)
      : again   ? "; it is started again"
                : "");
  if (too_often) return true;
  if (!again) return !in_order;
  child.restarts.push_back(now);
  child.is_due = true;
  child.start_at = now + std::chrono::duration_cast<WallClock::duration>(child.description.delay);
  return false;
}

/// Tells that a process is silent, and that it is back. Kills one that is silent for longer than its
/// description allows. Until its first message, a process starts, however long that takes.
void ProcessSupervisor::hear(Child& child) {
  if (child.pid <= 0) return;
  const Duration before = child.alive.silence();
  const Duration patience = silent_periods * child.description.alive;
  const bool came = child.alive.look(platform::SteadyClock().now());
  if (child.alive.message().empty()) return;
  const Duration silence = child.alive.silence();
  if (came && before >= patience)
    say("{}@{} is alive again, after {:.1f} s\n", description_.name, child.description.name,
        to_seconds(before));
  if (before < patience && silence >= patience)
    say("{}@{} has not been heard of for {:.1f} s\n", description_.name, child.description.name,
        to_seconds(silence));
  if (child.description.silence > Duration(0) && silence >= child.description.silence)
    ::kill(child.pid, SIGKILL);
}

/// Ends the processes in the opposite order of their start.
void ProcessSupervisor::end_all() {
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

/// Gives a command to the process whose component it names; `list` and `load` to all.
std::string ProcessSupervisor::forward(std::string_view line) {
  std::string_view rest = line;
  const std::string_view verb = take_word(rest);
  if (verb == "list") return list();
  if (verb == "load") return load(line);
  const std::string_view name = take_word(rest);
  if (verb == "connect" || verb == "disconnect") return wire(verb, name, take_word(rest), rest);
  const std::string process = description_.process_of(name);
  return process.empty() ? refuse_name(name) : ask(process, line);
}

/// Each process loads the plug-in: a component of any of them may be replaced. The answer is the first
/// refusal, which names its process, or the last answer.
std::string ProcessSupervisor::load(std::string_view line) const {
  std::string answer = refuse("no process of the system runs");
  for (const std::string& process : processes_to_ask()) {
    answer = ask(process, line);
    if (is_ok(answer)) continue;
    return refuse(fmt::format("process {}: {}", process, refusal_in(answer)));
  }
  return answer;
}

std::string ProcessSupervisor::ask(const std::string& process, std::string_view line) const {
  const auto answer = app::ask(app::control_path(description_.name, process), line, std::chrono::seconds(5));
  return answer ? *answer : refuse(answer.error().message);
}

/// Connects or disconnects ports, also those of two processes. A process that starts again has only the
/// connections of the system's file.
std::string ProcessSupervisor::wire(std::string_view verb, std::string_view from, std::string_view to,
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
  std::string offered = ask(writer, "offer " + ends);
  if (!is_ok(offered)) return offered;
  std::string joined = ask(reader, "join " + ends);
  if (!is_ok(joined)) {
    static_cast<void>(ask(writer, cut));
    static_cast<void>(platform::Segment::remove(ends.substr(0, ends.find(' '))));
  }
  return joined;
}

bool ProcessSupervisor::is_silent(const Child& child) {
  return child.pid > 0 && !child.alive.message().empty() &&
         child.alive.silence() >= silent_periods * child.description.alive;
}

/// Those that run and are not silent: an answer of a silent one would be waited for.
std::vector<std::string> ProcessSupervisor::processes_to_ask() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> names;
  for (const Child& child : children_) {
    if (child.pid > 0 && !is_silent(child)) names.push_back(child.description.name);
  }
  return names;
}

std::string ProcessSupervisor::list() const {
  json::Value all = {{"ok", true},
                     {"system", description_.name},
                     {"contexts", json::Value::array()},
                     {"components", json::Value::array()},
                     {"connections", json::Value::array()},
                     {"processes", json::Value::array()}};
  for (const std::string& process : processes_to_ask()) {
    const auto one = json::parse(ask(process, "list"));
    for (const char* key : {"contexts", "components", "connections"}) {
      if (!one || !one->is_object() || !one->contains(key)) continue;
      for (const json::Value& row : (*one)[key]) all[key].push_back(row);
    }
  }
  const std::scoped_lock lock(mutex_);
  for (const Child& child : children_) all["processes"].push_back(row_of(child));
  return json::to_text(all);
}

/// The last alive message of a process, and what the launcher knows.
json::Value ProcessSupervisor::row_of(const Child& child) const {
  json::Value row = {{"process", child.description.name}, {"status", "starting"}};
  const auto message = json::parse(child.alive.message());
  if (child.pid > 0 && message && message->is_object()) row = *message;
  if (child.pid <= 0) row["status"] = child.is_due ? "restarting" : "ended";
  if (child.pid > 0) row["pid"] = child.pid;
  row["silent_s"] = to_seconds(child.alive.silence());
  if (is_silent(child)) row["status"] = "silent";
  row["restarts"] = child.restarts.size();
  return row;
}

}  // namespace takt::tools
