// Drives a vehicle of the robot (robot/vehicle_device.hpp) by a twist. The twist comes from the port
// "command", or from the inputs "name/forward" and "name/rotation" while another controller drives one of
// them. The limits, the law and the odometry are the vehicle's own.
//
// A command older than the timeout counts as standstill: the vehicle brakes by its limits. Any other stop of
// the vehicle makes the controller fail, so that a person or a program decides whether it may go on. A reset
// and a start of the controller end the stop, if the vehicle stands and the cause is gone.
//
// Outputs: "name/ready" is 1 while the vehicle obeys, "name/timed_out" while there is no command. Of the
// commands, "name/rejected_commands" counts those with NaN, and "name/late_commands" those that arrived too
// old.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/controllers/base_drive.hpp"
#include "takt/controllers/fresh_samples.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/core/time.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/mobile/twist_command.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/vehicle_device.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace takt::controllers {

/// Drives a vehicle by a twist.
class VehicleDriveController final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "VehicleDriveController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Drives a vehicle by a twist."};
  explicit VehicleDriveController(std::string name) : Controller(about, std::move(name)) {}

  /// The commanded twist. One that arrives older than the timeout does not count; without a stamp it is new.
  component::InPort<mobile::Twist> command{*this, "command"};
  /// The odometry, after each report of the vehicle.
  component::OutPort<OdometrySample> odometry{*this, "odometry"};

  component::Parameter<NameList> vehicle{
      *this, "vehicle", {.initial = "base", .description = "Name of the vehicle's device."}};
  component::Parameter<double> timeout{
      *this,
      "timeout",
      {.initial = 0.5,
       .minimum = 0.01,
       .maximum = 10,
       .unit = "s",
       .description = "Without a command for this time, the vehicle brakes to standstill."}};

  [[nodiscard]] SetupResult<void> on_check() override { return check_fixed(*this, vehicle); }
  /// Errors: those of Resources::sensor(), claim(), input() and output().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override;
  void on_parameters() noexcept override;
  [[nodiscard]] Status on_activate(const component::CycleTime& cycle) noexcept override;
  /// Errors: vehicle::Errc::stopped.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override;

 private:
  [[nodiscard]] mobile::Twist wanted(const component::CycleTime& cycle) noexcept;
  void take_command(Time now) noexcept;
  void publish() noexcept;

  std::optional<mobile::TwistCommand> held_;
  FreshSamples fresh_;
  const vehicle::OdometryEstimate* estimate_ = nullptr;
  const robot::VehicleStatus* status_ = nullptr;
  robot::CommandHandle forward_;
  robot::CommandHandle rotation_;
  robot::InputHandle forward_input_;
  robot::InputHandle rotation_input_;
  bool is_first_ = true;  ///< execution since the activation: a stop from before may end in this cycle
  Time published_{};      ///< stamp of the last odometry
  double timed_out_ = 0;  ///< 1: the command is too old
  double rejected_ = 0;   ///< commands with NaN or infinity
  double late_ = 0;       ///< commands that arrived older than the timeout
  double ready_ = 0;      ///< 1: the vehicle obeys
};

}  // namespace takt::controllers
