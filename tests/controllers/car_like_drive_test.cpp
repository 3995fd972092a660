#include "takt/controllers/car_like_drive.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
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

/// Steered joints come first, then the driven ones.
struct Rig : DriveRig<CarLikeDriveController> {
  Rig(const std::string& steering, const std::string& traction, double track,
      std::vector<component::Assignment> more = {}, double steering_rate = 100)
      : DriveRig(car(steering, traction, steering_rate),
                 with({{"steering", steering}, {"traction", traction}, {"track", track}}, std::move(more))) {}

  static std::vector<component::Assignment> with(std::vector<component::Assignment> joints,
                                                 std::vector<component::Assignment> more) {
    more.insert(more.begin(), joints.begin(), joints.end());
    more.insert(more.begin(), {{"wheelbase", 0.8}, {"wheel_radius", 0.1}});
    if (std::ranges::find(more, "max_steering", &component::Assignment::parameter) == more.end())
      more.push_back({"max_steering", 0.5});
    return more;
  }
  static robot::RobotDescription car(const std::string& steering, const std::string& traction,
                                     double steering_rate) {
    robot::RobotDescription robot = wheeled_robot(names_in(steering + "," + traction));
    for (std::size_t i = 0; i < names_in(steering).size(); ++i) {
      robot.joints[i].kind = robot::JointKind::rotary;
      robot.joints[i].limits = {-1.5, 1.5, steering_rate, 2000, 1e6, 50};
    }
    return robot;
  }
};

const double curvature = 0.5;  // 1/m

}  // namespace

TEST_CASE("a bicycle steers by the curvature and rolls by the speed") {
  Rig rig("s", "t", 0);
  rig.drive({0.6, 0, 0.6 * curvature}, 2000);
  CHECK(rig.position(0) == Approx(std::atan(curvature * 0.8)));
  CHECK(rig.velocity(1) == Approx(6));
}

TEST_CASE("the wheels of a car turn about one centre") {
  Rig rig("sl, sr", "fl, fr, rl, rr", 0.4);
  rig.drive({0.6, 0, 0.6 * curvature}, 2000);
  const double radius = 1 / curvature;
  CHECK(rig.position(0) == Approx(std::atan2(0.8, radius - 0.2)));
  CHECK(rig.position(1) == Approx(std::atan2(0.8, radius + 0.2)));
  const double rotation = 0.6 * curvature / 0.1;
  CHECK(rig.velocity(2) == Approx(rotation * std::hypot(0.8, radius - 0.2)));
  CHECK(rig.velocity(3) == Approx(rotation * std::hypot(0.8, radius + 0.2)));
  CHECK(rig.velocity(4) == Approx(rotation * (radius - 0.2)));
  CHECK(rig.velocity(5) == Approx(rotation * (radius + 0.2)));
}

TEST_CASE("the odometry of steered wheels is exact on lines and arcs, forward and backward") {
  const auto check = [](Rig& rig) {
    rig.check_motion({0.8, 0, 0});
    rig.check_motion({0.6, 0, 0.6 * curvature});
    rig.check_motion({0.6, 0, -0.6 * curvature});
    rig.check_motion({-0.5, 0, 0.5 * curvature});
    CHECK(rig.state("base/odometry_errors") == 0);
  };
  for (const char* source : {"position", "velocity", "open_loop"}) {
    CAPTURE(source);
    Rig bicycle("s", "t", 0, {{"odometry_source", source}});
    check(bicycle);
    Rig one_wheel_in_front("s", "rl, rr", 0.4, {{"odometry_source", source}});
    check(one_wheel_in_front);
    Rig car("sl, sr", "rl, rr", 0.4, {{"odometry_source", source}});
    check(car);
  }
}

TEST_CASE("a curve beyond the tightest turn is driven on the tightest turn, at its speed") {
  Rig rig("s", "t", 0);
  rig.drive({0.5, 0, 10}, 2000);
  CHECK(rig.position(0) == Approx(0.5));
  CHECK(rig.velocity(1) == Approx(5));
  CHECK(rig.odometry().twist.rotation == Approx(0.5 * std::tan(0.5) / 0.8));
}

TEST_CASE("reversing steers the other way for the same rotation") {
  Rig rig("s", "t", 0);
  rig.drive({-0.5, 0, 0.2}, 2000);
  CHECK(rig.position(0) == Approx(-std::atan(0.4 * 0.8)));
  CHECK(rig.velocity(1) == Approx(-5));
}

TEST_CASE("a silent sender stops the traction and keeps the steering") {
  Rig rig("sl, sr", "rl, rr", 0.4);
  rig.drive({0.6, 0, 0.6 * curvature}, 2000);
  const double left = rig.position(0);
  rig.run(2000);
  CHECK(rig.velocity(2) == 0);
  CHECK(rig.velocity(3) == 0);
  CHECK(rig.position(0) == Approx(left).epsilon(1e-9));
}

TEST_CASE("a rotation at standstill moves nothing") {
  Rig rig("s", "t", 0);
  rig.drive({0, 0, 1}, 1000);
  CHECK(rig.position(0) == Approx(0));
  CHECK(rig.velocity(1) == 0);
}

TEST_CASE("it can wait for the steering") {
  const auto distance = [](bool waits) {
    // The steering moves by 0.2 rad meanwhile, of 1.4 rad.
    Rig rig("s", "t", 0, {{"waits_for_steering", waits}, {"max_steering", 1.5}, {"acceleration", 100.0}},
            0.5);
    rig.drive({0.2, 0, 0.2 * 8}, 400);
    return rig.odometry().pose.x;
  };
  const double waited = distance(true);
  CHECK(waited > 0);
  CHECK(waited < 0.8 * distance(false));
}

TEST_CASE("the velocity limit of a wheel slows the vehicle on its curve") {
  robot::RobotDescription robot = Rig::car("sl, sr", "rl, rr", 100);
  robot.joints[3].limits.velocity = 3;
  DriveRig<CarLikeDriveController> rig(
      robot, Rig::with({{"steering", "sl, sr"}, {"traction", "rl, rr"}, {"track", 0.4}}, {}));
  rig.drive({1, 0, curvature}, 2000);
  CHECK(rig.velocity(3) == Approx(3));
  CHECK(rig.velocity(2) == Approx(3 * 1.8 / 2.2));
}

TEST_CASE("mistakes of the set-up are named") {
  ControllerRig rig(wheeled_robot({"a", "b", "c"}));
  const auto load = [&](std::vector<component::Assignment> parameters) {
    return rig.load(std::make_shared<CarLikeDriveController>("base"), parameters);
  };
  CHECK(load({{"steering", "a, b"}, {"traction", "c"}}).find("2 joints for steering and 1") !=
        std::string::npos);
  CHECK(load({{"steering", "a"}, {"traction", "a, b"}}).find("\"a\" is in two lists") != std::string::npos);
  CHECK(load({{"steering", "a"}, {"traction", "b"}, {"track", 10.0}}).find("tightest turn") !=
        std::string::npos);
  CHECK(load({{"steering", "a"}, {"traction", "b, c"}}) == "");
}
