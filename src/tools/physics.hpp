// The options of `takt run --physics`, and the world that they describe.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "takt/app/robot.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/robot/description.hpp"

namespace takt::tools {

struct PhysicsOptions {
  std::string engine;        ///< "mujoco"; empty: none
  std::string model;         ///< file; empty: that of the robot's name, beside it
  std::string pictures;      ///< folder; empty: no pictures
  double picture_rate = 25;  ///< Hz
  std::string camera;        ///< empty: the model's first one
};

/// Adds --physics, --model and the options of pictures. Pictures need `virtual_time`.
void add_physics_options(CLI::App& command, PhysicsOptions& options, CLI::Option& virtual_time);

/// The physics of a run, and a camera if it takes pictures.
class Physics {
 public:
  /// Null without an engine. Errors: bad_physics, with the robots that have a model, if this one has none;
  /// those of sim::MujocoPhysics::load() and sim::MujocoCamera::create().
  [[nodiscard]] static SetupResult<std::unique_ptr<Physics>> create(const robot::RobotDescription& robot,
                                                                    const std::string& robot_file,
                                                                    const PhysicsOptions& options);
  virtual ~Physics() = default;
  Physics(const Physics&) = delete;
  Physics& operator=(const Physics&) = delete;

  /// What was loaded and will not work well: sentences with a line feed each.
  [[nodiscard]] virtual std::string warnings() const = 0;
  /// Puts the robot into the physics.
  virtual void add_to(app::RobotOptions& options) = 0;
  /// The same in wall time. Physics that are too slow for it then say so, and leave out steps.
  virtual void add_in_wall_time(app::RobotOptions& options, const robot::RobotDescription& robot) = 0;
  /// In wall time, a sentence with a line feed about physics that are too slow, every ten seconds; otherwise
  /// empty. Any one thread.
  [[nodiscard]] virtual std::string next_complaint() = 0;
  /// Takes pictures while the robot runs, if they were asked for.
  virtual void watch(app::Robot& robot) = 0;
  /// A sentence about the pictures, with a line feed; empty without them.
  [[nodiscard]] virtual std::string summary() const = 0;

 protected:
  Physics() = default;
};

}  // namespace takt::tools
