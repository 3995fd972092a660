// Waits for a ring of another thread, or for input on file descriptors: sockets, serial lines, pipes. It
// serves component::run_on_events(). A ring costs a system call only while the thread sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::platform {

/// One thread waits; any number of threads ring.
class EventWaiter {
 public:
  /// Waits for rings, and for input on these descriptors, which stay the caller's. Errors: that of the
  /// system.
  [[nodiscard]] static SetupResult<EventWaiter> create(const std::vector<int>& descriptors = {});
  EventWaiter(EventWaiter&& other) noexcept;
  EventWaiter& operator=(EventWaiter&&) = delete;
  ~EventWaiter();

  /// Returns after a ring since the last call, when a descriptor has input, at `deadline` (CLOCK_MONOTONIC),
  /// or earlier for no reason. One thread at a time. It sleeps in the kernel.
  void wait_until(Time deadline) noexcept;
  /// Ends the present wait, or the next one. Real-time safe: it writes to an eventfd if the thread sleeps,
  /// and makes no system call otherwise.
  void ring() noexcept;

 private:
  enum State : std::uint32_t { idle, rung, asleep };

  EventWaiter(int bell, int poll) noexcept : bell_(bell), poll_(poll) {}

  int bell_;  ///< eventfd
  int poll_;  ///< epoll of the bell and the caller's descriptors
  std::atomic<std::uint32_t> state_{idle};
};

}  // namespace takt::platform
