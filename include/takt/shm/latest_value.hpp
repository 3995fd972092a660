// The newest value of something, from one writer to one reader: the writer never waits, the reader never
// waits and never sees a value that is half old and half new. Three slots: the writer fills one, the reader
// holds one, and the third changes hands through a single atomic word. All that there is to know is in that
// word, so that either end can die at any instruction and be continued by another. Wait-free on both sides;
// real-time safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// What a read of a latest value found.
enum class Freshness : std::uint8_t {
  none,      ///< nothing was ever written
  old_data,  ///< the value that the last read gave as well
  new_data,  ///< a value not read before
};

/// The memory that both sides see: four lines for values of up to 64 bytes. Memory of zeros is a value that was never written.
template <class T, class Machine = Processor>
struct LatestMemory {
  static_assert(std::is_trivially_copyable_v<T>, "values are copied as bytes");

  struct alignas(cache_line) Slot {
    T value{};
  };

  /// Who has which slot, in one word: a detail::LatestState.
  alignas(cache_line) typename Machine::template Atomic<std::uint32_t> state{0};
  Slot slots[3];
};
static_assert(sizeof(LatestMemory<std::uint64_t>) == 4 * cache_line);
static_assert(sizeof(LatestMemory<std::uint64_t[8]>) == 4 * cache_line);

namespace detail {

/// Who has which slot. At first the slot in between is 0, the reader's 1 and the writer's 2.
///
/// The word changes in two ways. The reader adds `taken`: from then on the slot in between is its own, and the one that it had
/// is in between. The writer puts its slot in between, and keeps the one that was there. The reader takes only what is written
/// and not taken, so it changes the word at most once for each value; and the writer's slot follows from the other two, whatever
/// the reader does. So either end can be continued by whoever reads the word.
struct LatestState {
  // `taken` is the highest bit in use: adding it to any word, even one that is nonsense, changes no other part.
  static constexpr std::uint32_t written = 1u << 4;  ///< there is a value
  static constexpr std::uint32_t taken = 1u << 5;    ///< the reader has it

  std::uint32_t between;  // the slot that holds the latest value
  std::uint32_t reader;   // the reader's slot, until it takes the one in between
  std::uint32_t writer;

  [[nodiscard]] constexpr std::uint32_t word() const noexcept {
    return between | (reader ^ 1) << 2 | written;
  }

  /// Of a word that anybody may have written: three different slots, always.
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

/// The writing end, whatever a value is. `memory->state` is the word, `memory->slots[i]` a slot.
template <class Memory, class Machine>
class LatestWriteEnd {
 public:
  explicit LatestWriteEnd(Memory memory) noexcept
      : memory_(memory),
        // relaxed: all that the last writer did came before the change of hands, and what the reader does is seen when it matters.
        published_(memory->state.load(std::memory_order_relaxed) & ~LatestState::taken),
        slots_(LatestState::of(published_)) {}

  /// Makes the filled slot the latest value.
  void publish() noexcept {
    // Whether the reader has taken what was published last decides which slot comes back. It mostly does as it did the time
    // before, and then the word crosses to this core only once.
    if (!publish_if(was_taken_) && !publish_if(!was_taken_)) {
      // Taken between the two: from now on the reader leaves the word alone until it sees the next value.
      slots_ = {slots_.writer, slots_.between, slots_.reader};
      was_taken_ = true;
      // release: the value is complete for a reader that takes it.
      memory_->state.store(slots_.word(), std::memory_order_release);
    }
    published_ = slots_.word();
    // The reader may have had it last: get it while there is time.
    prefetch_to_write<Machine>(slot());
  }

 protected:
  /// The slot to fill.
  [[nodiscard]] decltype(auto) slot() noexcept { return memory_->slots[slots_.writer]; }

 private:
  /// Publishes, provided that the reader has, or has not, taken what was published last.
  [[nodiscard]] bool publish_if(bool taken) noexcept {
    const LatestState next = taken ? LatestState{slots_.writer, slots_.between, slots_.reader}
                                   : LatestState{slots_.writer, slots_.reader, slots_.between};
    std::uint32_t expected = taken ? published_ | LatestState::taken : published_;
    // release: the value is complete for a reader that takes it. acquire, also where it fails: the slot that comes back may be one
    // that the reader had; its last reads are over before we write into it.
    if (!memory_->state.compare_exchange_strong(expected, next.word(), std::memory_order_acq_rel,
                                                std::memory_order_acquire)) {
      return false;
    }
    slots_ = next;
    was_taken_ = taken;
    return true;
  }

  Memory memory_;
  std::uint32_t published_;  // the word, unless the reader has taken the value
  LatestState slots_;
  bool was_taken_ = false;  // by the time that the next was published
};

/// The reading end, whatever a value is.
template <class Memory, class Machine>
class LatestReadEnd {
 public:
  explicit LatestReadEnd(Memory memory) noexcept : memory_(memory) {
    // relaxed: all that the last reader did came before the change of hands, and the writer does not change whose slot is whose.
    const std::uint32_t state = memory_->state.load(std::memory_order_relaxed);
    const auto slots = LatestState::of(state);
    slot_ = (state & LatestState::taken) != 0 ? slots.between : slots.reader;
  }

  /// Takes the latest value, in place, without copying it.
  Freshness update() noexcept {
    // relaxed: only a hint whether the addition is worth while; the addition itself orders everything.
    const std::uint32_t hint = memory_->state.load(std::memory_order_relaxed);
    if (!LatestState::is_new(hint)) return unchanged(hint);
    // Comes while the addition is under way.
    prefetch_to_read<Machine>(memory_->slots[LatestState::slot_in_between(hint)]);
    // acquire: pairs with the writer's release, the value is seen whole. release: our reads of the slot that we give back are over
    // before the writer writes into it.
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
    any_ = true;  // a reader before us took it
    return Freshness::new_data;
  }

  Memory memory_;
  std::uint32_t slot_ = 0;
  bool any_ = false;
};

}  // namespace detail

/// The writing end. One thread at a time; over memory in use it goes on where another left off, at whatever instruction.
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

  /// The slot to fill in place. It holds some older value; fill all of it. Valid until publish().
  [[nodiscard]] T& begin_write() noexcept { return End::slot().value; }

  /// Makes the filled slot the latest value.
  using End::publish;
};

/// The reading end. One thread at a time; over memory in use it goes on where another left off, at whatever instruction, and
/// finds the value that the other took last, as new.
template <class T, class Machine = Processor>
class LatestReader : private detail::LatestReadEnd<LatestMemory<T, Machine>*, Machine> {
  using End = detail::LatestReadEnd<LatestMemory<T, Machine>*, Machine>;

 public:
  explicit LatestReader(LatestMemory<T, Machine>& memory) noexcept : End(&memory) {}

  /// Takes the latest value, in place, without copying it.
  using End::update;

  /// The value that the last update() took. Before the first: the one that a reader before us took last, or else what the memory
  /// was initialised with. Valid until the next update().
  [[nodiscard]] const T& value() const noexcept { return End::slot().value; }

  /// update() and a copy of the latest value, new or old. `value` stays as it is when there is none.
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

  // The writer's.
  void write(const T& value) noexcept { writer_.end.write(value); }
  [[nodiscard]] T& begin_write() noexcept { return writer_.end.begin_write(); }
  void publish() noexcept { writer_.end.publish(); }

  // The reader's.
  Freshness update() noexcept { return reader_.end.update(); }
  [[nodiscard]] const T& value() const noexcept { return reader_.end.value(); }
  [[nodiscard]] Freshness read(T& value) noexcept { return reader_.end.read(value); }

 private:
  LatestMemory<T> memory_;
  OwnLine<LatestWriter<T>> writer_{LatestWriter<T>(memory_)};
  OwnLine<LatestReader<T>> reader_{LatestReader<T>(memory_)};
};
static_assert(sizeof(LatestValue<std::uint64_t>) == 4 * cache_line + 2 * apart,
              "four lines of memory and a pair for each end");

}  // namespace takt::shm
