// Texts for JointFeedback::fault, whose bits each drive protocol defines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "takt/robot/description.hpp"

namespace takt::robot {

/// The fault as text: "no command came before the watchdog ran out", or "jam, driver" if several bits are
/// set. A fault without a known meaning is shown as a number; 0, which a drive without a code reports, as "of
/// unknown cause". Allocates.
[[nodiscard]] std::string describe_fault(const RobotDescription& robot, std::size_t joint,
                                         std::uint32_t fault);

/// One bit of a fault word, and its meaning.
using FaultBit = std::pair<std::uint32_t, std::string_view>;
/// The meanings of all set bits, as a list; bits without a meaning are shown in hexadecimal. For protocols.
/// Allocates.
[[nodiscard]] std::string describe_bits(std::uint32_t fault, std::span<const FaultBit> meanings);

/// The text of a fault bit that the masters of all protocols set: the drive was ready, then switched off
/// without a command.
inline constexpr std::string_view lost_power = "the drive switched off without a command";

}  // namespace takt::robot
