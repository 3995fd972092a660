// Models of MuJoCo as text, for tests.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace takt::test {

/// A file with a model: the bodies of its world, and what comes after them.
class ModelFile {
 public:
  explicit ModelFile(const std::string& bodies, const std::string& rest = {},
                     const std::string& timestep = "0.001") {
    path_ = (std::filesystem::temp_directory_path() / "takt_model_XXXXXX").string();
    const int file = mkstemp(path_.data());
    REQUIRE(file >= 0);
    close(file);
    std::ofstream(path_) << "<mujoco><compiler angle=\"radian\"/><option timestep=\"" << timestep
                         << "\"/><worldbody>" << bodies << "</worldbody>" << rest << "</mujoco>";
  }
  ~ModelFile() { std::filesystem::remove(path_); }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A rod that hangs down from a hinge along y: 1 kg at its end, half a metre below.
inline constexpr const char* pendulum =
    R"(<body><joint name="swing" axis="0 1 0"/><geom type="sphere" pos="0 0 -0.5" size="0.001" mass="1"/></body>)";

}  // namespace takt::test
