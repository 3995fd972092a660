// Messages of ROS 2 for types of takt that mean the same, so that Foxglove, RViz and PlotJuggler know them:
//
//   robot::ImuSample   sensor_msgs/msg/Imu
//   robot::Wrench      geometry_msgs/msg/WrenchStamped
//
// They have all numbers of the type, in its order, so nothing is lost. In addition they have a header and
// covariances, which are zeros: unknown. A unit without an orientation has -1 there, as REP 145 says.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace takt::record {

/// A message of ROS 2 whose numbers are those of a type.
struct StandardMessage {
  std::string_view schema;  ///< of the type, as shm/schema.hpp writes it
  std::string_view name;    ///< "sensor_msgs/msg/Imu"
  std::string definition;   ///< with those of its parts, in the encoding "ros2msg"
  /// Numbers behind each field of the type that the type does not have.
  std::span<const std::size_t> covariances;
};

/// The message for a type with this schema; null: the type has none.
[[nodiscard]] const StandardMessage* standard_message(std::string_view schema);

}  // namespace takt::record
