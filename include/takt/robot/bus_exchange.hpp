// The exchange of a CAN hardware with one bus, once per cycle. It takes in a bounded number of frames, collects the frames of
// this cycle in the slots of can/setpoint_slots.hpp, and hands them over in one call. A frame that the bus has no room for
// goes first in the next cycle, with the newest value. Frames that never left are counted by joint.
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

/// One bus as its master sees it. After set-up everything is real-time safe.
template <can::CanBus Bus>
class BusExchange {
 public:
  /// `replies`: about how many frames come back in a cycle. `max_orders`: how many orders may wait at once. `period`: of the
  /// cycle. `patience`: how long a message of put_rare() may wait for the bus. Allocates. The bus must outlive the exchange.
  BusExchange(Bus& bus, std::size_t replies, std::size_t max_orders, Duration period, Duration patience)
      : bus_(&bus),
        period_(period),
        patience_(std::max(period, patience)),
        slots_(max_orders),
        incoming_(chunk),
        receive_limit_(4 * replies + chunk) {}

  /// A slot for a message that concerns these joints. For set-up: allocates.
  [[nodiscard]] std::size_t add(JointSet joints, std::uint32_t priority = 0) {
    joints_.push_back(joints);
    return *slots_.add(priority);
  }
  /// Slots, numbered from 0.
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

  /// The newest value of a message that is put in each cycle. A message that cannot be encoded is left out: its sender checks
  /// it before.
  template <class Message, class... Options>
  void put(std::size_t slot, Time now, const Message& message, Options... options) noexcept {
    slots_.put_with(slot, now + period_, writer(message, options...));
  }
  /// The same for a message that is put now and then: it may wait longer.
  template <class Message, class... Options>
  void put_rare(std::size_t slot, Time now, const Message& message, Options... options) noexcept {
    slots_.put_with(slot, now + patience_, writer(message, options...));
  }
  void withdraw(std::size_t slot) noexcept { slots_.withdraw(slot); }

  /// Whether the bus has taken all orders. A master that makes new orders only then never exceeds their room.
  [[nodiscard]] bool takes_orders() const noexcept { return slots_.orders_waiting() == 0; }
  /// How long an order may wait. A bus that was away for longer must not execute an outdated order.
  static constexpr Duration order_patience{200'000'000};
  /// A command that no later one replaces, sent before the slots of its priority. Its master repeats it when it has no effect.
  template <class Message, class... Options>
  void order(Time now, std::uint32_t priority, const Message& message, Options... options) noexcept {
    slots_.order_with(now + order_patience, priority, writer(message, options...));
  }

  /// Hands all waiting frames to the bus.
  void flush(Time now, HardwareCounters& counters) noexcept {
    counters.frames_sent += slots_.flush(*bus_, now);
    counters.frames_refused += slots_.waiting();
    if (slots_.starved() != starved_) note_starved(counters);
  }
  /// How many frames of this joint never left: they were replaced or too late before the bus had room. O(slots).
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      if (joints_[i].contains(joint)) sum += slots_.counters(i).starved();
    }
    return sum;
  }

  /// Calls visit(frame, time) for each frame that has arrived, oldest first, up to a limit; a flood waits for the next cycle.
  /// `time` is the frame's stamp, clamped to the period that ends `now`. Missing or foreign time stamps are clamped too. Drives
  /// answer requests, so a loop that paused must not take its own pause for their silence.
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
  std::uint64_t starved_ = 0;     ///< that the counters know of
  std::vector<can::Frame> incoming_;
  std::size_t receive_limit_;
};

}  // namespace takt::robot
