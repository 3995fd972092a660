// A whole robot in memory: one virtual CAN bus for each bus of its description, the drives that the
// description names on them, and a host port for each bus, over which the same hardware classes talk to it
// that talk to a real robot.
//
//     auto simulation = sim::RobotSimulation::create(description).value();
//     each period, at its nominal time t:  simulation.advance(t);  hardware.read(t, ...);  ...
//     hardware.write(t, ...);
//
// Frames that the host sends enter the bus at the time up to which the simulation was advanced. Nothing looks
// at a clock or draws a random number: equal calls give equal bits.
#pragma once

#include <cstddef>
#include <memory>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/error.hpp"
#include "takt/sim/joint_fault.hpp"
#include "takt/sim/virtual_can_bus.hpp"

namespace takt::sim {

/// The simulated robot. Set-up allocates and may fail; everything else is real-time safe and for one thread.
/// Joint and bus numbers are those of the description and must be below its counts.
class RobotSimulation {
 public:
  /// Builds the robot at rest, its joints where the description starts them, its drives without power, at
  /// time `start`.
  [[nodiscard]] static SetupResult<RobotSimulation> create(const robot::RobotDescription& description,
                                                           Time start = Time{});
  RobotSimulation(RobotSimulation&&) noexcept;
  RobotSimulation& operator=(RobotSimulation&&) noexcept;
  ~RobotSimulation();

  /// Lets time pass for everything, in the exact order of events. A time in the past changes nothing.
  void advance(Time to) noexcept;
  [[nodiscard]] Time now() const noexcept;

  [[nodiscard]] std::size_t bus_count() const noexcept;
  /// The host's end of a bus: a can::CanBus. Valid as long as the simulation lives, also when that is moved.
  [[nodiscard]] VirtualCanBus::Port host(std::size_t bus) const noexcept;
  /// The bus itself: its statistics, its disturbances. Only the simulation may advance it.
  [[nodiscard]] VirtualCanBus& bus(std::size_t bus) noexcept;
  [[nodiscard]] const VirtualCanBus& bus(std::size_t bus) const noexcept;

  /// Where a joint really is now, rad or m, and how fast it moves: what no encoder tells.
  [[nodiscard]] double position(std::size_t joint) const noexcept;
  [[nodiscard]] double velocity(std::size_t joint) const noexcept;
  /// Breaks a joint, or mends it with JointFault::none.
  void inject(std::size_t joint, JointFault fault) noexcept;
  /// A constant torque against a joint's motor, N m.
  void set_load(std::size_t joint, double torque) noexcept;

 private:
  class World;
  explicit RobotSimulation(std::unique_ptr<World> world) noexcept;
  std::unique_ptr<World> world_;
};

}  // namespace takt::sim
