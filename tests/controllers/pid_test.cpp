#include "takt/controllers/pid.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "controllers/controller_rig.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;

namespace {

/// A PID of the joints "a" and "b", active, with a sender at its port.
struct PidRig : ControllerRig {
  explicit PidRig(std::vector<component::Assignment> parameters,
                  robot::RobotDescription robot = rig_robot({"a", "b"}))
      : ControllerRig(std::move(robot)) {
    parameters.push_back({"joints", "a, b"});
    REQUIRE(load(controller, parameters) == "");
    auto made = component::connect(sender.port, controller->setpoints.port());
    REQUIRE(made);
    connection = std::move(*made);
    REQUIRE(change({"pid"}) == "");
    make_ready();
  }
  void send(double a, double b) { sender.port.write({.count = 2, .values = {a, b}}, now); }
  double effort(std::size_t joint) const { return drives.commands[joint].effort; }

  std::shared_ptr<PidController> controller = std::make_shared<PidController>("pid");
  Sender<JointSetpoints> sender;
  component::Connection connection;
};

const std::vector<component::Assignment> position_gains = {
    {"proportional", "40, 20"}, {"derivative", "4, 2"}, {"integral", "100"}};

}  // namespace

TEST_CASE("position PIDs with efforts reach their setpoints against a load") {
  PidRig rig(position_gains);
  rig.drives.load = -3;
  rig.send(1, -2);
  rig.run(6000);
  CHECK(rig.drives.feedback[0].position == doctest::Approx(1).epsilon(1e-3));
  CHECK(rig.drives.feedback[1].position == doctest::Approx(-2).epsilon(1e-3));
  CHECK(rig.state("pid/a.i_term") == doctest::Approx(3).epsilon(1e-2));
  CHECK(std::abs(rig.state("pid/a.error")) < 1e-3);
}

TEST_CASE("velocity PIDs with efforts reach their setpoints, and feed-forward needs no error") {
  SUBCASE("by the integral") {
    PidRig rig({{"measured", "velocity"}, {"proportional", "2"}, {"integral", "15"}});
    rig.drives.friction = 0.5;
    rig.send(3, -1);
    rig.run(2500);
    CHECK(rig.drives.feedback[0].velocity == doctest::Approx(3).epsilon(1e-3));
    CHECK(rig.drives.feedback[1].velocity == doctest::Approx(-1).epsilon(1e-3));
  }
  SUBCASE("by feed-forward alone") {
    PidRig rig({{"measured", "velocity"}, {"feed_forward", 0.5}});
    rig.drives.friction = 0.5;
    rig.send(3, -1);
    rig.run(3000);
    CHECK(rig.effort(0) == doctest::Approx(1.5));
    CHECK(rig.drives.feedback[0].velocity == doctest::Approx(3).epsilon(1e-3));
  }
}

TEST_CASE("position PIDs with velocities reach their setpoints") {
  PidRig rig({{"output", "velocity"}, {"proportional", "10"}});
  rig.send(1, 0.5);
  rig.run(2000);
  CHECK(rig.drives.commands[0].mode == CommandMode::velocity);
  CHECK(rig.drives.feedback[0].position == doctest::Approx(1).epsilon(1e-3));
}

TEST_CASE("without a setpoint, PIDs hold the position of their activation") {
  ControllerRig rig(rig_robot({"a"}));
  rig.drives.feedback[0].position = 0.7;
  REQUIRE(rig.load(std::make_shared<PidController>("pid"),
                   {{"joints", "a"}, {"proportional", "50"}, {"derivative", "5"}}) == "");
  REQUIRE(rig.change({"pid"}) == "");
  rig.make_ready();
  rig.run(500);
  CHECK(rig.drives.commands[0].mode == CommandMode::effort);
  CHECK(rig.drives.feedback[0].position == doctest::Approx(0.7));
}

TEST_CASE("the output keeps the joint's own limit, and the integral does not wind up meanwhile") {
  for (const char* windup : {"hold", "clamp", "back_calculation"}) {
    CAPTURE(windup);
    PidRig rig({{"proportional", "40"},
                {"derivative", "4"},
                {"integral", "200"},
                {"integral_limit", "10"},
                {"anti_windup", windup}});
    rig.send(8, 8);
    double most = 0;
    rig.run(4000, [&](int) { most = std::max(most, rig.effort(0)); });
    CHECK(most == 50);
    CHECK(rig.state("pid/a.i_term") <= 10);
    CHECK(rig.drives.feedback[0].position == doctest::Approx(8).epsilon(0.02));
  }
}

TEST_CASE("a restart clears the integral, or keeps it on request") {
  for (const bool keep : {false, true}) {
    CAPTURE(keep);
    auto parameters = position_gains;
    parameters.push_back({"keep_integral", keep});
    PidRig rig(parameters);
    rig.drives.load = -3;
    rig.run(6000);
    REQUIRE(rig.state("pid/a.i_term") == doctest::Approx(3).epsilon(0.02));
    REQUIRE(rig.change({"pid"}, {"pid"}) == "");
    rig.run(1);
    CHECK(rig.state("pid/a.i_term") == doctest::Approx(keep ? 3 : 0).epsilon(0.02));
  }
}

TEST_CASE("new gains count from the next cycle on, and bad ones are refused whole") {
  PidRig rig(std::vector<component::Assignment>{{"proportional", "10"}});
  rig.send(1, 0);
  rig.run(1);
  CHECK(rig.effort(0) == doctest::Approx(10).epsilon(1e-3));
  CHECK(rig.controller->parameters().set("proportional", "30, 10", "test"));
  rig.run(1);
  CHECK(rig.effort(0) == doctest::Approx(30).epsilon(0.02));
  for (const char* bad : {"1, 2, 3", "x", "inf", "nan"}) {
    const auto refused = rig.controller->parameters().set("proportional", bad, "test");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("pid") == 0);
  }
  rig.run(1);
  CHECK(rig.effort(0) == doctest::Approx(30).epsilon(0.02));
}

TEST_CASE("a continuous joint turns the shorter way") {
  auto robot = rig_robot({"a", "b"});
  robot.joints[0].kind = robot::JointKind::continuous;
  PidRig rig({{"proportional", "2"}, {"derivative", "1"}}, robot);
  rig.send(6, 6);
  rig.run(1);
  CHECK(rig.effort(0) == doctest::Approx(2 * (6 - 2 * std::numbers::pi)));
  CHECK(rig.effort(1) == doctest::Approx(12));
}

TEST_CASE("a silent port releases the joints, and the next setpoint begins anew") {
  PidRig rig({{"measured", "velocity"}, {"proportional", "1"}, {"integral", "50"}, {"timeout", 0.05}});
  rig.run(200);
  CHECK(rig.drives.feedback[0].velocity == 0);  // silence before the first setpoint releases nothing
  rig.drives.friction = 1;
  rig.send(2, 2);
  rig.run(45);
  CHECK(rig.effort(0) > 0);
  rig.run(20);
  CHECK(rig.effort(0) == 0);
  rig.run(500);
  rig.send(0.1, 0.1);
  rig.run(1);
  CHECK(rig.effort(0) < 0.2);  // no integral of before
}

TEST_CASE("a setpoint whose output overflows ends the PIDs with a named error") {
  PidRig rig(position_gains);
  rig.send(1e308, 0);
  rig.run(1);
  CHECK(rig.status("pid").state == robot::ControllerState::failed);
  CHECK(rig.status("pid").error == controllers::Errc::not_finite);
}

TEST_CASE("setpoints with NaN are ignored") {
  PidRig rig({{"measured", "velocity"}, {"proportional", "2"}});
  rig.send(std::numeric_limits<double>::quiet_NaN(), 1);
  rig.run(1);
  CHECK(rig.effort(1) == 0);
  CHECK(rig.state("pid/rejected") == 1);
}
