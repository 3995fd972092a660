// A virtual bus with simulated CiA 402 drives, for tests of both sides.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/drives/cia402/cia402_drive.hpp"
#include "takt/drives/cia402/cia402_hardware.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/drive_fault.hpp"
#include "takt/sim/virtual_can_bus.hpp"

namespace takt::test {

struct Cia402World {
  explicit Cia402World(std::initializer_list<std::uint8_t> nodes, double counts_per_radian = 10'000) {
    robot.period = Duration(1'000'000);
    robot.buses.push_back({"can0", drives::find("cia402")});
    for (const std::uint8_t node : nodes) {
      robot::JointDescription joint;
      joint.name = "joint" + std::to_string(node);
      joint.board = node;
      joint.counts_per_radian = counts_per_radian;
      joint.limits.acceleration = 50;
      robot.joints.push_back(joint);
    }
    drives.reserve(robot.joints.size());
    for (const auto& joint : robot.joints) {
      drives.emplace_back(joint.board, drives::Cia402DriveOptions{}, Time{}, joint);
      ports.push_back(bus.connect({.transmit = 16, .receive = 0}));
    }
  }

  void advance(Time to) {
    for (;;) {
      Time due = Time::max();
      std::size_t sender = 0;
      for (std::size_t i = 0; i < drives.size(); ++i) {
        if (drives[i].next_send() >= due) continue;
        due = drives[i].next_send();
        sender = i;
      }
      if (const can::Frame* frame = bus.step(std::min(to, due))) {
        seen.push_back(*frame);
        for (auto& drive : drives) {
          if (drive.accepts(*frame)) drive.receive(*frame);
        }
      } else if (due <= to) {
        const can::Frame frame_to_send = drives[sender].take_frame();
        ports[sender].send({&frame_to_send, 1});
      } else {
        break;
      }
    }
    for (auto& drive : drives) drive.advance(to);
  }

  robot::RobotDescription robot;
  sim::VirtualCanBus bus;
  sim::VirtualCanBus::Port host = bus.connect();
  std::vector<drives::Cia402Drive> drives;
  std::vector<sim::VirtualCanBus::Port> ports;
  std::vector<can::Frame> seen;  ///< all frames on the bus
};

/// The same with its master, and a loop around both.
struct Cia402Robot {
  using Hardware = drives::Cia402Hardware<sim::VirtualCanBus::Port>;

  explicit Cia402Robot(std::initializer_list<std::uint8_t> nodes, double counts_per_radian = 10'000,
                       double rated_effort = 0, std::span<const drives::Cia402Home> homes = {})
      : world(nodes, counts_per_radian), feedback(nodes.size()), commands(nodes.size()) {
    for (auto& joint : world.robot.joints) joint.rated_effort = rated_effort;
    auto* const port = &world.host;
    hardware = std::move(*Hardware::create(world.robot, {&port, 1}, homes));
    for (auto& command : commands) command.want_power = true;
  }
  void cycle() {
    now += world.robot.period;
    world.advance(now);
    hardware->read(now, feedback);
    hardware->write(now, commands);
  }
  void run(Duration duration) {
    for (const Time end = now + duration; now < end;) cycle();
  }
  [[nodiscard]] bool all(DriveState state) const {
    return std::all_of(feedback.begin(), feedback.end(),
                       [&](const auto& joint) { return joint.drive == state; });
  }
  void start() {
    run(Duration(500'000'000));
    REQUIRE(all(DriveState::ready));
  }
  void clear() {
    for (auto& command : commands) command.clear_fault = true;
    cycle();
    for (auto& command : commands) command.clear_fault = false;
  }
  [[nodiscard]] std::string said(std::size_t joint) const {
    return robot::describe_fault(world.robot, joint, feedback[joint].fault);
  }

  Cia402World world;
  std::unique_ptr<Hardware> hardware;
  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
  Time now{};
};

}  // namespace takt::test
