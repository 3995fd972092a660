// Controllers that replace each other while the arm holds still or moves, an emergency stop, and its
// recovery. The shoulder of a simulated arm, in virtual time:
//
//     0 s    "wave" moves it by velocity         3 s    an emergency stop (category 1): power off at rest
//     2 s    a switch to "hold"                  4 s    a reset: "wave" begins again, from where it is
//     2.5 s  a switch back to "wave"             5.5 s  "wave" fails; its fallback "hold" acts at once
//
//     12_switch [ROBOT.json]      default: examples/robots/mit_arm3.json
//
// Prints time (s), position (rad), velocity (rad/s), whether the drive has power, and which controller runs
// (0 none, 1 wave, 2 hold); 12_switch.gp draws them. Prints the events to the standard error. Exit code: 0 if
// all went so.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "takt/app/devices.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/manager.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

constexpr const char* joint_name = "shoulder";

/// Moves the joint by a velocity that swings, from rest at each start.
class Wave final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "Wave",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "controller",
                                                      .description = "Swings a joint."};
  explicit Wave(std::string name) : Controller(about, std::move(name)) {}

  SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto claimed = resources.claim_joint(joint_name, CommandMode::velocity);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    joint_ = *claimed;
    return {};
  }
  Status on_activate(const component::CycleTime& cycle) noexcept override {
    start_ = cycle.time;
    return {};
  }
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    if (fails) return fail(robot::Errc::device_lost);
    joint_->set_velocity(1.5 * std::sin(4 * to_seconds(cycle.time - start_)));
    return {};
  }
  bool fails = false;

 private:
  robot::Joint* joint_ = nullptr;
  Time start_{};
};

/// Holds the joint at the position of its activation.
class Hold final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "Hold",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "controller",
                                                      .description = "Holds a joint."};
  explicit Hold(std::string name) : Controller(about, std::move(name)) {}

  SetupResult<void> on_configure(robot::Resources& resources) override {
    const auto claimed = resources.claim_joint(joint_name, CommandMode::position);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    joint_ = *claimed;
    return {};
  }
  Status on_activate(const component::CycleTime&) noexcept override {
    at_ = joint_->feedback().position;
    return {};
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    joint_->follow({at_, 0, 0});
    return {};
  }

 private:
  robot::Joint* joint_ = nullptr;
  double at_ = 0;
};

/// The arm and its loop. The program owns the loop, so it acts between two cycles.
class Arm {
 public:
  Arm(const robot::RobotDescription& robot, robot::Hardware& hardware)
      : drives_("drives", hardware), manager_(robot), period_(robot.period) {
    good_ = manager_.add(drives_) && manager_.load(hold_) && manager_.load(wave_, {.fallbacks = {"hold"}}) &&
            replace({}, "wave") && manager_.start(now_);
  }
  ~Arm() { manager_.stop(now_); }
  Arm(const Arm&) = delete;
  Arm& operator=(const Arm&) = delete;

  bool replace(const std::string& old, const std::string& next) {
    robot::SwitchRequest request{.start = {next}};
    if (!old.empty()) request.stop = {old};
    const auto done = manager_.switch_controllers(request);
    if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done.has_value();
  }

  /// Runs until this time (s).
  void run_until(double end) {
    while (to_seconds(now_ - Time{}) < end) {
      now_ += period_;
      manager_.begin(now_, period_, 0);
      if (resets) resets = manager_.reset().result != robot::Supervisor::ResetAnswer::Result::done;
      manager_.control();
      manager_.write();
      manager_.publish();
      print();
    }
  }
  void stop() { static_cast<void>(manager_.request_stop(StopCategory::category_1)); }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] int running() const {
    using component::ComponentState;
    return wave_->state() == ComponentState::active ? 1 : hold_->state() == ComponentState::active ? 2 : 0;
  }
  [[nodiscard]] robot::RobotState state() const { return manager_.supervisor().state(); }

  bool resets = false;  ///< a reset waits for the robot to stand
  std::shared_ptr<Wave> wave_ = std::make_shared<Wave>("wave");
  std::shared_ptr<Hold> hold_ = std::make_shared<Hold>("hold");

 private:
  void print() {
    const robot::Joint& joint = manager_.joints()[0];
    std::printf("%.3f %.4f %.4f %d %d\n", to_seconds(now_ - Time{}), joint.feedback().position,
                joint.feedback().velocity, joint.feedback().drive == DriveState::ready ? 1 : 0, running());
    while (const auto event = manager_.next_event())
      std::fprintf(stderr, "%.3f s: event %d of %s\n", to_seconds(event->time - Time{}),
                   static_cast<int>(event->kind), std::string(event->component.view()).c_str());
  }

  robot::DriveDevice drives_;
  robot::Manager manager_;
  Duration period_;
  Time now_{};
  bool good_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const auto robot = drives::load_robot_file(argc > 1 ? argv[1] : "examples/robots/mit_arm3.json");
  if (!robot) return std::puts(to_string(robot.error().front()).c_str()), 1;
  auto hardware = app::Devices::create(*robot, {.simulate = true});  // a real robot: without .simulate
  if (!hardware) return std::puts(hardware.error().message.c_str()), 1;
  Arm arm(*robot, **hardware);
  bool as_said = arm.good();
  arm.run_until(2);
  as_said = as_said && arm.running() == 1 && arm.replace("wave", "hold");
  arm.run_until(2.5);
  as_said = as_said && arm.running() == 2 && arm.replace("hold", "wave");
  arm.run_until(3);
  arm.stop();
  arm.run_until(4);
  as_said = as_said && arm.running() == 0 && arm.state() == robot::RobotState::stopped;
  arm.resets = true;
  arm.run_until(5.5);
  as_said = as_said && arm.running() == 1;
  arm.wave_->fails = true;
  arm.run_until(6.5);
  as_said = as_said && arm.running() == 2;
  std::fprintf(stderr, "%s\n", as_said ? "all as the page says" : "something went another way");
  return as_said ? 0 : 1;
}
