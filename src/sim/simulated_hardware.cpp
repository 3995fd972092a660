#include "takt/sim/simulated_hardware.hpp"

#include <algorithm>
#include <utility>

#include "takt/robot/cia402_hardware.hpp"
#include "takt/robot/hubo_hardware.hpp"
#include "takt/robot/servo_hardware.hpp"

namespace takt::sim {

SimulatedHardware::SimulatedHardware(RobotSimulation simulation) noexcept
    : simulation_(std::move(simulation)) {}

SetupResult<std::unique_ptr<SimulatedHardware>> SimulatedHardware::create(
    const robot::RobotDescription& robot, Time start) {
  auto simulation = RobotSimulation::create(robot, start);
  if (!simulation) return tl::unexpected(simulation.error());
  std::unique_ptr<SimulatedHardware> self(new SimulatedHardware(std::move(*simulation)));

  for (std::size_t bus = 0; bus < robot.buses.size(); ++bus)
    self->ports_.push_back(self->simulation_.host(bus));
  std::vector<VirtualCanBus::Port*> buses;
  for (VirtualCanBus::Port& port : self->ports_) buses.push_back(&port);

  const auto speaks = [&robot](robot::Protocol protocol) {
    return std::any_of(robot.buses.begin(), robot.buses.end(),
                       [protocol](const robot::BusDescription& bus) { return bus.protocol == protocol; });
  };
  const std::span<VirtualCanBus::Port* const> all(buses);
  if (speaks(robot::Protocol::hubo)) {
    auto boards = robot::HuboHardware<VirtualCanBus::Port>::create(robot, all);
    if (!boards) return tl::unexpected(boards.error());
    self->hardware_.push_back(std::move(*boards));
  }
  if (speaks(robot::Protocol::servo)) {
    auto drives = robot::ServoHardware<VirtualCanBus::Port>::create(robot, all);
    if (!drives) return tl::unexpected(drives.error());
    self->hardware_.push_back(std::move(*drives));
  }
  if (speaks(robot::Protocol::cia402)) {
    auto drives = robot::Cia402Hardware<VirtualCanBus::Port>::create(robot, all);
    if (!drives) return tl::unexpected(drives.error());
    self->hardware_.push_back(std::move(*drives));
  }
  return self;
}

void SimulatedHardware::read(Time now, std::span<robot::JointFeedback> feedback) noexcept {
  simulation_.advance(now);
  for (const auto& part : hardware_) part->read(now, feedback);
}

void SimulatedHardware::write(Time now, std::span<const robot::JointCommand> commands) noexcept {
  for (const auto& part : hardware_) part->write(now, commands);
}

robot::HardwareCounters SimulatedHardware::counters() const noexcept {
  robot::HardwareCounters sum;
  for (const auto& part : hardware_) sum += part->counters();
  return sum;
}

std::uint64_t SimulatedHardware::starved(std::size_t joint) const noexcept {
  std::uint64_t sum = 0;
  for (const auto& part : hardware_) sum += part->starved(joint);
  return sum;
}

}  // namespace takt::sim
