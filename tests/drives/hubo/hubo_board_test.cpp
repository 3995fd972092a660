// A simulated Hubo board and its faults, with the master of real ones.
#include "takt/drives/hubo/hubo_board.hpp"
#include "takt/drives/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "support/rt_guard.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/sim/virtual_can_bus.hpp"

using namespace takt;
using namespace std::chrono_literals;
using drives::HuboBoard;
using sim::VirtualCanBus;
namespace hubo = can::hubo;

namespace {

constexpr std::uint8_t number = 14;

robot::RobotDescription two_joints() {
  robot::RobotDescription description;
  description.buses.resize(1);
  description.buses[0].protocol = drives::find("hubo");
  description.joints.resize(2);
  for (std::uint8_t i = 0; i < 2; ++i) {
    robot::JointDescription& joint = description.joints[i];
    joint.board = number;
    joint.channel = i;
    joint.counts_per_radian = 63'662;
    joint.plant.start = i == 0 ? 0.3 : -0.2;
  }
  return description;
}

/// One board on its bus, and its master in cycles of 5 ms.
struct Rig {
  explicit Rig(const drives::HuboBoardOptions& board_options = {}, drives::HuboOptions options = {})
      : description(two_joints()), board(number, board_options, Time{}) {
    for (std::uint8_t i = 0; i < 2; ++i) REQUIRE(board.fit(i, description.joints[i]));
    VirtualCanBus::Port* const pointer = &host;
    hardware =
        std::move(*drives::HuboHardware<VirtualCanBus::Port>::create(description, {&pointer, 1}, {options}));
    for (auto& command : commands) command.want_power = true;
  }

  void advance(Time to) noexcept {
    for (;;) {
      const Time due = board.next_send();
      if (const can::Frame* frame = bus.step(std::min(to, due))) {
        if (board.accepts(*frame)) board.receive(*frame);
      } else if (due <= to) {
        const can::Frame reply = board.take_frame();
        node.send({&reply, 1});
      } else {
        break;
      }
    }
    board.advance(to);
  }
  void cycle() noexcept {
    now += description.period;
    advance(now);
    hardware->read(now, feedback);
    for (std::size_t i = 0; i < 2; ++i) {  // hold, as a loop does while drives are not ready
      if (feedback[i].drive != DriveState::ready) commands[i].position = feedback[i].position;
    }
    hardware->write(now, commands);
  }
  void run(Duration duration) {
    for (const Time end = now + duration; now < end;) cycle();
  }
  [[nodiscard]] bool all(DriveState state) const {
    return feedback[0].drive == state && feedback[1].drive == state;
  }

  robot::RobotDescription description;
  VirtualCanBus bus;
  VirtualCanBus::Port host = bus.connect();
  VirtualCanBus::Port node = bus.connect({.transmit = 4, .receive = 0});
  HuboBoard board;
  std::unique_ptr<drives::HuboHardware<VirtualCanBus::Port>> hardware;
  std::vector<robot::JointFeedback> feedback{2};
  std::vector<JointCommand> commands{2};
  Time now{};
};

/// A board that wakes up wherever its joints are, with a master that sends it home first.
Rig lost_rig() {
  drives::HuboOptions options;
  options.home_at_start = true;
  return Rig({.at_home = false}, options);
}

}  // namespace

TEST_CASE("a board that does not know where it is finds its home: encoders at zero where its joints are") {
  Rig rig = lost_rig();
  rig.run(20ms);
  CHECK(std::abs(rig.board.position(0) - 0.3) < 1e-3);
  CHECK(std::abs(rig.feedback[0].position) < 1e-3);  // as its encoder shows
  CHECK(!rig.all(DriveState::ready));
  rig.run(1s);
  CHECK(rig.board.position(0) < 0.25);  // on its way
  rig.run(7s);
  CHECK(rig.all(DriveState::ready));
  for (std::uint8_t i = 0; i < 2; ++i) {
    CHECK(std::abs(rig.board.position(i)) < 1e-3);
    CHECK(std::abs(rig.feedback[i].position - rig.board.position(i)) < 1e-3);
  }
  rig.commands[0].position = 0.01;  // and follows
  rig.run(500ms);
  CHECK(std::abs(rig.board.position(0) - 0.01) < 1e-3);
  CHECK(rig.hardware->counters().frames_refused == 0);
}

TEST_CASE("a board that never finds its home is in fault, and finds it after repair and a reset") {
  Rig rig = lost_rig();
  rig.board.set_faults({.never_home = true});
  rig.run(10s);
  CHECK(rig.feedback[0].drive == DriveState::fault);
  CHECK((rig.feedback[0].fault & hubo::fault::homing_failed) != 0);
  rig.board.set_faults({});
  for (auto& command : rig.commands) command.clear_fault = true;
  rig.cycle();
  for (auto& command : rig.commands) command.clear_fault = false;
  rig.run(10s);
  CHECK(rig.all(DriveState::ready));
}

TEST_CASE("a joint that jams on its way home does not find it") {
  Rig rig = lost_rig();
  rig.run(500ms);
  rig.board.inject(0, sim::JointFault::jammed);
  rig.run(9s);
  CHECK(rig.feedback[0].drive == DriveState::fault);
  CHECK((rig.feedback[0].fault & hubo::fault::homing_failed) != 0);
}

TEST_CASE(
    "replies that come late are taken as they come; those that are too short are counted, and are none") {
  Rig rig;
  rig.run(300ms);
  REQUIRE(rig.all(DriveState::ready));
  rig.board.set_faults({.late = 4ms});
  rig.run(500ms);
  CHECK(rig.all(DriveState::ready));
  CHECK(rig.feedback[0].stamp > rig.now - 10ms);

  rig.board.set_faults(
      {.late = 20ms});  // longer than a cycle: some requests find no room, the others are answered
  rig.run(500ms);
  CHECK(rig.board.ignored() > 0);
  CHECK(rig.feedback[0].stamp > rig.now - 20ms);

  rig.board.set_faults({.cut = 1});
  rig.run(500ms);
  CHECK(rig.hardware->counters().frames_malformed > 100);
  CHECK(rig.all(DriveState::unknown));
  rig.board.set_faults({.cut = 200});
  rig.run(100ms);
  rig.board.set_faults({});
  rig.run(500ms);
  CHECK(rig.all(DriveState::ready));
}

TEST_CASE("limit switches are closed at home, and everywhere when they are stuck") {
  HuboBoard board(number, {}, Time{});
  REQUIRE(board.fit(0, two_joints().joints[0]));  // it is at 0.3 rad
  const auto status = [&board] {
    can::Frame request = *hubo::encode(hubo::status_request(number));
    request.stamp = board.next_send() == Time::max() ? Time(1ms) : board.next_send();
    board.receive(request);
    return *hubo::decode_status(board.take_frame(), hubo::Dialect::podo);
  };
  CHECK(!status().motors[0].limit_switch);
  board.set_faults({.limit_switch = true});
  CHECK(status().motors[0].limit_switch);

  Rig rig = lost_rig();
  rig.run(9s);
  can::Frame request = *hubo::encode(hubo::status_request(number));
  request.stamp = rig.now;
  rig.board.receive(request);
  while (rig.board.next_send() != Time::max()) {
    const can::Frame reply = rig.board.take_frame();
    if (const auto seen = hubo::decode_status(reply, hubo::Dialect::podo)) {
      CHECK(seen->motors[0].limit_switch);
      CHECK(seen->motors[0].home == hubo::home_done);
    }
  }
}

TEST_CASE("a jammed joint is called so, beside its error of position") {
  Rig rig;
  rig.run(300ms);
  rig.board.inject(0, sim::JointFault::jammed);
  rig.commands[0].position += 1;
  rig.run(500ms);
  CHECK(rig.feedback[0].drive == DriveState::fault);
  CHECK((rig.feedback[0].fault & hubo::fault::jam) != 0);
  CHECK((rig.feedback[0].fault & hubo::fault::big_error) != 0);
}

TEST_CASE("homing keeps the rules of the loop") {
  Rig rig = lost_rig();
  test::RtGuard guard;
  for (int i = 0; i < 1600; ++i) rig.cycle();
  CHECK(guard.report() == "");
  CHECK(rig.all(DriveState::ready));
}
