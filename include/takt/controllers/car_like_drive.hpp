// The controller of a base with steered front wheels and driven rear wheels: bicycle, tricycle with driven
// rear wheels, car (Ackermann). The command port, the timeout, the limits and the odometry are in
// base_drive.hpp. The joints decide on the kind:
//
//   steering 1, traction 1    bicycle
//   steering 1, traction 2    one front wheel, and rear wheels left and right
//   steering 2, traction 2    car: front left and right are steered, rear left and right are driven
//   steering 2, traction 4    car: front left, front right, rear left, rear right are driven
//
// A twist of another curve than the tightest turn is driven on the tightest turn, at its speed. A base at
// standstill keeps its steering.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/controllers/base_drive.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/mobile/car_like.hpp"

namespace takt::controllers {

/// Steers joints by position and drives joints by velocity.
class CarLikeDriveController final : public BaseDriveController {
 public:
  static constexpr component::ComponentMetadata about{
      .type = "CarLikeDriveController",
      .version = "1.0.0",
      .vendor = "takt",
      .category = "controller",
      .description = "Drives a base with steered wheels by a twist."};
  explicit CarLikeDriveController(std::string name) : BaseDriveController(about, std::move(name)) {}

  component::Parameter<NameList> steering{
      *this, "steering", {.description = "The steered joints: one, or left and right."}};
  component::Parameter<NameList> traction{
      *this,
      "traction",
      {.description = "The driven joints: one; rear left, right; or front left, right, rear left, right."}};
  component::Parameter<double> wheelbase{
      *this,
      "wheelbase",
      {.initial = 1, .minimum = 1e-2, .maximum = 100, .unit = "m", .description = "Between the axles."}};
  component::Parameter<double> track{*this,
                                     "track",
                                     {.initial = 0,
                                      .minimum = 0,
                                      .maximum = 100,
                                      .unit = "m",
                                      .description = "Between left and right wheels; 0 for a bicycle."}};
  component::Parameter<double> wheel_radius{
      *this,
      "wheel_radius",
      {.initial = 0.1, .minimum = 1e-3, .maximum = 10, .unit = "m", .description = "Of the driven wheels."}};
  component::Parameter<double> max_steering{*this,
                                            "max_steering",
                                            {.initial = 0.6,
                                             .minimum = 1e-2,
                                             .maximum = 1.55,
                                             .unit = "rad",
                                             .description = "Of a wheel in the middle of the front axle."}};
  component::Parameter<bool> waits_for_steering{
      *this,
      "waits_for_steering",
      {.initial = false, .description = "Drives slower until the wheels point where they are to."}};

  [[nodiscard]] SetupResult<void> on_check() override;

 private:
  [[nodiscard]] SetupResult<void> claim_joints(robot::Resources& resources) override;
  void update_geometry() noexcept override;
  [[nodiscard]] mobile::Twist feasible(const mobile::Twist& wanted) const noexcept override;
  mobile::Twist drive(const mobile::Twist& twist) noexcept override;
  [[nodiscard]] mobile::Twist measured_twist() noexcept override;
  [[nodiscard]] mobile::Twist measured_motion() noexcept override;
  void accept_motion() noexcept override;
  void restart() noexcept override;

  [[nodiscard]] double measured_steering() const noexcept;
  [[nodiscard]] std::array<double, 4> shares(double angle) const noexcept;
  [[nodiscard]] double mean_of_rear(double (WheelGroup::*quantity)() noexcept) noexcept;
  void steer(double angle) noexcept;

  std::optional<mobile::Car> car_;
  std::vector<robot::Joint*> steered_;
  std::vector<WheelGroup> driven_wheels_;  ///< one wheel each
  double steering_ = 0;                    ///< rad, commanded
  double steering_before_ = 0;             ///< rad, measured at the last accept_motion()
};

}  // namespace takt::controllers
