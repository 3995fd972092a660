#include "takt/controllers/hold.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "controllers/controller_rig.hpp"
#include "takt/controllers/forward.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;

namespace {

std::vector<component::Assignment> parameters_with(std::vector<component::Assignment> more = {}) {
  std::vector<component::Assignment> all = {
      {"joints", "a"}, {"proportional", "40"}, {"derivative", "4"}, {"integral", "50"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("a joint under a declared load does not sink when hold begins") {
  ControllerRig rig(rig_robot({"a"}));
  rig.drives.feedback[0].position = 0.4;
  rig.drives.load = -8;
  REQUIRE(rig.load(std::make_shared<HoldController>("hold"), parameters_with({{"effort", "8"}})) == "");
  rig.make_ready();
  REQUIRE(rig.change({"hold"}) == "");
  double deepest = 0.4;
  rig.run(2000, [&](int) { deepest = std::min(deepest, rig.drives.feedback[0].position); });
  CHECK(rig.drives.commands[0].mode == CommandMode::effort);
  CHECK(deepest > 0.4 - 1e-4);
  CHECK(rig.drives.feedback[0].position == doctest::Approx(0.4).epsilon(1e-4));
}

TEST_CASE("hold carries an unknown load by its integral") {
  ControllerRig rig(rig_robot({"a"}));
  rig.drives.load = -8;
  REQUIRE(rig.load(std::make_shared<HoldController>("hold"), parameters_with()) == "");
  rig.make_ready();
  REQUIRE(rig.change({"hold"}) == "");
  rig.run(8000);
  CHECK(std::abs(rig.drives.feedback[0].position) < 2e-3);
  CHECK(rig.drives.commands[0].effort == doctest::Approx(8).epsilon(0.01));
}

TEST_CASE("each activation holds the position that the joint has then") {
  ControllerRig rig(rig_robot({"a"}));
  REQUIRE(rig.load(std::make_shared<HoldController>("hold"), parameters_with()) == "");
  rig.make_ready();
  REQUIRE(rig.change({"hold"}) == "");
  rig.run(100);
  rig.drives.feedback[0].position = 1;  // somebody moves it
  REQUIRE(rig.change({"hold"}, {"hold"}) == "");
  rig.run(1);
  REQUIRE(rig.change({"hold"}, {"hold"}) == "");
  rig.drives.feedback[0].velocity = 0;
  rig.run(2000);
  CHECK(rig.drives.feedback[0].position > 0.5);
}

TEST_CASE("hold as fallback takes over in the cycle of the failure") {
  struct Failing final : robot::Controller {
    Failing() : Controller(Sender<double>::about, "failing") {}
    SetupResult<void> on_configure(robot::Resources& resources) override {
      joint = resources.claim_joint("a", CommandMode::effort).value();
      return {};
    }
    Status on_execute(const component::CycleTime&) noexcept override {
      joint->set_effort(8);
      if (fails) return takt::fail(controllers::Errc::not_finite);
      return {};
    }
    robot::Joint* joint = nullptr;
    bool fails = false;
  };
  ControllerRig rig(rig_robot({"a"}));
  rig.drives.load = -8;
  auto failing = std::make_shared<Failing>();
  REQUIRE(rig.load(std::make_shared<HoldController>("hold"), parameters_with({{"effort", "8"}})) == "");
  REQUIRE(rig.load(failing, {}, {.fallbacks = {"hold"}}) == "");
  rig.make_ready();
  REQUIRE(rig.change({"failing"}) == "");
  rig.run(10);
  failing->fails = true;
  rig.run(1);
  CHECK(rig.status("hold").state == robot::ControllerState::active);
  CHECK(rig.drives.commands[0].mode == CommandMode::effort);
  CHECK(rig.drives.commands[0].effort == doctest::Approx(8).epsilon(0.01));
}

TEST_CASE("hold goes on in a stop if it is told to") {
  for (const bool goes_on : {false, true}) {
    CAPTURE(goes_on);
    ControllerRig rig(rig_robot({"a"}));
    rig.drives.load = -8;
    REQUIRE(rig.load(std::make_shared<HoldController>("hold"),
                     parameters_with({{"effort", "8"}, {"works_in_stop", goes_on}})) == "");
    rig.make_ready();
    REQUIRE(rig.change({"hold"}) == "");
    rig.run(10);
    REQUIRE(rig.manager.request_stop(StopCategory::category_2));
    rig.run(500);
    CHECK(rig.manager.supervisor().state() == robot::RobotState::stopped);
    CHECK((rig.status("hold").state == robot::ControllerState::active) == goes_on);
    CHECK((rig.drives.commands[0].mode == CommandMode::effort) == goes_on);
    CHECK(std::abs(rig.drives.feedback[0].position) < 0.01);
  }
}

TEST_CASE("a gravity compensation commands the load through the input") {
  struct Gravity final : robot::Controller {
    Gravity() : Controller(Sender<double>::about, "gravity") {}
    SetupResult<void> on_configure(robot::Resources& resources) override {
      command = resources.claim("hold/a").value();
      return {};
    }
    Status on_execute(const component::CycleTime&) noexcept override {
      command.set(8);
      return {};
    }
    robot::CommandHandle command;
  };
  ControllerRig rig(rig_robot({"a"}));
  rig.drives.load = -8;
  REQUIRE(rig.load(std::make_shared<HoldController>("hold"), parameters_with()) == "");
  REQUIRE(rig.load(std::make_shared<Gravity>()) == "");
  rig.make_ready();
  REQUIRE(rig.change({"hold", "gravity"}) == "");
  rig.run(1000);
  CHECK(std::abs(rig.drives.feedback[0].position) < 1e-4);
}

TEST_CASE("bad loads and gains are refused") {
  ControllerRig rig(rig_robot({"a"}));
  for (const char* bad : {"", "1, 2", "inf", "x"}) {
    const std::string why =
        rig.load(std::make_shared<HoldController>("hold"), parameters_with({{"effort", bad}}));
    CHECK_MESSAGE(why.find("hold.effort") != std::string::npos, bad);
  }
  CHECK(rig.load(std::make_shared<HoldController>("hold"), parameters_with({{"integral_limit", "-1"}})) !=
        "");
}
