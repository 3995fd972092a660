// An arm in MuJoCo whose loop was away in the middle of a move.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/paused_robot.hpp"
#include "support/source_dir.hpp"
#include "takt/app/devices.hpp"
#include "takt/drives/registry.hpp"
#include "takt/sim/mujoco_physics.hpp"

using namespace takt;

namespace {

/// The largest force of each actuator in a move whose loop misses so many periods in the middle.
std::vector<double> forces(std::uint64_t missed) {
  const std::string file = std::string(TAKT_SOURCE_DIR) + "/examples/robots/arm6";
  const auto description = drives::load_robot_file(file + ".json");
  REQUIRE(description);
  auto physics = sim::MujocoPhysics::load(file + ".xml", *description);
  REQUIRE(physics);
  auto devices = app::Devices::create(*description, {.simulate = true, .physics = physics->get()});
  REQUIRE(devices);
  test::PausedRobot robot(*description, **devices, [](Time) {});
  robot.move({1.5, 0.3, -0.3, 0.5, 0.5, 1});
  std::vector<double> largest(description->joints.size());
  for (int i = 0; robot.is_moving(); ++i) {
    REQUIRE(i < 3000);
    robot.cycle(i == static_cast<int>(400 * robot.duration()) ? missed : 0);
    const auto joints = (*physics)->joints();
    for (std::size_t j = 0; j < largest.size(); ++j)
      largest[j] = std::max(largest[j], std::abs(joints[j].torque));
  }
  CHECK(robot.last.state == motion::GoalState::succeeded);
  return largest;
}

}  // namespace

TEST_CASE("an arm that catches up after a pause of its loop is far from the limits of its forces") {
  constexpr std::array<double, 6> limits{150, 150, 150, 28, 28, 28};  // N m
  const std::vector<double> undisturbed = forces(0);
  for (const std::uint64_t missed : {3U, 8U, 18U}) {
    CAPTURE(missed);
    const std::vector<double> disturbed = forces(missed);
    for (std::size_t i = 0; i < undisturbed.size(); ++i) {
      CAPTURE(i);
      CHECK(disturbed[i] < undisturbed[i] + 0.25 * limits[i]);
    }
  }
}
