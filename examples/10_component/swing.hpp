// A component that swings a joint of a robot beside it. robot.json connects it to a controller of the robot,
// which keeps the limits.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/controllers/setpoints.hpp"

namespace swing_example {

/// Velocities of a joint, to and fro.
struct Swing final : takt::component::Component {
  static constexpr takt::component::ComponentMetadata about{.type = "Swing",
                                                            .version = "1.0.0",
                                                            .vendor = "takt",
                                                            .category = "control",
                                                            .description = "Swings a joint to and fro."};
  explicit Swing(std::string name) : Component(about, std::move(name)) {}

  takt::Status on_execute(const takt::component::CycleTime& cycle) noexcept override {
    seconds_ += takt::to_seconds(cycle.period);
    takt::controllers::JointSetpoints wanted{.count = 1};
    wanted.values[0] = *speed * std::cos(2 * std::numbers::pi * seconds_ / *period);
    velocities.write(wanted, cycle.time);
    return {};
  }

  takt::component::OutPort<takt::controllers::JointSetpoints> velocities{*this, "velocities"};
  takt::component::Parameter<double> speed{
      *this, "speed", {.initial = 1, .minimum = 0, .maximum = 10, .unit = "rad/s"}};
  takt::component::Parameter<double> period{
      *this, "period", {.initial = 2, .minimum = 0.1, .maximum = 100, .unit = "s"}};

 private:
  double seconds_ = 0;
};

}  // namespace swing_example
