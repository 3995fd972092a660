// The settings of an ODrive in a description, converted to the numbers of its master and its simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "drives/odrive/frames.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"

namespace takt::drives {

/// A smaller gear, of either sign, cannot convert a joint's motion to motor turns.
inline constexpr double odrive_least_gear = 1e-3;

struct OdriveSetup {
  std::uint8_t node = 0;
  OdriveScale scale{1};
  double velocity_limit = 0;           ///< motor turns/s
  double current_limit = 0;            ///< A
  std::optional<Duration> watchdog{};  ///< that the drive is configured to; none: it waits for ever
};

/// The setup of a joint, or nothing where a setting is missing, of no sign, or not finite.
[[nodiscard]] std::optional<OdriveSetup> odrive_setup(const robot::JointDescription& joint) noexcept;

/// For people: "hardware 4.4.58, firmware 0.6.10". Allocates.
[[nodiscard]] std::string odrive_identity(const odrive::Version& version);

}  // namespace takt::drives
