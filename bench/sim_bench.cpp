// The speed of the simulated robots relative to wall time. One iteration is one simulated second of buses,
// drives and joints, with their masters. The manager is not included; with it, the target is at least
// 200 simulated seconds per second.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/registry.hpp"
#include "takt/drives/servo/servo_hardware.hpp"
#include "takt/sim/robot_simulation.hpp"

namespace {

using namespace takt;
using Port = sim::VirtualCanBus::Port;

template <class Hardware>
void run_seconds(benchmark::State& state, const char* name) {
  const auto loaded =
      drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".json");
  if (!loaded) return state.SkipWithError("the robot's description cannot be read");
  const robot::RobotDescription& robot = *loaded;
  auto simulation = sim::RobotSimulation::create(robot).value();
  std::vector<Port> ports;
  for (std::size_t bus = 0; bus < robot.buses.size(); ++bus) ports.push_back(simulation.host(bus));
  std::vector<Port*> buses;
  for (Port& port : ports) buses.push_back(&port);
  auto hardware = Hardware::create(robot, buses).value();
  std::vector<robot::JointFeedback> feedback(robot.joints.size());
  std::vector<JointCommand> commands(robot.joints.size());

  Time now{};
  for (auto _ : state) {
    for (const Time end = now + Duration(1'000'000'000); now < end;) {
      now += robot.period;
      simulation.advance(now);
      hardware->read(now, feedback);
      // Half a second forward, half a second back, at 0.1 rad/s.
      const double phase = to_seconds(now.time_since_epoch() % Duration(1'000'000'000));
      for (std::size_t i = 0; i < commands.size(); ++i) {
        commands[i].position = robot.joints[i].plant.start + 0.1 * (phase < 0.5 ? phase : 1 - phase);
        commands[i].velocity = phase < 0.5 ? 0.1 : -0.1;
        commands[i].want_power = true;
      }
      hardware->write(now, commands);
    }
  }
  for (const auto& joint : feedback) {
    if (joint.drive != DriveState::ready) state.SkipWithError("a drive is not ready");
  }
  state.counters["times_wall_time"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  for (std::size_t bus = 0; bus < simulation.bus_count(); ++bus) {
    state.counters["load_" + std::to_string(bus)] = simulation.bus(bus).statistics().load();
  }
}

void mhubo(benchmark::State& state) { run_seconds<drives::HuboHardware<Port>>(state, "mhubo"); }
BENCHMARK(mhubo)->Name("sim/mhubo_1s/takt")->Unit(benchmark::kMillisecond);

void arm6(benchmark::State& state) { run_seconds<drives::ServoHardware<Port>>(state, "arm6"); }
BENCHMARK(arm6)->Name("sim/arm6_1s/takt")->Unit(benchmark::kMillisecond);

}  // namespace
