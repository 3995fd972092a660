#include "takt/controllers/forward.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "controllers/controller_rig.hpp"
#include "takt/controllers/number_list.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;

namespace {

JointSetpoints setpoints_of(std::initializer_list<double> values) {
  JointSetpoints setpoints{.count = values.size()};
  std::ranges::copy(values, setpoints.values.begin());
  return setpoints;
}

/// A forward controller of two joints, active, with a sender at its port.
struct ForwardRig : ControllerRig {
  explicit ForwardRig(const std::string& mode, double timeout = 0) : ControllerRig(rig_robot({"a", "b"})) {
    REQUIRE(load(controller, {{"joints", "a, b"}, {"mode", mode}, {"timeout", timeout}}) == "");
    auto made = component::connect(sender.port, controller->setpoints.port());
    REQUIRE(made);
    connection = std::move(*made);
    REQUIRE(change({"forward"}) == "");
    make_ready();
  }
  void send(std::initializer_list<double> values) { sender.port.write(setpoints_of(values), now); }

  std::shared_ptr<ForwardController> controller = std::make_shared<ForwardController>("forward");
  Sender<JointSetpoints> sender;
  component::Connection connection;
};

/// Commands one input of another controller.
struct Leader final : robot::Controller {
  explicit Leader(std::string its_target) : Controller(Sender<double>::about, "leader"), target(its_target) {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto claimed = resources.claim(target);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    command = *claimed;
    return {};
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    command.set(value);
    return {};
  }
  std::string target;
  robot::CommandHandle command;
  double value = 0;
};

}  // namespace

TEST_CASE("a list of names keeps its order, and drops spaces and empty names") {
  CHECK(names_in("a, b ,,c") == std::vector<std::string>{"a", "b", "c"});
  CHECK(names_in("").empty());
  CHECK(names_in(" , ").empty());
}

TEST_CASE("a list of numbers has one number for all, or one for each") {
  std::array<double, 3> numbers{};
  CHECK(read_numbers("7", numbers));
  CHECK(numbers == std::array<double, 3>{7, 7, 7});
  CHECK(read_numbers(" 1, -2.5 ,inf", numbers));
  CHECK(numbers == std::array<double, 3>{1, -2.5, std::numeric_limits<double>::infinity()});
  for (const char* bad : {"", "1, 2", "1, 2, 3, 4", "1,,2", "nan", "1, x, 3", "1 2 3", "1,2,"})
    CHECK_FALSE(read_numbers(bad, numbers));
}

TEST_CASE("forwarded positions, velocities and efforts reach the joints within their limits") {
  SUBCASE("position") {
    ForwardRig rig("position");
    rig.send({1, -2});
    rig.run(1000);
    CHECK(rig.drives.feedback[0].position == doctest::Approx(1));
    CHECK(rig.drives.feedback[1].position == doctest::Approx(-2));
    rig.send({99, 0});  // beyond the limit
    rig.run(3000);
    CHECK(rig.drives.feedback[0].position <= 10);
    CHECK(rig.drives.feedback[0].position == doctest::Approx(10));
  }
  SUBCASE("velocity") {
    ForwardRig rig("velocity");
    rig.send({2, -1});
    rig.run(500);
    CHECK(rig.drives.feedback[0].velocity == doctest::Approx(2));
    CHECK(rig.drives.feedback[1].velocity == doctest::Approx(-1));
    CHECK(rig.drives.commands[0].mode == CommandMode::velocity);
  }
  SUBCASE("effort") {
    ForwardRig rig("effort");
    rig.send({0.5, -1000});
    rig.run(2);
    CHECK(rig.drives.commands[0].mode == CommandMode::effort);
    CHECK(rig.drives.commands[0].effort == 0.5);
    CHECK(rig.drives.commands[1].effort == -50);
  }
}

TEST_CASE("a stream of positions is followed without delay, and ends without a step") {
  ForwardRig rig("position");
  const auto wanted = [](int k) { return 0.5 - 0.5 * std::cos(0.002 * k); };  // at most 1 rad/s
  double worst = 0;
  int k = 0;
  for (; k < 1570; ++k) {
    rig.send({wanted(k), 0});
    rig.run(1);
    if (k > 100) worst = std::max(worst, std::abs(rig.drives.commands[0].position - wanted(k)));
  }
  CHECK(worst < 1e-5);  // braking to rest at each position, it would be behind by v^2 / 2a: 0.0025
  rig.run(500);
  CHECK(rig.drives.commands[0].position == doctest::Approx(wanted(k - 1)));
}

TEST_CASE("without a setpoint, a forwarded joint stays where it is") {
  ForwardRig rig("position");
  rig.run(100);
  CHECK(rig.drives.commands[0].mode == CommandMode::position);
  CHECK(rig.drives.commands[0].position == doctest::Approx(rig.drives.feedback[0].position));
  CHECK(rig.drives.feedback[0].velocity == 0);
}

TEST_CASE("a silent sender of velocities lets the joints come to rest after the timeout") {
  ForwardRig rig("velocity", 0.1);
  rig.send({2, 2});
  rig.run(90);
  CHECK(rig.drives.feedback[0].velocity == doctest::Approx(2));
  rig.run(200);
  CHECK(rig.drives.feedback[0].velocity == 0);
  CHECK(rig.drives.commands[0].velocity == 0);
  rig.send({1, 1});
  rig.run(90);
  CHECK(rig.drives.feedback[0].velocity == doctest::Approx(1));
}

TEST_CASE("setpoints with NaN or another number of joints are ignored and counted") {
  ForwardRig rig("velocity");
  rig.send({1, 1});
  rig.run(300);
  rig.send({3, std::numeric_limits<double>::quiet_NaN()});
  rig.run(10);
  rig.send({3});
  rig.run(10);
  JointSetpoints huge = setpoints_of({3, 3});
  huge.count = ~std::uint64_t{0};
  rig.sender.port.write(huge, rig.now);
  rig.run(300);
  CHECK(rig.drives.feedback[0].velocity == doctest::Approx(1));
  CHECK(rig.state("forward/rejected") == 3);
  CHECK(rig.status("forward").state == robot::ControllerState::active);
}

TEST_CASE("a setpoint from before a restart has no effect") {
  ForwardRig rig("velocity");
  rig.send({2, 2});
  rig.run(300);
  REQUIRE(rig.change({}, {"forward"}) == "");
  rig.send({3, 3});
  rig.run(300);
  REQUIRE(rig.change({"forward"}) == "");
  rig.run(300);
  CHECK(rig.drives.feedback[0].velocity == 0);
}

TEST_CASE("a driven input wins over the port, and its NaN is not forwarded") {
  ForwardRig rig("velocity");
  auto leader = std::make_shared<Leader>("forward/a");
  REQUIRE(rig.load(leader) == "");
  REQUIRE(rig.change({"leader"}) == "");
  leader->value = -1;
  rig.send({2, 2});
  rig.run(400);
  CHECK(rig.drives.feedback[0].velocity == doctest::Approx(-1));
  CHECK(rig.drives.feedback[1].velocity == doctest::Approx(2));
  leader->value = std::numeric_limits<double>::quiet_NaN();
  rig.run(1);
  CHECK(rig.status("leader").error == robot::Errc::command_not_finite);
  // The chain ends, and the joint begins to brake.
  CHECK(rig.drives.commands[0].velocity == doctest::Approx(-0.99));
  CHECK(rig.status("forward").state == robot::ControllerState::inactive);
  CHECK(rig.status("forward").error == Error());
}

TEST_CASE("bad lists of joints are refused with their reason") {
  ControllerRig rig(rig_robot({"a", "b"}));
  const auto load = [&](const std::string& joints) {
    return rig.load(std::make_shared<ForwardController>("f"), {{"joints", joints}});
  };
  CHECK(load("").find("names nothing") != std::string::npos);
  CHECK(load("a, a").find("twice") != std::string::npos);
  CHECK(load("a, x").find("joints are a, b") != std::string::npos);
  CHECK(load("a, b") == "");
}

TEST_CASE("the joints of a loaded controller are fixed, but not its timeout") {
  ForwardRig rig("velocity");
  const auto refused = rig.controller->parameters().set("joints", "a", "test");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == controllers::Errc::fixed_after_load);
  CHECK(rig.controller->parameters().set("timeout", 0.5, "test"));
}
