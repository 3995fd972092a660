#include "takt/controllers/holonomic_drive.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/drive_rig.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;
using doctest::Approx;

namespace {

using Rig = DriveRig<HolonomicDriveController>;

const std::vector<component::Assignment> mecanum = {
    {"wheels", "fl, fr, rl, rr"}, {"length", 0.6}, {"width", 0.4}, {"wheel_radius", 0.1}};

const std::vector<component::Assignment> omni = {
    {"wheels", "a, b, c"}, {"layout", "omni"}, {"circle", 0.3}, {"wheel_radius", 0.1}};

void check_all_directions(Rig& rig) {
  rig.check_motion({0.5, 0, 0});
  rig.check_motion({0, 0.5, 0});
  rig.check_motion({0, 0, 1});
  rig.check_motion({0.4, -0.3, 0.5});
  CHECK(rig.odometry().twist.left == Approx(-0.3));
  CHECK(rig.state("base/slip") == Approx(0));
}

}  // namespace

TEST_CASE("mecanum wheels turn by the signs of their rollers") {
  const auto rates = [](const mobile::Twist& twist) {
    Rig rig(wheeled_robot({"fl", "fr", "rl", "rr"}), mecanum);
    rig.drive(twist, 2000);
    return std::vector<double>{rig.velocity(0), rig.velocity(1), rig.velocity(2), rig.velocity(3)};
  };
  const auto check = [](const std::vector<double>& wheels, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < 4; ++i) CHECK(wheels[i] == Approx(expected[i]));
  };
  check(rates({0.5, 0, 0}), {5, 5, 5, 5});
  check(rates({0, 0.5, 0}), {-5, 5, 5, -5});
  check(rates({0, 0, 1}), {-5, 5, -5, 5});  // (0.3 + 0.2) / 0.1
}

TEST_CASE("the odometry of mecanum and omni wheels is exact in all directions, from each source") {
  for (const char* source : {"position", "velocity", "open_loop"}) {
    CAPTURE(source);
    auto parameters = mecanum;
    parameters.push_back({"odometry_source", source});
    Rig four(wheeled_robot({"fl", "fr", "rl", "rr"}), parameters);
    check_all_directions(four);
    parameters = omni;
    parameters.push_back({"odometry_source", source});
    Rig three(wheeled_robot({"a", "b", "c"}), parameters);
    check_all_directions(three);
  }
}

TEST_CASE("limits keep the direction") {
  auto parameters = mecanum;
  parameters.push_back({"max_forward", 0.2});
  Rig rig(wheeled_robot({"fl", "fr", "rl", "rr"}), parameters);
  rig.drive({0.8, 0.4, 0}, 2000);
  CHECK(rig.odometry().twist.forward == Approx(0.2));
  CHECK(rig.odometry().twist.left == Approx(0.1));
}

TEST_CASE("a wheel that does not follow shows as slip") {
  robot::RobotDescription robot = wheeled_robot({"fl", "fr", "rl", "rr"});
  robot.joints[0].limits.acceleration = 1;  // rad/s^2
  Rig rig(robot, mecanum);
  rig.drive({0.5, 0, 0}, 500);
  CHECK(rig.state("base/slip") > 0.5);
}

TEST_CASE("an input drives sideways") {
  Rig rig(wheeled_robot({"fl", "fr", "rl", "rr"}), mecanum);
  REQUIRE(rig.load(std::make_shared<Leader>("base/left", 0.2)) == "");
  REQUIRE(rig.change({"leader"}) == "");
  rig.run(1000);
  CHECK(rig.velocity(0) == Approx(-2));
  CHECK(rig.velocity(1) == Approx(2));
}

TEST_CASE("mistakes of the set-up are named") {
  ControllerRig rig(wheeled_robot({"a", "b", "c"}));
  const auto load = [&](std::vector<component::Assignment> parameters) {
    return rig.load(std::make_shared<HolonomicDriveController>("base"), parameters);
  };
  CHECK(load({{"wheels", "a, b, c"}}).find("3 wheels; allowed are 4 mecanum wheels") != std::string::npos);
  CHECK(load({{"wheels", "a, b"}, {"layout", "omni"}}).find("2 wheels") != std::string::npos);
  CHECK(load({{"wheels", "a, b, a"}, {"layout", "omni"}}).find("names \"a\" twice") != std::string::npos);
  CHECK(load({{"wheels", "a, b, c"}, {"layout", "omni"}}) == "");
  CHECK(!rig.manager.find("base")->parameters().set("layout", std::string("mecanum"), "test"));
}
