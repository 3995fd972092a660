// A whole robot in memory. It has one virtual CAN bus, with simulated drives, for each bus of the
// description. Each bus has a host port, over which the hardware classes of a real robot talk to the drives.
//
//     auto simulation = sim::RobotSimulation::create(description).value();
//     for (Time t{}; t < end; t += description.period) {
//       simulation.advance(t);
//       hardware.read(t, feedback);
//       hardware.write(t, commands);
//     }
//
// Frames of the host enter the bus at the time of the last advance(). The simulation reads no clock and draws
// no random numbers: equal calls give equal bits.
#pragma once

#include <cstddef>
#include <memory>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/error.hpp"
#include "takt/sim/joint_fault.hpp"
#include "takt/sim/joint_physics.hpp"
#include "takt/sim/virtual_can_bus.hpp"

namespace takt::sim {

/// The simulated robot. Set-up allocates and may fail; everything else is real-time safe. One thread. Numbers
/// of joints and buses are those of the description, and must exist.
class RobotSimulation {
 public:
  /// Simulates the robot from time `start` on, at rest, with its joints at their start positions and its
  /// drives without power. A joint with a transmission is simulated as its actuator (robot::at_actuators()).
  /// With `physics`, these move the joints, which start where the physics have them; they must outlive the
  /// simulation. Errors: bad_plant, bad_place, too_many_nodes, bad_physics; those of
  /// robot::ActuatorSpace::create().
  [[nodiscard]] static SetupResult<RobotSimulation> create(const robot::RobotDescription& description,
                                                           Time start = Time{},
                                                           JointPhysics* physics = nullptr);
  RobotSimulation(RobotSimulation&&) noexcept;
  RobotSimulation& operator=(RobotSimulation&&) noexcept;
  ~RobotSimulation();

  /// Lets time pass for the whole robot, with all events in their exact order. A time in the past changes
  /// nothing.
  void advance(Time to) noexcept;
  /// The time of the last advance().
  [[nodiscard]] Time now() const noexcept;

  /// Returns the number of buses.
  [[nodiscard]] std::size_t bus_count() const noexcept;
  /// The host's port on a bus: a can::CanBus. Valid as long as the simulation, also after moving it.
  [[nodiscard]] VirtualCanBus::Port host(std::size_t bus) const noexcept;
  /// The bus itself, with its statistics and faults. Only the simulation may advance it.
  [[nodiscard]] VirtualCanBus& bus(std::size_t bus) noexcept;
  [[nodiscard]] const VirtualCanBus& bus(std::size_t bus) const noexcept;

  /// The joint's true position, rad or m.
  [[nodiscard]] double position(std::size_t joint) const noexcept;
  /// The joint's true velocity, rad/s or m/s.
  [[nodiscard]] double velocity(std::size_t joint) const noexcept;
  /// Injects a fault into a joint, or ends it with JointFault::none.
  void inject(std::size_t joint, JointFault fault) noexcept;
  /// Sets a constant torque against a joint's motor, N m.
  void set_load(std::size_t joint, double torque) noexcept;

 private:
  class World;
  explicit RobotSimulation(std::unique_ptr<World> world) noexcept;
  std::unique_ptr<World> world_;
};

}  // namespace takt::sim
