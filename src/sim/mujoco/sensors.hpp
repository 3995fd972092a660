// The sensors of a MuJoCo model as a device, and its further actuators as commands.
#pragma once

#include <mujoco/mujoco.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "takt/robot/device.hpp"
#include "takt/robot/sensors.hpp"

namespace takt::sim {

/// Reads the sensors that the last step computed. Model, data and `diverged` must outlive the device.
class MujocoSensors final : public robot::Device {
 public:
  static constexpr component::ComponentMetadata about{.type = "MujocoSensors",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "device",
                                                      .description = "Sensors and actuators in MuJoCo."};
  /// `is_drive`: whether an actuator belongs to a joint of the robot; one entry for each.
  MujocoSensors(const mjModel& model, mjData& data, const bool& diverged, std::vector<bool> is_drive);

  [[nodiscard]] SetupResult<void> on_declare(robot::Declarations& declarations) override;
  /// Errors: physics_diverged.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override;
  [[nodiscard]] Status on_state_update(const component::CycleTime& cycle) noexcept override;

 private:
  static constexpr int none = -1;

  /// An inertial unit, by the places of its parts in sensordata.
  struct Imu {
    int gyro = none;
    int accelerometer = none;
    int orientation = none;
    robot::ImuSample sample{};
  };
  struct ForceTorque {
    int force = none;
    int torque = none;
    robot::Wrench sample{};
  };
  struct Scalar {
    std::string name;
    std::string unit;
    int place = 0;
    double value = 0;
  };
  struct Command {
    std::string name;
    int actuator = 0;
    double value = 0;  ///< at first as in the model
    bool driven = false;
  };

  void find_units();
  void find_scalars();
  void find_commands();
  [[nodiscard]] bool is_of_unit(int sensor) const;
  void read(int place, robot::Vector3& into, double sign = 1) const noexcept;

  const mjModel* model_;
  mjData* data_;
  const bool* diverged_;
  std::vector<bool> is_drive_;
  std::map<int, Imu> imus_;              ///< by site
  std::map<int, ForceTorque> wrenches_;  ///< by site
  std::deque<Scalar> scalars_;
  std::deque<Command> commands_;
};

}  // namespace takt::sim
