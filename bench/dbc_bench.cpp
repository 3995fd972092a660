// The cost of a message that is known only at run time, from a DBC file. Eight signals of a motor's status,
// of a command in both byte orders, and of a multiplexed message. They are compared with hand-written loads,
// shifts and multiplications without checks. Also the time to read a file.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "dbc_problem.hpp"
#include "takt/can/word.hpp"
#include "takt/dbc/database.hpp"

namespace {

using namespace takt;
using bench::count;
using bench::dbc_text;
using bench::frames;
using bench::Values;

const dbc::Database& database() {
  static const auto dbc = dbc::Database::parse(dbc_text, dbc::Strictness::strict);
  if (!dbc) std::abort();
  return *dbc;
}

void decode_takt(benchmark::State& state, std::uint32_t id, unsigned first_byte) {
  const auto given = frames(id, first_byte);
  const dbc::MessageCodec& message = *database().find(id, false);
  Values values{};
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(message.decode(given[i++ % count], values).has_value());
    benchmark::DoNotOptimize(values);
  }
}

/// A field in a word of eight bytes.
template <unsigned shift, unsigned length, bool is_signed>
double number(std::uint64_t word) {
  const std::uint64_t top = word << (64 - length - shift);
  if constexpr (is_signed) return static_cast<double>(static_cast<std::int64_t>(top) >> (64 - length));
  return static_cast<double>(static_cast<std::int64_t>(top >> (64 - length)));
}

template <class Decode>
void decode_floor(benchmark::State& state, std::uint32_t id, unsigned first_byte, Decode decode) {
  const auto given = frames(id, first_byte);
  Values values{};
  std::size_t i = 0;
  for (auto _ : state) {
    decode(can::load_little<8>(given[i++ % count].data.data()), values);
    benchmark::DoNotOptimize(values);
  }
}

void decode_status(std::uint64_t word, Values& values) {
  values = {number<0, 16, true>(word) * 0.01,  number<16, 12, true>(word) * 0.05,
            number<28, 10, false>(word) * 0.1, number<38, 8, false>(word) - 40,
            number<46, 4, false>(word),        number<50, 6, false>(word),
            number<56, 1, false>(word),        number<57, 7, false>(word)};
}

void decode_command(std::uint64_t word, Values& values) {
  const std::uint64_t big = __builtin_bswap64(word);
  values = {number<44, 20, true>(big) * 0.001, number<32, 12, true>(big) * 0.05,
            number<22, 10, true>(big) * 0.1,   number<16, 6, false>(big) * 2,
            number<12, 4, false>(big) * 0.5,   number<48, 4, false>(word),
            number<56, 1, false>(word),        number<57, 7, false>(word)};
}

void decode_diagnosis(std::uint64_t word, Values& values) {
  const std::uint64_t big = __builtin_bswap64(word);
  values.fill(std::nan(""));
  values[0] = number<0, 8, false>(word);
  switch (word & 0xFF) {
    case 0:
      values[1] = number<8, 32, false>(word) * 0.1;
      values[2] = number<40, 24, false>(word);
      break;
    case 1:
      values[3] = number<8, 16, true>(word) * 0.1;
      values[4] = number<16, 16, true>(big) * 0.1;
      break;
    default:
      values[5] = number<8, 16, false>(word) * 0.01;
      values[6] = number<24, 16, false>(big);
  }
}

void status_takt(benchmark::State& state) { decode_takt(state, 1, 256); }
void status_floor(benchmark::State& state) { decode_floor(state, 1, 256, decode_status); }
void command_takt(benchmark::State& state) { decode_takt(state, 2, 256); }
void command_floor(benchmark::State& state) { decode_floor(state, 2, 256, decode_command); }
void diagnosis_takt(benchmark::State& state) { decode_takt(state, 3, 3); }
void diagnosis_floor(benchmark::State& state) { decode_floor(state, 3, 3, decode_diagnosis); }
BENCHMARK(status_takt)->Name("dbc/decode_status/takt");
BENCHMARK(status_floor)->Name("dbc/decode_status/floor");
BENCHMARK(command_takt)->Name("dbc/decode_command/takt");
BENCHMARK(command_floor)->Name("dbc/decode_command/floor");
BENCHMARK(diagnosis_takt)->Name("dbc/decode_multiplexed/takt");
BENCHMARK(diagnosis_floor)->Name("dbc/decode_multiplexed/floor");

// ---- encoding: decoded values, rounded and clamped

std::vector<Values> decoded(std::uint32_t id) {
  std::vector<Values> values(count);
  const auto given = frames(id, 256);
  for (std::size_t i = 0; i < count; ++i) {
    if (!database().find(id, false)->decode(given[i], values[i])) std::abort();
  }
  return values;
}

void encode_takt(benchmark::State& state) {
  const auto given = decoded(1);
  const dbc::MessageCodec& message = *database().find(1, false);
  std::array<std::uint8_t, 8> data{};
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(message.encode_into(data, given[i++ % count], can::Overflow::clamp).has_value());
    benchmark::DoNotOptimize(data);
  }
}

template <unsigned shift, unsigned length, bool is_signed>
std::uint64_t field(double value) {
  constexpr double high = static_cast<double>((std::uint64_t{1} << (length - is_signed)) - 1);
  constexpr double low = is_signed ? -high - 1 : 0;
  const double near = std::min(std::max(value, low), high);
  const auto whole = static_cast<std::int64_t>(near + (near < 0 ? -0.5 : 0.5));
  return (static_cast<std::uint64_t>(whole) & ((std::uint64_t{1} << length) - 1)) << shift;
}

void encode_floor(benchmark::State& state) {
  const auto given = decoded(1);
  std::array<std::uint8_t, 8> data{};
  std::size_t i = 0;
  for (auto _ : state) {
    const Values& v = given[i++ % count];
    can::store_little<8>(data.data(), field<0, 16, true>(v[0] * 100) | field<16, 12, true>(v[1] * 20) |
                                          field<28, 10, false>(v[2] * 10) | field<38, 8, false>(v[3] + 40) |
                                          field<46, 4, false>(v[4]) | field<50, 6, false>(v[5]) |
                                          field<56, 1, false>(v[6]) | field<57, 7, false>(v[7]));
    benchmark::DoNotOptimize(data);
  }
}
BENCHMARK(encode_takt)->Name("dbc/encode_status/takt");
BENCHMARK(encode_floor)->Name("dbc/encode_status/floor");

// ---- finding and reading

void find_takt(benchmark::State& state) {
  std::string many = "BU_: A\n";
  constexpr std::uint32_t first = 0x8000'0000;
  for (std::uint32_t i = 0; i < count; ++i)
    many += "BO_ " + std::to_string(first + 977 * i) + " m" + std::to_string(i) + ": 8 A\n";
  const auto dbc = dbc::Database::parse(many);
  if (!dbc) std::abort();
  std::uint32_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(dbc->find(977 * (i++ * 389 % count), true));
}
BENCHMARK(find_takt)->Name("dbc/find_1_of_1024_extended/takt");

void parse_takt(benchmark::State& state) {
  std::string many;
  for (std::uint32_t i = 0; i < 250; ++i) {
    many += "BO_ " + std::to_string(i + 1) + " message_" + std::to_string(i) + ": 8 A\n";
    for (std::uint32_t bit = 0; bit < 64; bit += 8)
      many += " SG_ signal_" + std::to_string(bit) + " : " + std::to_string(bit) +
              "|8@1+ (0.1,0) [0|0] \"rad/s\" A\n";
  }
  for (auto _ : state) {
    const auto dbc = dbc::Database::parse(many);
    if (!dbc || dbc->messages().size() != 250) std::abort();
  }
}
BENCHMARK(parse_takt)->Name("dbc/load_250_messages/takt");

}  // namespace
