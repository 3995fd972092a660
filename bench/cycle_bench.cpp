// The cost of one cycle of the loop: decode the drives' frames, sample the trajectories, supervise the
// drives, encode the references, publish the state. It excludes the simulation: recorded frames of a
// simulated run are played back.
#include <benchmark/benchmark.h>

#include "cycle_playback.hpp"

namespace {

void cycle(benchmark::State& state, const char* robot) {
  takt::bench::CyclePlayback playback(robot);
  if (!playback.ready()) {
    state.SkipWithError("the robot did not become ready");
    return;
  }
  for (auto _ : state) playback.cycle();
  if (!playback.ready()) state.SkipWithError("the robot did not stay ready");
}

BENCHMARK_CAPTURE(cycle, mhubo, "mhubo")->Name("cycle/mhubo_17_joints/takt");
BENCHMARK_CAPTURE(cycle, arm6, "arm6")->Name("cycle/arm6_6_joints/takt");

}  // namespace
