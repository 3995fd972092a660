// An arm in MuJoCo feels what happens to it, in virtual time: it holds two kilograms, is pushed at its tool,
// and drops its load. Its drives, frames and manager are those of a real robot.
//
//     15_mujoco [FOLDER]      with a folder: also pictures, 25 a second
//
// Prints time (s), force at the wrist (N), the largest tracking error (mrad) and the height of the load (m);
// 15_mujoco.gp draws them. Exit code: 0 if the arm felt all of it.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "takt/app/devices.hpp"
#include "takt/component/connection.hpp"
#include "takt/controllers/force_torque_broadcaster.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/manager.hpp"
#include "takt/sim/mujoco_camera.hpp"
#include "takt/sim/mujoco_physics.hpp"

using namespace takt;

namespace {

/// Puts the load below the tool and fixes it there.
void grasp(sim::MujocoPhysics& physics, int tool) {
  mjModel& model = physics.model();
  mjData& data = physics.data();
  const mjtNum offset[3] = {0, 0.1, 0};  // as the weld in the model says
  mjtNum* const pose = data.qpos + model.jnt_qposadr[mj_name2id(&model, mjOBJ_JOINT, "load")];
  mju_rotVecMat(pose, offset, data.xmat + 9 * tool);
  mju_addTo3(pose, data.xpos + 3 * tool);
  mju_copy4(pose + 3, data.xquat + 4 * tool);
  model.eq_active[mj_name2id(&model, mjOBJ_EQUALITY, "grasp")] = 1;
}

/// The reader of the wrench.
struct Reader final : component::Component {
  static constexpr component::ComponentMetadata about{.type = "Reader",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "example",
                                                      .description = "Reads a wrench."};
  Reader() : Component(about, "reader") {}
  component::InPort<robot::Wrench> wrench{*this, "wrench"};
};

double largest_error(const robot::Manager& manager) {
  double largest = 0;
  for (const robot::Joint& joint : manager.joints())
    largest = std::max(largest, std::abs(joint.reference().position - joint.feedback().position));
  return largest;
}

/// The force at the wrist without the tool's own weight, by what the sensor says.
struct Felt {
  double force = 0;  ///< N
  double error = 0;  ///< rad
};

}  // namespace

int main(int argc, char** argv) {
  auto robot = drives::load_robot_file("examples/robots/arm6.json");
  if (!robot) return std::puts(to_string(robot.error().front()).c_str()), 1;
  robot->joints[4].plant.start = 1.6;  // the tool points down
  auto physics = sim::MujocoPhysics::load("examples/robots/arm6.xml", *robot);
  if (!physics) return std::puts(physics.error().message.c_str()), 1;
  auto devices = app::Devices::create(*robot, {.simulate = true, .physics = physics->get()});
  if (!devices) return std::puts(devices.error().message.c_str()), 1;
  std::unique_ptr<sim::MujocoCamera> camera;
  if (argc > 1) {
    auto made = sim::MujocoCamera::create(**physics);
    if (!made) return std::puts(made.error().message.c_str()), 1;
    camera = std::move(*made);
  }

  robot::DriveDevice drives("drives", **devices);
  robot::Manager manager(*robot);
  auto sensor = std::make_shared<controllers::ForceTorqueBroadcaster>("ft");
  const std::vector<component::Assignment> settings = {{"sensor", std::string("wrist")}, {"cutoff", 50.0}};
  SetupResult<void> made = sensor->parameters().set(settings, "example");
  if (made) made = manager.add(drives);
  if (made) made = manager.add((*physics)->sensors());
  if (made) made = manager.load(sensor);
  if (made) made = manager.switch_controllers({.start = {"ft"}});
  if (!made) return std::puts(made.error().message.c_str()), 1;
  Reader reader;
  const auto connection = component::connect(sensor->wrench, reader.wrench);
  const auto tool = (*physics)->body("tool");
  const auto load = (*physics)->body("load");
  if (!connection || !tool || !load || !manager.start(Time{})) return 1;

  Felt pushed, loaded, dropped;
  Time now{};
  int picture = 0;
  for (int cycle = 0; cycle < 6000; ++cycle) {
    if (cycle == 1000) grasp(**physics, *tool);
    if (cycle == 2500) (*physics)->push(*tool, {{0, 150, 0}, {}});
    if (cycle == 2800) (*physics)->push(*tool, {});
    if (cycle == 4000) (*physics)->model().eq_active[0] = 0;
    now += robot->period;
    manager.cycle({.due = now, .woke = now});
    if (camera && cycle % 40 == 0) {
      char name[32];
      std::snprintf(name, sizeof name, "/%05d.png", picture++);
      if (auto saved = camera->save(argv[1] + std::string(name)); !saved)
        return std::puts(saved.error().message.c_str()), 1;
    }
    static_cast<void>(reader.wrench.read());
    const robot::Vector3& f = reader.wrench.value().force;
    const Felt felt{std::hypot(f[0], f[1], f[2]), largest_error(manager)};
    if (cycle > 2500 && cycle < 2800) pushed.error = std::max(pushed.error, felt.error);
    if (cycle == 2499) loaded = felt;
    if (cycle == 5999) dropped = felt;
    if (cycle % 5 == 0)
      std::printf("%.3f %.3f %.4f %.4f\n", to_seconds(now - Time{}), felt.force, 1e3 * felt.error,
                  (*physics)->position(*load)[2]);
  }
  manager.stop(now);
  std::fprintf(stderr, "held %.1f N, pushed by %.2f mrad from %.2f mrad, then held %.1f N\n", loaded.force,
               1e3 * pushed.error, 1e3 * loaded.error, dropped.force);
  const bool felt_load = std::abs(loaded.force - dropped.force - 2 * 9.81) < 1;
  return felt_load && pushed.error > 5 * loaded.error && manager.supervisor().fault() == std::nullopt ? 0 : 1;
}
