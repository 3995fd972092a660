// Three simulated drives on one bus, one of each vendor, and their masters. Tests can change or drop the
// frames between them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "drives/mit/master.hpp"
#include "support/rt_guard.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/can_port.hpp"
#include "takt/robot/drive_protocol.hpp"
#include "takt/sim/robot_simulation.hpp"
#include "takt/sim/virtual_can_port.hpp"

namespace takt::test {

inline robot::RobotDescription three_vendors() {
  using namespace std::chrono_literals;
  robot::RobotDescription robot;
  robot.name = "three";
  robot.period = 2ms;
  robot.overrun_limit = 8;
  robot.feedback_timeout = 20ms;
  robot.buses.push_back({"bus", drives::find("mit")});
  constexpr std::array<double, 3> starts{0.4, -0.3, 0.2};
  for (std::size_t i = 0; i < 3; ++i) {
    robot::JointDescription joint;
    joint.name = "joint" + std::to_string(i);
    joint.board = static_cast<std::uint8_t>(i + 1);
    joint.counts_per_radian = i == 1 ? -1 : 1;
    joint.drive.set("vendor", std::string(drives::mit::vendor_names[i]));
    joint.drive.set("position_range", 12.5);
    joint.drive.set("velocity_range", 30.0);
    joint.drive.set("torque_range", 18.0);
    joint.drive.set("kp", 80.0);
    joint.drive.set("kd", 2.0);
    joint.plant = {.inertia = 0.05,
                   .viscous_friction = 0.1,
                   .coulomb_friction = 0.1,
                   .torque_limit = 18,
                   .start = starts[i]};
    robot.joints.push_back(joint);
  }
  return robot;
}
inline constexpr std::size_t cheetah = 0;
inline constexpr std::size_t cubemars = 1;
inline constexpr std::size_t damiao = 2;

/// A port whose frames can be changed on their way.
class TamperedPort final : public robot::CanPort {
 public:
  TamperedPort(const sim::VirtualCanBus& bus, sim::VirtualCanBus::Port port) : port_(bus, port) {}

  std::size_t send(std::span<const can::Frame> frames) noexcept override {
    for (can::Frame frame : frames) {
      if (!outgoing || outgoing(frame)) port_.send({&frame, 1});
    }
    return frames.size();
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept override {
    const std::size_t count = port_.receive(frames);
    if (!incoming) return count;
    const auto rest = std::remove_if(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count),
                                     [this](can::Frame& frame) { return !incoming(frame); });
    return static_cast<std::size_t>(rest - frames.begin());
  }
  [[nodiscard]] robot::BusTraffic traffic() const noexcept override { return port_.traffic(); }

  std::function<bool(can::Frame&)> outgoing;  ///< false: the frame is lost
  std::function<bool(can::Frame&)> incoming;

 private:
  sim::VirtualCanPort port_;
};

struct MitRig {
  explicit MitRig(const robot::RobotDescription& robot = three_vendors())
      : description(robot),
        simulation(sim::RobotSimulation::create(robot).value()),
        port(simulation.bus(0), simulation.host(0)),
        feedback(robot.joints.size()),
        commands(robot.joints.size()) {
    for (std::size_t i = 0; i < commands.size(); ++i) commands[i].position = robot.joints[i].plant.start;
    start_masters();
  }
  MitRig(const MitRig&) = delete;
  MitRig& operator=(const MitRig&) = delete;

  /// Restarts the program; the drives keep their state.
  void start_masters() {
    robot::CanPort* const pointer = &port;
    hardware = drives::find("mit")->connect(description, {&pointer, 1}).value();
    feedback.assign(feedback.size(), {});
  }

  void cycle() noexcept {
    now += description.period;
    simulation.advance(now);
    hardware->read(now, feedback);
    hardware->write(now, commands);
  }
  void run(Duration duration) {
    for (const Time end = now + duration; now < end;) {
      cycle();
      for (std::size_t i = 0; i < commands.size(); ++i) {
        if (feedback[i].drive != DriveState::ready) {  // as the cycle does: start at the joint's position
          commands[i].position = feedback[i].position;
          commands[i].velocity = 0;
        }
        const double off = std::abs(simulation.position(i) - description.joints[i].plant.start);
        farthest = std::max(farthest, off);
      }
    }
  }
  /// Time passes while the program sleeps.
  void sleep(Duration duration) {
    now += duration;
    simulation.advance(now);
  }
  void power(bool on) {
    for (JointCommand& command : commands) command.want_power = on;
  }
  [[nodiscard]] bool all(DriveState state) const {
    return std::all_of(feedback.begin(), feedback.end(),
                       [&](const auto& joint) { return joint.drive == state; });
  }
  void clear(std::size_t joint) {
    commands[joint].clear_fault = true;
    cycle();
    commands[joint].clear_fault = false;
  }
  /// A frame of another tool.
  void tool(const Result<can::Frame>& frame) {
    REQUIRE(frame.has_value());
    auto host = simulation.host(0);
    REQUIRE(host.send({&*frame, 1}) == 1);
    simulation.advance(now);
  }
  [[nodiscard]] std::string fault_of(std::size_t joint) const {
    return drives::find("mit")->describe_fault(feedback[joint].fault);
  }

  robot::RobotDescription description;
  sim::RobotSimulation simulation;
  TamperedPort port;
  std::unique_ptr<robot::Hardware> hardware;
  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
  Time now{};
  double farthest = 0;  ///< largest distance of a joint from its start, rad
};

}  // namespace takt::test
