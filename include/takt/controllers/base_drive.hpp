// The common part of the controllers of mobile bases: command port, timeout, limits, odometry. A kind of base
// adds its wheels (differential_drive.hpp, car_like_drive.hpp, holonomic_drive.hpp).
//
// In each cycle, the controller adds the motion of the wheels to the odometry. It takes the newest command of
// the port, or the inputs while another controller drives one. A command older than the timeout counts as
// standstill. The twist is scaled to the limits of vehicle, wheels and accelerations, on the same curve.
//
// So a base whose sender is silent brakes by the limits. Deactivation brings the wheels to rest by the limits
// of their joints.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/component/parameter.hpp"
#include "takt/component/port.hpp"
#include "takt/component/service.hpp"
#include "takt/controllers/error.hpp"
#include "takt/controllers/fresh_samples.hpp"
#include "takt/core/error.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/mobile/odometry.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/mobile/twist_command.hpp"
#include "takt/mobile/twist_limiter.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/joint.hpp"

namespace takt::controllers {

/// The odometry of a base, as its out-port gives it.
struct OdometrySample {
  mobile::Pose pose;                   ///< in the world since the start, or since it was set
  mobile::Twist twist;                 ///< in the vehicle's own frame
  std::array<double, 9> covariance{};  ///< of (x, y, heading), row by row: m^2, m rad, rad^2

  TAKT_FIELDS(OdometrySample, pose, twist, covariance)
};

/// The service by which others correct the pose of the odometry.
struct PoseSetter {
  static constexpr std::string_view service_name = "PoseSetter/1";
  /// Sets the pose (m, rad) with zero covariance. Errors: mobile::Errc::not_finite. Real-time safe.
  [[nodiscard]] virtual Status set_pose(const mobile::Pose& pose) noexcept = 0;

 protected:
  ~PoseSetter() = default;
};

/// Where the odometry comes from.
enum class OdometrySource : std::uint8_t {
  position,   ///< the measured positions of the wheels
  velocity,   ///< their measured velocities
  open_loop,  ///< the commands
};

/// Wheels that roll alike, such as one side of a base. They are commanded by velocity.
class WheelGroup {
 public:
  /// Claims the joints. `jumps`: counts positions that jumped; it outlives the group. Errors: those of
  /// Resources::claim_joint(). Not real-time safe.
  [[nodiscard]] SetupResult<void> claim(robot::Resources& resources, std::span<const std::string> joints,
                                        double& jumps);
  /// The number of wheels.
  [[nodiscard]] std::size_t size() const noexcept { return wheels_.size(); }

  // ---- the cycle; real-time safe ----

  /// Commands this rate (rad/s).
  void roll(double rate) noexcept {
    for (Wheel& wheel : wheels_) wheel.joint->set_velocity(rate);
  }
  /// The rate as a fraction of the smallest velocity limit of the joints; above 1 it exceeds it.
  [[nodiscard]] double load(double rate) const noexcept;
  /// The mean of the measured rates (rad/s).
  [[nodiscard]] double rate() noexcept;
  /// The mean angle (rad) that the wheels have turned since accept(). A position may wrap by a turn, as of a
  /// drive that reports it within +-pi: the measured velocity tells the turn. A position that jumps by more
  /// than twice the velocity limit allows is counted, and the measured velocity is taken instead.
  [[nodiscard]] double turned() noexcept;
  /// Ends a period of turned(): it begins again at the measured positions.
  void accept() noexcept;

 private:
  struct Wheel {
    robot::Joint* joint = nullptr;
    double position = 0;  ///< rad, at the last accept()
    Time stamp{};         ///< of this position
  };
  [[nodiscard]] double angle_of(Wheel& wheel) noexcept;

  double period_ = 0;        ///< s
  double* jumps_ = nullptr;  ///< the controller's counter
  std::vector<Wheel> wheels_;
  std::vector<double> values_;  ///< one per wheel, for the mean
};

/// The base of the controllers of mobile bases.
class BaseDriveController : public robot::Controller, private PoseSetter {
 public:
  BaseDriveController(const component::ComponentMetadata& metadata, std::string name)
      : Controller(metadata, std::move(name)) {}

  /// The commanded twist. A stamp of zero, or in the future, counts as the present cycle.
  component::InPort<mobile::Twist> command{*this, "command"};
  /// The odometry of each cycle.
  component::OutPort<OdometrySample> odometry{*this, "odometry"};
  /// Sets the pose of the odometry.
  component::ProvidedService<PoseSetter> pose_setter{*this, "set_pose", static_cast<PoseSetter&>(*this)};

  component::Parameter<double> timeout{
      *this,
      "timeout",
      {.initial = 0.5,
       .minimum = 0.01,
       .maximum = 10,
       .unit = "s",
       .description = "Without a command for this time, the base brakes to standstill."}};
  component::Parameter<double> max_forward{*this,
                                           "max_forward",
                                           {.initial = 1,
                                            .minimum = 1e-3,
                                            .maximum = 100,
                                            .unit = "m/s",
                                            .description = "Largest speed forward."}};
  component::Parameter<double> max_backward{*this,
                                            "max_backward",
                                            {.initial = 1,
                                             .minimum = 1e-3,
                                             .maximum = 100,
                                             .unit = "m/s",
                                             .description = "Largest speed backward."}};
  component::Parameter<double> max_left{*this,
                                        "max_left",
                                        {.initial = 1,
                                         .minimum = 1e-3,
                                         .maximum = 100,
                                         .unit = "m/s",
                                         .description = "Sideways, in both directions."}};
  component::Parameter<double> max_rotation{*this,
                                            "max_rotation",
                                            {.initial = 2,
                                             .minimum = 1e-3,
                                             .maximum = 100,
                                             .unit = "rad/s",
                                             .description = "Largest rotation, in both directions."}};
  component::Parameter<double> acceleration{
      *this,
      "acceleration",
      {.initial = 1,
       .minimum = 1e-3,
       .maximum = 1000,
       .unit = "m/s^2",
       .description = "Of forward and sideways speed, while it grows."}};
  component::Parameter<double> braking{*this,
                                       "braking",
                                       {.initial = 2,
                                        .minimum = 1e-3,
                                        .maximum = 1000,
                                        .unit = "m/s^2",
                                        .description = "Of forward and sideways speed, while it falls."}};
  component::Parameter<double> rotational_acceleration{
      *this,
      "rotational_acceleration",
      {.initial = 4, .minimum = 1e-3, .maximum = 1000, .unit = "rad/s^2", .description = "Of the rotation."}};
  component::Parameter<OdometrySource> odometry_source{*this,
                                                       "odometry_source",
                                                       {.initial = OdometrySource::position,
                                                        .choices = {"position", "velocity", "open_loop"},
                                                        .description = "Of the motion: wheels or commands."}};
  component::Parameter<mobile::PoseIntegration> integration{
      *this,
      "integration",
      {.initial = mobile::PoseIntegration::exact_arc,
       .choices = {"exact_arc", "runge_kutta", "euler"},
       .description = "How the pose follows from the motion."}};
  component::Parameter<double> forward_noise{*this,
                                             "forward_noise",
                                             {.initial = 0,
                                              .minimum = 0,
                                              .maximum = 100,
                                              .unit = "m^2/m",
                                              .description = "Variance along the way, per distance."}};
  component::Parameter<double> left_noise{*this,
                                          "left_noise",
                                          {.initial = 0,
                                           .minimum = 0,
                                           .maximum = 100,
                                           .unit = "m^2/m",
                                           .description = "Variance across the way, per distance."}};
  component::Parameter<double> heading_noise{*this,
                                             "heading_noise",
                                             {.initial = 0,
                                              .minimum = 0,
                                              .maximum = 100,
                                              .unit = "rad^2/m",
                                              .description = "Variance of the heading, per distance."}};
  component::Parameter<double> rotation_noise{*this,
                                              "rotation_noise",
                                              {.initial = 0,
                                               .minimum = 0,
                                               .maximum = 100,
                                               .unit = "rad^2/rad",
                                               .description = "Variance of the heading, per rotation."}};

  /// Errors: those of claim_joints(), Resources::input() and output().
  [[nodiscard]] SetupResult<void> on_configure(robot::Resources& resources) final;
  /// Begins at the measured motion, and forgets earlier commands.
  [[nodiscard]] Status on_activate(const component::CycleTime& cycle) noexcept final;
  /// One cycle, as above. It never fails.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept final;
  /// Takes new limits, noise and geometry, and goes on from the present motion and pose.
  void on_parameters() noexcept final;

 protected:
  // ---- for each kind of base ----

  /// Claims the joints, and adds interfaces of its own. update_geometry() comes before.
  [[nodiscard]] virtual SetupResult<void> claim_joints(robot::Resources& resources) = 0;
  /// Derives the kinematics from the parameters. on_check() has accepted them. Real-time safe.
  virtual void update_geometry() noexcept = 0;
  /// The nearest twist on the same curve that the vehicle can drive, by its geometry and the velocity limits
  /// of its joints. Real-time safe.
  [[nodiscard]] virtual mobile::Twist feasible(const mobile::Twist& wanted) const noexcept = 0;
  /// Commands the joints. Returns the twist that they drive. Real-time safe.
  virtual mobile::Twist drive(const mobile::Twist& twist) noexcept = 0;
  /// The twist by the measured velocities. Real-time safe.
  [[nodiscard]] virtual mobile::Twist measured_twist() noexcept = 0;
  /// The motion (m, m, rad) by the measured positions since accept_motion(). Real-time safe.
  [[nodiscard]] virtual mobile::Twist measured_motion() noexcept = 0;
  /// Ends the period of measured_motion(): it begins again at the measured positions. Real-time safe.
  virtual void accept_motion() noexcept = 0;
  /// The activation: begins at the measured state. Real-time safe.
  virtual void restart() noexcept { accept_motion(); }
  /// Whether the base moves sideways. It then has the input "left".
  [[nodiscard]] virtual bool moves_sideways() const noexcept { return false; }

 private:
  [[nodiscard]] Status set_pose(const mobile::Pose& pose) noexcept final { return odometry_.set(pose); }

  void take_commands(Time now) noexcept;
  void take_command(Time now) noexcept;
  [[nodiscard]] mobile::Twist wanted(double period) noexcept;
  void integrate(double elapsed) noexcept;
  void publish(Time now) noexcept;

  std::optional<mobile::TwistCommand> command_;
  FreshSamples fresh_;
  std::optional<mobile::TwistLimiter> limiter_;
  mobile::Odometry odometry_;
  mobile::Twist driven_;  ///< by the last command
  OdometrySample sample_;
  Time last_{};         ///< the last cycle
  double unmoved_ = 0;  ///< s since the odometry got a motion
  robot::InputHandle forward_input_;
  robot::InputHandle left_input_;
  robot::InputHandle rotation_input_;
  double timed_out_ = 0;        ///< 1: the command is too old
  double rejected_ = 0;         ///< commands with NaN or infinity
  double late_ = 0;             ///< commands that arrived older than the timeout
  double odometry_errors_ = 0;  ///< cycles whose motion overflows

 protected:
  double wheel_jumps_ = 0;  ///< measured positions that jumped
};

/// Checks that no joint is in both lists. Errors: named_twice. Not real-time safe.
[[nodiscard]] SetupResult<void> check_distinct(const std::string& controller,
                                               std::span<const std::string> joints,
                                               std::span<const std::string> others);

/// The larger of two loads; NaN is the largest. Real-time safe.
[[nodiscard]] inline double larger_load(double a, double b) noexcept {
  return std::isnan(a) || b <= a ? a : b;
}

/// The twist on the same curve whose largest load is 1, if it is above that. Zero for a load of NaN.
/// Real-time safe.
[[nodiscard]] inline mobile::Twist within_load(const mobile::Twist& twist, double load) noexcept {
  if (load <= 1) return twist;
  return load < std::numeric_limits<double>::infinity() ? (1 / load) * twist : mobile::Twist{};
}

}  // namespace takt::controllers
