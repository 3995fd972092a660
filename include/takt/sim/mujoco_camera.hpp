// Pictures of a robot in MuJoCo, rendered without a screen and in software. Part of takt::mujoco, where EGL,
// OpenGL and libpng are installed.
//
//     auto camera = sim::MujocoCamera::create(*physics, {.camera = "side"});
//     if (auto saved = (*camera)->save("frame_0001.png"); !saved) return complain(saved.error().message);
//
// A picture takes milliseconds: not for the cycle of a real robot.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/sim/mujoco_physics.hpp"

namespace takt::sim {

/// How a camera takes pictures.
struct MujocoCameraOptions {
  int width = 640;       ///< pixels, up to the model's offwidth
  int height = 480;      ///< pixels, up to the model's offheight
  std::string camera{};  ///< of the model; empty: its first one, or a free one if it has none
};

/// A camera. Use it in the thread that made it.
class MujocoCamera {
 public:
  /// The physics must outlive the camera. Errors: no_pictures: no renderer, no such camera, or too large.
  [[nodiscard]] static SetupResult<std::unique_ptr<MujocoCamera>> create(
      MujocoPhysics& physics, const MujocoCameraOptions& options = {});
  virtual ~MujocoCamera() = default;
  MujocoCamera(const MujocoCamera&) = delete;
  MujocoCamera& operator=(const MujocoCamera&) = delete;

  /// The present state: red, green and blue of each pixel, row by row from the top. Changes no number of the
  /// physics.
  [[nodiscard]] virtual std::vector<std::uint8_t> picture() = 0;
  /// The same as a PNG file. Errors: no_pictures, with the file's name.
  [[nodiscard]] virtual SetupResult<void> save(const std::string& path) = 0;

 protected:
  MujocoCamera() = default;
};

}  // namespace takt::sim
