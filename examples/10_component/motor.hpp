// A motor, its controller and a log as components. They know each other only by their ports. main.cpp runs
// them in simulated time; motor_plugin.cpp brings them to `takt launch system.json`.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/component/port.hpp"
#include "takt/control/pid.hpp"

namespace motor_example {

using takt::Status;
using takt::component::Component;
using takt::component::ComponentMetadata;
using takt::component::CycleTime;
using takt::component::InPort;
using takt::component::OutPort;
using takt::component::Parameter;

/// The state of a joint.
struct JointReading {
  double position = 0;  // rad
  double velocity = 0;  // rad/s

  TAKT_FIELDS(JointReading, position, velocity)
};

/// A motor behind a gear: inertia and viscous friction.
struct Motor final : Component {
  static constexpr ComponentMetadata about{.type = "Motor",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "plant",
                                           .description = "Turns a joint by a torque."};
  explicit Motor(std::string name) : Component(about, std::move(name)) {}

  // All controllers have computed their torques when any component updates its state.
  Status on_state_update(const CycleTime& cycle) noexcept override {
    static_cast<void>(torque.read());  // without a new one, the last one acts
    const double seconds = takt::to_seconds(cycle.period);
    reading_.velocity += seconds * (torque.value() - *friction * reading_.velocity) / *inertia;
    reading_.position += seconds * reading_.velocity;
    JointReading measured = reading_;
    if (!*sensor_works) measured.position = NAN;
    joint.write(measured, cycle.time);
    return {};
  }

  InPort<double> torque{*this, "torque"};  // N m
  OutPort<JointReading> joint{*this, "joint"};
  Parameter<double> inertia{
      *this, "inertia", {.initial = 0.1, .minimum = 0.001, .maximum = 100, .unit = "kg m^2"}};
  Parameter<double> friction{
      *this, "friction", {.initial = 0.6, .minimum = 0, .maximum = 100, .unit = "N m s/rad"}};
  Parameter<bool> sensor_works{*this, "sensor_works", {.initial = true}};

 private:
  JointReading reading_;
};

/// Holds the motor at a position.
struct Controller final : Component {
  static constexpr ComponentMetadata about{.type = "Controller",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "control",
                                           .description = "Turns a motor to a position."};
  explicit Controller(std::string name) : Component(about, std::move(name)) {}

  takt::SetupResult<void> on_initialize() override {
    takt::control::PidGains gains;
    gains.proportional = 14;
    gains.derivative = 0.8;
    gains.derivative_filter = 0.005;
    auto pid = takt::control::Pid::make(gains);
    if (!pid) return takt::fail(pid.error(), "the gains are wrong");
    pid_.emplace(*pid);
    return {};
  }
  Status on_execute(const CycleTime& cycle) noexcept override {
    ++executions;
    if (joint.read() == takt::shm::Freshness::none) return {};  // the motor has not spoken yet
    const auto step = pid_->step(*target, joint.value().position, takt::to_seconds(cycle.period));
    if (step.error != takt::control::Errc{}) return takt::fail(step.error);
    torque.write(step.value, cycle.time);
    return {};
  }

  InPort<JointReading> joint{*this, "joint"};
  OutPort<double> torque{*this, "torque"};  // N m
  Parameter<double> target{*this, "target", {.initial = 1, .minimum = -3.2, .maximum = 3.2, .unit = "rad"}};
  int executions = 0;

 private:
  std::optional<takt::control::Pid> pid_;
};

/// Takes the energy out of the motor.
struct Brake final : Component {
  static constexpr ComponentMetadata about{.type = "Brake",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "safety",
                                           .description = "Brakes a motor."};
  explicit Brake(std::string name) : Component(about, std::move(name)) {}

  Status on_execute(const CycleTime& cycle) noexcept override {
    if (joint.read() != takt::shm::Freshness::none) torque.write(-5 * joint.value().velocity, cycle.time);
    return {};
  }

  InPort<JointReading> joint{*this, "joint"};
  OutPort<double> torque{*this, "torque"};  // N m
};

/// Keeps the mean speed of a joint, in another context or process.
struct SpeedLog final : Component {
  static constexpr ComponentMetadata about{.type = "SpeedLog",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "log",
                                           .description = "Averages the speed of a joint."};
  explicit SpeedLog(std::string name) : Component(about, std::move(name)) {}

  Status on_execute(const CycleTime& cycle) noexcept override {
    for (int i = 0; i < 64 && joint.read() == takt::shm::Freshness::new_data; ++i)
      mean_ += *share * (std::abs(joint.value().velocity) - mean_);
    mean_speed.write(mean_, cycle.time);
    return {};
  }

  InPort<JointReading> joint{*this, "joint"};
  OutPort<double> mean_speed{*this, "mean_speed"};  // rad/s
  Parameter<double> share{
      *this, "share", {.initial = 0.01, .minimum = 0, .maximum = 1, .description = "Of each new value."}};

 private:
  double mean_ = 0;
};

}  // namespace motor_example
