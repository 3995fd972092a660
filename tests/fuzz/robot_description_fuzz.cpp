// Fuzzes robot files with any bytes: the result is a valid description, or a list of mistakes that is not
// empty.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "takt/drives/registry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  const auto robot = takt::drives::load_robot(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!robot) {
    if (robot.error().empty()) std::abort();
    for (const auto& mistake : robot.error()) static_cast<void>(to_string(mistake));
    return 0;
  }
  if (robot->joints.empty() || robot->joints.size() > takt::max_joints) std::abort();
  for (const auto& joint : robot->joints) {
    if (!(joint.limits.position_min < joint.limits.position_max) || !(joint.limits.velocity > 0))
      std::abort();
    if (joint.bus >= robot->buses.size()) std::abort();
  }
  for (const auto& group : robot->groups) {
    for (const std::size_t joint : group.joints) {
      if (joint >= robot->joints.size()) std::abort();
    }
  }
  return 0;
}
