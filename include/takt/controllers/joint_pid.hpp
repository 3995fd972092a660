// One PID whose anti-windup is chosen at run time, and the parameters from which controllers make it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "takt/component/component.hpp"
#include "takt/component/parameter.hpp"
#include "takt/control/pid.hpp"
#include "takt/controllers/error.hpp"
#include "takt/controllers/number_list.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::controllers {

/// The treatment of the integral at a limit (control/pid.hpp).
enum class Windup : std::uint8_t {
  hold,              ///< control::AntiWindup::hold_when_deeper
  clamp,             ///< control::AntiWindup::clamping
  back_calculation,  ///< control::AntiWindup::back_calculation
};

/// A PID with one of these forms. A value; every function is real-time safe.
class JointPid {
 public:
  /// All gains are zero.
  JointPid() = default;

  /// Errors: those of control::BasicPid::make().
  [[nodiscard]] static Result<JointPid> make(const control::PidGains& gains, Windup windup) noexcept {
    JointPid pid;
    const auto take = [&]<class Pid>(Result<Pid> made) noexcept -> Result<JointPid> {
      if (!made) return takt::fail(made.error());
      pid.pid_ = *made;
      return pid;
    };
    if (windup == Windup::clamp) return take(Clamp::make(gains));
    if (windup == Windup::back_calculation) return take(Back::make(gains));
    return take(Hold::make(gains));
  }

  /// Replaces the gains and keeps the integral. Errors: as make(); then the old gains stay.
  Status set(const control::PidGains& gains) noexcept {
    return std::visit([&](auto& pid) noexcept { return pid.set(gains); }, pid_);
  }
  /// Controls for one period (s). Errors: those of control::BasicPid::step().
  control::Step step(double setpoint, double measured, double period, double feed_forward) noexcept {
    return std::visit([&](auto& pid) noexcept { return pid.step(setpoint, measured, period, feed_forward); },
                      pid_);
  }
  /// Returns to the initial state, with the integral or without.
  void reset(control::IntegralReset integral) noexcept {
    std::visit([&](auto& pid) noexcept { pid.reset(integral); }, pid_);
  }
  /// The contribution of the integral to the output.
  [[nodiscard]] double integral_part() const noexcept {
    return std::visit([](const auto& pid) noexcept { return pid.integral_part(); }, pid_);
  }

 private:
  using Hold = control::Pid;
  using Clamp = control::BasicPid<double, control::PidForm{.anti_windup = control::AntiWindup::clamping}>;
  using Back =
      control::BasicPid<double, control::PidForm{.anti_windup = control::AntiWindup::back_calculation}>;

  std::variant<Hold, Clamp, Back> pid_;
};

/// The parameters of the PIDs of a controller's joints. Each list has one number for all joints, or one for
/// each.
class PidParameters {
 public:
  /// The text of a list of numbers.
  using Numbers = component::FixedText<number_list_size>;

  /// Adds the parameters to the component. Not real-time safe.
  explicit PidParameters(component::Component& owner) : owner_(&owner) {}

  /// The gains of all joints by the values in use. `gains` has one entry per joint. Returns false if a list
  /// is none. Real-time safe.
  [[nodiscard]] bool read(std::span<control::PidGains> gains) const noexcept {
    return read(
        gains, [](const auto& parameter) -> const auto& { return *parameter; });
  }
  /// Judges the proposed values, for `joints` joints; 0: not known yet. For on_check(). Errors:
  /// bad_number_list, bad_gains.
  [[nodiscard]] SetupResult<void> check(std::size_t joints) const {
    if (joints == 0) return {};
    std::array<control::PidGains, max_joints> gains;
    const std::span its = std::span(gains).first(joints);
    if (!read(
            its, [](const auto& parameter) -> const auto& { return parameter.proposed(); }))
      return takt::fail(Errc::bad_number_list,
                        owner_->name() + ": " + std::string(describe(Errc::bad_number_list)));
    for (std::size_t i = 0; i < joints; ++i) {
      if (const auto made = JointPid::make(gains[i], anti_windup.proposed()); !made) {
        return takt::fail(Errc::bad_gains,
                          owner_->name() + ", joint " + std::to_string(i) + ": " +
                              std::string(control::describe(static_cast<control::Errc>(made.error().code))));
      }
    }
    return {};
  }

 private:
  template <class Value>
  [[nodiscard]] bool read(std::span<control::PidGains> gains, const Value& value) const noexcept {
    std::array<double, max_joints> numbers{};
    const std::span its = std::span(numbers).first(gains.size());
    const auto each = [&](const auto& parameter, double control::PidGains::*member) {
      if (!read_numbers(value(parameter).view(), its)) return false;
      for (std::size_t i = 0; i < gains.size(); ++i) gains[i].*member = its[i];
      return true;
    };
    if (!each(proportional, &control::PidGains::proportional) ||
        !each(integral, &control::PidGains::integral) || !each(derivative, &control::PidGains::derivative) ||
        !each(integral_limit, &control::PidGains::integral_max) ||
        !each(output_limit, &control::PidGains::output_max))
      return false;
    for (control::PidGains& its_gains : gains) {
      its_gains.integral_min = -its_gains.integral_max;
      its_gains.output_min = -its_gains.output_max;
      its_gains.setpoint_weight = value(setpoint_weight);
      its_gains.derivative_weight = value(derivative_weight);
      its_gains.derivative_filter = value(derivative_filter);
      its_gains.tracking_time = value(tracking_time);
      its_gains.dead_band = value(dead_band);
    }
    return true;
  }

  component::Component* owner_;

 public:
  component::Parameter<Numbers> proportional{
      *owner_, "proportional", {.initial = "0", .unit = "u/e", .description = "Output per error."}};
  component::Parameter<Numbers> integral{
      *owner_,
      "integral",
      {.initial = "0", .unit = "u/(e s)", .description = "Output per error and second."}};
  component::Parameter<Numbers> derivative{
      *owner_,
      "derivative",
      {.initial = "0", .unit = "u s/e", .description = "Output per change of the error in a second."}};
  component::Parameter<Numbers> integral_limit{
      *owner_,
      "integral_limit",
      {.initial = "inf", .unit = "u", .description = "Largest contribution of the integral."}};
  component::Parameter<Numbers> output_limit{
      *owner_,
      "output_limit",
      {.initial = "inf", .unit = "u", .description = "Largest output, within the joint's limits."}};
  component::Parameter<double> setpoint_weight{
      *owner_,
      "setpoint_weight",
      {.initial = 1,
       .minimum = 0,
       .maximum = 1,
       .description = "Share of the setpoint in the proportional part."}};
  component::Parameter<double> derivative_weight{
      *owner_,
      "derivative_weight",
      {.initial = 0,
       .minimum = 0,
       .maximum = 1,
       .description = "Share of the setpoint in the derivative: 0 gives no kick, 1 is on the error."}};
  component::Parameter<double> derivative_filter{
      *owner_,
      "derivative_filter",
      {.initial = 0,
       .minimum = 0,
       .maximum = 10,
       .unit = "s",
       .description = "Time constant of the derivative; 0: unfiltered."}};
  component::Parameter<double> dead_band{*owner_,
                                         "dead_band",
                                         {.initial = 0,
                                          .minimum = 0,
                                          .maximum = 1e6,
                                          .unit = "e",
                                          .description = "Errors up to this are not integrated."}};
  component::Parameter<Windup> anti_windup{
      *owner_,
      "anti_windup",
      {.initial = Windup::hold,
       .choices = {"hold", "clamp", "back_calculation"},
       .description = "What happens to the integral while the output is at a limit."}};
  component::Parameter<double> tracking_time{*owner_,
                                             "tracking_time",
                                             {.initial = 0,
                                              .minimum = 0,
                                              .maximum = 1000,
                                              .unit = "s",
                                              .description = "Of back_calculation; 0: from the gains."}};
};

}  // namespace takt::controllers
