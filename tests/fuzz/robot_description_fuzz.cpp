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
  if (robot->joints.empty() && robot->vehicles.empty()) std::abort();
  if (robot->joints.size() > takt::max_joints) std::abort();
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
  for (const auto& mimic : robot->mimics) {
    if (mimic.joint >= robot->joints.size()) std::abort();
  }
  for (const auto& vehicle : robot->vehicles) {
    if (vehicle.name.empty() || vehicle.file.empty() || vehicle.peer.empty() != vehicle.local.empty())
      std::abort();
  }
  const std::string text = to_json(*robot);
  const auto again = takt::drives::load_robot(text);
  if (!again || to_json(*again) != text) std::abort();
  return 0;
}
