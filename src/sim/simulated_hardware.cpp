#include "takt/sim/simulated_hardware.hpp"

#include <utility>

namespace takt::sim {

SimulatedHardware::SimulatedHardware(RobotSimulation simulation) noexcept
    : simulation_(std::move(simulation)) {}

SetupResult<std::unique_ptr<SimulatedHardware>> SimulatedHardware::create(
    const robot::RobotDescription& robot, Time start) {
  auto simulation = RobotSimulation::create(robot, start);
  if (!simulation) return tl::unexpected(simulation.error());
  std::unique_ptr<SimulatedHardware> self(new SimulatedHardware(std::move(*simulation)));

  std::vector<robot::CanPort*> ports;
  for (std::size_t bus = 0; bus < robot.buses.size(); ++bus) {
    const RobotSimulation& world = self->simulation_;
    self->ports_.push_back(std::make_unique<VirtualCanPort>(world.bus(bus), world.host(bus)));
    ports.push_back(self->ports_.back().get());
  }
  auto hardware = robot::RobotHardware::create(robot, ports);
  if (!hardware) return tl::unexpected(hardware.error());
  self->hardware_ = std::move(*hardware);
  return self;
}

void SimulatedHardware::read(Time now, std::span<robot::JointFeedback> feedback) noexcept {
  simulation_.advance(now);
  hardware_->read(now, feedback);
}

void SimulatedHardware::write(Time now, std::span<const JointCommand> commands) noexcept {
  hardware_->write(now, commands);
}

robot::HardwareCounters SimulatedHardware::counters() const noexcept { return hardware_->counters(); }

std::uint64_t SimulatedHardware::starved(std::size_t joint) const noexcept {
  return hardware_->starved(joint);
}

void SimulatedHardware::ask_identity() noexcept { hardware_->ask_identity(); }

std::string SimulatedHardware::identity(std::size_t joint) const { return hardware_->identity(joint); }

}  // namespace takt::sim
