#include "takt/robot/drive_fault.hpp"

#include <fmt/format.h>

#include "takt/robot/drive_protocol.hpp"

namespace takt::robot {

std::string describe_fault(const RobotDescription& robot, std::size_t joint, std::uint32_t fault) {
  if (joint < robot.joints.size() && robot.joints[joint].bus < robot.buses.size() && fault != 0) {
    if (const DriveProtocol* protocol = robot.buses[robot.joints[joint].bus].protocol)
      return protocol->describe_fault(fault);
  }
  return fault == 0 ? "of unknown cause" : fmt::format("number {}", fault);
}

std::string describe_bits(std::uint32_t fault, std::span<const FaultBit> meanings) {
  std::string text;
  const auto add = [&text](std::string_view meaning) {
    if (!text.empty()) text += ", ";
    text += meaning;
  };
  for (const auto& [bit, meaning] : meanings) {
    if ((fault & bit) != 0) add(meaning);
    fault &= ~bit;
  }
  if (fault != 0) add(fmt::format("bits {:#x}", fault));
  return text;
}

}  // namespace takt::robot
