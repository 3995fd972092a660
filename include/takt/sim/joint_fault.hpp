// What can be broken in a simulated robot, joint by joint.
#pragma once

#include <cstdint>

namespace takt::sim {

/// A failure that a test or a demonstration puts into a joint.
enum class JointFault : std::uint8_t {
  none,         ///< whole again; what the drive remembers of the fault stays until it is told to forget it
  silent,       ///< the whole board is without power: it hears nothing, says nothing, moves nothing
  encoder,      ///< the encoder stands still, and the drive notices
  power_stage,  ///< the power stage breaks down, and the drive notices
  jammed,       ///< the joint is stuck; nobody notices but by its motion
};

}  // namespace takt::sim
