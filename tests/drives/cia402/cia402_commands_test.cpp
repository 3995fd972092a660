// Positions, velocities and efforts for simulated CiA 402 drives, with changes of mode while enabled; and
// their search for a home.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "drives/cia402/cia402_rig.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace std::chrono_literals;
using can::cia402::State;
using sim::JointFault;
using Robot = test::Cia402Robot;

namespace {

constexpr double rated = 50;  // N m: the torque limit of the simulated joint
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// One drive with all three modes, and a check of its largest jerk.
struct Switcher : Robot {
  explicit Switcher(double counts_per_radian = 10'000) : Robot({1}, counts_per_radian, rated) { start(); }

  /// Cycles until the drive has its commanded mode; rad/s: the largest change of its velocity in one of them.
  double watch(Duration duration) {
    double largest = 0;
    for (const Time end = now + duration; now < end;) {
      const double before = drive().velocity();
      cycle();
      largest = std::max(largest, std::abs(drive().velocity() - before));
    }
    CHECK(feedback[0].mode == commands[0].mode);
    CHECK(feedback[0].drive == DriveState::ready);
    return largest;
  }
  drives::Cia402Drive& drive() { return world.drives[0]; }
  JointCommand& command() { return commands[0]; }
};

}  // namespace

TEST_CASE("a drive goes from positions to velocities to efforts and back without a bump") {
  for (const double scale : {10'000.0, -10'000.0}) {
    CAPTURE(scale);
    Switcher robot(scale);
    for (int i = 0; i < 500; ++i) {
      robot.command().position += 0.4e-3;
      robot.cycle();
    }
    robot.run(300ms);
    const double stood = robot.drive().position();

    robot.command().mode = CommandMode::velocity;
    CHECK(robot.watch(50ms) < 0.02);
    CHECK(robot.drive().position() == doctest::Approx(stood).epsilon(0.001));
    for (int i = 0; i < 500; ++i) {
      robot.command().velocity += 1e-3;
      robot.cycle();
    }
    robot.run(300ms);
    CHECK(robot.drive().velocity() == doctest::Approx(0.5).epsilon(0.02));
    CHECK(robot.feedback[0].velocity == doctest::Approx(0.5).epsilon(0.05));

    robot.command().effort = 0.3;  // N m: friction at this speed
    robot.command().mode = CommandMode::effort;
    CHECK(robot.watch(50ms) < 0.02);
    CHECK(robot.drive().velocity() == doctest::Approx(0.5).epsilon(0.2));
    robot.command().effort += 0.5;
    robot.run(200ms);
    CHECK(robot.feedback[0].effort == doctest::Approx(robot.command().effort).epsilon(0.1));
    CHECK(robot.drive().velocity() > 0.6);

    robot.command().velocity = robot.feedback[0].velocity;
    robot.command().mode = CommandMode::velocity;
    robot.watch(50ms);
    for (; robot.command().velocity > 0; robot.command().velocity -= 2e-3) robot.cycle();
    robot.command().velocity = 0;
    robot.run(500ms);
    robot.command().position = robot.feedback[0].position;
    robot.command().mode = CommandMode::position;
    CHECK(robot.watch(100ms) < 0.02);
    CHECK(std::abs(robot.drive().position() - robot.command().position) < 1e-3);
  }
}

TEST_CASE("a drive that refuses a mode does not go on in the one before") {
  for (const double position : {0.0, nothing}) {
    Switcher robot;
    robot.command() = {.velocity = 3, .want_power = true, .mode = CommandMode::velocity};
    robot.run(300ms);
    CHECK(robot.drive().velocity() == doctest::Approx(3).epsilon(0.05));
    robot.drive().disturb({.mode_refused = true});
    const double stood = robot.drive().position();
    robot.command() = {.position = stood, .want_power = true};
    robot.run(10ms);
    robot.command().position += position;
    robot.run(400ms);
    CHECK(std::abs(robot.drive().velocity()) < 0.05);
    CHECK(std::abs(robot.drive().position() - stood) < 0.4);
    CHECK(robot.drive().state() == State::operation_enabled);
    robot.run(1s);
    CHECK(robot.feedback[0].drive == DriveState::fault);
  }
}

TEST_CASE("command values of another mode never reach the drive") {
  Switcher robot;
  robot.command().velocity = 3;
  robot.command().effort = 40;
  robot.run(200ms);
  CHECK(std::abs(robot.drive().velocity()) < 1e-3);
  robot.command() = {.position = 1000, .want_power = true, .mode = CommandMode::velocity, .effort = -40};
  CHECK(robot.watch(200ms) < 0.02);
  robot.command() = {.position = 1000, .velocity = 3, .want_power = true, .mode = CommandMode::effort};
  CHECK(robot.watch(200ms) < 0.02);
  CHECK(std::abs(robot.drive().position()) < 0.01);
}

TEST_CASE("a velocity or an effort that is not a number is 0, in the mode that the drive was in") {
  for (const CommandMode next : {CommandMode::position, CommandMode::velocity, CommandMode::effort}) {
    CAPTURE(static_cast<int>(next));
    Switcher robot;
    robot.command() = {.velocity = 0.5, .want_power = true, .mode = CommandMode::velocity};
    robot.run(500ms);
    CHECK(robot.drive().velocity() == doctest::Approx(0.5).epsilon(0.05));
    robot.command() = {
        .position = nothing, .velocity = nothing, .want_power = true, .mode = next, .effort = nothing};
    robot.run(200ms);
    CHECK(std::abs(robot.drive().velocity()) < 1e-3);
    CHECK(robot.feedback[0].mode == CommandMode::velocity);
    CHECK(robot.feedback[0].drive == DriveState::ready);
    CHECK(robot.hardware->references_rejected() == 200);
    // Switching off and on does not resume it, either.
    robot.command().want_power = false;
    robot.run(500ms);
    robot.command().want_power = true;
    robot.run(300ms);
    CHECK(robot.feedback[0].drive == DriveState::ready);
    CHECK(std::abs(robot.drive().velocity()) < 1e-3);
  }

  Switcher robot;
  robot.command() = {.want_power = true, .mode = CommandMode::effort, .effort = 2};
  robot.run(300ms);
  CHECK(robot.feedback[0].effort == doctest::Approx(2).epsilon(0.05));
  robot.command().effort = nothing;
  robot.run(100ms);
  CHECK(std::abs(robot.feedback[0].effort) < 0.01);
  CHECK(robot.feedback[0].mode == CommandMode::effort);
}

TEST_CASE("the last good position holds where one is not a number or the drive has no such mode") {
  Robot plain({1});
  plain.start();
  plain.commands[0].position = 0.01;
  plain.run(50ms);
  plain.commands[0] = {.velocity = 1, .want_power = true, .mode = CommandMode::velocity};
  plain.run(50ms);
  CHECK(plain.hardware->references_rejected() == 50);
  CHECK(plain.feedback[0].mode == CommandMode::position);
  CHECK(plain.feedback[0].position == doctest::Approx(0.01).epsilon(0.05));
  plain.commands[0] = {.position = nothing, .want_power = true};
  plain.run(50ms);
  CHECK(plain.hardware->references_rejected() == 100);
  CHECK(plain.feedback[0].position == doctest::Approx(0.01).epsilon(0.05));
}

TEST_CASE("drives are enabled in any mode without a jump, and changing it keeps the rules of the loop") {
  for (const CommandMode mode : {CommandMode::velocity, CommandMode::effort}) {
    Robot robot({1, 2}, 10'000, rated);
    for (auto& command : robot.commands) command.mode = mode;
    robot.start();
    for (auto& drive : robot.world.drives) CHECK(std::abs(drive.position()) < 1e-3);
    CHECK(robot.feedback[1].mode == mode);
    const auto counters = robot.hardware->counters();
    CHECK(counters.frames_refused + counters.frames_malformed + counters.frames_unexpected == 0);
    for (auto& drive : robot.world.drives) CHECK(drive.ignored() == 0);
    robot.world.seen.reserve(100'000);
    test::RtGuard guard;
    for (int i = 0; i < 100; ++i) {
      robot.commands[0].mode = static_cast<CommandMode>(i / 10 % 3);
      robot.cycle();
    }
    CHECK(guard.report() == "");
  }
}

TEST_CASE("a drive with a home finds it before it is ready, once after each start") {
  const std::array homes{drives::Cia402Home{.joint = 1, .method = 34, .switch_speed = 3}};
  Robot robot({1, 2}, 10'000, 0, homes);
  robot.run(1s);
  CHECK(robot.feedback[0].drive == DriveState::ready);
  CHECK(robot.feedback[1].drive == DriveState::off);
  CHECK(robot.world.drives[1].state() == State::operation_enabled);
  const auto search = [&] {
    int cycles = 0;
    for (; robot.feedback[1].drive != DriveState::ready && cycles < 10'000; ++cycles) {
      robot.cycle();
      robot.commands[1].position = robot.feedback[1].position;
    }
    return cycles;
  };
  CHECK(search() > 100);
  CHECK(robot.world.drives[1].position() == doctest::Approx(6.283).epsilon(0.01));
  CHECK(std::abs(robot.feedback[1].position) < 0.01);
  CHECK(std::abs(robot.feedback[1].velocity) < 0.5);
  for (int i = 0; i < 500; ++i) {
    robot.commands[1].position -= 1e-3;
    robot.cycle();
  }
  robot.run(200ms);
  CHECK(robot.world.drives[1].position() == doctest::Approx(6.283 - 0.5).epsilon(0.01));

  robot.commands[1].want_power = false;
  robot.run(100ms);
  robot.commands[1].want_power = true;
  CHECK(search() < 50);  // it knows its position
  robot.world.drives[1].inject(JointFault::silent);
  robot.run(100ms);
  robot.world.drives[1].inject(JointFault::none);  // it boots, and has lost its home
  robot.commands[1].want_power = false;
  robot.run(500ms);
  robot.commands[1].want_power = true;
  CHECK(search() > 100);
}

TEST_CASE("a home that is not found, or not in time, is a fault, and looked for again when that is cleared") {
  for (const auto home :
       {drives::Cia402Home{.method = 17}, drives::Cia402Home{.method = 34, .most = 100ms}}) {
    Robot robot({1}, 10'000, 0, {&home, 1});
    robot.run(1s);
    CHECK(robot.feedback[0].drive == DriveState::fault);
    CHECK(robot.said(0) == "it did not find its home");
    CHECK(robot.world.drives[0].state() == State::switch_on_disabled);
    robot.clear();
    robot.run(12ms);
    CHECK(robot.feedback[0].drive == DriveState::off);
    CHECK(robot.world.drives[0].state() == State::operation_enabled);
    robot.run(200ms);
    CHECK(robot.feedback[0].drive == DriveState::fault);
  }
}

TEST_CASE("homes of no joint, and numbers that no drive takes, are refused") {
  const auto error_after = [](double rated_effort, auto... homes) {
    test::Cia402World world({1, 2});
    world.robot.joints[1].rated_effort = rated_effort;
    auto* const port = &world.host;
    const std::array list{homes...};
    const auto hardware = Robot::Hardware::create(world.robot, {&port, 1}, list);
    return hardware ? Error{} : hardware.error().error;
  };
  using Home = drives::Cia402Home;
  constexpr double huge = std::numeric_limits<double>::infinity();
  CHECK(error_after(0, Home{.joint = 1}) == Error{});
  CHECK(error_after(0, Home{.joint = 0}, Home{.joint = 1}) == Error{});
  CHECK(error_after(0, Home{.joint = 1}, Home{.joint = 1, .method = 34}) == robot::Errc::duplicate_address);
  CHECK(error_after(0, Home{.joint = 2}) == robot::Errc::no_such_joint);
  CHECK(error_after(-1, Home{.joint = 1}) == robot::Errc::bad_scale);
  CHECK(error_after(huge, Home{.joint = 1}) == robot::Errc::bad_scale);
  CHECK(error_after(0, Home{.joint = 1, .offset = huge}) == robot::Errc::bad_scale);
  CHECK(error_after(0, Home{.joint = 1, .switch_speed = -1}) == robot::Errc::bad_scale);
  CHECK(error_after(0, Home{.joint = 1, .offset = 1e6}) == robot::Errc::bad_scale);
}
