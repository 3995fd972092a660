// A robot in MuJoCo: contacts, gravity, and masses that depend on the pose. Component takt::mujoco, which
// needs libmujoco.
//
//     auto physics = sim::MujocoPhysics::load("arm.xml", description);  // the joints by their names
//     auto arm = app::Robot::create(description, {.devices = {.simulate = true, .physics = physics->get()},
//                                           .further_devices = {&(*physics)->sensors()}});
//
// The drives, their frames and servos are those of every simulation (joint_physics.hpp). The model gives the
// rest, by name:
//
// * A joint of the robot is the hinge or slide of that name. Its torque goes through its motor, if it has
//   one, and otherwise acts on the joint. Its drive's inertia is the joint's armature in the model.
// * Sensors are those of the device sensors(). A gyro and an accelerometer at one site are a robot::ImuSample
//   with the site's name, with a framequat also its orientation. A force and a torque at one site are a
//   robot::Wrench: what the outer body exerts on the inner one. Others, such as touch, are states
//   "physics/NAME", or "physics/NAME.0" and so on.
// * An actuator of no robot's joint is a command "physics/NAME".
//
// While a drive is off, a brake holds its joint; continuous joints have none. A run gives the same numbers
// every time: one thread, whole nanoseconds, a fixed order. If the physics diverge, they stand still, and
// sensors() fails with physics_diverged.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/sensors.hpp"
#include "takt/sim/joint_physics.hpp"

struct mjModel_;  // NOLINT(readability-identifier-naming): MuJoCo's own
struct mjData_;   // NOLINT(readability-identifier-naming)

namespace takt::sim {

/// A model of MuJoCo with the joints of a robot. One thread. step() allocates nothing.
class MujocoPhysics final : public JointPhysics {
 public:
  /// Loads an MJCF file. The joints stand at their start positions; all else is as in the key frame "start",
  /// or as the model says. See warnings(). Errors: bad_physics, with a line for each mistake.
  [[nodiscard]] static SetupResult<std::unique_ptr<MujocoPhysics>> load(const std::string& path,
                                                                        const robot::RobotDescription& robot);
  ~MujocoPhysics() override;

  /// Sentences about what was loaded, and will not work well. The servo of a drive is made for its
  /// plant.inertia. A joint's inertia at the start that differs by more than 100 times gives a warning.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;

  [[nodiscard]] std::span<PhysicsJoint> joints() noexcept override;
  [[nodiscard]] Duration step_time() const noexcept override;
  void step() noexcept override;

  /// The sensors, and the commands to further actuators. It belongs to the physics.
  [[nodiscard]] robot::Device& sensors() noexcept;
  /// Whether a number left its range. Then nothing moves any more.
  [[nodiscard]] bool diverged() const noexcept;

  /// A body of the model by its name. Errors: bad_physics.
  [[nodiscard]] SetupResult<int> body(std::string_view name) const;
  /// The place of a body's frame in the world, m, where the last step began. Zeros for a body that the model
  /// does not have.
  [[nodiscard]] robot::Vector3 position(int body) const noexcept;
  /// From now on, a force (N) and a torque (N m) act on a body at its centre of mass, in the world's frame.
  /// NaN, infinity, and a body that the model does not have change nothing.
  void push(int body, const robot::Wrench& wrench) noexcept;

  /// MuJoCo's own structs, for all that is not here.
  [[nodiscard]] mjModel_& model() noexcept;
  [[nodiscard]] mjData_& data() noexcept;

 private:
  class World;
  explicit MujocoPhysics(std::unique_ptr<World> world) noexcept;
  std::unique_ptr<World> world_;
};

}  // namespace takt::sim
