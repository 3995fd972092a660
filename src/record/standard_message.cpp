#include "record/standard_message.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace takt::record {
namespace {

constexpr std::string_view vector_definition =
    R"(================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
)";

constexpr std::string_view quaternion_definition =
    R"(================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
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
         std::string(vector_definition) + std::string(quaternion_definition);
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

std::string odometry_definition() {
  return "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
         "geometry_msgs/TwistWithCovariance twist\n" +
         std::string(header_definition) +
         R"(================================================================================
MSG: geometry_msgs/PoseWithCovariance
geometry_msgs/Pose pose
float64[36] covariance
================================================================================
MSG: geometry_msgs/Pose
geometry_msgs/Point position
geometry_msgs/Quaternion orientation
================================================================================
MSG: geometry_msgs/Point
float64 x
float64 y
float64 z
================================================================================
MSG: geometry_msgs/TwistWithCovariance
geometry_msgs/Twist twist
float64[36] covariance
================================================================================
MSG: geometry_msgs/Twist
geometry_msgs/Vector3 linear
geometry_msgs/Vector3 angular
)" + std::string(vector_definition) +
         std::string(quaternion_definition);
}

/// The numbers of an odometry, as its schema says.
struct PlanarOdometry {
  double x, y, heading;
  double forward, left, rotation;
  std::array<double, 9> covariance;  ///< of (x, y, heading), row by row
};
/// The rows and columns of (x, y, heading) among those of (x, y, z, roll, pitch, yaw).
constexpr std::array<std::size_t, 3> planar = {0, 1, 5};

void write_odometry(CdrWriter& writer, std::uint64_t stamp, std::span<const std::uint8_t> value) {
  PlanarOdometry its{};
  std::memcpy(&its, value.data(), sizeof(its));
  std::array<double, 36> covariance{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      covariance[6 * planar[row] + planar[column]] = its.covariance[3 * row + column];
  }
  write_header(writer, stamp, "odom");
  writer.text("base_link");
  for (const double number :
       {its.x, its.y, 0.0, 0.0, 0.0, std::sin(its.heading / 2), std::cos(its.heading / 2)})
    writer.number(number);
  for (const double number : covariance) writer.number(number);
  for (const double number : {its.forward, its.left, 0.0, 0.0, 0.0, its.rotation}) writer.number(number);
  for (std::size_t i = 0; i < covariance.size(); ++i) writer.number(0.0);  // unknown
}

void read_odometry(CdrReader& reader, std::span<std::uint8_t> value) {
  static_cast<void>(reader.text());
  const auto take = [&reader]<std::size_t Count>(std::array<double, Count>& numbers) {
    for (double& number : numbers) number = reader.number<double>();
  };
  std::array<double, 7> pose{};
  std::array<double, 36> covariance{};
  std::array<double, 6> twist{};
  take(pose);
  take(covariance);
  take(twist);
  PlanarOdometry its{pose[0], pose[1], 2 * std::atan2(pose[5], pose[6]), twist[0], twist[1], twist[5], {}};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      its.covariance[3 * row + column] = covariance[6 * planar[row] + planar[column]];
  }
  take(covariance);
  std::memcpy(value.data(), &its, sizeof(its));
}

}  // namespace

const StandardMessage* standard_message(std::string_view schema) {
  static const std::array<StandardMessage, 3> all = {
      StandardMessage{"orientation f64[4], angular_velocity f64[3], acceleration f64[3]",
                      "sensor_msgs/msg/Imu", imu_definition(), imu_covariances},
      StandardMessage{"force f64[3], torque f64[3]", "geometry_msgs/msg/WrenchStamped", wrench_definition(),
                      no_covariances},
      StandardMessage{.schema =
                          "pose.x f64, pose.y f64, pose.heading f64, twist.forward f64, twist.left f64, "
                          "twist.rotation f64, covariance f64[9]",
                      .name = "nav_msgs/msg/Odometry",
                      .definition = odometry_definition(),
                      .write = write_odometry,
                      .read = read_odometry}};
  for (const StandardMessage& message : all) {
    if (message.schema == schema) return &message;
  }
  return nullptr;
}

}  // namespace takt::record
