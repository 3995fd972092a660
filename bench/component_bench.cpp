// Components: ports, contexts and parameters against hand-written floors. And the paper's experiment: a plant
// with its controller as a plain call, as components, and with the controller in a process of its own.
#include <benchmark/benchmark.h>

#include <Eigen/Cholesky>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "takt/app/shared_ports.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/drivers.hpp"
#include "takt/platform/segment.hpp"
#include "two_cores.hpp"

namespace {

using takt::Status;
using takt::Time;
using namespace takt::component;
using namespace std::chrono_literals;
using takt::shm::Freshness;

constexpr ComponentMetadata about{
    .type = "Bench", .version = "1.0.0", .vendor = "takt", .category = "bench", .description = "Measures."};

/// A value of 64 bytes.
struct Value {
  std::array<double, 8> numbers{};
  TAKT_FIELDS(Value, numbers)
};
using ValueSample = Sample<Value>;

struct Writer final : Component {
  Writer() : Component(about, "writer") {}
  OutPort<Value> out{*this, "out"};
};
struct Reader final : Component {
  Reader() : Component(about, "reader") {}
  InPort<Value> in{*this, "in"};
};

// ---- a port: one write and one read in one thread ----

void port(benchmark::State& state, const ConnectionOptions& options) {
  Writer writer;
  Reader reader;
  const auto connection = connect(writer.out, reader.in, options);
  Value value;
  std::int64_t now = 0;
  for (auto _ : state) {
    value.numbers[0] += 1;
    writer.out.write(value, Time(takt::Duration(++now)));
    if (reader.in.read() != Freshness::new_data) state.SkipWithError("nothing was read");
    benchmark::DoNotOptimize(reader.in.value());
  }
}

/// The floor of a latest connection: the exchange of shm/ with the same samples.
void latest_floor(benchmark::State& state) {
  const auto memory = std::make_unique<takt::shm::BroadcastValue<ValueSample>>();
  takt::shm::BroadcastValue<ValueSample>::Writer writer(*memory);
  takt::shm::BroadcastValue<ValueSample>::Reader reader(*memory);
  ValueSample in, out;
  for (auto _ : state) {
    in.value.numbers[0] += 1;
    ++in.sequence;
    in.stamp += 1ns;
    writer.write(in);
    if (reader.read_new(out) != Freshness::new_data) state.SkipWithError("nothing was read");
    benchmark::DoNotOptimize(out);
  }
}

/// The floor of a fifo: the exchange, and the newest value, which each out-port keeps.
void fifo_floor(benchmark::State& state) {
  takt::shm::SpscRing<ValueSample> ring(16);
  const auto memory = std::make_unique<takt::shm::BroadcastValue<ValueSample>>();
  takt::shm::BroadcastValue<ValueSample>::Writer newest(*memory);
  ValueSample in, out;
  for (auto _ : state) {
    in.value.numbers[0] += 1;
    ++in.sequence;
    in.stamp += 1ns;
    newest.write(in);
    static_cast<void>(ring.try_push(in));
    if (!ring.try_pop(out)) state.SkipWithError("nothing was read");
    benchmark::DoNotOptimize(out);
  }
}

BENCHMARK_CAPTURE(port, latest, ConnectionOptions{})->Name("component/port_latest_64B/takt");
BENCHMARK(latest_floor)->Name("component/port_latest_64B/floor");
BENCHMARK_CAPTURE(port, fifo, ConnectionOptions{.buffering = Buffering::fifo})
    ->Name("component/port_fifo_64B/takt");
BENCHMARK(fifo_floor)->Name("component/port_fifo_64B/floor");

// ---- a context: 100 components ----

struct Adder final : Component {
  explicit Adder(int number) : Component(about, "adder" + std::to_string(number)) {}
  Status on_execute(const CycleTime& cycle) noexcept override {
    sum += cycle.index;
    return {};
  }
  std::uint64_t sum = 0;
};

void sweep(benchmark::State& state) {
  ExecutionContext context;
  std::vector<std::unique_ptr<Adder>> adders;
  for (int i = 0; i < 100; ++i) {
    adders.push_back(std::make_unique<Adder>(i));
    if (!context.add(*adders.back()) || !context.activate(*adders.back())) return;
  }
  if (!context.start(Time{})) return;
  std::int64_t now = 0;
  for (auto _ : state) context.run_cycle(Time(takt::Duration(now += 1000)), 1us);
  context.stop(Time{});
  state.SetItemsProcessed(state.iterations() * 100);
}

/// 100 virtual calls for each sweep that calls a component: execute and state update.
void sweep_floor(benchmark::State& state) {
  std::vector<std::unique_ptr<Component>> adders;
  for (int i = 0; i < 100; ++i) adders.push_back(std::make_unique<Adder>(i));
  CycleTime time;
  for (auto _ : state) {
    ++time.index;
    bool works = true;
    for (const auto& adder : adders) works = adder->on_execute(time).has_value() && works;
    for (const auto& adder : adders) works = adder->on_state_update(time).has_value() && works;
    benchmark::DoNotOptimize(works);
  }
}

BENCHMARK(sweep)->Name("component/cycle_of_100/takt");
BENCHMARK(sweep_floor)->Name("component/cycle_of_100/floor");

// ---- a parameter ----

struct Owner final : Component {
  Owner() : Component(about, "owner") {}
  Parameter<double> gain{*this, "gain", {.initial = 2}};
};

void parameter(benchmark::State& state) {
  Owner owner;
  double sum = 0;
  for (auto _ : state) {
    sum += *owner.gain;
    benchmark::ClobberMemory();
  }
  benchmark::DoNotOptimize(sum);
}

void parameter_floor(benchmark::State& state) {
  const auto gain = std::make_unique<double>(2);
  double sum = 0;
  const double* volatile place = gain.get();
  const double* value = place;
  for (auto _ : state) {
    sum += *value;
    benchmark::ClobberMemory();
  }
  benchmark::DoNotOptimize(sum);
}

BENCHMARK(parameter)->Name("component/parameter/takt");
BENCHMARK(parameter_floor)->Name("component/parameter/floor");

// ---- the paper's experiment ----

constexpr int joints = 30;  // of a humanoid
constexpr int steps = 1000;

struct Joints {
  std::array<double, joints> position{}, velocity{};
  TAKT_FIELDS(Joints, position, velocity)
};
struct Torques {
  std::array<double, joints> value{};
  TAKT_FIELDS(Torques, value)
};

/// Coupled joints: each step solves for the accelerations with a dense inertia matrix, as a simulator of a
/// legged robot does.
class Plant {
 public:
  void step(const Torques& torques, Joints& out) noexcept {
    using Vector = Eigen::Matrix<double, joints, 1>;
    Eigen::Matrix<double, joints, joints> inertia;
    for (int i = 0; i < joints; ++i) {
      for (int k = 0; k < joints; ++k)
        inertia(i, k) = (i == k ? 2.0 : 0.5 / (1 + i + k)) +
                        0.01 * joints_.position[std::size_t(i)] * joints_.position[std::size_t(k)];
    }
    const Vector torque = Eigen::Map<const Vector>(torques.value.data());
    const Vector velocity = Eigen::Map<const Vector>(joints_.velocity.data());
    const Vector acceleration = inertia.llt().solve(torque - 0.3 * velocity);
    for (std::size_t i = 0; i < joints; ++i) {
      joints_.velocity[i] += 1e-3 * acceleration[static_cast<Eigen::Index>(i)];
      joints_.position[i] += 1e-3 * joints_.velocity[i];
    }
    out = joints_;
  }

 private:
  Joints joints_;
};

struct Law {
  void step(const Joints& measured, Torques& out) noexcept {
    phase += 1e-3;
    for (std::size_t i = 0; i < joints; ++i)
      out.value[i] = 80 * (phase - measured.position[i]) - 8 * measured.velocity[i];
  }
  double phase = 0;
};

void experiment_call(benchmark::State& state) {
  for (auto _ : state) {
    Plant plant;
    Law law;
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
