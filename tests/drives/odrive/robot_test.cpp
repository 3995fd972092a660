// A whole simulated robot of two ODrives, from the examples, with its master and its drives, over frames
// alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drives/odrive/hardware.hpp"
#include "support/rt_guard.hpp"
#include "support/source_dir.hpp"
#include "takt/app/devices.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/drive_fault.hpp"

using namespace takt;
using namespace std::chrono_literals;
using sim::JointFault;

namespace {

constexpr std::size_t shoulder = 0;  // has a watchdog
constexpr std::size_t elbow = 1;     // reversed

robot::RobotDescription arm() {
  auto loaded = drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/odrive_arm.json");
  REQUIRE(loaded.has_value());
  return *loaded;
}

/// A simulated robot whose master has another description of it.
class Misled final : public robot::Hardware {
 public:
  Misled(const robot::RobotDescription& real, const robot::RobotDescription& told)
      : simulation_(sim::RobotSimulation::create(real).value()), port_(simulation_.host(0)) {
    sim::VirtualCanBus::Port* const port = &port_;
    master_ = drives::OdriveHardware<sim::VirtualCanBus::Port>::create(told, {&port, 1}).value();
  }
  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    simulation_.advance(now);
    master_->read(now, feedback);
  }
  void write(Time now, std::span<const JointCommand> commands) noexcept override {
    master_->write(now, commands);
  }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return master_->counters(); }
  [[nodiscard]] sim::RobotSimulation* simulation() noexcept { return &simulation_; }

 private:
  sim::RobotSimulation simulation_;
  sim::VirtualCanBus::Port port_;
  std::unique_ptr<robot::Hardware> master_;
};

struct Robot {
  template <class Hardware>
  explicit Robot(std::unique_ptr<Hardware> made)
      : simulation(made->simulation()), hardware(std::move(made)) {}
  Robot() : Robot(app::Devices::create(arm(), {.simulate = true}).value()) {}

  /// As a loop does: while a drive is not ready, its reference is the measured position.
  void cycle() noexcept {
    now += description.period;
    hardware->read(now, feedback);
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (feedback[i].drive != DriveState::ready) commands[i].position = feedback[i].position;
    }
    hardware->write(now, commands);
  }
  void run(Duration duration) noexcept {
    for (const Time end = now + duration; now < end;) cycle();
  }
  void power(bool on) {
    for (auto& command : commands) command.want_power = on;
  }
  void start() {
    power(true);
    run(600ms);
    REQUIRE(all(DriveState::ready));
  }
  /// Moves all joints by `distance` with minimum jerk. Returns the largest deviation of each joint from its
  /// reference.
  std::array<double, 2> move(double distance, Duration duration) {
    std::array<double, 2> worst{};
    std::array<double, 2> from{};
    for (std::size_t i = 0; i < 2; ++i) from[i] = commands[i].position;
    const double whole = to_seconds(duration);
    const auto cycles = duration / description.period;
    for (std::int64_t k = 1; k <= cycles; ++k) {
      const double s = static_cast<double>(k) / static_cast<double>(cycles);
      for (std::size_t i = 0; i < 2; ++i) {
        commands[i].position = from[i] + distance * s * s * s * (10 + s * (6 * s - 15));
        commands[i].velocity = distance / whole * 30 * s * s * (1 - s) * (1 - s);
      }
      const auto wanted = commands;
      cycle();
      for (std::size_t i = 0; i < 2; ++i)
        worst[i] = std::max(worst[i], std::abs(wanted[i].position - world().position(i)));
    }
    return worst;
  }
  void clear() {
    for (auto& command : commands) command.clear_fault = true;
    cycle();
    for (auto& command : commands) command.clear_fault = false;
  }
  [[nodiscard]] bool all(DriveState state) const {
    return std::ranges::all_of(feedback, [state](const auto& joint) { return joint.drive == state; });
  }
  [[nodiscard]] std::string said(std::size_t joint) const {
    return robot::describe_fault(description, joint, feedback[joint].fault);
  }
  [[nodiscard]] sim::RobotSimulation& world() const { return *simulation; }

  robot::RobotDescription description = arm();
  sim::RobotSimulation* simulation;
  std::unique_ptr<robot::Hardware> hardware;
  std::vector<robot::JointFeedback> feedback = std::vector<robot::JointFeedback>(2);
  std::vector<JointCommand> commands = std::vector<JointCommand>(2);
  Time now{};
};

}  // namespace

TEST_CASE("two ODrives come up without a jump, follow within their following error, and go down") {
  Robot robot;
  robot.power(true);
  for (int i = 0; i < 300; ++i) {
    robot.cycle();
    for (std::size_t joint = 0; joint < 2; ++joint)
      CHECK(std::abs(robot.world().position(joint) - robot.description.joints[joint].plant.start) < 1e-3);
  }
  REQUIRE(robot.all(DriveState::ready));
  for (const double distance : {1.5, -2.0}) {
    const auto worst = robot.move(distance, 1500ms);
    robot.run(300ms);
    for (std::size_t joint = 0; joint < 2; ++joint) {
      CAPTURE(joint);
      CHECK(worst[joint] < robot.description.joints[joint].following_error / 2);
      CHECK(std::abs(robot.world().position(joint) - robot.commands[joint].position) < 1e-3);
      CHECK(std::abs(robot.feedback[joint].position - robot.world().position(joint)) < 1e-3);
    }
  }
  robot.power(false);
  robot.run(200ms);
  CHECK(robot.all(DriveState::off));
  const auto counters = robot.hardware->counters();
  CHECK(counters.frames_refused == 0);
  CHECK(counters.frames_malformed == 0);
  CHECK(counters.frames_unexpected == 0);
  CHECK(counters.frames_starved == 0);
}

TEST_CASE("a planted mistake: a master with half the gear of its drive fails the same check") {
  robot::RobotDescription told = arm();
  told.joints[shoulder].drive.set("gear", 8.0);
  Robot robot(std::make_unique<Misled>(arm(), told));
  robot.start();
  const auto worst = robot.move(0.5, 1500ms);
  CHECK(worst[shoulder] > robot.description.joints[shoulder].following_error);
  CHECK(worst[elbow] < robot.description.joints[elbow].following_error / 2);
}

TEST_CASE("a loop that stops: the drive with a watchdog switches off, the one without holds on") {
  Robot robot;
  robot.start();
  robot.now += 150ms;
  robot.run(200ms);
  CHECK(robot.all(DriveState::ready));
  robot.now += 300ms;
  robot.run(150ms);
  CHECK(robot.feedback[shoulder].drive == DriveState::fault);
  CHECK(robot.said(shoulder) ==
        "no command came before its watchdog ran out, the drive switched off without a command");
  CHECK(robot.feedback[elbow].drive == DriveState::ready);
  robot.run(300ms);
  CHECK(robot.feedback[shoulder].drive == DriveState::fault);
  robot.clear();
  robot.run(500ms);
  CHECK(robot.all(DriveState::ready));
}

TEST_CASE("faults of the drives are printed in words, stay, and are cleared once their cause is gone") {
  for (const auto& [fault, words] :
       {std::pair{JointFault::encoder, "no position estimate, the drive switched off without a command"},
        std::pair{JointFault::power_stage, "gate driver, the drive switched off without a command"}}) {
    Robot robot;
    robot.start();
    robot.world().inject(elbow, fault);
    robot.run(150ms);
    CHECK(robot.feedback[elbow].drive == DriveState::fault);
    CHECK(robot.said(elbow) == words);
    CHECK(robot.feedback[shoulder].drive == DriveState::ready);
    robot.clear();
    robot.run(500ms);
    CHECK(robot.feedback[elbow].drive == DriveState::fault);  // the cause is still there
    robot.world().inject(elbow, JointFault::none);
    robot.run(200ms);
    CHECK(robot.feedback[elbow].drive == DriveState::fault);
    robot.clear();
    robot.run(500ms);
    CHECK(robot.all(DriveState::ready));
  }
}

TEST_CASE("a drive without power is unknown, and at fault when it is back") {
  Robot robot;
  robot.start();
  robot.world().inject(elbow, JointFault::silent);
  robot.run(100ms);
  CHECK(robot.feedback[elbow].drive == DriveState::unknown);
  robot.world().inject(elbow, JointFault::none);
  robot.run(200ms);
  CHECK(robot.said(elbow) == "the drive switched off without a command");
  robot.clear();
  robot.run(500ms);
  CHECK(robot.all(DriveState::ready));
}

TEST_CASE("a joint that runs away beyond its drive's limit of velocity is switched off") {
  Robot robot;
  robot.start();
  for (auto& command : robot.commands) {
    command.mode = CommandMode::effort;
    command.effort = 5;
  }
  robot.run(1s);
  CHECK(robot.said(shoulder) == "velocity, the drive switched off without a command");
  CHECK(robot.said(elbow) == "velocity, the drive switched off without a command");
}

TEST_CASE("velocities and efforts move the joint as commanded, in joint units, from its position") {
  Robot robot;
  robot.start();
  for (auto& command : robot.commands) {
    command.mode = CommandMode::velocity;
    command.velocity = 0.5;
  }
  robot.run(1s);
  for (std::size_t joint = 0; joint < 2; ++joint) {
    CHECK(robot.feedback[joint].mode == CommandMode::velocity);
    CHECK(robot.world().velocity(joint) == doctest::Approx(0.5).epsilon(0.02));
    CHECK(robot.feedback[joint].velocity == doctest::Approx(0.5).epsilon(0.1));
  }
  for (auto& command : robot.commands) {
    command.mode = CommandMode::effort;
    command.effort = 0.2 + 0.2 * 0.5;  // the friction at 0.5 rad/s
  }
  robot.run(300ms);
  for (std::size_t joint = 0; joint < 2; ++joint) {
    CHECK(robot.feedback[joint].mode == CommandMode::effort);
    CHECK(robot.world().velocity(joint) == doctest::Approx(0.5).epsilon(0.1));
  }
  const std::array<double, 2> before{robot.world().position(0), robot.world().position(1)};
  for (auto& command : robot.commands) command.mode = CommandMode::position;
  for (std::size_t joint = 0; joint < 2; ++joint) {
    robot.commands[joint].position = robot.feedback[joint].position;
    robot.commands[joint].velocity = 0;
  }
  robot.run(500ms);
  for (std::size_t joint = 0; joint < 2; ++joint) {
    CHECK(robot.feedback[joint].mode == CommandMode::position);
    CHECK(robot.world().position(joint) == doctest::Approx(before[joint]).epsilon(0.02));
  }
}

TEST_CASE("frames that are lost on the bus are made up for") {
  Robot robot;
  for (int round = 0; round < 20; ++round) {
    robot.power(true);
    for (int i = 0; i < 400; ++i) {
      if (i % 7 == round % 7) robot.world().bus(0).lose_next(2);
      robot.cycle();
    }
    for (int i = 0; i < 1500 && !robot.all(DriveState::ready); ++i) robot.cycle();
    CHECK(robot.all(DriveState::ready));
    robot.power(false);
    robot.run(300ms);
    CHECK(robot.all(DriveState::off));
  }
}

TEST_CASE(
    "the cycle is real-time safe from its start to a fault, and the bus carries no more than is planned") {
  Robot robot;
  robot.power(true);
  test::RtGuard guard;
  robot.run(600ms);
  robot.commands[elbow].mode = CommandMode::velocity;
  robot.run(100ms);
  robot.world().inject(shoulder, JointFault::encoder);
  robot.run(200ms);
  CHECK(guard.report() == "");
  CHECK(robot.world().bus(0).statistics().load() < robot::plan_bus(robot.description, 0).load());
}

TEST_CASE("a description that contradicts itself is refused, key by key") {
  const auto mistakes = [](const std::string& drive, const std::string& more = "") {
    const auto loaded = drives::load_robot(
        R"({"name": "one", "rate": 500, "buses": [{"name": "can0", "protocol": "odrive", "bit_rate": 1000000}],
            "joints": [{"name": "elbow", "limits": {"position": [-1, 1], "velocity": 6, "acceleration": 8, "jerk": 99},
                        "bus": "can0", "board": 62, "drive": {)" +
        drive + "}" + more + "}]}");
    std::vector<std::string> said;
    if (!loaded) {
      for (const auto& mistake : loaded.error()) said.push_back(to_string(mistake));
    }
    return said;
  };
  using List = std::vector<std::string>;
  const std::string where = "/joints/0";
  CHECK(mistakes(R"("gear": 8, "current_limit": 20)").empty());
  CHECK(mistakes(R"("gear": -0.5, "current_limit": 20, "velocity_limit": 10, "watchdog": 0.1)").empty());
  CHECK(mistakes(R"("gear": 0, "current_limit": 20)") ==
        List{where + "/drive: gear is 0, but at least 0.001 or at most -0.001 is a gear"});
  CHECK(mistakes(R"("current_limit": 20)").size() == 1);
  CHECK(mistakes(R"("gear": 8)").size() == 1);
  CHECK(mistakes(R"("gear": 8, "current_limit": 20, "turbo": 1)").size() == 1);
  CHECK(mistakes(R"("gear": 8, "current_limit": 20, "watchdog": 0.02)") ==
        List{where + "/drive: watchdog is 0.02 s, but the loop may pause for 0.044 s: its overrun_limit"});
  CHECK(mistakes(R"("gear": 8, "current_limit": 20, "velocity_limit": 5)").size() == 1);
  CHECK(mistakes(R"("gear": 8, "current_limit": 20)", R"(, "counts_per_radian": -1)").size() == 1);
  CHECK(mistakes(R"("gear": -1e-300, "current_limit": 20)").size() == 1);
}
