// The cost of planning jerk-limited motion of seven joints, and of sampling it. Each call uses another of
// some hundred problems.
#include <benchmark/benchmark.h>

#include <array>

#include "point_to_point_problems.hpp"
#include "takt/trajectory/point_to_point.hpp"

namespace {

using namespace takt;
using namespace takt::trajectory;
using bench::ArmProblem;
using bench::Ends;

void plan(benchmark::State& state, Ends ends, Synchronisation synchronisation) {
  const auto problems = bench::arm_problems(ends);
  PointToPoint<ArmProblem::joints> motion;
  std::size_t next = 0;
  for (auto _ : state) {
    const ArmProblem& problem = problems[next++ % problems.size()];
    const Status status = motion.plan(problem.start, problem.target, problem.limits, synchronisation);
    if (!status) return state.SkipWithError("every problem should be solvable");
    benchmark::ClobberMemory();
  }
}

void sample(benchmark::State& state) {
  const ArmProblem problem = bench::arm_problems(Ends::moving_start).front();
  PointToPoint<ArmProblem::joints> motion;
  if (!motion.plan(problem.start, problem.target, problem.limits)) return state.SkipWithError("not solvable");
  std::array<double, ArmProblem::joints> p{}, v{}, a{};
  double t = 0;
  for (auto _ : state) {
    t = t < motion.duration() ? t + 1e-3 : 0;
    motion.sample(t, p, v, a);
    benchmark::DoNotOptimize(p.data());
    benchmark::ClobberMemory();
  }
}

BENCHMARK_CAPTURE(plan, rest, Ends::rest, Synchronisation::time)
    ->Name("trajectory/point_to_point_rest/7/takt");
BENCHMARK_CAPTURE(plan, phase, Ends::rest, Synchronisation::phase)
    ->Name("trajectory/point_to_point_phase/7/takt");
BENCHMARK_CAPTURE(plan, moving, Ends::moving_start, Synchronisation::time)
    ->Name("trajectory/point_to_point_moving/7/takt");
BENCHMARK_CAPTURE(plan, anything, Ends::moving, Synchronisation::time)
    ->Name("trajectory/point_to_point_anything/7/takt");
BENCHMARK(sample)->Name("trajectory/point_to_point_sample/7/takt");

}  // namespace
