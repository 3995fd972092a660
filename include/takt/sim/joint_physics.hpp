// Physics that move the joints of a simulated robot together, in place of a plant for each joint. The drives,
// their frames, servos and encoders are the same. MujocoPhysics (mujoco_physics.hpp) is one.
//
//     auto simulation = sim::RobotSimulation::create(robot, Time{}, &physics);
//
// In each step of time: the drives measure what the last step gave (input), compute a torque (control), and
// the next step applies it (output). The order is the same in every run.
#pragma once

#include <span>

#include "takt/core/time.hpp"

namespace takt::sim {

/// A joint between its drive and the physics. Of a linear joint, read m for rad and N for N m.
struct PhysicsJoint {
  double position = 0;  ///< rad; written by the physics
  double velocity = 0;  ///< rad/s; written by the physics
  double torque = 0;    ///< N m; written by the drive, and held until its next servo step
  bool braked = false;  ///< written by the drive: it is off, or the joint is jammed
};

/// The physics of a robot. One thread.
class JointPhysics {
 public:
  virtual ~JointPhysics() = default;
  JointPhysics(const JointPhysics&) = delete;
  JointPhysics& operator=(const JointPhysics&) = delete;

  /// One for each joint of the description, in its order. Addresses stay. Their first positions are where the
  /// simulation starts, in place of the description's plant.start.
  [[nodiscard]] virtual std::span<PhysicsJoint> joints() noexcept = 0;
  /// The time of a step: positive, and the same for every step.
  [[nodiscard]] virtual Duration step_time() const noexcept = 0;
  /// Moves everything by one step.
  virtual void step() noexcept = 0;

 protected:
  JointPhysics() = default;
};

}  // namespace takt::sim
