// Excites one joint by a sine whose frequency rises or falls: for the identification of a joint, and its Bode
// plot (bode.hpp).
//
// The sweep is around the point of the activation: the measured position, the velocity zero, or the constant
// effort of the parameter "offset". The activation fails if the sweep would leave the limits of the joint. At
// the end the controller becomes inactive, and the state "name/progress" is 1. A start sweeps again.
//
// The states "name/excitation" and "name/response" are the samples for frequency_response(): what was
// commanded after all limits one cycle ago, and what was measured since.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "takt/component/parameter.hpp"
#include "takt/control/generators.hpp"
#include "takt/controllers/error.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/error.hpp"

namespace takt::controllers {

/// Excites one joint by a sine sweep.
class SineSweepController final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "SineSweepController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Excites a joint by a sine sweep."};
  explicit SineSweepController(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: those of claim_joint() and output().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto claimed = resources.claim_joint(joint->view(), *mode);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    axis_ = *claimed;
    if (auto done = resources.output("excitation", {}, excitation_); !done) return done;
    if (auto done = resources.output("response", {}, response_); !done) return done;
    return resources.output("progress", {}, progress_);
  }
  [[nodiscard]] SetupResult<void> on_check() override {
    if (!control::SineSweep::make(amplitude.proposed(), first.proposed(), last.proposed(),
                                  duration.proposed()))
      return takt::fail(Errc::bad_sweep, name() + ": " + std::string(describe(Errc::bad_sweep)));
    return check_fixed(*this, joint, mode);
  }

  /// Errors: no_measurement, beyond_limits, bad_sweep.
  [[nodiscard]] Status on_activate(const component::CycleTime&) noexcept override {
    const robot::JointFeedback& feedback = axis_->feedback();
    if (!feedback.heard) return takt::fail(Errc::no_measurement);
    const auto made = control::SineSweep::make(*amplitude, *first, *last, *duration);
    if (!made) return takt::fail(Errc::bad_sweep);
    centre_ = *mode == CommandMode::position ? feedback.position : *mode == CommandMode::effort ? *offset : 0;
    if (!is_within_limits()) return takt::fail(Errc::beyond_limits);
    sweep_ = *made;
    time_ = 0;
    progress_ = 0;
    commanded_ = centre_;
    return {};
  }
  /// Errors: robot::Errc::finished, at the end.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    excitation_ = sent();
    response_ = measured();
    progress_ = std::min(time_ / *duration, 1.0);
    if (progress_ >= 1 || !sweep_) return takt::fail(robot::Errc::finished);
    command(sweep_->at(time_));
    time_ += to_seconds(cycle.period);
    return {};
  }

  component::Parameter<component::FixedText<31>> joint{*this, "joint", {.description = "Name of the joint."}};
  component::Parameter<CommandMode> mode{*this,
                                         "mode",
                                         {.initial = CommandMode::position,
                                          .choices = {"position", "velocity", "effort"},
                                          .description = "What the sine commands."}};
  component::Parameter<double> amplitude{
      *this,
      "amplitude",
      {.initial = 0.01, .minimum = 0, .maximum = 1e6, .unit = "rad", .description = "Or rad/s, or N m."}};
  component::Parameter<double> offset{
      *this,
      "offset",
      {.initial = 0,
       .minimum = -1e6,
       .maximum = 1e6,
       .unit = "N m",
       .description = "Effort around which the sine is, in the mode effort."}};
  component::Parameter<double> first{
      *this,
      "first",
      {.initial = 0.5, .minimum = 1e-3, .maximum = 1e5, .unit = "Hz", .description = "The first frequency."}};
  component::Parameter<double> last{
      *this,
      "last",
      {.initial = 20, .minimum = 1e-3, .maximum = 1e5, .unit = "Hz", .description = "The last frequency."}};
  component::Parameter<double> duration{
      *this,
      "duration",
      {.initial = 20, .minimum = 0.01, .maximum = 3600, .unit = "s", .description = "Of the sweep."}};

 private:
  /// Whether the greatest values of the sweep are within the limits of the joint.
  [[nodiscard]] bool is_within_limits() const noexcept {
    const JointLimits& limits = axis_->limits();
    const double fastest = 2 * std::numbers::pi * std::max(*first, *last);
    const double slowest = 2 * std::numbers::pi * std::min(*first, *last);
    const double position = axis_->feedback().position;
    const auto keeps_range = [&](double below, double above) {
      return position - below >= limits.position_min && position + above <= limits.position_max;
    };
    switch (*mode) {
      case CommandMode::position:
        return keeps_range(*amplitude, *amplitude) && *amplitude * fastest <= limits.velocity &&
               *amplitude * fastest * fastest <= limits.acceleration;
      case CommandMode::velocity: {
        // The position is an integral from zero: it moves to one side, or to both, by up to two amplitudes.
        const double way = 2 * *amplitude / slowest;
        return keeps_range(way, way) && *amplitude <= limits.velocity &&
               *amplitude * fastest <= limits.acceleration;
      }
      case CommandMode::effort:
        return std::abs(*offset) + *amplitude <= limits.effort;
    }
    return false;
  }

  void command(const MotionState& sine) noexcept {
    commanded_ = centre_ + sine.position;
    switch (*mode) {
      case CommandMode::position:
        return axis_->follow({commanded_, sine.velocity, sine.acceleration});
      case CommandMode::velocity:
        return axis_->set_velocity(commanded_);
      case CommandMode::effort:
        return axis_->set_effort(commanded_);
    }
  }

  /// What the drive got in the last cycle. An effort within the limits passes unchanged.
  [[nodiscard]] double sent() const noexcept {
    if (*mode == CommandMode::position) return axis_->reference().position;
    return *mode == CommandMode::velocity ? axis_->reference().velocity : commanded_;
  }
  [[nodiscard]] double measured() const noexcept {
    const robot::JointFeedback& feedback = axis_->feedback();
    return *mode == CommandMode::velocity ? feedback.velocity : feedback.position;
  }

  robot::Joint* axis_ = nullptr;
  std::optional<control::SineSweep> sweep_;
  double centre_ = 0;
  double time_ = 0;  ///< s since the activation
  double commanded_ = 0;
  double excitation_ = 0;
  double response_ = 0;
  double progress_ = 0;  ///< 0 to 1
};

}  // namespace takt::controllers
