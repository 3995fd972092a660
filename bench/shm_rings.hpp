// The rings that shm_bench.cpp measures between one producer and one consumer: takt's rings, their floors,
// their peers and a socket. Each copies in and out by try_push() and try_pop().
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "takt/shm/memory.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"

#ifdef HAVE_BOOST
#include <boost/lockfree/spsc_queue.hpp>
#endif
#ifdef HAVE_MOODYCAMEL
#include <readerwriterqueue/readerwriterqueue.h>
#endif
#ifdef TAKT_BENCH_RIGTORP
#include <rigtorp/SPSCQueue.h>
#endif

namespace takt::bench::exchanges {

inline constexpr std::size_t capacity = 1024;
inline constexpr std::size_t line = takt::shm::cache_line;

template <std::size_t Bytes>
struct Payload {
  std::array<std::uint64_t, Bytes / 8> words;
};

/// Whether one message takes microseconds.
struct Fast {
  static constexpr bool is_slow = false;
};

template <class T>
struct Takt : Fast, takt::shm::SpscRing<T> {
  Takt() : takt::shm::SpscRing<T>(capacity) {}
};

template <class T>
struct TaktSlot : Fast, takt::shm::SlotRing<T> {
  TaktSlot() : takt::shm::SlotRing<T>(capacity) {}
};

/// The ends of a ring and its memory in one object, for processes.
template <class T>
struct TaktEnds : Fast {
  bool try_push(const T& message) { return producer.end.try_push(message); }
  bool try_pop(T& message) { return consumer.end.try_pop(message); }
  takt::shm::RingIndexes indexes;
  alignas(line) std::byte slots[capacity * sizeof(T)];
  takt::shm::OwnLine<takt::shm::RingProducer<T>> producer{{indexes, slots, capacity}};
  takt::shm::OwnLine<takt::shm::RingConsumer<T>> consumer{{indexes, slots, capacity}};
};

template <class T>
struct TaktSlotEnds : Fast {
  bool try_push(const T& message) { return producer.end.try_push(message); }
  bool try_pop(T& message) { return consumer.end.try_pop(message); }
  takt::shm::OwnLine<std::atomic<std::uint32_t>> released{};
  takt::shm::Slot<T> slots[capacity];
  takt::shm::OwnLine<takt::shm::SlotProducer<T>> producer{{released.end, slots, capacity}};
  takt::shm::OwnLine<takt::shm::SlotConsumer<T>> consumer{{released.end, slots, capacity}};
};

/// A minimal ring that publishes and releases only once for several messages.
template <class T, std::uint32_t published_every, std::uint32_t released_every>
class Floor : public Fast {
 public:
  bool try_push(const T& message) {
    if (write_ - released_seen_ == capacity) {
      released_seen_ = released_.load(std::memory_order_acquire);
      if (write_ - released_seen_ == capacity) return false;
    }
    slots_[write_ % capacity] = message;
    if (++write_ % published_every == 0) written_.store(write_, std::memory_order_release);
    return true;
  }
  bool try_pop(T& message) {
    if (read_ == written_seen_) {
      written_seen_ = written_.load(std::memory_order_acquire);
      if (read_ == written_seen_) return false;
    }
    message = slots_[read_ % capacity];
    if (++read_ % released_every == 0) released_.store(read_, std::memory_order_release);
    return true;
  }

 private:
  alignas(line) std::atomic<std::uint32_t> written_{0};
  alignas(line) std::atomic<std::uint32_t> released_{0};
  alignas(line) std::uint32_t write_ = 0;
  std::uint32_t released_seen_ = 0;
  alignas(line) std::uint32_t read_ = 0;
  std::uint32_t written_seen_ = 0;
  alignas(line) std::array<T, capacity> slots_{};
};

/// The messages are published in groups. The indexes, and the cache line that is being filled, then cross
/// between the cores once for many messages. Rings that push and pop in batches can reach this floor. A ring
/// whose message must be visible when push returns cannot, for two reasons. Each message is stored to two
/// lines in turn, its own and the index's, so the processor cannot merge stores to one line. A fast consumer
/// requests both lines after every few messages, and takes them from the producer.
///
/// On a Zen 4, with 64 bytes: publishing every 8th message costs the same, every 4th 1.4 times, each one 1.9
/// times. It is 1.4 times even if each message is published on a line that no other core reads.
template <class T>
using BatchFloor = Floor<T, 64, 64>;

/// Each message is visible to the consumer when its push returns.
template <class T>
using EachFloor = Floor<T, 1, 64>;

#ifdef HAVE_BOOST
template <class T>
struct Boost : Fast {
  bool try_push(const T& message) { return queue.push(message); }
  bool try_pop(T& message) { return queue.pop(message); }
  boost::lockfree::spsc_queue<T, boost::lockfree::capacity<capacity>> queue;
};
#endif

#ifdef HAVE_MOODYCAMEL
template <class T>
struct Moodycamel : Fast {
  bool try_push(const T& message) { return queue.try_enqueue(message); }
  bool try_pop(T& message) { return queue.try_dequeue(message); }
  moodycamel::ReaderWriterQueue<T> queue{capacity};
};
#endif

#ifdef TAKT_BENCH_RIGTORP
template <class T>
struct Rigtorp : Fast {
  bool try_push(const T& message) { return queue.try_push(message); }
  bool try_pop(T& message) {
    const T* front = queue.front();
    if (front == nullptr) return false;
    message = *front;
    queue.pop();
    return true;
  }
  rigtorp::SPSCQueue<T> queue{capacity};
};
#endif

/// The usual transport without shared memory: a pair of UNIX datagram sockets, blocking.
template <class T>
class Socket {
 public:
  static constexpr bool is_slow = true;
  Socket() {
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends_) != 0) std::abort();
  }
  ~Socket() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  bool try_push(const T& message) { return send(ends_[0], &message, sizeof(T), 0) == sizeof(T); }
  bool try_pop(T& message) { return recv(ends_[1], &message, sizeof(T), 0) == sizeof(T); }

 private:
  int ends_[2];
};

/// A single cache line: a message is there when its number is.
template <class T>
class RawLine : public Fast {
 public:
  bool try_push(const T& message) {
    line_.store(message.words[0] + 1, std::memory_order_release);
    return true;
  }
  bool try_pop(T& message) {
    const std::uint64_t found = line_.load(std::memory_order_acquire);
    if (found == seen_) return false;
    seen_ = found;
    message.words[0] = found - 1;
    return true;
  }

 private:
  alignas(line) std::atomic<std::uint64_t> line_{0};
  alignas(line) std::uint64_t seen_ = 0;
};

}  // namespace takt::bench::exchanges
