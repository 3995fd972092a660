// The newest value, from several writers to any number of readers. No side waits. If a writer dies, at
// whatever instruction, only the value that it was writing is lost. Each writer has an owner slot with its
// own BroadcastValue. One counter issues tickets, and the highest ticket marks the newest value.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// A value from `writers` writers to many readers. Writers are wait-free; a reader tries a bounded number of
/// times. Real-time safe. Zeroed memory is a value that was never written.
///
/// Values are ordered by the start of their write. So a value written after another was read is the newer
/// one. Tickets are as wide as pointers. With 64 bits they never wrap. With 32 bits, a value that stays
/// unchanged during a little more than 2^32 other writes looks too new to a new reader.
template <class T, std::size_t writers, class Machine = Processor, int attempts = 16>
class SharedValue {
  static_assert(writers >= 1);
  using Ticket = std::uintptr_t;
  struct Ticketed {
    Ticket ticket;
    T value;
  };
  using OwnerSlot = BroadcastValue<Ticketed, Machine, attempts>;

 public:
  SharedValue() = default;
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;

  /// A writing end. One thread at a time may use an owner slot. After the death of a writer, the next one
  /// continues at its owner slot.
  class Writer {
   public:
    /// `owner_slot` is the owner slot, 0 to `writers` - 1; a larger number means the last one.
    Writer(SharedValue& value, std::size_t owner_slot) noexcept
        : value_(&value), owner_slot_(value.owner_slots_[std::min(owner_slot, writers - 1)]) {}

    /// Publishes a copy of `value`.
    void write(const T& value) noexcept {
      // relaxed: a writer that has read a value has seen its ticket taken, so it gets a later one. No other
      // data depends on it.
      const Ticket ticket = value_->tickets_.fetch_add(1, std::memory_order_relaxed) + 1;
      owner_slot_.write(Ticketed{ticket, value});
    }

   private:
    SharedValue* value_;
    typename OwnerSlot::Writer owner_slot_;
  };

  /// One reader's view. Each thread has its own. The value must outlive it.
  class Reader {
   public:
    explicit Reader(const SharedValue& value) noexcept : Reader(value, std::make_index_sequence<writers>()) {}

    /// Copies the newest value if it was not read before; otherwise leaves `out` unchanged.
    [[nodiscard]] Freshness read_new(T& out) noexcept {
      bool found = false;
      Ticketed next;
      for (auto& owner_slot : owner_slots_) {
        if (owner_slot.read_new(next) != Freshness::new_data) continue;
        // relaxed: a reader that sees a value also sees its ticket taken.
        const Ticket taken = value_->tickets_.load(std::memory_order_relaxed);
        // Compares the ages of the tickets. So an invalid ticket from a peer, or one read long ago, counts as
        // older than all new ones.
        if (any_ && taken - next.ticket >= taken - newest_) continue;
        newest_ = next.ticket;
        out = next.value;
        any_ = found = true;
      }
      if (found) return Freshness::new_data;
      return any_ ? Freshness::old_data : Freshness::none;
    }

   private:
    template <std::size_t... owner_slot>
    Reader(const SharedValue& value, std::index_sequence<owner_slot...>) noexcept
        : value_(&value), owner_slots_{typename OwnerSlot::Reader(value.owner_slots_[owner_slot])...} {}

    const SharedValue* value_;
    std::array<typename OwnerSlot::Reader, writers> owner_slots_;
    Ticket newest_ = 0;  // ticket of the value that was read last, if any
    bool any_ = false;
  };

 private:
  alignas(interference_size) typename Machine::template Atomic<Ticket> tickets_{0};
  alignas(interference_size) std::array<OwnerSlot, writers> owner_slots_;
};
static_assert(sizeof(SharedValue<std::uint64_t[6], 3>) == interference_size + 3 * 2 * cache_line,
              "one line for each slot of up to 48 bytes, two slots for each writer");

}  // namespace takt::shm
