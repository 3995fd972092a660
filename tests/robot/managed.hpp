// A manager over drives and controllers that the test plays.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/played_drives.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/error.hpp"
#include "takt/robot/manager.hpp"

namespace takt::test {

inline robot::RobotDescription robot_of(std::vector<std::string> names) {
  robot::RobotDescription robot;
  robot.name = "managed";
  robot.period = std::chrono::milliseconds(1);
  for (std::string& name : names) {
    robot::JointDescription joint;
    joint.name = std::move(name);
    joint.limits = {-3, 3, 2, 10, 200, 100};
    joint.following_error = 0.2;
    robot.joints.push_back(std::move(joint));
  }
  return robot;
}

/// A controller that does what the test says, and counts its calls.
struct Probe : robot::Controller {
  static constexpr component::ComponentMetadata about{.type = "Probe",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "controller",
                                                      .description = "Does what the test says."};
  using Configure = std::function<SetupResult<void>(Probe&, robot::Resources&)>;

  Probe(std::string name, Configure what) : Controller(about, std::move(name)), configure(std::move(what)) {}

  /// Claims joints in one mode.
  static std::shared_ptr<Probe> of(std::string name, std::vector<std::string> joints,
                                   CommandMode mode = CommandMode::position,
                                   robot::ClaimKind kind = robot::ClaimKind::exclusive) {
    return std::make_shared<Probe>(
        std::move(name),
        [joints, mode, kind](Probe& probe, robot::Resources& resources) -> SetupResult<void> {
          for (const std::string& joint : joints) {
            auto claimed = resources.claim_joint(joint, mode, kind);
            if (!claimed) return tl::unexpected<SetupError>(claimed.error());
            probe.joints.push_back(*claimed);
          }
          return {};
        });
  }

  SetupResult<void> on_configure(robot::Resources& resources) override { return configure(*this, resources); }
  Status on_activate(const component::CycleTime&) noexcept override {
    ++activations;
    return activation;
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    ++executions;
    if (act) act(*this);
    if (fails_once.exchange(false)) return takt::fail(robot::Errc::device_lost);
    return execution;
  }
  void on_deactivate(const component::CycleTime&) noexcept override { ++deactivations; }
  bool works_in_stop() const noexcept override { return rides_on; }
  bool keeps_limits() const noexcept override { return trusted; }
  void on_lent(std::size_t) noexcept override { ++lent; }
  void on_returned(std::size_t) noexcept override { ++returned; }

  Configure configure;
  std::function<void(Probe&)> act;
  Status activation, execution;
  std::vector<robot::Joint*> joints;
  robot::StateHandle seen;
  robot::CommandHandle command;
  robot::InputHandle input;
  double value = 0;
  bool rides_on = false, trusted = false;
  std::atomic<bool> fails_once{false};  ///< set from another thread
  int activations = 0, executions = 0, deactivations = 0, lent = 0, returned = 0;
};

/// Drives that follow ideally, a period later, under a manager.
class Managed {
 public:
  explicit Managed(robot::RobotDescription description = robot_of({"a", "b", "c"}),
                   robot::ManagerOptions options = {})
      : robot(std::move(description)), drives(robot.joints.size()), manager(robot, std::move(options)) {
    if (!manager.add(device).has_value()) std::abort();
    for (auto& joint : drives.feedback) joint.heard = true;
  }
  ~Managed() {
    if (runs) manager.stop(manager.now());
  }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  /// One cycle. The first one makes this thread the manager's.
  void cycle(std::uint64_t missed = 0) {
    begin(missed);
    end();
  }
  void begin(std::uint64_t missed = 0) {
    if (!runs) {
      if (!manager.start(now)) std::abort();
      runs = true;
    }
    now += robot.period * static_cast<Duration::rep>(missed + 1);
    for (std::size_t i = 0; i < drives.feedback.size(); ++i) follow(drives.feedback[i], drives.commands[i]);
    manager.begin(now, robot.period, missed);
  }
  void end() {
    manager.control();
    manager.write();
    manager.publish();
  }
  void cycles(int count) {
    for (int i = 0; i < count; ++i) cycle();
  }
  void make_ready() {
    cycles(10);
    if (manager.supervisor().state() != robot::RobotState::ready) std::abort();
  }

  SetupResult<void> start(std::string name) {
    return manager.switch_controllers({.start = {std::move(name)}});
  }
  SetupResult<void> stop(std::string name) { return manager.switch_controllers({.stop = {std::move(name)}}); }
  robot::ControllerState state_of(const std::string& name) {
    for (const auto& status : manager.controllers()) {
      if (status.name == name) return status.state;
    }
    std::abort();
  }

  robot::RobotDescription robot;
  PlayedDrives drives;
  robot::DriveDevice device{"drives", drives};
  robot::Manager manager;
  Time now{};
  bool runs = false;

 private:
  void follow(robot::JointFeedback& joint, const JointCommand& command) const {
    joint.stamp = now;
    if (command.clear_fault) joint.fault = 0;
    const bool was_on = joint.drive == DriveState::ready;
    joint.drive = command.want_power ? DriveState::ready : DriveState::off;
    joint.mode = command.mode;
    if (!command.want_power) {
      if (was_on) joint.velocity = joint.effort = 0;
      return;
    }
    joint.velocity = command.velocity;
    joint.effort = command.effort;
    if (command.mode == CommandMode::position) joint.position = command.position;
    if (command.mode != CommandMode::position) joint.position += command.velocity * to_seconds(robot.period);
  }
};

}  // namespace takt::test
