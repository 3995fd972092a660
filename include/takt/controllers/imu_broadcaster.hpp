// Publishes an inertial unit, in the robot's own frame: at the port "imu", and as the sensor
// "name.imu" for other controllers.
//
// A device declares the unit as a sensor of type ImuSample. With a mounting rotation R, which turns vectors
// of the unit's frame into the robot's:
//
//   angular velocity = R w,    acceleration = R a,    orientation = q R^-1
//
// A sample with NaN is not published, and counted by the state "name/rejected". A unit without an orientation
// reports a quaternion of zeros, which stays zero.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/controllers/rotation.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/sensors.hpp"

namespace takt::controllers {

using robot::ImuSample;

/// The sample in a frame in which the unit is mounted by `mounting`, a unit quaternion. std::nullopt: a
/// number is not finite. The orientation has norm 1, or is zero. Real-time safe.
[[nodiscard]] inline std::optional<ImuSample> in_robot_frame(const ImuSample& sample,
                                                             const Quaternion& mounting) noexcept {
  double sum = 0;
  for_each_field(sample, [&](std::string_view, const auto& numbers) {
    for (const double number : numbers) sum += number - number;  // NaN for NaN and infinity
  });
  if (!(sum == 0)) return std::nullopt;
  ImuSample turned{.orientation = {},
                   .angular_velocity = rotate(mounting, sample.angular_velocity),
                   .acceleration = rotate(mounting, sample.acceleration)};
  if (const auto orientation = normalised(sample.orientation))
    turned.orientation = product(*orientation, inverse(mounting));
  return turned;
}

/// Publishes an inertial unit.
class ImuBroadcaster final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "ImuBroadcaster",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "broadcaster",
                                                      .description = "Publishes an inertial unit."};
  explicit ImuBroadcaster(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: those of Resources::sensor(), publish() and output().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto found = resources.sensor<ImuSample>(sensor->view());
    if (!found) return tl::unexpected<SetupError>(found.error());
    source_ = *found;
    on_parameters();
    if (auto done = resources.publish("imu", sample_); !done) return done;
    return resources.output("rejected", {}, rejected_);
  }
  [[nodiscard]] SetupResult<void> on_check() override { return check_fixed(*this, sensor); }
  [[nodiscard]] bool works_in_stop() const noexcept override { return true; }

  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    const auto turned = in_robot_frame(*source_, mounting_);
    if (!turned) {
      rejected_ += 1;
      return {};
    }
    sample_ = *turned;
    imu.write(sample_, cycle.time);
    return {};
  }
  void on_parameters() noexcept override { mounting_ = from_roll_pitch_yaw(*mounting); }

  component::Parameter<NameList> sensor{
      *this, "sensor", {.initial = "imu", .description = "Name of the device's sensor."}};
  component::Parameter<Vector3> mounting{
      *this,
      "mounting",
      {.minimum = -7,
       .maximum = 7,
       .unit = "rad",
       .description = "Roll, pitch and yaw of the unit in the robot's frame."}};
  component::OutPort<ImuSample> imu{*this, "imu"};

 private:
  const ImuSample* source_ = nullptr;
  Quaternion mounting_ = no_rotation;
  ImuSample sample_;
  double rejected_ = 0;
};

}  // namespace takt::controllers
