// The problem that the PID benchmarks share with those of peers: the gains, and the loops around the measured
// code.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

#include "takt/control/pid.hpp"

namespace takt::bench {

inline constexpr double period = 1e-3;
/// The most common form of ROS 2's controller, to which it is compared.
inline constexpr control::PidForm form = control::conventions::ros2_back_calculation;

inline control::PidGains gains(std::size_t i) {
  control::PidGains g;
  g.proportional = 10 + 0.1 * static_cast<double>(i);
  g.integral = 3;
  g.derivative = 0.5;
  g.derivative_weight = 1;
  g.integral_min = -5;
  g.integral_max = 5;
  g.output_min = -20;
  g.output_max = 20;
  return g;
}

struct Signals {
  std::vector<double> setpoints, measured, feed_forward, outputs;
  explicit Signals(std::size_t size)
      : setpoints(size, 1), measured(size, 0.5), feed_forward(size), outputs(size) {}
};

/// Calls step(signals) repeatedly.
template <class Step>
void step_many(benchmark::State& state, std::size_t size, Step step) {
  Signals signals(size);
  for (auto _ : state) {
    step(signals);
    benchmark::DoNotOptimize(signals.outputs.data());
    benchmark::ClobberMemory();
  }
}

}  // namespace takt::bench
