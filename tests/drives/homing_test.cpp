// Homing from a robot's file: one key under "drive", for each protocol whose drives search their home.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "takt/drives/registry.hpp"
#include "takt/sim/robot_simulation.hpp"
#include "takt/sim/virtual_can_port.hpp"

using namespace takt;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

Json file_of(const char* protocol) {
  Json robot = Json::parse(R"({
    "name": "homed", "rate": 200,
    "buses": [{"name": "bus", "bit_rate": 1000000}],
    "joints": [{"name": "joint", "bus": "bus", "board": 3, "counts_per_radian": 10000,
                "limits": {"position": [-3, 3], "velocity": 2, "acceleration": 8, "jerk": 100}, "plant": {"start": 0.5}}]
  })");
  robot["buses"][0]["protocol"] = protocol;
  return robot;
}

/// A robot of a file over its simulated drives; its only joint holds where it is.
struct Robot {
  explicit Robot(const Json& file) {
    const auto loaded = drives::load_robot(file.dump());
    REQUIRE(loaded.has_value());
    description = *loaded;
    world = std::make_unique<sim::RobotSimulation>(sim::RobotSimulation::create(description).value());
    port = std::make_unique<sim::VirtualCanPort>(world->bus(0), world->host(0));
    robot::CanPort* const ports[] = {port.get()};
    hardware = description.buses[0].protocol->connect(description, ports).value();
    commands[0].want_power = true;
  }
  void run(Duration duration) {
    for (const Time end = now + duration; now < end;) {
      now += description.period;
      world->advance(now);
      hardware->read(now, feedback);
      commands[0].position = feedback[0].position;
      hardware->write(now, commands);
    }
  }

  robot::RobotDescription description;
  std::unique_ptr<sim::RobotSimulation> world;
  std::unique_ptr<robot::CanPort> port;
  std::unique_ptr<robot::Hardware> hardware;
  std::vector<robot::JointFeedback> feedback{1};
  std::vector<JointCommand> commands{1};
  Time now{};
};

}  // namespace

TEST_CASE("a CiA 402 drive homes by the method of the robot's file") {
  Json file = file_of("cia402");
  Robot usual(file);
  usual.run(3s);
  CHECK(usual.feedback[0].drive == DriveState::ready);
  CHECK(usual.feedback[0].position == doctest::Approx(0.5).epsilon(0.01));
  file["joints"][0]["drive"] = {{"homing", 34}, {"homing_speed", 1}, {"homing_timeout", 30}};
  Robot homed(file);
  homed.run(3s);
  CHECK(homed.feedback[0].drive == DriveState::off);  // on its way
  homed.run(15s);
  CHECK(homed.feedback[0].drive == DriveState::ready);
  CHECK(homed.feedback[0].position == doctest::Approx(0).epsilon(0.01));
  CHECK(homed.world->position(0) > 1);
}

TEST_CASE("a Hubo board that has lost its home searches it if the robot's file says so") {
  for (const bool homes : {false, true}) {
    CAPTURE(homes);
    Json file = file_of("hubo");
    if (homes) file["joints"][0]["drive"] = {{"homing", "at_start"}};
    Robot robot(file);
    robot.run(1s);
    CHECK(robot.feedback[0].drive == DriveState::ready);  // it powers up at home
    robot.world->inject(0, sim::JointFault::silent);
    robot.run(200ms);
    robot.world->inject(0, sim::JointFault::none);
    robot.run(200ms);
    robot.commands[0].want_power = false;
    robot.run(1s);
    robot.commands[0].want_power = true;
    robot.run(1s);
    CHECK((robot.feedback[0].drive == DriveState::ready) == !homes);
    robot.run(6s);
    CHECK(robot.feedback[0].drive == DriveState::ready);
    if (homes) CHECK(robot.world->position(0) == doctest::Approx(0).epsilon(0.01));
  }
}

TEST_CASE("settings of a homing that contradict each other are mistakes") {
  const auto place_of = [](const char* protocol, const Json& drive) {
    Json file = file_of(protocol);
    file["joints"][0]["drive"] = drive;
    const auto loaded = drives::load_robot(file.dump());
    REQUIRE_FALSE(loaded.has_value());
    return loaded.error().front().where;
  };
  CHECK(place_of("cia402", {{"homing", 1.5}}) == "/joints/0/drive/homing");
  CHECK(place_of("cia402", {{"homing", 128}}) == "/joints/0/drive/homing");
  CHECK(place_of("cia402", {{"homing_speed", 1}}) == "/joints/0/drive");
  CHECK(place_of("hubo", {{"homing", "always"}}) == "/joints/0/drive/homing");
  CHECK(place_of("hubo", {{"homing", "at_start"}, {"board_kind", "hybrid"}}) == "/joints/0/drive/homing");
}
