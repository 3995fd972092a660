// Between a master that has a newer setpoint every cycle and a bus that cannot always take it: one slot for each message,
// and in it the latest value only. Nothing queues up, so no drive ever follows what its master wanted long ago.
//
//     can::SetpointSlots<> slots;
//     const std::size_t hip = *slots.add(0), gripper = *slots.add(1);            // at set-up; lower goes first
//     each cycle:  slots.put(hip, frame, now + period);                          // replaces an older one that still waits
//                  slots.flush(bus, now);
//
// A setpoint waits in its slot while the bus has no room, and is dropped once its deadline has passed. Neither is an error:
// both are counted, slot by slot. What the bus has taken is out of reach; keep the queue of its driver as short as it works
// with (SocketCAN: txqueuelen), the slots are the better place to wait. flush() may be called as often as one likes, between
// the cycles too. Commands that must not replace each other (power on, home) are events, not setpoints: send them directly.
//
// No clock, no heap: the time is told, memory is fixed. Real-time safe and usable in constant expressions. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"

namespace takt::can {

/// What became of the setpoints of a slot, since its start. Each one that was put is sent, replaced, expired or withdrawn, or
/// still waits.
struct SetpointCounters {
  std::uint64_t sent = 0;       ///< taken by the bus
  std::uint64_t replaced = 0;   ///< by a newer one, before the bus took it
  std::uint64_t expired = 0;    ///< dropped after its deadline
  std::uint64_t withdrawn = 0;  ///< by withdraw()
  std::uint64_t refused = 0;    ///< times that the bus had no room for it; it waits on

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

/// The slots of one bus. Slots are numbered from 0 in the order of add(); other numbers do no harm.
template <std::size_t MaxSlots = 64>
class SetpointSlots {
 public:
  /// A slot for one message; nothing if there is no room for it. Slots of a lower `priority` are sent first, as lower
  /// identifiers are; among equals the one whose deadline comes first, and then the one that was sent longest ago, so that
  /// messages of equal rank share a bus that is too slow for them.
  [[nodiscard]] constexpr std::optional<std::size_t> add(std::uint32_t priority) noexcept {
    if (count_ == MaxSlots) return std::nullopt;
    slots_[count_].priority = priority;
    return count_++;
  }

  /// The message's newest value, which is worth sending up to and at `deadline`. False if there is no such slot.
  constexpr bool put(std::size_t slot, const Frame& frame, Time deadline) noexcept {
    if (slot >= count_) return false;
    Slot& target = slots_[slot];
    if (target.waiting) ++target.counters.replaced;
    target.frame = frame;
    target.deadline = deadline;
    target.waiting = true;
    return true;
  }

  /// Takes back what has not been sent: of a drive that is being switched off, say.
  constexpr void withdraw(std::size_t slot) noexcept {
    if (!waiting(slot)) return;
    slots_[slot].waiting = false;
    ++slots_[slot].counters.withdrawn;
  }

  /// Drops what is too late and hands the rest to the bus, in one call; what it has no room for stays. Returns how many were
  /// sent. O(n log n) in the slots.
  template <CanBus Bus>
  constexpr std::size_t flush(Bus& bus, Time now) noexcept {
    const std::size_t ready = collect(now);
    if (ready == 0) return 0;
    for (std::size_t i = 0; i < ready; ++i) batch_[i] = slots_[order_[i]].frame;
    const std::size_t sent = std::min(bus.send(std::span<const Frame>(batch_).first(ready)), ready);
    for (std::size_t i = 0; i < sent; ++i) {
      slots_[order_[i]].waiting = false;
      slots_[order_[i]].last_sent = ++last_sent_;
      ++slots_[order_[i]].counters.sent;
    }
    for (std::size_t i = sent; i < ready; ++i) ++slots_[order_[i]].counters.refused;
    return sent;
  }

  [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
  [[nodiscard]] constexpr bool waiting(std::size_t slot) const noexcept {
    return slot < count_ && slots_[slot].waiting;
  }
  /// Of one slot: which message starves. Zeros if there is no such slot.
  [[nodiscard]] constexpr SetpointCounters counters(std::size_t slot) const noexcept {
    return slot < count_ ? slots_[slot].counters : SetpointCounters{};
  }
  /// Of all slots together.
  [[nodiscard]] constexpr SetpointCounters counters() const noexcept {
    SetpointCounters sum;
    for (std::size_t i = 0; i < count_; ++i) sum += slots_[i].counters;
    return sum;
  }

 private:
  struct Slot {
    Frame frame{};
    Time deadline{};
    std::uint32_t priority = 0;
    bool waiting = false;
    std::uint64_t last_sent = 0;  ///< its number among all that were sent; 0 = never
    SetpointCounters counters;
  };

  /// The slots to be sent, in their order, into order_; returns how many.
  [[nodiscard]] constexpr std::size_t collect(Time now) noexcept {
    std::size_t ready = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      Slot& slot = slots_[i];
      if (!slot.waiting) continue;
      if (slot.deadline < now) {
        slot.waiting = false;
        ++slot.counters.expired;
      } else {
        order_[ready++] = i;
      }
    }
    std::sort(order_.begin(), order_.begin() + ready, [&](std::size_t a, std::size_t b) noexcept {
      const auto rank = [&](std::size_t i) noexcept {
        return std::tuple(slots_[i].priority, slots_[i].deadline, slots_[i].last_sent, i);
      };
      return rank(a) < rank(b);
    });
    return ready;
  }

  std::array<std::size_t, MaxSlots> order_{};  // what collect() found
  std::array<Slot, MaxSlots> slots_{};
  std::array<Frame, MaxSlots> batch_{};  // in one piece, for the bus
  std::size_t count_ = 0;
  std::uint64_t last_sent_ = 0;
};

}  // namespace takt::can
