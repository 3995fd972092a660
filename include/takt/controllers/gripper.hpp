// The controller of a gripper: moves one joint to a position with a largest effort, and tells whether it
// arrived, or holds something.
//
// A goal ends `stalled` when its best progress within a window of time is too small (progress_window.hpp).
// The controller goes on pressing then, with the largest effort of the goal, until the next goal.
//
// In the mode `position`, the reference moves to the target at a speed. It leads the measured position by at
// most max_lead, and by less where the drive reports more than the largest effort. A drive with an effort
// limit of its own gets it by `effort_interface`. In the mode `effort`, a PID commands the effort.
//
// Goals come by the port "goals" or the service, or by the inputs "position" and "max_effort", which win
// while another controller drives the position. Each goal of the port ends with a result on the port
// "results". A negative effort is not limited by the goal, as in ROS's GripperCommand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "takt/component/component.hpp"
#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/component/service.hpp"
#include "takt/control/pid.hpp"
#include "takt/controllers/fresh_samples.hpp"
#include "takt/controllers/progress_window.hpp"
#include "takt/core/error.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/joint.hpp"

namespace takt::controllers {

/// A goal of a gripper.
struct GripperGoal {
  std::uint64_t number = 0;  ///< returned with the result; 0: without a result
  double position = 0;       ///< rad or m; clamped to the joint's range
  double max_effort = 0;     ///< N m or N; 0 or negative: the parameter's, which is also the largest

  TAKT_FIELDS(GripperGoal, number, position, max_effort)
};

/// How a goal ended.
enum class GripperOutcome : std::uint8_t {
  reached,      ///< the joint is at the target
  stalled,      ///< the joint stands before it: grasped
  not_reached,  ///< out of time, replaced, or the controller was deactivated
  rejected,     ///< not begun: NaN or infinity, before the activation, or the inputs win
};

/// The end of a goal.
struct GripperResult {
  std::uint64_t number = 0;  ///< of the goal
  double position = 0;       ///< rad or m, measured
  double effort = 0;         ///< N m or N, measured; 0: the drive does not report it
  GripperOutcome outcome{};

  TAKT_FIELDS(GripperResult, number, position, effort, outcome)
};

/// The service that takes goals.
struct GripperService {
  static constexpr std::string_view service_name = "Gripper/1";
  /// Begins a goal; its result is on the port. Errors: not_finite, not_active.
  /// Real-time safe.
  [[nodiscard]] virtual Status grip(const GripperGoal& goal) noexcept = 0;

 protected:
  ~GripperService() = default;
};

/// Moves one joint with a largest effort.
class GripperController final : public robot::Controller, private GripperService {
 public:
  static constexpr component::ComponentMetadata about{.type = "GripperController",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Opens and closes a gripper."};
  /// What the joint is commanded by.
  enum class Mode : std::uint8_t { position, effort };

  explicit GripperController(std::string name) : Controller(about, std::move(name)) {}

  component::InPort<GripperGoal> goals{*this, "goals"};
  component::OutPort<GripperResult> results{*this, "results"};
  component::ProvidedService<GripperService> service{*this, "gripper", static_cast<GripperService&>(*this)};

  component::Parameter<component::FixedText<31>> joint{*this, "joint", {.description = "Of the fingers."}};
  component::Parameter<Mode> mode{*this,
                                  "mode",
                                  {.initial = Mode::position,
                                   .choices = {"position", "effort"},
                                   .description = "What the joint is commanded by."}};
  component::Parameter<double> max_effort{*this,
                                          "max_effort",
                                          {.initial = 10,
                                           .minimum = 0,
                                           .maximum = 1e5,
                                           .unit = "N m",
                                           .description = "Of all goals; N for a linear joint."}};
  component::Parameter<component::FixedText<63>> effort_interface{
      *this,
      "effort_interface",
      {.description = "A command of the drive for its largest effort, or empty: \"gripper/max_effort\"."}};
  component::Parameter<double> speed{*this,
                                     "speed",
                                     {.initial = 0.5,
                                      .minimum = 1e-6,
                                      .maximum = 1e3,
                                      .unit = "rad/s",
                                      .description = "Of the reference in the mode position."}};
  component::Parameter<double> max_lead{
      *this,
      "max_lead",
      {.initial = 0,
       .minimum = 0,
       .maximum = 10,
       .unit = "rad",
       .description = "Of the reference; 0: half of the joint's following error."}};
  component::Parameter<double> proportional{
      *this,
      "proportional",
      {.initial = 0, .minimum = 0, .maximum = 1e9, .unit = "N m/rad", .description = "Of the mode effort."}};
  component::Parameter<double> integral{*this,
                                        "integral",
                                        {.initial = 0,
                                         .minimum = 0,
                                         .maximum = 1e9,
                                         .unit = "N m/(rad s)",
                                         .description = "Of the mode effort."}};
  component::Parameter<double> derivative{*this,
                                          "derivative",
                                          {.initial = 0,
                                           .minimum = 0,
                                           .maximum = 1e9,
                                           .unit = "N m s/rad",
                                           .description = "Of the mode effort."}};
  component::Parameter<double> goal_tolerance{*this,
                                              "goal_tolerance",
                                              {.initial = 0.01,
                                               .minimum = 0,
                                               .maximum = 10,
                                               .unit = "rad",
                                               .description = "A goal is reached within this distance."}};
  component::Parameter<double> goal_time{
      *this,
      "goal_time",
      {.initial = 30,
       .minimum = 0,
       .maximum = 3600,
       .unit = "s",
       .description = "After this time a goal ends not_reached; 0: never."}};
  component::Parameter<double> stall_window{*this,
                                            "stall_window",
                                            {.initial = 0.5,
                                             .minimum = 0.01,
                                             .maximum = 60,
                                             .unit = "s",
                                             .description = "Time in which a goal must make progress."}};
  component::Parameter<double> stall_distance{
      *this,
      "stall_distance",
      {.initial = 0.005,
       .minimum = 1e-9,
       .maximum = 10,
       .unit = "rad",
       .description = "Less progress than this within the window is a stall."}};

  /// Errors: those of claim_joint(), claim(), input() and output().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) override;
  [[nodiscard]] SetupResult<void> on_check() override;
  /// Errors: no_measurement.
  [[nodiscard]] Status on_activate(const component::CycleTime& cycle) noexcept override;
  /// One cycle. It never fails.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override;
  void on_deactivate(const component::CycleTime& cycle) noexcept override;
  void on_parameters() noexcept override;

 private:
  [[nodiscard]] Status grip(const GripperGoal& goal) noexcept override;
  [[nodiscard]] static bool is_goal(const GripperGoal& goal) noexcept;
  void take_goals() noexcept;
  void follow_inputs() noexcept;
  void begin(const GripperGoal& goal) noexcept;
  void end(GripperOutcome outcome) noexcept;
  void report(std::uint64_t number, GripperOutcome outcome) noexcept;
  void reject(const GripperGoal& goal) noexcept;
  void judge(double period) noexcept;
  void command(double period) noexcept;
  void move_reference(double period) noexcept;
  [[nodiscard]] control::PidGains gains() const noexcept;

  robot::Joint* joint_ = nullptr;
  robot::CommandHandle drive_limit_;
  robot::InputHandle position_input_;
  robot::InputHandle effort_input_;
  double following_error_ = 0;  ///< rad; 0: unlimited
  FreshSamples fresh_;
  GripperGoal goal_;     ///< with its target and effort within the limits
  GripperGoal chained_;  ///< as the inputs were taken
  bool is_chained_ = false;
  bool is_moving_ = false;  ///< the goal has no result yet
  double time_ = 0;         ///< s since the goal began
  double reference_ = 0;    ///< of the mode position
  control::Pid pid_;
  ProgressWindow progress_;
  Time now_{};
  double status_ = 0;    ///< published: 0 moving, 1 reached, 2 stalled, 3 not reached
  double rejected_ = 0;  ///< goals that ended as GripperOutcome::rejected
};

}  // namespace takt::controllers
