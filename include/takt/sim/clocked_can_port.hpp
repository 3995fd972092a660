// A node of the virtual CAN bus whose time passes by itself: each look at the bus first lets it run up to what the clock
// says. With it a program that was written for a real bus, with its own loop and its own clock, runs on the virtual one;
// over a ManualClock it does the same on every run, over a wall clock the bus keeps pace with the world.
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

/// Satisfies can::CanBus. Bus and clock must outlive it; all nodes of a bus use the same clock, and one thread. Real-time safe:
/// a look costs what happened on the bus since the last one.
template <Clock C>
class ClockedCanPort {
 public:
  ClockedCanPort(VirtualCanBus& bus, VirtualCanBus::Port port, C& clock) noexcept
      : bus_(&bus), port_(port), clock_(&clock) {}

  /// As VirtualCanBus::Port; the frames enter the bus at the clock's present time.
  std::size_t send(std::span<const can::Frame> frames) noexcept {
    bus_->advance(clock_->now());
    return port_.send(frames);
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept {
    bus_->advance(clock_->now());
    return port_.receive(frames);
  }
  /// The node itself: its plug, its state, its faults. They are those of the time of the last look.
  [[nodiscard]] VirtualCanBus::Port& port() noexcept { return port_; }

 private:
  VirtualCanBus* bus_;
  VirtualCanBus::Port port_;
  C* clock_;
};

}  // namespace takt::sim
