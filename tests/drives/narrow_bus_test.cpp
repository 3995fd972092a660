// Masters on a bus that takes fewer frames per call than a cycle has, as a SocketCAN interface with its
// default queue of ten. Every drive is still received, configured, enabled and moved. Frames without room are
// counted by joint.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "takt/drives/cia402/cia402_hardware.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/registry.hpp"
#include "takt/drives/servo/servo_hardware.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

/// Takes `room` frames per call, and keeps them.
class NarrowBus {
 public:
  NarrowBus(sim::VirtualCanBus::Port port, std::size_t frames) : room(frames), port_(port) {}

  std::size_t send(std::span<const can::Frame> frames) noexcept {
    const std::size_t taken = port_.send(frames.first(std::min(frames.size(), room)));
    sent.insert(sent.end(), frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(taken));
    return taken;
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept { return port_.receive(frames); }

  std::size_t room;
  std::vector<can::Frame> sent;

 private:
  sim::VirtualCanBus::Port port_;
};

/// One bus with `joints` drives of one joint each.
robot::RobotDescription one_bus(const robot::DriveProtocol* protocol, std::size_t joints, Duration period) {
  robot::RobotDescription robot;
  robot.period = period;
  robot.buses.push_back({.name = "can0", .protocol = protocol});
  for (std::size_t i = 0; i < joints; ++i) {
    robot::JointDescription joint;
    joint.name = "joint" + std::to_string(i);
    joint.board = static_cast<std::uint8_t>(i + 1);
    joint.counts_per_radian = 10'000;
    robot.joints.push_back(joint);
  }
  return robot;
}

template <template <class> class HardwareType>
class Rig {
 public:
  Rig(robot::RobotDescription robot, std::size_t room)
      : description(std::move(robot)),
        simulation(sim::RobotSimulation::create(description).value()),
        bus(simulation.host(0), room),
        feedback(description.joints.size()),
        commands(description.joints.size()) {
    NarrowBus* const pointer = &bus;
    hardware = std::move(HardwareType<NarrowBus>::create(description, {&pointer, 1}).value());
    power(true);
  }

  void run(Duration length) {
    for (const Time end = now + length; now < end;) {
      now += description.period;
      simulation.advance(now);
      hardware->read(now, feedback);
      hardware->write(now, commands);
    }
  }
  void power(bool on) {
    for (JointCommand& command : commands) command.want_power = on;
  }
  [[nodiscard]] long in_state(DriveState state) const {
    return std::ranges::count(feedback, state, &robot::JointFeedback::drive);
  }
  /// Counts the frames by the number that `number_of` gives them; frames without a number are left out.
  template <class Number>
  [[nodiscard]] std::vector<std::size_t> sent_by(Number number_of) const {
    std::vector<std::size_t> counts(description.joints.size());
    for (const can::Frame& frame : bus.sent) {
      const std::optional<std::size_t> number = number_of(frame);
      if (number && *number < counts.size()) ++counts[*number];
    }
    return counts;
  }

  robot::RobotDescription description;
  sim::RobotSimulation simulation;
  NarrowBus bus;
  std::unique_ptr<HardwareType<NarrowBus>> hardware;
  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
  Time now{};
};

/// All drives start, are received often enough, move to their references, and stop.
template <class Rig>
void check_all_drives(Rig& rig, Duration silence) {
  const auto joints = static_cast<long>(rig.feedback.size());
  rig.run(5s);
  REQUIRE(rig.in_state(DriveState::ready) == joints);
  for (std::size_t i = 0; i < rig.feedback.size(); ++i) rig.commands[i].position = 0.02;
  rig.run(1s);
  for (const robot::JointFeedback& joint : rig.feedback) {
    CHECK(joint.stamp > rig.now - silence);
    CHECK(joint.position == doctest::Approx(0.02).epsilon(0.05));
  }
  rig.power(false);
  rig.run(1s);
  CHECK(rig.in_state(DriveState::off) == joints);
}

/// Every joint starved, and is reported.
template <class Rig>
void check_starvation(const Rig& rig) {
  const robot::HardwareCounters counters = rig.hardware->counters();
  CHECK(counters.frames_starved > 0);
  CHECK(counters.frames_refused >= counters.frames_starved);
  CHECK(counters.starved == JointSet::first(rig.feedback.size()));
  for (std::size_t i = 0; i < rig.feedback.size(); ++i) CHECK(rig.hardware->starved(i) > 0);
  CHECK(rig.hardware->starved(rig.feedback.size()) == 0);
}

}  // namespace

TEST_CASE("nine Hubo boards on a bus that takes ten frames a call are all asked, enabled and moved") {
  Rig<drives::HuboHardware> rig(one_bus(drives::find("hubo"), 9, 10ms), 10);
  check_all_drives(rig, 50ms);
  check_starvation(rig);

  rig.power(true);
  rig.run(1s);
  rig.bus.sent.clear();
  rig.run(10s);
  const auto requests = rig.sent_by([](const can::Frame& frame) -> std::optional<std::size_t> {
    const auto command = can::hubo::decode_command(frame);
    if (!command || command->code != can::hubo::CommandCode::encoder) return std::nullopt;
    return command->board - 1U;
  });
  const auto references = rig.sent_by([](const can::Frame& frame) -> std::optional<std::size_t> {
    const auto reference = can::hubo::decode_reference(frame);
    if (!reference) return std::nullopt;
    return reference->board - 1U;
  });
  // 19 frames, 10 at a time: each at least in every second cycle.
  for (const std::size_t count : requests) CHECK(count >= 500);
  for (const std::size_t count : references) CHECK(count >= 500);
}

TEST_CASE("twelve CiA 402 drives on a bus that takes ten frames a call are all configured and moved") {
  Rig<drives::Cia402Hardware> rig(one_bus(drives::find("cia402"), 12, 10ms), 10);
  check_all_drives(rig, 50ms);
  check_starvation(rig);

  rig.bus.sent.clear();
  rig.power(true);
  rig.run(10s);
  CHECK(rig.in_state(DriveState::ready) == 12);
  const auto targets = rig.sent_by([](const can::Frame& frame) -> std::optional<std::size_t> {
    if (frame.id <= 0x200 || frame.id > 0x27F) return std::nullopt;
    return frame.id - 0x201;
  });
  for (const std::size_t count : targets) CHECK(count >= 500);
  const auto is_sync = [](const can::Frame& frame) { return frame.id == 0x080; };
  CHECK(std::ranges::count_if(rig.bus.sent, is_sync) == 1000);  // of every cycle
  const auto is_heartbeat = [](const can::Frame& frame) { return frame.id == 0x700 + 127; };
  CHECK(std::ranges::count_if(rig.bus.sent, is_heartbeat) > 100);
}

TEST_CASE("five groups of servo drives on a bus that takes two frames a call are all moved") {
  Rig<drives::ServoHardware> rig(one_bus(drives::find("servo"), 30, 10ms), 2);
  check_all_drives(rig, 50ms);
  check_starvation(rig);
}

TEST_CASE("on a bus that accepts whole cycles nothing is refused, and no drive starves") {
  const auto check = [](auto& rig) {
    check_all_drives(rig, 20ms);
    const robot::HardwareCounters counters = rig.hardware->counters();
    CHECK(counters.frames_refused == 0);
    CHECK(counters.frames_starved == 0);
    CHECK(counters.starved == JointSet{});
    for (std::size_t i = 0; i < rig.feedback.size(); ++i) CHECK(rig.hardware->starved(i) == 0);
  };
  Rig<drives::HuboHardware> boards(one_bus(drives::find("hubo"), 9, 10ms), 64);
  check(boards);
  Rig<drives::Cia402Hardware> nodes(one_bus(drives::find("cia402"), 12, 10ms), 64);
  check(nodes);
  Rig<drives::ServoHardware> drives(one_bus(drives::find("servo"), 30, 10ms), 64);
  check(drives);
}
