// Cycle plans on the virtual bus, for twenty drives at 1 kHz. The result of bus_load() must match the
// simulation of every frame, bit by bit, with random data, for a thousand cycles.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "takt/can/bus_load.hpp"
#include "takt/drives/registry.hpp"
#include "takt/drives/servo/servo_hardware.hpp"
#include "takt/sim/robot_simulation.hpp"
#include "takt/sim/virtual_can_bus.hpp"

using namespace takt;
using namespace std::chrono_literals;
using can::Frame;
using can::FrameFormat;
using sim::VirtualCanBus;

namespace {

constexpr Duration cycle = 1ms;
constexpr FrameFormat classic{};
constexpr FrameFormat fd{.fd = true, .bit_rate_switch = true};

/// One bus and its cycle: the master's frames, of which the first starts the cycle, and a reply of eight
/// bytes from each drive.
struct Plan {
  FrameFormat format;
  std::vector<std::uint8_t> commands;  // their lengths
  std::uint32_t drives;

  [[nodiscard]] can::BusLoad load() const {
    std::vector<can::PlannedFrame> frames{{.format = format, .length = 8, .period = cycle, .count = drives}};
    for (const std::uint8_t length : commands)
      frames.push_back({.format = format, .length = length, .period = cycle});
    return can::bus_load(frames, {}, cycle).value();
  }
};

/// SYNC, and a command for each drive.
Plan classic_plan(std::uint32_t drives) {
  std::vector<std::uint8_t> commands(drives, 8);
  commands.insert(commands.begin(), 0);
  return {classic, commands, drives};
}

struct Outcome {
  Duration least = Duration::max();  // bus time of a cycle
  Duration most{};
  std::size_t late = 0;  // cycles that started while frames of the last one were still waiting or on the wire
};

Frame random_frame(std::mt19937_64& random, std::uint32_t id, std::uint8_t length, FrameFormat format) {
  Frame frame;
  frame.id = id;
  frame.length = length;
  frame.fd = format.fd;
  frame.bit_rate_switch = format.bit_rate_switch;
  for (std::size_t i = 0; i < length; ++i) frame.data[i] = static_cast<std::uint8_t>(random());
  return frame;
}

/// Runs the plan; drives answer as soon as the first frame of the cycle has ended.
Outcome run(const Plan& plan, std::size_t cycles) {
  auto random = test::generator(plan.drives);
  VirtualCanBus bus;
  auto master = bus.connect({.transmit = 64, .receive = 0});
  std::vector<VirtualCanBus::Port> drives;
  for (std::uint32_t i = 0; i < plan.drives; ++i)
    drives.push_back(bus.connect({.transmit = 4, .receive = 0}));
  const std::size_t frames_in_cycle = plan.commands.size() + plan.drives;

  Outcome outcome;
  for (std::size_t i = 0; i < cycles; ++i) {
    const Time end = Time(static_cast<Duration::rep>(i + 1) * cycle);
    const Duration busy_before = bus.statistics().busy;
    for (std::size_t k = 0; k < plan.commands.size(); ++k) {
      const Frame frame =
          random_frame(random, static_cast<std::uint32_t>(0x080 + k), plan.commands[k], plan.format);
      master.send({&frame, 1});
    }
    std::size_t completed = 0;
    while (const Frame* frame = bus.step(end)) {
      ++completed;
      if (frame->id != 0x080) continue;
      for (std::uint32_t drive = 0; drive < plan.drives; ++drive) {
        const Frame status = random_frame(random, 0x180 + drive, 8, plan.format);
        drives[drive].send({&status, 1});
      }
    }
    const Duration busy = bus.statistics().busy - busy_before;
    outcome.least = std::min(outcome.least, busy);
    outcome.most = std::max(outcome.most, busy);
    if (completed != frames_in_cycle) ++outcome.late;
  }
  return outcome;
}

void check_within(const Outcome& outcome, const can::BusLoad& load) {
  CHECK(to_seconds(outcome.least) >= load.least.time - 1e-9);
  CHECK(to_seconds(outcome.most) <= load.worst.time + 1e-9);
}

}  // namespace

TEST_CASE("three drives on a classic bus take 713 to 865 us of each millisecond; five cannot be served") {
  const Plan three = classic_plan(3);
  CHECK(three.load().least.time == doctest::Approx(713e-6));
  CHECK(three.load().worst.time == doctest::Approx(865e-6));
  CHECK(three.load().fits());
  const Outcome good = run(three, 1000);
  CHECK(good.late == 0);
  CHECK(good.least >= 713us);
  CHECK(good.most <= 865us);

  const Plan five = classic_plan(5);
  CHECK(five.load().least.time == doctest::Approx(1157e-6));
  CHECK(!five.load().fits());
  CHECK(run(five, 1000).late == 1000);
}

TEST_CASE("twenty drives on one classic bus are refused, and would be served once in five cycles") {
  const can::BusLoad load = classic_plan(20).load();
  CHECK(load.worst.time == doctest::Approx((40 * 135 + 55) * 1e-6));  // 5455 us of 1000
  CHECK(load.least.time == doctest::Approx((40 * 111 + 47) * 1e-6));
  CHECK(load.worst.utilisation == doctest::Approx(5.455));
  CHECK(!load.fits());
  CHECK(run(classic_plan(20), 100).late == 100);
}

TEST_CASE("twenty drives on two or three CAN FD buses meet a cycle of a millisecond, for a thousand cycles") {
  const Plan ten{fd, {64, 16}, 10};  // two such buses
  const Plan seven{fd, {64}, 7};     // three, the last one with six
  for (const Plan& plan : {ten, seven}) {
    CAPTURE(plan.drives);
    REQUIRE(plan.load().fits());
    const Outcome outcome = run(plan, 1000);
    CHECK(outcome.late == 0);
    check_within(outcome, plan.load());
  }
  CHECK(ten.load().worst.time == doctest::Approx(808e-6).epsilon(0.001));
  CHECK(seven.load().worst.time == doctest::Approx(566e-6).epsilon(0.001));

  const Plan all{fd, {64, 64, 32}, 20};
  CHECK(!all.load().fits());
  CHECK(run(all, 100).late == 100);
}

TEST_CASE("twenty servo drives on three CAN FD buses come up and answer in every cycle of a millisecond") {
  robot::RobotDescription description;
  description.period = cycle;
  description.buses.resize(3);
  for (auto& bus : description.buses) bus.protocol = drives::find("servo");
  for (std::size_t i = 0; i < 20; ++i) {
    robot::JointDescription joint;
    joint.name = "joint" + std::to_string(i);
    joint.bus = i / 7;
    joint.board = static_cast<std::uint8_t>(1 + i % 7);
    description.joints.push_back(joint);
  }
  auto simulation = sim::RobotSimulation::create(description).value();
  std::array<VirtualCanBus::Port, 3> ports{simulation.host(0), simulation.host(1), simulation.host(2)};
  const std::array buses{&ports[0], &ports[1], &ports[2]};
  const auto hardware = drives::ServoHardware<VirtualCanBus::Port>::create(
                            description, std::span<VirtualCanBus::Port* const>(buses))
                            .value();

  std::vector<robot::JointFeedback> feedback(20);
  std::vector<JointCommand> commands(20);
  for (auto& command : commands) command.want_power = true;
  Time now{};
  for (int i = 0; i < 1100; ++i) {
    now += cycle;
    simulation.advance(now);
    hardware->read(now, feedback);
    hardware->write(now, commands);
    if (i < 100) continue;  // they start
    for (const robot::JointFeedback& joint : feedback) {
      REQUIRE(joint.drive == DriveState::ready);
      REQUIRE(joint.stamp > now - cycle);
    }
  }
  CHECK(hardware->counters().frames_refused == 0);
  for (std::size_t i = 0; i < 3; ++i) CHECK(simulation.bus(i).statistics().load() < 0.7);
}
