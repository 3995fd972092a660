#include "tools/robot_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <set>
#include <system_error>
#include <utility>

#include "takt/drives/registry.hpp"
#include "tools/commands.hpp"

namespace takt::tools {

namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& robots) {
  std::set<std::string> names;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(robots, unreadable)) {
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  }
  return names;
}

fs::path installed_robots() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  return program.parent_path().parent_path() / "share" / "takt" / "robots";
}

}  // namespace

tl::expected<std::string, std::string> find_robot_file(const std::string& name, const fs::path& robots) {
  std::error_code unknown;
  if (name.find_first_of("./") != std::string::npos || fs::is_regular_file(name, unknown)) return name;
  const fs::path file = robots / (name + ".json");
  if (fs::exists(file, unknown)) return file.string();
  return tl::unexpected(fmt::format("{}: no such file, and no robot of this name in {}, which has: {}", name,
                                    robots.string(), fmt::join(names_in(robots), ", ")));
}

tl::expected<robot::RobotDescription, int> open_robot_file(const std::string& file) {
  auto robot = drives::load_robot_file(file);
  for (const robot::Mistake& each : robot ? robot::notes_on(*robot) : robot.error())
    fmt::print(stderr, "{}: {}\n", file, robot::to_string(each));
  if (!robot) return tl::unexpected(exit_bad_input);
  return std::move(*robot);
}

void add_robot_option(CLI::App& command, std::string& file, std::string* as_typed) {
  command
      .add_option("ROBOT", file,
                  "Robot description (JSON), or the name of one that is installed, such as arm6")
      ->required()
      ->transform([name = command.get_name(), as_typed](const std::string& robot) {
        if (as_typed != nullptr) *as_typed = robot;
        const auto found = find_robot_file(robot, installed_robots());
        if (found) return *found;
        fmt::print(stderr, "takt {}: {}\n", name, found.error());
        throw CLI::RuntimeError(exit_bad_input);
      });
}

}  // namespace takt::tools
