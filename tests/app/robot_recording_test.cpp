// Tests the recording of app::Robot: it replaces an existing file only on request. A robot that never ran
// leaves no recording behind. It has the efforts of the drives that report one.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "app/robot_client.hpp"
#include "takt/app/error.hpp"
#include "takt/record/reader.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;

TEST_CASE("a file that is there is recorded over only when that is asked for") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.mcap");
  options.drain_in_cycle = true;
  std::ofstream(options.recording) << "precious";
  const SetupError error = refusal(two_joints(), options);
  CHECK(error.error == Errc::recording_exists);
  CHECK(error.message.starts_with(options.recording + " exists"));
  CHECK(bytes_of(options.recording) == "precious");

  options.overwrite = true;
  const auto robot = made(two_joints(), options);
  Client client(*robot, end_when_ready);
  REQUIRE(robot->run().has_value());
  REQUIRE(robot->finish().has_value());
  CHECK(record::Reader::open(options.recording).has_value());
}

TEST_CASE("a recording of a robot that never ran is removed, however it ends") {
  const ScratchFolder folder;
  RobotOptions options;
  options.recording = folder.file("run.mcap");
  {
    const auto robot = made(two_joints(), options);
    CHECK(std::filesystem::exists(options.recording));
  }
  CHECK_FALSE(std::filesystem::exists(options.recording));

  const auto robot = made(two_joints(), options);
  const auto totals = robot->finish();
  REQUIRE(totals.has_value());
  CHECK_FALSE(totals->recorded.has_value());
  CHECK_FALSE(std::filesystem::exists(options.recording));

  options.thread.affinity = rt::Want::enforce;  // without a named core: rejected
  const auto refused = made(two_joints(), options);
  const auto ran = refused->run();
  REQUIRE_FALSE(ran.has_value());
  CHECK(ran.error().error.room == Room::rt);
  REQUIRE(refused->finish().has_value());
  CHECK_FALSE(std::filesystem::exists(options.recording));
}

TEST_CASE("a robot that never ran leaves the next one's recording alone") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.mcap");
  options.drain_in_cycle = true;
  auto idle = made(two_joints(), options);
  REQUIRE(idle->finish().has_value());
  const auto next = made(two_joints(), options);
  Client client(*next, end_when_ready);
  REQUIRE(next->run().has_value());
  REQUIRE(next->finish().has_value());
  idle.reset();
  CHECK(record::Reader::open(options.recording).has_value());
}

TEST_CASE("a port that another server has is refused, and no recording is left behind") {
  const ScratchFolder folder;
  RobotOptions options;
  options.port = 0;
  const auto first = made(two_joints(), options);
  REQUIRE(first->port().has_value());
  CHECK(*first->port() != 0);
  CHECK(first->place() == "listening on 127.0.0.1:" + std::to_string(*first->port()));
  options.port = first->port();
  options.recording = folder.file("run.mcap");
  CHECK(refusal(two_joints(), options).error.room == Room::platform);
  CHECK_FALSE(std::filesystem::exists(options.recording));
  const auto totals = first->finish();
  REQUIRE(totals.has_value());
  CHECK(totals->accepted == 0);
  CHECK(totals->rejected == 0);
  CHECK(totals->errors == 0);
}

TEST_CASE("an effort of exactly 0 is recorded, and none of a drive that reports none") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.mcap");
  options.drain_in_cycle = true;
  auto description = two_joints();
  description.buses[1].protocol = drives::find("hubo");
  const auto robot = made(description, options);
  Client client(*robot, end_when_ready);
  REQUIRE(robot->run().has_value());
  REQUIRE(robot->finish().has_value());

  auto file = record::Reader::open(options.recording);
  REQUIRE(file.has_value());
  int zeros = 0;
  int heard = 0;
  for (auto record = file->next(); record && *record != nullptr; record = file->next()) {
    const auto* cycle = std::get_if<record::CycleRecord>(*record);
    if (cycle == nullptr || std::isnan(cycle->joints[0].measured_position)) continue;
    CHECK(std::isfinite(cycle->joints[0].measured_effort));
    zeros += cycle->joints[0].measured_effort == 0 ? 1 : 0;
    heard += std::isfinite(cycle->joints[1].measured_position) ? 1 : 0;
    CHECK(std::isnan(cycle->joints[1].measured_effort));
  }
  CHECK(zeros > 0);
  CHECK(heard > 0);
}
