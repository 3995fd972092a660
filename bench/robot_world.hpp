// A manager over drives that follow at once, with controllers that move all joints within their limits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/robot/error.hpp"
#include "takt/robot/manager.hpp"

namespace takt::bench {

inline robot::RobotDescription robot_of(std::size_t joints) {
  robot::RobotDescription robot;
  robot.period = std::chrono::milliseconds(1);
  for (std::size_t i = 0; i < joints; ++i) {
    robot::JointDescription& joint = robot.joints.emplace_back();
    joint.name = "j" + std::to_string(i);
    joint.limits = {-3, 3, 2, 10, 200, 100};
  }
  return robot;
}

/// Drives that follow at once.
struct Echo final : robot::Hardware {
  explicit Echo(std::size_t joints) : states(joints) {}
  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    for (robot::JointFeedback& state : states) {
      state.stamp = now;
      state.heard = true;
      state.drive = DriveState::ready;
    }
    std::ranges::copy(states, feedback.begin());
  }
  void write(Time, std::span<const JointCommand> commands) noexcept override {
    for (std::size_t i = 0; i < states.size(); ++i) states[i].position = commands[i].position;
  }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return {}; }
  std::vector<robot::JointFeedback> states;
};

/// Swings its joints by a motion that keeps their limits.
struct Swing final : robot::Controller {
  static constexpr component::ComponentMetadata about{.type = "Swing",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "bench",
                                                      .description = "Swings joints."};
  Swing(std::string name, std::size_t first_joint, std::size_t joint_count)
      : Controller(about, std::move(name)), first(first_joint), count(joint_count) {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto joint = resources.claim_joint("j" + std::to_string(first + i), CommandMode::position);
      if (!joint) return tl::unexpected<SetupError>(joint.error());
      joints.push_back(*joint);
    }
    return {};
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    if (fails) return fail(robot::Errc::device_lost);
    time += 1e-3;
    const double sine = std::sin(frequency * time);
    const double cosine = std::cos(frequency * time);
    wanted = {amplitude * (1 - cosine), amplitude * frequency * sine,
              amplitude * frequency * frequency * cosine};
    for (robot::Joint* joint : joints) joint->follow(wanted);
    return {};
  }
  static constexpr double frequency = 2;    // rad/s
  static constexpr double amplitude = 0.5;  // rad
  std::size_t first, count;
  std::vector<robot::Joint*> joints;
  MotionState wanted;
  double time = 0;
  bool fails = false;
};

/// The controllers share the joints evenly.
struct World {
  World(std::size_t joints, std::size_t controllers) : echo(joints), manager(robot_of(joints)) {
    good = manager.add(device).has_value();
    for (std::size_t i = 0; i < controllers; ++i) {
      const std::size_t share = joints / controllers;
      auto controller = std::make_shared<Swing>("c" + std::to_string(i), i * share, share);
      swings.push_back(controller.get());
      good = manager.load(controller).has_value() && good;
      all.start.push_back(controller->name());
    }
    good = manager.switch_controllers(all).has_value() && manager.start(Time{}).has_value() && good;
    // Until all joints have caught up with the motion.
    for (int i = 0; i < 1000; ++i) cycle();
    good = good && manager.supervisor().state() == robot::RobotState::ready;
    for (const Swing* swing : swings) {
      for (const robot::Joint* joint : swing->joints) good = good && joint->reference() == swing->wanted;
    }
  }
  ~World() { manager.stop(Time{}); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  void cycle() noexcept {
    now += std::chrono::milliseconds(1);
    manager.begin(now, std::chrono::milliseconds(1), 0);
    manager.control();
    manager.write();
    manager.publish();
  }
  Echo echo;
  robot::DriveDevice device{"drives", echo};
  robot::Manager manager;
  std::vector<Swing*> swings;
  robot::SwitchRequest all;
  Time now{};
  bool good = false;
};

}  // namespace takt::bench
