// Hubo boards of all kinds on one bus, simulated, with the master of real ones: wrists, a neck and hands.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "support/rt_guard.hpp"
#include "takt/drives/hubo/hubo_board.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"
#include "takt/drives/registry.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;
using namespace std::chrono_literals;
using can::hubo::BoardKind;
using sim::JointFault;
using sim::VirtualCanBus;
namespace hubo = can::hubo;

namespace {

using Hardware = drives::HuboHardware<VirtualCanBus::Port>;

constexpr double strongest = 2;  // N m, of a finger
// The start positions of the robot below, in its order.
constexpr std::size_t wrist = 0, thumb = 1, neck = 3, hand = 6, shoulder = 11, joints = 13;

/// DRC-Hubo's wrist and neck, a hand of Hubo2+, and a shoulder, each with joints of both directions.
robot::RobotDescription robot_of_all_kinds() {
  robot::RobotDescription robot;
  robot.buses.resize(1);
  robot.buses[0].protocol = drives::find("hubo");
  const auto add = [&robot](BoardKind kind, std::uint8_t board, double counts_per_radian) {
    for (std::uint8_t channel = 0; channel < hubo::channels_of(kind); ++channel) {
      robot::JointDescription joint;
      joint.name = "joint" + std::to_string(robot.joints.size());
      joint.board = board;
      drives::set_hubo_board_kind(joint, kind);
      joint.channel = channel;
      joint.counts_per_radian = channel % 2 == 0 ? counts_per_radian : -counts_per_radian;
      if (kind == BoardKind::hand || (kind == BoardKind::hybrid && channel > 0)) {
        joint.rated_effort = joint.plant.torque_limit = strongest;
      } else {
        joint.plant.start = 0.1 * (channel + 1);
      }
      robot.joints.push_back(joint);
    }
  };
  add(BoardKind::hybrid, 0x24, 4'074.4);
  add(BoardKind::neck, hubo::neck_board, 1);
  add(BoardKind::hand, 0x25, 5'215.2);
  add(BoardKind::two_channel, 0x08, 92'599.2);
  return robot;
}

struct Rig {
  explicit Rig(const drives::HuboOptions& options = {}) {
    VirtualCanBus::Port* const pointer = &host;
    hardware = std::move(*Hardware::create(description, {&pointer, 1}, {options}));
    for (std::size_t i = 0; i < joints; ++i) {
      commands[i].want_power = true;
      if (description.joints[i].rated_effort > 0) commands[i].mode = CommandMode::effort;
    }
  }
  void cycle() noexcept {
    now += description.period;
    simulation.advance(now);
    hardware->read(now, feedback);
    for (std::size_t i = 0; i < joints; ++i) {  // hold, as a loop does while drives are not ready
      if (feedback[i].drive != DriveState::ready) commands[i].position = feedback[i].position;
    }
    hardware->write(now, commands);
  }
  void run(Duration duration) {
    for (const Time end = now + duration; now < end;) cycle();
  }
  [[nodiscard]] bool all(std::size_t first, std::size_t count, DriveState state) const {
    return std::all_of(feedback.begin() + static_cast<std::ptrdiff_t>(first),
                       feedback.begin() + static_cast<std::ptrdiff_t>(first + count),
                       [state](const auto& joint) { return joint.drive == state; });
  }
  void start() {
    run(1s);
    REQUIRE(all(0, joints, DriveState::ready));
  }

  robot::RobotDescription description = robot_of_all_kinds();
  sim::RobotSimulation simulation = sim::RobotSimulation::create(description).value();
  VirtualCanBus::Port host = simulation.host(0);
  std::unique_ptr<Hardware> hardware;
  std::vector<robot::JointFeedback> feedback = std::vector<robot::JointFeedback>(joints);
  std::vector<JointCommand> commands = std::vector<JointCommand>(joints);
  Time now{};
};

}  // namespace

TEST_CASE("boards of all kinds come up on one bus without a jump, and go down") {
  for (const bool home_at_start : {false, true}) {
    Rig rig({.home_at_start = home_at_start});  // only the shoulder reports its home, and it is there
    rig.start();
    for (std::size_t i = 0; i < joints; ++i) {
      CAPTURE(i);
      CHECK(std::abs(rig.simulation.position(i) - rig.description.joints[i].plant.start) < 2e-3);
      CHECK(std::abs(rig.feedback[i].position - rig.simulation.position(i)) < 2e-3);
      CHECK(rig.feedback[i].mode == rig.commands[i].mode);
    }
    const auto counters = rig.hardware->counters();
    CHECK(counters.frames_refused + counters.frames_malformed + counters.frames_unexpected == 0);
    for (auto& command : rig.commands) command.want_power = false;
    rig.run(200ms);
    CHECK(rig.all(0, joints, DriveState::off));
  }
}

TEST_CASE("a wrist, a neck and a shoulder follow positions") {
  Rig rig;
  rig.start();
  for (int i = 0; i < 200; ++i) {
    for (auto& command : rig.commands) command.position += 1e-3;
    rig.cycle();
  }
  rig.run(500ms);
  for (const std::size_t i : {wrist, neck, neck + 1, neck + 2, shoulder, shoulder + 1}) {
    CAPTURE(i);
    CHECK(std::abs(rig.simulation.position(i) - rig.description.joints[i].plant.start - 0.2) < 3e-3);
    CHECK(std::abs(rig.feedback[i].position - rig.simulation.position(i)) < 2e-3);
  }
  for (const std::size_t i : {thumb, hand}) CHECK(std::abs(rig.simulation.position(i)) < 1e-3);
}

TEST_CASE("fingers follow efforts, by current or by duty, each in its joint's direction") {
  Rig rig;
  rig.start();
  for (const double sign : {1.0, -1.0}) {
    for (const std::size_t i : {thumb, thumb + 1, hand, hand + 1, hand + 4}) {
      CAPTURE(i);
      const double stood = rig.simulation.position(i);
      rig.commands[i].effort = sign * strongest / 2;
      rig.run(100ms);
      CHECK(sign * (rig.simulation.position(i) - stood) > 0.01);
      CHECK(sign * rig.feedback[i].velocity > 0.1);
      CHECK(std::abs(rig.feedback[i].position - rig.simulation.position(i)) < 0.02);
      rig.commands[i].effort = 0;
      rig.run(1s);  // friction
      CHECK(std::abs(rig.simulation.velocity(i)) < 1e-3);
    }
  }
}

TEST_CASE("a finger whose effort is no number any more, or no effort, is driven no more") {
  Rig rig;
  rig.start();
  for (const std::size_t i : {thumb, hand}) {
    for (const CommandMode mode : {CommandMode::effort, CommandMode::velocity}) {
      CAPTURE(i);
      rig.commands[i].effort = strongest / 2;
      rig.run(100ms);
      CHECK(std::abs(rig.simulation.velocity(i)) > 0.1);
      rig.commands[i].mode = mode;
      if (mode == CommandMode::effort) rig.commands[i].effort = std::numeric_limits<double>::quiet_NaN();
      rig.run(1s);
      CHECK(std::abs(rig.simulation.velocity(i)) < 1e-3);
      CHECK(rig.feedback[i].drive == DriveState::ready);
      rig.commands[i] = {.want_power = true, .mode = CommandMode::effort};
    }
  }
}

TEST_CASE("a reference that a motor cannot follow, and NaN, are never sent") {
  Rig rig;
  rig.start();
  const auto before = rig.hardware->references_rejected();
  rig.commands[wrist].mode = CommandMode::velocity;
  rig.commands[neck].position = std::numeric_limits<double>::quiet_NaN();
  rig.commands[thumb].mode = CommandMode::position;
  rig.commands[hand].effort = std::numeric_limits<double>::infinity();
  rig.run(100ms);
  CHECK(rig.hardware->references_rejected() == before + 4 * 20);
  for (const std::size_t i : {wrist, thumb, neck, hand})
    CHECK(std::abs(rig.simulation.position(i) - rig.description.joints[i].plant.start) < 2e-3);
}

TEST_CASE("faults are shown joint by joint, and the board comes back when they are cleared") {
  for (const std::size_t joint : {wrist, thumb, neck + 1, hand + 3}) {
    CAPTURE(joint);
    Rig rig;
    rig.start();
    rig.simulation.inject(joint, JointFault::encoder);
    rig.run(200ms);
    CHECK(rig.feedback[joint].drive == DriveState::fault);
    CHECK(rig.feedback[joint].fault == hubo::fault::encoder);
    CHECK(rig.feedback[shoulder].drive == DriveState::ready);
    rig.simulation.inject(joint, JointFault::none);
    for (const bool clear : {true, false}) {
      for (auto& command : rig.commands) command.clear_fault = clear;
      rig.run(clear ? 5ms : 1s);
    }
    CHECK(rig.all(0, joints, DriveState::ready));
  }
}

TEST_CASE("a board that falls silent is unknown, and a hand that lost its power does not go on pushing") {
  Rig rig;
  rig.start();
  rig.commands[hand].effort = strongest;
  rig.run(20ms);
  rig.simulation.inject(hand + 1, JointFault::silent);
  rig.simulation.inject(neck, JointFault::silent);
  rig.run(500ms);
  CHECK(rig.all(hand, 5, DriveState::unknown));
  CHECK(rig.all(neck, 3, DriveState::unknown));
  CHECK(rig.feedback[wrist].drive == DriveState::ready);
  rig.simulation.inject(hand + 1, JointFault::none);
  rig.simulation.inject(neck, JointFault::none);
  rig.run(500ms);
  CHECK(rig.all(hand, 5, DriveState::fault));
  CHECK((rig.feedback[hand].fault & hubo::fault::power_lost) != 0);
  CHECK(std::abs(rig.simulation.velocity(hand)) < 1e-3);
}

TEST_CASE("motors of a running board that are no joints stay where they are") {
  const auto stood = [](auto& master, const auto& encoders, std::size_t joint) {
    hubo::ShortStatusReply status;
    for (auto& motor : status.motors) motor.driver_on = motor.control_on = true;
    master.attach(joint, 1'000, strongest);
    for (int cycle = 0; cycle < 3; ++cycle) {
      (void)master.power(true, false);
      (void)master.command(joint, {.mode = master.mode_of(joint)});
      if (cycle == 2) break;
      (void)master.reference();
      const Time now = Time{} + (cycle + 1) * 5ms;
      master.heard(encoders, now);
      master.heard(status, now);
    }
    CHECK(master.state(joint) == DriveState::ready);
    return master.reference().value();
  };
  drives::HuboBoardMaster<BoardKind::hybrid> wrist_board(0x24);
  CHECK(stood(wrist_board, hubo::HybridEncoders{0x24, {9'000, 0, 0}}, 1).wrist == 9'000);
  drives::HuboBoardMaster<BoardKind::neck> neck_board(hubo::neck_board);
  CHECK(stood(neck_board, hubo::NeckEncoders{hubo::neck_board, {2'048, 3'000, 1'000}}, 0).words ==
        std::array<std::uint16_t, 3>{2'048, 2'999, 1'000});
}

TEST_CASE("a silent board is commanded to drive no finger and to hold its other motors") {
  drives::HuboBoardMaster<BoardKind::hybrid> master(0x24);
  for (std::size_t i = 0; i < 3; ++i) master.attach(i, 1'000, strongest);
  const auto told = [&](double wrist_position, double effort) {
    (void)master.power(true, false);
    (void)master.command(0, {.position = wrist_position});
    for (const std::size_t i : {1U, 2U})
      (void)master.command(i, {.mode = CommandMode::effort, .effort = effort});
    return master.reference();
  };
  CHECK_FALSE(told(0, 0).has_value());
  hubo::ShortStatusReply status;
  for (auto& motor : status.motors) motor.driver_on = motor.control_on = true;
  master.heard(hubo::HybridEncoders{0x24, {50, 0, 0}}, Time(5ms));
  master.heard(status, Time(5ms));
  CHECK(told(0.1, strongest) == hubo::HybridReference{0x24, 100, {10, 10}});
  for (int i = 0; i <= 20; ++i) master.check_silence(20);
  CHECK(told(0.2, strongest) == hubo::HybridReference{0x24, 100, {0, 0}});
  master.heard(status, Time(1s));
  CHECK(told(0.3, strongest) == hubo::HybridReference{0x24, 300, {10, 10}});
}

TEST_CASE("a hybrid board's fingers are deaf outside its hybrid mode; replies are cut and late as told") {
  const robot::RobotDescription robot = robot_of_all_kinds();
  drives::HuboBoard board(0x24, {.kind = BoardKind::hybrid}, Time{});
  for (std::uint8_t i = 0; i < 3; ++i) CHECK(board.fit(i, robot.joints[i]));
  CHECK_FALSE(board.fit(3, robot.joints[hand + 3]));
  drives::HuboBoard other(0x24, {.kind = BoardKind::hand}, Time{});
  CHECK_FALSE(other.fit(0, robot.joints[wrist]));
  Time now{};
  const auto tell = [&](const auto& message) {
    can::Frame frame = hubo::encode(message).value();
    frame.stamp = now += 1ms;
    CHECK(board.accepts(frame));
    board.receive(frame);
  };
  tell(hubo::driver(0x24, true));
  tell(hubo::control(0x24, true));
  tell(hubo::HybridReference{0x24, 0, {10, 0}});
  board.advance(now += 100ms);
  CHECK(std::abs(board.position(1)) < 1e-6);
  tell(hubo::control_mode(0x24, hubo::ControlMode::hybrid));
  tell(hubo::HybridReference{0x24, 0, {10, 0}});
  board.advance(now += 100ms);
  CHECK(std::abs(board.position(1)) > 0.01);
  CHECK(board.ignored() == 0);

  tell(hubo::encoder_request(0x24));
  CHECK(hubo::decode<hubo::HybridEncoders>(board.take_frame()).has_value());
  board.set_faults({.late = 20ms, .cut = 1});
  tell(hubo::status_request(0x24));
  CHECK(board.next_send() > now + 20ms);
  CHECK(board.take_frame().length == 2);
}

TEST_CASE("boards of all kinds keep the rules of the loop") {
  Rig rig;
  test::RtGuard guard;
  rig.run(1s);
  CHECK(guard.report() == "");
  CHECK(rig.all(0, joints, DriveState::ready));
}

TEST_CASE("boards that cannot be are refused") {
  const auto error_after = [](auto change) {
    robot::RobotDescription robot = robot_of_all_kinds();
    change(robot.joints);
    VirtualCanBus bus;
    VirtualCanBus::Port host = bus.connect();
    VirtualCanBus::Port* const pointer = &host;
    const auto hardware = Hardware::create(robot, {&pointer, 1});
    return hardware ? Error{} : hardware.error().error;
  };
  CHECK(error_after([](auto&) {}) == Error{});
  CHECK(error_after([](auto& all) { all[wrist].channel = 3; }) == robot::Errc::bad_address);
  CHECK(error_after([](auto& all) { drives::set_hubo_board_kind(all[thumb], BoardKind::hand); }) ==
        robot::Errc::bad_address);
  CHECK(error_after([](auto& all) { all[neck].board = 0x21; }) == robot::Errc::bad_address);
  CHECK(error_after([](auto& all) { all[hand].channel = 1; }) == robot::Errc::duplicate_address);
  CHECK(error_after([](auto& all) { all[thumb].rated_effort = 0; }) == robot::Errc::bad_scale);
  CHECK(error_after([](auto& all) { all[hand].counts_per_radian = 0; }) == robot::Errc::bad_scale);
}
