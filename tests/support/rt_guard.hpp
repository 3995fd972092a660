// The real-time guard: while it is armed, its thread may not allocate, free, take a lock or enter the kernel.
// Whatever does is recorded with its name and its call stack, and goes on as usual, so that a test can run a
// control loop for seconds and then say `CHECK(guard.report() == "")`.
//
//     RtGuard guard({.allow = {SYS_clock_nanosleep}});   // armed for this thread from here
//     loop.run();
//     CHECK(guard.report() == "");                       // disarms, and names the culprits if there are any
//
// Allocations and locks are seen because the test program defines malloc, pthread_mutex_lock and their like
// itself; system calls because the kernel reports each one back (PR_SET_SYSCALL_USER_DISPATCH, Linux 5.11 and
// later on x86). A reading of the clock through the vDSO is no system call and passes. Under the sanitizers,
// allocations are seen through the sanitizer's own hooks and locks are not watched; where system calls cannot
// be watched, the first guard says so on standard error.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace takt::test {

struct RtGuardOptions {
  std::initializer_list<long> allow;  ///< system calls that the thread may make: SYS_clock_nanosleep, ...
};

class RtGuard {
 public:
  /// Armed for the calling thread at once. One guard at a time per thread.
  explicit RtGuard(const RtGuardOptions& options = {});
  ~RtGuard();
  RtGuard(const RtGuard&) = delete;
  RtGuard& operator=(const RtGuard&) = delete;

  /// Arms again after disarm(), on the calling thread; what was found before is kept.
  void arm();
  /// From the thread that armed it. Disarming twice is allowed.
  void disarm();

  /// How often the rules were broken.
  [[nodiscard]] std::size_t violations() const { return violations_; }
  /// Disarms; returns "" or one line for each distinct violation: what, how often, and from where. Any thread
  /// may ask once the guard is disarmed.
  [[nodiscard]] std::string report();

  /// False where this build or kernel cannot watch them.
  [[nodiscard]] static bool watches_system_calls();
  [[nodiscard]] static bool watches_locks();

  enum class Kind { allocation, release, lock, system_call };
  /// For the traps in rt_guard.cpp: records a violation if this thread is armed. `skip` leading stack frames
  /// are the trap's own.
  static void note(Kind kind, const char* function, long value, int skip) noexcept;
  /// For the traps: whether the armed guard lets this system call pass.
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
