// The frames of the vehicle against what one would write by hand for just these: lengths checked, blocks found by a switch, copied by
// memcpy into structs, numbers swapped where their places are known.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "takt/vehicle/control_frame.hpp"
#include "takt/vehicle/status_frame.hpp"

namespace {

using namespace takt::vehicle;

constexpr std::size_t count = 256;
constexpr std::size_t full_bytes = 132;
using StatusBytes = std::array<std::uint8_t, full_bytes>;
using ControlBytes = std::array<std::uint8_t, control_frame_bytes>;

/// All systems in the order of the table, or the other way round.
std::vector<StatusBytes> random_statuses(bool reversed) {
  std::vector<SystemLayout> layouts(furbot_layouts.systems().begin(), furbot_layouts.systems().end());
  if (reversed) std::reverse(layouts.begin(), layouts.end());
  std::mt19937_64 random(1);
  std::vector<StatusBytes> all(count);
  for (StatusBytes& bytes : all) {
    StatusFrame status;
    status.stamp = static_cast<std::uint32_t>(random());
    for (const SystemLayout& layout : layouts) {
      std::array<std::uint8_t, 32> block;
      for (auto& byte : block) byte = static_cast<std::uint8_t>(random());
      if (!status.set(layout.system, std::span(block).first(layout.length))) std::abort();
    }
    if (encode_status(status, bytes) != full_bytes) std::abort();
  }
  return all;
}

std::vector<ControlFrame> random_controls() {
  std::mt19937_64 random(2);
  std::vector<ControlFrame> all(count);
  for (ControlFrame& frame : all)
    frame = {static_cast<std::uint32_t>(random()), static_cast<std::int32_t>(random()),
             static_cast<std::int32_t>(random()), static_cast<std::uint32_t>(random())};
  return all;
}

// ---- By hand

template <class T>
T swapped(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  return value;
}

struct HandTraction {
  std::int8_t state, mode, reverse;
  std::int16_t speed, left, right, throttle, brake;
  std::int32_t odometer;
};
struct HandSteering {
  std::int8_t state;
  std::int16_t current, target;
};
struct HandBattery {
  std::uint8_t state, charge;
  std::uint16_t current, voltage;
  std::uint8_t high, low;
};
struct HandStatus {
  std::uint32_t stamp = 0;
  std::uint32_t present = 0;
  std::uint32_t unknown = 0;
  HandTraction traction;
  HandSteering steering;
  HandBattery battery;
  std::uint8_t communication[1], motion[7], hydraulics[8], suspension[4][7], fork[2][11];
};

bool hand_block(HandStatus& s, unsigned id, unsigned length, const std::uint8_t* p) {
  switch (id) {
    case 0:
      if (length != 1) return false;
      std::memcpy(s.communication, p, 1);
      break;
    case 1:
      if (length != 8) return false;
      s.battery = {p[0], p[1], swapped<std::uint16_t>(p + 2), swapped<std::uint16_t>(p + 4), p[6], p[7]};
      break;
    case 2:
      if (length != 7) return false;
      std::memcpy(s.motion, p, 7);
      break;
    case 3:
      if (length != 17) return false;
      s.traction.state = static_cast<std::int8_t>(p[0]);
      s.traction.mode = static_cast<std::int8_t>(p[1]);
      s.traction.speed = swapped<std::int16_t>(p + 2);
      s.traction.left = swapped<std::int16_t>(p + 4);
      s.traction.right = swapped<std::int16_t>(p + 6);
      s.traction.throttle = swapped<std::int16_t>(p + 8);
      s.traction.brake = swapped<std::int16_t>(p + 10);
      s.traction.reverse = static_cast<std::int8_t>(p[12]);
      s.traction.odometer = swapped<std::int32_t>(p + 13);
      break;
    case 4:
      if (length != 5) return false;
      s.steering = {static_cast<std::int8_t>(p[0]), swapped<std::int16_t>(p + 1),
                    swapped<std::int16_t>(p + 3)};
      break;
    case 5:
      if (length != 8) return false;
      std::memcpy(s.hydraulics, p, 8);
      break;
    case 6:
    case 7:
    case 8:
    case 9:
      if (length != 7) return false;
      std::memcpy(s.suspension[id - 6], p, 7);
      break;
    case 10:
    case 11:
      if (length != 11) return false;
      std::memcpy(s.fork[id - 10], p, 11);
      break;
    default:
      ++s.unknown;
      return true;
  }
  const std::uint32_t bit = 1U << id;
  if ((s.present & bit) != 0) return false;
  s.present |= bit;
  return true;
}

bool hand_decode(HandStatus& s, const std::uint8_t* bytes, std::size_t size) {
  if (size < 12 || size > 256 || std::memcmp(bytes, "ATSF", 4) != 0) return false;
  s.stamp = swapped<std::uint32_t>(bytes + 4);
  s.present = s.unknown = 0;
  unsigned blocks = 0;
  for (std::size_t at = 12; at < size; ++blocks) {
    if (size - at < 2 || size - at - 2 < bytes[at + 1]) return false;
    if (!hand_block(s, bytes[at], bytes[at + 1], bytes + at + 2)) return false;
    at += 2U + bytes[at + 1];
  }
  return blocks == bytes[8];
}

void hand_encode(const ControlFrame& frame, std::uint8_t* out) {
  const std::uint32_t words[5] = {control_magic, frame.stamp, static_cast<std::uint32_t>(frame.steer),
                                  static_cast<std::uint32_t>(frame.throttle), frame.brake};
  for (std::size_t i = 0; i < 5; ++i) {
    const std::uint32_t word = __builtin_bswap32(words[i]);
    std::memcpy(out + 4 * i, &word, 4);
  }
}

bool hand_decode_control(ControlFrame& frame, const std::uint8_t* bytes, std::size_t size) {
  if (size != control_frame_bytes || std::memcmp(bytes, "FSTA", 4) != 0) return false;
  frame = {swapped<std::uint32_t>(bytes + 4), swapped<std::int32_t>(bytes + 8),
           swapped<std::int32_t>(bytes + 12), swapped<std::uint32_t>(bytes + 16)};
  return true;
}

// ---- Benchmarks: one item is one frame

/// All of it: checked, and the three typed blocks read.
void status_takt(benchmark::State& state, bool reversed) {
  const auto frames = random_statuses(reversed);
  StatusFrame status;
  std::size_t i = 0;
  for (auto _ : state) {
    if (!decode_into(status, frames[i++ % count])) std::abort();
    benchmark::DoNotOptimize(status);
    benchmark::DoNotOptimize(status.traction());
    benchmark::DoNotOptimize(status.steering());
    benchmark::DoNotOptimize(status.battery());
  }
  state.counters["frames_per_second"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}
void status_floor(benchmark::State& state, bool reversed) {
  const auto frames = random_statuses(reversed);
  HandStatus status;
  std::size_t i = 0;
  for (auto _ : state) {
    if (!hand_decode(status, frames[i++ % count].data(), full_bytes)) std::abort();
    benchmark::DoNotOptimize(status);
  }
}
BENCHMARK_CAPTURE(status_takt, in_order, false)->Name("vehicle/status_decode/takt");
BENCHMARK_CAPTURE(status_floor, in_order, false)->Name("vehicle/status_decode/floor");
BENCHMARK_CAPTURE(status_takt, reversed, true)->Name("vehicle/status_decode_other_order/takt");
BENCHMARK_CAPTURE(status_floor, reversed, true)->Name("vehicle/status_decode_other_order/floor");

void control_takt(benchmark::State& state) {
  const auto frames = random_controls();
  ControlBytes bytes;
  std::size_t i = 0;
  for (auto _ : state) {
    if (!encode_control(frames[i++ % count], bytes)) std::abort();
    benchmark::DoNotOptimize(bytes);
  }
}
void control_floor(benchmark::State& state) {
  const auto frames = random_controls();
  ControlBytes bytes;
  std::size_t i = 0;
  for (auto _ : state) {
    hand_encode(frames[i++ % count], bytes.data());
    benchmark::DoNotOptimize(bytes);
  }
}
BENCHMARK(control_takt)->Name("vehicle/control_encode/takt");
BENCHMARK(control_floor)->Name("vehicle/control_encode/floor");

std::vector<ControlBytes> random_control_bytes() {
  std::vector<ControlBytes> all(count);
  const auto frames = random_controls();
  for (std::size_t i = 0; i < count; ++i) hand_encode(frames[i], all[i].data());
  return all;
}
void control_decode_takt(benchmark::State& state) {
  const auto all = random_control_bytes();
  std::size_t i = 0;
  for (auto _ : state) {
    const auto frame = decode_control(all[i++ % count]);
    if (!frame) std::abort();
    benchmark::DoNotOptimize(*frame);
  }
}
void control_decode_floor(benchmark::State& state) {
  const auto all = random_control_bytes();
  ControlFrame frame;
  std::size_t i = 0;
  for (auto _ : state) {
    if (!hand_decode_control(frame, all[i++ % count].data(), control_frame_bytes)) std::abort();
    benchmark::DoNotOptimize(frame);
  }
}
BENCHMARK(control_decode_takt)->Name("vehicle/control_decode/takt");
BENCHMARK(control_decode_floor)->Name("vehicle/control_decode/floor");

}  // namespace
