// The drives of a robot on the buses of its description: SocketCAN, slcan, or a virtual bus with simulated
// drives. The loop sees one robot::Hardware, and does not know which they are.
//
//     auto devices = app::Devices::create(robot, {.simulate = true});   // or .buses = {{"arm", "can1"}}
//     if (!devices) return complain(devices.error().message);            // no frame was sent
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/app/bus.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/can_port.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/sim/joint_physics.hpp"
#include "takt/sim/robot_simulation.hpp"

namespace takt::app {

/// Another interface for a bus than the description's.
struct BusOverride {
  std::string bus;        ///< its name in the description
  std::string interface;  ///< as for parse_bus_address()
};

/// The interface of each bus: "virtual" if simulated, else that of the description, unless an override
/// replaces it. Of two overrides for one bus the later one counts. Errors: no_such_bus.
[[nodiscard]] SetupResult<std::vector<std::string>> interfaces_of(const robot::RobotDescription& robot,
                                                                  bool simulate,
                                                                  std::span<const BusOverride> overrides);

/// Why frames on a bus find no acknowledge, for people: "bus arm (can0): nobody acknowledged 12 frames; ...".
/// Its interface is the one in use. Allocates.
[[nodiscard]] std::string describe_unacknowledged(const robot::BusDescription& bus, std::uint64_t count);

/// Options of Devices::create().
struct DeviceOptions {
  bool simulate = false;             ///< as for DeviceVariant::simulated, whatever the description says
  std::vector<BusOverride> buses{};  ///< the last one of a bus counts
  /// Ports of the caller, one for each bus. Null or missing ones are opened as described. They must outlive
  /// the devices.
  std::vector<robot::CanPort*> ports{};
  Time start{};  ///< start time of the simulation, on the loop's clock
  /// Moves the joints of the simulation, instead of a plant for each. It must outlive the devices.
  sim::JointPhysics* physics = nullptr;
  /// Real buses receive every frame, so that counters() also counts frames of unknown drives.
  bool all_frames = false;
};

/// All drives of a robot. One thread, except interface_of(), which any thread may call. Real-time safe after
/// create().
class Devices final : public robot::Hardware {
 public:
  /// Opens every bus, and sends nothing. A description with transmissions has its drives behind them
  /// (robot/transmission_hardware.hpp). Allocates. Errors: bad_description (its devices are recorded),
  /// no_such_bus (of an override), those of parse_bus_address(), open_bus(), robot::ActuatorSpace::create(),
  /// robot::RobotHardware::create() and sim::RobotSimulation::create().
  [[nodiscard]] static SetupResult<std::unique_ptr<Devices>> create(const robot::RobotDescription& robot,
                                                                    const DeviceOptions& options = {});

  /// Advances the simulation, if there is one, to `now`, then reads the drives.
  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override;
  void write(Time now, std::span<const JointCommand> commands) noexcept override;
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override;
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override;
  void ask_identity() noexcept override;
  [[nodiscard]] std::string identity(std::size_t joint) const override;

  /// Number of buses in the description.
  [[nodiscard]] std::size_t bus_count() const noexcept { return ports_.size(); }
  /// Traffic of a bus since it was opened.
  [[nodiscard]] robot::BusTraffic traffic(std::size_t bus) const noexcept { return ports_[bus]->traffic(); }
  /// Whether frames pass on a bus.
  [[nodiscard]] robot::BusLink link(std::size_t bus) const noexcept { return ports_[bus]->link(); }
  /// The interface of a bus: "can0", "virtual", or "own" for a port of the caller.
  [[nodiscard]] const std::string& interface_of(std::size_t bus) const noexcept { return interfaces_[bus]; }
  /// The simulated robot, with true positions and faults to inject; null if no bus is virtual. Joint k is the
  /// actuator of slot k (robot/actuator_space.hpp).
  [[nodiscard]] sim::RobotSimulation* simulation() noexcept { return simulation_ ? &*simulation_ : nullptr; }

 private:
  Devices() = default;

  robot::RobotDescription actuators_;  ///< the robot as its drives see it
  std::optional<sim::RobotSimulation> simulation_;
  std::vector<std::unique_ptr<robot::CanPort>> owned_;
  std::vector<robot::CanPort*> ports_;
  std::vector<std::string> interfaces_;
  std::unique_ptr<robot::Hardware> drives_;
  std::unique_ptr<robot::Hardware> transmissions_;  ///< before the drives; null: there are none
  robot::Hardware* hardware_ = nullptr;             ///< one of the two
};

}  // namespace takt::app
