// Tests simulated servo drives, frame by frame: they latch at the command and reply after their delay. Lost
// references and planted faults show in the replies.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <string>

#include "sim/simulated_host.hpp"
#include "takt/can/servo.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using namespace takt::test::simulated_host;
using namespace std::chrono_literals;

namespace {

robot::RobotDescription small_servo() {
  robot::RobotDescription robot;
  robot.period = 1ms;
  robot.buses.push_back({"bus", drives::find("servo")});
  for (int i = 0; i < 2; ++i) {
    robot::JointDescription joint;
    joint.name = "joint" + std::to_string(i);
    joint.counts_per_radian = 166886;
    joint.board = static_cast<std::uint8_t>(i + 1);
    joint.limits.acceleration = 10;
    joint.plant.start = 0.5;
    robot.joints.push_back(joint);
  }
  return robot;
}

double quintic_rate(double s) { return s * s * (30 + s * (-60 + s * 30)); }

}  // namespace

TEST_CASE("all drives of a group latch at the command and answer in the order of their nodes") {
  Host host(shipped("arm6"));
  const auto replies = host.exchange(host.command_of(0, 0, false));
  REQUIRE(replies.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(replies[i].node == i + 1);
    CHECK(replies[i].sequence == 1);
    CHECK(replies[i].state == servo::State::off);
    CHECK(replies[i].position == doctest::Approx(host.robot.joints[i].plant.start).epsilon(1e-4));
  }
  CHECK(host.simulation.bus(0).statistics().load() < 0.56);
}

TEST_CASE("a drive's reply leaves it after its reply delay, with what it measured when the command arrived") {
  robot::RobotDescription robot = small_servo();
  robot.joints.resize(1);
  Host host(robot);
  const auto command = servo::encode(host.command_of(0, 0, false));
  host.send(command);
  host.run(1ms);
  const auto frames = host.received();
  REQUIRE(frames.size() == 1);
  const auto& bus = host.simulation.bus(0);
  const Duration gap = 3us;
  CHECK(frames[0].stamp == Time(bus.duration_of(*command) - gap + 30us + bus.duration_of(frames[0]) - gap));
}

TEST_CASE(
    "a drive that lost its power lets its load fall, and knows nothing of before when it has it again") {
  Host host(small_servo());
  host.simulation.set_load(0, 5);
  for (int i = 0; i < 200; ++i) host.exchange(host.command_of(0.5, 0));
  CHECK(std::abs(host.simulation.position(0) - 0.5) < 1e-3);
  host.simulation.inject(0, JointFault::silent);
  host.run(200ms);
  CHECK(host.simulation.position(0) < 0.3);
  host.simulation.inject(0, JointFault::none);
  auto command = host.command_of(0.5, 0, false);
  command.sequence = 200;  // the number of the last command: the other drive takes it as a repetition
  const auto replies = host.exchange(command);
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].node == 1);
  CHECK(replies[0].state == servo::State::off);
}

TEST_CASE("a drive follows a quintic at 1 kHz without lag") {
  Host host(small_servo());
  for (int i = 0; i < 5; ++i) host.exchange(host.command_of(0.5, 0));
  double sum = 0;
  const int steps = 3000;
  for (int i = 0; i < steps; ++i) {
    const double s = static_cast<double>(i) / steps;
    const double position = 0.5 + pi / 2 * quintic(s);
    const double velocity = pi / 2 * quintic_rate(s) / 3;
    const auto command = host.command_of(position, velocity);
    const auto frame = servo::encode(command);
    host.send(frame);
    // The command holds for the time of its arrival.
    host.run(host.simulation.bus(0).duration_of(*frame) - 3us);
    const double error = position - host.simulation.position(0);
    sum += error * error;
    host.simulation.advance(Time((i + 6) * 1ms));
    for (const Frame& reply : host.received())
      REQUIRE(servo::decode_reply(reply).value().state == servo::State::ready);
  }
  const double degrees = std::sqrt(sum / steps) * 180 / pi;
  MESSAGE("tracking error " << degrees << " deg rms");
  CHECK(degrees < 0.03);
  CHECK(degrees > 1e-5);
}

TEST_CASE("a drive on a joint that turns the other way round speaks of its own turning") {
  robot::RobotDescription robot = small_servo();
  robot.joints[0].counts_per_radian *= -1;
  Host host(robot);
  CHECK(host.exchange(host.command_of(0, 0, false))[0].position == doctest::Approx(-0.5).epsilon(1e-4));
  for (int i = 0; i < 200; ++i) {
    auto command = host.command_of(0.5 + i * 0.001, 1);
    command.slots[0].position *= -1;
    command.slots[0].velocity *= -1;
    const auto replies = host.exchange(command);
    REQUIRE(replies[0].state == servo::State::ready);
    CHECK(std::abs(replies[0].position + replies[1].position) < 1e-3);
  }
  CHECK(host.simulation.position(0) == doctest::Approx(0.7).epsilon(1e-2));
}

TEST_CASE("a drive without commands brakes to rest and reports the reference lost") {
  Host host(small_servo());
  for (int i = 0; i < 5; ++i) host.exchange(host.command_of(0.5, 0));
  for (int i = 0; i < 500; ++i) host.exchange(host.command_of(0.5 + i * 0.001, 1.0));
  const double before = host.simulation.position(0);
  host.run(60ms);
  CHECK(host.simulation.velocity(0) > 0.3);  // the watchdog's 20 ms have passed, and it still brakes evenly
  CHECK(host.simulation.velocity(0) < 0.6);
  host.run(1s);
  CHECK(host.simulation.velocity(0) == 0);
  // From 1 rad/s at 10 rad/s^2: 0.05 rad.
  CHECK(std::abs(host.simulation.position(0) - before - 0.05) < 0.004);
  auto replies = host.exchange(host.command_of(host.simulation.position(0), 0));
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].state == servo::State::fault);
  CHECK(replies[0].fault == static_cast<std::uint8_t>(servo::Fault::reference_lost));

  auto clear = host.command_of(0, 0, false);
  clear.slots[0].clear_fault = true;
  replies = host.exchange(clear);
  CHECK(replies[0].state == servo::State::off);
  CHECK(replies[1].state == servo::State::fault);
  replies = host.exchange(host.command_of(host.simulation.position(0), 0));
  CHECK(replies[0].state == servo::State::ready);
}

TEST_CASE("a repeated sequence number is a stuck sender and not obeyed") {
  Host host(small_servo());
  const auto command = host.command_of(0.5, 0);
  CHECK(host.exchange(command).size() == 2);
  CHECK(host.exchange(command).empty());
  for (int i = 0; i < 50; ++i) host.exchange(command);
  CHECK(host.exchange(host.command_of(0.5, 0))[0].fault ==
        static_cast<std::uint8_t>(servo::Fault::reference_lost));
}

TEST_CASE("faults put into a drive show in its replies, and a mode that it does not know is one") {
  Host host(small_servo());
  host.exchange(host.command_of(0.5, 0));
  host.simulation.inject(0, JointFault::silent);
  auto replies = host.exchange(host.command_of(0.5, 0));
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].node == 2);
  host.simulation.inject(0, JointFault::encoder);
  host.simulation.inject(1, JointFault::power_stage);
  replies = host.exchange(host.command_of(0.5, 0));
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].fault == static_cast<std::uint8_t>(servo::Fault::encoder));
  CHECK(replies[1].fault == static_cast<std::uint8_t>(servo::Fault::over_current));
  host.simulation.inject(0, JointFault::none);
  host.simulation.inject(1, JointFault::none);
  auto clear = host.command_of(0, 0, false);
  for (auto& slot : clear.slots) slot.clear_fault = slot.addressed;
  CHECK(host.exchange(clear)[1].state == servo::State::off);
  auto torque = host.command_of(0.5, 0);
  torque.slots[0].mode = servo::Mode::torque;
  replies = host.exchange(torque);
  CHECK(replies[0].fault == static_cast<std::uint8_t>(servo::Fault::unsupported_mode));
  CHECK(replies[1].state == servo::State::ready);
}

TEST_CASE("a wild command is a following error, and the joint coasts to rest") {
  Host host(small_servo());
  host.exchange(host.command_of(0.5, 0));
  host.exchange(host.command_of(127, 127));
  const auto replies = host.exchange(host.command_of(-127, 0));
  CHECK(replies[0].fault == static_cast<std::uint8_t>(servo::Fault::following_error));
  host.run(20s);
  CHECK(host.simulation.velocity(0) == 0);
  CHECK(std::abs(host.simulation.position(0) - 0.5) < 1);
}
