// Drives that the test plays.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::test {

/// Drives without a bus: the test fills in the feedback, and reads the commands.
struct PlayedDrives final : robot::Hardware {
  explicit PlayedDrives(std::size_t joints) : feedback(joints), commands(joints) {}
  void read(Time, std::span<robot::JointFeedback> joints) noexcept override {
    std::ranges::copy(feedback, joints.begin());
  }
  void write(Time, std::span<const JointCommand> joints) noexcept override {
    std::ranges::copy(joints, commands.begin());
  }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return {}; }

  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
};

}  // namespace takt::test
