// Tests a whole robot by app::Robot, simulated in virtual time: it reports its life in order, and two runs
// make the same recording. Each mistake in a robot's file is reported in one line.
#include "takt/app/robot.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/robot_client.hpp"
#include "support/source_dir.hpp"
#include "takt/app/error.hpp"
#include "takt/record/reader.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using namespace std::chrono_literals;

TEST_CASE("a simulated robot becomes ready, moves and is recorded, and reports its states in order") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.mcap");
  options.created = "today";
  options.drain_in_cycle = true;
  const auto robot = made(two_joints(), options);
  CHECK(robot->place().empty());
  CHECK_FALSE(robot->port().has_value());
  CHECK(reports(*robot).empty());
  Client client(*robot, move_once({"left_joint", "right_joint"}, {1.2, -0.7}));
  std::size_t set_ups = 0;
  REQUIRE(robot->run([&](const rt::ThreadSetup&) { ++set_ups; }).has_value());
  CHECK(set_ups == 1);
  CHECK(client.refused().empty());
  CHECK(client.goal(1) == motion::GoalState::succeeded);
  REQUIRE(robot->devices() != nullptr);
  REQUIRE(robot->devices()->simulation() != nullptr);
  CHECK(robot->devices()->simulation()->position(0) == doctest::Approx(1.2).epsilon(0.02));
  CHECK(robot->devices()->simulation()->position(1) == doctest::Approx(-0.7).epsilon(0.02));
  CHECK(robot->devices()->traffic(0).frames > 0);
  CHECK(robot->fault().reason == motion::Errc{});
  CHECK(reports(*robot) == a_life);
  CHECK(robot->statistics().cycles > 500);

  const auto totals = robot->finish();
  REQUIRE(totals.has_value());
  REQUIRE(totals->recorded.has_value());
  CHECK(totals->recorded->dropped == 0);
  CHECK(totals->accepted == 0);
  auto reader = record::Reader::open(options.recording);
  REQUIRE(reader.has_value());
  CHECK(reader->metadata().robot == "pair");
  CHECK(reader->metadata().created == "today");
  CHECK(reader->metadata().buses == std::vector<std::string>{"left", "right"});
  std::uint64_t cycles = 0;
  std::uint64_t bus_records = 0;
  bool succeeded = false;
  for (auto record = reader->next(); record && *record != nullptr; record = reader->next()) {
    if (std::holds_alternative<record::CycleRecord>(**record)) ++cycles;
    if (std::holds_alternative<record::BusRecord>(**record)) ++bus_records;
    if (const auto* event = std::get_if<record::GoalEvent>(&**record))
      succeeded = succeeded || event->state == static_cast<std::uint8_t>(motion::GoalState::succeeded);
  }
  CHECK_FALSE(reader->truncated());
  CHECK(cycles == robot->statistics().cycles);
  CHECK(bus_records > 0);
  CHECK(succeeded);
}

TEST_CASE("two runs in virtual time make the same recording") {
  const ScratchFolder folder;
  const auto run = [&folder](const char* name) {
    VirtualClock clock;
    RobotOptions options;
    options.clock = &clock;
    options.recording = folder.file(name);
    options.drain_in_cycle = true;
    const auto robot = made(two_joints(), options);
    Client client(*robot, move_once({"left_joint"}, {1}));
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
    return bytes_of(options.recording);
  };
  const std::string first = run("first.mcap");
  CHECK(first.size() > 10'000);
  CHECK(first == run("second.mcap"));
}

TEST_CASE("a robot's file is read, and each of its mistakes is reported in a line") {
  const auto arm = Robot::from_file(TAKT_SOURCE_DIR "/examples/robots/arm6.json");
  REQUIRE(arm.has_value());
  CHECK((*arm)->description().joints.size() == 6);

  const ScratchFolder folder;
  const std::string path = folder.file("wrong.json");
  std::ofstream(path)
      << R"({"name": "wrong", "rate": -1, "buses": [{"name": "arm", "protocol": "none"}], "joints": []})";
  const auto wrong = Robot::from_file(path);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().error == Errc::bad_description);
  CHECK(wrong.error().message.starts_with(path + ": /"));
  CHECK(wrong.error().message.find("\n" + path + ": /") != std::string::npos);
  const auto none = Robot::from_file(folder.file("none.json"));
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().error == Errc::bad_description);
  CHECK(none.error().message.starts_with(folder.file("none.json")));
}

TEST_CASE("a description that no loop can run is refused, also with own hardware") {
  OwnHardware hardware(2);
  RobotOptions options;
  options.hardware = &hardware;
  const auto complaint = [&](const std::function<void(robot::RobotDescription&)>& change) {
    robot::RobotDescription robot = two_joints();
    change(robot);
    const SetupError error = refusal(std::move(robot), options);
    CHECK(error.error == Errc::bad_description);
    return error.message;
  };
  CHECK(complaint([](auto& robot) { robot.period = Duration(0); }) ==
        "robot pair: the period is not positive");
  CHECK(complaint([](auto& robot) { robot.period = -1ms; }) == "robot pair: the period is not positive");
  CHECK(complaint([](auto& robot) { robot.joints.resize(65); }) ==
        "robot pair: 65 joints, at most 64 are possible");
  CHECK(complaint([](auto& robot) {
          robot.groups = {{"both", {0, 2}}};
        }) == "robot pair: group both: there is no joint 2");
}
