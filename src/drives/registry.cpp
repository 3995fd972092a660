#include "takt/drives/registry.hpp"

namespace takt::drives {

const robot::DriveProtocol* find(std::string_view name) noexcept {
  for (const robot::DriveProtocol* protocol : all()) {
    if (protocol->name() == name) return protocol;
  }
  return nullptr;
}

tl::expected<robot::RobotDescription, std::vector<robot::Mistake>> load_robot(std::string_view json) {
  return robot::load_robot(json, all());
}

tl::expected<robot::RobotDescription, std::vector<robot::Mistake>> load_robot_file(const std::string& path) {
  return robot::load_robot_file(path, all());
}

}  // namespace takt::drives
