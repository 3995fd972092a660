// A controller in 40 lines, run by the manager in virtual time: a joint becomes a spring with a damper. The
// arm's elbow is pulled from -0.8 rad to 0.5 rad by effort, while its other joints are held.
//
//     11_controller [ROBOT.json]      default: examples/robots/mit_arm3.json
//
// Prints time (s), elbow position (rad) and effort (N m), then where it ended. Exit code: 0 if it arrived.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "takt/app/devices.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/manager.hpp"

using namespace takt;

namespace {

/// A spring and a damper between a joint and its rest position.
class Spring final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "Spring",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "controller",
                                                      .description = "Makes a joint a spring with a damper."};
  explicit Spring(std::string name) : Controller(about, std::move(name)) {}

  /// Set-up: names become pointers.
  SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto claimed = resources.claim_joint(joint_name->view(), CommandMode::effort);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    joint_ = *claimed;
    return {};
  }
  /// Every cycle: no allocation, no lock, no system call.
  Status on_execute(const component::CycleTime&) noexcept override {
    const robot::JointFeedback& seen = joint_->feedback();
    joint_->set_effort(*stiffness * (*rest - seen.position) - *damping * seen.velocity);
    return {};
  }

  component::Parameter<component::FixedText<31>> joint_name{*this, "joint", {.initial = "elbow"}};
  component::Parameter<double> rest{*this, "rest", {.initial = 0.5, .unit = "rad"}};
  component::Parameter<double> stiffness{*this, "stiffness", {.initial = 8, .minimum = 0, .unit = "N m/rad"}};
  component::Parameter<double> damping{*this, "damping", {.initial = 0.9, .minimum = 0, .unit = "N m s/rad"}};

 private:
  robot::Joint* joint_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const auto robot = drives::load_robot_file(argc > 1 ? argv[1] : "examples/robots/mit_arm3.json");
  if (!robot) return std::puts(to_string(robot.error().front()).c_str()), 1;
  auto hardware = app::Devices::create(*robot, {.simulate = true});  // a real robot: without .simulate
  if (!hardware) return std::puts(hardware.error().message.c_str()), 1;

  robot::DriveDevice drives("drives", **hardware);
  robot::Manager manager(*robot);
  SetupResult<void> made = manager.add(drives);
  if (made) made = manager.load(std::make_shared<Spring>("spring"));
  if (made) made = manager.switch_controllers({.start = {"spring"}});
  if (!made) return std::puts(made.error().message.c_str()), 1;

  // The program owns the loop here; robot::run(manager, clock, ...) does it on a real clock.
  const robot::Joint& elbow = manager.joints()[robot->find_joint("elbow").value_or(0)];
  if (!manager.start(Time{})) return 1;
  Time now{};
  for (int i = 0; i < 1500; ++i) {
    now += robot->period;
    manager.begin(now, robot->period, 0);
    manager.control();
    manager.write();
    manager.publish();
    std::printf("%.3f %.4f %.3f\n", to_seconds(now - Time{}), elbow.feedback().position,
                elbow.feedback().effort);
  }
  manager.stop(now);
  std::fprintf(stderr, "the elbow ends at %.3f rad\n", elbow.feedback().position);
  return std::abs(elbow.feedback().position - 0.5) < 0.05 ? 0 : 1;
}
