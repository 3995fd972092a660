// The setpoints of several joints as one sample of a port.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"

namespace takt::controllers {

/// One number for each joint of a controller, in the order of its list of joints.
struct JointSetpoints {
  std::uint64_t count = 0;  ///< the number of joints
  std::array<double, max_joints> values{};

  TAKT_FIELDS(JointSetpoints, count, values)
};

/// Whether the sample has `count` finite numbers. Real-time safe.
[[nodiscard]] inline bool are_setpoints(const JointSetpoints& setpoints, std::size_t count) noexcept {
  if (setpoints.count != count || count > max_joints) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(setpoints.values[i])) return false;
  }
  return true;
}

}  // namespace takt::controllers
