// Rings and latest values between two threads or processes on two cores. Measured are the time per message in
// a stream, and the time for one message from one side to the other (half a round trip). Floors are
// hand-written minimal forms; peers come from the distribution's packages.
//
// The time of an iteration is the median over many chunks, so that a preempted chunk does not count. All
// implementations of a case copy in and out and check the order.
#include <benchmark/benchmark.h>

#include <string>

#include "shm_rings.hpp"
#include "shm_streams.hpp"
#include "shm_values.hpp"
#include "two_cores.hpp"

namespace {

using namespace takt::bench;
using namespace takt::bench::exchanges;

void add(const std::string& name, void (*run)(benchmark::State&)) {
  const auto run_at_place = [run](benchmark::State& state) {
    pin(1);
    const double before = line_time();
    run(state);
    state.counters["line_ns"] =
        (before + line_time()) / 2;  // if the core moved meanwhile, the value lies between both places
  };
  benchmark::RegisterBenchmark(name.c_str(), run_at_place)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kNanosecond);
}

template <std::size_t Bytes>
void add_rings() {
  using Message = Payload<Bytes>;
  const std::string size = std::to_string(Bytes) + "B/";
  const std::string streams = "shm/ring_stream_" + size;
  const std::string latency = "shm/ring_one_way_" + size;
  add(streams + "takt", stream<Takt<Message>, Bytes>);
  add(streams + "floor", stream<BatchFloor<Message>, Bytes>);
  add(streams + "each", stream<EachFloor<Message>, Bytes>);
  add(latency + "takt", one_way<Takt<Message>, Bytes>);
#ifdef HAVE_MOODYCAMEL
  add(streams + "moodycamel", stream<Moodycamel<Message>, Bytes>);
  add(latency + "moodycamel", one_way<Moodycamel<Message>, Bytes>);
#endif
#ifdef TAKT_BENCH_RIGTORP
  add(streams + "rigtorp", stream<Rigtorp<Message>, Bytes>);
  add(latency + "rigtorp", one_way<Rigtorp<Message>, Bytes>);
#endif
#ifdef HAVE_BOOST
  add(streams + "boost", stream<Boost<Message>, Bytes>);
  add(latency + "boost", one_way<Boost<Message>, Bytes>);
#endif
  const std::string batches = "shm/ring_batch_" + size;
  add(batches + "takt", stream<Takt<Message>, Bytes, false, Pace::batches>);
  add(batches + "floor", stream<BatchFloor<Message>, Bytes>);

  const std::string made = "shm/ring_made_" + size;
  add(made + "takt", stream<Takt<Message>, Bytes, false, Pace::made>);
  add(made + "floor", stream<BatchFloor<Message>, Bytes, false, Pace::made>);
  add(made + "each", stream<EachFloor<Message>, Bytes, false, Pace::made>);
#ifdef HAVE_MOODYCAMEL
  add(made + "moodycamel", stream<Moodycamel<Message>, Bytes, false, Pace::made>);
#endif
#ifdef TAKT_BENCH_RIGTORP
  add(made + "rigtorp", stream<Rigtorp<Message>, Bytes, false, Pace::made>);
#endif
#ifdef HAVE_BOOST
  add(made + "boost", stream<Boost<Message>, Bytes, false, Pace::made>);
#endif

  const std::string process_streams = "shm/process_stream_" + size;
  add(process_streams + "takt", stream<TaktEnds<Message>, Bytes, true>);
  add(process_streams + "floor", stream<BatchFloor<Message>, Bytes, true>);
  add(process_streams + "each", stream<EachFloor<Message>, Bytes, true>);
  add(process_streams + "socket", stream<Socket<Message>, Bytes, true>);
#ifdef HAVE_BOOST
  add(process_streams + "boost", stream<Boost<Message>, Bytes, true>);
#endif
}

template <std::size_t Bytes>
void add_small() {
  using Message = Payload<Bytes>;
  const std::string size = std::to_string(Bytes) + "B/";
  const std::string latency = "shm/slot_ring_one_way_" + size;
  add(latency + "takt", one_way<TaktSlot<Message>, Bytes>);
  add(latency + "floor", one_way<RawLine<Message>, Bytes>);
  const std::string between_processes = "shm/process_one_way_" + size;
  add(between_processes + "takt", one_way<TaktSlotEnds<Message>, Bytes, true>);
  add(between_processes + "floor", one_way<RawLine<Message>, Bytes, true>);
  add(between_processes + "socket", one_way<Socket<Message>, Bytes, true>);
#ifdef HAVE_BOOST
  add(between_processes + "boost", one_way<Boost<Message>, Bytes, true>);
#endif
}

template <std::size_t Bytes>
void add_values() {
  using Message = Payload<Bytes>;
  const std::string size = std::to_string(Bytes) + "B/";
  add("shm/latest_one_way_" + size + "takt", one_way<TaktLatest<Message>, Bytes>);
  add("shm/broadcast_one_way_" + size + "takt", one_way<TaktBroadcast<Message>, Bytes>);
  add("shm/broadcast_one_way_" + size + "floor", one_way<SeqlockFloor<Message>, Bytes>);
#ifdef TAKT_BENCH_REALTIME_TOOLS
  add("shm/latest_one_way_" + size + "realtime_tools", one_way<RealtimeTools<Message>, Bytes>);
#endif
}

template <std::size_t Bytes>
void add_broadcast_ring() {
  using Message = Payload<Bytes>;
  const std::string size = std::to_string(Bytes) + "B/";
  add("shm/broadcast_ring_one_way_" + size + "takt", one_way<TaktBroadcastRing<Message>, Bytes>);
  add("shm/broadcast_ring_one_way_" + size + "floor", one_way<NumberedFloor<Message>, Bytes>);
}

[[maybe_unused]] const bool registered = [] {
  add_rings<8>();
  add_rings<64>();
  add_rings<1024>();
  add_small<8>();
  add_small<56>();
  add_values<8>();
  add_values<56>();
  add_values<64>();
  add_values<512>();
  add_broadcast_ring<8>();
  add_broadcast_ring<56>();
  add("shm/latest_one_way_64B/floor", one_way<RawLine<Payload<64>>, 64>);
  return true;
}();

}  // namespace
