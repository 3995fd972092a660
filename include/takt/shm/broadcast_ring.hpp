// A stream of messages from one writer to any number of readers: the writer never waits for anybody, the readers only read (they
// can sit on a read-only mapping), each at its own pace. A reader that is too slow is lapped: it is told how many messages it
// missed, and goes on. No message is ever half old and half new. Everything but construction is real-time safe.
//
// Messages are numbered from 0, and message n stands in slot n modulo the capacity, with its number beside it, so that it
// crosses to a reader in a single line. How many messages there are stands apart: only readers that come late or were lapped look
// at it, and a writer that goes on where another died.
//
// Numbers have 32 bits and run over. What this means: missed() is right as long as a reader looks at least once in 2^32 messages
// less two capacities (71 minutes at a million a second). One that looks later goes on with the newest all the same, after two
// capacities more at worst, but misses 2^32 messages, or a multiple, without being told. And a torn message would be taken for a
// whole one by a reader that stops in the middle of copying it for exactly 2^32 messages, or a multiple.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "takt/shm/atomic_words.hpp"
#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// One message and its number. Memory of zeros is a slot that was never written.
template <class T, class Machine = Processor>
struct alignas(cache_line) BroadcastSlot {
  typename Machine::template Atomic<std::uint32_t> state{0};  ///< a detail::BroadcastState
  detail::AtomicWords<T, Machine> words;
};
static_assert(sizeof(BroadcastSlot<std::uint64_t[7]>) == cache_line, "56 bytes fit beside the number");

/// What stands apart from the slots. Memory of zeros is an empty ring.
template <class Machine>
struct BasicBroadcastCount {
  alignas(apart) typename Machine::template Atomic<std::uint32_t> written{0};  ///< messages so far
};
using BroadcastCount = BasicBroadcastCount<Processor>;
static_assert(sizeof(BroadcastCount) == apart);

namespace detail {

/// The messages of a ring with `capacity` slots: where each stands and what is written beside it. The low bits of a number follow
/// from its slot; in their place stands whether the message is complete. So 0 is no message's.
struct BroadcastState {
  static constexpr std::uint32_t complete = 1;
  std::uint32_t capacity;

  [[nodiscard]] constexpr std::uint32_t slot_of(std::uint32_t number) const noexcept {
    return number & (capacity - 1);
  }
  [[nodiscard]] constexpr std::uint32_t writing(std::uint32_t number) const noexcept {
    return number - slot_of(number);
  }
  [[nodiscard]] constexpr std::uint32_t written(std::uint32_t number) const noexcept {
    return writing(number) | complete;
  }
  /// Whether message `number` is still to come into its slot, which is in `state`: of the lap before, or being written. A reader
  /// is never further ahead, so whatever else stands there is later, however long ago the reader last looked.
  [[nodiscard]] constexpr bool is_coming(std::uint32_t number, std::uint32_t state) const noexcept {
    const std::uint32_t behind = writing(number) - (state & ~complete);
    return behind == 0 || behind == capacity;
  }
};

/// The writing end, whatever a message is. `slots[i]` is a slot, with its state and its words.
template <class Slots, class Machine>
class BroadcastWriteEnd {
 public:
  BroadcastWriteEnd(BasicBroadcastCount<Machine>& count, Slots slots, std::uint32_t capacity) noexcept
      : count_(&count),
        slots_(std::move(slots)),
        layout_{capacity},
        // relaxed: only a writer writes the count and the states, and this is the only one.
        number_(count.written.load(std::memory_order_relaxed)) {
    // The last writer may have died after its message was complete and before it was counted: readers may have it. It is counted
    // first of all, as the next death may come as soon.
    if (slot().state.load(std::memory_order_relaxed) == layout_.written(number_)) count_one();
  }

  /// Appends a copy of `message`, in place of the oldest one. Never waits.
  template <class Message>
  void write(const Message& message) noexcept {
    // relaxed: ordered before the words, as each of them is a release store that comes after it.
    slot().state.store(layout_.writing(number_), std::memory_order_relaxed);
    slot().words.store(message);
    // release: a reader that sees the number sees all of the words.
    slot().state.store(layout_.written(number_), std::memory_order_release);
    count_one();
  }

 private:
  void count_one() noexcept {
    ++number_;
    // relaxed: a reader that sees the count first finds that the message has not come yet.
    count_->written.store(number_, std::memory_order_relaxed);
  }
  [[nodiscard]] decltype(auto) slot() const noexcept { return slots_[layout_.slot_of(number_)]; }

  BasicBroadcastCount<Machine>* count_;
  Slots slots_;
  BroadcastState layout_;
  std::uint32_t number_;  // of the next message
};

}  // namespace detail

/// The writing end. One thread at a time; over memory in use it goes on where another left off, at whatever instruction.
template <class T, class Machine = Processor>
class BroadcastWriter : private detail::BroadcastWriteEnd<BroadcastSlot<T, Machine>*, Machine> {
  using End = detail::BroadcastWriteEnd<BroadcastSlot<T, Machine>*, Machine>;

 public:
  using Count = BasicBroadcastCount<Machine>;
  using Slot = BroadcastSlot<T, Machine>;

  /// There are `capacity` slots: a power of two, 2 to 2^30 (see broadcast_capacity()).
  BroadcastWriter(Count& count, Slot* slots, std::uint32_t capacity) noexcept : End(count, slots, capacity) {}

  /// Appends a copy of `message`, in place of the oldest one. Never waits.
  void write(const T& message) noexcept { End::write(message); }
};

/// Where a reader begins, and where it goes on after it was lapped.
enum class BroadcastStart : std::uint8_t {
  oldest,  ///< at the oldest message that will stay for a while: the writer keeps a quarter of the ring to itself
  newest,  ///< at the newest message
};

namespace detail {

/// The reading end, whatever a message is.
template <class Slots, class Machine>
class BroadcastReadEnd {
 public:
  /// How often a read tries when the writer is about to lap it.
  static constexpr int attempts = 4;

  BroadcastReadEnd(const BasicBroadcastCount<Machine>& count, Slots slots, std::uint32_t capacity,
                   BroadcastStart start) noexcept
      : count_(&count),
        slots_(std::move(slots)),
        layout_{capacity},
        distance_(start == BroadcastStart::newest ? 1 : capacity - std::max<std::uint32_t>(capacity / 4, 1)) {
    // acquire: if all slots have been written, the count below says so too.
    const bool full = (slots_[capacity - 1].state.load(std::memory_order_acquire) & layout_.complete) != 0;
    // relaxed: what a message is, its slot says.
    const std::uint32_t written = count.written.load(std::memory_order_relaxed);
    next_ = written - (full ? distance_ : std::min(distance_, written));
  }

  /// Takes the next message. False, and `message` untouched, when there is none, or when the writer was faster at every attempt.
  template <class Message>
  [[nodiscard]] bool try_read(Message&& message) noexcept {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      auto&& slot = slots_[layout_.slot_of(next_)];
      // acquire: pairs with the writer's last release; the words of the message are there.
      const std::uint32_t state = slot.state.load(std::memory_order_acquire);
      if (state == layout_.written(next_)) {
        const auto copy = slot.words.load();
        // relaxed: ordered after the words by their acquires.
        if (slot.state.load(std::memory_order_relaxed) == state) {
          copy.to(message);
          ++next_;
          return true;
        }
      } else if (layout_.is_coming(next_, state)) {
        return false;
      }
      skip();
    }
    return false;
  }

  /// How many messages were overwritten before this reader came to them, in all.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  /// The next message is overwritten: goes on at one that is not.
  void skip() noexcept {
    // relaxed: what a message is, its slot says.
    const std::uint32_t target = count_->written.load(std::memory_order_relaxed) - distance_;
    // The count is still on its way here: all but one of the messages before the next one have been counted.
    if (next_ - target <= layout_.capacity) return;
    missed_ += target - next_;
    next_ = target;
  }

  const BasicBroadcastCount<Machine>* count_;
  Slots slots_;
  BroadcastState layout_;
  std::uint32_t distance_;  // how far behind the count a reader begins
  std::uint32_t next_;      // the number of the message to read
  std::uint64_t missed_ = 0;
};

}  // namespace detail

/// A reading end; each thread has its own. Whatever a peer writes into the memory, a read takes bounded time and stays within it.
template <class T, class Machine = Processor>
class BroadcastReader : private detail::BroadcastReadEnd<const BroadcastSlot<T, Machine>*, Machine> {
  using End = detail::BroadcastReadEnd<const BroadcastSlot<T, Machine>*, Machine>;

 public:
  using Count = BasicBroadcastCount<Machine>;
  using Slot = BroadcastSlot<T, Machine>;

  /// As BroadcastWriter's. What was written before the reader came does not count as missed.
  BroadcastReader(const Count& count, const Slot* slots, std::uint32_t capacity,
                  BroadcastStart start) noexcept
      : End(count, slots, capacity, start) {}

  /// Takes the next message. False, and `message` untouched, when there is none, or when the writer was faster at every attempt.
  [[nodiscard]] bool try_read(T& message) noexcept { return End::try_read(message); }

  using End::attempts;
  using End::missed;
};

/// The capacity that a broadcast ring really has when `wanted` is asked for: as ring_capacity(), but at most 2^30, so that a slot
/// tells messages to come from messages missed.
[[nodiscard]] constexpr std::uint32_t broadcast_capacity(std::size_t wanted) noexcept {
  return std::min<std::uint32_t>(ring_capacity(wanted), 1u << 30);
}

/// The writing end and the memory, for threads of one process; each reader makes its own end by reader().
template <class T>
class BroadcastRing {
 public:
  using Reader = BroadcastReader<T>;

  /// Room for `capacity` messages, rounded up by broadcast_capacity(). Allocates: not real-time safe.
  explicit BroadcastRing(std::size_t capacity)
      : capacity_(broadcast_capacity(capacity)),
        slots_(std::make_unique<BroadcastSlot<T>[]>(capacity_)),
        writer_{BroadcastWriter<T>(count_, slots_.get(), capacity_)} {}
  BroadcastRing(const BroadcastRing&) = delete;
  BroadcastRing& operator=(const BroadcastRing&) = delete;

  void write(const T& message) noexcept { writer_.end.write(message); }
  /// The ring must outlive it.
  [[nodiscard]] Reader reader(BroadcastStart start) const noexcept {
    return Reader(count_, slots_.get(), capacity_, start);
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::uint32_t capacity_;
  std::unique_ptr<BroadcastSlot<T>[]> slots_;
  BroadcastCount count_;
  OwnLine<BroadcastWriter<T>> writer_;
};

}  // namespace takt::shm
