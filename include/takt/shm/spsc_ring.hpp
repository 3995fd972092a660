// A queue between exactly one producer and one consumer, on two threads, cores or processes. Neither side
// waits for the other. SpscRing owns its memory and serves the threads of one process. RingProducer and
// RingConsumer are the same two ends over existing memory. Everything except construction is real-time safe.
//
// Each side keeps its own state on a cache line that the other side does not touch. It publishes one index.
// The other side loads that index only if its cached copy says that the ring is full or empty. For messages
// of a line or more, the producer reads back its own published index instead of keeping a copy. The consumer
// gives space back in batches of 1/16 of the capacity, and whenever it finds the ring empty. So a producer
// may find the ring full while up to 1/16 of the slots are free.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// The words that both sides share. Indexes count messages from the beginning and wrap. Zeroed memory is an
/// empty ring.
template <class Machine>
struct BasicRingIndexes {
  using Index = typename Machine::template Atomic<std::uint32_t>;
  alignas(interference_size) Index written{0};  ///< stored by the producer: messages that may be read
  alignas(interference_size) Index released{
      0};  ///< stored by the consumer: messages whose slots are free again
};
using RingIndexes = BasicRingIndexes<Processor>;
static_assert(sizeof(RingIndexes) == 2 * interference_size);

namespace detail {

/// The size of a ring's element, and how it is copied. opaque.hpp has the same for elements whose size is
/// known only at run time.
template <class T>
struct TypedElement {
  static_assert(std::is_trivially_copyable_v<T>, "messages are copied as bytes");

  [[nodiscard]] static constexpr std::size_t bytes() noexcept { return sizeof(T); }
  template <class Machine>
  static void copy(void* to, const void* from, std::size_t count) noexcept {
    Machine::template copy<alignof(T)>(to, from, count * sizeof(T));
  }
  template <class Machine>
  static void copy_one(void* to, const void* from) noexcept {
    Machine::copy_value(*static_cast<T*>(to), *static_cast<const T*>(from));
  }
};

template <class T>
[[nodiscard]] inline bool is_aligned(const std::byte* slots) noexcept {
  return reinterpret_cast<std::uintptr_t>(slots) % alignof(T) == 0;
}

/// The writing end of a ring of any element.
template <class Element, class Machine>
class RingWriteEnd {
 public:
  RingWriteEnd(BasicRingIndexes<Machine>& indexes, std::byte* slots, std::uint32_t capacity,
               Element element = {}) noexcept
      : indexes_(&indexes),
        slots_(slots),
        capacity_(capacity),
        write_(written()),
        limit_(write_),
        element_(element) {}

  /// Free slots now. The consumer can only increase their number.
  [[nodiscard]] std::size_t free_slots() noexcept { return look_for_room(next()); }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 protected:
  /// Appends a message. Returns false without effect if the ring is full.
  [[nodiscard]] bool push_one(const void* message) noexcept {
    const std::uint32_t write = next();
    if (room(write) == 0 && look_for_room(write) == 0) return false;
    element_.template copy_one<Machine>(slot(write), message);
    publish(write + 1);
    return true;
  }

  /// Appends a message whose bytes are those of `head` and then those of `tail`.
  template <class Head, class Tail>
  [[nodiscard]] bool push_joined(const Head& head, const Tail& tail) noexcept {
    const std::uint32_t write = next();
    if (room(write) == 0 && look_for_room(write) == 0) return false;
    std::byte* const message = slot(write);
    TypedElement<Head>::template copy_one<Machine>(message, &head);
    TypedElement<Tail>::template copy_one<Machine>(message + sizeof head, &tail);
    publish(write + 1);
    return true;
  }

  /// Appends as many of `wanted` messages as fit. Returns their number.
  [[nodiscard]] std::size_t push_many(const std::byte* messages, std::size_t wanted) noexcept {
    const std::uint32_t write = next();
    const std::uint32_t free = room(write) < wanted ? look_for_room(write) : room(write);
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, free));
    const std::uint32_t until_wrap = std::min(count, capacity_ - (write & (capacity_ - 1)));
    if (count == 0) return 0;
    element_.template copy<Machine>(slot(write), messages, until_wrap);
    if (count != until_wrap) {
      element_.template copy<Machine>(slots_, messages + until_wrap * element_.bytes(), count - until_wrap);
    }
    publish(write + count);
    return count;
  }

 private:
  [[nodiscard]] std::uint32_t written() const noexcept {
    // relaxed: this thread is the only producer, so no other write can race.
    return indexes_->written.load(std::memory_order_relaxed);
  }
  /// Whether this end keeps a copy of its index. It does for messages shorter than a line, because the
  /// published index has gone to the consumer's cache and would have to be fetched back.
  ///
  /// For longer messages a copy costs more. A store to another line ends the joining of stores, and each
  /// further line leaves fewer buffers for pending messages.
  [[nodiscard]] bool keeps_index() const noexcept { return element_.bytes() < cache_line; }
  [[nodiscard]] std::uint32_t next() const noexcept { return keeps_index() ? write_ : written(); }

  /// Slots free from `write` on, by the last load of the consumer's index. 0 if a peer has damaged the index.
  [[nodiscard]] std::uint32_t room(std::uint32_t write) const noexcept {
    const std::uint32_t free = limit_ - write;
    return keeps_index() || free <= capacity_ ? free : 0;
  }
  [[nodiscard]] std::uint32_t look_for_room(std::uint32_t write) noexcept {
    // acquire: pairs with the consumer's release of `released`, so its copies out of the slots end before
    // ours into them.
    const std::uint32_t released = indexes_->released.load(std::memory_order_acquire);
    if (write - released <= capacity_) {
      limit_ = released + capacity_;
      return limit_ - write;
    }
    // A peer has damaged one of the indexes. Without repair, the ring would stay unusable for every successor
    // too. The next message goes to the consumer's index, and the messages in between are lost. This call
    // returns 0, because a consumer that sees this index first publishes its real position.
    limit_ = released;
    publish(released);
    return 0;
  }
  [[nodiscard]] std::byte* slot(std::uint32_t index) const noexcept {
    return slots_ + static_cast<std::size_t>(index & (capacity_ - 1)) * element_.bytes();
  }
  void publish(std::uint32_t end) noexcept {
    if (keeps_index()) write_ = end;
    // release: a consumer that sees the new index sees the messages below it.
    indexes_->written.store(end, std::memory_order_release);
  }

  BasicRingIndexes<Machine>* indexes_;
  std::byte* slots_;
  std::uint32_t capacity_;
  std::uint32_t write_;  // next index to write, if kept here
  std::uint32_t limit_;  // writing may go up to here, by the last load of the consumer's index
  [[no_unique_address]] Element element_;
};

/// The reading end of a ring of any element.
template <class Element, class Machine>
class RingReadEnd {
 public:
  RingReadEnd(BasicRingIndexes<Machine>& indexes, const std::byte* slots, std::uint32_t capacity,
              Element element = {}) noexcept
      : indexes_(&indexes),
        slots_(slots),
        capacity_(capacity),
        batch_mask_(std::max<std::uint32_t>(capacity / 16, 1) - 1),
        // relaxed: this thread is the only consumer, so no other write can race.
        read_(indexes.released.load(std::memory_order_relaxed)),
        limit_(read_),
        released_(read_),
        element_(element) {}

  /// Messages that can be popped now. The producer can only increase their number.
  [[nodiscard]] std::size_t size() noexcept {
    // acquire: pairs with the producer's release of `written`, so the messages below the index are visible.
    const std::uint32_t written = indexes_->written.load(std::memory_order_acquire);
    if (written - read_ > capacity_) {
      // A peer has damaged one of the indexes. The producer continues from this index as soon as it sees it.
      release();
    } else {
      limit_ = written;
    }
    return limit_ - read_;
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// The index of the next message, with which another reading end of the ring can go on.
  [[nodiscard]] std::uint32_t position() const noexcept { return read_; }
  /// Goes on at an index that another reading end of the ring gave, and that is not used any more.
  void set_position(std::uint32_t index) noexcept {
    read_ = limit_ = index;
    release();
  }

 protected:
  /// Takes the oldest message. Returns false and leaves `message` unchanged if the ring is empty.
  [[nodiscard]] bool pop_one(void* message) noexcept {
    // A local copy, because the compiler must assume that copy_one() changes the member.
    const std::uint32_t read = read_;
    // No prefetch of the message here. It would make a look at an empty ring a third faster, but it takes the
    // line from a producer that is filling it. A stream then loses a third of its speed.
    if (read == limit_ && size() == 0) {
      if (released_ != read) release();
      return false;
    }
    element_.template copy_one<Machine>(message, slot(read));
    read_ = read + 1;
    if ((read_ & batch_mask_) == 0) release();
    return true;
  }

  /// Takes the oldest message into two parts, one after the other. As pop_one() otherwise.
  template <class Head, class Tail>
  [[nodiscard]] bool pop_joined(Head& head, Tail& tail) noexcept {
    const std::uint32_t read = read_;
    if (read == limit_ && size() == 0) {
      if (released_ != read) release();
      return false;
    }
    const std::byte* const message = slot(read);
    TypedElement<Head>::template copy_one<Machine>(&head, message);
    TypedElement<Tail>::template copy_one<Machine>(&tail, message + sizeof head);
    read_ = read + 1;
    if ((read_ & batch_mask_) == 0) release();
    return true;
  }

  /// Takes up to `wanted` of the oldest messages and gives their space back at once. Returns their number.
  [[nodiscard]] std::size_t pop_many(std::byte* messages, std::size_t wanted) noexcept {
    if (limit_ - read_ < wanted) (void)size();
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, limit_ - read_));
    const std::uint32_t until_wrap = std::min(count, capacity_ - (read_ & (capacity_ - 1)));
    if (count != 0) {
      element_.template copy<Machine>(messages, slot(read_), until_wrap);
      if (count != until_wrap) {
        element_.template copy<Machine>(messages + until_wrap * element_.bytes(), slots_, count - until_wrap);
      }
      read_ += count;
    }
    if (released_ != read_) release();
    return count;
  }

 private:
  [[nodiscard]] const std::byte* slot(std::uint32_t index) const noexcept {
    return slots_ + static_cast<std::size_t>(index & (capacity_ - 1)) * element_.bytes();
  }
  void release() noexcept {
    released_ = read_;
    // release: our copies out of the slots end before the producer may overwrite them.
    indexes_->released.store(read_, std::memory_order_release);
  }

  BasicRingIndexes<Machine>* indexes_;
  const std::byte* slots_;
  std::uint32_t capacity_;
  std::uint32_t batch_mask_;  // space goes back when these bits of the index are 0
  std::uint32_t read_;        // next index to read
  std::uint32_t limit_;       // reading may go up to here, by the last load of the producer's index
  std::uint32_t released_;    // last published value of read_
  [[no_unique_address]] Element element_;
};

}  // namespace detail

/// The writing end. One thread at a time may use it. Real-time safe.
///
/// A peer that writes invalid indexes can make the ring reject or overwrite messages, but this end never
/// writes outside the slots. The ring works again once the peer stops. Then the messages in the ring are
/// lost, and up to `capacity` of those pushed afterwards. No message is lost that is pushed after a rejection
/// and the consumer's next load of the index.
template <class T, class Machine = Processor>
class RingProducer : private detail::RingWriteEnd<detail::TypedElement<T>, Machine> {
  using End = detail::RingWriteEnd<detail::TypedElement<T>, Machine>;

 public:
  /// `slots` has room for `capacity` messages with the alignment of T. `capacity` is a power of two from 2 to
  /// 2^31 (see ring_capacity()). A producer that was restarted continues at the published index.
  RingProducer(BasicRingIndexes<Machine>& indexes, std::byte* slots, std::uint32_t capacity) noexcept
      : End(indexes, slots, capacity) {
    assert(detail::is_aligned<T>(slots));
  }

  /// Appends a message. Returns false without effect if the ring is full.
  [[nodiscard]] bool try_push(const T& message) noexcept { return End::push_one(&message); }
  /// Appends a message that begins with `head`, followed by `tail`. So the caller needs no copy in which both
  /// lie. Padding behind the tail stays as it was.
  template <class Head, class Tail>
  [[nodiscard]] bool try_push_joined(const Head& head, const Tail& tail) noexcept {
    static_assert(sizeof(Head) % alignof(Tail) == 0 && sizeof(Head) + sizeof(Tail) <= sizeof(T));
    return End::push_joined(head, tail);
  }

  /// Appends as many of `messages`, from the first, as fit, and publishes them together. Returns their
  /// number.
  [[nodiscard]] std::size_t push(std::span<const T> messages) noexcept {
    return End::push_many(std::as_bytes(messages).data(), messages.size());
  }

  /// Free slots now. The consumer can only increase their number.
  using End::free_slots;
  /// Slots of the ring.
  [[nodiscard]] std::size_t capacity() const noexcept { return End::capacity(); }
};

/// The reading end. One thread at a time may use it. Real-time safe. A peer that writes invalid indexes can
/// make it read old messages or none, but it never reads outside the slots.
template <class T, class Machine = Processor>
class RingConsumer : private detail::RingReadEnd<detail::TypedElement<T>, Machine> {
  using End = detail::RingReadEnd<detail::TypedElement<T>, Machine>;

 public:
  /// `slots` and `capacity`: as for RingProducer. A consumer that takes over reads again the messages that
  /// its predecessor had not given back.
  RingConsumer(BasicRingIndexes<Machine>& indexes, const std::byte* slots, std::uint32_t capacity) noexcept
      : End(indexes, slots, capacity) {
    assert(detail::is_aligned<T>(slots));
  }

  /// Takes the oldest message. Returns false and leaves `message` unchanged if the ring is empty.
  [[nodiscard]] bool try_pop(T& message) noexcept { return End::pop_one(&message); }
  /// Takes the oldest message, which begins with `head`, followed by `tail`. The counterpart of
  /// RingProducer::try_push_joined().
  template <class Head, class Tail>
  [[nodiscard]] bool try_pop_joined(Head& head, Tail& tail) noexcept {
    static_assert(sizeof(Head) % alignof(Tail) == 0 && sizeof(Head) + sizeof(Tail) <= sizeof(T));
    return End::pop_joined(head, tail);
  }

  /// Takes up to messages.size() of the oldest messages and gives their space back at once. Returns their
  /// number.
  [[nodiscard]] std::size_t pop(std::span<T> messages) noexcept {
    return End::pop_many(std::as_writable_bytes(messages).data(), messages.size());
  }

  /// Messages that can be popped now. The producer can only increase their number.
  using End::position;
  using End::set_position;
  using End::size;
  /// Slots of the ring.
  [[nodiscard]] std::size_t capacity() const noexcept { return End::capacity(); }
};

/// A ring with both ends and its own memory, for two threads of one process. Each end may be used by one
/// thread at a time.
template <class T>
class SpscRing {
  static_assert(alignof(T) <= alignof(Line), "slots begin at a cache line");

 public:
  /// Allocates room for `capacity` messages, rounded up by ring_capacity(). The only function here that is
  /// not real-time safe.
  explicit SpscRing(std::size_t capacity)
      : slots_(std::make_unique<Line[]>(lines_for(ring_capacity(capacity) * sizeof(T)))),
        producer_{{indexes_, slots_[0].bytes, ring_capacity(capacity)}},
        consumer_{{indexes_, slots_[0].bytes, ring_capacity(capacity)}} {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // For the producing thread; as in RingProducer.
  [[nodiscard]] bool try_push(const T& message) noexcept { return producer_.end.try_push(message); }
  /// Returns the number of messages that were pushed.
  [[nodiscard]] std::size_t push(std::span<const T> messages) noexcept {
    return producer_.end.push(messages);
  }
  /// Returns the number of messages for which there is room at least.
  [[nodiscard]] std::size_t free_slots() noexcept { return producer_.end.free_slots(); }

  // For the consuming thread; as in RingConsumer.
  [[nodiscard]] bool try_pop(T& message) noexcept { return consumer_.end.try_pop(message); }
  [[nodiscard]] std::size_t pop(std::span<T> messages) noexcept { return consumer_.end.pop(messages); }

  /// Messages in the ring, including those read but not yet given back. Any thread may call it. The number is
  /// out of date when it returns.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    // relaxed: nothing is read on the basis of this number. Acquire on the first load keeps the order of the
    // two. The producer's index only grows, so the difference is not negative.
    const std::uint32_t released = indexes_.released.load(std::memory_order_acquire);
    const std::uint32_t written = indexes_.written.load(std::memory_order_relaxed);
    return std::min<std::size_t>(written - released, capacity());
  }
  /// Returns the number of messages that the ring holds.
  [[nodiscard]] std::size_t capacity() const noexcept { return producer_.end.capacity(); }

 private:
  RingIndexes indexes_;
  std::unique_ptr<Line[]> slots_;
  OwnLine<RingProducer<T>> producer_;
  OwnLine<RingConsumer<T>> consumer_;
};

}  // namespace takt::shm
