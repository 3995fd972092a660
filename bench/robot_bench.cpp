// The manager: cycles of many joints and controllers against the controllers' own work, and one pair of
// interfaces against plain doubles.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/robot/manager.hpp"

namespace {

using namespace takt;
using namespace takt::robot;

constexpr component::ComponentMetadata about{
    .type = "Bench", .version = "1.0.0", .vendor = "takt", .category = "bench", .description = "Measures."};

RobotDescription robot_of(std::size_t joints) {
  RobotDescription robot;
  robot.period = std::chrono::milliseconds(1);
  for (std::size_t i = 0; i < joints; ++i) {
    JointDescription& joint = robot.joints.emplace_back();
    joint.name = "j" + std::to_string(i);
    joint.limits = {-3, 3, 2, 10, 200, 100};
  }
  return robot;
}

/// Drives that follow at once.
struct Echo final : Hardware {
  explicit Echo(std::size_t joints) : states(joints) {}
  void read(Time now, std::span<JointFeedback> feedback) noexcept override {
    for (JointFeedback& state : states) {
      state.stamp = now;
      state.heard = true;
      state.drive = DriveState::ready;
    }
    std::ranges::copy(states, feedback.begin());
  }
  void write(Time, std::span<const JointCommand> commands) noexcept override {
    for (std::size_t i = 0; i < states.size(); ++i) states[i].position = commands[i].position;
  }
  [[nodiscard]] HardwareCounters counters() const noexcept override { return {}; }
  std::vector<JointFeedback> states;
};

/// Moves its joints by their measured positions.
struct Follower final : Controller {
  Follower(std::string name, std::size_t first_joint, std::size_t joint_count)
      : Controller(about, std::move(name)), first(first_joint), count(joint_count) {}
  SetupResult<void> on_configure(Resources& resources) override {
    for (std::size_t i = 0; i < count; ++i) {
      auto joint = resources.claim_joint("j" + std::to_string(first + i), CommandMode::position);
      if (!joint) return tl::unexpected<SetupError>(joint.error());
      joints.push_back(*joint);
    }
    return {};
  }
  [[nodiscard]] bool keeps_limits() const noexcept override { return true; }
  Status on_execute(const component::CycleTime&) noexcept override {
    for (Joint* joint : joints) joint->follow({0.999 * joint->feedback().position + 0.001, 0, 0});
    return {};
  }
  std::size_t first, count;
  std::vector<Joint*> joints;
};

/// A manager with controllers that share the joints evenly.
struct World {
  World(std::size_t joints, std::size_t controllers) : echo(joints), manager(robot_of(joints)) {
    SwitchRequest all;
    good = manager.add(device).has_value();
    for (std::size_t i = 0; i < controllers; ++i) {
      const std::size_t share = joints / controllers;
      auto controller = std::make_shared<Follower>("c" + std::to_string(i), i * share, share);
      followers.push_back(controller.get());
      good = manager.load(controller).has_value() && good;
      all.start.push_back(controller->name());
    }
    good = manager.switch_controllers(all).has_value() && manager.start(Time{}).has_value() && good;
    for (int i = 0; i < 10; ++i) cycle();
    good = good && manager.supervisor().state() == RobotState::ready;
  }
  ~World() { manager.stop(Time{}); }
  void cycle() noexcept {
    now += std::chrono::milliseconds(1);
    manager.begin(now, std::chrono::milliseconds(1), 0);
    manager.control();
    manager.write();
    manager.publish();
  }
  Echo echo;
  DriveDevice device{"drives", echo};
  Manager manager;
  std::vector<Follower*> followers;
  Time now{};
  bool good = false;
};

void manager_cycle(benchmark::State& state) {
  World world(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  if (!world.good) state.SkipWithError("the manager was not set up");
  for (auto _ : state) world.cycle();
}

/// The floor: the drives and the controllers alone.
void own_work(benchmark::State& state) {
  World world(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  std::vector<JointFeedback> feedback(world.echo.states.size());
  const std::vector<JointCommand> commands(world.echo.states.size());
  const component::CycleTime time;
  for (auto _ : state) {
    world.now += std::chrono::milliseconds(1);
    world.echo.read(world.now, feedback);
    bool works = true;
    for (Follower* follower : world.followers) works = follower->on_execute(time).has_value() && works;
    world.echo.write(world.now, commands);
    benchmark::DoNotOptimize(works);
  }
}

/// One state read and one command written by their handles.
void interface_pair(benchmark::State& state) {
  double value = 0, target = 0;
  bool driven = false;
  StateHandle in(&value);
  CommandHandle out(&target, &driven);
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

BENCHMARK(manager_cycle)->Name("robot/manager_cycle/takt")->Args({20, 10})->Args({1000, 100});
BENCHMARK(own_work)->Name("robot/manager_cycle/floor")->Args({20, 10})->Args({1000, 100});
BENCHMARK(interface_pair)->Name("robot/interface_pair/takt");
BENCHMARK(plain_pair)->Name("robot/interface_pair/floor");

}  // namespace
