// The hardware classes of real robots against the simulated ones, over frames alone: start-up, motion,
// faults.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "support/rt_guard.hpp"
#include "support/source_dir.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/registry.hpp"
#include "takt/drives/servo/servo_hardware.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;
using namespace std::chrono_literals;
using sim::JointFault;
using sim::VirtualCanBus;

namespace {

/// A robot from the examples with its masters, and a loop around both. It commands every joint to its start
/// plus `target`.
struct Robot {
  explicit Robot(const std::string& name) {
    auto loaded =
        drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".json");
    REQUIRE(loaded.has_value());
    description = *loaded;
    simulation = std::make_unique<sim::RobotSimulation>(sim::RobotSimulation::create(description).value());
    for (std::size_t bus = 0; bus < description.buses.size(); ++bus) ports.push_back(simulation->host(bus));
    std::vector<VirtualCanBus::Port*> buses;
    for (auto& port : ports) buses.push_back(&port);
    const std::span<VirtualCanBus::Port* const> all(buses);
    if (description.buses[0].protocol == drives::find("hubo")) {
      hardware = drives::HuboHardware<VirtualCanBus::Port>::create(description, all).value();
    } else {
      hardware = drives::ServoHardware<VirtualCanBus::Port>::create(description, all).value();
    }
    feedback.resize(description.joints.size());
    commands.resize(description.joints.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
      commands[i].position = description.joints[i].plant.start;
      commands[i].want_power = true;
    }
  }

  void cycle() noexcept {
    now += description.period;
    simulation->advance(now);
    hardware->read(now, feedback);
    hardware->write(now, commands);
  }
  void run(Duration duration) {
    for (const Time end = now + duration; now < end;) cycle();
  }
  /// Moves all joints evenly by `distance` within `duration`.
  void move(double distance, Duration duration) {
    const auto cycles = duration / description.period;
    const double speed = distance / to_seconds(duration);
    for (auto& command : commands) command.velocity = speed;
    for (std::int64_t i = 0; i < cycles; ++i) {
      for (auto& command : commands) command.position += speed * to_seconds(description.period);
      cycle();
    }
    for (auto& command : commands) command.velocity = 0;
  }
  [[nodiscard]] bool all(DriveState state) const {
    return std::all_of(feedback.begin(), feedback.end(),
                       [&](const auto& joint) { return joint.drive == state; });
  }

  robot::RobotDescription description;
  std::unique_ptr<sim::RobotSimulation> simulation;
  std::vector<VirtualCanBus::Port> ports;
  std::unique_ptr<robot::Hardware> hardware;
  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
  Time now{};
};

}  // namespace

TEST_CASE("both robots come up without a jump, follow, and go down") {
  for (const char* name : {"mhubo", "arm6"}) {
    CAPTURE(name);
    Robot robot(name);
    robot.run(500ms);
    CHECK(robot.all(DriveState::ready));
    for (std::size_t i = 0; i < robot.feedback.size(); ++i) {
      const double start = robot.description.joints[i].plant.start;
      CHECK(std::abs(robot.simulation->position(i) - start) < 2e-3);
      CHECK(robot.feedback[i].position == doctest::Approx(start).epsilon(1e-3));
    }

    robot.move(0.3, 1s);
    robot.run(500ms);
    CHECK(robot.all(DriveState::ready));
    for (std::size_t i = 0; i < robot.feedback.size(); ++i) {
      CHECK(std::abs(robot.simulation->position(i) - robot.commands[i].position) < 1e-3);
      CHECK(std::abs(robot.feedback[i].position - robot.commands[i].position) < 1e-3);
    }

    for (auto& command : robot.commands) command.want_power = false;
    robot.run(200ms);
    CHECK(robot.all(DriveState::off));
    const auto counters = robot.hardware->counters();
    CHECK(counters.frames_refused == 0);
    CHECK(counters.frames_malformed == 0);
    CHECK(counters.frames_unexpected == 0);
    for (std::size_t bus = 0; bus < robot.ports.size(); ++bus) {
      const auto statistics = robot.simulation->bus(bus).statistics();
      CHECK(statistics.load() < 0.8);
      CHECK(statistics.overflows + statistics.refused + statistics.invalid == 0);
    }
  }
}

TEST_CASE("a board that falls silent is noticed, and comes back when its joints are powered again") {
  for (const char* name : {"mhubo", "arm6"}) {
    CAPTURE(name);
    Robot robot(name);
    robot.run(500ms);
    robot.simulation->inject(2, JointFault::silent);
    robot.run(500ms);
    CHECK(robot.feedback[2].drive != DriveState::ready);
    CHECK(robot.feedback[0].drive == DriveState::ready);

    robot.simulation->inject(2, JointFault::none);
    for (auto& command : robot.commands) command.want_power = false;
    robot.run(500ms);
    for (std::size_t i = 0; i < robot.commands.size(); ++i) {
      robot.commands[i].position = robot.simulation->position(i);
      robot.commands[i].want_power = true;
    }
    robot.run(500ms);
    CHECK(robot.all(DriveState::ready));
  }
}

TEST_CASE("a fault of a drive is reported as one, and cleared after it was mended") {
  for (const char* name : {"mhubo", "arm6"}) {
    CAPTURE(name);
    Robot robot(name);
    robot.run(500ms);
    robot.simulation->inject(1, JointFault::power_stage);
    robot.run(200ms);
    CHECK(robot.feedback[1].drive == DriveState::fault);
    CHECK(robot.feedback[1].fault != 0);
    robot.simulation->inject(1, JointFault::none);
    for (auto& command : robot.commands) command.want_power = false;
    robot.commands[1].clear_fault = true;
    robot.cycle();
    robot.commands[1].clear_fault = false;
    robot.run(200ms);
    CHECK(robot.feedback[1].drive == DriveState::off);
    for (auto& command : robot.commands) command.want_power = true;
    robot.run(500ms);
    CHECK(robot.all(DriveState::ready));
  }
}

TEST_CASE("lost and corrupted frames cost nothing but a cycle") {
  for (const char* name : {"mhubo", "arm6"}) {
    CAPTURE(name);
    Robot robot(name);
    robot.run(500ms);
    for (int i = 0; i < 100; ++i) {
      for (std::size_t bus = 0; bus < robot.ports.size(); ++bus) {
        if (i % 10 == 0) robot.simulation->bus(bus).lose_next(2);
        if (i % 7 == 0) robot.simulation->bus(bus).corrupt_next(1);
      }
      robot.move(0.001, 2 * robot.description.period);
    }
    robot.run(500ms);
    CHECK(robot.all(DriveState::ready));
    for (std::size_t i = 0; i < robot.feedback.size(); ++i) {
      CHECK(std::abs(robot.simulation->position(i) - robot.commands[i].position) < 1e-3);
    }
  }
}

TEST_CASE(
    "a cycle of masters, buses and drives allocates nothing, locks nothing and asks nothing of the kernel") {
  for (const char* name : {"mhubo", "arm6"}) {
    Robot robot(name);
    test::RtGuard guard;
    for (int i = 0; i < 300; ++i) robot.cycle();
    CHECK(guard.report() == "");
    CHECK(robot.all(DriveState::ready));
  }
}
