// The controller that lets joints yield to forces. Each joint moves as if it were a mass on a spring with a
// damper, which hangs on its reference:
//
//   mass a + damping v + stiffness (x - reference) = force
//
//   v' = v + h (force - damping v - stiffness (x - reference)) / mass;    x' = x + h v'
//
// The step, semi-implicit Euler, is stable while 2 h damping / mass + h^2 stiffness / mass < 4. Parameters
// beyond half of that are refused: the motion below is also free of oscillations of the step itself.
//
// The force of a joint is its measured effort times effort_scale, or a sum over numbers of a sensor: force =
// matrix * forces. With the transposed Jacobian of one posture as matrix, a wrench acts on the joints. Forces
// within dead_band count as zero.
//
// References come by the port "references" or by the inputs "name/joint", which win while another controller
// drives them. Without any, the joints return to where they stood at the activation. The motion keeps all
// limits of the joints. It goes to the joints, or into the inputs "follower/joint" of another controller.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/controllers/fresh_samples.hpp"
#include "takt/controllers/number_list.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/controllers/setpoints.hpp"
#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/joint.hpp"

namespace takt::controllers {

/// Moves joints as masses with springs and dampers.
class AdmittanceController final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "AdmittanceController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Lets joints yield to forces."};
  /// The most forces of a sensor.
  static constexpr std::size_t most_forces = 12;
  /// The text of a list of numbers: one for all joints, or one for each.
  using Numbers = component::FixedText<number_list_size>;

  explicit AdmittanceController(std::string name) : Controller(about, std::move(name)) {}

  component::InPort<JointSetpoints> references{*this, "references"};

  component::Parameter<NameList> joints{*this, "joints", {.description = "The joints, with commas."}};
  component::Parameter<component::FixedText<31>> follower{
      *this, "follower", {.description = "The controller that moves the joints; empty: this one."}};
  component::Parameter<Numbers> mass{
      *this,
      "mass",
      {.initial = "1", .unit = "kg m^2", .description = "One number for all joints, or one for each."}};
  component::Parameter<Numbers> damping{
      *this, "damping", {.initial = "10", .unit = "N m s/rad", .description = "As above."}};
  component::Parameter<Numbers> stiffness{
      *this,
      "stiffness",
      {.initial = "10", .unit = "N m/rad", .description = "0: the joint stays where it is."}};
  component::Parameter<NameList> forces{
      *this,
      "forces",
      {.description = "The states of a sensor, such as wrench/force.0; empty: the joints' own efforts."}};
  component::Parameter<component::FixedText<1023>> matrix{
      *this,
      "matrix",
      {.initial = "0", .description = "One row per joint, one column per force, row by row with commas."}};
  component::Parameter<double> effort_scale{
      *this,
      "effort_scale",
      {.initial = -1,
       .minimum = -1e3,
       .maximum = 1e3,
       .description = "Force per measured effort. A drive pushes against the force: -1."}};
  component::Parameter<bool> zeroes{
      *this, "zeroes", {.initial = true, .description = "Takes the forces at the activation as zero."}};
  component::Parameter<double> dead_band{*this,
                                         "dead_band",
                                         {.initial = 0,
                                          .minimum = 0,
                                          .maximum = 1e6,
                                          .unit = "N m",
                                          .description = "Smaller forces count as zero."}};

  /// Errors: empty_list, named_twice, too_many_names, bad_number_list, beyond_limits, unstable; those of
  /// claim_joint(), claim(), state() and input().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override;
  [[nodiscard]] SetupResult<void> on_check() override;
  /// Errors: no_measurement (of a position or, without forces, of an effort), not_finite (a force).
  [[nodiscard]] Status on_activate(const component::CycleTime& cycle) noexcept override;
  /// Errors: not_finite (a force).
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override;
  void on_parameters() noexcept override;

 private:
  struct Laws {
    double mass = 1;
    double damping = 0;
    double stiffness = 0;
  };
  struct Axis {
    const robot::Joint* joint = nullptr;
    robot::Joint* commanded = nullptr;  ///< null: the follower's input is
    robot::CommandHandle output;
    robot::InputHandle input;
    Laws law;
    std::vector<double> row;  ///< of the matrix
    MotionState motion;       ///< sent last
    double reference = 0;     ///< rad or m
    double bias = 0;          ///< N m or N
    double offset = 0;        ///< published: rad or m from the reference
    double force = 0;         ///< published: N m or N
  };

  template <class Value>
  [[nodiscard]] bool read(std::span<Laws> laws, const Value& value) const noexcept;
  template <class Value>
  [[nodiscard]] SetupResult<void> check_laws(const Value& value) const;
  [[nodiscard]] SetupResult<void> read_matrix();
  [[nodiscard]] SetupResult<void> add_axis(robot::Resources& resources, const std::string& joint);
  [[nodiscard]] double force_on(const Axis& axis) const noexcept;
  void take_references() noexcept;
  void step(Axis& axis, double period) noexcept;

  double period_ = 0;  ///< s; constant after on_configure()
  std::vector<Axis> axes_;
  FreshSamples fresh_;
  std::vector<robot::StateHandle> forces_;
};

}  // namespace takt::controllers
