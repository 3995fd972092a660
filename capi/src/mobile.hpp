// The options of odometry and twist law, for several files of the C API.
#pragma once

#include "takt.h"
#include "takt/core/error.hpp"
#include "takt/mobile/odometry.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/vehicle/twist_law.hpp"

namespace takt::capi {

[[nodiscard]] constexpr mobile::Twist to_twist(const takt_twist& twist) noexcept {
  return {twist.forward, twist.left, twist.rotation};
}

/// Reads the options; NULL means the defaults. Errors: wrong_struct_size, bad_argument (reserved).
[[nodiscard]] Result<mobile::Odometry::Configuration> to_configuration(
    const takt_odometry_options* options) noexcept;
/// Reads the options. Errors: null_pointer, wrong_struct_size, bad_argument (reserved).
[[nodiscard]] Result<vehicle::TwistLaw::Configuration> to_configuration(
    const takt_twist_law_options* options) noexcept;

}  // namespace takt::capi
