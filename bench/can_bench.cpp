// The cost of CAN in a control cycle. Codecs for 17 joints are compared with hand-written loads, shifts and
// stores that only clamp. Exact frame lengths are compared with a loop over the bits. One whole read() and
// write() of a robot's hardware.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "takt/can/bits.hpp"
#include "takt/can/bus_load.hpp"
#include "takt/can/hubo.hpp"
#include "takt/can/servo.hpp"
#include "takt/can/setpoint_slots.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/registry.hpp"
#include "takt/drives/servo/servo_hardware.hpp"

namespace {

using namespace takt;
namespace hubo = takt::can::hubo;
namespace servo = takt::can::servo;

constexpr std::size_t joints = 17;
constexpr std::size_t boards = 11;  // of the wheeled humanoid: 12 to 22, six of them with two motors
constexpr double counts_per_radian = 63661.977;

struct Address {
  std::size_t board;
  std::size_t channel;
};
constexpr std::array<Address, joints> addresses = {{{1, 0},
                                                    {2, 0},
                                                    {3, 0},
                                                    {3, 1},
                                                    {4, 0},
                                                    {4, 1},
                                                    {9, 0},
                                                    {5, 0},
                                                    {6, 0},
                                                    {7, 0},
                                                    {7, 1},
                                                    {8, 0},
                                                    {8, 1},
                                                    {10, 0},
                                                    {0, 0},
                                                    {9, 1},
                                                    {10, 1}}};

/// Positions that change from call to call, so that the compiler computes each call.
class Positions {
 public:
  Positions() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-3, 3);
    for (double& value : values_) value = uniform(random);
  }
  const double* next() {
    at_ = (at_ + 1) % (values_.size() - joints);
    return values_.data() + at_;
  }

 private:
  std::array<double, 1024> values_{};
  std::size_t at_ = 0;
};

// ---- Hubo

void hubo_encode_takt(benchmark::State& state) {
  Positions positions;
  std::array<can::Frame, boards> frames{};
  for (auto _ : state) {
    const double* position = positions.next();
    std::array<hubo::Reference, boards> references{};
    for (std::size_t i = 0; i < joints; ++i) {
      const auto counts = hubo::to_counts(position[i], counts_per_radian);
      if (counts) references[addresses[i].board].counts[addresses[i].channel] = *counts;
    }
    for (std::size_t i = 0; i < boards; ++i) {
      references[i].board = static_cast<std::uint8_t>(12 + i);
      benchmark::DoNotOptimize(encode_into(frames[i], references[i]).has_value());
    }
    benchmark::DoNotOptimize(frames);
  }
}
BENCHMARK(hubo_encode_takt)->Name("hubo_encode/17_joints/takt");

void hubo_encode_floor(benchmark::State& state) {
  Positions positions;
  std::array<can::Frame, boards> frames{};
  for (auto _ : state) {
    const double* position = positions.next();
    std::array<std::array<std::uint32_t, 2>, boards> words{};
    for (std::size_t i = 0; i < joints; ++i) {
      const double counts = std::clamp(position[i] * counts_per_radian, -8388607.0, 8388607.0);
      const auto magnitude = static_cast<std::uint32_t>(std::abs(counts) + 0.5);
      words[addresses[i].board][addresses[i].channel] = magnitude | (counts < 0 ? 0x80'0000U : 0U);
    }
    for (std::size_t i = 0; i < boards; ++i) {
      const std::uint64_t bytes = words[i][0] | std::uint64_t{words[i][1]} << 24;
      can::clear(frames[i]);
      frames[i].id = static_cast<std::uint32_t>(0x010 + 12 + i);
      frames[i].length = 6;
      std::memcpy(frames[i].data.data(), &bytes, 8);
    }
    benchmark::DoNotOptimize(frames);
  }
}
BENCHMARK(hubo_encode_floor)->Name("hubo_encode/17_joints/floor");

std::array<can::Frame, boards> encoder_replies() {
  std::mt19937_64 random(2);
  std::array<can::Frame, boards> frames{};
  for (std::size_t i = 0; i < boards; ++i) {
    frames[i] = *encode(
        hubo::EncoderReply{static_cast<std::uint8_t>(12 + i),
                           {static_cast<std::int32_t>(random()), static_cast<std::int32_t>(random())}});
  }
  return frames;
}

void hubo_decode_takt(benchmark::State& state) {
  auto frames = encoder_replies();
  std::array<std::array<double, 2>, hubo::max_board + 1> positions{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(frames);
    for (const can::Frame& frame : frames) {
      hubo::EncoderReply reply;
      if (!decode_into(reply, frame)) continue;
      for (std::size_t channel = 0; channel < 2; ++channel) {
        positions[reply.board][channel] = hubo::to_radians(reply.counts[channel], counts_per_radian);
      }
    }
    benchmark::DoNotOptimize(positions);
  }
}
BENCHMARK(hubo_decode_takt)->Name("hubo_decode/17_joints/takt");

void hubo_decode_floor(benchmark::State& state) {
  auto frames = encoder_replies();
  std::array<std::array<double, 2>, hubo::max_board + 1> positions{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(frames);
    for (const can::Frame& frame : frames) {
      std::array<std::int32_t, 2> counts;
      std::memcpy(counts.data(), frame.data.data(), 8);
      positions[frame.id - 0x060][0] = counts[0] / counts_per_radian;
      positions[frame.id - 0x060][1] = counts[1] / counts_per_radian;
    }
    benchmark::DoNotOptimize(positions);
  }
}
BENCHMARK(hubo_decode_floor)->Name("hubo_decode/17_joints/floor");

// ---- Servo

constexpr std::size_t groups = (joints + servo::slots_per_group - 1) / servo::slots_per_group;

void servo_encode_takt(benchmark::State& state) {
  Positions positions;
  std::array<can::Frame, groups> frames{};
  for (auto _ : state) {
    const double* position = positions.next();
    std::array<servo::GroupCommand, groups> commands{};
    for (std::size_t i = 0; i < joints; ++i) {
      commands[i / servo::slots_per_group].slots[i % servo::slots_per_group] = {
          true, true, false, servo::Mode::position, position[i], position[i] * 2, 0};
    }
    for (std::size_t i = 0; i < groups; ++i) {
      commands[i].group = static_cast<std::uint8_t>(i);
      benchmark::DoNotOptimize(encode_into(frames[i], commands[i]).has_value());
    }
    benchmark::DoNotOptimize(frames);
  }
}
BENCHMARK(servo_encode_takt)->Name("servo_encode/17_joints/takt");

void servo_encode_floor(benchmark::State& state) {
  Positions positions;
  std::array<can::Frame, groups> frames{};
  const auto round = [](double value, double limit) {
    value = std::clamp(value, -limit - 1, limit);
    return static_cast<std::int64_t>(value + std::copysign(0.5, value));
  };
  for (auto _ : state) {
    const double* position = positions.next();
    for (std::size_t i = 0; i < groups; ++i) {
      can::clear(frames[i]);
      frames[i].id = static_cast<std::uint32_t>(0x100 + i);
      frames[i].length = 64;
      frames[i].fd = frames[i].bit_rate_switch = true;
      frames[i].data[0] = 1;
      frames[i].data[2] = 20;
    }
    for (std::size_t i = 0; i < joints; ++i) {
      std::uint8_t* const slot = frames[i / 6].data.data() + 4 + 10 * (i % 6);
      const auto p = static_cast<std::uint32_t>(round(position[i] * 0x1p24, 0x1p31 - 1));
      const auto v = static_cast<std::uint64_t>(round(position[i] * 2 * 0x1p16, 0x1p23 - 1)) & 0xFF'FFFFU;
      const auto t = static_cast<std::uint16_t>(round(0 * 0x1p5, 0x1p15 - 1));
      const std::uint64_t bytes = 0x03U | std::uint64_t{p} << 8 | v << 40;
      std::memcpy(slot, &bytes, 8);
      std::memcpy(slot + 8, &t, 2);
    }
    benchmark::DoNotOptimize(frames);
  }
}
BENCHMARK(servo_encode_floor)->Name("servo_encode/17_joints/floor");

std::array<can::Frame, joints> servo_replies() {
  Positions positions;
  std::array<can::Frame, joints> frames{};
  for (std::size_t i = 0; i < joints; ++i) {
    const double value = positions.next()[0];
    frames[i] = *encode(servo::DriveReply{static_cast<std::uint8_t>(1 + i), 1, servo::State::ready, 0, value,
                                          -value, 10 * value});
  }
  return frames;
}

struct Motion {
  double position;
  double velocity;
  double torque;
  std::uint8_t state;
  std::uint8_t fault;
};

void servo_decode_takt(benchmark::State& state) {
  auto frames = servo_replies();
  std::array<Motion, servo::max_node + 1> motions{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(frames);
    for (const can::Frame& frame : frames) {
      const auto reply = servo::decode_reply(frame);
      if (!reply) continue;
      motions[reply->node] = {reply->position, reply->velocity, reply->torque,
                              static_cast<std::uint8_t>(reply->state), reply->fault};
    }
    benchmark::DoNotOptimize(motions);
  }
}
BENCHMARK(servo_decode_takt)->Name("servo_decode/17_joints/takt");

void servo_decode_floor(benchmark::State& state) {
  auto frames = servo_replies();
  std::array<Motion, servo::max_node + 1> motions{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(frames);
    for (const can::Frame& frame : frames) {
      std::int32_t p = 0;
      std::int32_t v = 0;
      std::int16_t t = 0;
      std::memcpy(&p, frame.data.data() + 3, 4);
      std::memcpy(&v, frame.data.data() + 6, 4);
      std::memcpy(&t, frame.data.data() + 10, 2);
      motions[frame.id - 0x180] = {p * 0x1p-24, (v >> 8) * 0x1p-16, t * 0x1p-5, frame.data[1], frame.data[2]};
    }
    benchmark::DoNotOptimize(motions);
  }
}
BENCHMARK(servo_decode_floor)->Name("servo_decode/17_joints/floor");

// ---- Frame lengths

std::vector<can::Frame> random_frames(bool fd, std::uint8_t length) {
  std::mt19937_64 random(3);
  std::vector<can::Frame> frames(256);
  for (can::Frame& frame : frames) {
    frame.id = static_cast<std::uint32_t>(random()) & 0x7FFU;
    frame.fd = frame.bit_rate_switch = fd;
    frame.length = length;
    for (std::size_t i = 0; i < length; ++i) frame.data[i] = static_cast<std::uint8_t>(random());
  }
  return frames;
}

template <class Measure>
void frame_bits(benchmark::State& state, bool fd, std::uint8_t length, Measure measure) {
  const std::vector<can::Frame> frames = random_frames(fd, length);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(measure(frames[i]));
    i = (i + 1) % frames.size();
  }
}

const auto exact = [](const can::Frame& frame) { return can::frame_bits(frame); };

/// The direct method: every bit of a classic frame through checksum and stuffing.
const auto bitwise = [](const can::Frame& frame) {
  std::uint32_t crc = 0;
  std::uint32_t total = 0;
  unsigned run = 0;
  bool last = true;
  const auto send = [&](bool bit, bool checked) {
    ++total;
    run = bit == last ? run + 1 : 1;
    last = bit;
    if (checked) crc = (crc << 1 ^ ((((crc >> 14) & 1U) != 0) != bit ? 0x4599U : 0U)) & 0x7FFFU;
    if (run == 5) {
      ++total;
      last = !bit;
      run = 1;
    }
  };
  const auto send_all = [&](std::uint32_t bits, unsigned count, bool checked) {
    while (count-- > 0) send((bits >> count & 1U) != 0, checked);
  };
  send_all(frame.id << 7 | frame.length, 19, true);
  for (std::size_t i = 0; i < frame.length; ++i) send_all(frame.data[i], 8, true);
  send_all(crc, 15, false);
  return total + 13;
};

BENCHMARK_CAPTURE(frame_bits, classic_8, false, 8, exact)->Name("frame_bits/classic_8/takt");
BENCHMARK_CAPTURE(frame_bits, classic_8_bitwise, false, 8, bitwise)->Name("frame_bits/classic_8/bitwise");
BENCHMARK_CAPTURE(frame_bits, fd_64, true, 64, exact)->Name("frame_bits/fd_64/takt");

/// One frame among forty watched messages.
void bus_meter(benchmark::State& state) {
  std::vector<can::Frame> frames = random_frames(false, 8);
  can::BusMeter<> meter({}, Duration(100'000'000));
  for (std::size_t i = 0; i < 40; ++i) meter.watch(frames[i].id, false, Duration(1'000'000));
  Time now{};
  std::size_t i = 0;
  for (auto _ : state) {
    now += Duration(25'000);
    frames[i].stamp = now;
    meter.note(frames[i]);
    i = (i + 1) % 40;
  }
  benchmark::DoNotOptimize(meter.load(now));
}
BENCHMARK(bus_meter)->Name("can_bus_meter/40_messages/takt");

// ---- Setpoints

/// Takes all frames, and returns the same replies each cycle.
struct LoopBus {
  std::vector<can::Frame> replies;
  std::size_t send(std::span<const can::Frame> frames) noexcept {
    benchmark::DoNotOptimize(frames.data());
    return frames.size();
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept {
    const std::size_t count = std::min(frames.size(), replies.size());
    std::copy_n(replies.begin(), count, frames.begin());
    return count;
  }
};

/// A cycle of twenty setpoints through slots, all of which the bus takes. The comparison copies the frames
/// into a batch.
void setpoint_slots(benchmark::State& state) {
  const std::vector<can::Frame> frames = random_frames(false, 8);
  can::SetpointSlots<> slots;
  std::array<std::size_t, 20> numbers{};
  for (std::size_t& number : numbers) number = slots.add(0).value();
  LoopBus bus;
  Time now{};
  for (auto _ : state) {
    for (const std::size_t number : numbers) slots.put(number, frames[number], now + Duration(1'000'000));
    benchmark::DoNotOptimize(slots.flush(bus, now));
    now += Duration(1'000'000);
  }
}
BENCHMARK(setpoint_slots)->Name("can_setpoint_slots/20_messages/takt");

void setpoint_batch(benchmark::State& state) {
  const std::vector<can::Frame> frames = random_frames(false, 8);
  std::array<can::Frame, 20> batch{};
  LoopBus bus;
  for (auto _ : state) {
    std::copy_n(frames.begin(), batch.size(), batch.begin());
    benchmark::DoNotOptimize(bus.send(batch));
  }
}
BENCHMARK(setpoint_batch)->Name("can_setpoint_slots/20_messages/batch");

// ---- A cycle of the hardware

robot::RobotDescription seventeen_joints(const robot::DriveProtocol* protocol) {
  robot::RobotDescription description;
  description.buses.resize(1);
  description.buses[0].protocol = protocol;
  description.joints.resize(joints);
  for (std::size_t i = 0; i < joints; ++i) {
    const bool is_hubo = protocol == drives::find("hubo");
    description.joints[i].board = static_cast<std::uint8_t>(is_hubo ? 12 + addresses[i].board : 1 + i);
    description.joints[i].channel = static_cast<std::uint8_t>(is_hubo ? addresses[i].channel : 0);
    description.joints[i].counts_per_radian = counts_per_radian;
  }
  return description;
}

template <class HardwareType>
void hardware_cycle(benchmark::State& state, HardwareType& hardware) {
  std::array<robot::JointFeedback, joints> feedback{};
  std::array<JointCommand, joints> commands{};
  for (JointCommand& command : commands) command.want_power = true;
  Time now{};
  for (auto _ : state) {
    now += Duration(5'000'000);
    hardware.read(now, feedback);
    for (std::size_t i = 0; i < joints; ++i) commands[i].position = feedback[i].position;
    hardware.write(now, commands);
    benchmark::DoNotOptimize(feedback);
  }
}

void hubo_cycle(benchmark::State& state) {
  LoopBus bus;
  for (const can::Frame& frame : encoder_replies()) bus.replies.push_back(frame);
  for (std::size_t i = 0; i < boards; ++i) {
    hubo::StatusReply status{static_cast<std::uint8_t>(12 + i), {}};
    for (hubo::MotorStatus& motor : status.motors) motor.driver_on = motor.control_on = true;
    bus.replies.push_back(*encode(status, hubo::Dialect::podo));
  }
  LoopBus* const pointer = &bus;
  const auto hardware = std::move(
      *drives::HuboHardware<LoopBus>::create(seventeen_joints(drives::find("hubo")), {&pointer, 1}));
  hardware_cycle(state, *hardware);
}
BENCHMARK(hubo_cycle)->Name("hubo_hardware/17_joint_cycle/takt");

void servo_cycle(benchmark::State& state) {
  LoopBus bus;
  for (const can::Frame& frame : servo_replies()) bus.replies.push_back(frame);
  LoopBus* const pointer = &bus;
  const auto hardware = std::move(
      *drives::ServoHardware<LoopBus>::create(seventeen_joints(drives::find("servo")), {&pointer, 1}));
  hardware_cycle(state, *hardware);
}
BENCHMARK(servo_cycle)->Name("servo_hardware/17_joint_cycle/takt");

}  // namespace
