// Waiting for a ring, a latest value or whatever else another thread or process fills, without asking again and again: who has
// published something rings, who finds nothing waits until it is rung. A ring while nobody waits costs one load of a word that
// nobody writes meanwhile; only a ring that somebody waits for is a system call.
//
//     Doorbell bell;                    // in memory that both see, beside the exchange; all zero at first
//     Ringer ringer(bell);              // the producer:   ring.try_push(message); ringer.ring();
//     Waiter waiter(bell);              // the consumer:   waiter.wait_until(deadline, [&] { return ring.try_pop(message); });
//
// Why no wake-up is lost. A producer publishes and then looks whether somebody waits; a waiter says that it waits and then looks
// whether something was published. If each did its own before it could see the other's, the waiter would sleep on a full ring.
// Processors do exactly that: a store becomes visible after a load that follows it. The usual remedy is a full barrier on both
// sides, on every message. Here the waiter, which is about to sleep anyway, has the kernel execute a barrier on all processors that
// run a registered process (membarrier): whatever the producer was doing then, either it publishes before that barrier, and the
// waiter, looking after it, finds what was published; or it looks at the bell after it, and sees that somebody waits. The
// producer's part of it is that the compiler keeps the two in order.
//
// Where the producer's process cannot be registered, it looks by a read-modify-write instead. The waiter says that it waits by
// one too, and of two read-modify-writes of one word the later sees the earlier: if the producer's is the earlier, it releases what
// was published to the waiter's. Where the waiter cannot have the barrier executed, it looks again every millisecond.
//
// What a peer can do. One that dies while it waits leaves one superfluous wake-up behind. One that dies between publishing and
// ringing leaves its waiters to their deadlines; so every wait has one. One that writes nonsense into the bell causes superfluous
// wake-ups, and waits that end at their deadlines or keep looking until then.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::platform {

/// The processor and the kernel, as far as doorbells need them. The tests put a model in its place.
struct DoorbellSystem : shm::Processor {
  /// Makes this process one of those that barriers reach. False where the kernel cannot. A system call.
  [[nodiscard]] static bool register_for_barriers() noexcept;
  /// A full memory barrier on all processors that run a registered process. False where the kernel cannot. A system call.
  [[nodiscard]] static bool barrier() noexcept;
  /// Sleeps until woken, or `deadline`, or for no reason; not at all if the word is not as expected.
  static void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                          Time deadline) noexcept;
  static void wake_all(std::atomic<std::uint32_t>& word) noexcept;
  [[nodiscard]] static Time now() noexcept;

  /// Keeps what stands before it before what stands after it, as far as the compiler goes: the other half of barrier(). No
  /// instruction, and nothing that a race detector would have to see, as it orders no plain memory.
  static void keep_order() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

/// The word that ringers and waiters share. Zero-initialised memory is a bell that nobody waits at. All of them write it: a process
/// that only reads an exchange needs its bell in other memory.
template <class System>
struct alignas(shm::cache_line) BasicDoorbell {
  /// Odd: somebody may be waiting. Counts up, so that whoever is about to sleep notices a ring in between.
  typename System::template Atomic<std::uint32_t> state{0};
};
using Doorbell = BasicDoorbell<DoorbellSystem>;
static_assert(sizeof(Doorbell) == shm::cache_line);

/// The ringing end; any number of them. Each belongs to the thread that publishes. The bell must outlive it.
template <class System>
class BasicRinger {
 public:
  /// Registers the process: a system call, not real-time safe. After a fork the child makes its own.
  explicit BasicRinger(BasicDoorbell<System>& bell) noexcept
      : bell_(&bell), registered_(System::register_for_barriers()) {}

  /// Wakes whoever waits. To be called after publishing, by the same thread. Real-time safe; a system call (futex, which does not
  /// block) when somebody waits, none otherwise.
  void ring() noexcept {
    if (registered_) {
      System::keep_order();
      // relaxed: ordered after what was published by the waiter's barrier.
      wake_if_waiting(bell_->state.load(std::memory_order_relaxed));
    } else {
      // release: a waiter whose fetch_or comes later sees what was published.
      wake_if_waiting(bell_->state.fetch_add(0, std::memory_order_release));
    }
  }

 private:
  void wake_if_waiting(std::uint32_t state) noexcept {
    if (state % 2 == 0) return;
    // Of several ringers that saw the same, one wakes. relaxed: orders nothing; what wakes the waiters makes them look again.
    if (bell_->state.compare_exchange_strong(state, state + 1, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
      System::wake_all(bell_->state);
    }
  }

  BasicDoorbell<System>* bell_;
  bool registered_;
};
using Ringer = BasicRinger<DoorbellSystem>;

/// The waiting end; any number of them, one thread each. Not for real-time threads: waiting is what they must not do, and each
/// wait interrupts the processors that run a ringer's process for about a microsecond. The bell must outlive it.
template <class System>
class BasicWaiter {
 public:
  explicit BasicWaiter(BasicDoorbell<System>& bell) noexcept : bell_(&bell) {}

  /// Waits until `ready()` is true or, by CLOCK_MONOTONIC, `deadline` has passed; returns whether it is. ready() looks for what is
  /// waited for, and may take it; it is called at once, then after each ring and at the deadline, and not again once it was true.
  template <class Ready>
  [[nodiscard]] bool wait_until(Time deadline, Ready&& ready) noexcept(noexcept(ready())) {
    if (ready()) return true;
    for (;;) {
      // relaxed: the load that follows orders.
      (void)bell_->state.fetch_or(1, std::memory_order_relaxed);
      // The word as we left it, or after a ring and another waiter's fetch_or. From here on a ring changes it, and nobody falls
      // asleep. acquire: what an unregistered ringer published before it left the word so, or before we did, is seen by ready().
      const std::uint32_t state = bell_->state.load(std::memory_order_acquire);
      const bool barrier = System::barrier();
      if (ready()) return true;
      const Time now = System::now();
      if (now >= deadline) return false;
      if (state % 2 == 0) continue;  // rung meanwhile
      System::sleep_while(bell_->state, state, barrier ? deadline : std::min(deadline, now + nap));
    }
  }

 private:
  static constexpr Duration nap =
      std::chrono::milliseconds(1);  // how long to sleep where a ring may be missed

  BasicDoorbell<System>* bell_;
};
using Waiter = BasicWaiter<DoorbellSystem>;

}  // namespace takt::platform
