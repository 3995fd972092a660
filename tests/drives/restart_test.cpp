// Boards lose their power together with their bus, at any instant, and return as new ones. After one reset
// the robot is ready again, with every protocol.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/source_dir.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/can_port.hpp"
#include "takt/robot/supervisor.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;

namespace {

/// The master's end of a bus. While it is away, frames of both directions are lost.
struct Line final : robot::CanPort {
  std::size_t send(std::span<const can::Frame> frames) noexcept override {
    if (boards && !is_away) boards->send(frames);
    return frames.size();
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept override {
    const std::size_t count = boards ? boards->receive(frames) : 0;
    return is_away ? 0 : count;
  }
  [[nodiscard]] robot::BusTraffic traffic() const noexcept override { return {}; }

  std::optional<sim::VirtualCanBus::Port> boards;
  bool is_away = false;
};

/// A robot with its masters and its supervisor. Its boards come and go.
struct Robot {
  explicit Robot(robot::RobotDescription robot)
      : description(std::move(robot)),
        lines(description.buses.size()),
        supervisor(description),
        feedback(description.joints.size()),
        commands(feedback.size()),
        references(feedback.size()) {
    std::vector<robot::CanPort*> ports;
    for (Line& line : lines) ports.push_back(&line);
    hardware = std::move(*description.buses[0].protocol->connect(description, ports));
    power_up();
  }

  void power_up() {
    boards = std::make_unique<sim::RobotSimulation>(sim::RobotSimulation::create(description, now).value());
    for (std::size_t bus = 0; bus < lines.size(); ++bus) lines[bus].boards = boards->host(bus);
  }
  void power_down() {
    for (Line& line : lines) line.boards.reset();
    boards.reset();
  }
  void unplug(bool away) {
    for (Line& line : lines) line.is_away = away;
  }
  void cycle(bool resets = false) {
    now += description.period;
    if (boards) boards->advance(now);
    hardware->read(now, feedback);
    (void)supervisor.begin(feedback, 0, references);
    if (resets) (void)supervisor.reset();
    for (std::size_t i = 0; i < feedback.size(); ++i) {
      if (supervisor.restarts(i) || !supervisor.holds(i)) references[i] = {feedback[i].position, 0, 0};
    }
    supervisor.settle(false);
    for (std::size_t i = 0; i < feedback.size(); ++i) {
      commands[i].position = references[i].position;
      commands[i].want_power = supervisor.powers(i);
      commands[i].clear_fault = supervisor.clears_faults();
    }
    hardware->write(now, commands);
  }
  void run(double seconds) {
    for (const Time end = now + from_seconds(seconds); now < end;) cycle();
  }
  [[nodiscard]] bool is_ready() const { return supervisor.state() == robot::RobotState::ready; }

  robot::RobotDescription description;
  std::vector<Line> lines;
  std::unique_ptr<sim::RobotSimulation> boards;
  std::unique_ptr<robot::Hardware> hardware;
  robot::Supervisor supervisor;
  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
  std::vector<MotionState> references;
  Time now{};
};

robot::RobotDescription example(const std::string& name) {
  return drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".json").value();
}

robot::RobotDescription of_protocol(const std::string& protocol) {
  if (protocol == "servo") return example("arm6");
  if (protocol == "hubo") return example("mhubo");
  if (protocol == "mit") return example("mit_arm3");
  if (protocol == "odrive") return example("odrive_arm");
  robot::RobotDescription robot = example("odrive_arm");
  robot.buses[0].protocol = drives::find(protocol);
  for (robot::JointDescription& joint : robot.joints) joint.counts_per_radian = 10'000;
  robot.joints[1].rated_effort = 10;
  return robot;
}

const std::vector<std::string> protocols = {"cia402", "hubo", "mit", "odrive", "servo"};

/// After a while and one reset: whether the robot is ready, and if not, which drives are not.
bool is_ready_after_reset(Robot& robot) {
  robot.cycle(true);
  robot.run(3);
  for (std::size_t joint = 0; joint < robot.feedback.size() && !robot.is_ready(); ++joint) {
    CAPTURE(joint);
    CAPTURE(robot.feedback[joint].fault);
    CHECK(robot.feedback[joint].drive == DriveState::ready);
  }
  CHECK(robot.is_ready());
  return robot.is_ready();
}

}  // namespace

TEST_CASE("boards that restart together with their bus, at any instant, are ready again after one reset") {
  for (const std::string& protocol : protocols) {
    CAPTURE(protocol);
    auto random = test::generator();
    Robot robot(of_protocol(protocol));
    for (std::size_t i = test::count(20); i > 0; --i) {
      const double alive = test::uniform(random, 0, 1.5);
      const double dead = test::uniform(random, 0, 1);
      const double away = test::uniform(random, 0, 1);
      CAPTURE(alive);
      CAPTURE(dead);
      CAPTURE(away);
      robot.run(alive);
      robot.power_down();
      robot.run(dead);
      robot.power_up();
      robot.unplug(true);  // the first messages of the boards are lost
      robot.run(away);
      robot.unplug(false);
      robot.run(test::uniform(random, 0, 2));
      if (!is_ready_after_reset(robot)) break;
    }
  }
}

TEST_CASE("boards that restart again and again, between resets, are ready after the last one") {
  for (const std::string& protocol : protocols) {
    CAPTURE(protocol);
    auto random = test::generator(1);
    Robot robot(of_protocol(protocol));
    for (std::size_t i = test::count(5); i > 0; --i) {
      for (int restarts = 0; restarts < 10; ++restarts) {
        robot.power_down();
        robot.run(test::uniform(random, 0, 0.1));
        robot.power_up();
        robot.unplug(test::uniform(random, 0, 1) < 0.5);
        robot.run(test::uniform(random, 0, 0.3));
        robot.unplug(false);
        if (test::uniform(random, 0, 1) < 0.3) robot.cycle(true);
      }
      robot.run(2);
      if (!is_ready_after_reset(robot)) break;
    }
  }
}
