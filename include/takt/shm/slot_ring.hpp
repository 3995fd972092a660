// A queue between one producer and one consumer for small messages that must arrive soon: message and sequence number share a
// cache line, so that a message crosses from core to core in a single transfer. SpscRing moves many messages in less time;
// this one moves a single message faster. Neither side ever waits; everything but construction is real-time safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// One line: the message, and the number that says which one it is.
template <class T, class Machine = Processor>
struct alignas(cache_line) Slot {
  static_assert(std::is_trivially_copyable_v<T>, "messages are copied as bytes");
  /// Number of the message in it, counted from 1 and running over; another number than the one that the consumer waits for
  /// means that its message has not come yet.
  typename Machine::template Atomic<std::uint32_t> sequence{0};
  T message{};
};
static_assert(sizeof(Slot<std::uint64_t[7]>) == cache_line, "56 bytes fit beside the sequence number");

/// The writing end. One thread at a time; over memory in use it goes on where another left off, at whatever instruction. A peer
/// that writes nonsense can make it refuse messages or write over some, never leave the slots; once it has stopped, the ring works
/// again, with the same ends or with their successors. Lost are then what lay in the ring, and up to `capacity` of the messages
/// pushed afterwards: none of those after a refusal and another look by the consumer.
template <class T, class Machine = Processor>
class SlotProducer {
 public:
  using Word = typename Machine::template Atomic<std::uint32_t>;

  /// `slots` has `capacity` slots (a power of two, 2 to 2^31). Memory of zeros is an empty ring. Looks at no more than all slots.
  SlotProducer(Word& released, Slot<T, Machine>* slots, std::uint32_t capacity) noexcept
      : released_(&released),
        slots_(slots),
        capacity_(capacity),
        // relaxed: all that the last producer saw of it came before the change of hands. Nothing is written on the strength of it.
        write_(released.load(std::memory_order_relaxed)) {
    // What is not given back is there, one message after the other. relaxed: only a producer writes the numbers.
    for (std::uint32_t i = 0; i < capacity; ++i) {
      if (slots[write_ & (capacity - 1)].sequence.load(std::memory_order_relaxed) != write_ + 1) break;
      ++write_;
    }
    limit_ = write_;
  }

  /// Appends a message; false, and no effect, when the ring is full.
  [[nodiscard]] bool try_push(const T& message) noexcept {
    if (write_ == limit_ && !look_for_room()) return false;
    Slot<T, Machine>& slot = slots_[write_ & (capacity_ - 1)];
    Machine::copy_value(slot.message, message);
    ++write_;
    // release: whoever sees the number sees the message.
    slot.sequence.store(write_, std::memory_order_release);
    return true;
  }

 private:
  [[nodiscard]] bool look_for_room() noexcept {
    // acquire: pairs with the consumer's release. Its copies out of the slots happen before ours into them.
    const std::uint32_t released = released_->load(std::memory_order_acquire);
    if (is_possible(released)) {
      limit_ = released + capacity_;
      return write_ != limit_;
    }
    // A peer has written there, and the ring would be full for ever: as in a ring of messages (spsc_ring.hpp), the next message
    // goes where the consumer stands, after another look, as an honest one may be about to say where.
    write_ = limit_ = released;
    return false;
  }
  /// Whether the consumer can stand there: no more lies before it than there are slots, and, when that is all of them, the message
  /// that it waits for is in its own; this producer may have begun where a peer said and the consumer was not.
  [[nodiscard]] bool is_possible(std::uint32_t released) const noexcept {
    if (write_ - released != capacity_) return write_ - released < capacity_;
    // relaxed: only a producer writes the numbers, and this is the only one.
    return slots_[released & (capacity_ - 1)].sequence.load(std::memory_order_relaxed) == released + 1;
  }

  Word* released_;
  Slot<T, Machine>* slots_;
  std::uint32_t capacity_;
  std::uint32_t write_;  // messages written so far
  std::uint32_t limit_;  // writing may go up to here, by the last look at the consumer's word
};

/// The reading end. One thread at a time; one that takes over sees again what its predecessor had read but not given back. Space
/// goes back to the producer after every sixteenth of the capacity, and whenever the ring is found empty.
template <class T, class Machine = Processor>
class SlotConsumer {
 public:
  using Word = typename Machine::template Atomic<std::uint32_t>;

  /// As SlotProducer's.
  SlotConsumer(Word& released, const Slot<T, Machine>* slots, std::uint32_t capacity) noexcept
      : released_(&released),
        slots_(slots),
        capacity_(capacity),
        batch_(std::max<std::uint32_t>(capacity / 16, 1)),
        // relaxed: only a consumer writes this word, and this is the only one.
        read_(released.load(std::memory_order_relaxed)),
        given_back_(read_) {}

  /// Takes the oldest message; false, and `message` untouched, when the ring is empty.
  [[nodiscard]] bool try_pop(T& message) noexcept {
    const Slot<T, Machine>& slot = slots_[read_ & (capacity_ - 1)];
    // acquire: pairs with the producer's release; the message is seen whole.
    if (slot.sequence.load(std::memory_order_acquire) != read_ + 1) {
      // relaxed: only a consumer writes this word, and this is the only one. Anything else there is a peer's, and is put right.
      if (released_->load(std::memory_order_relaxed) != read_) give_back();
      return false;
    }
    Machine::copy_value(message, slot.message);
    ++read_;
    if (read_ - given_back_ >= batch_) give_back();
    return true;
  }

 private:
  void give_back() noexcept {
    given_back_ = read_;
    // release: our copies out of the slots are finished before the producer may write there again.
    released_->store(read_, std::memory_order_release);
  }

  Word* released_;
  const Slot<T, Machine>* slots_;
  std::uint32_t capacity_;
  std::uint32_t batch_;
  std::uint32_t read_;        // messages read so far
  std::uint32_t given_back_;  // what the producer knows of read_
};

/// Both ends and the memory, for two threads of one process.
template <class T>
class SlotRing {
 public:
  /// Room for `capacity` messages, rounded up by ring_capacity(). Allocates: not real-time safe.
  explicit SlotRing(std::size_t capacity)
      : capacity_(ring_capacity(capacity)),
        slots_(std::make_unique<Slot<T>[]>(capacity_)),
        producer_{SlotProducer<T>(released_.end, slots_.get(), capacity_)},
        consumer_{SlotConsumer<T>(released_.end, slots_.get(), capacity_)} {}
  SlotRing(const SlotRing&) = delete;
  SlotRing& operator=(const SlotRing&) = delete;

  [[nodiscard]] bool try_push(const T& message) noexcept { return producer_.end.try_push(message); }
  [[nodiscard]] bool try_pop(T& message) noexcept { return consumer_.end.try_pop(message); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::uint32_t capacity_;
  std::unique_ptr<Slot<T>[]> slots_;
  OwnLine<std::atomic<std::uint32_t>> released_{};
  OwnLine<SlotProducer<T>> producer_;
  OwnLine<SlotConsumer<T>> consumer_;
};

}  // namespace takt::shm
