// Prepares the calling thread and its process for a real-time loop. For each measure it reports whether the
// operating system granted it. If it did not, the report says why and what would help. A measure can be
// mandatory ("enforce") or optional ("attempt").
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/rt/error.hpp"

namespace takt::rt {

/// How strongly a measure is requested.
enum class Want : std::uint8_t {
  off,      ///< leave it unchanged
  attempt,  ///< try it; the report says whether it was granted
  enforce,  ///< the set-up fails without it
};

/// The requested measures. The default changes nothing.
struct ThreadConfig {
  // For the calling thread.
  /// Scheduling class SCHED_FIFO with `priority`. Threads that this one starts do not inherit it.
  Want fifo = Want::off;
  int priority = 80;          ///< 1 (lowest) to 99
  Want affinity = Want::off;  ///< run on `cores` only
  std::vector<int> cores;
  Want timer_slack = Want::off;  ///< 1 ns instead of 50 us; has an effect only without SCHED_FIFO
  Want stack = Want::off;        ///< touch `stack_bytes` of stack now, so that the loop causes no page fault
  std::size_t stack_bytes = 256 * 1024;
  // For the whole process.
  Want lock_memory = Want::off;  ///< mlockall: present and future pages stay in memory
  Want keep_heap =
      Want::off;  ///< freed memory stays in the process, and large blocks are not mapped one by one
  Want wake_up_latency =
      Want::off;  ///< prevents deep sleep states of the processor (/dev/cpu_dma_latency held open at 0)

  /// Requests every measure at one level.
  [[nodiscard]] static ThreadConfig all(Want want, int priority = 80, std::vector<int> cores = {});
};

/// The result of one measure.
struct Measure {
  std::string name;  ///< "fifo", "affinity", ...: as in ThreadConfig
  Want want = Want::off;
  bool granted = false;
  std::string detail;  ///< the state in force, or the reason for the refusal and a remedy
};

/// The results of all measures. It keeps open what lasts only while it is open (the wake-up latency).
class ThreadSetup {
 public:
  ThreadSetup() = default;
  ThreadSetup(ThreadSetup&& other) noexcept;
  ThreadSetup& operator=(ThreadSetup&& other) noexcept;
  ~ThreadSetup();

  /// One entry per measure that was not off.
  [[nodiscard]] const std::vector<Measure>& measures() const noexcept { return measures_; }
  /// Whether every requested measure was granted.
  [[nodiscard]] bool all_granted() const noexcept;
  /// One line of text per measure.
  [[nodiscard]] std::string text() const;

 private:
  friend SetupResult<ThreadSetup> set_up_thread(const ThreadConfig& config);
  std::vector<Measure> measures_;
  int latency_file_ = -1;
};

/// Takes the measures in the order of ThreadConfig. Errors: an inconsistent configuration, and the first
/// enforced measure that is refused. Measures taken before an error stay in force. Not real-time safe.
[[nodiscard]] SetupResult<ThreadSetup> set_up_thread(const ThreadConfig& config);

}  // namespace takt::rt
