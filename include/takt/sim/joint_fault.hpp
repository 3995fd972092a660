// The faults of a simulated joint.
#pragma once

#include <cstdint>

namespace takt::sim {

/// A fault that a test or a demonstration injects into a joint.
enum class JointFault : std::uint8_t {
  none,         ///< no fault; the drive keeps its fault state until it is cleared
  silent,       ///< the whole board is without power: it receives, sends and moves nothing
  encoder,      ///< the encoder's count is frozen, and the drive detects it
  power_stage,  ///< the power stage fails, and the drive detects it
  jammed,       ///< the joint does not move; no drive detects it
};

}  // namespace takt::sim
