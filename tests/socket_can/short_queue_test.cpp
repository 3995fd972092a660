// Tests a master on an interface with Linux's default queue of ten frames (vq0; its other end is vq1).
// Opening it must report the short queue, and every board must still receive its requests.
#include <doctest/doctest.h>

#include <algorithm>

#include "socket_can/rig.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/bus_plan.hpp"

using namespace takt;
using namespace takt::platform;
using namespace takt::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t boards = 15;

robot::RobotDescription fifteen_boards() {
  robot::RobotDescription robot;
  robot.period = 20ms;
  robot.buses.push_back({.name = "vq0", .protocol = drives::find("hubo")});
  for (std::size_t i = 0; i < boards; ++i) {
    robot.joints.emplace_back();
    robot.joints.back().board = static_cast<std::uint8_t>(i);
  }
  return robot;
}

}  // namespace

TEST_CASE(
    "an interface whose queue is shorter than a cycle is refused with the length that would do" NEEDS_CAN) {
  const std::size_t cycle = robot::plan_bus(fifteen_boards(), 0).frames_per_cycle();
  const auto bus = SocketCanBus::open("vq0", {.frames_per_cycle = cycle});
  REQUIRE_FALSE(bus.has_value());
  CHECK(bus.error().error == Errc::can_queue_too_short);
  CHECK(bus.error().message ==
        "vq0: its send queue holds 10 frames, but a cycle sends 31; ip link set vq0 txqueuelen 31");
  CHECK(open_can("vq0", {.frames_per_cycle = 10}).queue_length() == 10);
}

TEST_CASE("fifteen boards behind a queue of ten frames are all asked" NEEDS_CAN) {
  const robot::RobotDescription robot = fifteen_boards();
  SocketCanBus bus = open_can("vq0", {.filters = robot::plan_bus(robot, 0).filters});
  SocketCanBus ear = open_can("vq1");
  SocketCanBus* const pointer = &bus;
  const auto hardware = std::move(drives::HuboHardware<SocketCanBus>::create(robot, {&pointer, 1}).value());

  std::vector<JointCommand> commands(boards);
  std::array<std::size_t, boards> asked{};
  std::array<can::Frame, 64> frames;
  Time now = SteadyClock().now();
  for (int cycle = 0; cycle < 200; ++cycle) {
    hardware->write(now, commands);
    now += robot.period;
    std::this_thread::sleep_for(robot.period);
    for (const can::Frame& frame : std::span(frames).first(ear.receive(frames))) {
      const auto command = can::hubo::decode_command(frame);
      if (command && command->code == can::hubo::CommandCode::encoder) ++asked.at(command->board);
    }
  }
  REQUIRE(bus.counters().full > 0);  // the test needs a full queue
  for (const std::size_t count : asked) CHECK(count >= 40);
  CHECK(hardware->counters().frames_starved > 0);
  CHECK(hardware->starved(boards - 1) > 0);
}
