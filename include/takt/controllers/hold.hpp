// Holds joints at the position of their activation, by efforts: a PID for each, beside an effort that carries
// the load. It is meant as fallback of other controllers, also of those whose drives know no position mode.
//
// The load is a constant of the list "effort", plus the input "name/joint", which another controller
// commands: a gravity compensation, for example. With `works_in_stop` it goes on while the robot stops and is
// stopped.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/parameter.hpp"
#include "takt/controllers/joint_pid.hpp"
#include "takt/controllers/number_list.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/core/joint.hpp"
#include "takt/robot/controller.hpp"

namespace takt::controllers {

/// Holds joints where they are.
class HoldController final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "HoldController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Holds joints where they are."};
  explicit HoldController(std::string name) : Controller(about, std::move(name)) {}

  /// Errors: empty_list, named_twice, too_many_names, bad_number_list, bad_gains; those of claim_joint() and
  /// input().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto claimed = claim_joints(*this, joints, resources, CommandMode::effort);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    for (robot::Joint* joint : *claimed) {
      const auto input = resources.input(joint->name(), "N m", 0, robot::SafeValue::zero);
      if (!input) return tl::unexpected<SetupError>(input.error());
      axes_.push_back({.joint = joint, .input = *input});
    }
    return check_lists();
  }
  [[nodiscard]] SetupResult<void> on_check() override {
    if (auto checked = check_fixed(*this, joints, gains.anti_windup); !checked) return checked;
    return axes_.empty() ? SetupResult<void>() : check_lists();
  }
  [[nodiscard]] bool works_in_stop() const noexcept override { return *goes_on; }

  /// Errors: no_measurement.
  [[nodiscard]] Status on_activate(const component::CycleTime&) noexcept override {
    on_parameters();
    for (Axis& axis : axes_) {
      if (!axis.joint->feedback().heard) return takt::fail(Errc::no_measurement);
      axis.pid = JointPid::make(axis.gains, *gains.anti_windup).value_or(JointPid());
      axis.position = axis.joint->feedback().position;
    }
    return {};
  }
  /// Errors: not_finite (the effort would overflow).
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    const double period = to_seconds(cycle.period);
    for (Axis& axis : axes_) {
      if (std::isfinite(axis.input.get())) axis.carried = axis.load + axis.input.get();
      const control::Step step =
          axis.pid.step(axis.position, axis.joint->feedback().position, period, axis.carried);
      if (!step.ok()) return takt::fail(Errc::not_finite);
      axis.joint->set_effort(step.value);
    }
    return {};
  }
  void on_parameters() noexcept override {
    std::array<control::PidGains, max_joints> read;
    std::array<double, max_joints> loads{};
    if (axes_.empty() || !gains.read(std::span(read).first(axes_.size())) ||
        !read_numbers(effort->view(), std::span(loads).first(axes_.size())))
      return;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      Axis& axis = axes_[i];
      const double most = axis.joint->limits().effort;
      axis.gains = read[i];
      axis.gains.output_max = std::min(axis.gains.output_max, most);
      axis.gains.output_min = std::max(axis.gains.output_min, -most);
      axis.load = loads[i];
      (void)axis.pid.set(axis.gains);
    }
  }

  component::Parameter<NameList> joints{
      *this, "joints", {.description = "Names of the joints, with commas."}};
  component::Parameter<component::FixedText<number_list_size>> effort{
      *this,
      "effort",
      {.initial = "0", .unit = "N m", .description = "Efforts that carry the joints: one, or one for each."}};
  component::Parameter<bool> goes_on{
      *this,
      "works_in_stop",
      {.initial = false, .description = "It goes on while the robot stops and is stopped."}};
  PidParameters gains{*this};

 private:
  struct Axis {
    robot::Joint* joint = nullptr;
    robot::InputHandle input;
    JointPid pid{};
    control::PidGains gains{};
    double position = 0;  ///< that is held
    double load = 0;      ///< the constant effort
    double carried = 0;   ///< the constant and the last finite input
  };

  [[nodiscard]] SetupResult<void> check_lists() const {
    std::array<double, max_joints> loads{};
    const std::span its = std::span(loads).first(axes_.size());
    const bool are_numbers = read_numbers(effort.proposed().view(), its);
    if (!are_numbers || !std::ranges::all_of(its, [](double load) { return std::isfinite(load); })) {
      return takt::fail(Errc::bad_number_list,
                        name() + ".effort: " + std::string(describe(Errc::bad_number_list)));
    }
    return gains.check(axes_.size());
  }

  std::vector<Axis> axes_;
};

}  // namespace takt::controllers
