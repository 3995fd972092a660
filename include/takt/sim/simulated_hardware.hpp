// A simulated robot behind the same interface as a real one. The hardware classes for real buses talk to the
// simulated drives of a RobotSimulation, frame by frame. Give it to a loop in place of the robot's hardware;
// nothing else changes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/robot/robot_hardware.hpp"
#include "takt/sim/robot_simulation.hpp"
#include "takt/sim/virtual_can_port.hpp"

namespace takt::sim {

/// Advances the simulation to each cycle's nominal time before the cycle reads. One thread. read() and
/// write() are real-time safe.
class SimulatedHardware final : public robot::Hardware {
 public:
  /// Simulates the whole robot of the description, at rest at `start` on the loop's clock. Allocates. Errors:
  /// those of RobotSimulation::create() and RobotHardware::create().
  [[nodiscard]] static SetupResult<std::unique_ptr<SimulatedHardware>> create(
      const robot::RobotDescription& robot, Time start = Time{});

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override;
  void write(Time now, std::span<const JointCommand> commands) noexcept override;
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override;
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override;
  void ask_identity() noexcept override;
  [[nodiscard]] std::string identity(std::size_t joint) const override;

  /// The simulation: true positions, faults to inject, bus statistics.
  [[nodiscard]] RobotSimulation& simulation() noexcept { return simulation_; }
  [[nodiscard]] const RobotSimulation& simulation() const noexcept { return simulation_; }

 private:
  explicit SimulatedHardware(RobotSimulation simulation) noexcept;

  RobotSimulation simulation_;
  std::vector<std::unique_ptr<VirtualCanPort>> ports_;
  std::unique_ptr<robot::RobotHardware> hardware_;
};

}  // namespace takt::sim
