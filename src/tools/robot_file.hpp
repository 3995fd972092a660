// Finds the robot file of a command line: a path, or the name of a robot that is installed with the program.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "takt/robot/description_json.hpp"

namespace takt::tools {

/// The file for `name`. A name with a dot or slash is a path; any other is NAME.json in the folder `robots`.
/// The error is a text that lists the installed names.
[[nodiscard]] tl::expected<std::string, std::string> find_robot_file(const std::string& name,
                                                                     const std::filesystem::path& robots);

/// Loads a robot file and prints its notes. If it has mistakes, it lists them; the error is exit_bad_input.
[[nodiscard]] tl::expected<robot::RobotDescription, int> open_robot_file(const std::string& file);

/// The argument ROBOT of a sub-command. `as_typed`, if given, gets the user's own word for it, for advice on
/// the next command. The installed robots are in ../share/takt/robots, from the folder of the program.
void add_robot_option(CLI::App& command, std::string& file, std::string* as_typed = nullptr);

}  // namespace takt::tools
