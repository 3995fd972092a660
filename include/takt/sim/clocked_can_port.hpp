// A node of the virtual CAN bus that takes the time from a clock. Each send() or receive() first advances the
// bus to the clock's time. With it, a program for a real bus, with its own loop and clock, runs on the
// virtual bus. Over a ManualClock every run is the same. Over a wall clock the bus runs in real time.
//
//     ManualClock clock;
//     sim::VirtualCanBus bus({}, clock.now());
//     sim::ClockedCanPort master(bus, bus.connect(), clock), drive(bus, bus.connect(), clock);
#pragma once

#include <cstddef>
#include <span>

#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"
#include "takt/sim/virtual_can_bus.hpp"

namespace takt::sim {

/// Satisfies can::CanBus. Bus and clock must outlive it. All nodes of a bus use the same clock and one
/// thread. Real-time safe: a call costs as much as the events on the bus since the last call.
template <Clock C>
class ClockedCanPort {
 public:
  ClockedCanPort(VirtualCanBus& bus, VirtualCanBus::Port port, C& clock) noexcept
      : bus_(&bus), port_(port), clock_(&clock) {}

  /// Queues frames, in order, at the clock's present time. Returns how many were taken.
  std::size_t send(std::span<const can::Frame> frames) noexcept {
    bus_->advance(clock_->now());
    return port_.send(frames);
  }
  /// Copies received frames, up to the clock's present time, oldest first. Returns how many.
  std::size_t receive(std::span<can::Frame> frames) noexcept {
    bus_->advance(clock_->now());
    return port_.receive(frames);
  }
  /// The node itself: its plug, state and faults, as of the last send() or receive().
  [[nodiscard]] VirtualCanBus::Port& port() noexcept { return port_; }

 private:
  VirtualCanBus* bus_;
  VirtualCanBus::Port port_;
  C* clock_;
};

}  // namespace takt::sim
