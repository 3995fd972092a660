// ROS 2's sensor_msgs/msg/JointState in CDR (XCDR1, little endian), which Foxglove, PlotJuggler and ROS read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace takt::record {

inline constexpr const char* joint_state_name = "sensor_msgs/msg/JointState";

/// The definition, with those of its parts, in the encoding "ros2msg".
[[nodiscard]] const char* joint_state_schema() noexcept;

/// The members of one message. Each array is empty or as long as `names`.
struct JointStateMessage {
  std::uint64_t stamp = 0;   ///< ns since 1970
  std::string_view frame{};  ///< the robot
  std::span<const std::string> names{};
  std::span<const double> positions{};   ///< rad or m
  std::span<const double> velocities{};  ///< rad/s or m/s
  std::span<const double> efforts{};     ///< N m or N
};

/// The message as bytes, with the header of CDR.
[[nodiscard]] std::string joint_state_cdr(const JointStateMessage& message);

}  // namespace takt::record
