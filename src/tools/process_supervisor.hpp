// The processes of a system: starts them, hears whether they are alive, starts those again that die, gives
// them commands, and ends them in order.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "json/strict.hpp"
#include "takt/app/system_description.hpp"
#include "tools/alive_channel.hpp"

namespace takt::tools {

class ProcessSupervisor {
 public:
  /// Each process is `takt launch ARGUMENTS --process NAME --alive DESCRIPTOR`. The description must outlive
  /// the supervisor.
  ProcessSupervisor(const app::SystemDescription& description, std::vector<std::string> arguments);

  /// Runs the system until a signal ends it, or a process that may not be started again fails. Returns the
  /// exit code.
  [[nodiscard]] int run();

 private:
  using WallClock = std::chrono::steady_clock;

  /// One process of the system, and its restarts.
  struct Child {
    app::ProcessDescription description;
    pid_t pid = -1;  ///< -1: it does not run
    bool is_due = true;
    WallClock::time_point start_at{};
    std::deque<WallClock::time_point> restarts;
    AliveReceiver alive;
  };

  [[nodiscard]] bool is_running() const;
  void start(Child& child);
  [[nodiscard]] bool reap();
  [[nodiscard]] bool after_death(Child& child, int status);
  void hear(Child& child);
  void end_all();

  [[nodiscard]] std::string forward(std::string_view line);
  [[nodiscard]] std::string load(std::string_view line) const;
  [[nodiscard]] std::string ask(const std::string& process, std::string_view line) const;
  [[nodiscard]] std::string wire(std::string_view verb, std::string_view from, std::string_view to,
                                 std::string_view options);
  [[nodiscard]] static bool is_silent(const Child& child);
  [[nodiscard]] std::vector<std::string> processes_to_ask() const;
  [[nodiscard]] std::string list() const;
  [[nodiscard]] json::Value row_of(const Child& child) const;

  const app::SystemDescription& description_;
  std::vector<std::string> arguments_;
  std::uint64_t joined_ = 0;  ///< connections between processes that commands asked for
  mutable std::mutex mutex_;  ///< the loop changes the children while the socket's thread lists them
  std::vector<Child> children_;
};

}  // namespace takt::tools
