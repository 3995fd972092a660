// The newest value of something that several may write and any number may read: nobody ever waits for anybody, and a writer that
// dies, at whatever instruction, takes nothing with it but the value that it was writing. Each writer has a seat with a
// BroadcastValue of its own; one counter hands out tickets that say which value is the newest.
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

/// A value from `writers` writers to many readers. Wait-free for writers; a reader tries a bounded number of times. Real-time
/// safe. Memory of zeros is a value that was never written.
///
/// Values are ordered by when their writing began, so a writer that has read a value and then writes comes after it. Tickets are as
/// wide as pointers: with 64 bits they never run over; with 32 bits, a value that stood in its seat while the others wrote 2^32 and
/// a few looks only those few old to a reader that has just come.
template <class T, std::size_t writers, class Machine = Processor, int attempts = 16>
class SharedValue {
  static_assert(writers >= 1);
  using Ticket = std::uintptr_t;
  struct Ticketed {
    Ticket ticket;
    T value;
  };
  using Seat = BroadcastValue<Ticketed, Machine, attempts>;

 public:
  SharedValue() = default;
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;

  /// A writing end. For each seat one at a time; after the death of a writer, another goes on in its seat.
  class Writer {
   public:
    /// `seat` is 0 to `writers` - 1; where it is more, the last one.
    Writer(SharedValue& value, std::size_t seat) noexcept
        : value_(&value), seat_(value.seats_[std::min(seat, writers - 1)]) {}

    /// Publishes a copy of `value`.
    void write(const T& value) noexcept {
      // relaxed: who has seen a value has seen its ticket taken, and is given a later one.
      const Ticket ticket = value_->tickets_.fetch_add(1, std::memory_order_relaxed) + 1;
      seat_.write(Ticketed{ticket, value});
    }

   private:
    SharedValue* value_;
    typename Seat::Writer seat_;
  };

  /// One reader's view; each thread has its own. The value must outlive it.
  class Reader {
   public:
    explicit Reader(const SharedValue& value) noexcept : Reader(value, std::make_index_sequence<writers>()) {}

    /// Copies the newest value if it was not read before; leaves `out` as it is otherwise.
    [[nodiscard]] Freshness read_new(T& out) noexcept {
      bool found = false;
      Ticketed next;
      for (auto& seat : seats_) {
        if (seat.read_new(next) != Freshness::new_data) continue;
        // relaxed: who sees a value sees its ticket taken.
        const Ticket taken = value_->tickets_.load(std::memory_order_relaxed);
        // By their age, so that what a peer wrote that is no ticket, or was read long ago, is older than all that come.
        if (any_ && taken - next.ticket >= taken - newest_) continue;
        newest_ = next.ticket;
        out = next.value;
        any_ = found = true;
      }
      if (found) return Freshness::new_data;
      return any_ ? Freshness::old_data : Freshness::none;
    }

   private:
    template <std::size_t... seat>
    Reader(const SharedValue& value, std::index_sequence<seat...>) noexcept
        : value_(&value), seats_{typename Seat::Reader(value.seats_[seat])...} {}

    const SharedValue* value_;
    std::array<typename Seat::Reader, writers> seats_;
    Ticket newest_ = 0;  // the ticket of the value that was read last, if any was
    bool any_ = false;
  };

 private:
  alignas(apart) typename Machine::template Atomic<Ticket> tickets_{0};
  alignas(apart) std::array<Seat, writers> seats_;
};
static_assert(sizeof(SharedValue<std::uint64_t[6], 3>) == apart + 3 * 2 * cache_line,
              "one line for each slot of up to 48 bytes, two slots for each writer");

}  // namespace takt::shm
