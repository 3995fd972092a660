// The cost of a PID step with a peer, called as its own controllers do, with the error and the period. The
// peer's sources are optional (see control_bench.cmake); without them, this file is empty.
#include <benchmark/benchmark.h>

#ifdef TAKT_BENCH_CONTROL_TOOLBOX
#include <control_toolbox/pid.hpp>
#include <string>
#include <vector>

#include "control_problem.hpp"

namespace {

using namespace takt::bench;

control_toolbox::Pid peer(std::size_t i) {
  const auto g = gains(i);
  control_toolbox::AntiWindupStrategy anti_windup;
  anti_windup.set_type("back_calculation");
  anti_windup.i_min = g.integral_min;
  anti_windup.i_max = g.integral_max;
  return {g.proportional, g.integral, g.derivative, g.output_max, g.output_min, anti_windup};
}

void many(benchmark::State& state, std::size_t size) {
  std::vector<control_toolbox::Pid> pids;
  for (std::size_t i = 0; i < size; ++i) pids.push_back(peer(i));
  step_many(state, size, [&](Signals& signals) {
    for (std::size_t i = 0; i < size; ++i)
      signals.outputs[i] = pids[i].compute_command(signals.setpoints[i] - signals.measured[i], period);
  });
}

const bool registered = [] {
  benchmark::RegisterBenchmark("control/pid/1/control_toolbox", many, 1);
  for (const std::size_t size : {7UL, 20UL, 64UL}) {
    const std::string name = "control/pid_bank/" + std::to_string(size) + "/control_toolbox";
    benchmark::RegisterBenchmark(name.c_str(), many, size);
  }
  return true;
}();

}  // namespace
#endif
