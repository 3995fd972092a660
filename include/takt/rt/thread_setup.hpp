// Prepares the calling thread and its process for a real-time loop, and says for each measure whether the
// operating system granted it, and if not, why and what would help. What is asked for must be granted
// ("enforce") or may be refused ("attempt").
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/rt/error.hpp"

namespace takt::rt {

/// How much a measure is wanted.
enum class Want : std::uint8_t {
  off,      ///< leave it as it is
  attempt,  ///< try it; the report tells whether it was granted
  enforce,  ///< without it, the set-up fails
};

/// What is wanted. The default leaves everything as it is.
struct ThreadConfig {
  // Of the calling thread.
  /// Scheduling class SCHED_FIFO with `priority`. Threads that this one starts do not inherit it.
  Want fifo = Want::off;
  int priority = 80;          ///< 1 (lowest) to 99
  Want affinity = Want::off;  ///< run on `cores` only
  std::vector<int> cores;
  Want timer_slack = Want::off;  ///< 1 ns instead of 50 us; matters without SCHED_FIFO
  Want stack = Want::off;        ///< touch `stack_bytes` of stack now, so that the loop meets no page fault
  std::size_t stack_bytes = 256 * 1024;
  // Of the whole process.
  Want lock_memory = Want::off;  ///< mlockall: present and future pages stay in memory
  Want keep_heap =
      Want::off;  ///< freed memory is not given back to the kernel, large blocks are not mapped one by one
  Want wake_up_latency =
      Want::off;  ///< the processor must not sleep deeply (/dev/cpu_dma_latency held open at 0)

  /// Everything at one level.
  [[nodiscard]] static ThreadConfig all(Want want, int priority = 80, std::vector<int> cores = {});
};

/// What came of one measure.
struct Measure {
  std::string name;  ///< "fifo", "affinity", ...: as in ThreadConfig
  Want want = Want::off;
  bool granted = false;
  std::string detail;  ///< what is in force, or why not and what would help
};

/// What came of all of them. Holds what lasts only as long as somebody holds it (the wake-up latency).
class ThreadSetup {
 public:
  ThreadSetup() = default;
  ThreadSetup(ThreadSetup&& other) noexcept;
  ThreadSetup& operator=(ThreadSetup&& other) noexcept;
  ~ThreadSetup();

  /// One entry for each measure that was not off.
  [[nodiscard]] const std::vector<Measure>& measures() const noexcept { return measures_; }
  [[nodiscard]] bool all_granted() const noexcept;
  /// One line for each measure, for people.
  [[nodiscard]] std::string text() const;

 private:
  friend SetupResult<ThreadSetup> set_up_thread(const ThreadConfig& config);
  std::vector<Measure> measures_;
  int latency_file_ = -1;
};

/// Takes the measures, in the order of ThreadConfig. Fails on a configuration that makes no sense, and on the
/// first enforced measure that is refused; measures taken before it stay in force. Not real-time safe.
[[nodiscard]] SetupResult<ThreadSetup> set_up_thread(const ThreadConfig& config);

}  // namespace takt::rt
