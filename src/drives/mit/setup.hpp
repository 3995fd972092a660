// One MIT-mode drive as a robot's description has it, in the units of its frames.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "drives/mit/frames.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"

namespace takt::drives::mit {

/// As descriptions name them, in the order of Vendor.
inline constexpr std::array<std::string_view, 3> vendor_names{"cheetah", "cubemars", "damiao"};

struct Setup {
  std::uint8_t id = 1;
  Vendor vendor = Vendor::cubemars;
  Ranges ranges;
  double kp = 0;
  double kd = 0;
  std::uint32_t reply_id = 0;
  bool reversed = false;  ///< the joint turns the other way round
};

/// The highest drive id of a vendor. Damiao's replies have 4 bits for it.
[[nodiscard]] constexpr std::uint8_t last_id(Vendor vendor) noexcept {
  return vendor == Vendor::cubemars ? 127 : 15;
}

/// The identifier of a drive's replies as its maker sets it.
[[nodiscard]] constexpr std::uint32_t default_reply_id(Vendor vendor, std::uint8_t id) noexcept {
  switch (vendor) {
    case Vendor::cheetah:
      break;
    case Vendor::cubemars:
      return id;
    case Vendor::damiao:
      return id + 0x10U;
  }
  return 0;
}

/// A cheetah without a command for this time is limp until the next one, without a report. Default of its
/// firmware.
inline constexpr Duration cheetah_timeout{25'000'000};

/// Timeout of a Damiao for its master's frames. It is a little longer than the loop's, so that the loop
/// reports its own overrun first.
[[nodiscard]] constexpr Duration timeout_of(const robot::RobotDescription& robot) noexcept {
  constexpr Duration least{5'000'000};
  return std::max(least, (Duration::rep{robot.overrun_limit} + 3) * robot.period);
}

/// The setup by the joint's description. Errors: bad_value (a setting is missing, unknown or out of its
/// limits).
[[nodiscard]] Result<Setup> setup_of(const robot::JointDescription& joint) noexcept;

/// The ranges that a Damiao reported: "PMAX 12.5, VMAX 30, TMAX 10"; empty if it has not.
[[nodiscard]] std::string identity_of(const Ranges& ranges);

}  // namespace takt::drives::mit
