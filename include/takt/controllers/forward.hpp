// Forwards setpoints to joints: positions, velocities or efforts. The manager keeps the limits of the joints.
//
// A position that changes from cycle to cycle is followed with its velocity, so without delay.
//
// Setpoints come by the port "setpoints", all joints at once. An input "name/joint", which another controller
// commands, wins while it is driven. A joint without a setpoint is released, so the manager holds it. That is
// so after the activation, and when the port is silent for longer than the timeout.
//
// A sample with another number of joints or with NaN is ignored, and counted by the state "name/rejected".
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/parameter.hpp"
#include "takt/controllers/position_stream.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/controllers/setpoints.hpp"
#include "takt/controllers/timed_input.hpp"
#include "takt/core/joint.hpp"
#include "takt/robot/controller.hpp"

namespace takt::controllers {

/// Commands joints by the setpoints of others.
class ForwardController final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "ForwardController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Forwards setpoints to joints."};
  explicit ForwardController(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: empty_list, named_twice, too_many_names; those of claim_joint() and input().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto claimed = claim_joints(*this, joints, resources, *mode);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    for (robot::Joint* joint : *claimed) {
      const auto input = resources.input(joint->name(), {});
      if (!input) return tl::unexpected<SetupError>(input.error());
      axes_.push_back({joint, *input});
    }
    return resources.output("rejected", {}, setpoints.rejected());
  }
  [[nodiscard]] SetupResult<void> on_check() override { return check_fixed(*this, joints, mode); }

  [[nodiscard]] Status on_activate(const component::CycleTime&) noexcept override {
    setpoints.discard();
    for (Axis& axis : axes_) axis.stream = {};
    return {};
  }
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    const JointSetpoints* sample = setpoints.newest(
        cycle.time, *timeout, [this](const JointSetpoints& s) { return are_setpoints(s, axes_.size()); });
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      Axis& axis = axes_[i];
      if (axis.input.driven()) {
        // The manager ends a controller that commands NaN; until then the last command stays.
        if (std::isfinite(axis.input.get())) command(axis, axis.input.get(), cycle.period);
      } else if (sample != nullptr) {
        command(axis, sample->values[i], cycle.period);
      } else {
        axis.joint->release();
        axis.stream = {};
      }
    }
    return {};
  }

  component::Parameter<NameList> joints{
      *this, "joints", {.description = "Names of the joints, with commas."}};
  component::Parameter<CommandMode> mode{*this,
                                         "mode",
                                         {.initial = CommandMode::position,
                                          .choices = {"position", "velocity", "effort"},
                                          .description = "What the setpoints are."}};
  component::Parameter<double> timeout{
      *this,
      "timeout",
      {.initial = 0,
       .minimum = 0,
       .maximum = 3600,
       .unit = "s",
       .description = "The joints are released when no setpoint has come for so long; 0: never."}};
  TimedInput<JointSetpoints> setpoints{*this, "setpoints"};

 private:
  struct Axis {
    robot::Joint* joint = nullptr;
    robot::InputHandle input;
    PositionStream stream{};
  };

  void command(Axis& axis, double value, Duration period) const noexcept {
    switch (*mode) {
      case CommandMode::position:
        return axis.joint->follow({value, axis.stream.velocity(value, period), 0});
      case CommandMode::velocity:
        return axis.joint->set_velocity(value);
      case CommandMode::effort:
        return axis.joint->set_effort(value);
    }
  }

  std::vector<Axis> axes_;
};

}  // namespace takt::controllers
