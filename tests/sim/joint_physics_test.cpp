// Physics of the user's own that move the joints of a simulated robot.
#include "takt/sim/joint_physics.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "sim/paused_robot.hpp"
#include "sim/simulated_host.hpp"
#include "takt/app/devices.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;
using namespace std::chrono_literals;
using test::simulated_host::robot_on;

namespace {

/// Each joint is the inertia of its plant, with a brake. It starts where the test says.
class Inertias final : public sim::JointPhysics {
 public:
  Inertias(const robot::RobotDescription& robot, double off) {
    for (const robot::JointDescription& joint : robot.joints) {
      inertias_.push_back(joint.plant.inertia);
      joints_.push_back({.position = joint.plant.start + off});
    }
  }
  [[nodiscard]] std::span<sim::PhysicsJoint> joints() noexcept override { return joints_; }
  [[nodiscard]] Duration step_time() const noexcept override { return 1ms; }
  void step() noexcept override {
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      sim::PhysicsJoint& joint = joints_[i];
      joint.velocity = joint.braked ? 0 : joint.velocity + joint.torque / inertias_[i] * 1e-3;
      joint.position += joint.velocity * 1e-3;
    }
  }

 private:
  std::vector<double> inertias_;
  std::vector<sim::PhysicsJoint> joints_;
};

}  // namespace

TEST_CASE("drives begin where the physics start, wherever the description does") {
  for (const char* protocol : {"servo", "mit", "odrive", "hubo", "cia402"}) {
    CAPTURE(protocol);
    const robot::RobotDescription description = robot_on(protocol);
    Inertias physics(description, 1.5);
    const auto devices = app::Devices::create(description, {.simulate = true, .physics = &physics});
    REQUIRE(devices);
    for (std::size_t i = 0; i < description.joints.size(); ++i)
      CHECK((*devices)->simulation()->position(i) == physics.joints()[i].position);
    // A loop in virtual time begins before the first step of any servo.
    std::vector<robot::JointFeedback> feedback(description.joints.size());
    (*devices)->read(Time{}, feedback);
    (*devices)->write(Time{}, std::vector<JointCommand>(description.joints.size(), {.want_power = true}));
    test::PausedRobot robot(description, **devices, [](Time) {});
    for (int i = 0; i < 500; ++i) robot.cycle();
    CHECK(robot.manager.supervisor().state() == robot::RobotState::ready);
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      CAPTURE(description.joints[i].name);
      const double start = description.joints[i].plant.start + 1.5;
      CHECK(robot.reference(i).position == doctest::Approx(start).epsilon(1e-3));
      CHECK(physics.joints()[i].position == doctest::Approx(start).epsilon(1e-3));
    }
  }
}

TEST_CASE("physics that start nowhere are refused with the joint") {
  const robot::RobotDescription description = robot_on("servo");
  Inertias physics(description, 0);
  physics.joints()[1].position = std::numeric_limits<double>::quiet_NaN();
  const auto refused = sim::RobotSimulation::create(description, Time{}, &physics);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == sim::Errc::bad_physics);
  CHECK(refused.error().message.find(description.joints[1].name) != std::string::npos);
}
