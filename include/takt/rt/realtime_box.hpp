// One value that a real-time loop and one other thread both read and write, such as a mode or limits. The
// last write wins on both sides. No side takes a lock and none waits, so no call fails.
//
//     takt::rt::RealtimeBox<Limits> limits(initial);
//     limits.realtime().set(measured);             // the loop
//     const Limits newest = limits.other().get();  // the other thread
//
// Reading, changing and writing back are separate steps: of two changes at the same time, one is lost. Use a
// box for values that are replaced as a whole.
#pragma once

#include <cstdint>
#include <type_traits>

#include "takt/shm/latest_value.hpp"
#include "takt/shm/memory.hpp"

namespace takt::rt {

/// One value with two sides. A shm::LatestValue carries each side's writes to the other side.
///
/// Writes are numbered: a write gets the number after the highest one that its side knows. If both sides
/// write at the same time, they use the same number, and the write of other() wins. So both sides agree on
/// the last write. A write that ends before another one begins always loses to it.
template <class T>
class RealtimeBox {
  static_assert(std::is_trivially_copyable_v<T>, "the loop writes it, and must neither allocate nor free");

  struct Numbered {
    T value{};
    std::uint64_t number = 0;
  };
  using Exchange = shm::LatestValue<Numbered>;

 public:
  /// One side. One thread at a time may use it.
  class Side {
   public:
    /// Replaces the value. Wait-free and real-time safe.
    void set(const T& value) noexcept {
      look();
      const std::uint64_t highest = theirs() > mine_.number ? theirs() : mine_.number;
      mine_ = {value, highest + 1};
      out_->write(mine_);
    }

    /// The value of the last write of either side, valid until the next call on this side. Wait-free and
    /// real-time safe.
    [[nodiscard]] const T& get() noexcept {
      look();
      const bool is_mine = wins_ties_ ? mine_.number >= theirs() : mine_.number > theirs();
      return is_mine || theirs() == 0 ? mine_.value : in_->value().value;
    }

   private:
    friend class RealtimeBox;
    Side(Exchange& out, Exchange& in, const T& initial, bool wins_ties) noexcept
        : out_(&out), in_(&in), mine_{initial, 0}, wins_ties_(wins_ties) {}

    void look() noexcept { in_->update(); }
    /// The number of the other side's last write that this side has seen; 0: none.
    [[nodiscard]] std::uint64_t theirs() const noexcept { return in_->value().number; }

    Exchange* out_;
    Exchange* in_;
    Numbered mine_;  // this side's last write
    bool wins_ties_;
  };

  /// A box that holds `initial` until the first write.
  explicit RealtimeBox(const T& initial = T{}) noexcept
      : realtime_{Side(from_realtime_, to_realtime_, initial, false)},
        other_{Side(to_realtime_, from_realtime_, initial, true)} {}
  RealtimeBox(const RealtimeBox&) = delete;
  RealtimeBox& operator=(const RealtimeBox&) = delete;

  /// The side of the loop.
  [[nodiscard]] Side& realtime() noexcept { return realtime_.end; }
  /// The side of the other thread.
  [[nodiscard]] Side& other() noexcept { return other_.end; }

 private:
  Exchange from_realtime_;
  Exchange to_realtime_;
  shm::OwnLine<Side> realtime_;
  shm::OwnLine<Side> other_;
};

}  // namespace takt::rt
