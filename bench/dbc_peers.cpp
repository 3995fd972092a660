// dbcppp on the frames of dbc_bench.cpp. It is compiled if its sources are available (dbc_bench.cmake).
#include <benchmark/benchmark.h>

#include <dbcppp/Network.h>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "dbc_problem.hpp"

namespace {

using takt::bench::count;
using takt::bench::Values;

const dbcppp::IMessage& message_of(std::uint64_t id) {
  static const std::unique_ptr<dbcppp::INetwork> network = [] {
    std::istringstream file(std::string("VERSION \"\"\nNS_ :\nBS_:\n") + takt::bench::dbc_text);
    return dbcppp::INetwork::LoadDBCFromIs(file);
  }();
  if (network == nullptr) std::abort();
  for (const dbcppp::IMessage& message : network->Messages()) {
    if (message.Id() == id) return message;
  }
  std::abort();
}

/// Decodes a frame as its own example does: each signal by its function pointers, multiplexed ones if
/// selected.
void decode(const dbcppp::IMessage& message, const std::uint8_t* data, Values& values) {
  const dbcppp::ISignal* selector = message.MuxSignal();
  const std::uint64_t page = selector == nullptr ? 0 : selector->Decode(data);
  std::size_t i = 0;
  for (const dbcppp::ISignal& signal : message.Signals()) {
    const bool present = signal.MultiplexerIndicator() != dbcppp::ISignal::EMultiplexer::MuxValue ||
                         signal.MultiplexerSwitchValue() == page;
    if (present) values[i] = signal.RawToPhys(signal.Decode(data));
    ++i;
  }
}

void decode_dbcppp(benchmark::State& state, std::uint32_t id, unsigned first_byte) {
  const auto given = takt::bench::frames(id, first_byte);
  const dbcppp::IMessage& message = message_of(id);
  Values values{};
  std::size_t i = 0;
  for (auto _ : state) {
    decode(message, given[i++ % count].data.data(), values);
    benchmark::DoNotOptimize(values);
  }
}

void encode_dbcppp(benchmark::State& state) {
  const dbcppp::IMessage& message = message_of(1);
  std::vector<Values> given(count);
  const auto frames = takt::bench::frames(1, 256);
  for (std::size_t i = 0; i < count; ++i) decode(message, frames[i].data.data(), given[i]);
  std::array<std::uint8_t, 8> data{};
  std::size_t next = 0;
  for (auto _ : state) {
    const Values& values = given[next++ % count];
    std::size_t i = 0;
    for (const dbcppp::ISignal& signal : message.Signals())
      signal.Encode(signal.PhysToRaw(values[i++]), data.data());
    benchmark::DoNotOptimize(data);
  }
}

BENCHMARK_CAPTURE(decode_dbcppp, status, 1, 256)->Name("dbc/decode_status/dbcppp");
BENCHMARK_CAPTURE(decode_dbcppp, command, 2, 256)->Name("dbc/decode_command/dbcppp");
BENCHMARK_CAPTURE(decode_dbcppp, diagnosis, 3, 3)->Name("dbc/decode_multiplexed/dbcppp");
BENCHMARK(encode_dbcppp)->Name("dbc/encode_status/dbcppp");

}  // namespace
