// The master of ODrives against small drives written from the protocol's description: start-up, references,
// modes, shut-down, faults, and bad input.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "drives/odrive/hardware.hpp"
#include "support/hardware_rig.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using namespace takt::drives;
using namespace takt::robot;

namespace {

constexpr Duration period{10'000'000};
constexpr double tau = 2 * std::numbers::pi;

enum : std::uint32_t { version = 0, heartbeat = 1, errors = 3, set_state = 7, estimate = 9, set_mode = 0xB };
enum : std::uint32_t {
  set_position = 0xC,
  set_velocity = 0xD,
  set_torque = 0xE,
  set_limits = 0xF,
  clear_errors = 0x18
};

/// A drive without a motor: the test sets its position.
struct Drive {
  std::uint32_t node = 0;
  std::uint8_t state = 1;
  std::uint8_t result = 0;
  std::uint32_t active = 0;
  std::uint32_t disarm_reason = 0;
  double turns = 0;
  double speed = 0;
  bool knows_version = true;
  odrive::Version says{.firmware_minor = 6};
  bool starts = true;
  bool errors_persist = false;
  bool deaf = false;
  std::vector<std::uint32_t> heard;  ///< received commands, without requests
  std::array<can::Frame, 32> last{};
};

RobotDescription description() {
  RobotDescription robot;
  robot.period = period;
  robot.feedback_timeout = 5 * period;
  robot.buses.resize(2);
  robot.buses[0].protocol = find("odrive");
  robot.buses[1].protocol = find("hubo");
  for (const std::uint8_t node : std::array<std::uint8_t, 2>{1, 62}) {
    JointDescription joint;
    joint.name = "joint" + std::to_string(node);
    joint.board = node;
    joint.limits.velocity = 2;
    joint.drive.set("gear", node == 62 ? -10.0 : 8.0);
    joint.drive.set("current_limit", 20.0);
    robot.joints.push_back(joint);
  }
  robot.joints[1].drive.set("velocity_limit", 25.0);
  JointDescription leg;
  leg.name = "leg";
  leg.bus = 1;
  robot.joints.push_back(leg);
  return robot;
}

using Master = OdriveHardware<test::ScriptedBus>;

struct Rig : test::HardwareRig<Master> {
  explicit Rig(const RobotDescription& robot = description()) : HardwareRig(robot, find("odrive")) {
    drives[0].node = 1;
    drives[1].node = 62;
  }

  /// Each drive sends a heartbeat in every tenth cycle, that is every 100 ms.
  void run(int count) {
    while (count-- > 0) {
      if (++cycle_ % 10 == 0) beat();
      cycle();
    }
  }
  void beat() {
    for (const Drive& drive : drives) {
      if (drive.deaf) continue;
      std::array<std::uint8_t, 8> data{};
      for (unsigned i = 0; i < 4; ++i) data[i] = static_cast<std::uint8_t>(drive.active >> (8 * i));
      data[4] = drive.state;
      data[5] = drive.result;
      reply(0, can::make_frame(drive.node << 5 | heartbeat, data).value());
    }
  }
  void start() {
    power(true);
    run(70);
    REQUIRE(feedback[0].drive == DriveState::ready);
    REQUIRE(feedback[1].drive == DriveState::ready);
  }
  void deliver(std::size_t /*bus*/, const can::Frame& frame) override {
    for (Drive& drive : drives) {
      if (frame.id >> 5 == drive.node && !drive.deaf) hear(drive, frame);
    }
  }
  void hear(Drive& drive, const can::Frame& frame) {
    const std::uint32_t command = frame.id & 31;
    const auto node = static_cast<std::uint8_t>(drive.node);
    if (frame.remote) {
      if (command == estimate)
        reply(0, odrive_frame::of_node(node, odrive::Estimate{drive.turns, drive.speed}).value());
      if (command == errors)
        reply(0, odrive_frame::of_node(node, odrive::Errors{drive.active, drive.disarm_reason}).value());
      if (command == version && drive.knows_version)
        reply(0, odrive_frame::of_node(node, drive.says).value());
      return;
    }
    drive.heard.push_back(command);
    drive.last[command] = frame;
    if (command == set_state) drive.state = frame.data[0] != 8 || drive.starts ? frame.data[0] : drive.state;
    if (command == clear_errors && !drive.errors_persist) drive.active = drive.disarm_reason = 0;
  }
  void fail(Drive& drive, std::uint32_t error) {
    drive.state = 1;
    drive.active = error;
    drive.disarm_reason = error;
  }
  [[nodiscard]] std::string said(std::size_t joint) const {
    return find("odrive")->describe_fault(feedback[joint].fault);
  }
  void clear(std::size_t joint) {
    commands[joint].clear_fault = true;
    cycle();
    commands[joint].clear_fault = false;
  }

  std::array<Drive, 2> drives{};
  int cycle_ = 0;
};

template <class Message>
Message told(const Drive& drive) {
  return can::decode<Message>(odrive_frame::of_node_0(drive.last[Message::message.id])).value();
}

}  // namespace

TEST_CASE("the version requested at the start is the identity; firmware without it has none") {
  Rig rig;
  rig.drives[0].says = {255, 4, 4, 58, 0, 6, 11, 1};
  rig.drives[1].knows_version = false;
  CHECK(rig.hardware->identity(0).empty());
  rig.start();
  CHECK(rig.hardware->identity(0) == "hardware 4.4.58, firmware 0.6.11 (unreleased)");
  CHECK(rig.hardware->identity(1).empty());
  CHECK(rig.hardware->identity(2).empty());
}

TEST_CASE("two drives of one node are at fault, and neither is switched on") {
  for (const bool old : {false, true}) {
    CAPTURE(old);
    auto robot = description();
    robot.joints.erase(robot.joints.begin() + 1);
    Rig rig(robot);
    rig.drives[1].node = 1;
    rig.drives[1].turns = old ? 0.1 : 0;
    rig.drives[0].knows_version = rig.drives[1].knows_version = !old;
    rig.power(true);
    rig.run(70);
    CHECK(rig.feedback[0].drive == DriveState::fault);
    CHECK(rig.said(0).find("two drives answer with its node id") != std::string::npos);
    CHECK(rig.drives[0].state == 1);
    CHECK(rig.drives[1].state == 1);
    rig.clear(0);
    rig.run(70);
    CHECK(rig.feedback[0].drive == DriveState::fault);
    CHECK(rig.drives[0].state == 1);

    rig.drives[1].deaf = true;
    rig.clear(0);
    rig.run(70);
    CHECK(rig.feedback[0].drive == DriveState::ready);
  }
}

TEST_CASE("drives report their position before power is requested, and receive no command") {
  Rig rig;
  rig.drives[0].turns = 4;
  rig.drives[0].speed = 0.8;
  rig.drives[1].turns = 4;
  rig.run(30);
  CHECK(rig.feedback[0].position == doctest::Approx(4 / 8.0 * tau));
  CHECK(rig.feedback[0].velocity == doctest::Approx(0.8 / 8.0 * tau));
  CHECK(rig.feedback[1].position == doctest::Approx(4 / -10.0 * tau));
  CHECK(rig.feedback[0].drive == DriveState::off);
  CHECK(rig.feedback[0].stamp == rig.now - period + period / 5);
  CHECK_FALSE(rig.feedback[2].heard);  // a joint of another protocol
  CHECK(rig.drives[0].heard.empty());
  CHECK(rig.drives[1].heard.empty());
}

TEST_CASE("the start: limits, mode, a set-point where it stands without feed-forward, then closed loop") {
  Rig rig;
  rig.drives[0].turns = 0.75;
  rig.drives[0].speed = 0.3;  // it is pushed
  rig.drives[1].turns = -1.25;
  for (JointCommand& command : rig.commands)
    command = JointCommand{.position = 2, .velocity = 1, .want_power = true};
  rig.run(14);
  for (const Drive& drive : rig.drives) {
    CHECK(drive.heard == std::vector<std::uint32_t>{set_limits, set_mode, set_position, set_state});
    CHECK(told<odrive::SetPosition>(drive) == odrive::SetPosition{drive.turns, 0, 0});
    CHECK(told<odrive::SetMode>(drive).control == odrive::SetMode::Control::position);
    CHECK(told<odrive::SetMode>(drive).input == odrive::SetMode::Input::passthrough);
  }
  CHECK(told<odrive::SetLimits>(rig.drives[0]).velocity ==
        doctest::Approx(1.5 * 2 * 8 / tau));                     // of the joint's
  CHECK(told<odrive::SetLimits>(rig.drives[1]).velocity == 25);  // as in the description
  CHECK(told<odrive::SetLimits>(rig.drives[1]).current == 20);
  CHECK(rig.feedback[0].drive == DriveState::off);  // no heartbeat has shown the closed loop

  rig.run(10);
  CHECK(rig.feedback[0].drive == DriveState::ready);
  CHECK(told<odrive::SetPosition>(rig.drives[0]).position == doctest::Approx(2 * 8 / tau));
  CHECK(told<odrive::SetPosition>(rig.drives[0]).velocity == doctest::Approx(8 / tau).epsilon(1e-3));
  CHECK(told<odrive::SetPosition>(rig.drives[1]).position == doctest::Approx(2 * -10 / tau));
  CHECK(told<odrive::SetPosition>(rig.drives[1]).velocity == doctest::Approx(-10 / tau).epsilon(1e-3));
}

TEST_CASE("a question, and at most one command for each drive in a cycle") {
  Rig rig;
  rig.power(true);
  for (int i = 0; i < 60; ++i) {
    rig.run(1);
    for (const Drive& drive : rig.drives) {
      const auto count = [&](bool remote) {
        return std::ranges::count_if(rig.last_sent, [&](const can::Frame& frame) {
          return frame.id >> 5 == drive.node && frame.remote == remote;
        });
      };
      CHECK(count(false) <= 1);
      CHECK(count(true) <= 2);  // the second one requests the version, once
    }
  }
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("errors of an earlier session are cleared once; those that stay are a fault") {
  Rig rig;
  rig.drives[0].active = 0x100'0000;
  rig.drives[1].active = 0x200;
  rig.drives[1].errors_persist = true;
  rig.run(12);
  CHECK(rig.feedback[0].drive == DriveState::unknown);
  rig.run(40);
  CHECK(rig.feedback[0].drive == DriveState::off);
  CHECK(rig.feedback[1].drive == DriveState::fault);
  CHECK(rig.said(1) == "under-voltage");
  CHECK(rig.drives[0].heard == std::vector<std::uint32_t>{clear_errors});
  CHECK(rig.drives[1].heard == std::vector<std::uint32_t>{clear_errors});
}

TEST_CASE("a drive that is found on is switched off first") {
  Rig rig;
  rig.drives[0].state = 8;
  rig.power(true);
  rig.run(13);
  CHECK(rig.drives[0].state == 1);
  CHECK(rig.drives[0].heard.front() == set_state);
  rig.run(40);
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a drive of firmware 0.5 starts and follows positions; its errors are numbers") {
  Rig rig;
  rig.drives[0].knows_version = false;
  rig.start();
  rig.commands[0].mode = CommandMode::velocity;
  const auto rejected = rig.hardware->references_rejected();
  rig.run(10);
  CHECK(rig.hardware->references_rejected() == rejected + 10);
  CHECK(rig.feedback[0].mode == CommandMode::position);
  CHECK(rig.drives[0].heard.back() == set_position);
  rig.fail(rig.drives[0], 0x40);
  rig.run(12);
  CHECK(rig.said(0) == "axis error 0x40 of firmware 0.5, the drive switched off without a command");
}

TEST_CASE("a drive whose version was lost at the start counts as 0.5 only until it has told it") {
  Rig rig;
  rig.drives[0].knows_version = false;
  rig.start();
  rig.power(false);
  rig.run(20);
  rig.drives[0].knows_version = true;
  rig.run(20);
  for (JointCommand& command : rig.commands) command.mode = CommandMode::velocity;
  rig.start();
  CHECK(rig.feedback[0].mode == CommandMode::velocity);
}

TEST_CASE("power goes off with the next command, and comes back only after a heartbeat showed it off") {
  Rig rig;
  rig.start();
  rig.power(false);
  rig.cycle();
  for (const Drive& drive : rig.drives) CHECK(drive.state == 1);
  const auto commands = rig.drives[0].heard.size();
  rig.power(true);
  rig.cycle();
  CHECK(rig.drives[0].heard.size() == commands);
  CHECK(rig.feedback[0].drive == DriveState::off);
  rig.run(40);
  CHECK(rig.feedback[0].drive == DriveState::ready);

  rig.power(false);
  rig.drives[0].deaf = true;
  rig.cycle();
  rig.drives[0].deaf = false;
  CHECK(rig.drives[0].state == 8);
  rig.run(12);
  CHECK(rig.drives[0].state == 1);  // commanded again
}

TEST_CASE("a drive that refuses the closed loop is at fault, in words, until it is cleared") {
  Rig rig;
  rig.drives[0].starts = false;
  rig.drives[0].result = 14;
  rig.power(true);
  rig.run(90);
  CHECK(rig.feedback[0].drive == DriveState::fault);
  CHECK(rig.said(0) == "it does not go into closed loop: is it calibrated?");
  const auto commands = rig.drives[0].heard.size();
  rig.run(50);
  CHECK(rig.drives[0].heard.size() == commands);
  rig.drives[0].starts = true;
  rig.clear(0);
  rig.run(30);
  CHECK(rig.feedback[0].drive == DriveState::ready);

  Rig lossy;  // no errors, but the first commands do not arrive
  lossy.drives[0].starts = false;
  lossy.power(true);
  lossy.run(40);
  CHECK(lossy.feedback[0].drive == DriveState::off);
  lossy.drives[0].starts = true;
  lossy.run(100);
  CHECK(lossy.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a fault is shown with its reason and stays until it is cleared") {
  Rig rig;
  rig.start();
  rig.fail(rig.drives[1], 0x1000);
  rig.drives[1].active = 0;  // gone, but the reason why the motor is off
  rig.run(50);
  CHECK(rig.feedback[1].drive == DriveState::fault);
  CHECK(rig.said(1) == "over-current, the drive switched off without a command");
  CHECK(rig.feedback[0].drive == DriveState::ready);
  rig.power(false);
  rig.run(12);
  CHECK(rig.feedback[1].drive == DriveState::fault);
  rig.power(true);
  rig.run(30);
  CHECK(rig.drives[1].state == 1);
  rig.clear(1);
  rig.run(40);
  CHECK(rig.feedback[1].drive == DriveState::ready);
  CHECK(rig.feedback[1].fault == 0);
}

TEST_CASE("an error while the motor is on switches it off") {
  Rig rig;
  rig.start();
  rig.drives[0].active = 0x2000;
  rig.run(12);
  CHECK(rig.drives[0].state == 1);
  CHECK(rig.said(0) == "motor too hot");
}

TEST_CASE("a drive that goes off without an error counts as switched off by another program") {
  Rig rig;
  rig.start();
  rig.drives[0].state = 1;
  rig.run(12);
  CHECK(rig.feedback[0].drive == DriveState::fault);
  CHECK(rig.said(0) == "the drive switched off without a command");
  rig.run(30);
  CHECK(rig.drives[0].state == 1);
  rig.clear(0);
  rig.run(30);
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a silent drive becomes unknown and keeps its last stamp") {
  Rig rig;
  rig.start();
  rig.drives[1].deaf = true;
  rig.run(2);
  const Time last = rig.feedback[1].stamp;
  rig.run(10);
  CHECK(rig.feedback[1].stamp == last);
  CHECK(rig.feedback[1].drive == DriveState::unknown);
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("without heartbeats a drive's state is unknown, however well it answers") {
  Rig rig;
  rig.start();
  rig.cycles(60);
  CHECK(rig.feedback[0].drive == DriveState::unknown);
  rig.run(12);
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a mode is shown when it acts, and until then the joint moves on as it did") {
  Rig rig;
  rig.start();
  rig.drives[0].speed = 1.6;
  rig.run(2);
  rig.drives[0].heard.clear();
  rig.commands[0] = {.velocity = 3, .want_power = true, .mode = CommandMode::velocity, .effort = 5};
  rig.cycle();
  CHECK(told<odrive::SetMode>(rig.drives[0]).control == odrive::SetMode::Control::velocity);
  CHECK(told<odrive::SetVelocity>(rig.drives[0]).velocity == doctest::Approx(1.6));
  CHECK(rig.feedback[0].mode == CommandMode::position);
  rig.cycle();  // sends the request after the command
  CHECK(rig.feedback[0].mode == CommandMode::position);
  rig.cycle();
  CHECK(rig.feedback[0].mode == CommandMode::velocity);
  CHECK(told<odrive::SetVelocity>(rig.drives[0]).velocity == doctest::Approx(3 * 8 / tau));
  CHECK(std::ranges::count(rig.drives[0].heard, set_mode) == 1);

  rig.commands[0].mode = CommandMode::effort;
  rig.cycles(2);
  CHECK(told<odrive::SetTorque>(rig.drives[0]).torque == 0);
  rig.cycle();
  CHECK(rig.feedback[0].mode == CommandMode::effort);
  CHECK(told<odrive::SetTorque>(rig.drives[0]).torque == doctest::Approx(5 / 8.0));

  rig.drives[0].knows_version = false;  // the answer is lost
  rig.commands[0].mode = CommandMode::position;
  rig.drives[0].turns = 0.5;
  rig.cycles(3);
  CHECK(told<odrive::SetPosition>(rig.drives[0]) == odrive::SetPosition{0.5, 1.6, 0});
  rig.cycles(10);
  CHECK(told<odrive::SetPosition>(rig.drives[0]) == odrive::SetPosition{0.5, 0, 0});  // not forever
  CHECK(rig.feedback[0].mode == CommandMode::effort);
  rig.drives[0].knows_version = true;
  rig.cycles(10);
  CHECK(rig.feedback[0].mode == CommandMode::position);
}

TEST_CASE("NaN is never sent: the last valid reference stays, at rest") {
  Rig rig;
  rig.start();
  rig.commands[0].position = 0.75;
  rig.commands[0].velocity = 1;
  rig.cycle();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [position, velocity] :
       {std::pair{std::nan(""), 1.0}, {infinity, 1.0}, {3.0, -infinity}, {1e300, 0.0}}) {
    rig.commands[0].position = position;
    rig.commands[0].velocity = velocity;
    const auto rejected = rig.hardware->references_rejected();
    rig.cycle();
    CHECK(told<odrive::SetPosition>(rig.drives[0]).position == doctest::Approx(0.75 * 8 / tau));
    CHECK(told<odrive::SetPosition>(rig.drives[0]).velocity == 0);
    CHECK(rig.hardware->references_rejected() == rejected + 1);
  }
  rig.commands[0] = {
      .position = 0.75, .velocity = 1000, .want_power = true};  // a feed-forward beyond its field
  rig.cycle();
  CHECK(told<odrive::SetPosition>(rig.drives[0]).velocity == doctest::Approx(32.767));
}

TEST_CASE("frames of no use are counted and change nothing") {
  Rig rig;
  rig.start();
  rig.cycle();
  rig.hardware->read(rig.now, rig.feedback);
  const auto before = rig.feedback;
  const HardwareCounters counted = rig.hardware->counters();
  const auto put = [&](const can::Frame& good, auto change) {
    can::Frame frame = good;
    change(frame);
    rig.buses[0].incoming.push_back(frame);
  };
  const can::Frame measured = odrive_frame::of_node(1, odrive::Estimate{9, 9}).value();
  const can::Frame beat = odrive_frame::of_node(1, odrive::Heartbeat{}).value();
  put(measured, [](can::Frame& frame) { frame.length = 7; });
  put(measured, [](can::Frame& frame) { frame.length = 0; });
  put(measured, [](can::Frame& frame) { frame.data[3] = 0x7F, frame.data[2] = 0xC0; });  // NaN
  put(measured, [](can::Frame& frame) { frame.data[7] = 0xFF, frame.data[6] = 0x80; });  // -infinity
  put(measured, [](can::Frame& frame) { frame.remote = true; });
  put(beat, [](can::Frame& frame) { frame.length = 4; });
  put(beat, [](can::Frame& frame) { frame.error = true; });
  put(measured, [](can::Frame& frame) { frame.id = 2U << 5 | estimate; });  // of an unknown node
  put(measured, [](can::Frame& frame) { frame.id = 63U << 5 | estimate; });
  put(measured, [](can::Frame& frame) { frame.extended = true; });
  put(measured, [](can::Frame& frame) { frame.id = 0x1FFF'FFFF; });
  put(measured, [](can::Frame& frame) { frame.id = 1U << 5 | 0x17; });          // the voltage of the supply
  put(measured, [](can::Frame& frame) { frame.id = 1U << 5 | set_position; });  // another master's command
  rig.hardware->read(rig.now, rig.feedback);
  CHECK(rig.hardware->counters().frames_malformed == counted.frames_malformed + 7);
  CHECK(rig.hardware->counters().frames_unexpected == counted.frames_unexpected + 6);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(rig.feedback[i].position == before[i].position);
    CHECK(rig.feedback[i].drive == before[i].drive);
  }
}

TEST_CASE("descriptions that the protocol cannot serve are refused with the joint's name") {
  const auto error_after = [](auto change) {
    return test::refusal<Master>(description(), find("odrive"), change);
  };
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 63; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].channel = 1; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 1; }).error == Errc::duplicate_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 1; }).message == "joint62");
  CHECK(error_after([](auto& robot) { robot.joints[1].drive.set("gear", 0.0); }).error == Errc::bad_scale);
  CHECK(error_after([](auto& robot) { robot.joints[1].drive = {}; }).error == Errc::bad_scale);
  CHECK(error_after([](auto& robot) {
          robot.joints[0].limits.velocity = std::numeric_limits<double>::infinity();
        }).error == Errc::bad_scale);
  CHECK(error_after([](auto& robot) { robot.joints[1].bus = 2; }).error == Errc::no_such_bus);
  CHECK(error_after([](auto& robot) { robot.buses[1].protocol = find("odrive"); }).error ==
        Errc::no_such_bus);
  CHECK(error_after([](auto& robot) { robot.joints.resize(65); }).error == Errc::too_many_joints);
}
