// A robot of the C API, for the sources that use it.
#pragma once

#include "takt/app.h"
#include "takt/app/robot.hpp"

namespace takt::capi {

/// The robot behind the handle.
[[nodiscard]] app::Robot& robot_of(takt_robot& handle) noexcept;

}  // namespace takt::capi
