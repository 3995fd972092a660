// The settings of MIT-mode drives in a description, their frames on a bus, and their faults as text.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "drives/mit/hardware.hpp"
#include "drives/mit/master.hpp"
#include "support/scripted_bus.hpp"
#include "support/source_dir.hpp"
#include "takt/app/devices.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/error.hpp"

using namespace takt;
using namespace std::chrono_literals;
namespace mit = drives::mit;

namespace {

struct Joint {
  int board = 1;
  std::string vendor = "cubemars";
  std::string more = "";  ///< settings
  std::string kp = "80";
  std::string kd = "2";
};

std::string robot_of(const std::vector<Joint>& joints, const std::string& times = "") {
  std::string text =
      R"({"name": "r", "rate": 500, "buses": [{"name": "b", "protocol": "mit", "bit_rate": 1000000}], )" +
      times + R"("joints": [)";
  for (std::size_t i = 0; i < joints.size(); ++i) {
    text += fmt::format(
        R"({}{{"name": "j{}", "bus": "b", "board": {},)"
        R"("limits": {{"position": [-3, 3], "velocity": 3, "acceleration": 8, "jerk": 500}},)"
        R"("drive": {{"vendor": "{}", "position_range": 12.5, "velocity_range": 50, "torque_range": 18,)"
        R"("kp": {}, "kd": {}{}}}}})",
        i == 0 ? "" : ", ", i, joints[i].board, joints[i].vendor, joints[i].kp, joints[i].kd, joints[i].more);
  }
  return text + "]}";
}

/// The mistakes of a description, in one text.
std::string mistakes(const std::string& text) {
  const auto robot = drives::load_robot(text);
  std::string all;
  if (!robot) {
    for (const robot::Mistake& mistake : robot.error()) all += robot::to_string(mistake) + "\n";
  }
  return all;
}
std::string mistakes_of(const std::vector<Joint>& joints) { return mistakes(robot_of(joints)); }
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const robot::DriveProtocol& protocol() { return *drives::find("mit"); }

}  // namespace

TEST_CASE("a description says vendor, ranges and gains, and has no counts") {
  const auto robot =
      drives::load_robot(robot_of({{1, "cheetah"}, {2}, {3, "damiao"}, {5, "damiao", R"(, "reply_id": 300)"}},
                                  R"("overrun_limit": 10, )"));
  REQUIRE(robot.has_value());
  CHECK(robot->joints[0].counts_per_radian == 1);
  const std::array<std::uint32_t, 4> replies{0, 2, 0x13, 300};
  for (std::size_t i = 0; i < 4; ++i) {
    const mit::Setup setup = mit::setup_of(robot->joints[i]).value();
    CHECK(setup.reply_id == replies[i]);
    CHECK(setup.ranges == mit::Ranges{12.5, 50, 18});
    CHECK(setup.kp == 80);
    CHECK(setup.kd == 2);
  }
  CHECK(protocol().reach(robot->joints[0]) == 12.5);
  CHECK_FALSE(protocol().longest_pause().has_value());

  const robot::BusPlan plan = robot::plan_bus(*robot, 0);
  CHECK(plan.commands.size() == 4);
  CHECK(plan.replies.size() == 4);
  REQUIRE(plan.filters.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(plan.filters[i].id == replies[i]);
  // 8 frames of at most 135 bits in 2 ms.
  CHECK(plan.load() == doctest::Approx(8 * 135e-6 / 2e-3));
}

TEST_CASE("a robot of one drive fits into a bus at 1 kHz three times, and not four times") {
  const auto at_1_khz = [](std::vector<Joint> joints) {
    std::string text = robot_of(joints, R"("overrun_limit": 10, )");
    text.replace(text.find("500"), 3, "1000");
    return mistakes(text);
  };
  CHECK(at_1_khz({{1}, {2}, {3}}) == "");
  CHECK(contains(at_1_khz({{1}, {2}, {3}, {4}}), "of bus b"));
}

TEST_CASE("a contradictory description is refused by name") {
  CHECK(mistakes_of({{1}}) == "");
  CHECK(contains(mistakes_of({{1, "tmotor"}}), "/joints/0/drive/vendor"));
  CHECK(contains(mistakes_of({{16, "damiao"}}), "/joints/0/board"));
  CHECK(contains(mistakes_of({{0}}), "/joints/0/board"));
  CHECK(mistakes_of({{127}}) == "");
  CHECK(contains(mistakes_of({{1, "cubemars", "", "500.1"}}), "/joints/0/drive/kp"));
  CHECK(contains(mistakes_of({{1, "cubemars", "", "0.1"}}), "nothing would hold the joint"));
  CHECK(contains(mistakes_of({{1, "cubemars", "", "80", "0"}}), "would oscillate"));
  CHECK(contains(mistakes_of({{1, "cubemars", "", "80", "5.1"}}), "/joints/0/drive/kd"));
  CHECK(contains(mistakes_of({{1, "damiao", R"(, "reply_id": 2047)"}}), "/joints/0/drive/reply_id"));
  CHECK(contains(mistakes_of({{1, "damiao", R"(, "reply_id": 17.5)"}}), "must be a whole number"));
  CHECK(contains(mistakes_of({{1, "damiao", R"(, "color": 1)"}}), "color"));
  CHECK(contains(mistakes_of({{1, "damiao"}, {17}}), "j0 replies with the identifier 0x11"));
  CHECK(contains(mistakes_of({{17}, {1, "damiao"}}), "0x11 is the identifier that j0 listens to"));
  CHECK(contains(mistakes_of({{1, "damiao"}, {2, "damiao", R"(, "reply_id": 17)"}}),
                 "j0 replies with 0x11, too"));
  CHECK(mistakes(robot_of({{1, "cheetah"}, {2, "cheetah"}}, R"("overrun_limit": 10, )")) == "");
  CHECK(contains(mistakes(robot_of({{1, "cheetah"}}, R"("overrun_limit": 11, )")), "At most 10"));
  CHECK(mistakes(robot_of({{1, "cheetah"}}, R"("overrun_limit": 11, "overrun": "catch_up", )")) == "");

  std::string text = robot_of({{1}});
  text.replace(text.find("[-3, 3]"), 7, "[-3, 13]");
  CHECK(contains(mistakes(text), "position words of the bus hold at most 12.5 rad"));
  text = robot_of({{1}});
  text.replace(text.find(R"("kp": 80, )"), 10, "");
  CHECK(contains(mistakes(text), "kp"));
}

TEST_CASE("hardware refuses what it cannot represent, with a named error") {
  auto good = drives::load_robot(robot_of({{1}, {2}}));
  REQUIRE(good.has_value());
  const auto refusal = [&](auto change) {
    robot::RobotDescription robot = *good;
    test::ScriptedBus bus;
    test::ScriptedBus* const pointer = &bus;
    std::span<test::ScriptedBus* const> buses(&pointer, 1);
    change(robot, buses);
    const auto hardware = mit::Hardware<test::ScriptedBus>::create(robot, buses);
    return hardware ? Error{} : hardware.error().error;
  };
  using Buses = std::span<test::ScriptedBus* const>;
  using robot::RobotDescription;
  CHECK(refusal([](RobotDescription&, Buses&) {}) == Error{});
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints[1].bus = 1; }) ==
        robot::Errc::no_such_bus);
  CHECK(refusal([](RobotDescription&, Buses& buses) { buses = {}; }) == robot::Errc::no_such_bus);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints[1].board = 128; }) ==
        robot::Errc::bad_address);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints[1].channel = 1; }) ==
        robot::Errc::bad_address);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints[1].board = 1; }) ==
        robot::Errc::duplicate_address);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints[1].counts_per_radian = 0; }) ==
        robot::Errc::bad_scale);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints.resize(65); }) ==
        robot::Errc::too_many_joints);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints[1].drive = {}; }) == can::Errc::bad_value);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints[1].drive.set("kd", 5.5); }) ==
        can::Errc::bad_value);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.joints[1].drive.set("torque_range", -1.0); }) ==
        can::Errc::bad_value);
  CHECK(refusal([](RobotDescription& robot, Buses&) { robot.buses[0].protocol = nullptr; }) == Error{});
}

TEST_CASE("faults are words") {
  CHECK(protocol().describe_fault(1) == "the motor is too hot");
  CHECK(protocol().describe_fault(7) == "stalled");
  CHECK(protocol().describe_fault(0x800) == "over-voltage");
  CHECK(protocol().describe_fault(0xE00) == "overload");
  CHECK(protocol().describe_fault(0xF00) == "error 15");
  CHECK(protocol().describe_fault(0xD00 | mit::fault::power_lost) ==
        "no command came before its time-out ran out, the drive switched off without a command");
  CHECK(protocol().describe_fault(mit::fault::wrong_mode) == "its CTRL_MODE is not MIT");
  CHECK(protocol().describe_fault(1U << 31U) == "bits 0x80000000");
}

TEST_CASE("the example is a robot of three vendors that can be simulated") {
  const auto robot = drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/mit_arm3.json");
  REQUIRE(robot.has_value());
  CHECK(app::Devices::create(*robot, {.simulate = true}).has_value());
}
