// Homing of Hubo boards: the sequence of one motor alone, and as the last step of a board's start-up.
#include "takt/drives/hubo/hubo_homing.hpp"
#include "takt/drives/registry.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "support/scripted_bus.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/hubo/hubo_master.hpp"

using namespace takt;
using namespace takt::drives;
using namespace takt::robot;
using namespace std::chrono_literals;
namespace hubo = takt::can::hubo;

namespace {

hubo::MotorStatus status(std::uint8_t home, std::uint32_t faults = 0) {
  return {true, true, false, false, home, faults};
}

/// A board of two motors and its master, in cycles of 10 ms.
struct Board {
  explicit Board(HuboOptions options) : master(5, options) {
    master.attach(0, 10'000);
    master.attach(1, 10'000);
  }

  /// The board answers every request; returns the master's commands.
  void cycle() {
    now += 10ms;
    master.heard(hubo::EncoderReply{5, counts}, now);
    master.heard(hubo::StatusReply{5, motors}, now);
    const auto power = master.power(want_power, clear_fault);
    for (std::size_t i = 0; i < power.count; ++i) obey(power.list[i]);
    references += master.reference().has_value() ? 1 : 0;
  }
  void run(Duration duration) {
    for (const Time end = now + duration; now < end;) cycle();
  }
  void obey(const hubo::Command& command) {
    commands.push_back(command);
    for (auto& motor : motors) {
      if (command.code == hubo::CommandCode::driver) motor.driver_on = command.argument == 1;
      if (command.code == hubo::CommandCode::control_on) motor.control_on = true;
      if (command.code == hubo::CommandCode::control_off) motor.control_on = false;
    }
  }
  [[nodiscard]] std::vector<std::uint8_t> home_orders() const {
    std::vector<std::uint8_t> arguments;
    for (const auto& command : commands) {
      if (command.code == hubo::CommandCode::home) arguments.push_back(command.argument);
    }
    return arguments;
  }

  HuboMaster master;
  Time now{};
  std::array<hubo::MotorStatus, 2> motors{};
  std::array<std::int32_t, 2> counts{1000, -1000};
  std::vector<hubo::Command> commands;
  int references = 0;
  bool want_power = true;
  bool clear_fault = false;
};

HuboOptions homing() {
  HuboOptions options;
  options.home_at_start = true;
  return options;
}

}  // namespace

TEST_CASE(
    "a motor is home when its flag says so, its encoder agrees, and time enough has passed for both to be "
    "news") {
  HuboHoming home;
  home.step(Time(1s), status(hubo::home_done), 0);
  CHECK(home.state() == HuboHomingState::idle);
  home.start(Time(10s));
  home.step(Time(10s + 3s - 1ns), status(hubo::home_done), 0);  // the flag of an earlier homing
  CHECK(home.searching());
  home.step(Time(14s), status(0), 0);
  home.step(Time(15s), status(hubo::home_done), 0.1);
  CHECK(home.searching());
  home.step(Time(16s), status(hubo::home_done), -0.0075);
  CHECK(home.state() == HuboHomingState::done);
  home.step(Time(30s), status(0, hubo::fault::jam), 1);
  CHECK(home.state() == HuboHomingState::done);
}

TEST_CASE("a homing that fails says why") {
  const auto outcome = [](auto... steps) {
    HuboHoming home;
    home.start(Time(0s));
    (home.step(Time(steps.first), steps.second, 0.5), ...);
    CHECK(home.state() == HuboHomingState::failed);
    return home.failure();
  };
  using Step = std::pair<Duration, hubo::MotorStatus>;
  CHECK(outcome(Step{1s, status(0, hubo::fault::jam)}) == HuboHomingFailure::board_fault);
  CHECK(outcome(Step{1s, hubo::MotorStatus{}}) == HuboHomingFailure::board_fault);  // power went off
  CHECK(outcome(Step{8s, status(1)}, Step{8s + 1ns, status(1)}) == HuboHomingFailure::no_success);
  CHECK(outcome(Step{9s, status(hubo::home_done)}) == HuboHomingFailure::off_zero);

  HuboHoming home;
  home.start(Time(0s));
  home.step(Time(9s), status(hubo::home_done), std::numeric_limits<double>::quiet_NaN());
  CHECK(home.failure() == HuboHomingFailure::off_zero);
  home.forget();
  CHECK(home.state() == HuboHomingState::idle);
  CHECK(home.failure() == HuboHomingFailure::none);
}

TEST_CASE("warnings do not end a search, and a wrist says success with another flag") {
  HuboHomingOptions options;
  options.success = hubo::wrist_home_done;
  HuboHoming home(options);
  home.start(Time(0s));
  home.step(Time(1s), status(0, hubo::fault::position_low), 0);
  home.step(Time(4s), status(hubo::home_done), 0);
  CHECK(home.searching());
  home.step(Time(4s), status(hubo::wrist_home_done), 0);
  CHECK(home.state() == HuboHomingState::done);
}

TEST_CASE(
    "a board that is to find its home does so after control is on, one motor after the other, then it is "
    "ready") {
  Board board(homing());
  board.run(200ms);
  CHECK(board.home_orders() == std::vector<std::uint8_t>{0x12});
  CHECK(board.master.searching());
  CHECK(board.master.state(0) == DriveState::off);
  const int references = board.references;
  board.run(4s);
  CHECK(board.references == references);  // held back
  CHECK(board.home_orders().size() == 1);
  board.motors[0].home = hubo::home_done;
  board.counts[0] = 3;
  board.run(100ms);
  CHECK(board.home_orders() == std::vector<std::uint8_t>{0x12, 0x22});
  for (const std::size_t channel : {0U, 1U}) CHECK(board.master.state(channel) == DriveState::off);
  CHECK(board.master.command(
      0, {.position = 1}));  // by a caller who does not check: the board ignores references now
  board.run(3s);
  board.motors[1].home = hubo::home_done;
  board.counts[1] = -3;
  board.run(100ms);
  for (const std::size_t channel : {0U, 1U}) CHECK(board.master.state(channel) == DriveState::ready);
  CHECK(!board.master.searching());
  CHECK(board.references > references);
  CHECK(board.master.reference()->counts == std::array<std::int32_t, 2>{3, -3});  // present position: no jump
}

TEST_CASE("motors that say that they are at home are not sent there again") {
  Board board(homing());
  for (auto& motor : board.motors) motor.home = hubo::home_done;
  board.run(500ms);
  CHECK(board.home_orders().empty());
  CHECK(board.master.state(0) == DriveState::ready);
  CHECK(board.master.state(1) == DriveState::ready);
}

TEST_CASE("a failed search is a fault of its motor, and starts again once it is cleared") {
  Board board(homing());
  board.run(9s);
  CHECK(board.master.state(0) == DriveState::fault);
  CHECK(board.master.faults(0) == hubo::fault::homing_failed);
  CHECK(board.master.homing(0).failure() == HuboHomingFailure::no_success);
  CHECK(board.home_orders().size() == 1);
  board.run(1s);
  CHECK(board.home_orders().size() == 1);  // no automatic retry

  board.clear_fault = true;
  board.cycle();
  board.clear_fault = false;
  board.run(100ms);
  CHECK(board.home_orders() == std::vector<std::uint8_t>{0x12, 0x12});
  CHECK(board.master.searching());
}

TEST_CASE("switching off ends a search, and switching on starts it again") {
  Board board(homing());
  board.run(1s);
  REQUIRE(board.master.searching());
  board.want_power = false;
  board.run(100ms);
  CHECK(!board.master.searching());
  CHECK(board.master.state(0) == DriveState::off);
  CHECK(board.master.faults(0) == 0);
  board.want_power = true;
  board.run(200ms);
  CHECK(board.home_orders().size() == 2);
}

TEST_CASE("a board that was silent and tells no home any more has lost it, also without power") {
  Board board(homing());
  for (auto& motor : board.motors) motor.home = hubo::home_done;
  board.run(200ms);
  CHECK(board.master.state(0) == DriveState::ready);
  board.want_power = false;
  board.run(100ms);
  board.master.check_silence(0);  // it loses its supply
  board.motors = {};
  board.run(100ms);
  board.want_power = true;
  board.run(200ms);
  CHECK(board.home_orders() == std::vector<std::uint8_t>{0x12});
  CHECK(board.master.state(0) == DriveState::off);
}

TEST_CASE("homing starts only on request") {
  Board board{HuboOptions{}};
  board.run(2s);
  CHECK(board.home_orders().empty());
  CHECK(board.master.state(0) == DriveState::ready);
}

TEST_CASE(
    "the status of a board that looks for its home is asked for in every cycle, beside the one in turn") {
  RobotDescription robot;
  robot.buses.resize(1);
  robot.buses[0].protocol = drives::find("hubo");
  robot.joints.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    robot.joints[i].board = static_cast<std::uint8_t>(i);
    robot.joints[i].counts_per_radian = 10'000;
  }
  test::ScriptedBus bus;
  test::ScriptedBus* const pointer = &bus;
  const auto hardware = std::move(*HuboHardware<test::ScriptedBus>::create(robot, {&pointer, 1}, {homing()}));
  std::vector<JointFeedback> feedback(3);
  std::vector<JointCommand> commands(3);
  for (auto& command : commands) command.want_power = true;
  Time now{};
  std::array<int, 3> asked{};
  bool has_searched = false;
  for (int cycle = 0; cycle < 100; ++cycle) {
    now += robot.period;
    hardware->read(now, feedback);
    bus.sent.clear();
    hardware->write(now, commands);
    for (const can::Frame& frame : bus.sent) {
      const auto command = hubo::decode_command(frame);
      if (!command) continue;
      if (command->code == hubo::CommandCode::home) has_searched = has_searched || command->board == 1;
      if (command->code == hubo::CommandCode::status) {
        if (cycle >= 40) ++asked[command->board];
        hubo::StatusReply reply{command->board, {}};
        // Board 1 is not at home; the others are, and report it.
        for (auto& motor : reply.motors)
          motor = status(command->board == 1 ? std::uint8_t{0} : hubo::home_done);
        bus.incoming.push_back(*encode(reply, hubo::Dialect::podo));
      }
      if (command->code == hubo::CommandCode::encoder)
        bus.incoming.push_back(*encode(hubo::EncoderReply{command->board, {}}));
    }
  }
  CHECK(has_searched);
  CHECK(asked[0] == 20);
  CHECK(asked[1] == 60);
  CHECK(asked[2] == 20);
  CHECK(hardware->counters().frames_refused == 0);
}
