// The cost of ringing a doorbell on which no consumer waits. It is compared with a publication alone, and
// with the full memory barrier that is the usual protection against lost wake-ups.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>

#include "takt/platform/doorbell.hpp"

namespace {

struct Published {
  void publish() { count.store(++last, std::memory_order_release); }
  alignas(takt::shm::cache_line) std::atomic<std::uint32_t> count{0};
  std::uint32_t last = 0;
};

void ring_nobody(benchmark::State& state) {
  takt::platform::Doorbell bell;
  takt::platform::Ringer ringer(bell);
  Published published;
  for (auto _ : state) {
    published.publish();
    ringer.ring();
  }
}
BENCHMARK(ring_nobody)->Name("doorbell/publish_and_ring_nobody/takt");

void publish_only(benchmark::State& state) {
  Published published;
  for (auto _ : state) {
    published.publish();
    benchmark::ClobberMemory();
  }
}
BENCHMARK(publish_only)->Name("doorbell/publish_and_ring_nobody/floor");

void full_barrier(benchmark::State& state) {
  takt::platform::Doorbell bell;
  Published published;
  for (auto _ : state) {
    published.publish();
    benchmark::DoNotOptimize(bell.state.fetch_add(0));
  }
}
BENCHMARK(full_barrier)->Name("doorbell/publish_and_ring_nobody/read_modify_write");

}  // namespace
