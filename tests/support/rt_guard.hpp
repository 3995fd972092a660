// The real-time guard: while it is armed, its thread may not allocate, free, take a lock or enter the kernel.
// A violation is recorded with its name and call stack, and the call is executed. So a test can run a control
// loop for seconds and then check `CHECK(guard.report() == "")`.
//
//     RtGuard guard({.allow = {SYS_clock_nanosleep}});   // armed for this thread from here
//     loop.run();
//     CHECK(guard.report() == "");                       // disarms, and names the violations, if any
//
// The test program defines malloc, pthread_mutex_lock and similar functions itself, and so detects
// allocations and locks. The kernel reports each system call (PR_SET_SYSCALL_USER_DISPATCH, Linux 5.11 and
// later on x86). Reading the clock through the vDSO is not a system call and is allowed.
//
// Under the sanitizers, allocations are detected through the sanitizer's hooks, and locks are not watched. If
// system calls cannot be watched, the first guard reports that on standard error.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace takt::test {

struct RtGuardOptions {
  std::initializer_list<long> allow;  ///< allowed system calls: SYS_clock_nanosleep, ...
};

class RtGuard {
 public:
  /// Arms at once for the calling thread. One guard at a time per thread.
  explicit RtGuard(const RtGuardOptions& options = {});
  ~RtGuard();
  RtGuard(const RtGuard&) = delete;
  RtGuard& operator=(const RtGuard&) = delete;

  /// Arms again after disarm(), on the calling thread. Earlier violations are kept.
  void arm();
  /// Call it from the thread that armed it. Disarming twice is allowed.
  void disarm();

  /// The number of violations.
  [[nodiscard]] std::size_t violations() const { return violations_; }
  /// Disarms; returns "" or one line for each distinct violation: what, how often, and from where. Any thread
  /// may call it after disarm().
  [[nodiscard]] std::string report();

  /// Returns false if this build or kernel cannot watch them.
  [[nodiscard]] static bool watches_system_calls();
  [[nodiscard]] static bool watches_locks();

  enum class Kind { allocation, release, lock, system_call };
  /// For the traps in rt_guard.cpp: records a violation if this thread is armed. The first `skip` stack
  /// frames belong to the trap.
  static void note(Kind kind, const char* function, long value, int skip) noexcept;
  /// For the traps: returns whether the armed guard allows this system call.
  [[nodiscard]] static bool allows(long system_call) noexcept;

 private:
  static constexpr std::size_t max_distinct = 16;
  static constexpr std::size_t max_frames = 24;
  static constexpr std::size_t max_system_call = 512;

  struct Violation {
    Kind kind{};
    const char* function = nullptr;
    long value = 0;
    std::size_t times = 0;
    int depth = 0;
    std::array<void*, max_frames> frames{};
  };

  void record(Kind kind, const char* function, long value, int skip) noexcept;
  [[nodiscard]] static std::string text_of(const Violation& violation);

  std::bitset<max_system_call> allowed_;
  bool armed_ = false;
  std::size_t violations_ = 0;
  std::size_t distinct_ = 0;
  std::array<Violation, max_distinct> first_{};
};

}  // namespace takt::test
