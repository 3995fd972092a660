// The newest value of something, from one writer to one reader: the writer never waits, the reader never
// waits and never sees a value that is half old and half new. Three slots: the writer fills one, the reader
// holds one, and the third changes hands through a single atomic word. Wait-free on both sides; real-time
// safe.
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

/// The memory that both sides see: four lines for values of up to 64 bytes.
template <class T, class Machine = Processor>
struct LatestMemory {
  static_assert(std::is_trivially_copyable_v<T>, "values are copied as bytes");
  static constexpr std::uint32_t slot_mask = 3;
  static constexpr std::uint32_t fresh = 4;

  struct alignas(cache_line) Slot {
    T value{};
  };

  /// The slot in between (slot_mask), and whether it holds a value that the reader has not taken (fresh). At
  /// first the writer has slot 0, the reader slot 1.
  alignas(cache_line) typename Machine::template Atomic<std::uint32_t> between{2};
  Slot slots[3];
};
static_assert(sizeof(LatestMemory<std::uint64_t>) == 4 * cache_line);

/// The writing end, over memory that was just initialised. One thread at a time.
template <class T, class Machine = Processor>
class LatestWriter {
 public:
  explicit LatestWriter(LatestMemory<T, Machine>& memory) noexcept : memory_(&memory) {}

  /// Publishes a copy of `value`.
  void write(const T& value) noexcept {
    Machine::template copy<alignof(T)>(&begin_write(), &value, sizeof(T));
    publish();
  }

  /// The slot to fill in place. It holds some older value; fill all of it. Valid until publish().
  [[nodiscard]] T& begin_write() noexcept { return memory_->slots[slot_].value; }

  /// Makes the filled slot the latest value.
  void publish() noexcept {
    // release: the value is complete for a reader that takes this slot. acquire: the slot that comes back may
    // be one that the reader put there; its last reads are over before we write into it.
    slot_ = memory_->between.exchange(slot_ | memory_->fresh, std::memory_order_acq_rel) & memory_->slot_mask;
    Machine::prefetch_to_write(&memory_->slots[slot_]);  // the reader had it last: get it while there is time
  }

 private:
  LatestMemory<T, Machine>* memory_;
  std::uint32_t slot_ = 0;
};

/// The reading end, over memory that was just initialised. One thread at a time.
template <class T, class Machine = Processor>
class LatestReader {
 public:
  explicit LatestReader(LatestMemory<T, Machine>& memory) noexcept : memory_(&memory) {}

  /// Takes the latest value, in place, without copying it.
  Freshness update() noexcept {
    // relaxed: only a hint whether the exchange is worth while; the exchange itself orders everything.
    const std::uint32_t hint = memory_->between.load(std::memory_order_relaxed);
    if ((hint & memory_->fresh) == 0) return any_ ? Freshness::old_data : Freshness::none;
    Machine::prefetch_to_read(
        &memory_->slots[hint & memory_->slot_mask]);  // comes while the exchange is under way
    // acquire: pairs with the writer's release, the value is seen whole. release: our reads of the slot that
    // we give back are over before the writer writes into it.
    slot_ = memory_->between.exchange(slot_, std::memory_order_acq_rel) & memory_->slot_mask;
    any_ = true;
    return Freshness::new_data;
  }

  /// The value that the last update() took; T{} before the first. Valid until the next update().
  [[nodiscard]] const T& value() const noexcept { return memory_->slots[slot_].value; }

  /// update() and a copy of the latest value, new or old. `value` stays as it is when there is none.
  [[nodiscard]] Freshness read(T& value) noexcept {
    const Freshness freshness = update();
    if (freshness != Freshness::none) Machine::template copy<alignof(T)>(&value, &this->value(), sizeof(T));
    return freshness;
  }

 private:
  LatestMemory<T, Machine>* memory_;
  std::uint32_t slot_ = 1;
  bool any_ = false;
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
