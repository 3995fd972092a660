// The controller of a base that moves in any direction: four mecanum wheels, or three to six omni wheels on a
// circle. The command port, the timeout, the limits and the odometry are in base_drive.hpp.
//
// The joints are in the order of mobile/holonomic_drive.hpp: front left, front right, rear left, rear right
// for mecanum wheels; counter-clockwise for omni wheels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "takt/controllers/base_drive.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/mobile/holonomic_drive.hpp"

namespace takt::controllers {

/// The wheels of a base that moves in any direction.
enum class HolonomicLayout : std::uint8_t { mecanum, omni };

/// Drives mecanum or omni wheels by velocity.
class HolonomicDriveController final : public BaseDriveController {
 public:
  static constexpr component::ComponentMetadata about{
      .type = "HolonomicDriveController",
      .version = "1.0.0",
      .vendor = "takt",
      .category = "controller",
      .description = "Drives a base with mecanum or omni wheels by a twist."};
  explicit HolonomicDriveController(std::string name) : BaseDriveController(about, std::move(name)) {}

  component::Parameter<NameList> wheels{
      *this, "wheels", {.description = "The joints, with commas: 4 mecanum wheels, 3 to 6 omni wheels."}};
  component::Parameter<HolonomicLayout> layout{*this,
                                               "layout",
                                               {.initial = HolonomicLayout::mecanum,
                                                .choices = {"mecanum", "omni"},
                                                .description = "The kind of wheels."}};
  component::Parameter<double> wheel_radius{
      *this,
      "wheel_radius",
      {.initial = 0.1, .minimum = 1e-3, .maximum = 10, .unit = "m", .description = "Of all wheels."}};
  component::Parameter<double> length{*this,
                                      "length",
                                      {.initial = 0.5,
                                       .minimum = 1e-2,
                                       .maximum = 100,
                                       .unit = "m",
                                       .description = "Between front and rear mecanum wheels."}};
  component::Parameter<double> width{*this,
                                     "width",
                                     {.initial = 0.5,
                                      .minimum = 1e-2,
                                      .maximum = 100,
                                      .unit = "m",
                                      .description = "Between left and right mecanum wheels."}};
  component::Parameter<double> circle{*this,
                                      "circle",
                                      {.initial = 0.25,
                                       .minimum = 1e-2,
                                       .maximum = 100,
                                       .unit = "m",
                                       .description = "Radius of the circle of omni wheels."}};
  component::Parameter<double> first_wheel{*this,
                                           "first_wheel",
                                           {.initial = 0,
                                            .minimum = -10,
                                            .maximum = 10,
                                            .unit = "rad",
                                            .description = "Angle of the first omni wheel on the circle."}};

  [[nodiscard]] SetupResult<void> on_check() override;

 private:
  static constexpr std::size_t most_wheels = 6;
  using Rates = std::array<double, most_wheels>;

  [[nodiscard]] SetupResult<void> claim_joints(robot::Resources& resources) override;
  void update_geometry() noexcept override;
  [[nodiscard]] mobile::Twist feasible(const mobile::Twist& wanted) const noexcept override;
  mobile::Twist drive(const mobile::Twist& twist) noexcept override;
  [[nodiscard]] mobile::Twist measured_twist() noexcept override;
  [[nodiscard]] mobile::Twist measured_motion() noexcept override;
  void accept_motion() noexcept override;
  [[nodiscard]] bool moves_sideways() const noexcept override { return true; }

  [[nodiscard]] SetupResult<void> check_count(std::size_t count, HolonomicLayout kind) const;
  template <class Visit>
  void with_drive(Visit&& visit) const noexcept;
  [[nodiscard]] Rates rates(const mobile::Twist& twist) const noexcept;
  [[nodiscard]] mobile::Twist twist(const Rates& rates) const noexcept;
  [[nodiscard]] Rates measured_rates() noexcept;
  void watch_slip() noexcept;

  std::variant<std::monostate, mobile::HolonomicDrive<3>, mobile::HolonomicDrive<4>,
               mobile::HolonomicDrive<5>,
               mobile::HolonomicDrive<6>>
      drive_;                       ///< monostate: before claim_joints()
  std::vector<WheelGroup> wheels_;  ///< one wheel each
  double slip_ = 0;                 ///< rad/s, of the wheel that deviates most from a rolling motion
};

}  // namespace takt::controllers
