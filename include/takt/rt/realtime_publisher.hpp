// Messages from a real-time loop to a function that may block: a publisher of some middleware, a file, a
// socket. The loop puts a message into a ring. The publisher's thread takes it out and calls the function.
//
//     takt::rt::RealtimePublisher<State> publisher([&](const State& message) { socket.send(message); });
//     publisher.try_publish(state);  // the loop; false: dropped, and counted
//
// The thread looks into the ring once per period, because waking a thread is a system call, which a loop must
// not make. A program with a thread of its own needs only a shm::SpscRing.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "takt/core/time.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::rt {

/// The configuration of a publisher.
struct RealtimePublisherConfig {
  std::size_t capacity = 16;  ///< messages that wait at most; rounded up to a power of two, at least 2
  Duration period = std::chrono::milliseconds(1);  ///< between two looks into the ring
};

/// Hands messages of the loop to a function on a thread of its own, in order, each at most once. The messages
/// are trivially copyable, because the loop writes them.
template <class T>
class RealtimePublisher {
 public:
  /// Starts the thread, which calls `publish` for each message. An exception that leaves `publish` ends the
  /// program. Not real-time safe.
  explicit RealtimePublisher(std::function<void(const T&)> publish,
                             const RealtimePublisherConfig& config = {})
      : ring_(config.capacity),
        publish_(std::move(publish)),
        thread_([this, period = config.period](const std::stop_token& stop) { run(stop, period); }) {}
  RealtimePublisher(const RealtimePublisher&) = delete;
  RealtimePublisher& operator=(const RealtimePublisher&) = delete;
  /// Publishes the messages that still wait, and ends the thread. The loop must no longer call try_publish().
  ~RealtimePublisher() = default;

  /// Queues a copy of `message`. Returns false if the ring is full; the message is then dropped and counted.
  /// For one thread. Wait-free and real-time safe.
  bool try_publish(const T& message) noexcept {
    if (ring_.try_push(message)) return true;
    // relaxed: a count, on the basis of which nothing is read. Only this thread writes it.
    dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return false;
  }

  /// Whether the next try_publish() will succeed. For the loop. Wait-free and real-time safe.
  [[nodiscard]] bool can_publish() noexcept { return ring_.free_slots() > 0; }

  /// Messages dropped since the start. Any thread may call it. Real-time safe.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  /// The number of messages that can wait.
  [[nodiscard]] std::size_t capacity() const noexcept { return ring_.capacity(); }

 private:
  void run(const std::stop_token& stop, Duration period) {
    std::mutex mutex;  // the condition variable wants one
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      publish_waiting();
      stopped.wait_for(lock, stop, period, [] { return false; });
    }
    publish_waiting();
  }

  void publish_waiting() {
    for (T message; ring_.try_pop(message);) publish_(message);
  }

  shm::SpscRing<T> ring_;
  std::atomic<std::uint64_t> dropped_{0};
  std::function<void(const T&)> publish_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace takt::rt
