// How much faster than wall time the simulated robots run, in simulated seconds per wall second: buses, drives and joints of the
// two robots that ship, driven by a host that sends what a control loop sends. The loop itself is not in it. 200 is the least
// that the whole loop must reach.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "takt/can/hubo.hpp"
#include "takt/can/servo.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/sim/robot_simulation.hpp"

namespace {

using namespace takt;
namespace hubo = can::hubo;
namespace servo = can::servo;

robot::RobotDescription shipped(benchmark::State& state, const std::string& name) {
  auto robot = robot::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".json");
  if (!robot) state.SkipWithError("the robot's description cannot be read");
  return robot.value_or(robot::RobotDescription{});
}

/// Lets one period after the other pass; `send(cycle)` puts the host's frames on the buses. One iteration is one second.
template <class Send>
void run_seconds(benchmark::State& state, const robot::RobotDescription& robot,
                 sim::RobotSimulation& simulation, Send send) {
  std::array<can::Frame, 64> frames;
  const int cycles = static_cast<int>(Duration(1'000'000'000) / robot.period);
  int cycle = 0;
  for (auto _ : state) {
    for (int i = 0; i < cycles; ++i) {
      send(cycle++);
      simulation.advance(simulation.now() + robot.period);
      for (std::size_t bus = 0; bus < simulation.bus_count(); ++bus) {
        benchmark::DoNotOptimize(simulation.host(bus).receive(frames));
      }
    }
  }
  state.counters["times_wall_time"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  for (std::size_t bus = 0; bus < simulation.bus_count(); ++bus) {
    state.counters["load_" + std::to_string(bus)] = simulation.bus(bus).statistics().load();
  }
}

void mhubo(benchmark::State& state) {
  const robot::RobotDescription robot = shipped(state, "mhubo");
  auto simulation = sim::RobotSimulation::create(robot).value();
  std::vector<std::vector<std::uint8_t>> boards(robot.buses.size());
  for (const auto& joint : robot.joints) {
    if (joint.channel != 0) continue;
    boards[joint.bus].push_back(joint.board);
    for (const auto& command : {hubo::driver(joint.board, true), hubo::control(joint.board, true)}) {
      const can::Frame frame = hubo::encode(command).value();
      simulation.host(joint.bus).send({&frame, 1});
    }
  }
  run_seconds(state, robot, simulation, [&](int cycle) {
    std::array<can::Frame, 64> frames;
    for (std::size_t bus = 0; bus < boards.size(); ++bus) {
      std::size_t count = 0;
      for (const std::uint8_t board : boards[bus])
        frames[count++] = *hubo::encode(hubo::encoder_request(board));
      // To and fro by 2000 counts, a few percent of a radian.
      const std::int32_t counts = 10 * (cycle % 400 < 200 ? cycle % 200 : 200 - cycle % 200);
      for (const std::uint8_t board : boards[bus])
        frames[count++] = *hubo::encode(hubo::Reference{board, {counts, -counts}});
      const std::size_t polled = static_cast<std::size_t>(cycle) % boards[bus].size();
      frames[count++] = *hubo::encode(hubo::status_request(boards[bus][polled]));
      simulation.host(bus).send(std::span(frames).first(count));
    }
  });
}
BENCHMARK(mhubo)->Name("sim/mhubo_1s/takt")->Unit(benchmark::kMillisecond);

void arm6(benchmark::State& state) {
  const robot::RobotDescription robot = shipped(state, "arm6");
  auto simulation = sim::RobotSimulation::create(robot).value();
  run_seconds(state, robot, simulation, [&](int cycle) {
    servo::GroupCommand command;
    command.sequence = static_cast<std::uint8_t>(cycle);
    const int phase = cycle % 1000;
    for (std::size_t i = 0; i < robot.joints.size(); ++i) {
      const double offset = 1e-4 * (phase < 500 ? phase : 1000 - phase);
      command.slots[i] = {.addressed = true,
                          .enable = true,
                          .position = robot.joints[i].plant.start + offset,
                          .velocity = phase < 500 ? 0.1 : -0.1};
    }
    const can::Frame frame = *servo::encode(command);
    simulation.host(0).send({&frame, 1});
  });
}
BENCHMARK(arm6)->Name("sim/arm6_1s/takt")->Unit(benchmark::kMillisecond);

}  // namespace
