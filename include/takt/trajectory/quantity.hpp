// What of a motion a limit or a tolerance is about.
#pragma once

#include <cstdint>

namespace takt::trajectory {

enum class Quantity : std::uint8_t { position, velocity, acceleration, jerk };

}  // namespace takt::trajectory
