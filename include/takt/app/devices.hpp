// The drives of a robot, each on the bus that its description names: SocketCAN, slcan, or a virtual bus with simulated drives. To
// the loop they are one Hardware, and nothing above knows which they are.
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
#include "takt/robot/robot_hardware.hpp"
#include "takt/sim/robot_simulation.hpp"

namespace takt::app {

/// An interface in place of the one that the description gives a bus.
struct BusOverride {
  std::string bus;        ///< its name in the description
  std::string interface;  ///< as parse_bus_address() has it
};

/// The interface of each bus: "virtual" if simulated, else the description's; then the overrides, of which a later one of the same
/// bus counts. Error: no_such_bus.
[[nodiscard]] SetupResult<std::vector<std::string>> interfaces_of(const robot::RobotDescription& robot,
                                                                  bool simulate,
                                                                  std::span<const BusOverride> overrides);

struct DeviceOptions {
  bool simulate = false;             ///< every bus is virtual, whatever the description says
  std::vector<BusOverride> buses{};  ///< a later one of the same bus counts
  /// Ports of the caller's own, one for each bus; null, or fewer: as described. They must outlive the devices.
  std::vector<robot::CanPort*> ports{};
  Time start{};  ///< of the simulation, on the loop's clock
  /// Real buses receive every frame, so that counters() has those that no drive of the description sends.
  bool all_frames = false;
};

/// Real-time safe after create(). One thread, but for interface_of().
class Devices final : public robot::Hardware {
 public:
  /// Opens every bus, and sends nothing. The description must outlive the devices. Allocates. Errors: no_such_bus of an override,
  /// those of parse_bus_address() and open_bus(), those of a protocol's master, those of the simulation.
  [[nodiscard]] static SetupResult<std::unique_ptr<Devices>> create(const robot::RobotDescription& robot,
                                                                    const DeviceOptions& options = {});

  /// Lets the simulation, if there is one, pass up to `now` before the drives are read.
  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override;
  void write(Time now, std::span<const robot::JointCommand> commands) noexcept override;
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override;
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override;
  void ask_identity() noexcept override;
  [[nodiscard]] std::string identity(std::size_t joint) const override;

  [[nodiscard]] std::size_t bus_count() const noexcept { return ports_.size(); }
  [[nodiscard]] robot::BusTraffic traffic(std::size_t bus) const noexcept { return ports_[bus]->traffic(); }
  [[nodiscard]] robot::BusLink link(std::size_t bus) const noexcept { return ports_[bus]->link(); }
  /// "can0", or "virtual", or "own" for a port of the caller's.
  [[nodiscard]] const std::string& interface_of(std::size_t bus) const noexcept { return interfaces_[bus]; }
  /// The simulated robot, true positions and faults to inject; null if no bus is virtual.
  [[nodiscard]] sim::RobotSimulation* simulation() noexcept { return simulation_ ? &*simulation_ : nullptr; }

 private:
  Devices() = default;

  std::optional<sim::RobotSimulation> simulation_;
  std::vector<std::unique_ptr<robot::CanPort>> owned_;
  std::vector<robot::CanPort*> ports_;
  std::vector<std::string> interfaces_;
  std::unique_ptr<robot::RobotHardware> hardware_;
};

}  // namespace takt::app
