// The master of CAN FD servo drives against small drives written from the protocol's description: start-up,
// references, shut-down, faults, lost frames and bad input.
#include "takt/drives/servo/servo_hardware.hpp"
#include "takt/drives/registry.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "support/hardware_rig.hpp"

using namespace takt;
using namespace takt::drives;
using namespace takt::robot;
namespace servo = takt::can::servo;

namespace {

constexpr Duration period{1'000'000};

/// A drive without a motor: the test sets its position.
struct Drive {
  std::uint8_t node = 1;
  servo::State state = servo::State::off;
  std::uint8_t fault = 0;
  double position = 0;
  double velocity = 0;
  servo::NodeCommand last;
  double position_when_enabled = 0;
  bool deaf = false;
  bool fault_persists = false;
};

RobotDescription description() {
  RobotDescription robot;
  robot.period = period;
  robot.feedback_timeout = 20 * period;
  robot.buses = {BusDescription{"arm", drives::find("servo")}, BusDescription{"legs", drives::find("hubo")}};
  for (const std::uint8_t node : std::array<std::uint8_t, 4>{1, 2, 6, 7}) {
    JointDescription joint;
    joint.name = "joint" + std::to_string(node);
    joint.board = node;
    joint.counts_per_radian = node == 2 ? -1000 : 1000;
    robot.joints.push_back(joint);
  }
  JointDescription leg;
  leg.name = "leg";
  leg.bus = 1;
  robot.joints.push_back(leg);
  return robot;
}

using Master = ServoHardware<test::ScriptedBus>;

struct Rig : test::HardwareRig<Master> {
  explicit Rig(const RobotDescription& robot = description()) : HardwareRig(robot, drives::find("servo")) {
    for (std::size_t i = 0; i < drives.size(); ++i)
      drives[i].node = std::array<std::uint8_t, 4>{1, 2, 6, 7}[i];
  }

  void start() {
    power(true);
    cycles(6);
    for (std::size_t i = 0; i < 4; ++i) REQUIRE(feedback[i].drive == DriveState::ready);
  }

  void deliver(std::size_t /*bus*/, const can::Frame& frame) override {
    for (Drive& drive : drives) hear(drive, frame);
  }
  void hear(Drive& drive, const can::Frame& frame) {
    const auto heard = servo::decode_for_node(frame, drive.node);
    if (drive.deaf || !heard || !heard->command.addressed) return;
    drive.last = *heard;
    const servo::DriveCommand& command = heard->command;
    if (drive.state == servo::State::off && command.enable && !command.clear_fault) {
      drive.state = servo::State::ready;
      drive.position_when_enabled = command.position;
    } else if (drive.state == servo::State::ready && !command.enable) {
      drive.state = servo::State::off;
    } else if (drive.state == servo::State::fault && command.clear_fault && !command.enable &&
               !drive.fault_persists) {
      drive.state = servo::State::off;
      drive.fault = 0;
    }
    reply(0, *encode(servo::DriveReply{drive.node, heard->sequence, drive.state, drive.fault, drive.position,
                                       drive.velocity, 0}));
  }

  std::array<Drive, 4> drives{};
};

}  // namespace

TEST_CASE("one command frame for each group, with a sequence and a watchdog") {
  Rig rig;
  rig.cycle();
  REQUIRE(rig.last_sent.size() == 2);
  const auto first = servo::decode_group(rig.last_sent[0]).value();
  const auto second = servo::decode_group(rig.last_sent[1]).value();
  CHECK(first.group == 0);
  CHECK(second.group == 1);
  CHECK(first.watchdog == 23);  // ms: the loop may miss 20 periods
  CHECK(rig.last_sent[0].length == 64);
  CHECK(rig.last_sent[1].length == 16);
  CHECK(first.slots[0].addressed);
  CHECK(first.slots[1].addressed);
  CHECK_FALSE(first.slots[2].addressed);
  CHECK(first.slots[5].addressed);
  CHECK_FALSE(first.slots[0].enable);
  rig.cycle();
  CHECK(servo::decode_group(rig.last_sent[0])->sequence == first.sequence + 1);
}

TEST_CASE("the drives are a little more patient than the loop, as far as their watchdog can say it") {
  struct Case {
    std::uint32_t overrun_limit;
    int watchdog;  // ms
  };
  for (const Case& c : {Case{0, 5}, Case{10, 13}, Case{252, 255}, Case{1'000'000, 255}}) {
    CAPTURE(c.overrun_limit);
    RobotDescription robot = description();
    robot.overrun_limit = c.overrun_limit;
    Rig rig(robot);
    rig.cycle();
    REQUIRE_FALSE(rig.last_sent.empty());
    CHECK(servo::decode_group(rig.last_sent[0]).value().watchdog == c.watchdog);
  }
}

TEST_CASE("drives say where they stand before anybody wants power") {
  Rig rig;
  rig.drives[0].position = 1.5;
  rig.drives[1].position = 1.5;
  rig.drives[1].velocity = 0.25;
  rig.cycles(3);
  CHECK(rig.feedback[0].heard);
  CHECK(rig.feedback[0].position == 1.5);
  CHECK(rig.feedback[1].position == -1.5);  // reversed
  CHECK(rig.feedback[1].velocity == -0.25);
  CHECK(rig.feedback[0].drive == DriveState::off);
  CHECK(rig.feedback[0].stamp == rig.now - period + period / 5);  // time of the reply
  CHECK_FALSE(rig.feedback[4].heard);                             // a joint of another protocol
  CHECK(rig.hardware->counters().frames_received == 8);
  CHECK(rig.hardware->counters().frames_sent == 6);
}

TEST_CASE("a drive starts where it stands and then follows") {
  Rig rig;
  for (Drive& drive : rig.drives) drive.position = 0.5;
  for (JointCommand& command : rig.commands) command = JointCommand{2, 1, 0, true, false};
  rig.cycles(6);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(rig.feedback[i].drive == DriveState::ready);
    CHECK(rig.drives[i].position_when_enabled == 0.5);
    const double sign = i == 1 ? -1 : 1;
    CHECK(rig.drives[i].last.command.position == 2 * sign);
    CHECK(rig.drives[i].last.command.velocity == 1 * sign);
  }
}

TEST_CASE("power goes off with the next command, and comes back only after it was seen off") {
  Rig rig;
  rig.start();
  rig.power(false);
  rig.cycle();
  for (const Drive& drive : rig.drives) CHECK(drive.state == servo::State::off);
  rig.power(true);
  rig.cycle();
  CHECK_FALSE(rig.drives[0].last.command.enable == (rig.feedback[0].drive == DriveState::ready));
  rig.cycles(5);
  for (std::size_t i = 0; i < 4; ++i) CHECK(rig.feedback[i].drive == DriveState::ready);

  rig.drives[0].deaf = true;
  rig.power(false);
  rig.cycle();
  rig.power(true);
  rig.drives[0].deaf = false;
  rig.cycle();
  CHECK_FALSE(rig.drives[0].last.command.enable);  // the drive never reported off
  rig.cycles(5);
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a fault is shown and stays until it is cleared") {
  Rig rig;
  rig.start();
  rig.drives[2].state = servo::State::fault;
  rig.drives[2].fault = static_cast<std::uint8_t>(servo::Fault::over_current);
  rig.cycles(50);
  CHECK(rig.feedback[2].drive == DriveState::fault);
  CHECK(rig.feedback[2].fault == 2);
  CHECK(rig.feedback[0].drive == DriveState::ready);
  CHECK_FALSE(rig.drives[2].last.command.enable);

  for (JointCommand& command : rig.commands) command.clear_fault = true;
  rig.cycle();
  for (JointCommand& command : rig.commands) command.clear_fault = false;
  CHECK(rig.drives[0].last.command.enable);  // the others had no fault
  CHECK_FALSE(rig.drives[0].last.command.clear_fault);
  rig.cycles(6);
  CHECK(rig.feedback[2].drive == DriveState::ready);
  CHECK(rig.feedback[2].fault == 0);
}

TEST_CASE("an order to clear a fault survives lost frames, but not for ever") {
  Rig rig;
  rig.start();
  rig.drives[2].state = servo::State::fault;
  rig.drives[2].fault = 4;
  rig.cycles(3);
  rig.drives[2].deaf = true;
  rig.commands[2].clear_fault = true;
  rig.cycle();
  rig.commands[2].clear_fault = false;
  rig.cycles(5);
  rig.drives[2].deaf = false;
  rig.cycles(6);
  CHECK(rig.feedback[2].drive == DriveState::ready);

  rig.drives[2].state = servo::State::fault;
  rig.drives[2].fault_persists = true;
  rig.cycles(3);
  rig.commands[2].clear_fault = true;
  rig.cycle();
  rig.commands[2].clear_fault = false;
  rig.cycles(50);
  CHECK_FALSE(rig.drives[2].last.command.clear_fault);
  CHECK(rig.feedback[2].drive == DriveState::fault);
}

TEST_CASE("a drive that switches off by itself stays off until power is requested") {
  Rig rig;
  rig.start();
  rig.drives[0].state = servo::State::off;
  rig.drives[0].deaf = true;  // a restart takes a while
  rig.buses[0].incoming.push_back(*encode(servo::DriveReply{1, 0, servo::State::off, 0, 0, 0, 0}));
  rig.cycle();
  rig.drives[0].deaf = false;
  rig.cycles(20);
  CHECK(rig.feedback[0].drive == DriveState::fault);
  CHECK(rig.feedback[0].fault == servo_power_lost);
  CHECK(rig.drives[0].state == servo::State::off);
  rig.commands[0].clear_fault = true;
  rig.cycle();
  rig.commands[0].clear_fault = false;
  rig.cycles(5);
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("NaN is never sent: the last valid position is held at rest") {
  Rig rig;
  rig.start();
  rig.commands[0].position = 0.75;
  rig.commands[0].velocity = 1;
  rig.cycle();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [position, velocity] :
       {std::pair{std::numeric_limits<double>::quiet_NaN(), 1.0}, {infinity, 1.0}, {3.0, -infinity}}) {
    rig.commands[0].position = position;
    rig.commands[0].velocity = velocity;
    const auto rejected = rig.hardware->references_rejected();
    rig.cycle();
    CHECK(rig.drives[0].last.command.position == 0.75);
    CHECK(rig.drives[0].last.command.velocity == 0);
    CHECK(rig.drives[0].last.command.enable);
    CHECK(rig.hardware->references_rejected() == rejected + 1);
  }
}

TEST_CASE("a silent drive becomes unknown and keeps its last stamp") {
  Rig rig;
  rig.start();
  rig.drives[3].deaf = true;
  rig.cycles(2);
  const Time last = rig.feedback[3].stamp;
  rig.cycles(30);
  CHECK(rig.feedback[3].stamp == last);
  CHECK(rig.feedback[3].drive == DriveState::unknown);
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("frames of no use are counted and change nothing") {
  Rig rig;
  rig.start();
  const auto before = rig.feedback;
  const HardwareCounters counted = rig.hardware->counters();
  const auto put = [&](auto change) {
    can::Frame frame = *encode(servo::DriveReply{1, 9, servo::State::off, 0, 9, 9, 9});
    change(frame);
    rig.buses[0].incoming.push_back(frame);
  };
  rig.hardware->read(rig.now, rig.feedback);
  put([](can::Frame& frame) { frame.length = 11; });
  put([](can::Frame& frame) { frame.length = 255; });
  put([](can::Frame& frame) { frame.fd = false; });
  put([](can::Frame& frame) { frame.data[1] = 7; });
  put([](can::Frame& frame) { frame.id = 0x180; });
  put([](can::Frame& frame) { frame.id = 0x183; });
  put([](can::Frame& frame) { frame.id = 0x7FF; });
  put([](can::Frame& frame) { frame.id = 0; });
  put([](can::Frame& frame) { frame.extended = true; });
  rig.hardware->read(rig.now, rig.feedback);
  CHECK(rig.hardware->counters().frames_malformed == counted.frames_malformed + 4);
  CHECK(rig.hardware->counters().frames_unexpected == counted.frames_unexpected + 5);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(rig.feedback[i].position == before[i].position);
    CHECK(rig.feedback[i].drive == before[i].drive);
  }
  rig.buses[0].room = 1;
  rig.cycle();
  CHECK(rig.hardware->counters().frames_refused == counted.frames_refused + 1);
}

TEST_CASE("descriptions that the protocol cannot serve are refused with the joint's name") {
  const auto error_after = [](auto change) {
    return test::refusal<Master>(description(), drives::find("servo"), change);
  };
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 0; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 49; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].channel = 1; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 1; }).error == Errc::duplicate_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 1; }).message == "joint2");
  CHECK(error_after([](auto& robot) {
          robot.joints[1].counts_per_radian = std::numeric_limits<double>::quiet_NaN();
        }).error == Errc::bad_scale);
  CHECK(error_after([](auto& robot) { robot.joints[1].bus = 2; }).error == Errc::no_such_bus);
  CHECK(error_after([](auto& robot) { robot.buses[1].protocol = drives::find("servo"); }).error ==
        Errc::no_such_bus);
  CHECK(error_after([](auto& robot) { robot.joints.resize(65); }).error == Errc::too_many_joints);
}
