// A bounded queue from several producers to one consumer, for requests. No side waits. Each producer has its
// own lane, a ring between it and the consumer. So a slow or dead producer does not block the others. The
// messages of one producer arrive in order. The consumer takes the lanes in turn, so a busy lane does not
// starve the others. Everything is real-time safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::shm {

/// The memory that all sides share: `lanes` rings of `capacity` messages each. Zeroed memory is an empty
/// queue.
template <class T, std::size_t lanes, std::uint32_t capacity, class Machine = Processor>
struct MultiProducerMemory {
  static_assert(lanes >= 1 && alignof(T) <= interference_size);
  static_assert(std::has_single_bit(capacity) && capacity >= 2, "indexes run over");

  struct Lane {
    BasicRingIndexes<Machine> indexes;
    alignas(interference_size) std::byte slots[capacity * sizeof(T)];
  };
  Lane lane[lanes];

  /// The writing end of lane `number`, 0 to `lanes` - 1; a larger number means the last lane. One thread at a
  /// time may use a lane.
  [[nodiscard]] RingProducer<T, Machine> producer(std::size_t number) noexcept {
    Lane& own = lane[std::min(number, lanes - 1)];
    return {own.indexes, own.slots, capacity};
  }
};
static_assert(sizeof(MultiProducerMemory<std::uint64_t, 3, 32>) ==
                  3 * (sizeof(RingIndexes) + 2 * interference_size),
              "32 messages of 8 bytes in each lane");

/// The reading end. One thread at a time may use it. Its successor reads again the messages that it had not
/// given back.
template <class T, std::size_t lanes, std::uint32_t capacity, class Machine = Processor>
class MultiProducerConsumer {
 public:
  using Memory = MultiProducerMemory<T, lanes, capacity, Machine>;

  explicit MultiProducerConsumer(Memory& memory) noexcept
      : MultiProducerConsumer(memory, std::make_index_sequence<lanes>()) {}

  /// Takes the oldest message of the next lane that has one. Returns false and leaves `message` unchanged if
  /// all lanes are empty.
  [[nodiscard]] bool try_pop(T& message) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) {
      if (next_lane().try_pop(message)) return true;
    }
    return false;
  }

  /// Takes up to messages.size() messages, if possible an equal share from every lane. Returns their number.
  [[nodiscard]] std::size_t pop(std::span<T> messages) noexcept {
    const std::size_t share = messages.size() / lanes + (messages.size() % lanes != 0 ? 1 : 0);
    std::size_t count = 0;
    for (std::size_t i = 0; i < 2 * lanes && count < messages.size(); ++i) {
      // In the second round, lanes with more messages use the rest of the shares.
      const std::size_t most = i < lanes ? share : messages.size();
      const auto rest = messages.subspan(count);
      count += next_lane().pop(rest.first(std::min(most, rest.size())));
    }
    return count;
  }

 private:
  template <std::size_t... lane>
  MultiProducerConsumer(Memory& memory, std::index_sequence<lane...>) noexcept
      : lanes_{RingConsumer<T, Machine>(memory.lane[lane].indexes, memory.lane[lane].slots, capacity)...} {}

  [[nodiscard]] RingConsumer<T, Machine>& next_lane() noexcept {
    auto& lane = lanes_[turn_];
    turn_ = turn_ + 1 == lanes ? 0 : turn_ + 1;
    return lane;
  }

  std::array<RingConsumer<T, Machine>, lanes> lanes_;
  std::size_t turn_ = 0;  // the lane to read next
};

/// The memory and the reading end, for threads of one process. Each writing thread creates its own end with
/// producer().
template <class T, std::size_t lanes, std::uint32_t capacity>
class MultiProducerRing {
 public:
  MultiProducerRing() = default;
  MultiProducerRing(const MultiProducerRing&) = delete;
  MultiProducerRing& operator=(const MultiProducerRing&) = delete;

  /// As MultiProducerMemory::producer(). The queue must outlive the end.
  [[nodiscard]] RingProducer<T> producer(std::size_t lane) noexcept { return memory_.producer(lane); }

  /// As MultiProducerConsumer::try_pop() and pop().
  [[nodiscard]] bool try_pop(T& message) noexcept { return consumer_.end.try_pop(message); }
  [[nodiscard]] std::size_t pop(std::span<T> messages) noexcept { return consumer_.end.pop(messages); }

 private:
  MultiProducerMemory<T, lanes, capacity> memory_;
  OwnLine<MultiProducerConsumer<T, lanes, capacity>> consumer_{
      MultiProducerConsumer<T, lanes, capacity>(memory_)};
};

}  // namespace takt::shm
