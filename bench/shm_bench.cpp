// Rings and latest values between two threads on two cores: time per message when they stream, and time for one message from
// one side to the other (half a round trip). Floors are hand-written minimal forms; peers are what the distribution packages.
//
// The time of an iteration is the median over many chunks, so that a preempted chunk does not count. All implementations of a
// case copy in and out and check the order.
#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"

#ifdef HAVE_BOOST
#include <boost/lockfree/spsc_queue.hpp>
#endif
#ifdef HAVE_MOODYCAMEL
#include <readerwriterqueue/readerwriterqueue.h>
#endif

namespace {

constexpr std::size_t capacity = 1024;
constexpr std::size_t line = takt::shm::cache_line;

template <std::size_t Bytes>
struct Payload {
  std::array<std::uint64_t, Bytes / 8> words;
};

void pin(std::size_t core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core % std::max(1u, std::thread::hardware_concurrency()), &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

double nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// ------------------------------------------------------------------------------------------------------------- the rings

template <class T>
struct Takt : takt::shm::SpscRing<T> {
  Takt() : takt::shm::SpscRing<T>(capacity) {}
};

template <class T>
struct TaktSlot : takt::shm::SlotRing<T> {
  TaktSlot() : takt::shm::SlotRing<T>(capacity) {}
};

/// Publishes and releases once every 64 messages: what nobody who wants each message delivered can reach.
template <class T>
class BatchFloor {
 public:
  bool try_push(const T& message) {
    if (write_ - released_seen_ == capacity) {
      released_seen_ = released_.load(std::memory_order_acquire);
      if (write_ - released_seen_ == capacity) return false;
    }
    slots_[write_ % capacity] = message;
    if (++write_ % 64 == 0) written_.store(write_, std::memory_order_release);
    return true;
  }
  bool try_pop(T& message) {
    if (read_ == written_seen_) {
      written_seen_ = written_.load(std::memory_order_acquire);
      if (read_ == written_seen_) return false;
    }
    message = slots_[read_ % capacity];
    if (++read_ % 64 == 0) released_.store(read_, std::memory_order_release);
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

#ifdef HAVE_BOOST
template <class T>
struct Boost {
  bool try_push(const T& message) { return queue.push(message); }
  bool try_pop(T& message) { return queue.pop(message); }
  boost::lockfree::spsc_queue<T, boost::lockfree::capacity<capacity>> queue;
};
#endif

#ifdef HAVE_MOODYCAMEL
template <class T>
struct Moodycamel {
  bool try_push(const T& message) { return queue.try_enqueue(message); }
  bool try_pop(T& message) { return queue.try_dequeue(message); }
  moodycamel::ReaderWriterQueue<T> queue{capacity};
};
#endif

/// One cache line and nothing else: a message is there when its number is.
template <class T>
class RawLine {
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

// ------------------------------------------------------------------------------------------------- the latest-value forms

template <class T>
struct TaktLatest {
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
struct TaktBroadcast {
  bool try_push(const T& message) {
    value.write(message);
    return true;
  }
  bool try_pop(T& message) { return reader.read_new(message) == takt::shm::Freshness::new_data; }
  takt::shm::BroadcastValue<T> value;
  typename takt::shm::BroadcastValue<T>::Reader reader{value};
};

/// The usual sequence lock: one counter, one copy, atomic words.
template <class T>
class SeqlockFloor {
 public:
  bool try_push(const T& message) {
    const std::uint32_t sequence = sequence_.load(std::memory_order_relaxed);
    sequence_.store(sequence + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words_.size(); ++i)
      words_[i].store(message.words[i], std::memory_order_release);
    sequence_.store(sequence + 2, std::memory_order_release);
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
  alignas(line) std::atomic<std::uint32_t> sequence_{0};
  std::array<std::atomic<std::uint64_t>, sizeof(T) / 8> words_{};
  alignas(line) std::uint32_t seen_ = 0;
};

// ------------------------------------------------------------------------------------------------------- the measurements

/// Nanoseconds per message when one side streams to the other.
template <template <class> class Ring, std::size_t Bytes>
void throughput(benchmark::State& state) {
  constexpr std::size_t chunk = Bytes >= 1024 ? 2048 : 8192;
  constexpr std::size_t chunks = 40;
  pin(1);
  for ([[maybe_unused]] auto _ : state) {
    const auto ring = std::make_unique<Ring<Payload<Bytes>>>();
    std::thread producer([&] {
      pin(0);
      Payload<Bytes> message{};
      for (std::uint64_t i = 0; i < chunk * chunks; ++i) {
        message.words.front() = message.words.back() = i;
        while (!ring->try_push(message)) pause();
      }
    });
    Payload<Bytes> message{};
    std::vector<double> times;
    std::uint64_t expected = 0;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < chunks; ++i) {
      const auto start = std::chrono::steady_clock::now();
      for (std::size_t j = 0; j < chunk; ++j) {
        while (!ring->try_pop(message)) pause();
        wrong += message.words.back() != expected++ ? 1u : 0u;
      }
      times.push_back(nanoseconds_since(start) / chunk);
    }
    producer.join();
    if (wrong != 0) state.SkipWithError("messages were lost or out of order");
    state.SetIterationTime(median(times) * 1e-9);
  }
}

/// Nanoseconds for one message from one side to the other: half a round trip.
template <template <class> class Ring, std::size_t Bytes>
void one_way(benchmark::State& state) {
  constexpr std::size_t chunk = 32;
  constexpr std::size_t chunks = 600;
  pin(1);
  for ([[maybe_unused]] auto _ : state) {
    const auto there = std::make_unique<Ring<Payload<Bytes>>>();
    const auto back = std::make_unique<Ring<Payload<Bytes>>>();
    std::thread echo([&] {
      pin(0);
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
    echo.join();
    if (wrong != 0) state.SkipWithError("messages were lost or out of order");
    state.SetIterationTime(median(times) * 1e-9);
  }
}

void add(const std::string& name, void (*run)(benchmark::State&)) {
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kNanosecond);
}

template <std::size_t Bytes>
void add_rings() {
  const std::string size = std::to_string(Bytes);
  const std::string stream = "shm/ring_stream_" + size + "B/";
  add(stream + "takt", throughput<Takt, Bytes>);
  add(stream + "floor", throughput<BatchFloor, Bytes>);
  const std::string latency = "shm/ring_one_way_" + size + "B/";
  add(latency + "takt", one_way<Takt, Bytes>);
#ifdef HAVE_MOODYCAMEL
  add(stream + "moodycamel", throughput<Moodycamel, Bytes>);
  add(latency + "moodycamel", one_way<Moodycamel, Bytes>);
#endif
#ifdef HAVE_BOOST
  add(stream + "boost", throughput<Boost, Bytes>);
  add(latency + "boost", one_way<Boost, Bytes>);
#endif
}

template <std::size_t Bytes>
void add_small() {
  const std::string latency = "shm/slot_ring_one_way_" + std::to_string(Bytes) + "B/";
  add(latency + "takt", one_way<TaktSlot, Bytes>);
  add(latency + "floor", one_way<RawLine, Bytes>);
}

[[maybe_unused]] const bool registered = [] {
  add_rings<8>();
  add_rings<64>();
  add_rings<1024>();
  add_small<8>();
  add_small<56>();
  add("shm/latest_one_way_64B/takt", one_way<TaktLatest, 64>);
  add("shm/latest_one_way_64B/floor", one_way<RawLine, 64>);
  add("shm/broadcast_one_way_64B/takt", one_way<TaktBroadcast, 64>);
  add("shm/broadcast_one_way_64B/floor", one_way<SeqlockFloor, 64>);
  add("shm/broadcast_one_way_512B/takt", one_way<TaktBroadcast, 512>);
  add("shm/broadcast_one_way_512B/floor", one_way<SeqlockFloor, 512>);
  return true;
}();

}  // namespace
