// The latest values and the broadcast ring that shm_bench.cpp measures, with their
// floors and peers. Each copies in and out by try_push() and try_pop(), as the rings do.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shm_rings.hpp"
#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/latest_value.hpp"

#ifdef TAKT_BENCH_REALTIME_TOOLS
#define NON_POLLING  // its writer waits for the lock instead of sleeping for half a millisecond
#include <realtime_tools/realtime_buffer.hpp>
#endif

namespace takt::bench::exchanges {

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

/// The usual sequence lock: one counter, one copy, atomic words.
template <class T>
class SeqlockFloor : public Fast {
 public:
  bool try_push(const T& message) {
    sequence_.store(written_ + 1, std::memory_order_relaxed);
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

}  // namespace takt::bench::exchanges
