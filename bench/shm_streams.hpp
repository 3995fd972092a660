// How shm_bench.cpp measures an exchange between two threads or processes on two cores. It times a stream of
// messages, and one message from one side to the other; the receiver checks the order.
#pragma once

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "shm_rings.hpp"
#include "two_cores.hpp"

namespace takt::bench::exchanges {

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

}  // namespace takt::bench::exchanges
