// Components: ports, contexts and parameters against hand-written floors.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "takt/component/connection.hpp"
#include "takt/component/drivers.hpp"

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

}  // namespace
