// A PID for each of several joints: from a position or a velocity to an effort or a velocity.
//
// Setpoints come by the port "setpoints", all joints at once, or by the inputs "name/joint", which win while
// another controller drives them. After the activation the setpoint is the measured position, or the velocity
// zero. A silent port releases the joints after the timeout. With the next setpoint the PIDs begin anew.
//
// A continuous joint takes the shorter direction. The output is limited by the joint's own limit, too, so
// that the anti-windup knows it. A setpoint with which the output would overflow ends the controller.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/parameter.hpp"
#include "takt/controllers/joint_pid.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/controllers/setpoints.hpp"
#include "takt/controllers/timed_input.hpp"
#include "takt/core/joint.hpp"
#include "takt/robot/controller.hpp"

namespace takt::controllers {

/// Controls joints by PIDs.
class PidController final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "PidController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Controls joints by PIDs."};
  /// The measured quantity that follows the setpoint.
  enum class Measured : std::uint8_t { position, velocity };
  /// What the PID commands.
  enum class Output : std::uint8_t { effort, velocity };

  explicit PidController(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: empty_list, named_twice, too_many_names, bad_number_list, bad_gains; those of claim_joint(),
  /// input() and output().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto claimed = claim_joints(
        *this, joints, resources, *output == Output::effort ? CommandMode::effort : CommandMode::velocity);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    for (robot::Joint* joint : *claimed) {
      const auto input = resources.input(joint->name(), {});
      if (!input) return tl::unexpected<SetupError>(input.error());
      Axis& axis = axes_.emplace_back();
      axis.joint = joint;
      axis.input = *input;
      const auto kind = resources.robot().joints[joint->index()].kind;
      axis.wraps = kind == robot::JointKind::continuous && *measured == Measured::position;
      if (auto published = publish(resources, axis); !published) return published;
    }
    if (auto checked = gains.check(axes_.size()); !checked) return checked;
    read_gains();
    for (Axis& axis : axes_) axis.pid = JointPid::make(axis.gains, *gains.anti_windup).value_or(JointPid());
    return resources.output("rejected", {}, setpoints.rejected());
  }
  [[nodiscard]] SetupResult<void> on_check() override {
    if (auto checked = check_fixed(*this, joints, measured, output, gains.anti_windup); !checked)
      return checked;
    return gains.check(axes_.size());
  }

  /// Errors: no_measurement.
  [[nodiscard]] Status on_activate(const component::CycleTime&) noexcept override {
    setpoints.discard();
    has_sample_ = false;
    for (Axis& axis : axes_) {
      if (!axis.joint->feedback().heard) return takt::fail(Errc::no_measurement);
      begin(axis);
    }
    return {};
  }
  /// Errors: not_finite (the output would overflow).
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    const JointSetpoints* sample = setpoints.newest(
        cycle.time, *timeout, [this](const JointSetpoints& s) { return are_setpoints(s, axes_.size()); });
    has_sample_ = has_sample_ || sample != nullptr;
    const bool is_silent = has_sample_ && sample == nullptr;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      Axis& axis = axes_[i];
      if (axis.input.driven()) {
        if (std::isfinite(axis.input.get())) axis.setpoint = axis.input.get();
      } else if (sample != nullptr) {
        axis.setpoint = sample->values[i];
      } else if (is_silent) {
        axis.joint->release();
        axis.is_released = true;
        continue;
      }
      if (!step_joint(axis, to_seconds(cycle.period))) return takt::fail(Errc::not_finite);
    }
    return {};
  }
  void on_parameters() noexcept override {
    read_gains();
    for (Axis& axis : axes_) (void)axis.pid.set(axis.gains);
  }

  component::Parameter<NameList> joints{
      *this, "joints", {.description = "Names of the joints, with commas."}};
  component::Parameter<Measured> measured{*this,
                                          "measured",
                                          {.initial = Measured::position,
                                           .choices = {"position", "velocity"},
                                           .description = "What follows the setpoint."}};
  component::Parameter<Output> output{*this,
                                      "output",
                                      {.initial = Output::effort,
                                       .choices = {"effort", "velocity"},
                                       .description = "What the PID commands."}};
  PidParameters gains{*this};
  component::Parameter<double> feed_forward{*this,
                                            "feed_forward",
                                            {.initial = 0,
                                             .minimum = -1e6,
                                             .maximum = 1e6,
                                             .unit = "u/e",
                                             .description = "Output per setpoint, beside the PID."}};
  component::Parameter<bool> keep_integral{
      *this,
      "keep_integral",
      {.initial = false, .description = "An activation goes on with the last integral."}};
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
    JointPid pid;
    control::PidGains gains;
    bool wraps = false;        ///< the shorter direction counts
    bool is_released = false;  ///< the manager has the joint
    double setpoint = 0;
    double error = 0;
    double integral = 0;  ///< contribution to the output
  };

  [[nodiscard]] static SetupResult<void> publish(robot::Resources& resources, const Axis& axis) {
    const std::string& name = axis.joint->name();
    if (auto done = resources.output(name + ".error", {}, axis.error); !done) return done;
    return resources.output(name + ".i_term", {}, axis.integral);
  }

  void read_gains() noexcept {
    std::array<control::PidGains, max_joints> read;
    if (axes_.empty() || !gains.read(std::span(read).first(axes_.size()))) return;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const JointLimits& limits = axes_[i].joint->limits();
      const double most = *output == Output::effort ? limits.effort : limits.velocity;
      read[i].output_max = std::min(read[i].output_max, most);
      read[i].output_min = std::max(read[i].output_min, -most);
      axes_[i].gains = read[i];
    }
  }

  [[nodiscard]] double measurement_of(const Axis& axis) const noexcept {
    const robot::JointFeedback& feedback = axis.joint->feedback();
    return *measured == Measured::position ? feedback.position : feedback.velocity;
  }

  /// Begins at the measured position, or at rest.
  void begin(Axis& axis) noexcept {
    axis.setpoint = *measured == Measured::position ? axis.joint->feedback().position : 0;
    axis.is_released = false;
    axis.pid.reset(*keep_integral ? control::IntegralReset::keep : control::IntegralReset::clear);
  }

  /// One step of a joint. Returns false if the output would overflow.
  [[nodiscard]] bool step_joint(Axis& axis, double period) noexcept {
    if (std::exchange(axis.is_released, false)) axis.pid.reset(control::IntegralReset::clear);
    const double is = measurement_of(axis);
    const double difference = axis.setpoint - is;
    axis.error = axis.wraps ? std::remainder(difference, 2 * std::numbers::pi) : difference;
    const control::Step step = axis.pid.step(is + axis.error, is, period, *feed_forward * axis.setpoint);
    axis.integral = axis.pid.integral_part();
    if (*output == Output::effort) axis.joint->set_effort(step.value);
    if (*output == Output::velocity) axis.joint->set_velocity(step.value);
    return step.ok();
  }

  std::deque<Axis> axes_;    ///< addresses stay: numbers in it are published
  bool has_sample_ = false;  ///< the port has had a setpoint since the activation
};

}  // namespace takt::controllers
