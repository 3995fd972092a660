// The drive protocols that takt has, by name. Each is a folder of src/drives/; a program that has protocols of its own gives
// robot::load_robot() a list of both.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "takt/robot/description_json.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::drives {

/// All of takt's own, by name.
[[nodiscard]] std::span<const robot::DriveProtocol* const> all() noexcept;
/// Null if there is none of this name.
[[nodiscard]] const robot::DriveProtocol* find(std::string_view name) noexcept;

/// robot::load_robot() with takt's own protocols.
[[nodiscard]] tl::expected<robot::RobotDescription, std::vector<robot::Mistake>> load_robot(
    std::string_view json);
[[nodiscard]] tl::expected<robot::RobotDescription, std::vector<robot::Mistake>> load_robot_file(
    const std::string& path);

}  // namespace takt::drives
