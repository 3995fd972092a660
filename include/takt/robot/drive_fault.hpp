// What a drive's own fault word means, in words: JointFeedback::fault, whose bits each protocol defines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "takt/robot/description.hpp"

namespace takt::robot {

/// For people: "no command came before the watchdog ran out", or "jam, driver" where a word has several bits.
/// What the protocol does not define, or no bus of the robot speaks, is shown as a number. Allocates.
[[nodiscard]] std::string describe_fault(const RobotDescription& robot, std::size_t joint,
                                         std::uint32_t fault);

}  // namespace takt::robot
