// Holds the latest setpoint of each message in a slot, until the bus takes it. The master writes a newer one
// every cycle, and the bus may be slower. A slot keeps one value only, so no drive follows an outdated
// setpoint.
//
//     can::SetpointSlots<> slots;
//     const std::size_t hip = *slots.add(0), gripper = *slots.add(1);  // at set-up; priority 0 goes first
//
//     // Each cycle:
//     slots.put(hip, frame, now + period);  // replaces one that still waits
//     slots.flush(bus, now);
//
// Setpoints of one priority are sent in the order of put(). A setpoint for which the bus had no room goes
// first next time, and a newer value keeps its place. Then follows the message that was sent longest ago. So
// messages of equal rank share a slow bus. If the bus takes m frames a call, each of n messages is sent
// within n / m calls, rounded up.
//
// A setpoint waits in its slot while the bus has no room, and is dropped after its deadline. Neither is an
// error; both are counted by slot. A frame that the bus has taken cannot be replaced, so keep the driver's
// queue short (SocketCAN: txqueuelen). The function flush() may be called at any time, also between cycles.
//
// Commands that must not replace each other (power on, home) are orders. They have no slot and are sent in
// the order of order(). They wait until the bus takes them or their deadline passes.
//
// It has no clock: the caller gives the time. Real-time safe and usable in constant expressions, except the
// constructor and add() of SetpointSlots<std::dynamic_extent>, which use the heap. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"

namespace takt::can {

/// Counts the setpoints of a slot since its start. Each setpoint is sent, replaced, expired or withdrawn, or
/// still waits.
struct SetpointCounters {
  std::uint64_t sent = 0;       ///< taken by the bus
  std::uint64_t replaced = 0;   ///< by a newer one, before the bus took it
  std::uint64_t expired = 0;    ///< dropped after its deadline
  std::uint64_t withdrawn = 0;  ///< by withdraw()
  std::uint64_t refused = 0;    ///< times that the bus had no room for it; it keeps waiting

  /// Setpoints that were lost because the bus had no room.
  [[nodiscard]] constexpr std::uint64_t starved() const noexcept { return replaced + expired; }

  constexpr SetpointCounters& operator+=(const SetpointCounters& other) noexcept {
    sent += other.sent;
    replaced += other.replaced;
    expired += other.expired;
    withdrawn += other.withdrawn;
    refused += other.refused;
    return *this;
  }
  friend constexpr bool operator==(const SetpointCounters&, const SetpointCounters&) = default;
};

/// The slots of one bus. Slots are numbered from 0 in the order of add(); calls with other numbers have no
/// effect. With std::dynamic_extent, add() allocates room for any number of slots, and is for set-up.
template <std::size_t MaxSlots = 64, std::size_t MaxOrders = 16>
class SetpointSlots {
  static constexpr bool is_dynamic = MaxSlots == std::dynamic_extent;

 public:
  constexpr SetpointSlots() = default;
  /// Reserves room for this many waiting orders. Allocates.
  constexpr explicit SetpointSlots(std::size_t max_orders) requires(is_dynamic) : max_orders_(max_orders) {
    grow();
  }

  /// Adds a slot for one message; nullopt if there is no room. Slots with a lower `priority` are sent first,
  /// as with CAN identifiers.
  [[nodiscard]] constexpr std::optional<std::size_t> add(std::uint32_t priority) noexcept(!is_dynamic) {
    if (!is_dynamic && count_ == MaxSlots) return std::nullopt;
    if constexpr (is_dynamic) slots_.emplace_back();
    slots_[count_].rank = rank_of(priority, true);
    ++count_;
    if constexpr (is_dynamic) grow();
    return count_ - 1;
  }

  /// Sets the message's newest value; it may be sent up to and including `deadline`. False if there is no
  /// such slot.
  constexpr bool put(std::size_t slot, const Frame& frame, Time deadline) noexcept {
    return put_with(slot, deadline, [&](Frame& out) noexcept {
      out = frame;
      return true;
    });
  }
  /// put() with a frame that `bool write(Frame&)` writes in place. If write() returns false, nothing changes
  /// and put_with() returns false.
  template <class Write>
  constexpr bool put_with(std::size_t slot, Time deadline, Write&& write) noexcept {
    if (slot >= count_ || !write(frames_[waiting_])) return false;
    Slot& target = slots_[slot];
    if (target.number <= sent_) {
      entries_[waiting_] = {deadline, target.rank, target.number, static_cast<std::uint32_t>(slot), false};
      target.number = number_at(enqueue());
      ++target.counters.sent;
    } else {
      const std::size_t place = place_of(target);
      frames_[place] = frames_[waiting_];
      entries_[place].deadline = deadline;
      note_deadline(deadline);
      count_starved(target.counters.replaced);
    }
    return true;
  }

  /// Adds a command that replaces nothing and is not replaced. It is sent after earlier orders, and before
  /// slots of the same or a higher `priority` number. False if there is no room for another order: call it
  /// again later.
  constexpr bool order(const Frame& frame, Time deadline, std::uint32_t priority = 0) noexcept {
    return order_with(deadline, priority, [&](Frame& out) noexcept {
      out = frame;
      return true;
    });
  }
  /// order() with a frame that `bool write(Frame&)` writes in place. If write() returns false, nothing
  /// changes and order_with() returns false.
  template <class Write>
  constexpr bool order_with(Time deadline, std::uint32_t priority, Write&& write) noexcept {
    if (orders_waiting_ == max_orders_ || !write(frames_[waiting_])) return false;
    ++orders_waiting_;
    entries_[waiting_] = {deadline, rank_of(priority, false), 0, no_slot, false};
    static_cast<void>(enqueue());
    return true;
  }

  /// Removes a waiting setpoint, for example that of a drive that is being switched off.
  constexpr void withdraw(std::size_t slot) noexcept {
    if (!waiting(slot)) return;
    const std::size_t place = place_of(slots_[slot]);
    ++slots_[slot].counters.withdrawn;
    forget(entries_[place]);
    keep([&](std::size_t i) noexcept { return i != place; });
  }

  /// Drops late frames and gives the others to the bus in one call. Frames for which the bus has no room
  /// stay. Returns the number of sent frames. O(n) in the waiting frames.
  template <CanBus Bus>
  constexpr std::size_t flush(Bus& bus, Time now) noexcept {
    if (earliest_deadline_ < now) drop_late(now);
    is_short_ = false;
    if (waiting_ == 0) return 0;
    const std::size_t sent = std::min(bus.send(std::span<const Frame>(frames_).first(waiting_)), waiting_);
    sent_ += sent;
    order_counters_.sent += orders_waiting_;
    if (sent == waiting_) {
      waiting_ = orders_waiting_ = 0;
      last_rank_ = 0;
      earliest_deadline_ = Time::max();
    } else {
      is_short_ = true;
      for (std::size_t i = sent; i < waiting_; ++i) note_refused(entries_[i]);
      keep([&](std::size_t i) noexcept { return i >= sent; });
      order_counters_.sent -= orders_waiting_;
    }
    return sent;
  }

  /// The number of slots.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
  /// The number of waiting setpoints and orders.
  [[nodiscard]] constexpr std::size_t waiting() const noexcept { return waiting_; }
  /// Returns whether the setpoint of this slot is waiting.
  [[nodiscard]] constexpr bool waiting(std::size_t slot) const noexcept {
    return slot < count_ && slots_[slot].number > sent_;
  }
  /// Returns the number of orders that wait to be sent.
  [[nodiscard]] constexpr std::size_t orders_waiting() const noexcept { return orders_waiting_; }

  /// The counters of one slot, to see which message starves. Zeros if there is no such slot.
  [[nodiscard]] constexpr SetpointCounters counters(std::size_t slot) const noexcept {
    if (slot >= count_) return {};
    SetpointCounters counters = slots_[slot].counters;
    if (waiting(slot)) --counters.sent;
    return counters;
  }
  /// The sum over all slots.
  [[nodiscard]] constexpr SetpointCounters counters() const noexcept {
    SetpointCounters sum;
    for (std::size_t i = 0; i < count_; ++i) sum += counters(i);
    return sum;
  }
  /// The counters of all orders.
  [[nodiscard]] constexpr SetpointCounters order_counters() const noexcept { return order_counters_; }
  /// SetpointCounters::starved() of all slots and orders, without summing. A growing number shows a slow bus.
  [[nodiscard]] constexpr std::uint64_t starved() const noexcept { return starved_; }

 private:
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  struct Slot {
    std::uint64_t rank = 0;
    /// The number of its latest setpoint, among all sent frames; 0 = none. A setpoint with a number above
    /// sent_ is waiting. So a flush that sends the whole queue touches no slot.
    std::uint64_t number = 0;
    SetpointCounters counters;  ///< field `sent` includes the waiting setpoint
  };
  /// The data beside a frame of the queue.
  struct Entry {
    Time deadline{};
    std::uint64_t rank = 0;
    std::uint64_t last_sent = 0;  ///< the number of the slot's latest sent setpoint, 0 = never
    std::uint32_t slot = no_slot;
    bool is_left_over = false;  ///< the bus had no room for it
  };
  template <class T, std::size_t count>
  using Storage = std::conditional_t<is_dynamic, std::vector<T>, std::array<T, is_dynamic ? 0 : count>>;

  /// Makes room for all slots and orders, and for the frame that is being written.
  constexpr void grow() {
    frames_.resize(count_ + max_orders_ + 1);
    entries_.resize(count_ + max_orders_ + 1);
  }

  [[nodiscard]] constexpr SetpointCounters& counters_of(const Entry& entry) noexcept {
    return entry.slot == no_slot ? order_counters_ : slots_[entry.slot].counters;
  }
  [[nodiscard]] constexpr std::size_t place_of(const Slot& slot) const noexcept {
    return static_cast<std::size_t>(slot.number - sent_ - 1);
  }
  /// The number of the frame at this place, if the bus takes the queue as it is.
  [[nodiscard]] constexpr std::uint64_t number_at(std::size_t place) const noexcept {
    return sent_ + place + 1;
  }
  /// Takes back the number of a setpoint that leaves the queue unsent.
  constexpr void forget(const Entry& entry) noexcept {
    if (entry.slot == no_slot) return;
    slots_[entry.slot].number = entry.last_sent;
    --slots_[entry.slot].counters.sent;
  }
  constexpr void note_refused(Entry& entry) noexcept {
    entry.is_left_over = true;
    ++counters_of(entry).refused;
  }
  constexpr void count_starved(std::uint64_t& counter) noexcept {
    ++counter;
    ++starved_;
  }
  constexpr void note_deadline(Time deadline) noexcept {
    earliest_deadline_ = std::min(earliest_deadline_, deadline);
  }

  /// Lower ranks go first: by priority, and the orders of a priority before its slots.
  [[nodiscard]] static constexpr std::uint64_t rank_of(std::uint32_t priority, bool is_slot) noexcept {
    return std::uint64_t{priority} << 1U | (is_slot ? 1U : 0U);
  }
  /// Takes the frame and the entry behind the queue into it; returns their place.
  [[nodiscard, gnu::always_inline]] constexpr std::size_t enqueue() noexcept {
    const std::size_t place = waiting_++;
    note_deadline(entries_[place].deadline);
    if (entries_[place].rank < last_rank_ || is_short_) return move_forward(place);
    last_rank_ = entries_[place].rank;
    return place;
  }
  /// Slots of a rank take turns while the bus is short of room.
  [[nodiscard]] constexpr bool goes_before(const Entry& a, const Entry& b) const noexcept {
    if (a.rank != b.rank) return a.rank < b.rank;
    return is_short_ && a.slot != no_slot && !b.is_left_over && a.last_sent < b.last_sent;
  }
  /// Moves the last frame to its place by rank, and returns this place.
  [[nodiscard]] constexpr std::size_t move_forward(std::size_t last) noexcept {
    std::size_t place = last;
    while (place > 0 && goes_before(entries_[last], entries_[place - 1])) --place;
    const auto rotate = [&](auto begin) noexcept {
      const auto at = [&](std::size_t i) noexcept { return begin + static_cast<std::ptrdiff_t>(i); };
      std::rotate(at(place), at(last), at(last + 1));
    };
    rotate(frames_.begin());
    rotate(entries_.begin());
    for (std::size_t i = place; i <= last; ++i) set_place(entries_[i], i);
    last_rank_ = entries_[last].rank;
    return place;
  }
  constexpr void set_place(const Entry& entry, std::size_t place) noexcept {
    if (entry.slot != no_slot) slots_[entry.slot].number = number_at(place);
  }

  constexpr void drop_late(Time now) noexcept {
    for (std::size_t i = 0; i < waiting_; ++i) {
      if (entries_[i].deadline >= now) continue;
      count_starved(counters_of(entries_[i]).expired);
      forget(entries_[i]);
    }
    keep([&](std::size_t i) noexcept { return entries_[i].deadline >= now; });
  }
  /// Keeps the frames for whose place `stays(place)` returns true.
  template <class Stays>
  constexpr void keep(Stays stays) noexcept {
    const std::size_t before = waiting_;
    std::size_t kept = 0;
    std::size_t orders = 0;
    earliest_deadline_ = Time::max();
    for (std::size_t i = 0; i < before; ++i) {
      if (!stays(i)) continue;
      frames_[kept] = frames_[i];
      entries_[kept] = entries_[i];
      set_place(entries_[kept], kept);
      note_deadline(entries_[kept].deadline);
      orders += entries_[kept].slot == no_slot ? 1U : 0U;
      ++kept;
    }
    waiting_ = kept;
    orders_waiting_ = orders;
    last_rank_ = kept == 0 ? 0 : entries_[kept - 1].rank;
  }

  // The queue: frames in one piece, for the bus.
  Storage<Frame, MaxSlots + MaxOrders + 1> frames_{};
  Storage<Entry, MaxSlots + MaxOrders + 1> entries_{};
  std::size_t waiting_ = 0;
  std::size_t orders_waiting_ = 0;
  std::uint64_t last_rank_ = 0;  ///< rank of the last waiting frame
  Time earliest_deadline_ = Time::max();

  Storage<Slot, MaxSlots> slots_{};
  std::size_t count_ = 0;
  std::size_t max_orders_ = is_dynamic ? 0 : MaxOrders;
  SetpointCounters order_counters_;
  std::uint64_t sent_ = 0;  ///< sent frames of all slots and orders
  std::uint64_t starved_ = 0;
  bool is_short_ = false;  ///< the bus did not take all frames of the last flush
};

}  // namespace takt::can
