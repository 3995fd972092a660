// A folder for the reports of a test, and what lies in it.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace takt::test::reports {

namespace fs = std::filesystem;

/// A temporary folder, removed when the test ends.
class ScratchFolder {
 public:
  ScratchFolder() : path_((fs::temp_directory_path() / "takt_report_XXXXXX").string()) {
    REQUIRE(mkdtemp(path_.data()) != nullptr);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] fs::path operator/(const char* name) const { return fs::path(path_) / name; }

 private:
  std::string path_;
};

inline std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline bool have_gnuplot() { return std::system("gnuplot --version >/dev/null 2>&1") == 0; }

}  // namespace takt::test::reports
