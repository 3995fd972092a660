// Rings and latest values between two threads or processes on two cores. Measured are the time per message in
// a stream, and the time for one message from one side to the other (half a round trip). Floors are
// hand-written minimal forms; peers come from the distribution's packages.
//
// The time of an iteration is the median over many chunks, so that a preempted chunk does not count. All
// implementations of a case copy in and out and check the order.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/multi_producer_ring.hpp"
#include "takt/shm/shared_value.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"
#include "two_cores.hpp"

#ifdef HAVE_BOOST
#include <boost/lockfree/spsc_queue.hpp>
#endif
#ifdef HAVE_MOODYCAMEL
#include <readerwriterqueue/readerwriterqueue.h>
#endif
#ifdef TAKT_BENCH_RIGTORP
#include <rigtorp/SPSCQueue.h>
#endif
#ifdef TAKT_BENCH_REALTIME_TOOLS
#define NON_POLLING  // its writer waits for the lock instead of sleeping for half a millisecond
#include <realtime_tools/realtime_buffer.hpp>
#endif

namespace {

using namespace takt::bench;

constexpr std::size_t capacity = 1024;
constexpr std::size_t line = takt::shm::cache_line;

template <std::size_t Bytes>
struct Payload {
  std::array<std::uint64_t, Bytes / 8> words;
};

// ------------------------------------------------------------------------------------------------- the rings

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

// --------------------------------------------------------------------------------------------- from several,
// and to several

constexpr std::size_t writers = 3;  // only one of them writes, because there are two cores

template <class T>
struct TaktRequests : Fast {
  using Ring = takt::shm::MultiProducerRing<T, writers, capacity>;
  bool try_push(const T& message) { return producer.end.try_push(message); }
  bool try_pop(T& message) { return ring.try_pop(message); }
  Ring ring;
  takt::shm::OwnLine<takt::shm::RingProducer<T>> producer{ring.producer(0)};
};

/// The usual bounded queue for several producers. Producers draw tickets, and each slot stores the ticket of
/// its message. A producer that dies between these two steps blocks all others.
template <class T>
class TicketFloor : public Fast {
 public:
  bool try_push(const T& message) {
    std::uint32_t ticket = tickets_.load(std::memory_order_relaxed);
    do {
      if (ticket - released_.load(std::memory_order_acquire) >= capacity) return false;
    } while (!tickets_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed));
    slots_[ticket % capacity].message = message;
    slots_[ticket % capacity].number.store(ticket + 1, std::memory_order_release);
    return true;
  }
  bool try_pop(T& message) {
    const Slot& slot = slots_[read_ % capacity];
    if (slot.number.load(std::memory_order_acquire) != read_ + 1) return false;
    message = slot.message;
    if (++read_ % 64 == 0) released_.store(read_, std::memory_order_release);
    return true;
  }

 private:
  struct alignas(line) Slot {
    std::atomic<std::uint32_t> number{0};
    T message;
  };
  alignas(2 * line) std::atomic<std::uint32_t> tickets_{0};
  alignas(2 * line) std::atomic<std::uint32_t> released_{0};
  alignas(2 * line) std::uint32_t read_ = 0;
  alignas(2 * line) std::array<Slot, capacity> slots_{};
};

/// The usual method of programs.
template <class T>
class MutexDeque : public Fast {
 public:
  bool try_push(const T& message) {
    const std::scoped_lock lock(mutex_);
    if (messages_.size() == capacity) return false;
    messages_.push_back(message);
    return true;
  }
  bool try_pop(T& message) {
    const std::scoped_lock lock(mutex_);
    if (messages_.empty()) return false;
    message = messages_.front();
    messages_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::deque<T> messages_;
};

/// Numbered slots of atomic words, for a reader that is never overtaken.
template <class T>
class NumberedFloor : public Fast {
 public:
  bool try_push(const T& message) {
    Slot& slot = slots_[write_ % capacity];
    for (std::size_t i = 0; i < slot.words.size(); ++i)
      slot.words[i].store(message.words[i], std::memory_order_release);
    slot.number.store(++write_, std::memory_order_release);
    return true;
  }
  bool try_pop(T& message) {
    const Slot& slot = slots_[read_ % capacity];
    if (slot.number.load(std::memory_order_acquire) != read_ + 1) return false;
    for (std::size_t i = 0; i < slot.words.size(); ++i)
      message.words[i] = slot.words[i].load(std::memory_order_acquire);
    ++read_;
    return true;
  }

 private:
  struct alignas(line) Slot {
    std::atomic<std::uint32_t> number{0};
    std::array<std::atomic<std::uint64_t>, sizeof(T) / 8> words{};
  };
  alignas(2 * line) std::uint32_t write_ = 0;
  alignas(2 * line) std::uint32_t read_ = 0;
  alignas(2 * line) std::array<Slot, capacity> slots_{};
};

template <class T>
struct TaktBroadcastRing : Fast {
  bool try_push(const T& message) {
    ring.write(message);
    return true;
  }
  bool try_pop(T& message) { return reader.end.try_read(message); }
  using Ring = takt::shm::BroadcastRing<T>;
  Ring ring{capacity};
  takt::shm::OwnLine<typename Ring::Reader> reader{ring.reader(takt::shm::BroadcastStart::oldest)};
};

// ------------------------------------------------------------------------------------------------------- the
// latest-value forms

template <class T>
struct TaktLatest : Fast {
  bool try_push(const T& message) {
    value.write(message);
    return true;
  }
  bool try_pop(T& message) {
    if (value.update() != takt::shm::Freshness::new_data) return false;
    message = value.value();
    return true;
  }
  takt::shm::LatestValue<T> value;
};

template <class T>
struct TaktBroadcast : Fast {
  bool try_push(const T& message) {
    writer.end.write(message);
    return true;
  }
  bool try_pop(T& message) { return reader.end.read_new(message) == takt::shm::Freshness::new_data; }
  using Value = takt::shm::BroadcastValue<T>;
  Value value;
  takt::shm::OwnLine<typename Value::Writer> writer{typename Value::Writer(value)};
  takt::shm::OwnLine<typename Value::Reader> reader{typename Value::Reader(value)};
};

template <class T>
struct TaktSharedValue : Fast {
  bool try_push(const T& message) {
    writer.end.write(message);
    return true;
  }
  bool try_pop(T& message) { return reader.end.read_new(message) == takt::shm::Freshness::new_data; }
  using Value = takt::shm::SharedValue<T, writers>;
  Value value;
  takt::shm::OwnLine<typename Value::Writer> writer{typename Value::Writer(value, 0)};
  takt::shm::OwnLine<typename Value::Reader> reader{typename Value::Reader(value)};
};

#ifdef TAKT_BENCH_REALTIME_TOOLS
template <class T>
struct RealtimeTools : Fast {
  bool try_push(const T& message) {
    buffer.writeFromNonRT(message);
    return true;
  }
  bool try_pop(T& message) {
    const T* found = buffer.readFromRT();
    if (found->words[0] == seen) return false;
    message = *found;
    seen = message.words[0];
    return true;
  }
  realtime_tools::RealtimeBuffer<T> buffer;
  alignas(2 * line) std::uint64_t seen = 0;
};
#endif

/// The usual sequence lock: one counter, one copy, atomic words. If several processes may write, each first
/// takes the lock. One that dies with the lock stops all.
template <class T, bool several = false>
class SeqlockFloor : public Fast {
 public:
  bool try_push(const T& message) {
    if constexpr (several) {
      written_ = sequence_.load(std::memory_order_relaxed);
      do {
        written_ &= ~1u;
      } while (!sequence_.compare_exchange_weak(written_, written_ + 1, std::memory_order_acquire));
    } else {
      sequence_.store(written_ + 1, std::memory_order_relaxed);
    }
    for (std::size_t i = 0; i < words_.size(); ++i)
      words_[i].store(message.words[i], std::memory_order_release);
    written_ += 2;
    sequence_.store(written_, std::memory_order_release);
    return true;
  }
  bool try_pop(T& message) {
    const std::uint32_t before = sequence_.load(std::memory_order_acquire);
    if (before == seen_ || before % 2 != 0) return false;
    for (std::size_t i = 0; i < words_.size(); ++i)
      message.words[i] = words_[i].load(std::memory_order_acquire);
    if (sequence_.load(std::memory_order_relaxed) != before) return false;
    seen_ = before;
    return true;
  }

 private:
  alignas(2 * line) std::atomic<std::uint32_t> sequence_{0};
  std::array<std::atomic<std::uint64_t>, sizeof(T) / 8> words_{};
  alignas(2 *
          line) std::uint32_t written_ = 0;  // not loaded back from the line, which the reader has by then
  alignas(2 * line) std::uint32_t seen_ = 0;
};

// ------------------------------------------------------------------------------------------------------- the
// measurements

/// The measured exchange, made by one side for both: for threads on the heap, for processes in shared memory.
template <class Exchange>
class Shared {
 public:
  explicit Shared(bool processes) : bytes_(processes ? sizeof(Exchange) : 0) {
    void* memory = nullptr;
    if (processes) {
      memory =
          mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (memory == MAP_FAILED) std::abort();
    } else {
      memory = ::operator new (sizeof(Exchange), std::align_val_t{alignof(Exchange)});
    }
    exchange_ = new (memory) Exchange();
  }
  ~Shared() {
    exchange_->~Exchange();
    if (bytes_ != 0)
      munmap(exchange_, bytes_);
    else
      ::operator delete (exchange_, std::align_val_t{alignof(Exchange)});
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  Exchange* operator->() const { return exchange_; }

 private:
  std::size_t bytes_;
  Exchange* exchange_;
};

/// How the messages of a stream are written to the exchange.
enum class Pace {
  single,   ///< one at a time, prepared long before
  made,     ///< one at a time, written just before: its bytes may still be on the way to the cache
  batches,  ///< many at a time
};
template <std::size_t Bytes>
constexpr std::size_t batch_of = Bytes >= 1024 ? 16 : 64;  // so that a batch stays in the nearest cache

/// Writes a message field by field, as programs do, so that each word is a separate store.
template <std::size_t Bytes>
Payload<Bytes> make_word_by_word(std::uint64_t number) {
  const auto field = [number] {
    std::uint64_t value = number;
    asm volatile("" : "+r"(value));  // prevents the compiler from merging the stores
    return value;
  };
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return Payload<Bytes>{{(static_cast<void>(i), field())...}};
  }
  (std::make_index_sequence<Bytes / sizeof(std::uint64_t)>());
}

/// One stream from one side to the other: ns per message, and whether all arrived in order.
template <class Exchange, std::size_t Bytes, bool processes, Pace pace>
std::pair<double, bool> stream_once(std::span<const Payload<Bytes>, batch_of<Bytes>> messages) {
  constexpr std::size_t chunk = Exchange::is_slow ? 256 : Bytes >= 1024 ? 2048 : 8192;
  constexpr std::size_t chunks = 10;
  const Shared<Exchange> exchange(processes);
  const Beside producer(processes, [&] {
    for (std::size_t i = 0; i < chunk * chunks;) {
      const std::size_t next = i % messages.size();
      if constexpr (pace == Pace::batches) {
        const std::size_t pushed = exchange->push(messages.subspan(next));
        if (pushed == 0) relax();
        i += pushed;
      } else if constexpr (pace == Pace::made) {
        const Payload<Bytes> message = make_word_by_word<Bytes>(next);
        while (!exchange->try_push(message)) relax();
        ++i;
      } else {
        while (!exchange->try_push(messages[next])) relax();
        ++i;
      }
    }
  });
  // On the heap, because the compiler would otherwise remove unused copies.
  std::vector<Payload<Bytes>> received(pace == Pace::batches ? messages.size() : 1);
  std::vector<double> times;
  bool in_order = true;
  for (std::size_t i = 0; i < chunks; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t j = 0; j < chunk;) {
      std::size_t popped = 1;
      if constexpr (pace == Pace::batches) {
        popped = exchange->pop(std::span(received).first(std::min(received.size(), chunk - j)));
        if (popped == 0) relax();
      } else {
        while (!exchange->try_pop(received[0])) relax();
      }
      for (std::size_t k = 0; k < popped; ++k)
        in_order &= received[k].words.back() == (j + k) % messages.size();
      j += popped;
    }
    times.push_back(nanoseconds_since(start) / chunk);
  }
  return {median(times), in_order};
}

/// The time per message of a stream, in ns. A stream has two modes. Either the consumer waits at an empty
/// ring and takes each line from the producer, or it lags and finds many messages at a time. Chance decides
/// at the start, and a disturbance may switch the mode. Therefore a sample is the mean of several streams.
template <class Exchange, std::size_t Bytes, bool processes = false, Pace pace = Pace::single>
void stream(benchmark::State& state) {
  constexpr int streams = 8;
  // Prepared before: a copy of freshly written data waits for all earlier stores, those into the ring
  // included.
  std::array<Payload<Bytes>, batch_of<Bytes>> messages{};
  for (std::size_t i = 0; i < messages.size(); ++i) messages[i].words.front() = messages[i].words.back() = i;
  for ([[maybe_unused]] auto _ : state) {
    double sum = 0;
    for (int i = 0; i < streams; ++i) {
      const auto [time, in_order] = stream_once<Exchange, Bytes, processes, pace>(messages);
      if (!in_order) state.SkipWithError("messages were lost or out of order");
      sum += time;
    }
    state.SetIterationTime(sum / streams * 1e-9);
  }
}

/// The time for one message from one side to the other, in ns: half a round trip.
template <class Exchange, std::size_t Bytes, bool processes = false>
void one_way(benchmark::State& state) {
  constexpr std::size_t chunk = 32;
  constexpr std::size_t chunks = Exchange::is_slow ? 40 : 600;
  for ([[maybe_unused]] auto _ : state) {
    const Shared<Exchange> there(processes);
    const Shared<Exchange> back(processes);
    const Beside echo(processes, [&] {
      Payload<Bytes> message{};
      for (std::size_t i = 0; i < chunk * chunks; ++i) {
        while (!there->try_pop(message)) {
        }
        while (!back->try_push(message)) {
        }
      }
    });
    Payload<Bytes> message{};
    std::vector<double> times;
    std::uint64_t number = 0;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < chunks; ++i) {
      const auto start = std::chrono::steady_clock::now();
      for (std::size_t j = 0; j < chunk; ++j) {
        message.words.front() = ++number;
        while (!there->try_push(message)) {
        }
        while (!back->try_pop(message)) {
        }
        wrong += message.words.front() != number ? 1u : 0u;
      }
      times.push_back(nanoseconds_since(start) / (2 * chunk));
    }
    if (wrong != 0) state.SkipWithError("messages were lost or out of order");
    state.SetIterationTime(median(times) * 1e-9);
  }
}

void add(const std::string& name, void (*run)(benchmark::State&)) {
  const auto run_at_place = [run](benchmark::State& state) {
    pin(1);
    const double before = line_time();
    run(state);
    state.counters["line_ns"] =
        (before + line_time()) / 2;  // if the core moved meanwhile, the value lies between both places
  };
  benchmark::RegisterBenchmark(name.c_str(), run_at_place)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kNanosecond);
}

template <std::size_t Bytes>
void add_rings() {
  using Message = Payload<Bytes>;
  const std::string size = std::to_string(Bytes) + "B/";
  const std::string streams = "shm/ring_stream_" + size;
  const std::string latency = "shm/ring_one_way_" + size;
  add(streams + "takt", stream<Takt<Message>, Bytes>);
  add(streams + "floor", stream<BatchFloor<Message>, Bytes>);
  add(streams + "each", stream<EachFloor<Message>, Bytes>);
  add(latency + "takt", one_way<Takt<Message>, Bytes>);
#ifdef HAVE_MOODYCAMEL
  add(streams + "moodycamel", stream<Moodycamel<Message>, Bytes>);
  add(latency + "moodycamel", one_way<Moodycamel<Message>, Bytes>);
#endif
#ifdef TAKT_BENCH_RIGTORP
  add(streams + "rigtorp", stream<Rigtorp<Message>, Bytes>);
  add(latency + "rigtorp", one_way<Rigtorp<Message>, Bytes>);
#endif
#ifdef HAVE_BOOST
  add(streams + "boost", stream<Boost<Message>, Bytes>);
  add(latency + "boost", one_way<Boost<Message>, Bytes>);
#endif
  const std::string batches = "shm/ring_batch_" + size;
  add(batches + "takt", stream<Takt<Message>, Bytes, false, Pace::batches>);
  add(batches + "floor", stream<BatchFloor<Message>, Bytes>);

  const std::string made = "shm/ring_made_" + size;
  add(made + "takt", stream<Takt<Message>, Bytes, false, Pace::made>);
  add(made + "floor", stream<BatchFloor<Message>, Bytes, false, Pace::made>);
  add(made + "each", stream<EachFloor<Message>, Bytes, false, Pace::made>);
#ifdef HAVE_MOODYCAMEL
  add(made + "moodycamel", stream<Moodycamel<Message>, Bytes, false, Pace::made>);
#endif
#ifdef TAKT_BENCH_RIGTORP
  add(made + "rigtorp", stream<Rigtorp<Message>, Bytes, false, Pace::made>);
#endif
#ifdef HAVE_BOOST
  add(made + "boost", stream<Boost<Message>, Bytes, false, Pace::made>);
#endif

  const std::string process_streams = "shm/process_stream_" + size;
  add(process_streams + "takt", stream<TaktEnds<Message>, Bytes, true>);
  add(process_streams + "floor", stream<BatchFloor<Message>, Bytes, true>);
  add(process_streams + "each", stream<EachFloor<Message>, Bytes, true>);
  add(process_streams + "socket", stream<Socket<Message>, Bytes, true>);
#ifdef HAVE_BOOST
  add(process_streams + "boost", stream<Boost<Message>, Bytes, true>);
#endif
}

template <std::size_t Bytes>
void add_small() {
  using Message = Payload<Bytes>;
  const std::string size = std::to_string(Bytes) + "B/";
  const std::string latency = "shm/slot_ring_one_way_" + size;
  add(latency + "takt", one_way<TaktSlot<Message>, Bytes>);
  add(latency + "floor", one_way<RawLine<Message>, Bytes>);
  const std::string between_processes = "shm/process_one_way_" + size;
  add(between_processes + "takt", one_way<TaktSlotEnds<Message>, Bytes, true>);
  add(between_processes + "floor", one_way<RawLine<Message>, Bytes, true>);
  add(between_processes + "socket", one_way<Socket<Message>, Bytes, true>);
#ifdef HAVE_BOOST
  add(between_processes + "boost", one_way<Boost<Message>, Bytes, true>);
#endif
}

template <std::size_t Bytes>
void add_values() {
  using Message = Payload<Bytes>;
  const std::string size = std::to_string(Bytes) + "B/";
  add("shm/latest_one_way_" + size + "takt", one_way<TaktLatest<Message>, Bytes>);
  add("shm/broadcast_one_way_" + size + "takt", one_way<TaktBroadcast<Message>, Bytes>);
  add("shm/broadcast_one_way_" + size + "floor", one_way<SeqlockFloor<Message>, Bytes>);
  add("shm/shared_value_one_way_" + size + "takt", one_way<TaktSharedValue<Message>, Bytes>);
  add("shm/shared_value_one_way_" + size + "floor", one_way<SeqlockFloor<Message, true>, Bytes>);
#ifdef TAKT_BENCH_REALTIME_TOOLS
  add("shm/latest_one_way_" + size + "realtime_tools", one_way<RealtimeTools<Message>, Bytes>);
#endif
}

template <std::size_t Bytes>
void add_several() {
  using Message = Payload<Bytes>;
  const std::string size = std::to_string(Bytes) + "B/";
  add("shm/broadcast_ring_one_way_" + size + "takt", one_way<TaktBroadcastRing<Message>, Bytes>);
  add("shm/broadcast_ring_one_way_" + size + "floor", one_way<NumberedFloor<Message>, Bytes>);
  const std::string streams = "shm/requests_stream_" + size;
  const std::string latency = "shm/requests_one_way_" + size;
  add(streams + "takt", stream<TaktRequests<Message>, Bytes>);
  add(streams + "floor", stream<TicketFloor<Message>, Bytes>);
  add(streams + "deque", stream<MutexDeque<Message>, Bytes>);
  add(latency + "takt", one_way<TaktRequests<Message>, Bytes>);
  add(latency + "floor", one_way<TicketFloor<Message>, Bytes>);
  add(latency + "deque", one_way<MutexDeque<Message>, Bytes>);
}

[[maybe_unused]] const bool registered = [] {
  add_rings<8>();
  add_rings<64>();
  add_rings<1024>();
  add_small<8>();
  add_small<56>();
  add_values<8>();
  add_values<56>();
  add_values<64>();
  add_values<512>();
  add_several<8>();
  add_several<56>();
  add("shm/latest_one_way_64B/floor", one_way<RawLine<Payload<64>>, 64>);
  return true;
}();

}  // namespace
