// The questions of a scan find the drives of a bus, and switch none on.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "takt/drives/registry.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

robot::RobotDescription robot_of(const std::string& protocol) {
  robot::RobotDescription robot;
  robot.name = "scanned";
  robot.period = 5ms;
  robot.buses = {{.name = "bus", .protocol = drives::find(protocol)}};
  for (const std::uint8_t board : {std::uint8_t{3}, std::uint8_t{12}}) {
    robot::JointDescription& joint = robot.joints.emplace_back();
    joint.name = "joint_" + std::to_string(board);
    joint.board = board;
    joint.limits = {-3, 3, 2, 8, 100};
    joint.counts_per_radian = protocol == "odrive" || protocol == "mit" ? 1 : 10'000;
    if (protocol == "odrive") {
      joint.drive.set("gear", 10.0);
      joint.drive.set("current_limit", 20.0);
    }
    if (protocol != "mit") continue;
    joint.drive.set("vendor", std::string("damiao"));
    joint.drive.set("position_range", 12.5);
    joint.drive.set("velocity_range", 20.0);
    joint.drive.set("torque_range", 50.0);
    joint.drive.set("kp", 200.0);
    joint.drive.set("kd", 3.0);
  }
  return robot;
}

}  // namespace

TEST_CASE("a scan finds the drives of a bus, and their questions switch none on") {
  for (const char* protocol : {"cia402", "hubo", "mit", "odrive", "servo"}) {
    CAPTURE(protocol);
    const robot::RobotDescription description = robot_of(protocol);
    auto world = sim::RobotSimulation::create(description).value();
    auto host = world.host(0);
    for (std::size_t joint = 0; joint < 2; ++joint) world.set_load(joint, -0.5);
    const robot::DriveProtocol& drive = *drives::find(protocol);
    std::map<std::uint8_t, std::string> found;
    robot::DriveSettings settings;
    Time now{};
    const auto listen = [&](Duration duration) {
      now += duration;
      world.advance(now);
      std::array<can::Frame, 64> frames{};
      const std::size_t count = host.receive(frames);
      for (const can::Frame& frame : std::span<const can::Frame>(frames).first(count)) {
        const auto seen = drive.sight(frame);
        if (!seen) continue;
        found[seen->board] += seen->text + ";";
        for (const auto& [key, value] : seen->settings.list()) settings.set(key, value);
      }
    };
    for (int i = 0; i < 100; ++i) listen(10ms);  // they boot
    const auto questions = drive.questions(true);
    CHECK_FALSE(questions.empty());
    for (const can::Frame& question : questions) {
      CHECK(host.send({&question, 1}) == 1);
      listen(1ms);
      CHECK_FALSE(drive.sight(question).has_value());
    }
    for (int i = 0; i < 100; ++i) listen(10ms);
    std::set<int> boards;
    for (const auto& [board, text] : found) boards.insert(board);
    CHECK(boards == std::set<int>{3, 12});
    for (std::size_t joint = 0; joint < 2; ++joint) CHECK(world.position(joint) > 0.1);  // nothing holds it
    if (drive.name() == "odrive") CHECK(found[3].find("firmware 0.6.10") != std::string::npos);
    if (drive.name() == "cia402") CHECK(found[12].find("device type 0x20192;") != std::string::npos);
    if (drive.name() == "mit") {
      CHECK(settings.number("position_range") == 12.5);
      CHECK(settings.number("reply_id") == 12 + 16);
      CHECK(settings.word("vendor") == "damiao");
    }
  }
}

TEST_CASE("a scan asks servo drives only on a quiet bus, since a question would switch them off") {
  CHECK(drives::find("servo")->questions(false).empty());
}

TEST_CASE("any frame may be looked at") {
  auto random = test::generator();
  for (std::size_t i = test::count(20'000); i > 0; --i) {
    can::Frame frame;
    frame.id = static_cast<std::uint32_t>(random());
    frame.extended = random() % 8 == 0;
    frame.remote = random() % 8 == 0;
    frame.fd = random() % 8 == 0;
    if (!frame.extended) frame.id &= can::max_standard_id;
    frame.length = static_cast<std::uint8_t>(random() % (frame.fd ? 65 : 9));
    for (std::uint8_t& byte : frame.data) byte = static_cast<std::uint8_t>(random());
    for (const robot::DriveProtocol* protocol : drives::all()) {
      if (const auto seen = protocol->sight(frame)) CHECK(seen->board <= 127);
    }
  }
}
