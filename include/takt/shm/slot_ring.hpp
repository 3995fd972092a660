// A queue between one producer and one consumer for small messages with low latency. A message and its
// sequence number share a cache line, so one transfer between cores moves both. SpscRing moves many messages
// in less time; SlotRing moves a single message faster. Neither side waits. Everything except construction is
// real-time safe.
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

/// One message and its sequence number.
template <class T, class Machine = Processor>
struct alignas(cache_line) Slot {
  static_assert(std::is_trivially_copyable_v<T>, "messages are copied as bytes");
  /// Number of the message in the slot, counted from 1; it wraps. While it differs from the number that the
  /// consumer expects, the message has not arrived.
  typename Machine::template Atomic<std::uint32_t> sequence{0};
  T message{};
};
static_assert(sizeof(Slot<std::uint64_t[7]>) == cache_line, "56 bytes fit beside the sequence number");

/// The writing end. One thread at a time may use it. Over memory in use it continues after a producer that
/// stopped at any instruction. Real-time safe.
///
/// A peer that writes invalid numbers can make the ring reject or overwrite messages, but this end never
/// writes outside the slots. The ring works again once the peer stops, with the same ends or their
/// successors. Then the messages in the ring are lost, and up to `capacity` of those pushed afterwards. No
/// message is lost that is pushed after a rejection and the consumer's next try_pop().
template <class T, class Machine = Processor>
class SlotProducer {
 public:
  using Word = typename Machine::template Atomic<std::uint32_t>;

  /// `slots` points to `capacity` slots, a power of two from 2 to 2^31. Zeroed memory is an empty ring. The
  /// constructor reads at most all slots.
  SlotProducer(Word& released, Slot<T, Machine>* slots, std::uint32_t capacity) noexcept
      : released_(&released),
        slots_(slots),
        capacity_(capacity),
        // relaxed: the takeover itself orders the last producer's accesses before this load. No slot is
        // written because of this value.
        write_(released.load(std::memory_order_relaxed)) {
    // Messages that were not given back lie here in sequence. relaxed: only a producer stores these numbers,
    // so no other write can race.
    for (std::uint32_t i = 0; i < capacity; ++i) {
      if (slots[write_ & (capacity - 1)].sequence.load(std::memory_order_relaxed) != write_ + 1) break;
      ++write_;
    }
    limit_ = write_;
  }

  /// Appends a message. Returns false without effect if the ring is full.
  [[nodiscard]] bool try_push(const T& message) noexcept {
    if (write_ == limit_ && !look_for_room()) return false;
    Slot<T, Machine>& slot = slots_[write_ & (capacity_ - 1)];
    Machine::copy_value(slot.message, message);
    ++write_;
    // release: a consumer that sees the number sees the message.
    slot.sequence.store(write_, std::memory_order_release);
    return true;
  }

 private:
  [[nodiscard]] bool look_for_room() noexcept {
    // acquire: pairs with the consumer's release, so its copies out of the slots end before ours into them.
    const std::uint32_t released = released_->load(std::memory_order_acquire);
    if (is_possible(released)) {
      limit_ = released + capacity_;
      return write_ != limit_;
    }
    // A peer has damaged the word, and the ring would stay full for ever. As in spsc_ring.hpp, the next
    // message goes to the consumer's position. This call returns false, because an honest consumer may be
    // about to publish its real position.
    write_ = limit_ = released;
    return false;
  }
  /// Whether the consumer can be at `released`. At most all slots may lie between. If exactly all do, the
  /// slot there must hold the message that the consumer expects, because this producer may have started from
  /// a damaged word.
  [[nodiscard]] bool is_possible(std::uint32_t released) const noexcept {
    if (write_ - released != capacity_) return write_ - released < capacity_;
    // relaxed: this thread is the only producer, so no other write can race.
    return slots_[released & (capacity_ - 1)].sequence.load(std::memory_order_relaxed) == released + 1;
  }

  Word* released_;
  Slot<T, Machine>* slots_;
  std::uint32_t capacity_;
  std::uint32_t write_;  // messages written so far
  std::uint32_t limit_;  // writing may go up to here, by the last load of the consumer's word
};

/// The reading end. One thread at a time may use it. Its successor reads again the messages that it had not
/// given back. It gives space back after every sixteenth of the capacity, and whenever it finds the ring
/// empty. Real-time safe.
template <class T, class Machine = Processor>
class SlotConsumer {
 public:
  using Word = typename Machine::template Atomic<std::uint32_t>;

  /// As SlotProducer().
  SlotConsumer(Word& released, const Slot<T, Machine>* slots, std::uint32_t capacity) noexcept
      : released_(&released),
        slots_(slots),
        capacity_(capacity),
        batch_(std::max<std::uint32_t>(capacity / 16, 1)),
        // relaxed: this thread is the only consumer, so no other write can race.
        read_(released.load(std::memory_order_relaxed)),
        given_back_(read_) {}

  /// Takes the oldest message. Returns false and leaves `message` unchanged if the ring is empty.
  [[nodiscard]] bool try_pop(T& message) noexcept {
    const Slot<T, Machine>& slot = slots_[read_ & (capacity_ - 1)];
    // acquire: pairs with the producer's release, so the message is seen whole.
    if (slot.sequence.load(std::memory_order_acquire) != read_ + 1) {
      // relaxed: this thread is the only consumer, so no other write can race. Any other value comes from a
      // peer and is repaired.
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
    // release: our copies out of the slots end before the producer may overwrite them.
    released_->store(read_, std::memory_order_release);
  }

  Word* released_;
  const Slot<T, Machine>* slots_;
  std::uint32_t capacity_;
  std::uint32_t batch_;
  std::uint32_t read_;        // messages read so far
  std::uint32_t given_back_;  // last published value of read_
};

/// Both ends and the memory, for two threads of one process.
template <class T>
class SlotRing {
 public:
  /// Allocates room for `capacity` messages, rounded up by ring_capacity(). Not real-time safe.
  explicit SlotRing(std::size_t capacity)
      : capacity_(ring_capacity(capacity)),
        slots_(std::make_unique<Slot<T>[]>(capacity_)),
        producer_{SlotProducer<T>(released_.end, slots_.get(), capacity_)},
        consumer_{SlotConsumer<T>(released_.end, slots_.get(), capacity_)} {}
  SlotRing(const SlotRing&) = delete;
  SlotRing& operator=(const SlotRing&) = delete;

  /// As SlotProducer::try_push(), for the producing thread.
  [[nodiscard]] bool try_push(const T& message) noexcept { return producer_.end.try_push(message); }
  /// As SlotConsumer::try_pop(), for the consuming thread.
  [[nodiscard]] bool try_pop(T& message) noexcept { return consumer_.end.try_pop(message); }
  /// Slots of the ring.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::uint32_t capacity_;
  std::unique_ptr<Slot<T>[]> slots_;
  OwnLine<std::atomic<std::uint32_t>> released_{};
  OwnLine<SlotProducer<T>> producer_;
  OwnLine<SlotConsumer<T>> consumer_;
};

}  // namespace takt::shm
