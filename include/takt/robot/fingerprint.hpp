// A hash of a robot's description. Programs that share a robot compare it before they address joints by
// number.
#pragma once

#include <cstdint>

#include "takt/robot/description.hpp"

namespace takt::robot {

/// FNV-1a (64 bits) of all fields that matter to a program on a real robot. Plants and interfaces of buses
/// are left out. It finds mistakes, not attacks. Not real-time safe.
[[nodiscard]] std::uint64_t fingerprint(const RobotDescription& robot);

}  // namespace takt::robot
