// The cost of 20 CiA 402 drives in a control cycle. Their process data, from radians to frames and back, are
// compared with hand-written shifts and stores without checks. Also the control of each drive's state
// machine, and one whole read() and write() of the hardware.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "takt/can/cia402/drive_control.hpp"
#include "takt/can/quantise.hpp"
#include "takt/drives/cia402/cia402_hardware.hpp"
#include "takt/drives/registry.hpp"

namespace {

using namespace takt;
namespace cia402 = takt::can::cia402;

constexpr std::size_t drives = 20;
constexpr double counts_per_radian = 10'000;
constexpr std::int64_t top = 2'147'483'647;

/// Positions that change from call to call, so that the compiler computes each call.
class Positions {
 public:
  Positions() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-3, 3);
    for (double& value : values_) value = uniform(random);
  }
  const double* next() {
    at_ = (at_ + 1) % (values_.size() - drives);
    return values_.data() + at_;
  }

 private:
  std::array<double, 1024> values_{};
  std::size_t at_ = 0;
};

std::array<can::Frame, drives> answers() {
  std::array<can::Frame, drives> frames{};
  for (std::size_t i = 0; i < drives; ++i) {
    const cia402::Command content{0x0237, cia402::Mode::cyclic_position, static_cast<std::int32_t>(1000 * i),
                                  0, 0};
    cia402::put_receive_pdo_1(frames[i], static_cast<std::uint8_t>(i + 1), content);
    frames[i].id = static_cast<std::uint32_t>(0x181 + i);
  }
  return frames;
}

struct Heard {
  double position;
  std::uint16_t status_word;
  std::int8_t mode;
};

void cycle_takt(benchmark::State& state) {
  Positions positions;
  auto received = answers();
  std::array<can::Frame, drives> sent{};
  std::array<Heard, drives> heard{};
  for (auto _ : state) {
    const double* position = positions.next();
    benchmark::DoNotOptimize(received);
    for (std::size_t i = 0; i < drives; ++i) {
      cia402::Feedback feedback;
      if (!take_transmit_pdo_1(feedback, received[i])) continue;
      heard[i] = {feedback.position / counts_per_radian, feedback.status_word,
                  static_cast<std::int8_t>(feedback.mode)};
      const auto counts = can::round_clamped(position[i] * counts_per_radian, -top - 1, top);
      cia402::put_receive_pdo_1(sent[i], static_cast<std::uint8_t>(i + 1),
                                {cia402::control::enable_operation, cia402::Mode::cyclic_position,
                                 static_cast<std::int32_t>(counts), 0, 0});
    }
    benchmark::DoNotOptimize(sent);
    benchmark::DoNotOptimize(heard);
  }
}
BENCHMARK(cycle_takt)->Name("cia402_codec/20_drives/takt");

void cycle_floor(benchmark::State& state) {
  Positions positions;
  auto received = answers();
  std::array<can::Frame, drives> sent{};
  std::array<Heard, drives> heard{};
  for (auto _ : state) {
    const double* position = positions.next();
    benchmark::DoNotOptimize(received);
    for (std::size_t i = 0; i < drives; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, received[i].data.data(), 8);
      heard[i] = {static_cast<std::int32_t>(word >> 24) / counts_per_radian, static_cast<std::uint16_t>(word),
                  static_cast<std::int8_t>(word >> 16)};
      const double counts = std::clamp(position[i] * counts_per_radian, -2147483648.0, 2147483647.0);
      const auto number = static_cast<std::int32_t>(counts + (counts < 0 ? -0.5 : 0.5));
      word = 0x000F | std::uint64_t{8} << 16 | std::uint64_t{static_cast<std::uint32_t>(number)} << 24;
      can::clear(sent[i]);
      sent[i].id = static_cast<std::uint32_t>(0x201 + i);
      sent[i].length = 7;
      std::memcpy(sent[i].data.data(), &word, 8);
    }
    benchmark::DoNotOptimize(sent);
    benchmark::DoNotOptimize(heard);
  }
}
BENCHMARK(cycle_floor)->Name("cia402_codec/20_drives/floor");

void control(benchmark::State& state) {
  Positions positions;
  std::vector<cia402::DriveControl> controls(drives);
  auto received = answers();
  std::array<can::Frame, drives> sent{};
  cia402::Demand demand;
  demand.target = cia402::Target::operation_enabled;
  Time now{};
  for (auto _ : state) {
    const double* position = positions.next();
    now += Duration(1'000'000);
    benchmark::DoNotOptimize(received);
    for (std::size_t i = 0; i < drives; ++i) {
      cia402::Feedback feedback;
      if (take_transmit_pdo_1(feedback, received[i])) controls[i].heard(feedback, now);
      demand.position =
          static_cast<std::int32_t>(can::round_clamped(position[i] * counts_per_radian, -top - 1, top));
      cia402::put_receive_pdo_1(sent[i], static_cast<std::uint8_t>(i + 1), controls[i].step(demand, now));
    }
    benchmark::DoNotOptimize(sent);
  }
}
BENCHMARK(control)->Name("cia402_control/20_drives/takt");

/// Confirms every SDO, and answers every SYNC with the drives' transmit PDOs.
class DriveBus {
 public:
  std::size_t send(std::span<const can::Frame> frames) noexcept {
    for (const can::Frame& frame : frames) {
      if (frame.id == can::canopen::sync_id) {
        for (const can::Frame& answer : answers_) put(answer);
      } else if (frame.id > can::canopen::sdo_request_base) {
        can::Frame reply = frame;
        reply.id = frame.id - can::canopen::sdo_request_base + can::canopen::sdo_reply_base;
        reply.data[0] = 0x60;
        put(reply);
      }
    }
    return frames.size();
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept {
    const std::size_t count = std::min(frames.size(), waiting_.size() - given_);
    std::copy_n(waiting_.begin() + static_cast<std::ptrdiff_t>(given_), count, frames.begin());
    given_ += count;
    if (given_ == waiting_.size()) {
      waiting_.clear();
      given_ = 0;
    }
    return count;
  }

 private:
  void put(const can::Frame& frame) noexcept {
    if (waiting_.size() < waiting_.capacity()) waiting_.push_back(frame);
  }
  std::array<can::Frame, drives> answers_ = answers();
  std::vector<can::Frame> waiting_ = [] {
    std::vector<can::Frame> room;
    room.reserve(256);
    return room;
  }();
  std::size_t given_ = 0;
};

void hardware_cycle(benchmark::State& state) {
  robot::RobotDescription description;
  description.period = Duration(1'000'000);
  description.buses.resize(1);
  description.buses[0].protocol = drives::find("cia402");
  description.joints.resize(drives);
  for (std::size_t i = 0; i < drives; ++i) {
    description.joints[i].board = static_cast<std::uint8_t>(i + 1);
    description.joints[i].counts_per_radian = counts_per_radian;
  }
  DriveBus bus;
  DriveBus* const pointer = &bus;
  const auto hardware = std::move(*drives::Cia402Hardware<DriveBus>::create(description, {&pointer, 1}));
  std::array<robot::JointFeedback, drives> feedback{};
  std::array<JointCommand, drives> commands{};
  for (JointCommand& command : commands) command.want_power = true;
  Time now{};
  const auto cycle = [&] {
    now += description.period;
    hardware->read(now, feedback);
    for (std::size_t i = 0; i < drives; ++i) commands[i].position = feedback[i].position;
    hardware->write(now, commands);
  };
  for (int i = 0; i < 2000; ++i) cycle();  // until all are configured
  for (auto _ : state) {
    cycle();
    benchmark::DoNotOptimize(feedback);
  }
  if (feedback[drives - 1].drive == DriveState::unknown) state.SkipWithError("no drive answers");
}
BENCHMARK(hardware_cycle)->Name("cia402_hardware/20_drive_cycle/takt");

}  // namespace
