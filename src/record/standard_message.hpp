// Messages of ROS 2 for types of takt that mean the same, so that Foxglove, RViz and PlotJuggler know them:
//
//   robot::ImuSample              sensor_msgs/msg/Imu
//   robot::Wrench                 geometry_msgs/msg/WrenchStamped
//   controllers::OdometrySample   nav_msgs/msg/Odometry
//
// The first two have all numbers of the type, in its order, so nothing is lost. In addition they have a
// header and covariances, which are zeros: unknown. A unit without an orientation has -1 there, as REP 145
// says. Odometry has a quaternion for the heading, which rounds. Its frames are "odom" and "base_link" (REP
// 105).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "record/cdr.hpp"

namespace takt::record {

/// The definitions that a std_msgs/Header brings, to stand behind those of a message's own fields.
inline constexpr std::string_view header_definition =
    R"(================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
)";

/// A message of ROS 2 whose numbers are those of a type.
struct StandardMessage {
  std::string_view schema;  ///< of the type, as shm/schema.hpp writes it
  std::string_view name;    ///< "sensor_msgs/msg/Imu"
  std::string definition;   ///< with those of its parts, in the encoding "ros2msg"
  /// Numbers behind each field of the type that the type does not have.
  std::span<const std::size_t> covariances{};
  /// Writes the message with its header, and reads what is behind the header. Null: the fields one by one.
  void (*write)(CdrWriter& writer, std::uint64_t stamp, std::span<const std::uint8_t> value) = nullptr;
  void (*read)(CdrReader& reader, std::span<std::uint8_t> value) = nullptr;

  /// Whether the message keeps every bit of the value.
  [[nodiscard]] bool is_exact() const noexcept { return write == nullptr; }
};

/// The message for a type with this schema; null: the type has none.
[[nodiscard]] const StandardMessage* standard_message(std::string_view schema);

}  // namespace takt::record
