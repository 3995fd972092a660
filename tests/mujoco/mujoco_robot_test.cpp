// Whole robots in MuJoCo: drives with their frames, manager, ready-made controllers, and what they feel.
#include <doctest/doctest.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mujoco/model_file.hpp"
#include "support/source_dir.hpp"
#include "takt/app/devices.hpp"
#include "takt/component/connection.hpp"
#include "takt/controllers/force_torque_broadcaster.hpp"
#include "takt/controllers/forward.hpp"
#include "takt/controllers/gpio.hpp"
#include "takt/controllers/gripper.hpp"
#include "takt/controllers/holonomic_drive.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/manager.hpp"
#include "takt/sim/mujoco_physics.hpp"

using namespace takt;
using namespace takt::sim;
using doctest::Approx;
using takt::test::ModelFile;

namespace {

robot::RobotDescription shipped(const std::string& name) {
  auto robot = drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".json");
  REQUIRE(robot);
  robot->controllers.clear();
  return std::move(*robot);
}
std::string model_of(const std::string& name) {
  return std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".xml";
}

/// The other end of a port.
template <class T>
struct Client final : component::Component {
  static constexpr component::ComponentMetadata about{
      .type = "Client", .version = "1.0.0", .vendor = "takt", .category = "test", .description = "A port."};
  Client() : Component(about, "client") {}
  component::OutPort<T> out{*this, "out"};
  component::InPort<T> in{*this, "in"};
};

/// A robot in its model, with its manager.
class Rig {
 public:
  Rig(robot::RobotDescription its_robot, const std::string& model)
      : robot(std::move(its_robot)), physics(loaded(model, robot)) {
    auto made = app::Devices::create(robot, {.simulate = true, .physics = physics.get()});
    if (!made) FAIL(made.error().message);
    devices_ = std::move(*made);
    drives_.emplace("drives", *devices_);
    manager.emplace(robot);
    REQUIRE(manager->add(*drives_));
    REQUIRE(manager->add(physics->sensors()));
  }

  template <class C>
  std::shared_ptr<C> start(const std::string& name, const std::vector<component::Assignment>& settings) {
    auto controller = std::make_shared<C>(name);
    if (const auto set = controller->parameters().set(settings, "test"); !set) FAIL(set.error().message);
    if (const auto made = manager->load(controller); !made) FAIL(made.error().message);
    if (const auto made = manager->switch_controllers({.start = {name}}); !made) FAIL(made.error().message);
    return controller;
  }
  template <class Each>
  void run(double seconds, const Each& each) {
    REQUIRE(manager->start(now));
    const Time end = now + from_seconds(seconds);
    while (now < end) {
      each();
      now += robot.period;
      manager->cycle({.due = now, .woke = now});
    }
    manager->stop(now);
  }
  void run(double seconds) {
    run(seconds, [] {});
  }
  void make_ready() {
    run(1);
    REQUIRE(manager->supervisor().state() == robot::RobotState::ready);
  }
  [[nodiscard]] const robot::Joint& joint(std::size_t i) const { return manager->joints()[i]; }
  [[nodiscard]] double largest_error() const {
    double largest = 0;
    for (const robot::Joint& each : manager->joints())
      largest = std::max(largest, std::abs(each.reference().position - each.feedback().position));
    return largest;
  }
  [[nodiscard]] double state(const std::string& name) const {
    for (const robot::InterfaceInfo& info : manager->interfaces())
      if (info.name == name) return info.value;
    FAIL("no interface " << name);
    return 0;
  }

  robot::RobotDescription robot;
  std::unique_ptr<MujocoPhysics> physics;
  mutable std::optional<robot::Manager> manager;
  Time now{};

 private:
  static std::unique_ptr<MujocoPhysics> loaded(const std::string& model,
                                               const robot::RobotDescription& robot) {
    auto made = MujocoPhysics::load(model, robot);
    if (!made) FAIL(made.error().message);
    return std::move(*made);
  }
  std::unique_ptr<app::Devices> devices_;
  std::optional<robot::DriveDevice> drives_;
};

/// Lets the arm hold two kilograms.
void grasp(Rig& arm) {
  mjModel& model = arm.physics->model();
  mjData& data = arm.physics->data();
  const int tool = arm.physics->body("tool").value();
  const int load = mj_name2id(&model, mjOBJ_JOINT, "load");
  const std::array<mjtNum, 3> offset{0, 0.1, 0};
  mjtNum* const pose = data.qpos + model.jnt_qposadr[load];
  mju_rotVecMat(pose, offset.data(), data.xmat + 9 * tool);
  mju_addTo3(pose, data.xpos + 3 * tool);
  mju_copy4(pose + 3, data.xquat + 4 * tool);
  model.eq_active[0] = 1;
}

double distance(const robot::Vector3& a, const robot::Vector3& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
double size_of(const robot::Vector3& v) { return std::hypot(v[0], v[1], v[2]); }

}  // namespace

TEST_CASE("an arm holds its pose against gravity, and feels a push") {
  Rig arm(shipped("arm6"), model_of("arm6"));
  arm.make_ready();
  CHECK(arm.largest_error() < 2e-3);
  const int tool = arm.physics->body("tool").value();
  const robot::Vector3 before = arm.physics->position(tool);

  double pushed = 0;
  double moved = 0;
  arm.physics->push(tool, {{0, 120, 0}, {}});
  arm.run(0.5, [&] {
    pushed = std::max(pushed, arm.largest_error());
    moved = std::max(moved, distance(arm.physics->position(tool), before));
  });
  CHECK(pushed > 5 * 1e-4);
  CHECK(moved > 2e-4);
  arm.physics->push(tool, {});
  arm.run(1);
  CHECK(arm.manager->supervisor().state() == robot::RobotState::ready);
  CHECK(arm.largest_error() < 2e-3);

  arm.physics->push(tool, {{0, 3000, 0}, {}});  // more than the drives can hold
  arm.run(1);
  CHECK(arm.manager->supervisor().state() != robot::RobotState::ready);
  CHECK(arm.manager->supervisor().fault().has_value());
}

TEST_CASE("an arm feels a load at its wrist, and that it drops it") {
  robot::RobotDescription description = shipped("arm6");
  description.joints[4].plant.start = 1.6;  // the tool points down
  Rig arm(description, model_of("arm6"));
  auto sensor = arm.start<controllers::ForceTorqueBroadcaster>("ft", {{"sensor", "wrist"}});
  Client<robot::Wrench> client;
  const auto connection = component::connect(sensor->wrench, client.in);
  REQUIRE(connection);
  const auto weight = [&] {
    static_cast<void>(client.in.read());
    return size_of(client.in.value().force);
  };
  arm.make_ready();
  CHECK(weight() == Approx(0.3 * 9.81).epsilon(0.05));  // the tool
  grasp(arm);
  arm.run(1);
  CHECK(weight() == Approx(2.3 * 9.81).epsilon(0.05));
  CHECK(arm.largest_error() < 2e-3);
  arm.physics->model().eq_active[0] = 0;
  arm.run(1);
  CHECK(weight() == Approx(0.3 * 9.81).epsilon(0.05));
  CHECK(arm.physics->position(arm.physics->body("load").value())[2] < 0.1);  // on the floor
}

TEST_CASE("a gripper stalls on an object and holds it") {
  robot::RobotDescription hand = shipped("odrive_arm");
  hand.joints.resize(1);
  hand.groups.clear();
  robot::JointDescription& finger = hand.joints[0];
  finger.name = "finger";
  finger.kind = robot::JointKind::linear;
  finger.limits = {0, 0.05, 0.2, 2, 100, 40};
  finger.following_error = 0.02;
  finger.plant = {.inertia = 0.5, .viscous_friction = 1, .torque_limit = 40, .bandwidth = 60, .start = 0};
  const ModelFile model(R"(
    <geom type="plane" size="1 1 0.1"/>
    <body pos="-0.05 0 0.1"><joint name="finger" type="slide" axis="1 0 0" armature="0.4" damping="1"/>
      <geom type="box" size="0.005 0.02 0.02" mass="0.1"/></body>
    <body pos="0.05 0 0.1"><joint name="other" type="slide" axis="-1 0 0" armature="0.4" damping="1"/>
      <geom type="box" size="0.005 0.02 0.02" mass="0.1"/></body>
    <body name="object" pos="0 0 0.02"><freejoint/><geom type="box" size="0.015 0.015 0.1" mass="0.2"/></body>)",
                        R"(<equality><joint joint1="other" joint2="finger"/></equality>)");
  Rig rig(hand, model.path());
  auto gripper = rig.start<controllers::GripperController>("gripper", {{"joint", "finger"},
                                                                       {"speed", 0.05},
                                                                       {"stall_window", 0.6},
                                                                       {"stall_distance", 0.001},
                                                                       {"goal_tolerance", 0.002}});
  Client<controllers::GripperGoal> goals;
  Client<controllers::GripperResult> results;
  const auto in = component::connect(goals.out, gripper->goals);
  const auto out = component::connect(gripper->results, results.in);
  REQUIRE((in && out));
  rig.make_ready();
  goals.out.write({.number = 1, .position = 0.05, .max_effort = 20}, rig.now);
  rig.run(3);
  REQUIRE(results.in.read() == shm::Freshness::new_data);
  CHECK(results.in.value().outcome == controllers::GripperOutcome::stalled);
  CHECK(rig.joint(0).feedback().position == Approx(0.05 - 0.005 - 0.015).epsilon(0.1));

  goals.out.write({.number = 2, .position = 0, .max_effort = 20}, rig.now);
  rig.run(3);
  REQUIRE(results.in.read() == shm::Freshness::new_data);
  CHECK(results.in.value().outcome == controllers::GripperOutcome::reached);
}

TEST_CASE("a quadruped stands on its feet, and its inertial unit knows") {
  Rig dog(shipped("quadruped"), model_of("quadruped"));
  dog.run(3);
  REQUIRE(dog.manager->supervisor().state() == robot::RobotState::ready);
  const int trunk = dog.physics->body("trunk").value();
  CHECK(dog.physics->position(trunk)[2] > 0.2);
  CHECK(dog.physics->position(trunk)[2] < 0.32);
  CHECK(dog.state("imu/orientation.3") > 0.99);
  CHECK(dog.state("imu/acceleration.2") == Approx(9.81).epsilon(0.02));
  double weight = 0;
  for (const char* foot : {"front_left", "front_right", "hind_left", "hind_right"}) {
    const double force = dog.state("physics/" + std::string(foot) + "_foot");
    CHECK(force > 10);
    weight += force;
  }
  const double mass = dog.physics->model().body_subtreemass[0];
  CHECK(weight == Approx(mass * 9.81).epsilon(0.03));

  auto squat = dog.start<controllers::ForwardController>(
      "squat", {{"joints", "front_left_knee, front_right_knee, hind_left_knee, hind_right_knee"}});
  Client<controllers::JointSetpoints> client;
  const auto connection = component::connect(client.out, squat->setpoints.port());
  REQUIRE(connection);
  const double before = dog.physics->position(trunk)[2];
  double knee = -1.4;
  dog.run(1, [&] {
    controllers::JointSetpoints sample{.count = 4};
    knee = std::max(knee - 0.001, -1.8);
    std::fill_n(sample.values.begin(), 4, knee);
    client.out.write(sample, dog.now);
  });
  CHECK(dog.physics->position(trunk)[2] < before - 0.01);
  CHECK(dog.state("imu/orientation.3") > 0.98);
}

TEST_CASE("a base on omni wheels goes where it is told, and its odometry agrees with the world") {
  Rig rig(shipped("mhubo_mobile"), model_of("mhubo_mobile"));
  auto drive = rig.start<controllers::HolonomicDriveController>(
      "drive", {{"wheels", "wheel_front_left, wheel_rear_left, wheel_rear_right, wheel_front_right"},
                {"layout", "omni"},
                {"wheel_radius", 0.1},
                {"circle", 0.27},
                {"first_wheel", 0.7853982}});
  Client<mobile::Twist> client;
  Client<controllers::OdometrySample> seen;
  const auto in = component::connect(client.out, drive->command);
  const auto out = component::connect(drive->odometry, seen.in);
  REQUIRE((in && out));
  rig.make_ready();
  const int base = rig.physics->body("base").value();
  const robot::Vector3 start = rig.physics->position(base);
  CHECK(start[2] == Approx(0.1).epsilon(0.1));
  const auto go = [&](const mobile::Twist& twist, double seconds) {
    rig.run(seconds, [&] { client.out.write(twist, rig.now); });
  };
  go({0.3, 0, 0}, 2);
  go({0, 0.3, 0}, 2);
  rig.run(1.5);
  static_cast<void>(seen.in.read());
  const robot::Vector3 end = rig.physics->position(base);
  CHECK(end[0] - start[0] == Approx(seen.in.value().pose.x).epsilon(0.1));
  CHECK(end[1] - start[1] == Approx(seen.in.value().pose.y).epsilon(0.1));
  CHECK(end[0] - start[0] > 0.4);
  CHECK(end[1] - start[1] > 0.4);
  CHECK(rig.manager->supervisor().state() == robot::RobotState::ready);
}

TEST_CASE("an actuator of no joint of the robot is a command, and holds its last value in silence") {
  const ModelFile model(
      std::string(takt::test::pendulum) +
          R"(<body><joint name="valve" axis="0 0 1" damping="20"/><geom type="box" size="0.1 0.1 0.1"/></body>)",
      R"(<actuator><position name="valve" joint="valve" kp="50"/></actuator>)");
  robot::RobotDescription robot = shipped("odrive_arm");
  robot.joints.resize(1);
  robot.groups.clear();
  robot.joints[0].name = "swing";
  Rig rig(robot, model.path());
  auto io = rig.start<controllers::GpioController>("io", {{"outputs", "physics/valve"}, {"timeout", 0.1}});
  Client<controllers::SignalValues> client;
  const auto connection = component::connect(client.out, io->commands.port());
  REQUIRE(connection);
  rig.make_ready();
  mjModel& world = rig.physics->model();
  const double& valve = rig.physics->data().qpos[world.jnt_qposadr[mj_name2id(&world, mjOBJ_JOINT, "valve")]];
  CHECK(valve == Approx(0));
  controllers::SignalValues open{.count = 1};
  open.values[0] = 0.5;
  client.out.write(open, rig.now);
  rig.run(3);
  CHECK(valve == Approx(0.5).epsilon(0.05));
}

TEST_CASE("two runs give the same numbers to the last bit") {
  const auto numbers = [] {
    Rig arm(shipped("arm6"), model_of("arm6"));
    std::vector<double> all;
    const int tool = arm.physics->body("tool").value();
    arm.run(1, [&] {
      arm.physics->push(tool, {{0, arm.now > Time(from_seconds(0.7)) ? 80.0 : 0.0, 0}, {}});
      for (const robot::Joint& joint : arm.manager->joints()) {
        all.push_back(joint.feedback().position);
        all.push_back(joint.feedback().effort);
      }
      all.push_back(arm.state("wrist/force.2"));
    });
    return all;
  };
  const auto one = numbers();
  const auto other = numbers();
  CHECK(one.size() > 1000);
  CHECK(one == other);
}
