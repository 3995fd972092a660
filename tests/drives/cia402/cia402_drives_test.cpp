// The hardware of CiA 402 drives against simulated ones, over frames alone: start-up, motion, and all faults.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "drives/cia402/cia402_rig.hpp"
#include "support/rt_guard.hpp"
#include "takt/app/devices.hpp"
#include "takt/can/canopen/sdo_server.hpp"
#include "takt/drives/cia402/cia402_hardware.hpp"
#include "takt/robot/drive_fault.hpp"

using namespace takt;
using namespace std::chrono_literals;
using can::cia402::State;
using sim::JointFault;

namespace {

using Hardware = test::Cia402Robot::Hardware;
using Robot = test::Cia402Robot;

/// Accepts writes to all objects except one.
struct DictionaryWithout {
  std::uint16_t absent;

  tl::expected<std::size_t, can::canopen::SdoAbort> read(can::canopen::Address,
                                                         std::span<std::uint8_t>) noexcept {
    return tl::unexpected(can::canopen::SdoAbort::no_such_object);
  }
  can::canopen::SdoAbort write(can::canopen::Address object, std::span<const std::uint8_t>) noexcept {
    return object.index == absent ? can::canopen::SdoAbort::no_such_object : can::canopen::SdoAbort::none;
  }
};

/// Whether the master starts a drive without that object; if not, it is at fault.
bool is_started_without(std::uint16_t absent, double rated_effort) {
  drives::Cia402Master master({.node = 1, .rated_effort = rated_effort});
  can::canopen::SdoServer<16> server(1);
  DictionaryWithout dictionary{absent};
  Time now{};
  for (int i = 0; i < 100; ++i) {
    now += 1ms;
    const auto frame = master.service(now);
    if (!frame) continue;
    if (frame->id == 0) {  // NMT
      if (frame->data[0] == static_cast<std::uint8_t>(can::canopen::NmtCommand::start)) return true;
      continue;
    }
    const auto answer = server.receive(*frame, dictionary);
    if (answer && *answer) CHECK(master.heard_sdo(**answer));
  }
  CHECK(master.state() == DriveState::fault);
  CHECK(master.refused()->object.index == absent);
  return false;
}

}  // namespace

TEST_CASE("three drives come up on one bus without a jump, follow, and go down") {
  for (const double scale : {10'000.0, -10'000.0}) {
    Robot robot({1, 2, 126}, scale);
    robot.start();
    for (auto& drive : robot.world.drives) CHECK(std::abs(drive.position()) < 1e-3);
    for (int i = 0; i < 1000; ++i) {
      for (auto& command : robot.commands) command.position += 0.5e-3;
      robot.cycle();
    }
    CHECK(robot.feedback[0].velocity == doctest::Approx(0.5).epsilon(0.1));
    robot.run(300ms);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(robot.world.drives[i].position() == doctest::Approx(0.5).epsilon(0.01));
      CHECK(robot.feedback[i].position == doctest::Approx(0.5).epsilon(0.01));
    }
    for (auto& command : robot.commands) command.want_power = false;
    robot.run(10ms);
    CHECK(robot.all(DriveState::off));
    const auto counters = robot.hardware->counters();
    CHECK(counters.frames_refused + counters.frames_malformed + counters.frames_unexpected == 0);
    for (auto& drive : robot.world.drives) CHECK(drive.ignored() == 0);
    CHECK(robot.world.bus.statistics().load() < 0.8);
  }
}

TEST_CASE("configuring a drive takes one frame of the master per cycle, and no cycle from the others") {
  Robot robot({1, 2});
  robot.start();
  robot.world.drives[1].inject(JointFault::silent);
  robot.world.drives[1].inject(JointFault::none);  // boots, and is configured again
  robot.world.seen.clear();
  robot.run(300ms);
  std::size_t sdos = 0, pdos = 0, syncs = 0, since_sync = 0;
  for (const can::Frame& frame : robot.world.seen) {
    if (frame.id == 0x080) {
      ++syncs;
      since_sync = 0;
    }
    if (frame.id == 0x602) {
      ++sdos;
      CHECK(++since_sync == 1);
    }
    if (frame.id == 0x201) ++pdos;
  }
  CHECK(sdos >= 20);
  CHECK(syncs >= 299);
  CHECK(pdos + 1 >= syncs);
  CHECK(robot.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a silent drive is unknown; after a reboot it stays off until power is requested") {
  Robot robot({1, 2});
  robot.start();
  robot.world.drives[0].inject(JointFault::silent);
  robot.run(100ms);
  CHECK(robot.feedback[0].drive == DriveState::unknown);
  CHECK(robot.feedback[1].drive == DriveState::ready);
  robot.world.drives[0].inject(JointFault::none);
  robot.run(1s);
  CHECK(robot.feedback[0].drive == DriveState::fault);
  CHECK(robot.said(0) == "the drive switched off without a command");
  CHECK(robot.world.drives[0].state() == State::switch_on_disabled);
  robot.clear();
  robot.run(100ms);
  CHECK(robot.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a drive may be switched on long after the master") {
  Robot robot({1});
  robot.world.drives[0].inject(JointFault::silent);
  robot.run(3s);
  CHECK(robot.feedback[0].drive == DriveState::unknown);
  CHECK_FALSE(robot.feedback[0].heard);
  robot.world.drives[0].inject(JointFault::none);
  robot.run(300ms);
  CHECK(robot.feedback[0].drive == DriveState::ready);
}

TEST_CASE("faults of the motor come with their emergency, and go by an edge once the cause is gone") {
  struct Case {
    JointFault fault;
    std::uint32_t code;
    const char* said;
  };
  for (const Case& c : {Case{JointFault::power_stage, 0x2310, "continuous over-current (0x2310)"},
                        Case{JointFault::encoder, 0x7305, "incremental sensor 1 (0x7305)"}}) {
    Robot robot({1, 2});
    robot.start();
    robot.world.drives[0].inject(c.fault);
    robot.run(10ms);
    CHECK(robot.feedback[0].drive == DriveState::fault);
    CHECK(robot.feedback[0].fault == c.code);
    CHECK(robot.said(0) == c.said);
    CHECK(robot.feedback[1].drive == DriveState::ready);
    REQUIRE(robot.hardware->master(0).emergencies().size() == 1);
    CHECK(robot.hardware->master(0).emergencies()[0].emergency.node == 1);
    robot.clear();
    robot.run(200ms);
    CHECK(robot.feedback[0].drive == DriveState::fault);  // still broken
    robot.world.drives[0].inject(JointFault::none);
    robot.run(200ms);
    CHECK(robot.feedback[0].drive == DriveState::fault);  // still not cleared
    robot.clear();
    robot.run(100ms);
    CHECK(robot.feedback[0].drive == DriveState::ready);
    CHECK(robot.feedback[0].fault == 0);
  }
}

TEST_CASE("a jammed joint ends in a following error of the drive") {
  Robot robot({1});
  robot.start();
  robot.world.drives[0].inject(JointFault::jammed);
  for (int i = 0; i < 1000; ++i) {
    robot.commands[0].position += 1e-3;
    robot.cycle();
  }
  CHECK(robot.feedback[0].drive == DriveState::fault);
  CHECK(robot.said(0) == "following error (0x8611)");
  CHECK(robot.feedback[0].heard);
}

TEST_CASE("a drive that does not confirm its mode is never enabled, and says why") {
  Robot robot({1});
  robot.world.drives[0].disturb({.mode_refused = true});
  robot.run(2s);
  CHECK(robot.feedback[0].drive == DriveState::fault);
  CHECK(robot.said(0) == "it does not confirm its mode");
  CHECK(robot.world.drives[0].state() != State::operation_enabled);
  robot.world.drives[0].disturb({});
  robot.run(100ms);
  CHECK(robot.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a drive that refuses its configuration says which part, and is asked again") {
  Robot robot({1});
  robot.world.drives[0].disturb({.sdo_abort = can::canopen::SdoAbort::wrong_device_state});
  robot.run(1s);
  CHECK(robot.feedback[0].drive == DriveState::fault);
  CHECK(robot.said(0) == "it refuses its configuration");
  const auto* const drive = robot.hardware->master(0).drive(0);
  REQUIRE(drive != nullptr);
  REQUIRE(drive->refused() != nullptr);
  CHECK(drive->refused()->object == can::canopen::Address{0x1017, 0});
  CHECK(drive->why_refused() == can::canopen::SdoAbort::wrong_device_state);
  CHECK(robot.hardware->master(0).drive(1) == nullptr);
  robot.world.drives[0].disturb({});
  robot.run(1s);
  CHECK(robot.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a drive that cannot watch its master is taken for positions, but not for velocities and efforts") {
  for (const std::uint16_t absent : {std::uint16_t{0x1016}, std::uint16_t{0x6007}}) {
    CAPTURE(absent);
    CHECK(is_started_without(absent, 0));
    CHECK_FALSE(is_started_without(absent, 50));
  }
  CHECK(is_started_without(0x60C2, 50));
}

TEST_CASE("a lost heartbeat makes a drive unknown, however well it answers") {
  Robot robot({1});
  robot.start();
  robot.world.drives[0].disturb({.heartbeat_lost = true});
  robot.run(500ms);
  CHECK(robot.feedback[0].drive == DriveState::unknown);
  CHECK(robot.said(0) == "its heartbeat is lost");
  robot.world.drives[0].disturb({});
  robot.run(200ms);
  CHECK(robot.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a drive that booted unheard is asked for its configuration, and gets it again") {
  Robot robot({1, 2});
  robot.start();
  robot.world.drives[0].inject(JointFault::silent);
  robot.run(400ms);
  CHECK(robot.said(0) == "its heartbeat is lost");
  robot.world.drives[0].inject(JointFault::none);
  robot.now += 30ms;
  robot.world.advance(robot.now);  // it boots
  std::array<can::Frame, 64> unheard;
  while (robot.world.host.receive(unheard) > 0) {
  }
  robot.run(1s);
  CHECK(robot.said(0) == "the drive switched off without a command");
  robot.clear();
  robot.run(100ms);
  CHECK(robot.feedback[0].drive == DriveState::ready);
}

TEST_CASE(
    "a drive without heartbeats that keeps its configuration is asked seldom, and not configured again") {
  Robot robot({1});
  robot.start();
  robot.world.drives[0].disturb({.heartbeat_lost = true});
  robot.world.seen.clear();
  robot.run(5s);
  const auto requests = std::ranges::count(robot.world.seen, 0x601U, &can::Frame::id);
  CHECK(requests >= 5);
  CHECK(requests <= 10);
  CHECK(robot.world.drives[0].state() == State::operation_enabled);
  CHECK(std::ranges::count(robot.world.seen, 0x000U, &can::Frame::id) == 0);  // NMT
}

TEST_CASE("a fault from before the master's start is named by object 603Fh") {
  Robot robot({1});
  robot.start();
  robot.world.drives[0].inject(JointFault::power_stage);
  robot.run(10ms);
  auto* const port = &robot.world.host;
  robot.hardware = std::move(*Hardware::create(robot.world.robot, {&port, 1}));  // heard no emergency
  robot.run(300ms);
  CHECK(robot.feedback[0].drive == DriveState::fault);
  CHECK(robot.said(0) == "continuous over-current (0x2310)");
  robot.world.drives[0].inject(JointFault::none);
  robot.clear();
  robot.run(200ms);
  CHECK(robot.feedback[0].drive == DriveState::ready);
  robot.world.drives[0].inject(JointFault::encoder);
  robot.run(10ms);
  CHECK(robot.said(0) == "incremental sensor 1 (0x7305)");
}

TEST_CASE("a fault that the drive does not explain is asked for once, and told as unknown") {
  Robot robot({1});
  robot.start();
  robot.world.drives[0].inject(JointFault::power_stage);
  robot.run(10ms);
  auto* const port = &robot.world.host;
  robot.hardware = std::move(*Hardware::create(robot.world.robot, {&port, 1}));
  robot.run(100ms);
  robot.world.drives[0].disturb({.sdo_abort = can::canopen::SdoAbort::no_such_object});
  CHECK(robot.feedback[0].drive == DriveState::fault);
  robot.clear();
  robot.world.seen.clear();
  robot.run(3s);
  CHECK(std::ranges::count(robot.world.seen, 0x601U, &can::Frame::id) <= 1);
}

TEST_CASE("a fault keeps its name until it is cleared, even if an emergency tells that its cause is over") {
  drives::Cia402Master master({.node = 1});
  can::canopen::SdoServer<16> server(1);
  DictionaryWithout dictionary{0};
  Time now{};
  const auto serve = [&](int cycles) {
    while (cycles-- > 0) {
      now += 1ms;
      const auto frame = master.service(now);
      if (!frame || frame->id == 0) continue;
      const auto answer = server.receive(*frame, dictionary);
      if (answer && *answer) CHECK(master.heard_sdo(**answer));
    }
  };
  serve(100);
  std::uint64_t rejected = 0;
  const auto hear = [&](std::uint16_t status_word) {
    (void)master.command({}, rejected);
    const auto low = static_cast<std::uint8_t>(status_word);
    const auto high = static_cast<std::uint8_t>(status_word >> 8);
    CHECK(master.heard_pdo(*can::make_frame(0x181, std::array<std::uint8_t, 7>{low, high, 8}), now));
  };
  hear(0x0240);
  master.heard(can::canopen::Emergency{1, 0x4310, 1, {}});
  hear(0x0208);
  CHECK(master.faults() == 0x4310);
  master.heard(can::canopen::Emergency{1, 0, 0, {}});
  CHECK(master.faults() == 0x4310);
  hear(0x0240);
  CHECK(master.faults() == 0);
  hear(0x0208);
  CHECK(master.faults() == 0);  // of another cause
  serve(10);                    // which the drive does not tell
  CHECK(master.faults() == 0);
  CHECK(master.state() == DriveState::fault);
}

TEST_CASE("answers that are a little late do no harm, much too late ones are no answers") {
  Robot robot({1});
  robot.world.drives[0].disturb({.late = 3ms});
  robot.run(1s);
  CHECK(robot.feedback[0].drive == DriveState::ready);
  Robot other({1});
  other.world.drives[0].disturb({.late = 300ms});
  other.run(3s);
  CHECK(other.feedback[0].drive == DriveState::unknown);
  CHECK(other.world.drives[0].state() != State::operation_enabled);
}

TEST_CASE(
    "a drive whose answers are lost in motion is never commanded back, and continues when it is enabled "
    "again") {
  Robot robot({1});
  robot.start();
  const auto& drive = robot.world.drives[0];
  const auto told = [&] { return drive.objects().number(drives::Cia402Object::target_position); };
  std::int32_t before = told();
  const auto move = [&](Duration duration) {
    for (const Time end = robot.now + duration; robot.now < end;) {
      robot.commands[0].position += 4e-3;
      robot.cycle();
      CHECK(told() >= before);
      CHECK(told() <= before + 41);  // counts: 4e-3 rad, rounded
      before = told();
    }
  };
  move(100ms);
  robot.world.drives[0].disturb({.late = 1s});
  move(150ms);
  CHECK(robot.feedback[0].drive == DriveState::unknown);
  const std::int32_t held = told();
  robot.world.drives[0].disturb({});
  move(1200ms);  // until late frames have arrived, too
  CHECK(told() == held);
  CHECK(drive.state() == State::operation_enabled);
  CHECK(robot.feedback[0].drive == DriveState::unknown);
  robot.commands[0].want_power = false;
  robot.run(100ms);
  CHECK(robot.feedback[0].drive == DriveState::off);
  robot.commands[0].want_power = true;
  robot.commands[0].position = robot.feedback[0].position;
  robot.run(200ms);
  CHECK(robot.feedback[0].drive == DriveState::ready);
}

TEST_CASE("a master that vanishes leaves drives that brake and are at fault") {
  Robot robot({1});
  robot.start();
  for (int i = 0; i < 200; ++i) {
    robot.commands[0].position += 1e-3;
    robot.cycle();
  }
  robot.now += 300ms;
  robot.world.advance(robot.now);
  CHECK(robot.world.drives[0].state() == State::fault);
  CHECK(robot.world.drives[0].velocity() == 0);
  robot.cycle();
  robot.run(10ms);
  CHECK(robot.said(0) == "life guard or heartbeat lost (0x8130)");
}

TEST_CASE("NaN is never sent: the last valid position is held") {
  Robot robot({1});
  robot.start();
  robot.commands[0].position = 0.01;
  robot.run(50ms);
  robot.commands[0].position = std::numeric_limits<double>::quiet_NaN();
  robot.run(50ms);
  CHECK(robot.hardware->references_rejected() == 50);
  CHECK(robot.feedback[0].drive == DriveState::ready);
  CHECK(robot.feedback[0].position == doctest::Approx(0.01).epsilon(0.05));
}

TEST_CASE("useless frames are counted, from any sender") {
  Robot robot({1});
  robot.start();
  const auto before = robot.hardware->counters();
  auto stranger = robot.world.bus.connect();
  const auto put = [&](std::uint32_t id, std::size_t length) {
    const can::Frame frame = *can::make_frame(id, std::vector<std::uint8_t>(length, 0xEE));
    stranger.send({&frame, 1});
  };
  put(0x181, 3);  // of the right node, with a wrong length
  put(0x581, 7);
  put(0x701, 1);
  put(0x081, 2);
  put(0x182, 7);  // of an unknown node
  put(0x481, 8);  // of an unused service
  robot.cycle();
  robot.cycle();
  CHECK(robot.hardware->counters().frames_malformed == before.frames_malformed + 4);
  CHECK(robot.hardware->counters().frames_unexpected == before.frames_unexpected + 2);
}

TEST_CASE("descriptions that the protocol cannot serve are refused with the joint's name") {
  const auto error_after = [](auto change) {
    test::Cia402World world({1, 2});
    change(world.robot);
    auto* const port = &world.host;
    const auto hardware = Hardware::create(world.robot, {&port, 1});
    return hardware ? SetupError{} : hardware.error();
  };
  using robot::Errc;
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 0; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 127; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].channel = 1; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 1; }).error == Errc::duplicate_address);
  CHECK(error_after([](auto& robot) { robot.joints[1].board = 1; }).message == "joint2");
  CHECK(error_after([](auto& robot) { robot.joints[1].counts_per_radian = 0; }).error == Errc::bad_scale);
  CHECK(error_after([](auto& robot) { robot.joints[1].bus = 1; }).error == Errc::no_such_bus);
  CHECK(error_after([](auto& robot) { robot.joints.resize(65); }).error == Errc::too_many_joints);
}

TEST_CASE("a whole simulated robot of CiA 402 drives keeps the rules of the loop") {
  const test::Cia402World world({1, 2, 3});
  const auto simulated = app::Devices::create(world.robot, {.simulate = true});
  REQUIRE(simulated.has_value());
  std::vector<robot::JointFeedback> feedback(3);
  std::vector<JointCommand> commands(3);
  for (auto& command : commands) command.want_power = true;
  const auto cycle = [&](Time now) {
    (*simulated)->read(now, feedback);
    (*simulated)->write(now, commands);
  };
  cycle(Time{});  // the undefined-behaviour sanitizer makes system calls when it first sees a type
  test::RtGuard guard;
  for (Time now(1ms); now < Time(1s); now += 1ms) cycle(now);
  CHECK(guard.report() == "");
  for (const auto& joint : feedback) CHECK(joint.drive == DriveState::ready);
}
