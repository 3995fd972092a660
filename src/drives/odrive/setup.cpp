#include "drives/odrive/setup.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace takt::drives {

std::optional<OdriveSetup> odrive_setup(const robot::JointDescription& joint) noexcept {
  constexpr double reserve = 1.5;  // the drive's limit is behind the joint's, which the loop keeps
  const double gear = joint.drive.number("gear").value_or(0);
  const bool is_linear = joint.kind == robot::JointKind::linear;
  const double turns_per_unit = is_linear ? gear : gear / (2 * std::numbers::pi);
  OdriveSetup setup;
  setup.node = joint.board;
  setup.scale = OdriveScale(turns_per_unit);
  setup.velocity_limit = joint.drive.number("velocity_limit")
                             .value_or(reserve * std::abs(setup.scale.turns(joint.limits.velocity)));
  setup.current_limit = joint.drive.number("current_limit").value_or(0);
  if (const auto watchdog = joint.drive.number("watchdog")) setup.watchdog = from_seconds(*watchdog);
  constexpr double most = std::numeric_limits<float>::max();  // that a frame can say
  const auto is_positive = [](double value) { return value > 0 && value <= most; };
  const bool is_good = std::abs(gear) >= odrive_least_gear && std::abs(gear) <= most &&
                       is_positive(setup.velocity_limit) && is_positive(setup.current_limit);
  return is_good ? std::optional(setup) : std::nullopt;
}

std::string odrive_identity(const odrive::Version& version) {
  return fmt::format("hardware {}.{}.{}, firmware {}.{}.{}{}", version.hardware_line,
                     version.hardware_version, version.hardware_variant, version.firmware_major,
                     version.firmware_minor, version.firmware_revision,
                     version.unreleased != 0 ? " (unreleased)" : "");
}

}  // namespace takt::drives
