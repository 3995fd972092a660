// Controllers under the manager: life cycle, claims, switches, limits.
#include "takt/robot/manager.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "robot/managed.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::robot;
using test::Managed;
using test::Probe;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a controller that was started runs once the robot is ready") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"});
  REQUIRE(managed.manager.load(probe).has_value());
  REQUIRE(managed.start("probe").has_value());
  CHECK(managed.state_of("probe") == ControllerState::suspended);
  managed.cycle();
  CHECK(probe->executions == 0);
  managed.make_ready();
  CHECK(managed.state_of("probe") == ControllerState::active);
  CHECK(probe->activations == 1);
  const int before = probe->executions;
  managed.cycles(5);
  CHECK(probe->executions == before + 5);
}

TEST_CASE("a joint without a command is held, also while its owner is silent") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"});
  REQUIRE(managed.manager.load(probe).has_value());
  REQUIRE(managed.start("probe").has_value());
  managed.drives.feedback[0].position = 1;
  managed.make_ready();
  managed.cycles(10);
  CHECK(managed.drives.commands[0].position == 1);
  CHECK(managed.drives.commands[0].want_power);
}

TEST_CASE("commands of a controller are limited, also those of a trusted one that cannot be") {
  for (const bool trusted : {false, true}) {
    CAPTURE(trusted);
    Managed managed;
    auto probe = Probe::of("probe", {"a"});
    probe->trusted = trusted;
    probe->act = [](Probe& self) { self.joints[0]->follow({0.1, 0, 0}); };
    REQUIRE(managed.manager.load(probe).has_value());
    REQUIRE(managed.start("probe").has_value());
    managed.make_ready();
    double fastest = 0;
    double last = managed.drives.commands[0].position;
    for (int i = 0; i < 2000; ++i) {
      managed.cycle();
      fastest = std::max(fastest, std::abs(managed.drives.commands[0].position - last) * 1000);
      last = managed.drives.commands[0].position;
    }
    CHECK(last == doctest::Approx(0.1));
    CHECK(fastest <= 2 * 1.0001);
  }
}

TEST_CASE(
    "a trusted motion within range and velocity passes bit for bit, whatever its acceleration and jerk") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"});
  probe->trusted = true;
  MotionState wanted;
  probe->act = [&](Probe& self) { self.joints[0]->follow(wanted); };
  REQUIRE(managed.manager.load(probe).has_value());
  REQUIRE(managed.start("probe").has_value());
  managed.make_ready();
  auto random = test::generator();
  double& position = wanted.position;
  for (std::size_t i = 0; i < test::count(10000); ++i) {
    // Up to the limits of 2 rad/s and 3 rad, and of the slack that a checked trajectory has.
    const double next = position + test::uniform(random, -1, 1) * 2e-3 * (1 + 0.9e-9);
    wanted = {std::clamp(next, -3 - 0.9e-9, 3 + 0.9e-9), test::uniform(random, -1, 1) * 2 * (1 + 0.9e-9),
              test::uniform(random, -1, 1) * 10 * (1 + 0.9e-9)};
    managed.cycle();
    CHECK(probe->joints[0]->reference() == wanted);
  }
}

TEST_CASE("no trusted command leaves the range, or exceeds the limits of velocity and acceleration") {
  auto random = test::generator();
  for (std::size_t i = 0; i < test::count(200); ++i) {
    const bool by_velocity = i % 2 == 0;
    auto description = test::robot_of({"a"});
    // Without a jerk limit there is no limiter, and the other limits hold all the same.
    if (i % 4 >= 2) description.joints[0].limits.jerk = std::numeric_limits<double>::infinity();
    description.joints[0].following_error = 10;
    Managed managed(description);
    auto probe = Probe::of("probe", {"a"}, by_velocity ? CommandMode::velocity : CommandMode::position);
    probe->trusted = i % 8 < 4 || i % 4 < 2;
    MotionState wanted;
    probe->act = [&](Probe& self) {
      if (by_velocity)
        self.joints[0]->set_velocity(wanted.velocity);
      else
        self.joints[0]->follow(wanted);
    };
    REQUIRE(managed.manager.load(probe).has_value());
    REQUIRE(managed.start("probe").has_value());
    managed.make_ready();
    double before = managed.drives.commands[0].position;
    for (int k = 0; k < 600; ++k) {
      const double size = std::pow(10, test::uniform(random, -3, 6));
      if (k % 100 == 0 || test::uniform_int(random, 0, 9) == 0)
        wanted = {test::uniform(random, -size, size), test::uniform(random, -size, size),
                  test::uniform(random, -size, size)};
      if (k >= 300) wanted = {100, 100, 100};
      managed.cycle();
      const JointCommand& sent = managed.drives.commands[0];
      CHECK(std::abs(sent.velocity) <= 2 * (1 + 1e-6));
      CHECK(std::abs(sent.acceleration) <= 10 * (1 + 1e-6));
      if (by_velocity) {
        CHECK(std::abs(managed.drives.feedback[0].position) <= 3 + 2e-3);
      } else {
        CHECK(std::abs(sent.position) <= 3 + 1e-8);
        CHECK(std::abs(sent.position - before) <= 2e-3 * (1 + 1e-6));
        before = sent.position;
      }
    }
  }
}

TEST_CASE("a controller that ends leaves its joint to a bounded stop") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"}, CommandMode::velocity);
  probe->act = [](Probe& self) { self.joints[0]->set_velocity(1); };
  REQUIRE(managed.manager.load(probe).has_value());
  REQUIRE(managed.start("probe").has_value());
  managed.make_ready();
  managed.cycles(1000);
  CHECK(managed.drives.commands[0].velocity == doctest::Approx(1));
  REQUIRE(managed.stop("probe").has_value());
  double last = managed.drives.commands[0].velocity;
  for (int i = 0; i < 300; ++i) {
    managed.cycle();
    const double now = managed.drives.commands[0].velocity;
    CHECK(std::abs(now - last) <= 10 * 0.001 * 1.001);
    last = now;
  }
  CHECK(last == 0);
  CHECK(managed.drives.commands[0].mode == CommandMode::velocity);  // its drive may know no positions
}

TEST_CASE("effort commands are bounded, and the joint is held by position afterwards") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"}, CommandMode::effort);
  probe->act = [](Probe& self) { self.joints[0]->set_effort(1e6); };
  REQUIRE(managed.manager.load(probe).has_value());
  REQUIRE(managed.start("probe").has_value());
  managed.make_ready();
  managed.cycles(3);
  CHECK(managed.drives.commands[0].mode == CommandMode::effort);
  CHECK(managed.drives.commands[0].effort == 100);
  managed.drives.feedback[0].position = 0.5;
  managed.cycle();
  REQUIRE(managed.stop("probe").has_value());
  managed.cycles(2);
  CHECK(managed.drives.commands[0].mode == CommandMode::position);
  CHECK(managed.drives.commands[0].effort == 0);
  CHECK(managed.drives.commands[0].position == doctest::Approx(0.5));
}

TEST_CASE("a command that is not finite ends its controller, and the others go on") {
  for (const CommandMode mode : {CommandMode::position, CommandMode::velocity, CommandMode::effort}) {
    Managed managed;
    auto bad = Probe::of("bad", {"a"}, mode);
    auto good = Probe::of("good", {"b"});
    REQUIRE(managed.manager.load(bad).has_value());
    REQUIRE(managed.manager.load(good).has_value());
    REQUIRE(managed.manager.switch_controllers({.start = {"bad", "good"}}).has_value());
    managed.make_ready();
    bad->act = [mode](Probe& self) {
      if (mode == CommandMode::position) self.joints[0]->follow({not_a_number, 0, 0});
      if (mode == CommandMode::velocity) self.joints[0]->set_velocity(not_a_number);
      if (mode == CommandMode::effort) self.joints[0]->set_effort(not_a_number);
    };
    managed.cycle();
    CHECK(std::isfinite(managed.drives.commands[0].position));
    CHECK(std::isfinite(managed.drives.commands[0].velocity));
    CHECK(std::isfinite(managed.drives.commands[0].effort));
    CHECK(managed.state_of("bad") == ControllerState::failed);
    CHECK(bad->error() == Errc::command_not_finite);
    CHECK(managed.state_of("good") == ControllerState::active);
    REQUIRE(managed.manager.reset_controller("bad").has_value());
    bad->act = nullptr;
    CHECK(managed.start("bad").has_value());
    CHECK(managed.state_of("bad") == ControllerState::active);
  }
}

TEST_CASE("claims are exclusive, and a conflict names both owners") {
  Managed managed;
  REQUIRE(managed.manager.load(Probe::of("first", {"a", "b"})).has_value());
  REQUIRE(managed.manager.load(Probe::of("second", {"b", "c"})).has_value());
  managed.make_ready();
  REQUIRE(managed.start("first").has_value());
  const auto refused = managed.start("second");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().error == Errc::claimed);
  CHECK(refused.error().message.find("\"b\" belongs to first") != std::string::npos);
  CHECK(refused.error().message.find("second") != std::string::npos);
  CHECK(managed.state_of("first") == ControllerState::active);
  CHECK(managed.manager.switch_controllers({.start = {"second"}, .stop = {"first"}}).has_value());
  CHECK(managed.state_of("second") == ControllerState::active);
}

TEST_CASE("claims per interface let two controllers share a joint, and a user's rule decides a conflict") {
  const auto claims = [](const char* interface) {
    return [interface](Probe& probe, Resources& resources) -> SetupResult<void> {
      auto found = resources.claim(interface);
      if (!found) return tl::unexpected<SetupError>(found.error());
      probe.command = *found;
      return {};
    };
  };
  const auto run = [&](ManagerOptions options) {
    Managed managed(test::robot_of({"a"}), std::move(options));
    REQUIRE(managed.manager.load(std::make_shared<Probe>("p", claims("a/position"))).has_value());
    REQUIRE(managed.manager.load(std::make_shared<Probe>("v", claims("a/velocity"))).has_value());
    managed.make_ready();
    REQUIRE(managed.start("p").has_value());
    return managed.start("v").has_value();
  };
  CHECK_FALSE(run({}));
  CHECK(run({.claims = ClaimPolicy::per_interface}));
  std::string asked;
  CHECK(run({.permits = [&](const ClaimConflict& conflict) {
    asked = std::string(conflict.interface) + " " + std::string(conflict.owner) + " " +
            std::string(conflict.claimant);
    return true;
  }}));
  CHECK(asked == "a p v");
}

TEST_CASE("a strict switch with a mistake changes nothing, a best effort leaves the mistake out") {
  Managed managed;
  for (const char* name : {"x", "y", "z"})
    REQUIRE(managed.manager.load(Probe::of(name, {name == std::string("y") ? "b" : "a"})).has_value());
  managed.make_ready();
  REQUIRE(managed.start("x").has_value());
  struct Case {
    SwitchRequest request;
    Error error;
  };
  const std::vector<Case> cases = {
      {{.start = {"nobody"}, .stop = {"x"}}, Errc::no_such_controller},
      {{.start = {"y"}, .stop = {"y"}}, Errc::wrong_state},
      {{.start = {"x", "y"}}, Errc::wrong_state},
      {{.start = {"y", "y"}}, component::Errc::named_twice},
      {{.start = {"y", "z"}}, Errc::claimed},
  };
  for (const Case& c : cases) {
    const auto done = managed.manager.switch_controllers(c.request);
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().error == c.error);
    CHECK_FALSE(done.error().message.empty());
    CHECK(managed.state_of("x") == ControllerState::active);
    CHECK(managed.state_of("y") == ControllerState::inactive);
  }
  REQUIRE(managed.manager
              .switch_controllers({.start = {"nobody", "x", "y", "z"},
                                   .stop = {"z", "nobody"},
                                   .policy = SwitchPolicy::best_effort})
              .has_value());
  CHECK(managed.state_of("x") == ControllerState::active);
  CHECK(managed.state_of("y") == ControllerState::active);
  CHECK(managed.state_of("z") == ControllerState::inactive);
}

TEST_CASE("a switch whose plan is out of date changes nothing") {
  // The rule is asked while the switch is planned. A controller fails just then, and its fallback starts.
  std::function<void()> meanwhile;
  ManagerOptions options;
  options.permits = [&meanwhile](const ClaimConflict&) {
    if (meanwhile) meanwhile();
    return false;
  };
  Managed managed(test::robot_of({"a", "b", "c"}), options);
  const auto failing = Probe::of("failing", {"b"});
  REQUIRE(managed.manager.load(Probe::of("spare", {"b"})).has_value());
  REQUIRE(managed.manager.load(failing, {.fallbacks = {"spare"}}).has_value());
  for (const char* name : {"x", "y"}) REQUIRE(managed.manager.load(Probe::of(name, {"a"})).has_value());
  REQUIRE(managed.manager.load(Probe::of("z", {"c"})).has_value());
  managed.make_ready();
  REQUIRE(managed.manager.switch_controllers({.start = {"x", "failing"}}).has_value());
  const SwitchRequest request{.start = {"y", "z"}, .stop = {"spare"}, .policy = SwitchPolicy::best_effort};
  meanwhile = [&] {
    failing->execution = fail(Errc::device_lost);
    managed.cycle();
  };
  const auto done = managed.manager.switch_controllers(request);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().error == Errc::changed_meanwhile);
  CHECK(managed.state_of("z") == ControllerState::inactive);
  CHECK(managed.state_of("spare") == ControllerState::active);

  meanwhile = nullptr;
  CHECK(managed.manager.switch_controllers(request).has_value());
  CHECK(managed.state_of("y") == ControllerState::inactive);
  CHECK(managed.state_of("z") == ControllerState::active);
  CHECK(managed.state_of("spare") == ControllerState::inactive);
}

TEST_CASE("an activation that fails brings the previous controllers back in the same cycle") {
  Managed managed;
  auto first = Probe::of("first", {"a"});
  auto good = Probe::of("good", {"b"});
  auto bad = Probe::of("bad", {"a"});
  for (const auto& probe : {first, good, bad}) REQUIRE(managed.manager.load(probe).has_value());
  managed.make_ready();
  REQUIRE(managed.start("first").has_value());
  bad->activation = fail(Errc::device_refuses);
  const auto done = managed.manager.switch_controllers({.start = {"good", "bad"}, .stop = {"first"}});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().error == Errc::device_refuses);
  CHECK(done.error().message.find("bad") != std::string::npos);
  CHECK(managed.state_of("first") == ControllerState::active);
  CHECK(managed.state_of("good") == ControllerState::inactive);
  CHECK(managed.state_of("bad") == ControllerState::inactive);
  CHECK(first->activations == 2);
  CHECK(first->joints[0]->owner() != nobody);
  CHECK(good->joints[0]->owner() == nobody);
  const int before = first->executions;
  managed.cycle();
  CHECK(first->executions == before + 1);
}

TEST_CASE("a controller in both lists restarts in one cycle") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"});
  REQUIRE(managed.manager.load(probe).has_value());
  managed.make_ready();
  REQUIRE(managed.start("probe").has_value());
  managed.cycles(3);
  REQUIRE(managed.manager.switch_controllers({.start = {"probe"}, .stop = {"probe"}}).has_value());
  CHECK(probe->activations == 2);
  CHECK(probe->deactivations == 1);
  const int before = probe->executions;
  managed.cycle();
  CHECK(probe->executions == before + 1);
}

TEST_CASE("a lending claim gives the joint to an exclusive one and gets it back") {
  Managed managed;
  auto lender = Probe::of("lender", {"a", "b"}, CommandMode::position, ClaimKind::lending);
  auto borrower = Probe::of("borrower", {"a"}, CommandMode::effort);
  REQUIRE(managed.manager.load(lender).has_value());
  REQUIRE(managed.manager.load(borrower).has_value());
  managed.make_ready();
  REQUIRE(managed.start("lender").has_value());
  const auto owner = lender->joints[0]->owner();
  REQUIRE(managed.start("borrower").has_value());
  CHECK(lender->lent == 1);
  CHECK(borrower->joints[0]->owner() != owner);
  CHECK(lender->joints[1]->owner() == owner);
  managed.cycle();
  CHECK(managed.drives.commands[0].mode == CommandMode::position);  // it commands nothing yet
  borrower->act = [](Probe& self) { self.joints[0]->set_effort(1); };
  managed.cycle();
  CHECK(managed.drives.commands[0].mode == CommandMode::effort);
  REQUIRE(managed.stop("borrower").has_value());
  CHECK(lender->returned == 1);
  CHECK(lender->joints[0]->owner() == owner);
  managed.cycle();
  CHECK(managed.drives.commands[0].mode == CommandMode::position);
  // The other order: the lender starts while the joint is in use.
  REQUIRE(managed.stop("lender").has_value());
  REQUIRE(managed.start("borrower").has_value());
  REQUIRE(managed.start("lender").has_value());
  CHECK(lender->lent == 2);
  REQUIRE(managed.stop("lender").has_value());
  REQUIRE(managed.stop("borrower").has_value());
  CHECK(lender->joints[0]->owner() == nobody);
}

TEST_CASE("a stop suspends all controllers, and the same ones begin again in the cycle in which it is over") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"}, CommandMode::velocity);
  auto other = Probe::of("other", {"b"});
  auto idle = Probe::of("idle", {"c"});
  probe->act = [](Probe& self) { self.joints[0]->set_velocity(1); };
  for (const auto& loaded : {probe, other, idle}) REQUIRE(managed.manager.load(loaded).has_value());
  REQUIRE(managed.manager.switch_controllers({.start = {"probe", "other"}}).has_value());
  managed.make_ready();
  managed.cycles(1000);
  managed.begin();
  managed.manager.stop_robot({FaultReason::emergency_stop}, StopCategory::category_2);
  managed.end();
  CHECK(managed.state_of("probe") == ControllerState::suspended);
  CHECK(managed.manager.supervisor().state() == RobotState::stopping);
  CHECK(probe->joints[0]->stopping());
  managed.cycles(500);
  CHECK(managed.manager.supervisor().state() == RobotState::stopped);
  CHECK(managed.drives.commands[0].velocity == 0);
  managed.begin();
  CHECK(managed.manager.reset().result == Supervisor::ResetAnswer::Result::done);
  managed.end();
  const int before = probe->executions;
  managed.cycle();
  CHECK(managed.manager.supervisor().state() == RobotState::ready);
  CHECK(probe->executions == before + 1);
  CHECK(other->activations == 2);
  CHECK(idle->activations == 0);
}

TEST_CASE("a controller that works in a stop goes on, and a fallback of the stop gives way afterwards") {
  Managed managed;
  auto main = Probe::of("main", {"a"}, CommandMode::effort);
  auto hold = Probe::of("hold", {"a"}, CommandMode::effort);
  hold->rides_on = true;
  hold->act = [](Probe& self) { self.joints[0]->set_effort(5); };
  REQUIRE(managed.manager.load(hold).has_value());
  REQUIRE(managed.manager.load(main, {.fallbacks = {"hold"}}).has_value());
  REQUIRE(managed.start("main").has_value());
  managed.make_ready();
  REQUIRE(managed.manager.request_stop(StopCategory::category_2, FaultReason::protective_stop).has_value());
  managed.cycles(3);
  CHECK(managed.manager.supervisor().state() == RobotState::stopped);
  CHECK(managed.manager.supervisor().fault()->reason == FaultReason::protective_stop);
  CHECK(managed.state_of("hold") == ControllerState::active);
  CHECK(managed.drives.commands[0].effort == 5);
  managed.begin();
  CHECK(managed.manager.reset().result == Supervisor::ResetAnswer::Result::done);
  managed.end();
  managed.cycles(3);
  CHECK(managed.state_of("main") == ControllerState::active);
  CHECK(managed.state_of("hold") == ControllerState::inactive);
}

TEST_CASE("a first command of an effort finds no position or velocity of an earlier owner") {
  Managed managed;
  auto first = Probe::of("first", {"a"}, CommandMode::velocity);
  auto second = Probe::of("second", {"a"});
  first->act = [](Probe& self) { self.joints[0]->set_velocity(1); };
  second->trusted = true;
  second->act = [](Probe& self) { self.joints[0]->set_effort(2); };
  REQUIRE(managed.manager.load(first).has_value());
  REQUIRE(managed.manager.load(second).has_value());
  managed.make_ready();
  REQUIRE(managed.start("first").has_value());
  managed.cycles(1000);
  REQUIRE(managed.stop("first").has_value());
  managed.cycles(500);
  const double at = managed.drives.feedback[0].position;
  CHECK(at > 0.5);
  REQUIRE(managed.start("second").has_value());
  managed.cycle();
  CHECK(managed.drives.commands[0].position == doctest::Approx(at));
  CHECK(managed.drives.commands[0].velocity == 0);
  CHECK(managed.drives.commands[0].effort == 2);
}

TEST_CASE("a controller that has finished becomes inactive without a failure and without its fallback") {
  Managed managed;
  auto sweep = Probe::of("sweep", {"a"});
  auto hold = Probe::of("hold", {"a"});
  REQUIRE(managed.manager.load(hold).has_value());
  REQUIRE(managed.manager.load(sweep, {.fallbacks = {"hold"}}).has_value());
  REQUIRE(managed.start("sweep").has_value());
  managed.make_ready();
  sweep->execution = fail(Errc::finished);
  managed.cycle();
  CHECK(managed.state_of("sweep") == ControllerState::inactive);
  CHECK(managed.state_of("hold") == ControllerState::inactive);
  CHECK(managed.manager.joints()[0].owner() == nobody);
  sweep->execution = {};
  CHECK(managed.start("sweep").has_value());
}

TEST_CASE("a drive that reports NaN counts as silent, and stops the robot") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"}, CommandMode::velocity);
  probe->act = [](Probe& self) { self.joints[0]->set_velocity(0.1); };
  REQUIRE(managed.manager.load(probe).has_value());
  REQUIRE(managed.start("probe").has_value());
  managed.make_ready();
  const double before = managed.drives.commands[0].position;
  for (int i = 0; i < 200; ++i) {
    managed.drives.feedback[0].position = not_a_number;
    managed.cycle();
    CHECK(std::isfinite(managed.drives.commands[0].position));
    CHECK(std::isfinite(managed.drives.commands[0].velocity));
  }
  CHECK(std::abs(managed.drives.commands[0].position - before) < 0.1);
  CHECK(managed.manager.supervisor().fault()->reason == FaultReason::drive_silent);
  CHECK(managed.manager.supervisor().state() != RobotState::ready);
}

TEST_CASE("the cycle keeps the real-time rules while controllers run, fail, stop and come back") {
  Managed managed;
  auto probe = Probe::of("probe", {"a"}, CommandMode::velocity);
  auto hold = Probe::of("hold", {"a"});
  REQUIRE(managed.manager.load(hold).has_value());
  REQUIRE(managed.manager.load(probe, {.fallbacks = {"hold"}}).has_value());
  REQUIRE(managed.start("probe").has_value());
  managed.make_ready();
  test::RtGuard guard;
  managed.cycles(10);
  probe->execution = fail(Errc::device_lost);
  managed.cycles(3);
  managed.begin();
  managed.manager.stop_robot({FaultReason::emergency_stop}, StopCategory::category_1);
  managed.end();
  managed.cycles(10);
  managed.begin();
  static_cast<void>(managed.manager.reset());
  managed.end();
  managed.cycles(10);
  CHECK(guard.report() == "");
  CHECK(managed.state_of("hold") == ControllerState::active);
}
