// What every CAN hardware does once per cycle on each of its buses: take in a bounded number of frames,
// collect the frames of this cycle and hand them over in one call. Buffers are sized at construction; a frame
// that the bus has no room for is counted and forgotten, never kept: the next cycle has newer ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "takt/can/frame.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::robot {

/// One bus as its master sees it. After construction everything is real-time safe.
template <can::CanBus Bus>
class BusExchange {
 public:
  /// `frames_per_cycle` is the most that push() is called for between two calls of flush(), and about what
  /// comes back; `period` is that of the cycle. Allocates. The bus must outlive the exchange.
  BusExchange(Bus& bus, std::size_t frames_per_cycle, Duration period)
      : bus_(&bus),
        period_(period),
        outgoing_(frames_per_cycle),
        incoming_(chunk),
        receive_limit_(4 * frames_per_cycle + chunk) {}

  /// Encodes a message into this cycle's batch. Beyond the capacity given at construction it counts as
  /// refused; what cannot be encoded is left out, so its sender checks it before.
  template <class Message, class... Options>
  void push(const Message& message, HardwareCounters& counters, Options... options) noexcept {
    if (pending_ == outgoing_.size()) {
      ++counters.frames_refused;
    } else if (encode_into(outgoing_[pending_], message, options...)) {
      ++pending_;
    }
  }

  /// Hands the batch to the bus, in the order of push().
  void flush(HardwareCounters& counters) noexcept {
    if (pending_ == 0) return;
    const std::size_t sent =
        std::min(bus_->send(std::span<const can::Frame>(outgoing_).first(pending_)), pending_);
    counters.frames_sent += sent;
    counters.frames_refused += pending_ - sent;
    pending_ = 0;
  }

  /// Calls visit(frame, time) for what has arrived, oldest first. A bus that is flooded is left alone until the
  /// next cycle. `time` is the frame's stamp, kept within the period that ends `now`: drives speak when they are asked, so a
  /// loop that slept longer must not take its own pause for their silence, and a bus whose stamps are none, or are of another
  /// clock, does no harm.
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

  Bus* bus_;
  Duration period_;
  std::vector<can::Frame> outgoing_;
  std::vector<can::Frame> incoming_;
  std::size_t pending_ = 0;
  std::size_t receive_limit_;
};

}  // namespace takt::robot
