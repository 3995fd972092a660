// A manager with one controller after the other, over joints that the test integrates. Virtual time, one
// thread.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/rt_guard.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/port.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/manager.hpp"

namespace takt::test {

inline constexpr Duration rig_period = std::chrono::milliseconds(1);

/// A robot with these joints and generous limits, at 1 kHz.
inline robot::RobotDescription rig_robot(const std::vector<std::string>& joints) {
  robot::RobotDescription robot;
  robot.name = "rig";
  robot.period = rig_period;
  for (const std::string& name : joints) {
    robot::JointDescription joint;
    joint.name = name;
    joint.limits = {-10, 10, 20, 200, 20000, 50};
    joint.following_error = 5;
    robot.joints.push_back(joint);
  }
  return robot;
}

/// Joints as rigid inertias. A position or velocity is obeyed at once, an effort accelerates.
struct InertiaDrives final : robot::Hardware {
  explicit InertiaDrives(std::size_t joints) : feedback(joints), commands(joints) {
    for (robot::JointFeedback& joint : feedback) joint.heard = joint.has_effort = true;
  }
  void read(Time now, std::span<robot::JointFeedback> joints) noexcept override {
    for (std::size_t i = 0; i < feedback.size(); ++i) advance(feedback[i], commands[i], now);
    std::ranges::copy(feedback, joints.begin());
  }
  void write(Time, std::span<const JointCommand> joints) noexcept override {
    std::ranges::copy(joints, commands.begin());
  }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return {}; }

  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
  double inertia = 0.1;  ///< kg m^2
  double friction = 0;   ///< N m s/rad
  double load = 0;       ///< N m on each joint, as gravity

 private:
  void advance(robot::JointFeedback& joint, const JointCommand& command, Time now) const noexcept {
    const double h = to_seconds(rig_period);
    joint.stamp = now;
    joint.drive = command.want_power ? DriveState::ready : DriveState::off;
    joint.mode = command.mode;
    if (!command.want_power) return;
    const double before = joint.position;
    switch (command.mode) {
      case CommandMode::position:
        joint.position = command.position;
        joint.velocity = (joint.position - before) / h;
        break;
      case CommandMode::velocity:
        joint.velocity = command.velocity;
        joint.position += h * joint.velocity;
        break;
      case CommandMode::effort:
        joint.effort = command.effort;
        joint.velocity += h * (command.effort + load - friction * joint.velocity) / inertia;
        joint.position += h * joint.velocity;
        break;
    }
  }
};

/// The sender of a port.
template <class T>
struct Sender final : component::Component {
  static constexpr component::ComponentMetadata about{.type = "Sender",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "test",
                                                      .description = "Writes what a test says."};
  Sender() : Component(about, "sender") {}
  component::OutPort<T> port{*this, "out"};
};

/// The receiver of a port.
template <class T>
struct Receiver final : component::Component {
  Receiver() : Component(Sender<T>::about, "receiver") {}
  component::InPort<T> port{*this, "in"};
};

/// The manager and its drives. Set-up is possible between run()s.
class ControllerRig {
 public:
  explicit ControllerRig(robot::RobotDescription robot) : drives(robot.joints.size()), manager(robot) {
    REQUIRE(manager.add(device_));
  }
  ControllerRig(const ControllerRig&) = delete;
  ControllerRig& operator=(const ControllerRig&) = delete;

  /// Sets parameters, and loads the controller. Returns the error's text, or "".
  std::string load(std::shared_ptr<robot::Controller> controller,
                   const std::vector<component::Assignment>& parameters = {},
                   robot::ControllerConfig config = {}) {
    if (const auto set = controller->parameters().set(parameters, "test"); !set) return set.error().message;
    const auto loaded = manager.load(std::move(controller), std::move(config));
    return loaded ? "" : loaded.error().message;
  }
  /// Starts and stops controllers. Returns the error's text, or "".
  std::string change(const std::vector<std::string>& start, const std::vector<std::string>& stop = {}) {
    const auto done = manager.switch_controllers({.start = start, .stop = stop});
    return done ? "" : done.error().message;
  }
  /// Runs cycles under the guard of the real-time path, and `each(k)` before each.
  template <class Each>
  void run(int cycles, Each&& each) {
    REQUIRE(manager.start(now));
    RtGuard guard;
    guard.disarm();
    for (int k = 0; k < cycles; ++k) {
      each(k);
      now += rig_period;
      guard.arm();
      manager.cycle({.due = now, .woke = now});
      guard.disarm();
    }
    manager.stop(now);
    CHECK(guard.report() == "");
  }
  void run(int cycles) {
    run(cycles, [](int) {});
  }
  /// Runs until the robot is ready.
  void make_ready() {
    run(20);
    REQUIRE(manager.supervisor().state() == robot::RobotState::ready);
  }
  /// The present value of a state.
  double state(std::string_view name) {
    for (const robot::InterfaceInfo& info : manager.interfaces()) {
      if (info.name == name && !info.is_command) return info.value;
    }
    FAIL("no state " << name);
    return 0;
  }
  /// The state of a controller, and why it failed.
  robot::ControllerStatus status(std::string_view name) {
    for (robot::ControllerStatus& row : manager.controllers()) {
      if (row.name == name) return std::move(row);
    }
    FAIL("no controller " << name);
    return {};
  }

  InertiaDrives drives;
  Time now{};

 private:
  robot::DriveDevice device_{"drives", drives};

 public:
  robot::Manager manager;
};

}  // namespace takt::test
