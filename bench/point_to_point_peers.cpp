// Ruckig on the problems of point_to_point_bench.cpp: its planning time, and whether its motions are ever
// shorter. It is compiled if its sources are available (trajectory_bench.cmake).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <ruckig/ruckig.hpp>

#include "point_to_point_problems.hpp"
#include "takt/trajectory/point_to_point.hpp"

namespace {

using namespace takt;
using namespace takt::trajectory;
using bench::ArmProblem;
using bench::Ends;

using Input = ruckig::InputParameter<ArmProblem::joints>;

Input input_of(const ArmProblem& problem) {
  Input input;
  for (std::size_t j = 0; j < ArmProblem::joints; ++j) {
    input.current_position[j] = problem.start[j].position;
    input.current_velocity[j] = problem.start[j].velocity;
    input.current_acceleration[j] = problem.start[j].acceleration;
    input.target_position[j] = problem.target[j].position;
    input.target_velocity[j] = problem.target[j].velocity;
    input.target_acceleration[j] = problem.target[j].acceleration;
    input.max_velocity[j] = problem.limits[j].velocity_max;
    input.max_acceleration[j] = problem.limits[j].acceleration_max;
    input.max_jerk[j] = problem.limits[j].jerk;
  }
  return input;
}

void plan_ruckig(benchmark::State& state, Ends ends) {
  std::vector<Input> inputs;
  for (const ArmProblem& problem : bench::arm_problems(ends)) inputs.push_back(input_of(problem));
  ruckig::Ruckig<ArmProblem::joints> planner;
  ruckig::Trajectory<ArmProblem::joints> motion;
  std::size_t next = 0;
  std::size_t unsolved = 0;
  for (auto _ : state) {
    if (planner.calculate(inputs[next++ % inputs.size()], motion) < 0) ++unsolved;
    benchmark::ClobberMemory();
  }
  state.counters["unsolved"] = static_cast<double>(unsolved);
}

/// How often our motion takes longer than ruckig's beyond rounding, and the largest difference.
void compare_durations(benchmark::State& state, Ends ends) {
  constexpr std::size_t problems = 40000;  // seven joints each: 280 000 single-joint problems
  constexpr double rounding = 1e-9;        // share of a duration; both solve polynomials numerically
  const auto all = bench::arm_problems(ends, problems);
  PointToPoint<ArmProblem::joints> ours;
  ruckig::Ruckig<ArmProblem::joints> planner;
  ruckig::Trajectory<ArmProblem::joints> theirs;
  std::size_t slower = 0;
  std::size_t quicker = 0;
  std::size_t unsolved = 0;
  double worst = 1;
  for (auto _ : state) {
    for (const ArmProblem& problem : all) {
      if (!ours.plan(problem.start, problem.target, problem.limits))
        return state.SkipWithError("every problem should be solvable");
      if (planner.calculate(input_of(problem), theirs) < 0) {
        ++unsolved;
        continue;
      }
      const double ratio = ours.duration() / theirs.get_duration();
      worst = std::max(worst, ratio);
      if (ratio > 1 + rounding) ++slower;
      if (ratio < 1 - rounding) ++quicker;
    }
  }
  state.counters["problems"] = static_cast<double>(problems);
  state.counters["slower"] = static_cast<double>(slower);
  state.counters["quicker"] = static_cast<double>(quicker);
  state.counters["unsolved_by_ruckig"] = static_cast<double>(unsolved);
  state.counters["worst_ratio"] = worst;
}

BENCHMARK_CAPTURE(plan_ruckig, rest, Ends::rest)->Name("trajectory/point_to_point_rest/7/ruckig");
BENCHMARK_CAPTURE(plan_ruckig, moving, Ends::moving_start)->Name("trajectory/point_to_point_moving/7/ruckig");
BENCHMARK_CAPTURE(plan_ruckig, anything, Ends::moving)->Name("trajectory/point_to_point_anything/7/ruckig");
BENCHMARK_CAPTURE(compare_durations, rest, Ends::rest)
    ->Name("trajectory/durations_rest/7/takt")
    ->Iterations(1);
BENCHMARK_CAPTURE(compare_durations, moving, Ends::moving_start)
    ->Name("trajectory/durations_moving/7/takt")
    ->Iterations(1);
BENCHMARK_CAPTURE(compare_durations, anything, Ends::moving)
    ->Name("trajectory/durations_anything/7/takt")
    ->Iterations(1);

}  // namespace
