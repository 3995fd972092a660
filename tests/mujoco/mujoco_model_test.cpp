// Loading models of MuJoCo, and their physics by themselves.
#include <doctest/doctest.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mujoco/model_file.hpp"
#include "support/rt_guard.hpp"
#include "support/source_dir.hpp"
#include "takt/drives/registry.hpp"
#include "takt/sim/error.hpp"
#include "takt/sim/mujoco_physics.hpp"

using namespace takt;
using namespace takt::sim;
using takt::test::ModelFile;
using takt::test::pendulum;

namespace {

std::unique_ptr<MujocoPhysics> shipped(const std::string& name) {
  const std::string path = std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name;
  const auto robot = drives::load_robot_file(path + ".json");
  REQUIRE(robot);
  auto physics = MujocoPhysics::load(path + ".xml", *robot);
  if (!physics) FAIL(physics.error().message);
  return std::move(*physics);
}

robot::JointDescription joint_with(const std::string& name, robot::JointKind kind) {
  robot::JointDescription joint;
  joint.name = name;
  joint.kind = kind;
  return joint;
}

robot::RobotDescription robot_with(const std::string& joint,
                                   robot::JointKind kind = robot::JointKind::rotary) {
  robot::RobotDescription robot;
  robot.joints.push_back(joint_with(joint, kind));
  return robot;
}

std::string refusal(const ModelFile& model, const robot::RobotDescription& robot) {
  const auto loaded = MujocoPhysics::load(model.path(), robot);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().error == Errc::bad_physics);
  CHECK(loaded.error().message.find(model.path()) == 0);
  return loaded.error().message.substr(model.path().size());
}

}  // namespace

TEST_CASE("the shipped models have the joints of their robots") {
  for (const char* name : {"arm6", "quadruped", "mhubo_mobile"}) {
    CAPTURE(name);
    const std::string path = std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name;
    const auto robot = drives::load_robot_file(path + ".json");
    REQUIRE(robot);
    const auto physics = MujocoPhysics::load(path + ".xml", *robot);
    if (!physics) FAIL(physics.error().message);
    CHECK((*physics)->joints().size() == robot->joints.size());
    for (std::size_t i = 0; i < robot->joints.size(); ++i)
      CHECK((*physics)->joints()[i].position == robot->joints[i].plant.start);
    CHECK((robot->period % (*physics)->step_time()).count() == 0);
  }
}

TEST_CASE("of the contacts of the omni wheels, none is between rollers, and each wheel stands on the floor") {
  const auto physics = shipped("mhubo_mobile");
  const mjModel& model = physics->model();
  const mjData& data = physics->data();
  const auto wheel_of = [&](int geom) { return model.body_parentid[model.geom_bodyid[geom]]; };
  const int floor = mj_name2id(&model, mjOBJ_GEOM, "floor");
  for (PhysicsJoint& joint : physics->joints()) joint.torque = 1;
  std::set<int> standing;
  int between_rollers = 0;
  for (int i = 0; i < 1000; ++i) {
    physics->step();
    standing.clear();
    for (int c = 0; c < data.ncon; ++c) {
      const mjContact& contact = data.contact[c];
      const bool on_floor = contact.geom1 == floor || contact.geom2 == floor;
      between_rollers += on_floor ? 0 : 1;
      if (on_floor) standing.insert(wheel_of(contact.geom1 == floor ? contact.geom2 : contact.geom1));
    }
  }
  CHECK(between_rollers == 0);
  for (const char* wheel : {"wheel_front_left", "wheel_rear_left", "wheel_rear_right", "wheel_front_right"})
    CHECK(standing.count(physics->body(wheel).value()) == 1);
  CHECK(model.opt.integrator == mjINT_EULER);  // "implicit" costs seven times as much with so many joints
}

TEST_CASE("a model that does not fit the robot is refused with the joint and with what the model has") {
  CHECK(refusal(ModelFile(pendulum), robot_with("elbow")) == ": the model has no joint elbow; it has swing");
  CHECK(refusal(ModelFile(pendulum), robot_with("swing", robot::JointKind::linear)) ==
        ": joint swing must be a slide");
  CHECK(refusal(ModelFile(pendulum, R"(<actuator><position name="servo" joint="swing" kp="5"/></actuator>)"),
                robot_with("swing")) ==
        ": actuator servo of joint swing must be a <motor>: the robot's own drive controls it");
  CHECK(refusal(ModelFile(pendulum, R"(<actuator><motor joint="swing"/><motor joint="swing"/></actuator>)"),
                robot_with("swing")) ==
        ": actuator 1 of joint swing is a second one; a joint has one motor or none");
  CHECK(refusal(ModelFile(pendulum, "", "1.00000005e-3"), robot_with("swing")).find("not a whole number") !=
        std::string::npos);
  CHECK(refusal(ModelFile("<body>"), robot_with("swing")).size() > 10);
  CHECK(refusal(ModelFile(pendulum), robot_with("swing\n")).find("has no joint") != std::string::npos);
  const auto missing = MujocoPhysics::load("/no/such.xml", robot_with("swing"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("/no/such.xml") == 0);
  robot::RobotDescription two = robot_with("one");
  two.joints.push_back(joint_with("other", robot::JointKind::rotary));
  const std::string both = refusal(ModelFile(pendulum), two);
  CHECK(both.find("no joint one") != std::string::npos);
  CHECK(both.find("no joint other") != std::string::npos);
}

TEST_CASE("a joint without a brake swings as a pendulum does, and one with a brake stands") {
  const ModelFile model(pendulum);
  robot::RobotDescription robot = robot_with("swing", robot::JointKind::continuous);
  constexpr double amplitude = 0.05;
  robot.joints[0].plant.start = amplitude;
  const auto free = MujocoPhysics::load(model.path(), robot);
  robot.joints[0].kind = robot::JointKind::rotary;
  const auto held = MujocoPhysics::load(model.path(), robot);
  REQUIRE((free && held));
  (*free)->joints()[0].braked = (*held)->joints()[0].braked = true;

  const double length = 0.5;
  const double period = 2 * std::numbers::pi * std::sqrt(length / 9.81) * (1 + amplitude * amplitude / 16);
  const int steps = static_cast<int>(std::lround(10 * period / 1e-3));
  double lowest = amplitude;
  test::RtGuard guard;
  for (int i = 0; i < steps; ++i) {
    (*free)->step();
    (*held)->step();
    lowest = std::min(lowest, (*free)->joints()[0].position);
  }
  CHECK(guard.report() == "");
  CHECK((*free)->joints()[0].position == doctest::Approx(amplitude).epsilon(0.02));
  CHECK(lowest == doctest::Approx(-amplitude).epsilon(0.02));
  CHECK((*held)->joints()[0].position == doctest::Approx(amplitude).epsilon(0.02));
}

TEST_CASE("a torque acts directly, or through the joint's motor with its gear and range") {
  const double inertia = 0.25;
  for (const std::string& motor :
       {std::string(), std::string(R"(<actuator><motor joint="swing" gear="-4"/></actuator>)"),
        std::string(R"(<actuator><motor joint="swing" ctrllimited="true" ctrlrange="-1 1"/></actuator>)")}) {
    CAPTURE(motor);
    const ModelFile model(pendulum, motor);
    auto physics = MujocoPhysics::load(model.path(), robot_with("swing", robot::JointKind::continuous));
    REQUIRE(physics);
    (*physics)->model().opt.gravity[2] = 0;
    (*physics)->joints()[0].torque = 2;
    for (int i = 0; i < 100; ++i) (*physics)->step();
    const double given = motor.find("range") == std::string::npos ? 2 : 1;
    CHECK((*physics)->joints()[0].velocity == doctest::Approx(given / inertia * 0.1).epsilon(1e-3));
  }
}

TEST_CASE("a drive that is tuned for quite another inertia than the joint's is told with both") {
  robot::RobotDescription robot = robot_with("swing");
  const auto told = [&robot](double inertia, const ModelFile& model) {
    robot.joints[0].plant.inertia = inertia;
    const auto physics = MujocoPhysics::load(model.path(), robot);
    if (!physics) FAIL(physics.error().message);
    std::vector<std::string> warnings = (*physics)->warnings();
    for (std::string& warning : warnings) warning.erase(0, model.path().size());
    return warnings;
  };
  const ModelFile rod(pendulum);  // 0.25 kg m^2
  using Lines = std::vector<std::string>;
  for (const double inertia : {0.0026, 0.1, 24.9}) CHECK(told(inertia, rod).empty());
  CHECK(
      told(1000, rod) ==
      Lines{": joint swing: its servo is made for 1000 kg m^2 (plant.inertia), 4000 times the 0.25 kg m^2 of "
            "the model's joint at the start: it will shake. Keep within 100 times: change plant.inertia, or "
            "masses or armature in the model"});
  const std::string lazy = told(0.001, rod).at(0);
  CHECK(lazy.find("made for 0.001 kg m^2 (plant.inertia), 1/250 of the 0.25 kg m^2") != std::string::npos);
  CHECK(lazy.find("cannot follow") != std::string::npos);
  CHECK(told(1000, ModelFile(R"(<body><joint name="swing" axis="0 1 0" armature="20"/>
    <geom type="sphere" pos="0 0 -0.5" size="0.001" mass="1"/></body>)"))
            .empty());

  robot.joints[0].kind = robot::JointKind::linear;
  const ModelFile slide(
      R"(<body><joint name="swing" type="slide"/><geom type="sphere" size="0.1" mass="2"/></body>)");
  CHECK(told(1000, slide).at(0).find("1000 kg (plant.inertia), 500 times the 2 kg") != std::string::npos);
}

TEST_CASE("the drives of the shipped robots are made for the inertia of their models") {
  for (const char* name : {"arm6", "quadruped", "mhubo_mobile"}) {
    CAPTURE(name);
    CHECK(shipped(name)->warnings() == std::vector<std::string>{});
  }
}

TEST_CASE("physics that diverge stand still and say so") {
  const ModelFile model(pendulum);
  auto physics = MujocoPhysics::load(model.path(), robot_with("swing", robot::JointKind::continuous));
  REQUIRE(physics);
  (*physics)->step();
  CHECK((*physics)->sensors().on_execute({}));
  const double before = (*physics)->joints()[0].position;
  (*physics)->data().qvel[0] = 1e300;
  for (int i = 0; i < 10; ++i) (*physics)->step();
  CHECK((*physics)->diverged());
  CHECK((*physics)->joints()[0].position == before);
  CHECK((*physics)->sensors().on_execute({}).error() == Errc::physics_diverged);
}

TEST_CASE("bodies are found by name, stand where they are, and can be pushed") {
  const ModelFile model(
      R"(<body name="ball" pos="1 2 3"><freejoint/><geom type="sphere" size="0.1" mass="2"/></body>)" +
      std::string(pendulum));
  auto physics = MujocoPhysics::load(model.path(), robot_with("swing"));
  REQUIRE(physics);
  const auto ball = (*physics)->body("ball");
  REQUIRE(ball);
  CHECK((*physics)->position(*ball) == robot::Vector3{1, 2, 3});
  (*physics)->push(*ball, {{4, 0, 2 * 9.81}, {}});
  for (int i = 0; i < 1000; ++i) (*physics)->step();
  mj_forward(&(*physics)->model(), &(*physics)->data());
  CHECK((*physics)->position(*ball)[0] == doctest::Approx(1 + 0.5 * 2).epsilon(2e-3));
  CHECK((*physics)->position(*ball)[2] == doctest::Approx(3).epsilon(1e-6));
  const robot::Vector3 before = (*physics)->position(*ball);
  (*physics)->push(*ball, {{std::nan(""), 0, 0}, {}});
  (*physics)->push(-1, {{1, 0, 0}, {}});
  (*physics)->push(99, {{1, 0, 0}, {}});
  for (int i = 0; i < 2; ++i) (*physics)->step();  // bodies stand where the last step began
  CHECK_FALSE((*physics)->diverged());
  CHECK((*physics)->position(*ball)[0] > before[0]);
  CHECK((*physics)->position(99) == robot::Vector3{});
  CHECK((*physics)->position(-1) == robot::Vector3{});
  const auto none = (*physics)->body("cube");
  REQUIRE_FALSE(none);
  CHECK(none.error().message == "the model has no body cube; it has world, ball");
}
