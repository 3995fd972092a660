#include "takt/controllers/admittance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controllers/controller_rig.hpp"
#include "takt/controllers/error.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;
using doctest::Approx;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The closed form of the step response of mass, damping and stiffness.
double step_response(double mass, double damping, double stiffness, double force, double t) {
  const double decay = damping / (2 * mass);
  const double square = decay * decay - stiffness / mass;
  const double rate = std::sqrt(std::abs(square));
  const double shape = square < 0 ? std::cos(rate * t) + decay / rate * std::sin(rate * t)
                                  : std::cosh(rate * t) + decay / rate * std::sinh(rate * t);
  return force / stiffness * (1 - std::exp(-decay * t) * shape);
}

struct Rig : ControllerRig {
  explicit Rig(std::vector<component::Assignment> parameters,
               robot::RobotDescription robot = rig_robot({"a", "b"}))
      : ControllerRig(std::move(robot)) {
    parameters.push_back({"joints", "a, b"});
    REQUIRE(load(soft, parameters) == "");
    auto made = component::connect(sender.port, soft->references);
    REQUIRE(made);
    connection_ = std::move(*made);
    REQUIRE(change({"soft"}) == "");
    make_ready();
  }
  /// Somebody pushes joint "a": its drive reports that it pushes back.
  void push(double force) { drives.feedback[0].effort = -force; }
  double position(std::size_t joint) const { return drives.commands[joint].position; }

  std::shared_ptr<AdmittanceController> soft = std::make_shared<AdmittanceController>("soft");
  Sender<JointSetpoints> sender;

 private:
  component::Connection connection_;
};

/// A sensor of two forces.
struct ForceSensor final : robot::Device {
  ForceSensor() : Device(Sender<int>::about, "ft") {}
  SetupResult<void> on_declare(robot::Declarations& declarations) override {
    if (auto x = declarations.state("ft/x", "N", forces[0]); !x) return x;
    return declarations.state("ft/y", "N", forces[1]);
  }
  std::array<double, 2> forces{};
};

}  // namespace

TEST_CASE("the step response is that of mass, damping and stiffness") {
  struct Law {
    double mass, damping, stiffness;
  };
  for (const Law& law : {Law{1, 4, 16}, Law{2, 20, 10}, Law{0.5, 1, 50}}) {
    Rig rig({{"mass", std::to_string(law.mass)},
             {"damping", std::to_string(law.damping)},
             {"stiffness", std::to_string(law.stiffness)}});
    rig.push(2);
    double worst = 0;
    double worst_lag = 0;
    for (int k = 1; k <= 300; ++k) {
      rig.run(10);
      const double exact = step_response(law.mass, law.damping, law.stiffness, 2, 0.01 * k);
      const double offset = rig.state("soft/a.offset");
      worst = std::max(worst, std::abs(offset - exact));
      worst_lag = std::max(worst_lag, std::abs(rig.position(0) - offset));
    }
    CHECK(worst < 0.01 * 2 / law.stiffness);
    CHECK(worst_lag < 0.005 * 2 / law.stiffness);
    CHECK(rig.position(1) == 0);
    CHECK(rig.state("soft/a.force") == 2);
    rig.push(0);
    rig.run(12000);
    CHECK(std::abs(rig.position(0)) < 1e-3);
  }
}

TEST_CASE("without stiffness a joint moves at force / damping and stays where it was let go") {
  Rig rig({{"damping", "5"}, {"stiffness", "0"}});
  rig.push(2);
  rig.run(2000);
  const double before = rig.position(0);
  rig.run(1000);
  CHECK(rig.position(0) - before == Approx(0.4).epsilon(1e-3));
  rig.push(0);
  rig.run(3000);
  const double stands = rig.position(0);
  rig.run(1000);
  CHECK(rig.position(0) == Approx(stands).epsilon(1e-6));
}

TEST_CASE("each joint has its own law") {
  Rig rig({{"mass", "1, 2"}, {"damping", "10, 20"}, {"stiffness", "20, 40"}});
  rig.push(2);
  rig.drives.feedback[1].effort = -2;
  rig.run(10000);
  CHECK(rig.position(0) == Approx(0.1).epsilon(1e-3));
  CHECK(rig.position(1) == Approx(0.05).epsilon(1e-3));
}

TEST_CASE("the motion keeps all limits of the joint") {
  robot::RobotDescription robot = rig_robot({"a", "b"});
  robot.joints[0].limits = {-0.5, 0.5, 0.4, 2, 50, 50};
  Rig rig({{"damping", "1"}, {"stiffness", "0"}}, robot);
  rig.push(40);
  JointCommand last = rig.drives.commands[0];
  bool keeps = true;
  for (int k = 0; k < 4000; ++k) {
    rig.run(1);
    const JointCommand& command = rig.drives.commands[0];
    keeps = keeps && std::abs(command.velocity) <= 0.4 + 1e-9 && std::abs(command.acceleration) <= 2 + 1e-9 &&
            std::abs(command.acceleration - last.acceleration) <= 50 * 0.001 + 1e-9 &&
            command.position <= 0.5 + 1e-9;
    last = command;
  }
  CHECK(keeps);
  CHECK(last.position == Approx(0.5).epsilon(1e-3));
  rig.push(-40);
  rig.run(1000);
  CHECK(rig.position(0) < 0.4);  // no windup
}

TEST_CASE("references come by the port, and by inputs that another controller drives") {
  struct Leader final : robot::Controller {
    Leader() : Controller(Sender<int>::about, "leader") {}
    SetupResult<void> on_configure(robot::Resources& resources) override {
      const auto claimed = resources.claim("soft/b");
      if (!claimed) return tl::unexpected<SetupError>(claimed.error());
      command = *claimed;
      return {};
    }
    Status on_execute(const component::CycleTime&) noexcept override {
      command.set(-0.3);
      return {};
    }
    robot::CommandHandle command;
  };
  Rig rig({});
  REQUIRE(rig.load(std::make_shared<Leader>()) == "");
  REQUIRE(rig.change({"leader"}) == "");
  rig.sender.port.write({.count = 2, .values = {0.5, 0.7}}, rig.now);
  rig.run(10000);
  CHECK(rig.position(0) == Approx(0.5).epsilon(1e-3));
  CHECK(rig.position(1) == Approx(-0.3).epsilon(1e-3));
  rig.sender.port.write({.count = 2, .values = {not_a_number, 0}}, rig.now);
  rig.run(100);
  rig.sender.port.write({.count = 3, .values = {1, 1, 1}}, rig.now);
  rig.run(100);
  CHECK(rig.position(0) == Approx(0.5).epsilon(1e-3));
}

TEST_CASE("forces of a sensor reach the joints by the matrix") {
  ForceSensor sensor;
  ControllerRig rig(rig_robot({"a", "b"}));
  REQUIRE(rig.manager.add(sensor));
  const auto load = [&](const char* matrix) {
    return rig.load(std::make_shared<AdmittanceController>("soft"), {{"joints", "a, b"},
                                                                     {"forces", "ft/x, ft/y"},
                                                                     {"matrix", matrix},
                                                                     {"damping", "20"},
                                                                     {"stiffness", "100"}});
  };
  CHECK(load("1, 2, 3").find("it needs 4 finite numbers") != std::string::npos);
  CHECK(load("1, 2, 3, inf").find("it needs 4 finite numbers") != std::string::npos);
  REQUIRE(load("1, 0.5, 0, -2") == "");
  sensor.forces = {100, 100};  // a load at the activation counts as zero
  REQUIRE(rig.change({"soft"}) == "");
  rig.make_ready();
  CHECK(rig.drives.commands[0].position == 0);
  sensor.forces = {102, 104};
  rig.run(5000);
  CHECK(rig.drives.commands[0].position == Approx((2 + 0.5 * 4) / 100).epsilon(1e-3));
  CHECK(rig.drives.commands[1].position == Approx(-2.0 * 4 / 100).epsilon(1e-3));
  sensor.forces[1] = not_a_number;
  rig.run(1);
  CHECK(rig.status("soft").error == Errc::not_finite);
  rig.run(500);
  CHECK(std::isfinite(rig.drives.commands[0].position));
}

TEST_CASE("small forces within the dead band move nothing") {
  Rig rig({{"dead_band", 0.5}, {"stiffness", "0"}});
  rig.push(0.4);
  rig.run(2000);
  CHECK(rig.position(0) == 0);
  rig.push(0.6);
  rig.run(2000);
  CHECK(rig.position(0) > 0.05);
}

TEST_CASE("the motion can go into the inputs of another controller") {
  struct Follower final : robot::Controller {
    Follower() : Controller(Sender<int>::about, "follower") {}
    SetupResult<void> on_configure(robot::Resources& resources) override {
      const auto claimed = resources.claim_joint("a", CommandMode::position);
      if (!claimed) return tl::unexpected<SetupError>(claimed.error());
      joint = *claimed;
      const auto added = resources.input("a", "rad");
      if (!added) return tl::unexpected<SetupError>(added.error());
      input = *added;
      return {};
    }
    Status on_execute(const component::CycleTime&) noexcept override {
      if (input.driven()) joint->follow({input.get(), 0, 0});
      return {};
    }
    robot::Joint* joint = nullptr;
    robot::InputHandle input;
  };
  ControllerRig rig(rig_robot({"a", "b"}));
  REQUIRE(rig.load(std::make_shared<Follower>()) == "");
  REQUIRE(rig.load(std::make_shared<AdmittanceController>("soft"),
                   {{"joints", "a"}, {"follower", "follower"}}) == "");
  REQUIRE(rig.change({"follower", "soft"}) == "");
  rig.make_ready();
  rig.drives.feedback[0].effort = -2;
  rig.run(10000);
  CHECK(rig.drives.commands[0].position == Approx(0.2).epsilon(1e-3));
}

TEST_CASE("without forces, a joint whose drive reports no effort is refused at the start") {
  for (const bool has_effort : {false, true}) {
    ControllerRig rig(rig_robot({"a"}));
    rig.drives.feedback[0].has_effort = has_effort;
    REQUIRE(rig.load(std::make_shared<AdmittanceController>("soft"), {{"joints", "a"}}) == "");
    REQUIRE(rig.change({"soft"}) == "");
    rig.make_ready();
    rig.run(5);
    const robot::ControllerStatus status = rig.status("soft");
    CHECK((status.state == robot::ControllerState::active) == has_effort);
  }
}

TEST_CASE("laws that are not physical or not stable at the period are refused") {
  ControllerRig rig(rig_robot({"a", "b"}));
  const auto load = [&](std::vector<component::Assignment> parameters, robot::ControllerConfig config = {}) {
    parameters.push_back({"joints", "a, b"});
    return rig.load(std::make_shared<AdmittanceController>("soft"), parameters, config);
  };
  CHECK(load({{"mass", "0"}}).find("above 0") != std::string::npos);
  CHECK(load({{"mass", "inf"}}).find("must be finite") != std::string::npos);
  CHECK(load({{"damping", "1, 0"}}).find("joint \"b\"") != std::string::npos);
  CHECK(load({{"stiffness", "-1"}}).find("at least 0") != std::string::npos);
  CHECK(load({{"damping", "1, 2, 3"}}) != "");
  CHECK(load({{"mass", "1"}, {"damping", "1100"}}).find("exceeds 2 at the period") != std::string::npos);
  CHECK(load({{"mass", "1"}, {"damping", "1"}, {"stiffness", "3e6"}}).find("exceeds 2") != std::string::npos);
  CHECK(load({{"mass", "1"}, {"damping", "200"}}, {.divisor = 10}).find("h = 0.01") != std::string::npos);
  REQUIRE(load({{"mass", "1"}, {"damping", "900"}}) == "");
  auto& parameters = rig.manager.find("soft")->parameters();
  CHECK(!parameters.set("mass", std::string("0.5"), "test"));
  CHECK(parameters.set("mass", std::string("2"), "test"));
  CHECK(!parameters.set("joints", std::string("a"), "test"));
}

TEST_CASE("a restart begins at the measured position, with the forces as zero") {
  Rig rig({});
  rig.push(5);
  rig.run(5000);
  const double pushed = rig.position(0);
  CHECK(pushed == Approx(0.5).epsilon(0.01));
  REQUIRE(rig.change({"soft"}, {"soft"}) == "");
  rig.run(5000);
  CHECK(rig.position(0) == Approx(pushed));
  rig.push(0);
  rig.run(10000);
  CHECK(rig.position(0) == Approx(pushed - 0.5).epsilon(0.01));
}
