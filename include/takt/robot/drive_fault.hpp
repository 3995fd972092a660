// What a drive's own fault word means, in words: JointFeedback::fault, whose bits each protocol defines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "takt/robot/description.hpp"

namespace takt::robot {

/// For people: "no command came before the watchdog ran out", or "jam, driver" where a word has several bits.
/// What the protocol does not define, or no bus of the robot speaks, is shown as a number. Allocates.
[[nodiscard]] std::string describe_fault(const RobotDescription& robot, std::size_t joint,
                                         std::uint32_t fault);

/// One bit of a fault word, and its meaning.
using FaultBit = std::pair<std::uint32_t, std::string_view>;
/// The meanings of all bits of a fault word, in a list; the bits without one as a number. For protocols.
[[nodiscard]] std::string describe_bits(std::uint32_t fault, std::span<const FaultBit> meanings);

/// The master's own bit of every protocol: the drive was ready, and went off unasked.
inline constexpr std::string_view lost_power = "it went off unasked";

}  // namespace takt::robot
