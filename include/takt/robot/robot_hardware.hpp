// All drives of a robot behind one Hardware, whatever protocols its buses speak: one master for each protocol, over one port for
// each bus. Real, simulated and replayed robots differ in the ports alone.
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

class RobotHardware final : public Hardware {
 public:
  /// One port for each bus of the description, in its order. The ports must outlive the hardware. Allocates. Errors: those of
  /// robot/error.hpp; no_such_bus for a bus without a protocol or port.
  [[nodiscard]] static SetupResult<std::unique_ptr<RobotHardware>> create(const RobotDescription& robot,
                                                                          std::span<CanPort* const> ports);

  /// Joints of a bus that is not up are in DriveState::no_bus; once it is back, until their drive has said how it is, or half a second
  /// has passed. Their faults are known then, so that a reset clears them.
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
