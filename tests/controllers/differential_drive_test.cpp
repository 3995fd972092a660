#include "takt/controllers/differential_drive.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "controllers/drive_rig.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;
using namespace std::chrono_literals;
using doctest::Approx;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using Parameters = std::vector<component::Assignment>;

Parameters with(Parameters more) {
  more.insert(more.begin(), {{"left", "l1, l2"},
                             {"right", "r1, r2"},
                             {"track", 0.4},
                             {"wheel_radius", 0.1},
                             {"acceleration", 1.0},
                             {"braking", 2.0},
                             {"rotational_acceleration", 4.0}});
  return more;
}

struct Rig : DriveRig<DifferentialDriveController> {
  explicit Rig(Parameters more = {})
      : DriveRig(wheeled_robot({"l1", "r1", "l2", "r2"}), with(std::move(more))) {}
};

}  // namespace

TEST_CASE("a twist becomes the rates of all wheels of each side") {
  Rig rig;
  rig.drive({0.5, 0, 1}, 2000);
  for (const std::size_t left : {0u, 2u}) CHECK(rig.velocity(left) == Approx((0.5 - 0.2) / 0.1));
  for (const std::size_t right : {1u, 3u}) CHECK(rig.velocity(right) == Approx((0.5 + 0.2) / 0.1));
}

TEST_CASE("multipliers correct the track and the radius of each side, also while it drives") {
  Rig rig({{"track_multiplier", 1.5}, {"left_radius_multiplier", 0.5}, {"right_radius_multiplier", 2.0}});
  rig.drive({0.5, 0, 1}, 2000);
  CHECK(rig.velocity(0) == Approx((0.5 - 0.3) / 0.05));
  CHECK(rig.velocity(1) == Approx((0.5 + 0.3) / 0.2));
  rig.check_motion({0.5, 0, 1});
  REQUIRE(rig.base->parameters().set("right_radius_multiplier", 1.0, "test"));
  rig.drive({0.5, 0, 1}, 1000);
  CHECK(rig.velocity(1) == Approx((0.5 + 0.3) / 0.1));
}

TEST_CASE("the odometry is exact on a line, an arc and the spot, from each source") {
  for (const char* source : {"position", "velocity", "open_loop"}) {
    CAPTURE(source);
    Rig rig(Parameters{{"odometry_source", source}});
    rig.check_motion({0.8, 0, 0});
    rig.check_motion({0.6, 0, 0.7});
    rig.check_motion({-0.4, 0, 0.5});
    rig.check_motion({0, 0, 1.5});
    CHECK(rig.state("base/odometry_errors") == 0);
    CHECK(rig.state("base/heading") == rig.odometry().pose.heading);
  }
}

TEST_CASE("the odometry of wheels that are reported within half a turn is exact") {
  for (const mobile::Twist& twist :
       {mobile::Twist{0.8, 0, 0}, mobile::Twist{-0.4, 0, 0.5}, mobile::Twist{0, 0, 1.5}}) {
    Rig whole, wrapped;
    const auto drive = [&](Rig& rig, bool wraps) {
      rig.run(3000, [&](int k) {
        if (k % 20 == 0) rig.send(twist);
        for (robot::JointFeedback& wheel : rig.drives.feedback) {
          if (wraps) wheel.position = mobile::wrap_angle(wheel.position);
        }
      });
    };
    drive(whole, false);
    drive(wrapped, true);
    CHECK(wrapped.odometry().pose.x == Approx(whole.odometry().pose.x));
    CHECK(wrapped.odometry().pose.y == Approx(whole.odometry().pose.y));
    CHECK(wrapped.odometry().pose.heading == Approx(whole.odometry().pose.heading));
    CHECK(wrapped.state("base/wheel_jumps") == 0);
  }
}

TEST_CASE("a wheel whose position jumps is counted, and its velocity is taken instead") {
  for (const double jump : {-40.0, 3.0, 1.0}) {
    Rig rig;
    rig.drive({0.8, 0, 0}, 1000);
    const double before = rig.odometry().pose.x;
    rig.run(1, [&](int) { rig.drives.feedback[1].position += jump; });
    CHECK(rig.state("base/wheel_jumps") == 1);
    CHECK(rig.odometry().pose.x == Approx(before + 0.8 * 0.001).epsilon(1e-5));
    CHECK(rig.odometry().pose.heading == Approx(0).epsilon(1e-9));
    CHECK(rig.state("base/odometry_errors") == 0);
  }
}

TEST_CASE("wheels that are heard again after a pause keep their turns") {
  Rig rig;
  rig.drive({0.8, 0, 0}, 1000);
  const double before = rig.odometry().pose.x;
  for (robot::JointFeedback& wheel : rig.drives.feedback) wheel.position += 8 * 1.0;  // 8 rad/s for 1 s
  rig.now += 1s;
  rig.drive({0.8, 0, 0}, 1);
  CHECK(rig.odometry().pose.x - before == Approx(0.8 + 0.0008).epsilon(0.001));
  CHECK(rig.state("base/wheel_jumps") == 0);
}

TEST_CASE("the integration of the pose can be chosen") {
  Rig exact;
  Rig euler(Parameters{{"integration", "euler"}});
  for (Rig* rig : {&exact, &euler}) rig->drive({0.5, 0, 1}, 4000);
  CHECK(exact.odometry().pose.x != euler.odometry().pose.x);
  CHECK(exact.odometry().pose.x == Approx(euler.odometry().pose.x).epsilon(0.01));
}

TEST_CASE("the covariance grows with the distance and is published") {
  Rig rig({{"forward_noise", 0.01}, {"heading_noise", 0.02}});
  rig.drive({1, 0, 0}, 3000);
  const OdometrySample sample = rig.odometry();
  CHECK(sample.covariance[0] == Approx(0.01 * sample.pose.x).epsilon(1e-6));
  CHECK(sample.covariance[8] == Approx(0.02 * sample.pose.x).epsilon(1e-6));
  CHECK(sample.covariance[4] > 0);  // by the heading
}

TEST_CASE("a silent sender brakes the base by its limit") {
  Rig rig({{"timeout", 0.3}});
  rig.drive({1, 0, 0.5}, 2000);
  rig.send({1, 0, 0.5});
  rig.run(295);
  CHECK(rig.velocity(0) == Approx((1 - 0.1) / 0.1));
  CHECK(rig.state("base/timed_out") == 0);
  rig.run(105);
  CHECK(rig.state("base/timed_out") == 1);
  const double forward = (rig.velocity(0) + rig.velocity(1)) / 2 * 0.1;
  CHECK(forward == Approx(1 - 2.0 * 0.1).epsilon(0.01));
  CHECK((rig.velocity(1) - rig.velocity(0)) * 0.1 / 0.4 == Approx(0.5 * forward));  // on the same curve
  rig.run(500);
  CHECK(rig.velocity(0) == 0);
  CHECK(rig.velocity(1) == 0);
  rig.drive({0.2, 0, 0}, 1000);
  CHECK(rig.velocity(0) == Approx(2));
}

TEST_CASE("limits of the vehicle and of its wheels keep the curvature") {
  SUBCASE("by the vehicle's limits, also while it accelerates") {
    Rig rig({{"max_forward", 0.5}, {"max_rotation", 1.0}});
    for (int k = 0; k < 40; ++k) {
      rig.drive({2, 0, 8}, 50);
      const double forward = (rig.velocity(0) + rig.velocity(1)) / 2 * 0.1;
      const double rotation = (rig.velocity(1) - rig.velocity(0)) * 0.1 / 0.4;
      CHECK(rotation == Approx(4 * forward).epsilon(1e-6));
    }
    CHECK(rig.velocity(0) + rig.velocity(1) == Approx(2 * 0.25 / 0.1));
  }
  SUBCASE("by the velocity limit of a wheel") {
    robot::RobotDescription robot = wheeled_robot({"l1", "r1", "l2", "r2"});
    robot.joints[3].limits.velocity = 4;
    DriveRig<DifferentialDriveController> rig(robot, with({}));
    rig.drive({1, 0, 1}, 3000);
    CHECK(rig.velocity(1) == Approx(4));
    CHECK(rig.velocity(3) == Approx(4));
    CHECK(rig.velocity(0) == Approx(4 * 0.8 / 1.2));
  }
}

TEST_CASE("a twist with NaN is counted, and the old command stands until the timeout") {
  Rig rig;
  rig.drive({0.5, 0, 0}, 1000);
  rig.send({0.5, 0, 0});
  rig.run(1);
  for (const mobile::Twist& bad : {mobile::Twist{not_a_number, 0, 0}, mobile::Twist{0, not_a_number, 0},
                                   mobile::Twist{0, 0, std::numeric_limits<double>::infinity()}}) {
    rig.send(bad);
    rig.run(100);
  }
  CHECK(rig.state("base/rejected_commands") == 3);
  CHECK(rig.velocity(0) == Approx(5));
  rig.run(600);
  CHECK(rig.velocity(0) == 0);
}

TEST_CASE("stamps decide on the age of a command; missing and future stamps count as now") {
  Rig rig;
  SUBCASE("older than the timeout") {
    rig.sender.port.write({0.5, 0, 0}, rig.now - 600ms);
    rig.run(200);
    CHECK(rig.velocity(0) == 0);
    CHECK(rig.state("base/late_commands") == 1);
  }
  SUBCASE("half of the timeout has passed on its way") {
    rig.run(1000);
    rig.sender.port.write({1, 0, 0}, rig.now - 250ms);
    rig.run(240);
    CHECK(rig.velocity(0) == Approx(2.4));
    rig.run(20);
    CHECK(rig.state("base/timed_out") == 1);
  }
  SUBCASE("in the future") {
    rig.sender.port.write({1, 0, 0}, Time::max());
    rig.run(490);
    CHECK(rig.state("base/timed_out") == 0);
    rig.run(20);
    CHECK(rig.state("base/timed_out") == 1);
  }
}

TEST_CASE("commands that never come and huge ones leave the base at rest or within its limits") {
  Rig rig;
  rig.run(100);
  CHECK(rig.state("base/timed_out") == 1);
  CHECK(rig.velocity(0) == 0);
  rig.drive({1e308, 0, 0}, 3000);
  CHECK(rig.velocity(0) >= 0);
  CHECK(rig.velocity(0) <= Approx(10));
}

TEST_CASE("an input wins over the port while another controller drives it") {
  Rig rig;
  REQUIRE(rig.load(std::make_shared<Leader>("base/forward", 0.3)) == "");
  REQUIRE(rig.change({"leader"}) == "");
  rig.drive({1, 0, 1}, 2000);
  CHECK(rig.velocity(0) == Approx(3));
  CHECK(rig.velocity(1) == Approx(3));
  REQUIRE(rig.change({}, {"leader"}) == "");
  rig.drive({1, 0, 1}, 2000);
  CHECK(rig.velocity(0) == Approx((1 - 0.2) / 0.1));
}

TEST_CASE("a restart takes no old command, begins at the measured motion and keeps the pose") {
  Rig rig;
  rig.drive({0.5, 0, 0}, 2000);
  const double x = rig.odometry().pose.x;
  rig.send({0.5, 0, 0});
  SUBCASE("from standstill") {
    REQUIRE(rig.change({}, {"base"}) == "");
    rig.run(1000);
    CHECK(rig.velocity(0) == 0);
    rig.drives.feedback[0].position += 100;  // somebody pushes the base
    rig.run(1);
    rig.send({0.5, 0, 0});
    REQUIRE(rig.change({"base"}) == "");
    rig.run(100);
    CHECK(rig.velocity(0) == 0);
    CHECK(rig.odometry().pose.x == Approx(x));
    rig.drive({0.2, 0, 0}, 500);
    CHECK(rig.velocity(0) == Approx(2));
  }
  SUBCASE("while it moves") {
    REQUIRE(rig.change({"base"}, {"base"}) == "");
    rig.run(1);
    CHECK(rig.velocity(0) == Approx(5).epsilon(0.01));  // it brakes from here
    rig.run(100);
    CHECK(rig.velocity(0) == Approx(5 - 2 * 0.1 / 0.1).epsilon(0.01));
  }
}

TEST_CASE("the motion of wheels that report nothing for a while is added afterwards") {
  Rig rig;
  rig.drive({0.5, 0, 0.5}, 2000);
  const mobile::Pose before = rig.odometry().pose;
  const double turned = rig.drives.feedback[0].position + 0.03 * rig.velocity(0);
  rig.run(500, [&](int k) {
    if (k % 20 == 0) rig.send({0.5, 0, 0.5});
    if (k <= 30) rig.drives.feedback[0].position = k < 30 ? not_a_number : turned;
  });
  const mobile::Pose moved = relative(before, rig.odometry().pose);
  const mobile::Pose expected = mobile::displacement(0.0, 0.5 * mobile::Twist{0.5, 0, 0.5});
  CHECK(moved.x == Approx(expected.x).epsilon(1e-3));
  CHECK(moved.y == Approx(expected.y).epsilon(1e-3));
  CHECK(moved.heading == Approx(expected.heading).epsilon(1e-9));
}

TEST_CASE("the odometry and the timeout include missed cycles") {
  Rig rig;
  rig.drive({0.5, 0, 0}, 2000);
  const double x = rig.odometry().pose.x;
  rig.now += 99ms;
  for (auto& wheel : rig.drives.feedback) wheel.position += 0.099 * 5;
  rig.send({0.5, 0, 0});
  rig.run(1);
  CHECK(rig.odometry().pose.x == Approx(x + 0.05));
  CHECK(rig.odometry().twist.forward == Approx(0.5));
  rig.now += 600ms;
  rig.run(1);
  CHECK(rig.state("base/timed_out") == 1);
  rig.now += 600ms;
  rig.send({0.5, 0, 0});
  rig.run(1);
  CHECK(rig.state("base/timed_out") == 0);
}

TEST_CASE("a service sets the pose") {
  struct Client final : component::Component {
    Client() : Component(Leader::about, "client") {}
    component::RequiredService<PoseSetter> setter{*this, "set_pose"};
  };
  Rig rig;
  Client client;
  REQUIRE(component::connect(rig.base->pose_setter, client.setter));
  CHECK(client.setter.call([](PoseSetter& s) noexcept { return s.set_pose({1, 2, 3}); }));
  rig.run(1);
  CHECK(rig.odometry().pose == mobile::Pose{1, 2, 3});
  const Status refused = client.setter.call([](PoseSetter& s) noexcept {
    return s.set_pose({not_a_number, 2, 3});
  });
  REQUIRE(!refused);
  CHECK(refused.error() == mobile::Errc::not_finite);
}

TEST_CASE("mistakes of the set-up are named") {
  ControllerRig rig(wheeled_robot({"l", "r"}));
  const auto load = [&](std::vector<component::Assignment> parameters) {
    return rig.load(std::make_shared<DifferentialDriveController>("base"), parameters);
  };
  CHECK(load({{"left", "l"}}).find("base.right names nothing") != std::string::npos);
  CHECK(load({{"left", "l"}, {"right", "r, l"}}).find("\"l\" is in two lists") != std::string::npos);
  CHECK(load({{"left", "l"}, {"right", "x"}}).find("no joint \"x\"") != std::string::npos);
  CHECK(load({{"left", "l"}, {"right", "r"}, {"track", 0.0}}).find("track") != std::string::npos);
  CHECK(load({{"left", "l"}, {"right", "r"}, {"wheel_radius", not_a_number}}).find("wheel_radius") !=
        std::string::npos);
  CHECK(load({{"left", "l"}, {"right", "r"}}) == "");
  CHECK(!rig.manager.find("base")->parameters().set("left", std::string("r"), "test"));
}
