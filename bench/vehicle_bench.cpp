// The frames of the vehicle against hand-written code for these frames only. It checks lengths, and compares
// blocks in the usual order at their expected places. Blocks in another order are searched. They are copied
// at once, and numbers are swapped at known places.
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

/// All systems, in the table's order or reversed.
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
constexpr std::size_t hand_systems = 12;
constexpr std::uint8_t hand_lengths[hand_systems] = {1, 8, 7, 17, 5, 8, 7, 7, 7, 7, 11, 11};

struct HandStatus {
  std::uint32_t stamp = 0;
  std::uint32_t present = 0;
  std::uint32_t unknown = 0;
  HandTraction traction;
  HandSteering steering;
  HandBattery battery;
  std::uint8_t places[hand_systems];     ///< places of the payloads
  std::uint8_t bytes[max_status_bytes];  ///< bytes of the frame, from which the other systems are read
};

/// All systems in rising order: each header has a fixed place, and does not depend on the one before.
bool is_hand_order(const std::uint8_t* bytes, std::size_t size) {
  if (size != full_bytes) return false;
  unsigned different = 0;
  std::size_t at = status_header_bytes;
  for (std::size_t id = 0; id < hand_systems; at += 2U + hand_lengths[id++]) {
    std::uint16_t head;
    std::memcpy(&head, bytes + at, 2);
    different |= head ^ static_cast<unsigned>(id | hand_lengths[id] << 8);
  }
  return different == 0;
}

/// Errors: a block that is truncated, of another length, or repeated.
bool hand_scan(HandStatus& s, const std::uint8_t* bytes, std::size_t size, unsigned& blocks) {
  std::uint32_t present = 0;
  for (std::size_t at = status_header_bytes; at < size; ++blocks) {
    if (size - at < 2 || size - at - 2 < bytes[at + 1]) return false;
    const unsigned id = bytes[at];
    const unsigned length = bytes[at + 1];
    at += 2;
    if (id < hand_systems) {
      if (length != hand_lengths[id] || (present >> id & 1) != 0) return false;
      present |= 1U << id;
      s.places[id] = static_cast<std::uint8_t>(at);
    } else {
      ++s.unknown;
    }
    at += length;
  }
  s.present = present;
  return true;
}

bool hand_decode(HandStatus& s, const std::uint8_t* bytes, std::size_t size) {
  if (size < status_header_bytes || size > max_status_bytes || std::memcmp(bytes, "ATSF", 4) != 0)
    return false;
  s.stamp = swapped<std::uint32_t>(bytes + 4);
  s.unknown = 0;
  unsigned blocks = 0;
  if (is_hand_order(bytes, size)) {
    constexpr std::uint8_t places[hand_systems] = {14, 17, 27, 36, 55, 62, 72, 81, 90, 99, 108, 121};
    std::memcpy(s.places, places, sizeof places);
    s.present = (1U << hand_systems) - 1;
    blocks = hand_systems;
  } else if (!hand_scan(s, bytes, size, blocks)) {
    return false;
  }
  if (blocks != bytes[8]) return false;
  std::memcpy(s.bytes, bytes, size);
  if ((s.present & 1U << 1) != 0) {
    const std::uint8_t* const p = bytes + s.places[1];
    s.battery = {p[0], p[1], swapped<std::uint16_t>(p + 2), swapped<std::uint16_t>(p + 4), p[6], p[7]};
  }
  if ((s.present & 1U << 3) != 0) {
    const std::uint8_t* const p = bytes + s.places[3];
    s.traction = {
        static_cast<std::int8_t>(p[0]), static_cast<std::int8_t>(p[1]), static_cast<std::int8_t>(p[12]),
        swapped<std::int16_t>(p + 2),   swapped<std::int16_t>(p + 4),   swapped<std::int16_t>(p + 6),
        swapped<std::int16_t>(p + 8),   swapped<std::int16_t>(p + 10),  swapped<std::int32_t>(p + 13)};
  }
  if ((s.present & 1U << 4) != 0) {
    const std::uint8_t* const p = bytes + s.places[4];
    s.steering = {static_cast<std::int8_t>(p[0]), swapped<std::int16_t>(p + 1), swapped<std::int16_t>(p + 3)};
  }
  return true;
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

/// The whole decoding: checks, and reading of the three typed blocks.
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
    if (!encode_control(frames[i++ % count], bytes, ByteOrder::big)) std::abort();
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
    const auto frame = decode_control(all[i++ % count], ByteOrder::big);
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
