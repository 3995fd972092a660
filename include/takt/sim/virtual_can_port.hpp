// A node's end of a virtual bus as a robot::CanPort: a simulated robot in place of a real one.
#pragma once

#include <cstddef>
#include <span>

#include "takt/can/frame.hpp"
#include "takt/robot/can_port.hpp"
#include "takt/sim/virtual_can_bus.hpp"

namespace takt::sim {

/// One end of a virtual bus; real-time safe.
class VirtualCanPort final : public robot::CanPort {
 public:
  /// The bus must outlive the port.
  VirtualCanPort(const VirtualCanBus& bus, VirtualCanBus::Port port) noexcept : bus_(&bus), port_(port) {}

  std::size_t send(std::span<const can::Frame> frames) noexcept override { return port_.send(frames); }
  std::size_t receive(std::span<can::Frame> frames) noexcept override { return port_.receive(frames); }
  /// Traffic of the whole bus.
  [[nodiscard]] robot::BusTraffic traffic() const noexcept override {
    const BusStatistics statistics = bus_->statistics();
    return {statistics.busy, statistics.frames, statistics.refused};
  }

 private:
  const VirtualCanBus* bus_;
  VirtualCanBus::Port port_;
};

}  // namespace takt::sim
