// ROS 2's sensor_msgs/msg/JointState in CDR, which Foxglove, PlotJuggler and ROS read, and that of ROS 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/cdr.hpp"

namespace takt::record {

inline constexpr const char* joint_state_name = "sensor_msgs/msg/JointState";

/// The definition, with those of its parts, in the encoding "ros2msg".
[[nodiscard]] const std::string& joint_state_schema();

/// The members of one message. Each array is empty or as long as `names`.
struct JointStateMessage {
  std::uint64_t stamp = 0;   ///< ns since 1970
  std::string_view frame{};  ///< the robot
  std::span<const std::string> names{};
  std::span<const double> positions{};   ///< rad or m
  std::span<const double> velocities{};  ///< rad/s or m/s
  std::span<const double> efforts{};     ///< N m or N
};

/// Writes one whole message.
void write_joint_state(CdrWriter& writer, const JointStateMessage& message);

/// A message that was read. The names point into its bytes.
struct JointStateView {
  std::vector<std::string_view> names;
  std::vector<double> positions;
  std::vector<double> velocities;
  std::vector<double> efforts;
};

/// Reads a message from outside, of either order of bytes. Its lists may be of any lengths. Returns false if
/// its bytes are not a message. The view is then undefined.
[[nodiscard]] bool read_joint_state(std::span<const std::uint8_t> message, JointStateView& view);

/// As above, for ROS 1: packed, little endian, texts without NUL.
[[nodiscard]] bool read_ros1_joint_state(std::span<const std::uint8_t> message, JointStateView& view);

}  // namespace takt::record
