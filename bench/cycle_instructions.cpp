// The whole cycle without its simulation, as in cycle_bench.cpp.
#include "cycle_playback.hpp"
#include "instructions.hpp"

namespace takt::bench {
namespace {

const Kernel mhubo("cycle/mhubo_17_joints", [](Counter& count) {
  CyclePlayback playback("mhubo");
  count([&] { playback.cycle(); });
});

const Kernel arm6("cycle/arm6_6_joints", [](Counter& count) {
  CyclePlayback playback("arm6");
  count([&] { playback.cycle(); });
});

}  // namespace
}  // namespace takt::bench
