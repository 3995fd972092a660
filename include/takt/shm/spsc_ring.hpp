// A queue between exactly one producer and one consumer, on two threads, cores or processes: neither ever
// waits for the other. SpscRing owns its memory and serves the threads of one process; RingProducer and
// RingConsumer are the same two ends over memory that somebody else provides. Everything but construction is
// real-time safe.
//
// Each side keeps its own state on a cache line that nobody else touches and publishes one index to the
// other, which it reads only when its cached copy says that the ring is full or empty; the producer of messages
// of a line or more reads its own published index back instead of keeping it. The consumer gives space back in
// batches of 1/16 of the capacity, and whenever it finds the ring empty: a producer may see a ring as full that
// has up to 1/16 of its slots free.
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

/// The words that both sides see. Indexes count messages since the beginning and run over; zero-initialised
/// memory is an empty ring.
template <class Machine>
struct BasicRingIndexes {
  using Index = typename Machine::template Atomic<std::uint32_t>;
  alignas(apart) Index written{0};   ///< by the producer: messages that may be read
  alignas(apart) Index released{0};  ///< by the consumer: messages whose slots are free again
};
using RingIndexes = BasicRingIndexes<Processor>;
static_assert(sizeof(RingIndexes) == 2 * apart);

namespace detail {

/// What a ring of T holds: how long an element is, and how it is copied. Rings of elements whose size is known only at run time
/// have another of this kind (opaque.hpp).
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

/// The writing end of a ring, whatever it holds.
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

  /// How many messages can be pushed now without fail. The consumer can only make it more.
  [[nodiscard]] std::size_t free_slots() noexcept { return look_for_room(next()); }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 protected:
  /// Appends a message; false, and no effect, when the ring is full.
  [[nodiscard]] bool push_one(const void* message) noexcept {
    const std::uint32_t write = next();
    if (room(write) == 0 && look_for_room(write) == 0) return false;
    element_.template copy_one<Machine>(slot(write), message);
    publish(write + 1);
    return true;
  }

  /// Appends as many of `wanted` messages as there is room for.
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
    // relaxed: only a producer writes this word, and this is the only one.
    return indexes_->written.load(std::memory_order_relaxed);
  }
  /// Messages that share a line with others have the next index kept here, as the published one has gone to the consumer, and would
  /// have to come back. Longer ones do not: processors join stores only until one to another line comes between, and each further
  /// line that is stored to lets fewer messages wait at a time for theirs.
  [[nodiscard]] bool keeps_index() const noexcept { return element_.bytes() < cache_line; }
  [[nodiscard]] std::uint32_t next() const noexcept { return keeps_index() ? write_ : written(); }

  /// How many messages can be written from `write` on, by the last look at the consumer's index; none where a peer has put it
  /// elsewhere.
  [[nodiscard]] std::uint32_t room(std::uint32_t write) const noexcept {
    const std::uint32_t free = limit_ - write;
    return keeps_index() || free <= capacity_ ? free : 0;
  }
  [[nodiscard]] std::uint32_t look_for_room(std::uint32_t write) noexcept {
    // acquire: pairs with the consumer's release of `released`. Its copies out of the slots happen before
    // ours into them.
    const std::uint32_t released = indexes_->released.load(std::memory_order_acquire);
    if (write - released <= capacity_) {
      limit_ = released + capacity_;
      return limit_ - write;
    }
    // A peer has written into one of the indexes. It would be so for ever, for whoever takes over, too: the next message goes where
    // the consumer stands, and what lay between is lost. After another look: a consumer that sees this index says where it really
    // is.
    limit_ = released;
    publish(released);
    return 0;
  }
  [[nodiscard]] std::byte* slot(std::uint32_t index) const noexcept {
    return slots_ + static_cast<std::size_t>(index & (capacity_ - 1)) * element_.bytes();
  }
  void publish(std::uint32_t end) noexcept {
    if (keeps_index()) write_ = end;
    // release: whoever sees the new index sees the messages below it.
    indexes_->written.store(end, std::memory_order_release);
  }

  BasicRingIndexes<Machine>* indexes_;
  std::byte* slots_;
  std::uint32_t capacity_;
  std::uint32_t write_;  // the next index to write, where it is kept
  std::uint32_t limit_;  // writing may go up to here, by the last look at the consumer's index
  [[no_unique_address]] Element element_;
};

/// The reading end of a ring, whatever it holds.
template <class Element, class Machine>
class RingReadEnd {
 public:
  RingReadEnd(BasicRingIndexes<Machine>& indexes, const std::byte* slots, std::uint32_t capacity,
              Element element = {}) noexcept
      : indexes_(&indexes),
        slots_(slots),
        capacity_(capacity),
        batch_mask_(std::max<std::uint32_t>(capacity / 16, 1) - 1),
        // relaxed: only a consumer writes this word, and this is the only one.
        read_(indexes.released.load(std::memory_order_relaxed)),
        limit_(read_),
        released_(read_),
        element_(element) {}

  /// How many messages can be popped now without fail. The producer can only make it more.
  [[nodiscard]] std::size_t size() noexcept {
    // acquire: pairs with the producer's release of `written`. The messages below the index are seen whole.
    const std::uint32_t written = indexes_->written.load(std::memory_order_acquire);
    if (written - read_ > capacity_) {
      release();  // a peer has written into one of the indexes: the producer goes on from here as soon as it sees that
    } else {
      limit_ = written;
    }
    return limit_ - read_;
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 protected:
  /// Takes the oldest message; false, and `message` untouched, when the ring is empty.
  [[nodiscard]] bool pop_one(void* message) noexcept {
    // Read once: for all that the compiler knows, the copy may change the member.
    const std::uint32_t read = read_;
    // Not fetching the message meanwhile: that would save a look at an empty ring a third of its time, but takes the line from a
    // producer that is filling it, and a stream as much of its speed.
    if (read == limit_ && size() == 0) {
      if (released_ != read) release();
      return false;
    }
    element_.template copy_one<Machine>(message, slot(read));
    read_ = read + 1;
    if ((read_ & batch_mask_) == 0) release();
    return true;
  }

  /// Takes up to `wanted` of the oldest messages and gives their space back at once.
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
    // release: our copies out of the slots are finished before the producer may write there again.
    indexes_->released.store(read_, std::memory_order_release);
  }

  BasicRingIndexes<Machine>* indexes_;
  const std::byte* slots_;
  std::uint32_t capacity_;
  std::uint32_t batch_mask_;  // space goes back where none of these bits is set in the index
  std::uint32_t read_;        // the next index to read
  std::uint32_t limit_;       // reading may go up to here, by the last look at the producer's index
  std::uint32_t released_;    // what the producer knows of read_
  [[no_unique_address]] Element element_;
};

}  // namespace detail

/// The writing end. One thread at a time. A peer that writes nonsense into the indexes can make it refuse messages or write over
/// some, never leave the slots; once it has stopped, the ring works again. Lost are then what lay in the ring, and up to `capacity`
/// of the messages pushed afterwards: none of those after a refusal and another look by the consumer.
template <class T, class Machine = Processor>
class RingProducer : private detail::RingWriteEnd<detail::TypedElement<T>, Machine> {
  using End = detail::RingWriteEnd<detail::TypedElement<T>, Machine>;

 public:
  /// `slots` holds `capacity` messages, aligned as T is; `capacity` is a power of two, 2 to 2^31 (see ring_capacity()).
  /// Continues where the published index stands, so a producer that was restarted can take over.
  RingProducer(BasicRingIndexes<Machine>& indexes, std::byte* slots, std::uint32_t capacity) noexcept
      : End(indexes, slots, capacity) {
    assert(detail::is_aligned<T>(slots));
  }

  /// Appends a message; false, and no effect, when the ring is full.
  [[nodiscard]] bool try_push(const T& message) noexcept { return End::push_one(&message); }

  /// Appends as many of `messages`, from the first, as there is room for, and publishes them at once. Returns
  /// how many.
  [[nodiscard]] std::size_t push(std::span<const T> messages) noexcept {
    return End::push_many(std::as_bytes(messages).data(), messages.size());
  }

  using End::free_slots;
  [[nodiscard]] std::size_t capacity() const noexcept { return End::capacity(); }
};

/// The reading end. One thread at a time. A peer that writes nonsense into the indexes can make it read old
/// messages or none, never leave the slots.
template <class T, class Machine = Processor>
class RingConsumer : private detail::RingReadEnd<detail::TypedElement<T>, Machine> {
  using End = detail::RingReadEnd<detail::TypedElement<T>, Machine>;

 public:
  /// As RingProducer's. A consumer that takes over sees again what its predecessor had read but not given
  /// back.
  RingConsumer(BasicRingIndexes<Machine>& indexes, const std::byte* slots, std::uint32_t capacity) noexcept
      : End(indexes, slots, capacity) {
    assert(detail::is_aligned<T>(slots));
  }

  /// Takes the oldest message; false, and `message` untouched, when the ring is empty.
  [[nodiscard]] bool try_pop(T& message) noexcept { return End::pop_one(&message); }

  /// Takes up to messages.size() of the oldest messages and gives their space back at once. Returns how many.
  [[nodiscard]] std::size_t pop(std::span<T> messages) noexcept {
    return End::pop_many(std::as_writable_bytes(messages).data(), messages.size());
  }

  using End::size;
  [[nodiscard]] std::size_t capacity() const noexcept { return End::capacity(); }
};

/// A ring with both ends and its own memory, for two threads of one process. The functions of one end may be
/// called by one thread at a time.
template <class T>
class SpscRing {
  static_assert(alignof(T) <= alignof(Line), "slots begin at a cache line");

 public:
  /// Room for `capacity` messages, rounded up by ring_capacity(). Allocates: the only function here that is
  /// not real-time safe.
  explicit SpscRing(std::size_t capacity)
      : slots_(std::make_unique<Line[]>(lines_for(ring_capacity(capacity) * sizeof(T)))),
        producer_{{indexes_, slots_[0].bytes, ring_capacity(capacity)}},
        consumer_{{indexes_, slots_[0].bytes, ring_capacity(capacity)}} {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  [[nodiscard]] bool try_push(const T& message) noexcept { return producer_.end.try_push(message); }
  [[nodiscard]] std::size_t push(std::span<const T> messages) noexcept {
    return producer_.end.push(messages);
  }
  [[nodiscard]] std::size_t free_slots() noexcept { return producer_.end.free_slots(); }

  [[nodiscard]] bool try_pop(T& message) noexcept { return consumer_.end.try_pop(message); }
  [[nodiscard]] std::size_t pop(std::span<T> messages) noexcept { return consumer_.end.pop(messages); }

  /// Messages in the ring, counting those read but not yet given back. For any thread; out of date when it
  /// returns.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    // relaxed: a number for people; nothing is read on the strength of it. The consumer's index first, so
    // that the difference is not negative: the producer's only grows.
    const std::uint32_t released = indexes_.released.load(std::memory_order_acquire);
    const std::uint32_t written = indexes_.written.load(std::memory_order_relaxed);
    return std::min<std::size_t>(written - released, capacity());
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return producer_.end.capacity(); }

 private:
  RingIndexes indexes_;
  std::unique_ptr<Line[]> slots_;
  OwnLine<RingProducer<T>> producer_;
  OwnLine<RingConsumer<T>> consumer_;
};

}  // namespace takt::shm
