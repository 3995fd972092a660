// One number that tells two descriptions of a robot apart: programs that share a robot compare it before they talk about joints by
// their numbers.
#pragma once

#include <cstdint>

#include "takt/robot/description.hpp"

namespace takt::robot {

/// FNV-1a (64 bits) of everything in the description that a program on a real robot goes by; simulated plants do not count. It
/// finds mistakes, not ill will. Not real-time safe.
[[nodiscard]] std::uint64_t fingerprint(const RobotDescription& robot);

}  // namespace takt::robot
