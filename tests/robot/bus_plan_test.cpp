// The plan of a bus: its filters pass the frames that its master understands, and no others. Its load tells
// whether a description fits.
#include "takt/robot/bus_plan.hpp"
#include "takt/drives/hubo/hubo_plan.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"
#include "takt/drives/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/hardware_rig.hpp"
#include "support/scripted_bus.hpp"
#include "takt/drives/cia402/cia402_hardware.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/servo/servo_hardware.hpp"

using namespace takt;
using namespace takt::drives;
using namespace takt::robot;
using namespace std::chrono_literals;
using can::hubo::BoardKind;

namespace {

RobotDescription one_bus(const DriveProtocol* protocol, std::size_t joints, Duration period) {
  RobotDescription robot;
  robot.period = period;
  robot.buses.push_back({.name = "can0", .protocol = protocol});
  for (std::size_t i = 0; i < joints; ++i) {
    robot.joints.emplace_back();
    robot.joints[i].board = static_cast<std::uint8_t>(i + 1);
  }
  return robot;
}

bool passes(const BusPlan& plan, std::uint32_t id, bool extended) {
  return std::ranges::any_of(plan.filters,
                             [&](const can::Filter& filter) { return filter.passes(id, extended); });
}

/// Whether the master accepts such a frame: it does not count it in frames_unexpected.
template <class Hardware>
void check_filters(const BusPlan& plan, Hardware& hardware, test::ScriptedBus& bus, std::size_t joints) {
  std::vector<JointFeedback> feedback(joints);
  const std::vector<JointCommand> without_power(joints);
  hardware.ask_identity();  // the answers, too, have to pass
  for (std::size_t i = 0; i < joints; ++i) hardware.write(Time(1s), without_power);
  for (const bool extended : {false, true}) {
    for (std::uint32_t id = 0; id <= can::max_standard_id; ++id) {
      can::Frame frame;
      frame.id = id;
      frame.extended = extended;
      bus.incoming = {frame};
      const std::uint64_t before = hardware.counters().frames_unexpected;
      hardware.read(Time(1s), feedback);
      const bool is_wanted = hardware.counters().frames_unexpected == before;
      CAPTURE(id);
      CAPTURE(extended);
      REQUIRE(passes(plan, id, extended) == is_wanted);
    }
  }
}

template <template <class> class HardwareType, class... Options>
void check_filters(const RobotDescription& robot, const BusPlan& plan, Options... options) {
  test::ScriptedBus bus;
  test::ScriptedBus* const pointer = &bus;
  auto hardware = HardwareType<test::ScriptedBus>::create(robot, {&pointer, 1}, options...);
  REQUIRE(hardware);
  check_filters(plan, **hardware, bus, robot.joints.size());
}

}  // namespace

TEST_CASE("a bus's filters pass what its master understands, and nothing else") {
  RobotDescription boards = one_bus(drives::find("hubo"), 5, 10ms);
  drives::set_hubo_board_kind(boards.joints[2], BoardKind::hybrid);
  drives::set_hubo_board_kind(boards.joints[3], BoardKind::neck);
  boards.joints[3].board = can::hubo::neck_board;
  drives::set_hubo_board_kind(boards.joints[4], BoardKind::hand);
  boards.joints[4].rated_effort = 1;
  const std::array<HuboSensorPlace, 3> sensors{{{0, 1}, {0, 3}, {0, 6}}};
  check_filters<HuboHardware>(boards, plan_bus(boards, 0));
  BusPlan with_sensors = plan_bus(boards, 0);
  drives::plan_hubo_sensors(sensors, 0, with_sensors);
  check_filters<HuboHardware>(boards, with_sensors, HuboBusOptions{{}, sensors});

  const RobotDescription servos = one_bus(drives::find("servo"), 13, 10ms);
  check_filters<ServoHardware>(servos, plan_bus(servos, 0));

  RobotDescription nodes = one_bus(drives::find("cia402"), 4, 10ms);
  for (JointDescription& joint : nodes.joints) joint.rated_effort = 1;
  check_filters<Cia402Hardware>(nodes, plan_bus(nodes, 0));
}

TEST_CASE("a bus's load is that of the published plans") {
  // 55 us of SYNC and twice 125 us for each drive, and heartbeats.
  const BusPlan three = plan_bus(one_bus(drives::find("cia402"), 3, 1ms), 0);
  CHECK(three.load() > 0.805);
  CHECK(three.load() < 0.815);
  CHECK(three.frames_per_cycle() == 5);
  const BusPlan four = plan_bus(one_bus(drives::find("cia402"), 4, 1ms), 0);
  CHECK(four.load() > 1.05);

  RobotDescription slow = one_bus(drives::find("cia402"), 3, 1ms);
  slow.buses[0].bit_rate = 500'000;
  CHECK(plan_bus(slow, 0).load() == doctest::Approx(2 * three.load()));
  CHECK(plan_bus(one_bus(drives::find("hubo"), 9, 10ms), 0).frames_per_cycle() == 19);
  CHECK(plan_bus(one_bus(drives::find("servo"), 13, 10ms), 0).frames_per_cycle() == 3);
}

TEST_CASE("at the rate that would fit, a bus is as busy as may be planned") {
  for (const DriveProtocol* protocol :
       {drives::find("hubo"), drives::find("servo"), drives::find("cia402")}) {
    for (const std::size_t joints : {1U, 6U, 30U}) {
      RobotDescription robot = one_bus(protocol, joints, 500us);
      const double fitting = plan_bus(robot, 0).fitting_rate();
      REQUIRE(fitting > 0);
      robot.period = from_seconds(1 / fitting);
      // A master's heartbeat may become rarer when the cycle is longer.
      CHECK(plan_bus(robot, 0).load() < largest_bus_load + 1e-4);
      CHECK(plan_bus(robot, 0).load() > largest_bus_load - 0.01);
    }
  }
}

TEST_CASE("a bus without joints, or of no number, has an empty plan") {
  RobotDescription robot = one_bus(drives::find("cia402"), 1, 1ms);
  for (const DriveProtocol* protocol : {drives::find("hubo"), drives::find("servo"), drives::find("cia402")})
    robot.buses.push_back({.name = "spare", .protocol = protocol});
  for (std::size_t bus = 1; bus < 6; ++bus) {
    const BusPlan plan = plan_bus(robot, bus);
    CHECK(plan.load() == 0);
    CHECK(plan.fitting_rate() == 0);
    CHECK(plan.frames_per_cycle() == 0);
    CHECK(plan.filters.empty());
  }
}
