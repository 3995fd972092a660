// Waits without polling for data that another thread or process publishes in a ring or a value. After
// publishing, the producer rings. A consumer that finds no data waits for the ring. If no consumer waits, a
// ring costs one load of a rarely written word. Otherwise it is a system call.
//
//     Doorbell bell;        // in memory that both sides share, beside the exchange; zeroed
//     Ringer ringer(bell);  // producer: ring.try_push(message); ringer.ring();
//     Waiter waiter(bell);  // consumer: waiter.wait_until(deadline, [&] { return ring.try_pop(message); });
//
// Why no wake-up is lost: a producer publishes and then checks for a waiter. A waiter announces itself and
// then checks for data. If each check ran before the other side's store became visible, the waiter would
// sleep beside a full ring. Processors allow this: a store can become visible after a later load. The usual
// solution is a full barrier on both sides for every message.
//
// Here the waiter, which is about to sleep anyway, asks the kernel for a barrier on all processors that run a
// registered process (membarrier). At that barrier there are two cases. If the producer published before it,
// the waiter's check afterwards finds the data. If the producer checks the bell after it, it sees the waiter.
// On the producer's side only the compiler must keep the order.
//
// If the kernel cannot register the producer's process, the producer checks with a read-modify-write instead.
// The waiter announces itself with one too, and the later of two read-modify-writes on one word sees the
// earlier. If the producer's is the earlier, its release makes the published data visible to the waiter. If
// the waiter cannot request the barrier, it checks again every millisecond.
//
// Faulty peers: a waiter that dies leaves one superfluous wake-up. A producer that dies between publishing
// and ringing leaves its waiters asleep until their deadlines, so every wait has a deadline. A peer that
// writes invalid values into the bell causes superfluous wake-ups. Waits then sleep or poll until their
// deadlines.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::platform {

/// The processor and kernel operations that doorbells need. The tests replace them by a model.
struct DoorbellSystem : shm::Processor {
  /// Registers this process for barrier(). Returns false if the kernel does not support it. One system call.
  [[nodiscard]] static bool register_for_barriers() noexcept;
  /// A full memory barrier on all processors that run a registered process. Returns false if the kernel does
  /// not support it. One system call.
  [[nodiscard]] static bool barrier() noexcept;
  /// Sleeps until wake_all(), `deadline`, or a spurious wake-up. Returns at once if the word differs from
  /// `expected`.
  static void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                          Time deadline) noexcept;
  /// Wakes all threads that sleep on the word. One system call.
  static void wake_all(std::atomic<std::uint32_t>& word) noexcept;
  /// CLOCK_MONOTONIC.
  [[nodiscard]] static Time now() noexcept;

  /// Keeps the compiler from moving accesses across this point: the producer's half of barrier(). It prevents
  /// the race in which the load of the bell moves before the publishing store. It emits no instruction. Race
  /// detectors may ignore it, because it orders no plain memory.
  static void keep_order() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

/// The word that ringers and waiters share. Zeroed memory is a bell without waiters. Both sides write it. So
/// a process with read-only access to an exchange needs its bell in other memory.
template <class System>
struct alignas(shm::cache_line) BasicDoorbell {
  /// Odd: a thread may be waiting. Each ring increments it, so a waiter that is about to sleep notices the
  /// ring.
  typename System::template Atomic<std::uint32_t> state{0};
};
using Doorbell = BasicDoorbell<DoorbellSystem>;
static_assert(sizeof(Doorbell) == shm::cache_line);

/// The ringing end. A bell may have any number. Each belongs to the thread that publishes. The bell must
/// outlive it.
template <class System>
class BasicRinger {
 public:
  /// Registers the process with the kernel: a system call, not real-time safe. After fork() the child must
  /// create its own ringer.
  explicit BasicRinger(BasicDoorbell<System>& bell) noexcept
      : bell_(&bell), registered_(System::register_for_barriers()) {}

  /// Wakes all waiters. Call it after publishing, from the same thread. Real-time safe: one system call
  /// (futex wake, which does not block) if a thread waits, none otherwise.
  void ring() noexcept {
    if (registered_) {
      System::keep_order();
      // relaxed: the waiter's barrier orders this load after the publishing store.
      wake_if_waiting(bell_->state.load(std::memory_order_relaxed));
    } else {
      // release: a waiter whose fetch_or comes later sees the published data.
      wake_if_waiting(bell_->state.fetch_add(0, std::memory_order_release));
    }
  }

 private:
  void wake_if_waiting(std::uint32_t state) noexcept {
    if (state % 2 == 0) return;
    // Of several ringers that saw the same state, one wakes. relaxed: publishes no data; the waiters check
    // for data again after waking.
    if (bell_->state.compare_exchange_strong(state, state + 1, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
      System::wake_all(bell_->state);
    }
  }

  BasicDoorbell<System>* bell_;
  bool registered_;
};
using Ringer = BasicRinger<DoorbellSystem>;

/// The waiting end. A bell may have any number, one thread each. Not for real-time threads: it waits, and
/// each wait interrupts the processors of the ringers' processes for about a microsecond. The bell must
/// outlive it.
template <class System>
class BasicWaiter {
 public:
  /// Makes no system call.
  explicit BasicWaiter(BasicDoorbell<System>& bell) noexcept : bell_(&bell) {}

  /// Waits until `ready()` returns true or `deadline` (CLOCK_MONOTONIC) has passed. Returns the last result
  /// of `ready()`.
  ///
  /// `ready()` checks for the data and may consume it. It is called at once, after each ring and at the
  /// deadline, and never again after it returned true.
  template <class Ready>
  [[nodiscard]] bool wait_until(Time deadline, Ready&& ready) noexcept(noexcept(ready())) {
    if (ready()) return true;
    for (;;) {
      // relaxed: the acquire load below orders it.
      (void)bell_->state.fetch_or(1, std::memory_order_relaxed);
      // The state after our fetch_or, or after a ring and another waiter's fetch_or. Any later ring changes
      // it, so the thread does not fall asleep. Acquire: `ready()` sees all data that an unregistered ringer
      // published before this state.
      const std::uint32_t state = bell_->state.load(std::memory_order_acquire);
      const bool barrier = System::barrier();
      if (ready()) return true;
      const Time now = System::now();
      if (now >= deadline) return false;
      if (state % 2 == 0) continue;  // a ring came in between
      System::sleep_while(bell_->state, state, barrier ? deadline : std::min(deadline, now + nap));
    }
  }

 private:
  // Longest sleep without a barrier, when a ring may be missed.
  static constexpr Duration nap = std::chrono::milliseconds(1);

  BasicDoorbell<System>* bell_;
};
using Waiter = BasicWaiter<DoorbellSystem>;

}  // namespace takt::platform
