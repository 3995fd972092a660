// The exchange of a CAN hardware with one bus, once per cycle. It receives a bounded number of frames,
// collects the frames of the cycle in the slots of can/setpoint_slots.hpp, and sends them in one call. A
// frame that does not fit into the transmit queue goes first in the next cycle, with the newest value. Frames
// that never left are counted by joint.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "takt/can/frame.hpp"
#include "takt/can/setpoint_slots.hpp"
#include "takt/core/joint.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::robot {

/// One bus as its master sees it. One thread. Real-time safe after set-up.
template <can::CanBus Bus>
class BusExchange {
 public:
  /// About `replies` frames are expected in each cycle of length `period`. At most `max_orders` orders may
  /// wait. A message of put_rare() may wait for the bus as long as `patience`. The bus must outlive the
  /// exchange. Allocates.
  BusExchange(Bus& bus, std::size_t replies, std::size_t max_orders, Duration period, Duration patience)
      : bus_(&bus),
        period_(period),
        patience_(std::max(period, patience)),
        slots_(max_orders),
        incoming_(chunk),
        receive_limit_(4 * replies + chunk) {}

  /// Adds a slot for a message about these joints, and returns its number. For set-up: allocates.
  [[nodiscard]] std::size_t add(JointSet joints, std::uint32_t priority = 0) {
    joints_.push_back(joints);
    return *slots_.add(priority);
  }
  /// As above, for a message about one joint.
  [[nodiscard]] std::size_t add(std::size_t joint, std::uint32_t priority = 0) {
    JointSet one;
    one.insert(joint);
    return add(one, priority);
  }
  /// Number of slots.
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

  /// Sets the value of a slot that is sent in each cycle; an older value that still waits is replaced. A
  /// message that cannot be encoded is not sent, so its sender checks it before. A can::Frame is one, too.
  template <class Message, class... Options>
  void put(std::size_t slot, Time now, const Message& message, Options... options) noexcept {
    slots_.put_with(slot, now + period_, writer(message, options...));
  }
  /// As put(), for a message that is not sent in each cycle: it may wait as long as `patience`.
  template <class Message, class... Options>
  void put_rare(std::size_t slot, Time now, const Message& message, Options... options) noexcept {
    slots_.put_with(slot, now + patience_, writer(message, options...));
  }
  /// Discards the slot's value, if it still waits.
  void withdraw(std::size_t slot) noexcept { slots_.withdraw(slot); }

  /// Whether the bus has taken all orders. A master that makes orders only then never overflows their queue.
  [[nodiscard]] bool takes_orders() const noexcept { return slots_.orders_waiting() == 0; }
  /// How long an order may wait. An older order is dropped: after a bus failure it would be outdated.
  static constexpr Duration order_patience{200'000'000};
  /// Queues a command that no later one replaces. It is sent before the slots of its priority. The master
  /// repeats it if it has no effect.
  template <class Message, class... Options>
  void order(Time now, std::uint32_t priority, const Message& message, Options... options) noexcept {
    slots_.order_with(now + order_patience, priority, writer(message, options...));
  }

  /// Sends all waiting frames, as far as the bus has room, and counts them in `counters`.
  void flush(Time now, HardwareCounters& counters) noexcept {
    counters.frames_sent += slots_.flush(*bus_, now);
    counters.frames_refused += slots_.waiting();
    if (slots_.starved() != starved_) note_starved(counters);
  }
  /// How many frames of this joint were replaced or expired before the bus had room. O(slots).
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      if (joints_[i].contains(joint)) sum += slots_.counters(i).starved();
    }
    return sum;
  }

  /// Calls visit(frame, time) for each received frame, oldest first, up to a limit; more wait for the next
  /// cycle. The time is the frame's stamp, clamped to the period that ends `now`. A missing or foreign stamp
  /// is clamped too. Drives answer requests, so a pause of the loop must not count as silence of the drives.
  template <class Visitor>
  void receive(Time now, HardwareCounters& counters, Visitor&& visit) noexcept {
    const Time earliest = now - period_;
    std::size_t total = 0;
    std::size_t count = chunk;
    while (count == chunk && total < receive_limit_) {
      count = std::min(bus_->receive(incoming_), chunk);
      for (const can::Frame& frame : std::span<const can::Frame>(incoming_).first(count)) {
        visit(frame, std::min(std::max(frame.stamp, earliest), now));
      }
      total += count;
    }
    counters.frames_received += total;
  }

 private:
  static constexpr std::size_t chunk = 32;

  template <class Message, class... Options>
  [[nodiscard]] static auto writer(const Message& message, Options... options) noexcept {
    return [&message, options...](can::Frame& frame) noexcept {
      return encode_into(frame, message, options...).has_value();
    };
  }
  [[nodiscard]] static auto writer(const can::Frame& message) noexcept {
    return [&message](can::Frame& frame) noexcept {
      frame = message;
      return true;
    };
  }

  void note_starved(HardwareCounters& counters) noexcept {
    counters.frames_starved += slots_.starved() - std::exchange(starved_, slots_.starved());
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      if (slots_.counters(i).starved() != 0) counters.starved = counters.starved | joints_[i];
    }
  }

  Bus* bus_;
  Duration period_;
  Duration patience_;
  can::SetpointSlots<std::dynamic_extent> slots_;
  std::vector<JointSet> joints_;  ///< of each slot
  std::uint64_t starved_ = 0;     ///< already counted
  std::vector<can::Frame> incoming_;
  std::size_t receive_limit_;
};

}  // namespace takt::robot
