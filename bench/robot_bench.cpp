// The manager: cycles of many joints, within their limits, and controllers against the controllers' own work,
// and one pair of interfaces against plain doubles.
#include <benchmark/benchmark.h>

#include <chrono>
#include <vector>

#include "robot_world.hpp"

namespace {

using namespace takt;
using namespace takt::robot;
using takt::bench::Swing;
using takt::bench::World;

void manager_cycle(benchmark::State& state, std::size_t joints, std::size_t controllers) {
  World world(joints, controllers);
  if (!world.good)
    state.SkipWithError("the manager was not set up, or limits a motion that keeps the limits");
  for (auto _ : state) world.cycle();
}

/// The floor: the drives and the controllers alone.
void own_work(benchmark::State& state, std::size_t joints, std::size_t controllers) {
  World world(joints, controllers);
  std::vector<JointFeedback> feedback(world.echo.states.size());
  const std::vector<JointCommand> commands(world.echo.states.size());
  const component::CycleTime time;
  for (auto _ : state) {
    world.now += std::chrono::milliseconds(1);
    world.echo.read(world.now, feedback);
    bool works = true;
    for (Swing* swing : world.swings) works = swing->on_execute(time).has_value() && works;
    world.echo.write(world.now, commands);
    benchmark::DoNotOptimize(works);
  }
}

/// One state read and one command written by their handles.
void interface_pair(benchmark::State& state) {
  double value = 0, target = 0;
  bool driven = false, refused = false;
  CommandGate gate{.open = true, .refused = &refused};
  StateHandle in(&value);
  CommandHandle out(&target, &driven, gate);
  benchmark::DoNotOptimize(in);
  benchmark::DoNotOptimize(out);
  for (auto _ : state) {
    out.set(in.get() + 1);
    benchmark::ClobberMemory();
  }
}

void plain_pair(benchmark::State& state) {
  double value = 0, target = 0;
  const double* in = &value;
  double* out = &target;
  benchmark::DoNotOptimize(in);
  benchmark::DoNotOptimize(out);
  for (auto _ : state) {
    *out = *in + 1;
    benchmark::ClobberMemory();
  }
}

BENCHMARK_CAPTURE(manager_cycle, small, 20, 10)->Name("robot/20_joints_10_controllers/takt");
BENCHMARK_CAPTURE(own_work, small, 20, 10)->Name("robot/20_joints_10_controllers/floor");
BENCHMARK_CAPTURE(manager_cycle, large, 1000, 100)->Name("robot/1000_joints_100_controllers/takt");
BENCHMARK_CAPTURE(own_work, large, 1000, 100)->Name("robot/1000_joints_100_controllers/floor");
BENCHMARK(interface_pair)->Name("robot/interface_pair/takt");
BENCHMARK(plain_pair)->Name("robot/interface_pair/floor");

}  // namespace
