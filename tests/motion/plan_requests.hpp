// Requests for the planner in one line each, and the check that a plan keeps the limits of its robot. The
// tests of the planner share them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/motion/planner.hpp"

namespace takt::test::plan_requests {

using namespace takt::motion;

inline MoveMessage move(std::vector<std::string> names, std::vector<double> positions,
                        std::optional<double> duration = {}) {
  MoveMessage message;
  message.joints.names = std::move(names);
  message.positions = std::move(positions);
  message.duration = duration;
  return message;
}

inline TrajectoryMessage trajectory(std::vector<std::string> names, std::vector<PointMessage> points) {
  TrajectoryMessage message;
  message.joints.names = std::move(names);
  message.points = std::move(points);
  return message;
}

/// The planner's promise: the plan is within the robot's limits everywhere. It is sampled much more finely
/// than by a loop.
inline void check_within_limits(const Request& request, const takt::robot::RobotDescription& robot) {
  const auto& motion = request.trajectory;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) {
    const takt::JointLimits& limits = robot.joints[joint].limits;
    constexpr int samples = 5000;
    double worst = 0;
    for (int i = 0; i <= samples; ++i) {
      const MotionState state = motion.at(motion.duration() * i / samples, column);
      worst = std::max({worst, std::abs(state.velocity) / limits.velocity,
                        std::abs(state.acceleration) / limits.acceleration,
                        1 + state.position - limits.position_max, 1 + limits.position_min - state.position});
    }
    CHECK(worst <= 1 + 1e-6);
    ++column;
  });
  CHECK(column == motion.joints());
  CHECK(request.limits.size() == column);
  CHECK(request.lead.joints() == column);
}

}  // namespace takt::test::plan_requests
