// The transmissions of a robot: values of its joints become values of its actuators, and back. A joint and an
// actuator of a transmission share a slot: actuator k of a transmission has the slot of its joint k. So the
// drive of a slot is the drive of this actuator. Joints without a transmission have the same value in both
// spaces.
//
//     auto space = robot::ActuatorSpace::create(description);
//     if (!space) return complain(space.error().message);
//     space->actuator_positions(joints, actuators);  // in the cycle: no heap, no lock
//
// Power is the same in both spaces, and joint -> actuator -> joint gives the same values again.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "takt/control/transmission.hpp"
#include "takt/core/finite_math.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/description.hpp"

namespace takt::robot {

/// Converts between joints and actuators. After create() every function is real-time safe and takes a few
/// nanoseconds for each joint of a transmission. Both spans have size() values, in the order of
/// RobotDescription::joints. They are the same memory, or do not overlap. If one is shorter, nothing changes.
class ActuatorSpace {
 public:
  /// Errors: no_such_joint. control::Errc::wrong_size: not as many joints or actuators as the kind has.
  /// control::Errc::out_of_domain: a reduction of 0, reductions that are too different, or a joint in two
  /// transmissions. control::Errc::not_finite. The message names the transmission.
  [[nodiscard]] static SetupResult<ActuatorSpace> create(const RobotDescription& robot);

  /// The number of joints, and of actuators.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// rad or m, from joints to actuators.
  void actuator_positions(std::span<const double> joints, std::span<double> actuators) const noexcept {
    convert(joints, actuators, [](const auto& map, const auto& q) { return map.actuator_positions(q); });
  }
  /// rad/s or m/s, from joints to actuators.
  void actuator_velocities(std::span<const double> joints, std::span<double> actuators) const noexcept {
    convert(joints, actuators, [](const auto& map, const auto& v) { return map.actuator_velocities(v); });
  }
  /// N m or N, from joints to actuators.
  void actuator_efforts(std::span<const double> joints, std::span<double> actuators) const noexcept {
    convert(joints, actuators, [](const auto& map, const auto& t) { return map.actuator_efforts(t); });
  }

  /// rad or m, from actuators to joints.
  void joint_positions(std::span<const double> actuators, std::span<double> joints) const noexcept {
    convert(actuators, joints, [](const auto& map, const auto& q) { return map.joint_positions(q); });
  }
  /// rad/s or m/s, from actuators to joints.
  void joint_velocities(std::span<const double> actuators, std::span<double> joints) const noexcept {
    convert(actuators, joints, [](const auto& map, const auto& v) { return map.joint_velocities(v); });
  }
  /// N m or N, from actuators to joints.
  void joint_efforts(std::span<const double> actuators, std::span<double> joints) const noexcept {
    convert(actuators, joints, [](const auto& map, const auto& t) { return map.joint_efforts(t); });
  }

 private:
  /// One transmission, with the slots of its joints and actuators.
  template <std::size_t count>
  struct Placed {
    std::array<std::size_t, count> slots{};
    control::Transmission<count> map;
  };

  explicit ActuatorSpace(std::size_t size) noexcept : size_(size) {}

  [[nodiscard]] SetupResult<void> add(const TransmissionDescription& transmission);

  template <class Values>
  void convert(std::span<const double> in, std::span<double> out, const Values& values) const noexcept {
    if (in.size() < size_ || out.size() < size_) return;
    if (in.data() != out.data()) {
      for (std::size_t i = 0; i < size_; ++i) out[i] = in[i];
    }
    for (const Placed<1>& placed : singles_) convert_one(placed, out, values);
    for (const Placed<2>& placed : pairs_) convert_one(placed, out, values);
  }

  template <std::size_t count, class Values>
  static void convert_one(const Placed<count>& placed, std::span<double> slots,
                          const Values& values) noexcept {
    std::array<double, count> in{};
    for (std::size_t i = 0; i < count; ++i) in[i] = slots[placed.slots[i]];
    const std::array<double, count> out = values(placed.map, in);
    for (std::size_t i = 0; i < count; ++i) slots[placed.slots[i]] = out[i];
  }

  std::size_t size_;
  std::vector<Placed<1>> singles_;
  std::vector<Placed<2>> pairs_;
};

/// The robot as its drives see it: joint k describes the actuator in slot k. Limits and tolerances are the
/// widest that the joints of its transmission allow. The simulated plant and the rated effort are those of
/// the joints, seen through the transmission. Counts, address and settings stay: they are the actuator's
/// already. `space` is that of the robot. Allocates.
[[nodiscard]] RobotDescription at_actuators(const RobotDescription& robot, const ActuatorSpace& space);

/// Compares what the actuators of one transmission reach with the position words of their buses, which have a
/// protocol. Narrows the limits of its continuous joints to what the words hold. `index`: into the robot's
/// transmissions; `space` is that of the robot. Errors: position_out_of_reach; then nothing has changed.
[[nodiscard]] SetupResult<void> fit_reach(RobotDescription& robot, std::size_t index,
                                          const ActuatorSpace& space);

/// Says that a continuous joint turns less than once within its fitted limits, and why; empty if it turns
/// more, or is not continuous. `joint`: into the robot's joints. Allocates.
[[nodiscard]] std::string short_turn(const RobotDescription& robot, std::size_t joint);

}  // namespace takt::robot
