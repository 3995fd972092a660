// The controller of a base with two driven sides, each of one or several wheels. Skid-steered and tracked
// bases are included. The command port, the timeout, the limits and the odometry are in base_drive.hpp.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "takt/controllers/base_drive.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/mobile/differential_drive.hpp"

namespace takt::controllers {

/// Drives the wheels of two sides by velocity.
class DifferentialDriveController final : public BaseDriveController {
 public:
  static constexpr component::ComponentMetadata about{
      .type = "DifferentialDriveController",
      .version = "1.0.0",
      .vendor = "takt",
      .category = "controller",
      .description = "Drives a base with two sides by a twist."};
  explicit DifferentialDriveController(std::string name) : BaseDriveController(about, std::move(name)) {}

  component::Parameter<NameList> left{
      *this, "left", {.description = "The joints of the left side, with commas."}};
  component::Parameter<NameList> right{
      *this, "right", {.description = "The joints of the right side, with commas."}};
  component::Parameter<double> track{
      *this,
      "track",
      {.initial = 0.5, .minimum = 1e-3, .maximum = 100, .unit = "m", .description = "Between the sides."}};
  component::Parameter<double> wheel_radius{*this,
                                            "wheel_radius",
                                            {.initial = 0.1,
                                             .minimum = 1e-3,
                                             .maximum = 10,
                                             .unit = "m",
                                             .description = "Nominal, of all wheels."}};
  component::Parameter<double> track_multiplier{
      *this,
      "track_multiplier",
      {.initial = 1, .minimum = 0.1, .maximum = 10, .description = "Measured track / nominal track."}};
  component::Parameter<double> left_radius_multiplier{
      *this,
      "left_radius_multiplier",
      {.initial = 1, .minimum = 0.1, .maximum = 10, .description = "Measured radius / nominal radius."}};
  component::Parameter<double> right_radius_multiplier{
      *this,
      "right_radius_multiplier",
      {.initial = 1, .minimum = 0.1, .maximum = 10, .description = "Measured radius / nominal radius."}};

  [[nodiscard]] SetupResult<void> on_check() override { return check_fixed(*this, left, right); }

 private:
  [[nodiscard]] SetupResult<void> claim_joints(robot::Resources& resources) override {
    const auto lefts = distinct_names(*this, left, max_joints);
    if (!lefts) return tl::unexpected<SetupError>(lefts.error());
    const auto rights = distinct_names(*this, right, max_joints);
    if (!rights) return tl::unexpected<SetupError>(rights.error());
    if (auto distinct = check_distinct(name(), *lefts, *rights); !distinct) return distinct;
    if (auto claimed = left_.claim(resources, *lefts, wheel_jumps_); !claimed) return claimed;
    return right_.claim(resources, *rights, wheel_jumps_);
  }
  void update_geometry() noexcept override {
    const auto fresh =
        mobile::DifferentialDrive::make({.left_radius = *wheel_radius * *left_radius_multiplier,
                                         .right_radius = *wheel_radius * *right_radius_multiplier,
                                         .track = *track * *track_multiplier});
    if (fresh) drive_ = *fresh;  // always: the ranges of the parameters are within those of make()
  }
  [[nodiscard]] mobile::Twist feasible(const mobile::Twist& wanted) const noexcept override {
    const mobile::Twist twist{wanted.forward, 0, wanted.rotation};
    const mobile::Sides rates = drive_->wheels(twist);
    return within_load(twist, larger_load(left_.load(rates.left), right_.load(rates.right)));
  }
  mobile::Twist drive(const mobile::Twist& twist) noexcept override {
    const mobile::Sides rates = drive_->wheels(twist);
    left_.roll(rates.left);
    right_.roll(rates.right);
    return twist;
  }
  [[nodiscard]] mobile::Twist measured_twist() noexcept override {
    return drive_->twist({left_.rate(), right_.rate()});
  }
  [[nodiscard]] mobile::Twist measured_motion() noexcept override {
    return drive_->twist({left_.turned(), right_.turned()});
  }
  void accept_motion() noexcept override {
    left_.accept();
    right_.accept();
  }

  std::optional<mobile::DifferentialDrive> drive_;
  WheelGroup left_;
  WheelGroup right_;
};

}  // namespace takt::controllers
