// The C code that cantools generates from can_message_bench.dbc, on the frames of can_message_bench.cpp. It
// is compiled if it is available (can_message_bench.cmake). It does not round or check encoded values.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "can_message_problem.hpp"

extern "C" {
#include <can_message_bench.h>
}

namespace {

using takt::bench::Bytes;
using takt::bench::Command;
using takt::bench::Status;

void decode_cantools(Status& status, const Bytes& data) {
  can_message_bench_status_t raw;
  benchmark::DoNotOptimize(can_message_bench_status_unpack(&raw, data.data(), data.size()));
  status = {can_message_bench_status_position_decode(raw.position),
            can_message_bench_status_velocity_decode(raw.velocity),
            can_message_bench_status_current_decode(raw.current),
            can_message_bench_status_temperature_decode(raw.temperature),
            can_message_bench_status_voltage_decode(raw.voltage),
            can_message_bench_status_mode_decode(raw.mode),
            can_message_bench_status_error_decode(raw.error),
            can_message_bench_status_counter_decode(raw.counter)};
}

void decode_cantools(Command& command, const Bytes& data) {
  can_message_bench_command_t raw;
  benchmark::DoNotOptimize(can_message_bench_command_unpack(&raw, data.data(), data.size()));
  command = {can_message_bench_command_position_decode(raw.position),
             can_message_bench_command_velocity_decode(raw.velocity),
             can_message_bench_command_torque_decode(raw.torque),
             can_message_bench_command_stiffness_decode(raw.stiffness),
             can_message_bench_command_damping_decode(raw.damping),
             can_message_bench_command_mode_decode(raw.mode),
             can_message_bench_command_enable_decode(raw.enable),
             can_message_bench_command_counter_decode(raw.counter)};
}

void encode_cantools(Bytes& data, const Status& status) {
  const can_message_bench_status_t raw{
      .position = can_message_bench_status_position_encode(status.position),
      .velocity = can_message_bench_status_velocity_encode(status.velocity),
      .current = can_message_bench_status_current_encode(status.current),
      .temperature = can_message_bench_status_temperature_encode(status.temperature),
      .voltage = can_message_bench_status_voltage_encode(status.voltage),
      .mode = can_message_bench_status_mode_encode(status.mode),
      .error = can_message_bench_status_error_encode(status.error),
      .counter = can_message_bench_status_counter_encode(status.counter)};
  benchmark::DoNotOptimize(can_message_bench_status_pack(data.data(), &raw, data.size()));
}

void encode_cantools(Bytes& data, const Command& command) {
  const can_message_bench_command_t raw{
      .position = can_message_bench_command_position_encode(command.position),
      .velocity = can_message_bench_command_velocity_encode(command.velocity),
      .torque = can_message_bench_command_torque_encode(command.torque),
      .stiffness = can_message_bench_command_stiffness_encode(command.stiffness),
      .damping = can_message_bench_command_damping_encode(command.damping),
      .mode = can_message_bench_command_mode_encode(command.mode),
      .enable = can_message_bench_command_enable_encode(command.enable),
      .counter = can_message_bench_command_counter_encode(command.counter)};
  benchmark::DoNotOptimize(can_message_bench_command_pack(data.data(), &raw, data.size()));
}

/// Ends the program unless both decode the same values. The DBC file must have the messages of
/// can_message_problem.hpp.
template <class Message>
void check_same() {
  for (const Bytes& data : takt::bench::random_data(0)) {
    Message ours;
    Message theirs;
    if (!takt::can::decode_into(ours, data)) std::abort();
    decode_cantools(theirs, data);
    if (ours != theirs) std::abort();
  }
}

template <class Message>
void decode(benchmark::State& state) {
  check_same<Message>();
  takt::bench::decode(state, std::type_identity<Message>{}, 0,
                      [](Message& message, const Bytes& data) { decode_cantools(message, data); });
}

template <class Message>
void encode(benchmark::State& state) {
  check_same<Message>();
  takt::bench::encode(state, std::type_identity<Message>{}, 0,
                      [](Bytes& data, const Message& message) { encode_cantools(data, message); });
}

BENCHMARK(decode<Status>)->Name("can_message_decode/little/cantools");
BENCHMARK(decode<Command>)->Name("can_message_decode/big/cantools");
BENCHMARK(encode<Status>)->Name("can_message_encode/little/cantools");
BENCHMARK(encode<Command>)->Name("can_message_encode/big/cantools");

}  // namespace
