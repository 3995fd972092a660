// A host that talks to a simulated robot frame by frame, robots for it, and the quintic that joints follow.
// The tests of simulated drives share them.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/source_dir.hpp"
#include "takt/can/hubo.hpp"
#include "takt/can/servo.hpp"
#include "takt/drives/registry.hpp"
#include "takt/sim/robot_simulation.hpp"

namespace takt::test::simulated_host {

namespace hubo = can::hubo;
namespace servo = can::servo;
using can::Frame;
using sim::JointFault;
using sim::RobotSimulation;
using namespace std::chrono_literals;

inline constexpr double pi = 3.14159265358979323846;
inline constexpr auto dialect = hubo::Dialect::podo;

inline robot::RobotDescription shipped(const std::string& name) {
  auto robot = drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".json");
  REQUIRE(robot.has_value());
  return *robot;
}

/// A robot for each protocol.
inline robot::RobotDescription robot_on(const std::string& protocol) {
  if (protocol == "servo") return shipped("arm6");
  if (protocol == "mit") return shipped("mit_arm3");
  if (protocol == "odrive") return shipped("odrive_arm");
  if (protocol == "hubo") return shipped("mhubo");
  robot::RobotDescription robot = shipped("arm6");
  robot.joints.resize(2);
  robot.groups.clear();
  robot.buses = {{"can0", drives::find(protocol)}};
  return robot;
}

/// Two joints on one board, and one on a board of its own.
inline robot::RobotDescription small_hubo() {
  robot::RobotDescription robot;
  robot.buses.push_back({"bus", drives::find("hubo")});
  for (int i = 0; i < 3; ++i) {
    robot::JointDescription joint;
    joint.name = "joint" + std::to_string(i);
    joint.counts_per_radian = i == 1 ? -63662 : 63662;
    joint.board = i < 2 ? 15 : 12;
    joint.channel = i == 1 ? 1 : 0;
    joint.plant.start = 0.1 * (i + 1);
    robot.joints.push_back(joint);
  }
  return robot;
}

/// A host that talks to a simulated robot frame by frame, one bus at a time.
struct Host {
  explicit Host(const robot::RobotDescription& description)
      : robot(description), simulation(RobotSimulation::create(description).value()) {}

  void send(const Result<Frame>& frame, std::size_t bus = 0) {
    REQUIRE(frame.has_value());
    auto port = simulation.host(bus);
    REQUIRE(port.send({&*frame, 1}) == 1);
  }
  void run(Duration duration) { simulation.advance(simulation.now() + duration); }
  std::vector<Frame> received(std::size_t bus = 0) {
    auto port = simulation.host(bus);
    std::vector<Frame> frames(512);
    frames.resize(port.receive(frames));
    return frames;
  }

  // Hubo
  void reference(std::uint8_t board, std::array<std::int32_t, 2> counts, std::size_t bus = 0) {
    send(hubo::encode(hubo::Reference{board, counts}), bus);
  }
  void switch_on(std::uint8_t board, std::size_t bus = 0) {
    send(hubo::encode(hubo::driver(board, true)), bus);
    send(hubo::encode(hubo::control(board, true)), bus);
  }
  hubo::EncoderReply encoder(std::uint8_t board) {
    received();
    send(hubo::encode(hubo::encoder_request(board)));
    run(1ms);
    const auto frames = received();
    REQUIRE(frames.size() == 1);
    return hubo::decode_encoder(frames[0]).value();
  }
  hubo::StatusReply status(std::uint8_t board) {
    received();
    send(hubo::encode(hubo::status_request(board)));
    run(1ms);
    const auto frames = received();
    REQUIRE(frames.size() == 1);
    return hubo::decode_status(frames[0], dialect).value();
  }

  // Servo
  servo::GroupCommand command_of(double position, double velocity, bool enable = true) {
    servo::GroupCommand command;
    command.sequence = ++sequence;
    for (std::size_t i = 0; i < robot.joints.size(); ++i) {
      command.slots[i] = {.addressed = true, .enable = enable, .position = position, .velocity = velocity};
    }
    return command;
  }
  std::vector<servo::DriveReply> exchange(const servo::GroupCommand& command) {
    send(servo::encode(command));
    run(1ms);
    std::vector<servo::DriveReply> replies;
    for (const Frame& frame : received()) replies.push_back(servo::decode_reply(frame).value());
    return replies;
  }

  robot::RobotDescription robot;
  RobotSimulation simulation;
  std::uint8_t sequence = 0;
};

inline double quintic(double s) { return s * s * s * (10 + s * (-15 + s * 6)); }

}  // namespace takt::test::simulated_host
