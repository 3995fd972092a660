// The simulated CiA 402 drive in every mode, controlled as real ones; and the commands that it rejects.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "drives/cia402/cia402_rig.hpp"
#include "takt/can/canopen/configuration.hpp"
#include "takt/can/canopen/sync.hpp"
#include "takt/can/cia402/drive_control.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::cia402;
using namespace std::chrono_literals;
using canopen::PdoDirection;
using canopen::SdoAbort;

namespace {

constexpr std::uint8_t node = 5;

/// A drive with both pairs of PDOs, and its control.
struct ModeRig {
  test::Cia402World world = test::Cia402World({node});
  DriveControl control;
  Feedback feedback;
  Demand demand;
  canopen::SdoClient client{node, 50ms};
  Time now{};

  ModeRig() {
    run(25ms);  // boots
    configure(PdoDirection::receive, 1, receive_pdo_1);
    configure(PdoDirection::receive, 2, receive_pdo_2);
    configure(PdoDirection::transmit, 1, transmit_pdo_1);
    configure(PdoDirection::transmit, 2, transmit_pdo_2);
    send(*canopen::encode(canopen::NmtMessage{canopen::NmtCommand::start, node}));
    run(1ms);
    REQUIRE(drive().nmt_state() == canopen::NmtState::operational);
  }
  drives::Cia402Drive& drive() { return world.drives[0]; }
  void send(const Frame& frame) { REQUIRE(world.host.send({&frame, 1}) == 1); }

  void run(Duration duration) {
    now += duration;
    world.advance(now);
    std::array<Frame, 32> frames;
    const std::size_t count = world.host.receive(frames);
    for (std::size_t i = 0; i < count; ++i) {
      if (frames[i].id == 0x180U + node) {
        REQUIRE(take_transmit_pdo_1(feedback, frames[i]));
      } else if (frames[i].id == 0x280U + node) {
        REQUIRE(take_transmit_pdo_2(feedback, frames[i]));
        control.heard(feedback, frames[i].stamp);
      } else if (frames[i].id == canopen::sdo_reply_base + node) {
        (void)client.receive(frames[i]);
      }
    }
  }
  SdoAbort finish() {
    for (int i = 0; i < 200 && client.state() == canopen::SdoState::busy; ++i) {
      if (const auto frame = client.poll(now)) send(*frame);
      run(1ms);
    }
    return client.state() == canopen::SdoState::busy ? SdoAbort::timeout : client.abort();
  }
  SdoAbort write(canopen::Address object, std::uint32_t value, std::uint8_t bytes) {
    REQUIRE(client.download(canopen::ObjectWrite{object, value, bytes}));
    return finish();
  }
  void configure(PdoDirection direction, std::uint8_t number,
                 std::span<const canopen::MappedObject> objects) {
    const auto plan = *canopen::plan_pdo(direction, number, node, canopen::every_sync, objects);
    for (const auto& step : plan.writes())
      CHECK(write(step.object, step.value, step.bytes) == SdoAbort::none);
  }
  void cycle() {
    const Command command = control.step(demand, now);
    Frame frame;
    send(*canopen::encode(canopen::Sync{}));
    put_receive_pdo_1(frame, node, command);
    send(frame);
    put_receive_pdo_2(frame, node, command);
    send(frame);
    run(1ms);
  }
  void cycles(int count) {
    while (count-- > 0) cycle();
  }
  void enable(Mode mode) {
    demand.target = Target::operation_enabled;
    demand.mode = mode;
    demand.position = control.feedback().position;
    cycles(20);
    REQUIRE(control.enabled());
    REQUIRE(control.mode_confirmed());
  }
};

}  // namespace

TEST_CASE("cyclic position follows from where it stands, cyclic velocity turns, cyclic torque pushes") {
  ModeRig rig;
  rig.enable(Mode::cyclic_position);
  for (int i = 0; i < 1000; ++i) {
    rig.demand.position += 10;
    rig.cycle();
  }
  rig.cycles(300);
  CHECK(std::abs(rig.feedback.position - 10'000) <= 20);
  CHECK(rig.drive().position() == doctest::Approx(1.0).epsilon(0.01));
  rig.demand.mode = Mode::cyclic_velocity;
  rig.demand.velocity = 5000;
  rig.cycles(1000);
  CHECK(rig.drive().velocity() == doctest::Approx(0.5).epsilon(0.02));
  CHECK(rig.feedback.velocity == doctest::Approx(5000).epsilon(0.3));
  rig.demand.mode = Mode::cyclic_torque;
  rig.demand.torque = 20;  // thousandths of 50 N m: more than the friction
  rig.cycles(300);
  CHECK(rig.feedback.torque == 20);
  const double before = rig.drive().velocity();
  rig.demand.torque = 40;
  rig.cycles(300);
  CHECK(rig.drive().velocity() > before);
}

TEST_CASE("profile position: one target after the other, reached and acknowledged; halt holds it up") {
  ModeRig rig;
  rig.enable(Mode::profile_position);
  for (const std::int32_t target : {20'000, -5'000, 0}) {
    CAPTURE(target);
    rig.demand.position = target;
    rig.cycles(10);
    CHECK_FALSE(rig.control.target_reached());
    int waited = 0;
    while (!rig.control.target_reached() && ++waited < 5000) rig.cycle();
    CHECK(waited < 5000);
    rig.cycles(200);
    CHECK(std::abs(rig.feedback.position - target) <= 20);
  }
  rig.demand.position = 30'000;
  rig.cycles(200);
  rig.demand.halt = true;
  rig.cycles(500);
  const auto halted = rig.feedback.position;
  CHECK(halted > 100);
  CHECK(halted < 29'000);
  rig.cycles(200);
  CHECK(std::abs(rig.feedback.position - halted) <= 20);
  rig.demand.halt = false;
  rig.cycles(2000);
  CHECK(std::abs(rig.feedback.position - 30'000) <= 20);
}

TEST_CASE("profile velocity reaches its target on a ramp") {
  ModeRig rig;
  rig.enable(Mode::profile_velocity);
  rig.demand.velocity = 20'000;
  rig.cycles(20);
  CHECK_FALSE(rig.control.target_reached());
  CHECK(rig.drive().velocity() < 1.9);
  rig.cycles(500);
  CHECK(rig.control.target_reached());
  CHECK(rig.drive().velocity() == doctest::Approx(2.0).epsilon(0.02));
}

TEST_CASE(
    "homing runs to the index pulse, says so, and counts from there; a method that there is not fails") {
  ModeRig rig;
  CHECK(rig.write({0x6098, 0}, 34, 1) == SdoAbort::none);
  rig.enable(Mode::homing);
  rig.demand.home = true;
  rig.cycles(500);
  CHECK(rig.control.homing() == Homing::running);
  int waited = 0;
  while (rig.control.homing() == Homing::running && ++waited < 10'000) rig.cycle();
  CHECK(rig.control.homing() == Homing::attained);
  rig.cycles(200);
  CHECK(std::abs(rig.feedback.position) <= 20);
  CHECK(rig.drive().position() == doctest::Approx(6.283).epsilon(0.01));

  ModeRig other;
  CHECK(other.write({0x6098, 0}, 17, 1) == SdoAbort::none);
  other.enable(Mode::homing);
  other.demand.home = true;
  other.cycles(120);
  CHECK(other.control.homing() == Homing::failed);
}

TEST_CASE("quick stop brakes, and ends where its option says") {
  for (const QuickStop option : {QuickStop::quick_ramp, QuickStop::quick_ramp_and_stay}) {
    ModeRig rig;
    rig.control = DriveControl({.quick_stop = option});
    CHECK(rig.write({0x605A, 0}, static_cast<std::uint32_t>(option), 2) == SdoAbort::none);
    rig.enable(Mode::cyclic_velocity);
    rig.demand.velocity = 20'000;
    rig.cycles(500);
    rig.demand.target = Target::quick_stop;
    rig.cycles(3);
    CHECK(rig.control.state() == State::quick_stop_active);
    rig.cycles(300);
    CHECK(std::abs(rig.drive().velocity()) < 0.01);
    CHECK(rig.control.state() == (stays(option) ? State::quick_stop_active : State::switch_on_disabled));
    rig.demand.velocity = 0;
    rig.demand.target = Target::operation_enabled;
    rig.cycles(20);
    CHECK(rig.control.enabled());
  }
}

TEST_CASE("a drive gives an object in a block to a client that demands it") {
  ModeRig rig;
  const auto ask = [&rig](const std::array<std::uint8_t, 8>& bytes) {
    rig.send(*make_frame(canopen::sdo_request_base + node, bytes));
    rig.now += 2ms;
    rig.world.advance(rig.now);
    std::array<Frame, 32> frames;
    const std::size_t count = rig.world.host.receive(frames);
    return std::vector<Frame>(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count));
  };
  CHECK(ask({0xA4, 0x08, 0x10, 0, 127, 0, 0, 0}).size() == 1);
  const auto segments = ask({0xA3});
  REQUIRE(segments.size() == 3);
  CHECK(segments[0].data[0] == 1);
  CHECK(segments[2].data[0] == 0x83);
  CHECK(std::string(segments[0].data.begin() + 1, segments[0].data.begin() + 8) == "takt si");
  CHECK(ask({0xA2, 3, 127})[0].data[0] == 0xC5);  // one byte of the last segment is unused
  CHECK(ask({0xA1}).empty());
}

TEST_CASE("long objects come in segments, and what is wrong is refused by name") {
  ModeRig rig;
  std::vector<std::uint8_t> room(64);
  rig.client.upload({0x1008, 0}, room);
  CHECK(rig.finish() == SdoAbort::none);
  CHECK(std::string(rig.client.received().begin(), rig.client.received().end()) ==
        drives::Cia402Objects::device_name);
  CHECK(rig.write({0x1234, 0}, 0, 1) == SdoAbort::no_such_object);
  CHECK(rig.write({0x60C2, 9}, 0, 1) == SdoAbort::no_such_subindex);
  CHECK(rig.write({0x6041, 0}, 0, 2) == SdoAbort::read_only);
  CHECK(rig.write({0x6040, 0}, 0, 4) == SdoAbort::too_long);
  CHECK(rig.write({0x607A, 0}, 0, 2) == SdoAbort::too_short);
  // PDOs can be set only while disabled, only while the count is 0, and only to objects that can be mapped
  // and fit.
  CHECK(rig.write({0x1A00, 0}, 0, 1) == SdoAbort::unsupported_access);
  CHECK(rig.write({0x1800, 1}, 0x4000'0190, 4) == SdoAbort::bad_value);
  CHECK(rig.write({0x1800, 1}, 0xC000'0185, 4) == SdoAbort::none);
  CHECK(rig.write({0x1A00, 1}, 0x6064'0020, 4) == SdoAbort::unsupported_access);
  CHECK(rig.write({0x1A00, 0}, 0, 1) == SdoAbort::none);
  CHECK(rig.write({0x1A00, 1}, 0x607A'0020, 4) == SdoAbort::cannot_be_mapped);
  CHECK(rig.write({0x1A00, 1}, 0x6064'0010, 4) == SdoAbort::cannot_be_mapped);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    CHECK(rig.write({0x1A00, static_cast<std::uint8_t>(i)}, 0x6064'0020, 4) == SdoAbort::none);
  }
  CHECK(rig.write({0x1A00, 0}, 3, 1) == SdoAbort::pdo_too_long);
  CHECK(rig.write({0x1A00, 0}, 9, 1) == SdoAbort::value_too_high);
  CHECK(rig.write({0x1A00, 0}, 2, 1) == SdoAbort::none);
}
