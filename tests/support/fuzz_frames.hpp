// Converts a fuzzer's bytes to CAN frames with any identifier, flag and length, also invalid ones. Passes
// them to a robot's hardware.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/require.hpp"
#include "support/scripted_bus.hpp"
#include "takt/can/frame.hpp"
#include "takt/can/quantise.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::test {

/// Takes the next frame from the front of `bytes`: flags, length, identifier (2 bytes), and the data bytes
/// that are there. A length above 64 is kept, with 64 bytes of data.
inline can::Frame next_frame(std::span<const std::uint8_t>& bytes) {
  const auto next = [&]() -> std::uint8_t {
    if (bytes.empty()) return 0;
    const std::uint8_t byte = bytes.front();
    bytes = bytes.subspan(1);
    return byte;
  };
  can::Frame frame;
  const unsigned flags = next();
  frame.extended = (flags & 1U) != 0;
  frame.remote = (flags & 2U) != 0;
  frame.fd = (flags & 4U) != 0;
  frame.bit_rate_switch = (flags & 8U) != 0;
  frame.error_state = (flags & 16U) != 0;
  frame.error = (flags & 32U) != 0;
  frame.length = next();
  frame.id = next();
  frame.id |= static_cast<std::uint32_t>(next()) << 8;
  for (std::size_t i = 0; i < std::min<std::size_t>(frame.length, frame.data.size()); ++i)
    frame.data[i] = next();
  return frame;
}

/// Passes one frame of `bytes` per cycle to the hardware of a robot with one bus and all power wanted. Its
/// feedback must stay finite. The callback check(frame) sees each received frame; known(frame) returns
/// whether a sent frame is of the protocol.
template <class Hardware, class Check, class Known>
void fuzz_hardware(const robot::RobotDescription& robot, std::span<const std::uint8_t> bytes, Check check,
                   Known known) {
  ScriptedBus bus;
  ScriptedBus* const pointer = &bus;
  const auto hardware = std::move(*Hardware::create(robot, {&pointer, 1}));
  std::vector<robot::JointFeedback> feedback(robot.joints.size());
  std::vector<JointCommand> commands(robot.joints.size());
  for (JointCommand& command : commands) command.want_power = true;

  Time now{};
  while (!bytes.empty()) {
    const can::Frame frame = next_frame(bytes);
    check(frame);
    bus.incoming.push_back(frame);
    now += robot.period;
    hardware->read(now, feedback);
    hardware->write(now, commands);
    for (const robot::JointFeedback& joint : feedback) {
      require(can::is_finite(joint.position) && can::is_finite(joint.velocity));
    }
    for (const can::Frame& sent : std::exchange(bus.sent, {})) require(known(sent));
  }
}

}  // namespace takt::test
