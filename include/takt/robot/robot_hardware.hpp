// All drives of a robot behind one Hardware: one master for each protocol, over one port for each bus. Real,
// simulated and replayed robots differ in their ports alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/can_port.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::robot {

/// The hardware of a whole robot. One thread; real-time safe after create().
class RobotHardware final : public Hardware {
 public:
  /// Creates the masters. `ports`: one for each bus of the description, in its order; they must outlive the
  /// hardware. Allocates. Errors: those of robot/error.hpp; no_such_bus for a bus without a protocol or port.
  [[nodiscard]] static SetupResult<std::unique_ptr<RobotHardware>> create(const RobotDescription& robot,
                                                                          std::span<CanPort* const> ports);

  /// Takes in the feedback of all drives. Joints whose bus is not up are in DriveState::no_bus. After the bus
  /// is back, they stay in it until their drive has reported its state, for half a second at most. So a reset
  /// knows their faults, and clears them. One that says nothing then is unknown, as if it never was ready.
  void read(Time now, std::span<JointFeedback> feedback) noexcept override;
  void write(Time now, std::span<const JointCommand> commands) noexcept override;
  [[nodiscard]] HardwareCounters counters() const noexcept override;
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override;
  void ask_identity() noexcept override;
  [[nodiscard]] std::string identity(std::size_t joint) const override;

 private:
  RobotHardware() = default;

  std::vector<std::unique_ptr<Hardware>> masters_;  ///< one for each protocol that the robot speaks
  struct Bus {
    CanPort* port = nullptr;
    JointSet joints{};
    Time lost{};                 ///< when its link was last not up
    std::uint32_t patience = 0;  ///< cycles that its drives still have to say how they are
  };
  std::vector<Bus> buses_;
  std::uint32_t patience_ = 0;  ///< once a bus is back
};

}  // namespace takt::robot
