// The hardware of a robot with one protocol in its cycle, on scripted buses, for tests. The test plays the
// drives: it gets the master's frames, and its replies arrive in the next cycle.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "support/scripted_bus.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::test {

/// One pointer per bus of the robot, null for buses of other protocols. They point into `buses`.
inline std::vector<ScriptedBus*> buses_of(const robot::RobotDescription& robot,
                                          const robot::DriveProtocol* protocol,
                                          std::vector<ScriptedBus>& buses) {
  buses.resize(robot.buses.size());
  std::vector<ScriptedBus*> pointers(buses.size());
  for (std::size_t i = 0; i < buses.size(); ++i) {
    if (robot.buses[i].protocol == protocol) pointers[i] = &buses[i];
  }
  return pointers;
}

/// Returns why the hardware rejects the robot after `change`.
template <class Hardware, class Change>
SetupError refusal(robot::RobotDescription robot, const robot::DriveProtocol* protocol, Change change) {
  std::vector<ScriptedBus> buses;
  const std::vector<ScriptedBus*> pointers = buses_of(robot, protocol, buses);
  change(robot);
  const auto hardware = Hardware::create(robot, pointers);
  return hardware ? SetupError{} : hardware.error();
}

template <class Hardware>
class HardwareRig {
 public:
  template <class... Options>
  HardwareRig(const robot::RobotDescription& robot, const robot::DriveProtocol* protocol, Options... options)
      : period(robot.period), feedback(robot.joints.size()), commands(robot.joints.size()) {
    hardware = std::move(*Hardware::create(robot, buses_of(robot, protocol, buses), options...));
  }
  HardwareRig(const HardwareRig&) = delete;
  HardwareRig& operator=(const HardwareRig&) = delete;
  virtual ~HardwareRig() = default;

  void cycle() {
    now += period;
    hardware->read(now, feedback);
    hardware->write(now, commands);
    last_sent.clear();
    for (std::size_t bus = 0; bus < buses.size(); ++bus) {
      for (const can::Frame& frame : std::exchange(buses[bus].sent, {})) {
        last_sent.push_back(frame);
        deliver(bus, frame);
      }
    }
  }
  void cycles(int count) {
    while (count-- > 0) cycle();
  }
  void power(bool on) {
    for (JointCommand& command : commands) command.want_power = on;
  }

  Duration period;
  std::vector<ScriptedBus> buses;
  std::unique_ptr<Hardware> hardware;
  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
  std::vector<can::Frame> last_sent;  ///< frames of all buses in the last cycle
  Time now{};

 protected:
  /// The reaction of a bus's drives to a frame of the master.
  virtual void deliver(std::size_t bus, const can::Frame& frame) = 0;

  /// A drive's answer, a fifth of a period after the request.
  void reply(std::size_t bus, can::Frame frame) {
    frame.stamp = now + period / 5;
    buses[bus].incoming.push_back(frame);
  }
};

}  // namespace takt::test
