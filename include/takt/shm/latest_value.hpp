// The newest value, from one writer to one reader. Neither side waits, and the reader never sees a value that
// mixes old and new data. Of three slots the writer fills one, the reader holds one, and one is exchanged
// through a single atomic word. That word contains the whole state. So either end can die at any instruction,
// and another can continue. Wait-free on both sides; real-time safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// The result of reading a latest value.
enum class Freshness : std::uint8_t {
  none,      ///< no value was ever written
  old_data,  ///< the value that the previous read returned
  new_data,  ///< a value that was not read before
};

/// The memory that both sides share: four cache lines for values of up to 64 bytes. Zeroed memory is a value
/// that was never written.
template <class T, class Machine = Processor>
struct LatestMemory {
  static_assert(std::is_trivially_copyable_v<T>, "values are copied as bytes");

  struct alignas(cache_line) Slot {
    T value{};
  };

  /// Which side holds which slot: a detail::LatestState.
  alignas(cache_line) typename Machine::template Atomic<std::uint32_t> state{0};
  Slot slots[3];
};
static_assert(sizeof(LatestMemory<std::uint64_t>) == 4 * cache_line);
static_assert(sizeof(LatestMemory<std::uint64_t[8]>) == 4 * cache_line);

namespace detail {

/// Which side holds which slot. At first the middle slot is 0, the reader's slot is 1 and the writer's slot
/// is 2.
///
/// The word changes in two operations:
///
/// - The reader adds `taken`. It then holds the middle slot, and its old slot becomes the middle one.
/// - The writer puts its slot in the middle and takes the slot that was there.
///
/// The reader takes only a value that is written and not yet taken, so it changes the word at most once per
/// value. The writer's slot follows from the other two at any time. So a process that loads the word can
/// continue either end.
struct LatestState {
  // `taken` is the highest bit in use: adding it to any word, even an invalid one, changes no other field.
  static constexpr std::uint32_t written = 1u << 4;  ///< a value exists
  static constexpr std::uint32_t taken = 1u << 5;    ///< the reader has taken it

  std::uint32_t between;  // the slot with the latest value
  std::uint32_t reader;   // the reader's slot until it takes the middle one
  std::uint32_t writer;

  [[nodiscard]] constexpr std::uint32_t word() const noexcept {
    return between | (reader ^ 1) << 2 | written;
  }

  /// Decodes a word, which a peer may have damaged. The result always has three different slots.
  [[nodiscard]] static constexpr LatestState of(std::uint32_t word) noexcept {
    const std::uint32_t between = slot_in_between(word);
    const std::uint32_t reader = (word >> 2 & 3) ^ 1;
    if (reader > 2 || reader == between) return {between, (between + 1) % 3, (between + 2) % 3};
    return {between, reader, 3 - between - reader};
  }
  [[nodiscard]] static constexpr std::uint32_t slot_in_between(std::uint32_t word) noexcept {
    const std::uint32_t slot = word & 3;
    return slot < 3 ? slot : 0;
  }
  [[nodiscard]] static constexpr bool is_new(std::uint32_t word) noexcept {
    return (word & (written | taken)) == written;
  }
};

/// The writing end for any value type. `memory->state` is the word, `memory->slots[i]` a slot.
template <class Memory, class Machine>
class LatestWriteEnd {
 public:
  explicit LatestWriteEnd(Memory memory) noexcept
      : memory_(memory),
        // relaxed: the takeover itself orders the last writer's stores before this load. The reader's changes
        // matter only in publish(), which loads the word with acquire.
        published_(memory->state.load(std::memory_order_relaxed) & ~LatestState::taken),
        slots_(LatestState::of(published_)) {}

  /// Makes the filled slot the latest value.
  void publish() noexcept {
    // Which slot comes back depends on whether the reader has taken the last value. The first try assumes the
    // same as last time; if that is right, the word's cache line moves to this core only once.
    if (!publish_if(was_taken_) && !publish_if(!was_taken_)) {
      // The reader took the value between the two tries. It now leaves the word alone until it sees the next
      // value.
      slots_ = {slots_.writer, slots_.between, slots_.reader};
      was_taken_ = true;
      // release: a reader that takes the value sees it whole.
      memory_->state.store(slots_.word(), std::memory_order_release);
    }
    published_ = slots_.word();
    // The reader may have used this slot last, so request its lines now.
    prefetch_to_write<Machine>(slot());
  }

 protected:
  /// The slot to fill.
  [[nodiscard]] decltype(auto) slot() noexcept { return memory_->slots[slots_.writer]; }

 private:
  /// Publishes if `taken` says correctly whether the reader has taken the last value.
  [[nodiscard]] bool publish_if(bool taken) noexcept {
    const LatestState next = taken ? LatestState{slots_.writer, slots_.between, slots_.reader}
                                   : LatestState{slots_.writer, slots_.reader, slots_.between};
    std::uint32_t expected = taken ? published_ | LatestState::taken : published_;
    // release: a reader that takes the value sees it whole. Acquire, also on failure: the returned slot may
    // have been the reader's, so its last reads must end before we write there.
    if (!memory_->state.compare_exchange_strong(expected, next.word(), std::memory_order_acq_rel,
                                                std::memory_order_acquire)) {
      return false;
    }
    slots_ = next;
    was_taken_ = taken;
    return true;
  }

  Memory memory_;
  std::uint32_t published_;  // the word, without `taken`
  LatestState slots_;
  bool was_taken_ = false;  // whether the reader had taken the last value at the last publish
};

/// The reading end for any value type.
template <class Memory, class Machine>
class LatestReadEnd {
 public:
  explicit LatestReadEnd(Memory memory) noexcept : memory_(memory) {
    // relaxed: the takeover itself orders the last reader's loads before this load. The writer does not
    // change which slot the reader holds.
    const std::uint32_t state = memory_->state.load(std::memory_order_relaxed);
    const auto slots = LatestState::of(state);
    slot_ = (state & LatestState::taken) != 0 ? slots.between : slots.reader;
  }

  /// Takes the latest value in place, without a copy.
  Freshness update() noexcept {
    // relaxed: a hint whether to run the addition below, which orders everything.
    const std::uint32_t hint = memory_->state.load(std::memory_order_relaxed);
    if (!LatestState::is_new(hint)) return unchanged(hint);
    // The line arrives while the addition runs.
    prefetch_to_read<Machine>(memory_->slots[LatestState::slot_in_between(hint)]);
    // acquire: pairs with the writer's release, so the value is seen whole. Release: our reads of the slot
    // that we give back end before the writer overwrites it.
    slot_ =
        LatestState::slot_in_between(memory_->state.fetch_add(LatestState::taken, std::memory_order_acq_rel));
    any_ = true;
    return Freshness::new_data;
  }

 protected:
  /// The slot that the last update() took.
  [[nodiscard]] decltype(auto) slot() const noexcept { return memory_->slots[slot_]; }

 private:
  [[nodiscard]] Freshness unchanged(std::uint32_t state) noexcept {
    if (any_) return Freshness::old_data;
    if ((state & LatestState::written) == 0) return Freshness::none;
    any_ = true;  // a previous reader took it
    return Freshness::new_data;
  }

  Memory memory_;
  std::uint32_t slot_ = 0;
  bool any_ = false;
};

}  // namespace detail

/// The writing end. One thread at a time may use it. Over memory in use it continues after a writer that
/// stopped at any instruction.
template <class T, class Machine = Processor>
class LatestWriter : private detail::LatestWriteEnd<LatestMemory<T, Machine>*, Machine> {
  using End = detail::LatestWriteEnd<LatestMemory<T, Machine>*, Machine>;

 public:
  explicit LatestWriter(LatestMemory<T, Machine>& memory) noexcept : End(&memory) {}

  /// Publishes a copy of `value`.
  void write(const T& value) noexcept {
    Machine::copy_value(begin_write(), value);
    publish();
  }

  /// The slot to fill in place, valid until publish(). It holds an older value, so fill all of it.
  [[nodiscard]] T& begin_write() noexcept { return End::slot().value; }

  /// Makes the filled slot the latest value.
  using End::publish;
};

/// The reading end. One thread at a time may use it. Over memory in use it continues after a reader that
/// stopped at any instruction. It reports the value that the previous reader took last as new.
template <class T, class Machine = Processor>
class LatestReader : private detail::LatestReadEnd<LatestMemory<T, Machine>*, Machine> {
  using End = detail::LatestReadEnd<LatestMemory<T, Machine>*, Machine>;

 public:
  explicit LatestReader(LatestMemory<T, Machine>& memory) noexcept : End(&memory) {}

  /// Takes the latest value in place, without a copy. Returns whether there is a value and whether it is new.
  using End::update;

  /// The value that the last update() took, valid until the next update(). Before the first update() it is
  /// the previous reader's last value, or the initial contents of the memory.
  [[nodiscard]] const T& value() const noexcept { return End::slot().value; }

  /// Calls update() and copies the latest value, new or old, to `value`. Leaves `value` unchanged if there is
  /// none.
  [[nodiscard]] Freshness read(T& value) noexcept {
    const Freshness freshness = update();
    if (freshness != Freshness::none) Machine::copy_value(value, this->value());
    return freshness;
  }
};

/// Both ends and the memory, for two threads of one process.
template <class T>
class LatestValue {
 public:
  LatestValue() = default;
  LatestValue(const LatestValue&) = delete;
  LatestValue& operator=(const LatestValue&) = delete;

  // For the writing thread; as in LatestWriter.
  void write(const T& value) noexcept { writer_.end.write(value); }
  [[nodiscard]] T& begin_write() noexcept { return writer_.end.begin_write(); }
  void publish() noexcept { writer_.end.publish(); }

  // For the reading thread; as in LatestReader.
  Freshness update() noexcept { return reader_.end.update(); }
  [[nodiscard]] const T& value() const noexcept { return reader_.end.value(); }
  [[nodiscard]] Freshness read(T& value) noexcept { return reader_.end.read(value); }

 private:
  LatestMemory<T> memory_;
  OwnLine<LatestWriter<T>> writer_{LatestWriter<T>(memory_)};
  OwnLine<LatestReader<T>> reader_{LatestReader<T>(memory_)};
};
static_assert(sizeof(LatestValue<std::uint64_t>) == 4 * cache_line + 2 * interference_size,
              "four lines of memory and a pair for each end");

}  // namespace takt::shm
