// Problems of jerk-limited motion for seven joints with the limits of usual arms, for benchmarks and
// instruction counts.
#pragma once

#include <array>
#include <random>
#include <vector>

#include "takt/trajectory/point_to_point.hpp"

namespace takt::bench {

enum class Ends { rest, moving_start, moving };

struct ArmProblem {
  static constexpr std::size_t joints = 7;
  std::array<MotionState, joints> start, target;
  std::array<trajectory::DirectionalLimits, joints> limits;
};

/// The same problems on every run, all of them solvable.
inline std::vector<ArmProblem> arm_problems(Ends ends, std::size_t count = 256) {
  std::mt19937_64 random(1);
  const auto uniform = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<ArmProblem> problems(count);
  for (ArmProblem& problem : problems) {
    for (std::size_t j = 0; j < ArmProblem::joints;) {
      const JointLimits limits{-3, 3, uniform(0.8, 2.5), uniform(2, 6), uniform(10, 60), 1};
      const auto state = [&](bool moves) {
        const double v = moves ? uniform(-limits.velocity, limits.velocity) : 0;
        const double a = moves ? uniform(-limits.acceleration, limits.acceleration) : 0;
        return MotionState{uniform(-2, 2), v, a};
      };
      problem.limits[j] = trajectory::both_ways(limits);
      problem.start[j] = state(ends != Ends::rest);
      problem.target[j] = state(ends == Ends::moving);
      if (trajectory::Transfer::between(problem.start[j], problem.target[j], problem.limits[j])) ++j;
    }
  }
  return problems;
}

}  // namespace takt::bench
