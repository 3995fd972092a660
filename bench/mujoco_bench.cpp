// takt's loop over MuJoCo against MuJoCo alone: the six-joint arm holds its pose at 1 kHz. The floor takes
// the same steps with the same torques. The loop adds drives with frames on a CAN bus, their servos and
// encoders, and the manager.
#include <benchmark/benchmark.h>
#include <mujoco/mujoco.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/app/devices.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/manager.hpp"
#include "takt/sim/mujoco_physics.hpp"

namespace {

using namespace takt;

const std::string path = std::string(TAKT_SOURCE_DIR) + "/examples/robots/arm6";

/// The arm in its model, ready and holding.
struct Arm {
  Arm() : robot(drives::load_robot_file(path + ".json").value()) {
    physics = std::move(*sim::MujocoPhysics::load(path + ".xml", robot));
    devices = std::move(*app::Devices::create(robot, {.simulate = true, .physics = physics.get()}));
    drives.emplace("drives", *devices);
    manager.emplace(robot);
    ready = manager->add(*drives) && manager->add(physics->sensors()) && manager->start(now);
    for (int i = 0; i < 1000; ++i) cycle();
    ready = ready && manager->supervisor().state() == robot::RobotState::ready;
  }
  ~Arm() { manager->stop(now); }
  void cycle() {
    now += robot.period;
    manager->cycle({.due = now, .woke = now});
  }

  robot::RobotDescription robot;
  std::unique_ptr<sim::MujocoPhysics> physics;
  std::unique_ptr<app::Devices> devices;
  std::optional<robot::DriveDevice> drives;
  std::optional<robot::Manager> manager;
  Time now{};
  bool ready = false;
};

void takt_loop(benchmark::State& state) {
  Arm arm;
  if (!arm.ready) return state.SkipWithError("the arm is not ready");
  for (auto _ : state) arm.cycle();
}
BENCHMARK(takt_loop)->Name("mujoco/arm6_cycle/takt");

void bare_steps(benchmark::State& state) {
  Arm arm;
  if (!arm.ready) return state.SkipWithError("the arm is not ready");
  mjModel& model = arm.physics->model();
  mjData& data = arm.physics->data();
  const auto steps = arm.robot.period / arm.physics->step_time();
  for (auto _ : state) {
    for (auto i = steps; i > 0; --i) {
      for (std::size_t j = 0; j < arm.robot.joints.size(); ++j)
        data.qfrc_applied[j] = arm.physics->joints()[j].torque;
      mj_step(&model, &data);
    }
  }
}
BENCHMARK(bare_steps)->Name("mujoco/arm6_cycle/floor");

}  // namespace
