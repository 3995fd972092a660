// Helpers for the trajectory functions of the C API.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "boundary.hpp"
#include "takt.h"
#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/trajectory.hpp"

struct takt_trajectory {
  takt::trajectory::Trajectory motion;
};

namespace takt::capi {

/// The limits of all joints, without heap memory.
struct LimitsOfAll {
  std::array<JointLimits, max_joints> storage;
  std::size_t count = 0;

  [[nodiscard]] std::span<const JointLimits> span() const noexcept { return std::span(storage).first(count); }
};

/// Reads the limits. Errors: null_pointer, wrong_size (another number than expected), bad_limits.
[[nodiscard]] Result<LimitsOfAll> read_limits(std::size_t expected, const takt_joint_limits* limits,
                                              std::size_t joints) noexcept;
[[nodiscard]] Result<LimitsOfAll> read_limits(const takt_trajectory* trajectory,
                                              const takt_joint_limits* limits, std::size_t joints) noexcept;

/// Writes the violation. Does nothing for NULL. Call check_size() first.
void write_violation(const trajectory::Violation& found, takt_violation* violation) noexcept;

/// Gives a trajectory to the caller.
[[nodiscard]] Status hand_over(Result<trajectory::Trajectory> motion, takt_trajectory** trajectory);

}  // namespace takt::capi
