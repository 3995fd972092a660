// What the C API's functions about trajectories share.
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

inline constexpr std::size_t violation_required = sizeof(takt_violation);

/// The limits of all joints, without touching the heap.
struct LimitsOfAll {
  std::array<JointLimits, max_joints> storage;
  std::size_t count = 0;

  [[nodiscard]] std::span<const JointLimits> span() const noexcept { return std::span(storage).first(count); }
};

/// Errors: null_pointer, wrong_size (not as many as expected), bad_limits.
[[nodiscard]] Result<LimitsOfAll> read_limits(std::size_t expected, const takt_joint_limits* limits,
                                              std::size_t joints) noexcept;
[[nodiscard]] Result<LimitsOfAll> read_limits(const takt_trajectory* trajectory,
                                              const takt_joint_limits* limits, std::size_t joints) noexcept;

/// The structure's size has been checked; NULL is not wanted.
void write_violation(const trajectory::Violation& found, takt_violation* violation) noexcept;

/// Makes a trajectory the caller's.
[[nodiscard]] Status hand_over(Result<trajectory::Trajectory> motion, takt_trajectory** trajectory);

}  // namespace takt::capi
