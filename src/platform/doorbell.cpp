#include "takt/platform/doorbell.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "takt/platform/steady_clock.hpp"

namespace takt::platform {

namespace {

/// Without FUTEX_PRIVATE_FLAG, because processes may map the word at different addresses.
long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* deadline) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t), "the kernel sees the plain word");
  return syscall(SYS_futex, &word, operation, value, deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

bool DoorbellSystem::register_for_barriers() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool DoorbellSystem::barrier() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void DoorbellSystem::sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                 Time deadline) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  timespec until{};
  until.tv_sec = to_nanoseconds(deadline) / second;
  until.tv_nsec = to_nanoseconds(deadline) % second;
  // FUTEX_WAIT_BITSET takes an absolute deadline on CLOCK_MONOTONIC; FUTEX_WAIT does not. The result is
  // ignored because the waiter checks again.
  (void)futex(word, FUTEX_WAIT_BITSET, expected, &until);
}

void DoorbellSystem::wake_all(std::atomic<std::uint32_t>& word) noexcept {
  (void)futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

Time DoorbellSystem::now() noexcept { return SteadyClock().now(); }

}  // namespace takt::platform
