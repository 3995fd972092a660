// Waits for a ring of another thread, or for input on file descriptors: sockets, serial lines, pipes. It
// serves component::run_on_events(). A ring costs a system call only while the thread sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::platform {

/// Rings the waiter of another process through an eventfd, which both processes inherit from a common parent.
class EventBell {
 public:
  /// Creates a bell that programs inherit over exec(). Errors: that of the system.
  [[nodiscard]] static SetupResult<EventBell> create();
  /// Takes over an inherited bell. Error: wait_failed, if the descriptor is no eventfd.
  [[nodiscard]] static SetupResult<EventBell> adopt(int descriptor);
  EventBell(EventBell&& other) noexcept;
  EventBell& operator=(EventBell&&) = delete;
  ~EventBell();

  /// Its number in this process, and in those that inherit it.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Ends the present wait of the other process, or the next one. Real-time safe, with one system call.
  void ring() const noexcept;

 private:
  explicit EventBell(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_;
};

/// One thread waits; any number of threads ring.
class EventWaiter {
 public:
  /// Waits for rings, and for input on these descriptors, which stay the caller's. `bell` is the descriptor
  /// of an EventBell that other processes ring; -1: none. Errors: that of the system.
  [[nodiscard]] static SetupResult<EventWaiter> create(const std::vector<int>& descriptors = {},
                                                       int bell = -1);
  EventWaiter(EventWaiter&& other) noexcept;
  EventWaiter& operator=(EventWaiter&&) = delete;
  ~EventWaiter();

  /// Returns after a ring since the last call, and when a descriptor has input or the bell of others rang. It
  /// also returns at `deadline` (CLOCK_MONOTONIC), or earlier for no reason. True for input and that bell. If
  /// a ring ends the wait, the next one finds the input. One thread at a time. It sleeps in the kernel.
  bool wait_until(Time deadline) noexcept;
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
