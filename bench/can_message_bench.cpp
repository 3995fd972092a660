// Typed messages against hand-written code for the same frames. That code does one load, a byte swap if
// needed, shifts, scale and offset. To encode, it does one division, rounding and saturation for each signal,
// and one store. Also a cycle of twenty drives, with one command and one status each, five signals in both.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "can_message_problem.hpp"
#include "takt/can/message.hpp"

namespace takt::bench {
namespace {

/// Three pages of mixed byte order.
struct Diagnosis {
  double page = 0;
  double temperature = 0;
  double voltage = 0;
  double hours = 0;
  double faults = 0;
  double resistance = 0;
  double serial = 0;

  static constexpr can::MessageSpec message{.name = "Diagnosis", .id = 0x301, .length = 8};
  static constexpr std::tuple signals{
      can::bind(&Diagnosis::page, {"Page", {{0, 8, little}}}),
      can::bind(&Diagnosis::temperature,
                {"Temperature", {{8, 16, little, signed_integer}, 0.1}, "", can::when("Page", 0)}),
      can::bind(&Diagnosis::voltage, {"Voltage", {{31, 16, big}, 0.01}, "", can::when("Page", 0)}),
      can::bind(&Diagnosis::hours, {"Hours", {{8, 24, little}, 0.1}, "", can::when("Page", 1)}),
      can::bind(&Diagnosis::faults, {"Faults", {{32, 16, little}}, "", can::when("Page", 1)}),
      can::bind(&Diagnosis::resistance, {"Resistance", {{15, 12, big}, 0.001}, "", can::when("Page", 2)}),
      can::bind(&Diagnosis::serial, {"Serial", {{32, 32, little}}, "", can::when("Page", 2)})};
};

// ---- By hand

std::uint64_t load(const Bytes& data) { return std::bit_cast<std::uint64_t>(data); }
std::uint64_t load_swapped(const Bytes& data) { return __builtin_bswap64(load(data)); }

template <unsigned Shift, unsigned Length>
double unsigned_at(std::uint64_t word) {
  return static_cast<double>(static_cast<std::int64_t>(word >> Shift & ((std::uint64_t{1} << Length) - 1)));
}
template <unsigned Shift, unsigned Length>
double signed_at(std::uint64_t word) {
  return static_cast<double>(static_cast<std::int64_t>(word << (64 - Shift - Length)) >> (64 - Length));
}

void decode_by_hand(Status& status, const Bytes& data) {
  const std::uint64_t word = load(data);
  status = {signed_at<0, 16>(word) * 0.001,
            signed_at<16, 14>(word) * 0.01,
            signed_at<30, 12>(word) * 0.025,
            unsigned_at<42, 8>(word) - 40,
            unsigned_at<50, 6>(word) * 0.5 + 20,
            unsigned_at<56, 3>(word),
            unsigned_at<59, 3>(word),
            unsigned_at<62, 2>(word)};
}

void decode_by_hand(Command& command, const Bytes& data) {
  const std::uint64_t word = load(data);
  const std::uint64_t swapped = load_swapped(data);
  command = {signed_at<48, 16>(swapped) * 0.001, signed_at<36, 12>(swapped) * 0.02,
             signed_at<24, 12>(swapped) * 0.05,  unsigned_at<16, 8>(swapped) * 2,
             unsigned_at<8, 8>(swapped) * 0.1,   unsigned_at<56, 3>(word),
             unsigned_at<59, 1>(word),           unsigned_at<60, 4>(word)};
}

/// Returns whether the page is known, as the typed decoder does.
bool decode_by_hand(Diagnosis& diagnosis, const Bytes& data) {
  const std::uint64_t word = load(data);
  const std::uint64_t swapped = load_swapped(data);
  diagnosis = {};
  diagnosis.page = unsigned_at<0, 8>(word);
  switch (word & 0xFFU) {
    case 0:
      diagnosis.temperature = signed_at<8, 16>(word) * 0.1;
      diagnosis.voltage = unsigned_at<24, 16>(swapped) * 0.01;
      break;
    case 1:
      diagnosis.hours = unsigned_at<8, 24>(word) * 0.1;
      diagnosis.faults = unsigned_at<32, 16>(word);
      break;
    case 2:
      diagnosis.resistance = unsigned_at<44, 12>(swapped) * 0.001;
      diagnosis.serial = unsigned_at<32, 32>(word);
      break;
    default:
      return false;
  }
  return true;
}

/// A rounded and saturated number; rounded as in takt/can/quantise.hpp, the fastest method.
template <unsigned Length, bool is_signed>
std::uint64_t saturated(double number) {
  constexpr double half = static_cast<double>(std::uint64_t{1} << (Length - 1));
  const double low = is_signed ? -half : 0;
  const double high = (is_signed ? half : 2 * half) - 1;
  const double above = number < low ? low : number;
  const double within = high < above ? high : above;
  return std::bit_cast<std::uint64_t>(within + 6755399441055744.0) & ((std::uint64_t{1} << Length) - 1);
}

Bytes encode_by_hand(const Status& s) {
  return std::bit_cast<Bytes>(
      saturated<16, true>(s.position / 0.001) | saturated<14, true>(s.velocity / 0.01) << 16 |
      saturated<12, true>(s.current / 0.025) << 30 | saturated<8, false>(s.temperature + 40) << 42 |
      saturated<6, false>((s.voltage - 20) / 0.5) << 50 | saturated<3, false>(s.mode) << 56 |
      saturated<3, false>(s.error) << 59 | saturated<2, false>(s.counter) << 62);
}

Bytes encode_by_hand(const Command& c) {
  const std::uint64_t big_part =
      saturated<16, true>(c.position / 0.001) << 48 | saturated<12, true>(c.velocity / 0.02) << 36 |
      saturated<12, true>(c.torque / 0.05) << 24 | saturated<8, false>(c.stiffness / 2) << 16 |
      saturated<8, false>(c.damping / 0.1) << 8;
  return std::bit_cast<Bytes>(__builtin_bswap64(big_part) | saturated<3, false>(c.mode) << 56 |
                              saturated<1, false>(c.enable) << 59 | saturated<4, false>(c.counter) << 60);
}

Bytes encode_by_hand(const Diagnosis& d) {
  std::uint64_t word = saturated<8, false>(d.page);
  std::uint64_t swapped = 0;
  switch (word) {
    case 0:
      word |= saturated<16, true>(d.temperature / 0.1) << 8;
      swapped = saturated<16, false>(d.voltage / 0.01) << 24;
      break;
    case 1:
      word |= saturated<24, false>(d.hours / 0.1) << 8 | saturated<16, false>(d.faults) << 32;
      break;
    case 2:
      swapped = saturated<12, false>(d.resistance / 0.001) << 44;
      word |= saturated<32, false>(d.serial) << 32;
      break;
    default:
      break;
  }
  return std::bit_cast<Bytes>(word | __builtin_bswap64(swapped));
}

// ---- Rows

const auto typed_decode = [](auto& message, const Bytes& data) {
  benchmark::DoNotOptimize(can::decode_into(message, data).has_value());
};
const auto hand_decode = [](auto& message, const Bytes& data) {
  if constexpr (std::is_same_v<std::remove_reference_t<decltype(message)>, Diagnosis>) {
    benchmark::DoNotOptimize(decode_by_hand(message, data));
  } else {
    decode_by_hand(message, data);
  }
};
const auto typed_encode = [](Bytes& data, const auto& message) {
  benchmark::DoNotOptimize(can::encode_into(data, message).has_value());
};
const auto hand_encode = [](Bytes& data, const auto& message) { data = encode_by_hand(message); };

BENCHMARK_CAPTURE(decode, decode_status_typed, std::type_identity<Status>{}, 0, typed_decode)
    ->Name("can_message_decode/little/takt");
BENCHMARK_CAPTURE(decode, decode_status_hand, std::type_identity<Status>{}, 0, hand_decode)
    ->Name("can_message_decode/little/floor");
BENCHMARK_CAPTURE(decode, decode_command_typed, std::type_identity<Command>{}, 0, typed_decode)
    ->Name("can_message_decode/big/takt");
BENCHMARK_CAPTURE(decode, decode_command_hand, std::type_identity<Command>{}, 0, hand_decode)
    ->Name("can_message_decode/big/floor");
BENCHMARK_CAPTURE(decode, decode_diagnosis_typed, std::type_identity<Diagnosis>{}, 3, typed_decode)
    ->Name("can_message_decode/multiplexed/takt");
BENCHMARK_CAPTURE(decode, decode_diagnosis_hand, std::type_identity<Diagnosis>{}, 3, hand_decode)
    ->Name("can_message_decode/multiplexed/floor");
BENCHMARK_CAPTURE(encode, encode_status_typed, std::type_identity<Status>{}, 0, typed_encode)
    ->Name("can_message_encode/little/takt");
BENCHMARK_CAPTURE(encode, encode_status_hand, std::type_identity<Status>{}, 0, hand_encode)
    ->Name("can_message_encode/little/floor");
BENCHMARK_CAPTURE(encode, encode_command_typed, std::type_identity<Command>{}, 0, typed_encode)
    ->Name("can_message_encode/big/takt");
BENCHMARK_CAPTURE(encode, encode_command_hand, std::type_identity<Command>{}, 0, hand_encode)
    ->Name("can_message_encode/big/floor");
BENCHMARK_CAPTURE(encode, encode_diagnosis_typed, std::type_identity<Diagnosis>{}, 3, typed_encode)
    ->Name("can_message_encode/multiplexed/takt");
BENCHMARK_CAPTURE(encode, encode_diagnosis_hand, std::type_identity<Diagnosis>{}, 3, hand_encode)
    ->Name("can_message_encode/multiplexed/floor");

// ---- A cycle

/// Usual drive messages: five signals in the command and in the status.
struct DriveCommand {
  double position = 0;
  double velocity = 0;
  double stiffness = 0;
  double damping = 0;
  double torque = 0;

  static constexpr can::MessageSpec message{.name = "DriveCommand", .id = 0x101, .length = 8};
  static constexpr std::tuple signals{
      can::bind(&DriveCommand::position, {"Position", {{7, 16, big, signed_integer}, 0.0004}, "rad"}),
      can::bind(&DriveCommand::velocity, {"Velocity", {{23, 12, big, signed_integer}, 0.03}, "rad/s"}),
      can::bind(&DriveCommand::stiffness, {"Stiffness", {{27, 12, big}, 0.12}, "Nm/rad"}),
      can::bind(&DriveCommand::damping, {"Damping", {{47, 12, big}, 0.0012}, "Nms/rad"}),
      can::bind(&DriveCommand::torque, {"Torque", {{51, 12, big, signed_integer}, 0.01}, "Nm"})};
};
struct DriveStatus {
  double position = 0;
  double velocity = 0;
  double torque = 0;
  double temperature = 0;
  double state = 0;

  static constexpr can::MessageSpec message{.name = "DriveStatus", .id = 0x181, .length = 8};
  static constexpr std::tuple signals{
      can::bind(&DriveStatus::position, {"Position", {{0, 24, little, signed_integer}, 1e-5}, "rad"}),
      can::bind(&DriveStatus::velocity, {"Velocity", {{24, 14, little, signed_integer}, 0.01}, "rad/s"}),
      can::bind(&DriveStatus::torque, {"Torque", {{38, 12, little, signed_integer}, 0.025}, "Nm"}),
      can::bind(&DriveStatus::temperature, {"Temperature", {{50, 8, little}, 1, -40}, "degC"}),
      can::bind(&DriveStatus::state, {"State", {{58, 4, little}}})};
};

Bytes encode_by_hand(const DriveCommand& c) {
  return std::bit_cast<Bytes>(__builtin_bswap64(
      saturated<16, true>(c.position / 0.0004) << 48 | saturated<12, true>(c.velocity / 0.03) << 36 |
      saturated<12, false>(c.stiffness / 0.12) << 24 | saturated<12, false>(c.damping / 0.0012) << 12 |
      saturated<12, true>(c.torque / 0.01)));
}

void decode_by_hand(DriveStatus& status, const Bytes& data) {
  const std::uint64_t word = load(data);
  status = {signed_at<0, 24>(word) * 1e-5, signed_at<24, 14>(word) * 0.01, signed_at<38, 12>(word) * 0.025,
            unsigned_at<50, 8>(word) - 40, unsigned_at<58, 4>(word)};
}

constexpr std::size_t drives = 20;

/// One frame to and from each drive. The command is encoded and the status decoded, with all checks.
template <class Encode, class Decode>
void cycle(benchmark::State& state, Encode encode_one, Decode decode_one) {
  const std::vector<DriveCommand> commands = random_messages<DriveCommand>(0);
  const std::vector<Bytes> data = random_data(0);
  std::array<can::Frame, drives> sent{};
  std::array<can::Frame, drives> received{};
  std::array<DriveStatus, drives> states{};
  for (std::size_t i = 0; i < drives; ++i) received[i] = *can::make_frame(DriveStatus::message.id, data[i]);
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(received);
    for (std::size_t i = 0; i < drives; ++i) encode_one(sent[i], commands[at + i]);
    for (std::size_t i = 0; i < drives; ++i) decode_one(states[i], received[i]);
    benchmark::DoNotOptimize(sent);
    benchmark::DoNotOptimize(states);
    at = (at + 1) % (count - drives);
  }
}

BENCHMARK_CAPTURE(
    cycle, typed,
    [](can::Frame& frame, const DriveCommand& command) {
      benchmark::DoNotOptimize(encode_into(frame, command).has_value());
    },
    [](DriveStatus& status, const can::Frame& frame) {
      benchmark::DoNotOptimize(decode_into(status, frame).has_value());
    })
    ->Name("can_cycle/20_drives/takt");
BENCHMARK_CAPTURE(
    cycle, by_hand,
    [](can::Frame& frame, const DriveCommand& command) {
      const Bytes data = encode_by_hand(command);
      can::clear(frame);
      frame.id = DriveCommand::message.id;
      frame.length = 8;
      std::memcpy(frame.data.data(), data.data(), 8);
    },
    [](DriveStatus& status, const can::Frame& frame) {
      Bytes data;
      std::memcpy(data.data(), frame.data.data(), 8);
      decode_by_hand(status, data);
    })
    ->Name("can_cycle/20_drives/floor");

}  // namespace
}  // namespace takt::bench
