// A stream of messages from one writer to any number of readers. The writer never waits. Readers only read,
// so they can use a read-only mapping, and each reads at its own pace. If the writer laps a slow reader, the
// reader counts the missed messages and goes on. No message mixes old and new data. Everything except
// construction is real-time safe.
//
// Messages are numbered from 0. Message n lies in slot n modulo the capacity, with its number beside it, so
// one cache line carries both to a reader. The count of messages lies on a line of its own. Only three
// parties read it: a new reader, a reader that was lapped, and a writer that takes over from a dead one.
//
// Numbers have 32 bits and wrap. This has two consequences:
//
// - missed() is exact if a reader reads at least once in 2^32 messages minus two capacities (71 minutes at
//   1e6 messages/s). After a longer pause, the reader resumes at the newest messages after at most two more
//   capacities. It then misses 2^32 messages, or a multiple, without counting them.
// - A reader accepts a torn message if it pauses in the middle of the copy for exactly 2^32 messages or a
//   multiple.
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

/// One message and its number. Zeroed memory is a slot that was never written.
template <class T, class Machine = Processor>
struct alignas(cache_line) BroadcastSlot {
  typename Machine::template Atomic<std::uint32_t> state{0};  ///< a detail::BroadcastState
  detail::AtomicWords<T, Machine> words;
};
static_assert(sizeof(BroadcastSlot<std::uint64_t[7]>) == cache_line, "56 bytes fit beside the number");

/// The message count, kept away from the slots. Zeroed memory is an empty ring.
template <class Machine>
struct BasicBroadcastCount {
  alignas(interference_size)
      typename Machine::template Atomic<std::uint32_t> written{0};  ///< messages so far
};
using BroadcastCount = BasicBroadcastCount<Processor>;
static_assert(sizeof(BroadcastCount) == interference_size);

namespace detail {

/// Maps message numbers to slots and states in a ring of `capacity` slots. The low bits of a number follow
/// from its slot, so the state uses bit 0 to say whether the message is complete. A complete message
/// therefore never has state 0.
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
  /// Whether message `number` has not been completed yet in its slot, which has state `state`. The slot then
  /// holds the message of the lap before, or the message is being written. A reader is never further ahead,
  /// so any other state means a later message.
  [[nodiscard]] constexpr bool is_coming(std::uint32_t number, std::uint32_t state) const noexcept {
    const std::uint32_t behind = writing(number) - (state & ~complete);
    return behind == 0 || behind == capacity;
  }
};

/// The writing end for any message type. `slots[i]` is a slot with a state and words.
template <class Slots, class Machine>
class BroadcastWriteEnd {
 public:
  BroadcastWriteEnd(BasicBroadcastCount<Machine>& count, Slots slots, std::uint32_t capacity) noexcept
      : count_(&count),
        slots_(std::move(slots)),
        layout_{capacity},
        // relaxed: this thread is the only writer of the count and the states, so no other write can race.
        number_(count.written.load(std::memory_order_relaxed)) {
    // The last writer may have died after it completed a message and before it counted it. Readers may have
    // read that message. The constructor counts it first, because this writer can die at any time too.
    if (slot().state.load(std::memory_order_relaxed) == layout_.written(number_)) count_one();
  }

  /// Appends a copy of `message`, or of several parts one after the other, and overwrites the oldest one.
  /// Never waits.
  template <class... Parts>
  void write(const Parts&... parts) noexcept {
    // relaxed: each word below is a release store, which orders this store before it.
    slot().state.store(layout_.writing(number_), std::memory_order_relaxed);
    slot().words.store(parts...);
    // release: a reader that sees this state sees all words of the message.
    slot().state.store(layout_.written(number_), std::memory_order_release);
    count_one();
  }

 private:
  void count_one() noexcept {
    ++number_;
    // relaxed: no data depends on the count. A reader that sees the count early finds that the message has
    // not arrived yet.
    count_->written.store(number_, std::memory_order_relaxed);
  }
  [[nodiscard]] decltype(auto) slot() const noexcept { return slots_[layout_.slot_of(number_)]; }

  BasicBroadcastCount<Machine>* count_;
  Slots slots_;
  BroadcastState layout_;
  std::uint32_t number_;  // number of the next message
};

}  // namespace detail

/// The writing end. One thread at a time may use it. Over memory in use it continues after a writer that
/// stopped at any instruction. Real-time safe.
template <class T, class Machine = Processor>
class BroadcastWriter : private detail::BroadcastWriteEnd<BroadcastSlot<T, Machine>*, Machine> {
  using End = detail::BroadcastWriteEnd<BroadcastSlot<T, Machine>*, Machine>;

 public:
  using Count = BasicBroadcastCount<Machine>;
  using Slot = BroadcastSlot<T, Machine>;

  /// `slots` points to `capacity` slots. `capacity` is a power of two from 2 to 2^30 (see
  /// broadcast_capacity()).
  BroadcastWriter(Count& count, Slot* slots, std::uint32_t capacity) noexcept : End(count, slots, capacity) {}

  /// Appends a copy of `message` and overwrites the oldest one. Never waits.
  void write(const T& message) noexcept { End::write(message); }
  /// Appends a message that begins with `head`, a number of words, followed by `tail`.
  template <class Head, class Tail>
  void write_joined(const Head& head, const Tail& tail) noexcept {
    End::write(head, tail);
  }
};

/// Where a reader starts, and where it resumes after the writer has lapped it.
enum class BroadcastStart : std::uint8_t {
  /// The oldest message that stays readable for a while: a quarter of the ring is left to the writer.
  oldest,
  newest,  ///< The newest message.
};

namespace detail {

/// The reading end for any message type.
template <class Slots, class Machine>
class BroadcastReadEnd {
 public:
  /// Attempts of one read while the writer laps the reader.
  static constexpr int attempts = 4;

  BroadcastReadEnd(const BasicBroadcastCount<Machine>& count, Slots slots, std::uint32_t capacity,
                   BroadcastStart start) noexcept
      : count_(&count),
        slots_(std::move(slots)),
        layout_{capacity},
        distance_(start == BroadcastStart::newest ? 1 : capacity - std::max<std::uint32_t>(capacity / 4, 1)) {
    // acquire: if the last slot has been written, the count loaded below includes it.
    const bool full = (slots_[capacity - 1].state.load(std::memory_order_acquire) & layout_.complete) != 0;
    // relaxed: the state of the slot, not the count, proves that a message is complete.
    const std::uint32_t written = count.written.load(std::memory_order_relaxed);
    next_ = written - (full ? distance_ : std::min(distance_, written));
  }

  /// Takes the next message. Returns false and leaves `message` unchanged if there is none or the writer
  /// overtook every attempt.
  template <class Message>
  [[nodiscard]] bool try_read(Message&& message) noexcept {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      auto&& slot = slots_[layout_.slot_of(next_)];
      // acquire: pairs with the writer's last release, so the words of the message are visible.
      const std::uint32_t state = slot.state.load(std::memory_order_acquire);
      if (state == layout_.written(next_)) {
        const auto copy = slot.words.load();
        // relaxed: the acquire loads of the words order this load after them.
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

  /// How many messages, in total, the writer overwrote before this reader read them.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

  /// The number of the next message, with which another reader of the ring can go on.
  [[nodiscard]] std::uint32_t position() const noexcept { return next_; }
  /// Goes on at a number that another reader of the ring gave.
  void set_position(std::uint32_t number) noexcept { next_ = number; }

 private:
  /// The writer has overwritten the next message. Resumes at one that is still there.
  void skip() noexcept {
    // relaxed: the state of the slot, not the count, proves that a message is complete.
    const std::uint32_t target = count_->written.load(std::memory_order_relaxed) - distance_;
    // The new count is not visible yet. At least all but one of the messages before the next one are counted.
    if (next_ - target <= layout_.capacity) return;
    missed_ += target - next_;
    next_ = target;
  }

  const BasicBroadcastCount<Machine>* count_;
  Slots slots_;
  BroadcastState layout_;
  std::uint32_t distance_;  // messages between the count and the start of a reader
  std::uint32_t next_;      // number of the message to read
  std::uint64_t missed_ = 0;
};

}  // namespace detail

/// A reading end. Each thread has its own. Real-time safe. A read takes bounded time and stays inside the
/// memory, whatever a peer writes there.
template <class T, class Machine = Processor>
class BroadcastReader : private detail::BroadcastReadEnd<const BroadcastSlot<T, Machine>*, Machine> {
  using End = detail::BroadcastReadEnd<const BroadcastSlot<T, Machine>*, Machine>;

 public:
  using Count = BasicBroadcastCount<Machine>;
  using Slot = BroadcastSlot<T, Machine>;

  /// `slots` and `capacity`: as for BroadcastWriter. Messages written before `start` do not count as missed.
  BroadcastReader(const Count& count, const Slot* slots, std::uint32_t capacity,
                  BroadcastStart start) noexcept
      : End(count, slots, capacity, start) {}

  /// Takes the next message. Returns false and leaves `message` unchanged if there is none or the writer
  /// overtook every attempt.
  [[nodiscard]] bool try_read(T& message) noexcept { return End::try_read(message); }

  using End::attempts;
  using End::missed;
  using End::position;
  using End::set_position;
};

/// The capacity of a broadcast ring for at least `wanted` messages: ring_capacity(), limited to 2^30. The
/// limit lets the state of a slot distinguish future messages from missed ones.
[[nodiscard]] constexpr std::uint32_t broadcast_capacity(std::size_t wanted) noexcept {
  return std::min<std::uint32_t>(ring_capacity(wanted), 1u << 30);
}

/// The writing end and the memory, for threads of one process. Each reader creates its own end with reader().
template <class T>
class BroadcastRing {
 public:
  using Reader = BroadcastReader<T>;

  /// Allocates room for `capacity` messages, rounded up by broadcast_capacity(). Not real-time safe.
  explicit BroadcastRing(std::size_t capacity)
      : capacity_(broadcast_capacity(capacity)),
        slots_(std::make_unique<BroadcastSlot<T>[]>(capacity_)),
        writer_{BroadcastWriter<T>(count_, slots_.get(), capacity_)} {}
  BroadcastRing(const BroadcastRing&) = delete;
  BroadcastRing& operator=(const BroadcastRing&) = delete;

  /// As BroadcastWriter::write(). One thread at a time.
  void write(const T& message) noexcept { writer_.end.write(message); }
  /// Creates a reading end. The ring must outlive it.
  [[nodiscard]] Reader reader(BroadcastStart start) const noexcept {
    return Reader(count_, slots_.get(), capacity_, start);
  }
  /// Slots of the ring.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::uint32_t capacity_;
  std::unique_ptr<BroadcastSlot<T>[]> slots_;
  BroadcastCount count_;
  OwnLine<BroadcastWriter<T>> writer_;
};

}  // namespace takt::shm
