// The messages of can_message_bench.cpp that its peers also code, and the loops. can_message_bench.dbc has
// the same messages.
#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <type_traits>
#include <vector>

#include "takt/can/message.hpp"

namespace takt::bench {

using enum can::ByteOrder;
using enum can::NumberType;

/// Eight signals in little order.
struct Status {
  double position = 0;
  double velocity = 0;
  double current = 0;
  double temperature = 0;
  double voltage = 0;
  double mode = 0;
  double error = 0;
  double counter = 0;

  friend bool operator==(const Status&, const Status&) = default;

  static constexpr can::MessageSpec message{.name = "Status", .id = 0x181, .length = 8};
  static constexpr std::tuple signals{
      can::bind(&Status::position, {"Position", {{0, 16, little, signed_integer}, 0.001}}),
      can::bind(&Status::velocity, {"Velocity", {{16, 14, little, signed_integer}, 0.01}}),
      can::bind(&Status::current, {"Current", {{30, 12, little, signed_integer}, 0.025}}),
      can::bind(&Status::temperature, {"Temperature", {{42, 8, little}, 1, -40}}),
      can::bind(&Status::voltage, {"Voltage", {{50, 6, little}, 0.5, 20}}),
      can::bind(&Status::mode, {"Mode", {{56, 3, little}}}),
      can::bind(&Status::error, {"Error", {{59, 3, little}}}),
      can::bind(&Status::counter, {"Counter", {{62, 2, little}}})};
};

/// Five signals in big order, three in little.
struct Command {
  double position = 0;
  double velocity = 0;
  double torque = 0;
  double stiffness = 0;
  double damping = 0;
  double mode = 0;
  double enable = 0;
  double counter = 0;

  friend bool operator==(const Command&, const Command&) = default;

  static constexpr can::MessageSpec message{.name = "Command", .id = 0x201, .length = 8};
  static constexpr std::tuple signals{
      can::bind(&Command::position, {"Position", {{7, 16, big, signed_integer}, 0.001}}),
      can::bind(&Command::velocity, {"Velocity", {{23, 12, big, signed_integer}, 0.02}}),
      can::bind(&Command::torque, {"Torque", {{27, 12, big, signed_integer}, 0.05}}),
      can::bind(&Command::stiffness, {"Stiffness", {{47, 8, big}, 2}}),
      can::bind(&Command::damping, {"Damping", {{55, 8, big}, 0.1}}),
      can::bind(&Command::mode, {"Mode", {{56, 3, little}}}),
      can::bind(&Command::enable, {"Enable", {{59, 1, little}}}),
      can::bind(&Command::counter, {"Counter", {{60, 4, little}}})};
};

using Bytes = std::array<std::uint8_t, 8>;
inline constexpr std::size_t count = 1024;

inline std::vector<Bytes> random_data(unsigned pages) {
  std::mt19937_64 random(1);
  std::vector<Bytes> all(count);
  for (Bytes& data : all) {
    data = std::bit_cast<Bytes>(random());
    if (pages != 0) data[0] = static_cast<std::uint8_t>(random() % pages);
  }
  return all;
}

template <class Message>
std::vector<Message> random_messages(unsigned pages) {
  std::vector<Message> messages(count);
  const std::vector<Bytes> data = random_data(pages);
  for (std::size_t i = 0; i < count; ++i) {
    if (!can::decode_into(messages[i], data[i])) std::abort();
  }
  return messages;
}

template <class Message, class Decode>
void decode(benchmark::State& state, std::type_identity<Message>, unsigned pages, Decode decode_one) {
  const std::vector<Bytes> data = random_data(pages);
  std::size_t i = 0;
  Message message;
  for (auto _ : state) {
    decode_one(message, data[i]);
    benchmark::DoNotOptimize(message);
    i = (i + 1) % count;
  }
}

template <class Message, class Encode>
void encode(benchmark::State& state, std::type_identity<Message>, unsigned pages, Encode encode_one) {
  const std::vector<Message> messages = random_messages<Message>(pages);
  std::size_t i = 0;
  Bytes data{};
  for (auto _ : state) {
    encode_one(data, messages[i]);
    benchmark::DoNotOptimize(data);
    i = (i + 1) % count;
  }
}

}  // namespace takt::bench
