// Versions and status texts of the C API, and the helpers of boundary.hpp.
#include <limits>

#include "boundary.hpp"
#include "takt/describe.hpp"
#include "takt/version.hpp"

namespace takt::capi {

Status check_limits(const takt_joint_limits& limits) noexcept {
  // NaN fails these comparisons.
  const bool sound = limits.position_min <= limits.position_max && limits.velocity >= 0 &&
                     limits.acceleration >= 0 && limits.jerk >= 0 && limits.effort >= 0;
  if (!sound) return fail(Errc::bad_limits);
  return {};
}

JointLimits to_joint_limits(const takt_joint_limits& limits) noexcept {
  return {limits.position_min, limits.position_max, limits.velocity,
          limits.acceleration, limits.jerk,         limits.effort};
}

}  // namespace takt::capi

static_assert(TAKT_MAX_JOINTS == takt::max_joints);

std::int32_t takt_abi_version() { return TAKT_ABI_VERSION; }

const char* takt_version() { return TAKT_VERSION; }

const char* takt_status_text(std::int32_t status) {
  if (status == TAKT_OK) return "success";
  if (status > 0) return "unknown status: errors are negative";
  const std::uint32_t number = 0u - static_cast<std::uint32_t>(status);
  const takt::Error error(static_cast<takt::Room>(number >> 16),
                          static_cast<std::uint16_t>(number & 0xffffu));
  // Both describe() return string literals, which end with a NUL.
  if (error.room == takt::Room::capi) return describe(static_cast<takt::capi::Errc>(error.code)).data();
  return takt::describe(error).data();
}

void takt_joint_limits_init(takt_joint_limits* limits) {
  if (limits == nullptr) return;
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  *limits = {-unlimited, unlimited, unlimited, unlimited, unlimited, unlimited};
}
