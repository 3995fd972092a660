// takt's own drive protocols, by name. Each is a folder of src/drives/. A program with further protocols
// gives robot::load_robot() a list of both.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "takt/robot/description_json.hpp"
#include "takt/robot/drive_protocol.hpp"

namespace takt::drives {

/// All of takt's own protocols, by name.
[[nodiscard]] std::span<const robot::DriveProtocol* const> all() noexcept;
/// The protocol with this name; nullptr if there is none.
[[nodiscard]] const robot::DriveProtocol* find(std::string_view name) noexcept;

/// As robot::load_robot(), with takt's own protocols.
[[nodiscard]] tl::expected<robot::RobotDescription, std::vector<robot::Mistake>> load_robot(
    std::string_view json);
/// As robot::load_robot_file(), with takt's own protocols.
[[nodiscard]] tl::expected<robot::RobotDescription, std::vector<robot::Mistake>> load_robot_file(
    const std::string& path);

}  // namespace takt::drives
