#include "record/standard_message.hpp"

#include <array>

namespace takt::record {
namespace {

constexpr std::string_view vector_definition =
    R"(================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
)";

constexpr std::array<std::size_t, 3> imu_covariances = {9, 9, 9};
constexpr std::array<std::size_t, 2> no_covariances = {0, 0};

std::string imu_definition() {
  return R"(std_msgs/Header header
geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance
)" + std::string(header_definition) +
         std::string(vector_definition) +
         R"(================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
)";
}

std::string wrench_definition() {
  return "std_msgs/Header header\ngeometry_msgs/Wrench wrench\n" + std::string(header_definition) +
         std::string(vector_definition) +
         R"(================================================================================
MSG: geometry_msgs/Wrench
geometry_msgs/Vector3 force
geometry_msgs/Vector3 torque
)";
}

}  // namespace

const StandardMessage* standard_message(std::string_view schema) {
  static const std::array<StandardMessage, 2> all = {
      StandardMessage{"orientation f64[4], angular_velocity f64[3], acceleration f64[3]",
                      "sensor_msgs/msg/Imu", imu_definition(), imu_covariances},
      StandardMessage{"force f64[3], torque f64[3]", "geometry_msgs/msg/WrenchStamped", wrench_definition(),
                      no_covariances}};
  for (const StandardMessage& message : all) {
    if (message.schema == schema) return &message;
  }
  return nullptr;
}

}  // namespace takt::record
