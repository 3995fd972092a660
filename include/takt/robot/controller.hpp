// A controller: a component with claims. The manager runs it in each cycle that is due, between reading and
// writing the devices.
//
//     class Damper final : public takt::robot::Controller {
//      public:
//       static constexpr takt::component::ComponentMetadata about{
//           .type = "Damper", .version = "1.0.0", .vendor = "you", .category = "controller",
//           .description = "Brakes a joint by its velocity."};
//       explicit Damper(std::string name) : Controller(about, std::move(name)) {}
//
//       takt::SetupResult<void> on_configure(takt::robot::Resources& resources) override {
//         auto joint = resources.claim_joint(joint_name->view(), takt::CommandMode::effort);
//         if (!joint) return tl::unexpected(joint.error());
//         joint_ = *joint;
//         return {};
//       }
//       takt::Status on_execute(const takt::component::CycleTime&) noexcept override {
//         joint_->set_effort(-*damping * joint_->feedback().velocity);
//         return {};
//       }
//
//       takt::component::Parameter<takt::component::FixedText<31>> joint_name{
//           *this, "joint", {.initial = "elbow"}};
//       takt::component::Parameter<double> damping{*this, "damping", {.initial = 1, .minimum = 0}};
//
//      private:
//       takt::robot::Joint* joint_ = nullptr;
//     };
//
// Order of the calls: the constructor, parameters, on_configure(), then on_activate(), on_execute() and
// on_deactivate() in the cycle. At on_activate(), the controller takes its setpoint from the measured state.
// Its commands count from its first on_execute() until it ends. The callbacks of the cycle are real-time
// safe. An error of on_execute() ends the controller, and its fallback begins in the same cycle.
// Errc::finished is no failure: the controller becomes inactive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/interfaces.hpp"
#include "takt/robot/joint.hpp"
#include "takt/robot/supervisor.hpp"
#include "takt/shm/schema.hpp"

namespace takt::robot {

class Controller;
class Manager;

/// The needs of a controller, as it stated them. Set-up only.
struct ControllerNeeds {
  std::vector<std::string> commands;                    ///< names of claimed interfaces that are no joint's
  std::vector<std::string> states;                      ///< names, for people
  std::vector<const component::Component*> reads_from;  ///< devices and controllers
  std::vector<const component::Component*> commands_into;  ///< devices, and controllers of a chain
};

/// How a controller gets its interfaces. Only valid in on_configure().
class Resources {
 public:
  /// For the manager.
  Resources(Manager& manager, Controller& controller, ControllerNeeds& needs, Duration period) noexcept
      : manager_(&manager), controller_(&controller), needs_(&needs), period_(period) {}

  /// The description of the robot.
  [[nodiscard]] const RobotDescription& robot() const noexcept;
  /// The period of the controller: the robot's, times its divisor.
  [[nodiscard]] Duration period() const noexcept { return period_; }
  /// The supervisor: the state of the robot, and why it stopped. Its const functions are real-time safe in
  /// the manager's thread.
  [[nodiscard]] const Supervisor& supervisor() const noexcept;

  /// A number to read. Errors: no_such_interface, with the similar names.
  [[nodiscard]] SetupResult<StateHandle> state(std::string_view name);
  /// A struct to read. Errors: no_such_interface; component::Errc::wrong_type, with both schemas.
  template <HasFields T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] SetupResult<const T*> sensor(std::string_view name) {
    auto found = find_struct(name, shm::schema_text<T>());
    if (!found) return tl::unexpected<SetupError>(std::move(found.error()));
    return static_cast<const T*>(*found);
  }
  /// A number, a struct of any type, or the command to another owner, for a recorder. Its memory is valid as
  /// long as the controller is loaded. Errors: no_such_interface, with the similar names.
  [[nodiscard]] SetupResult<ReadingMemory> reading(std::string_view name);
  /// A joint to read. Errors: no_such_joint, with the names that exist.
  [[nodiscard]] SetupResult<const Joint*> joint(std::string_view name);

  /// A number to command: of a device, of a joint ("elbow/velocity"), or of a controller's input. Errors:
  /// no_such_interface.
  [[nodiscard]] SetupResult<CommandHandle> claim(std::string_view name);
  /// A joint to command in this mode. Errors: no_such_joint.
  [[nodiscard]] SetupResult<Joint*> claim_joint(std::string_view name, CommandMode mode,
                                                ClaimKind kind = ClaimKind::exclusive);

  /// Adds an input, "controller/name", that other controllers may command. Errors: duplicate_name, bad_name.
  [[nodiscard]] SetupResult<InputHandle> input(std::string_view name, std::string unit, double initial = 0,
                                               SafeValue safe = SafeValue::hold);
  /// Publishes a number of the controller as "controller/name": for others to read, to record and to plot.
  /// `value` must live as long as the controller. Errors: as above.
  [[nodiscard]] SetupResult<void> output(std::string_view name, std::string unit, const double& value);
  /// Publishes a struct, with each of its doubles as "controller.name/field". Others read it as a whole by
  /// sensor("controller.name"). Errors: as above.
  template <HasFields T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] SetupResult<void> publish(std::string_view name, const T& value) {
    return add_struct(name, shm::schema_text<T>(), &value);
  }

 private:
  [[nodiscard]] Joint& claim_part(std::size_t joint, std::uint8_t part, ClaimKind kind);
  [[nodiscard]] SetupResult<const void*> find_struct(std::string_view name, std::string_view schema);
  [[nodiscard]] SetupResult<void> add_struct(std::string_view name, std::string_view schema,
                                             const void* value);

  Manager* manager_;
  Controller* controller_;
  ControllerNeeds* needs_;
  Duration period_;
};

/// The base of all controllers.
class Controller : public component::Component {
 public:
  using Component::Component;

  /// Gets the interfaces. Called once, by Manager::load(); may allocate. An error refuses the controller.
  [[nodiscard]] virtual SetupResult<void> on_configure(Resources& resources) = 0;

  /// Whether its commands to joints are within their limits by themselves. Then the manager does not check
  /// their acceleration between two cycles, jerk and braking distance again. Range, velocity and acceleration
  /// hold all the same. A command beyond them is limited as those of any other controller. So is a position
  /// out of reach of the velocity limit in a period, and a velocity too high to brake inside the range. So
  /// are the commands that follow, until the joint has caught up with them.
  [[nodiscard]] virtual bool keeps_limits() const noexcept { return false; }
  /// Whether it goes on while the robot stops and is stopped: for joints that must not go limp. Others are
  /// deactivated, and activated again once the robot is ready; so is one whose follower does not go on.
  [[nodiscard]] virtual bool works_in_stop() const noexcept { return false; }
  /// Another controller borrows or returns a joint with a lending claim. In the cycle; real-time safe. After
  /// on_activate(), if the joint is in use then.
  virtual void on_lent(std::size_t /*joint*/) noexcept {}
  virtual void on_returned(std::size_t /*joint*/) noexcept {}

 private:
  friend class Resources;
  friend class Manager;

  [[nodiscard]] SetupResult<void> on_initialize() final;

  /// The memory of an input.
  struct InputCell {
    double value = 0;
    bool driven = false;
  };
  std::deque<InputCell> inputs_;            ///< addresses stay
  std::deque<Joint> joints_;                ///< its claims; addresses stay
  bool refused_ = false;                    ///< it commanded NaN or infinity
  CommandGate gate_{.refused = &refused_};  ///< of its commands that are no joint's
  Resources* resources_ = nullptr;          ///< the manager's, while it initializes
};

}  // namespace takt::robot
