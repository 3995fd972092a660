#include "tools/robot_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

using takt::tools::find_robot_file;

namespace {

/// A folder with two robots.
struct Robots {
  Robots() {
    std::filesystem::create_directories(path);
    for (const char* name : {"arm6.json", "mhubo.json", "notes.txt"}) std::ofstream(path / name) << "{}";
  }
  ~Robots() { std::filesystem::remove_all(path); }
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("takt_robots_" + std::to_string(::getpid()));
};

}  // namespace

TEST_CASE("a robot that is installed is found by its name") {
  const Robots robots;
  CHECK(find_robot_file("arm6", robots.path) == (robots.path / "arm6.json").string());
}

TEST_CASE("a name that no robot has is refused with the names that there are") {
  const Robots robots;
  const auto found = find_robot_file("arm7", robots.path);
  REQUIRE_FALSE(found);
  CHECK(found.error() == "arm7: no such file, and no robot of this name in " + robots.path.string() +
                             ", which has: arm6, mhubo");
  CHECK_FALSE(find_robot_file("arm6", robots.path / "nowhere"));
}

TEST_CASE("a name that looks like a path is one, also without the file") {
  const Robots robots;
  for (const char* name : {"arm6.json", "./arm6", "robots/arm6", "/nonexistent"})
    CHECK(find_robot_file(name, robots.path) == name);
}
