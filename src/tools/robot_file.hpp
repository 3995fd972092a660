// Which robot a command line means: a file, or by its name one of those that are installed with the program.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace takt::tools {

/// The file that is meant by `name`: itself, or, for a name without dot and slash, NAME.json in the folder `robots`. Error: a text
/// that says which names there are.
[[nodiscard]] tl::expected<std::string, std::string> find_robot_file(const std::string& name,
                                                                     const std::filesystem::path& robots);

/// The argument ROBOT of a sub-command. The installed robots are in ../share/takt/robots, from the folder of the program.
void add_robot_option(CLI::App& command, std::string& file);

}  // namespace takt::tools
