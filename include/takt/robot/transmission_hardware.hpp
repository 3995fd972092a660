// Drives behind transmissions. The loop commands joints, and the drives move actuators. app::Devices uses it
// for each description with transmissions. Hardware of the caller gets commands of joints, unless it is
// behind one of these:
//
//     auto space = robot::ActuatorSpace::create(description);
//     const robot::RobotDescription actuators = robot::at_actuators(description, *space);
//     auto drives = robot::RobotHardware::create(actuators, ports);
//     robot::TransmissionHardware hardware(description, *space, **drives);
//
// Each slot keeps its own drive: its state, its fault, its power and its counters.
//
// Modes. The actuators of one transmission share a mode, as none of them moves a joint alone. If the joints
// are commanded in different modes, the actuators get positions. A joint by velocity then moves by the
// integral of its velocity, and a joint by effort is held where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/actuator_space.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::robot {

/// The joints of a robot, all of them moved by the actuators of another Hardware. One thread; real-time safe
/// after construction.
class TransmissionHardware final : public Hardware {
 public:
  /// `space` is that of the robot. `drives` has one entry per slot, and must outlive this object. Allocates.
  TransmissionHardware(const RobotDescription& robot, ActuatorSpace space, Hardware& drives);

  /// Reads the drives. A joint is heard once all actuators of its transmission are, and has the stamp of the
  /// oldest one.
  void read(Time now, std::span<JointFeedback> feedback) noexcept override;
  /// Writes the drives. Less than one command per joint changes nothing.
  void write(Time now, std::span<const JointCommand> commands) noexcept override;
  [[nodiscard]] HardwareCounters counters() const noexcept override { return drives_->counters(); }
  [[nodiscard]] std::uint64_t starved(std::size_t joint) const noexcept override {
    return drives_->starved(joint);
  }
  void ask_identity() noexcept override { drives_->ask_identity(); }
  [[nodiscard]] std::string identity(std::size_t joint) const override { return drives_->identity(joint); }

 private:
  /// The slots of one transmission with two joints.
  struct Pair {
    std::size_t first = 0;
    std::size_t second = 0;
  };

  void share_modes(const Pair& pair) noexcept;
  void move_by_position(std::size_t joint) noexcept;

  ActuatorSpace space_;
  Hardware* drives_;
  double period_;  ///< s
  std::vector<Pair> pairs_;
  std::vector<JointFeedback> actuators_;  ///< of the last read()
  std::vector<JointCommand> commands_;    ///< of joints, then of actuators
  std::vector<double> values_;            ///< one quantity of all slots
  std::vector<double> measured_;          ///< rad or m, of the joints; the last finite ones
  std::vector<double> integral_;          ///< rad or m, of joints that move by position instead of their mode
  std::vector<bool> integrates_;          ///< whether a joint does so
};

}  // namespace takt::robot
