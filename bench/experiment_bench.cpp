// The paper's experiment: a humanoid in a physics engine, and its controller. They are plain calls,
// components in one context, or in two processes. One iteration is a second of the robot.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "takt/app/shared_ports.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/drivers.hpp"
#include "takt/drives/registry.hpp"
#include "takt/platform/segment.hpp"
#include "takt/sim/mujoco_physics.hpp"
#include "two_cores.hpp"

namespace {

using takt::Status;
using takt::Time;
using namespace takt::component;
using namespace std::chrono_literals;
using takt::shm::Freshness;

constexpr ComponentMetadata about{
    .type = "Bench", .version = "1.0.0", .vendor = "takt", .category = "bench", .description = "Measures."};

constexpr int joints = 21;  // of the humanoid on its base
constexpr int steps = 1000;

struct Joints {
  std::array<double, joints> position{}, velocity{};
  TAKT_FIELDS(Joints, position, velocity)
};
struct Torques {
  std::array<double, joints> value{};
  TAKT_FIELDS(Torques, value)
};

/// The humanoid's upper body on its omni wheels, with gravity and contacts.
class Plant {
 public:
  Plant() : physics_(std::move(*takt::sim::MujocoPhysics::load(path + ".xml", robot()))) {}

  void step(const Torques& torques, Joints& out) noexcept {
    const auto all = physics_->joints();
    for (std::size_t i = 0; i < joints; ++i) all[i].torque = torques.value[i];
    physics_->step();
    for (std::size_t i = 0; i < joints; ++i) {
      out.position[i] = all[i].position;
      out.velocity[i] = all[i].velocity;
    }
  }

 private:
  static const takt::robot::RobotDescription& robot() {
    static const auto loaded = takt::drives::load_robot_file(path + ".json").value();
    return loaded;
  }
  static inline const std::string path = std::string(TAKT_SOURCE_DIR) + "/examples/robots/mhubo_mobile";
  std::unique_ptr<takt::sim::MujocoPhysics> physics_;
};

struct Law {
  void step(const Joints& measured, Torques& out) noexcept {
    if (phase == 0) start = measured;
    phase += 1e-3;
    for (std::size_t i = 0; i < joints; ++i)
      out.value[i] = 80 * (start.position[i] + 0.1 * phase - measured.position[i]) - 8 * measured.velocity[i];
  }
  double phase = 0;
  Joints start{};
};

void experiment_call(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Plant plant;
    Law law;
    state.ResumeTiming();
    Joints measured;
    Torques torques;
    for (int i = 0; i < steps; ++i) {
      law.step(measured, torques);
      plant.step(torques, measured);
    }
    benchmark::DoNotOptimize(measured);
  }
}

struct PlantComponent final : Component {
  PlantComponent() : Component(about, "plant") {}
  Status on_state_update(const CycleTime& cycle) noexcept override {
    static_cast<void>(torques.read());
    Joints measured;
    plant.step(torques.value(), measured);
    joints_out.write(measured, cycle.time);
    return {};
  }
  Plant plant;
  InPort<Torques> torques{*this, "torques"};
  OutPort<Joints> joints_out{*this, "joints"};
};

struct LawComponent final : Component {
  LawComponent() : Component(about, "law") {}
  Status on_execute(const CycleTime& cycle) noexcept override {
    static_cast<void>(measured.read());
    Torques out;
    law.step(measured.value(), out);
    torques.write(out, cycle.time);
    return {};
  }
  Law law;
  InPort<Joints> measured{*this, "measured"};
  OutPort<Torques> torques{*this, "torques"};
};

void experiment_components(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    {
      PlantComponent plant;
      LawComponent law;
      const auto there = connect(plant.joints_out, law.measured);
      const auto back = connect(law.torques, plant.torques);
      ExecutionContext context;
      if (!context.add(law) || !context.add(plant) || !context.activate(law) || !context.activate(plant))
        return;
      VirtualTime time;
      if (!time.add(context, 1ms)) return;
      state.ResumeTiming();
      time.run_until(Time(steps * 1ms));
      benchmark::DoNotOptimize(plant.joints_out.written());
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
}

/// The plant waits for the torques of each step.
struct WaitingPlant final : Component {
  WaitingPlant() : Component(about, "plant") {}
  Status on_execute(const CycleTime& cycle) noexcept override {
    joints_out.write(measured, cycle.time);
    while (torques.read() != Freshness::new_data) {
    }
    plant.step(torques.value(), measured);
    return {};
  }
  Plant plant;
  Joints measured;
  InPort<Torques> torques{*this, "torques"};
  OutPort<Joints> joints_out{*this, "joints"};
};

/// Computes torques for each state that comes, until the writer says the end by a NaN.
void serve_law(takt::platform::Segment& segment) {
  LawComponent law;
  const auto in = takt::app::connect(segment, "joints", law.measured);
  const auto out = takt::app::connect(law.torques, segment, "torques");
  if (!in || !out) return;
  for (;;) {
    if (law.measured.read() != Freshness::new_data) continue;
    if (law.measured.value().position[0] > 1e9) return;
    Torques torques;
    if (law.measured.stamp() == Time{}) law.law = Law();
    law.law.step(law.measured.value(), torques);
    law.torques.write(torques, law.measured.stamp());
  }
}

void experiment_processes(benchmark::State& state) {
  if (std::thread::hardware_concurrency() < 2) return state.SkipWithError("needs two cores");
  WaitingPlant plant;
  const LawComponent types;
  auto joints_exchange = plant.joints_out.declare(Buffering::latest, 1);
  auto torques_exchange = types.torques.declare(Buffering::latest, 1);
  joints_exchange.name = "joints";
  torques_exchange.name = "torques";
  const std::array wanted{joints_exchange, torques_exchange};
  auto segment = takt::platform::Segment::create_sealed("bench", wanted);
  if (!segment) return state.SkipWithError(segment.error().message.c_str());
  const takt::bench::Beside other(true, [&] { serve_law(*segment); });
  {
    const auto out = takt::app::connect(plant.joints_out, *segment, "joints");
    const auto in = takt::app::connect(*segment, "torques", plant.torques);
    ExecutionContext context;
    if (!out || !in || !context.add(plant) || !context.activate(plant))
      state.SkipWithError("the processes are not connected");
    for (auto _ : state) {
      state.PauseTiming();
      plant.plant = Plant();
      plant.measured = Joints();
      VirtualTime time;
      if (!time.add(context, 1ms)) return;
      state.ResumeTiming();
      time.run_until(Time(steps * 1ms));
    }
    Joints end;
    end.position[0] = 1e10;
    plant.joints_out.write(end, Time{});
  }
}

BENCHMARK(experiment_components)->Name("component/experiment_loaded/takt")->UseRealTime();
BENCHMARK(experiment_call)->Name("component/experiment_loaded/floor")->UseRealTime();
BENCHMARK(experiment_processes)->Name("component/experiment_process/takt")->UseRealTime();
BENCHMARK(experiment_call)->Name("component/experiment_process/floor")->UseRealTime();

}  // namespace
