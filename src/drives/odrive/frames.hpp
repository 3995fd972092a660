// The frames of CANSimple, the protocol of ODrive motor drives on classic CAN. It makes a node's frames of
// the messages of odrive.dbc, which are those of node 0, and converts joints to motor turns. Plain data;
// real-time safe.
//
// An identifier is 32 times the node plus the number of the message. A remote frame requests a message. From
// firmware 0.5.5 on, an empty data frame does so too. But if the drive sends a data frame of the same
// identifier at the same time, the two destroy each other. A remote frame loses the arbitration instead.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "takt/can/frame.hpp"
#include "takt/can/message.hpp"
#include "takt_drives/odrive.hpp"  // made of odrive.dbc when takt is built

namespace takt::drives {

namespace odrive = takt_drives::odrive;

namespace odrive_frame {

inline constexpr std::uint32_t message_bits = 5;
inline constexpr std::uint8_t last_node = 0x3E;  // 3F has no drive: it calls all of them

[[nodiscard]] constexpr std::uint32_t node_of(const can::Frame& frame) noexcept {
  return frame.id >> message_bits;
}
template <class Message>
[[nodiscard]] constexpr std::uint32_t id_of(std::uint8_t node) noexcept {
  return std::uint32_t{node} << message_bits | Message::message.id;
}
/// The same frame from node 0, as odrive::visit() takes it.
[[nodiscard]] constexpr can::Frame of_node_0(can::Frame frame) noexcept {
  frame.id &= (1U << message_bits) - 1;
  return frame;
}

/// A message to or from a node. Errors: those of can::encode().
template <class Message>
[[nodiscard]] constexpr Result<can::Frame> of_node(std::uint8_t node, const Message& message) noexcept {
  auto frame = can::encode(message);
  if (frame) frame->id = id_of<Message>(node);
  return frame;
}
/// A remote frame that asks a node for a message.
template <class Message>
[[nodiscard]] constexpr can::Frame ask(std::uint8_t node) noexcept {
  can::Frame frame;
  frame.id = id_of<Message>(node);
  frame.remote = true;
  return frame;
}

}  // namespace odrive_frame

/// Bits of JointFeedback::fault. The lower ones are the drive's own, as in Heartbeat::errors and
/// Errors::disarm_reason.
namespace odrive_fault {
inline constexpr std::uint32_t initializing = 1;
inline constexpr std::uint32_t no_estimate = 0x8;
inline constexpr std::uint32_t gate_driver = 0x20;
inline constexpr std::uint32_t velocity = 0x8000;
inline constexpr std::uint32_t watchdog = 0x100'0000;
// The master's, where the drive has none.
inline constexpr std::uint32_t duplicate = 1U << 22;      ///< two drives answer with this node id
inline constexpr std::uint32_t start_refused = 1U << 23;  ///< the drive did not enter closed loop control
inline constexpr std::uint32_t old_firmware = 1U << 29;   ///< before 0.6: the lower bits have other meanings
inline constexpr std::uint32_t power_lost = 1U << 31;
}  // namespace odrive_fault

/// Between a joint (rad, N m; m, N where it is linear) and its motor (turns, N m).
class OdriveScale {
 public:
  /// Motor turns per rad or m; not 0, negative where they turn against each other.
  explicit constexpr OdriveScale(double turns_per_unit) noexcept : turns_per_unit_(turns_per_unit) {}

  [[nodiscard]] constexpr double turns(double joint) const noexcept { return joint * turns_per_unit_; }
  [[nodiscard]] constexpr double joint(double turns) const noexcept { return turns / turns_per_unit_; }
  [[nodiscard]] constexpr double torque(double effort) const noexcept { return effort / effort_per_torque(); }
  [[nodiscard]] constexpr double effort(double torque) const noexcept { return torque * effort_per_torque(); }

 private:
  /// Without losses, the power on both sides is the same.
  [[nodiscard]] constexpr double effort_per_torque() const noexcept {
    return 2 * std::numbers::pi * turns_per_unit_;
  }
  double turns_per_unit_;
};

}  // namespace takt::drives
