// Tests the buses of app::Robot: interfaces by description or override, and ports of the caller. A bus that
// goes down in motion stops the robot by name.
#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "app/robot_client.hpp"
#include "takt/app/error.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using namespace std::chrono_literals;

TEST_CASE("a bus gets the interface of the last override, and the description says which") {
  robot::RobotDescription description = two_joints();
  description.buses[0].interface = "can0";
  description.buses[1].interface = "can1";
  RobotOptions options;
  options.devices.buses = {{"left", "no address"}, {"right", "virtual"}, {"left", "virtual"}};
  const auto robot = made(description, options);
  CHECK(robot->devices()->interface_of(0) == "virtual");
  CHECK(robot->description().buses[0].interface == "virtual");
  CHECK(robot->description().buses[1].interface == "virtual");

  RobotOptions simulated;
  simulated.devices.simulate = true;
  CHECK(made(description, simulated)->devices()->interface_of(1) == "virtual");
}

TEST_CASE("an override of an unknown bus, or by what is no address, is refused") {
  RobotOptions unknown;
  unknown.devices.buses = {{"middle", "virtual"}};
  const SetupError no_bus = refusal(two_joints(), unknown);
  CHECK(no_bus.error == Errc::no_such_bus);
  CHECK(no_bus.message == "robot pair has no bus middle; its buses are left, right");

  for (const char* text : {"", "can 0", "udp:1.2.3.4", "slcan:", "virtual "}) {
    CAPTURE(text);
    RobotOptions bad;
    bad.devices.buses = {{"right", text}};
    const SetupError error = refusal(two_joints(), bad);
    CHECK(error.error == Errc::bad_bus_address);
    CHECK(error.message.starts_with("bus right: "));
  }
}

TEST_CASE("ports of the caller's own carry a bus each, beside simulated ones") {
  VirtualClock clock;
  const robot::RobotDescription description = two_joints();
  auto drives = sim::RobotSimulation::create(description, clock.now());
  REQUIRE(drives.has_value());
  OwnPort right(*drives, 1, clock);
  RobotOptions options;
  options.clock = &clock;
  options.devices.ports = {nullptr, &right};
  const auto robot = made(description, options);
  CHECK(robot->devices()->interface_of(0) == "virtual");
  CHECK(robot->devices()->interface_of(1) == "own");
  Client client(*robot, move_once({"left_joint", "right_joint"}, {0.5, 0.9}));
  REQUIRE(robot->run().has_value());
  CHECK(client.refused().empty());
  CHECK(client.goal(1) == motion::GoalState::succeeded);
  CHECK(drives->position(1) == doctest::Approx(0.9).epsilon(0.02));
  CHECK(drives->position(0) == 0);
  CHECK(robot->devices()->simulation()->position(0) == doctest::Approx(0.5).epsilon(0.04));
  CHECK(robot->devices()->traffic(1).frames == right.traffic().frames);
  CHECK(right.traffic().frames > 0);
}

TEST_CASE("a bus that goes down in motion stops the robot by name, and a reset leads on once it is back") {
  for (const auto outage : {robot::BusLink::down, robot::BusLink::off}) {
    VirtualClock clock;
    const robot::RobotDescription description = two_joints();
    auto drives = sim::RobotSimulation::create(description, clock.now());
    REQUIRE(drives.has_value());
    OwnPort left(*drives, 0, clock);
    OwnPort right(*drives, 1, clock);
    RobotOptions options;
    options.clock = &clock;
    options.devices.ports = {&left, &right};
    const auto robot = made(description, options);
    CHECK(robot->devices()->simulation() == nullptr);

    enum class Step { ready, moving, broken, early, back, reset, again } step = Step::ready;
    Time since;
    Client client(*robot, [&](Client& self, const motion::Snapshot& state) {
      const auto go = [&](Step next) {
        step = next;
        since = state.time;
      };
      switch (step) {
        case Step::ready:
          if (state.state != motion::RobotState::ready) return;
          self.move({"left_joint", "right_joint"}, {2, 2}, state);
          return go(Step::moving);
        case Step::moving:
          if (state.joints[1].measured_position < 0.5) return;
          robot->reset();  // nothing to leave: neither now nor when the robot has stopped
          right.is = outage;
          return go(Step::broken);
        case Step::broken:
          if (state.state != motion::RobotState::stopped) return;
          self.reset();
          return go(Step::early);
        case Step::early:  // the bus is still down: the reset is rejected, and nothing starts
          if (state.time - since < 2s) return;
          CHECK(state.state == motion::RobotState::stopped);
          CHECK(self.answer_to_reset().state == motion::GoalState::rejected);
          CHECK(self.answer_to_reset().reason == motion::Errc::bus_down);
          CHECK(self.answer_to_reset().joint == 1);
          right.is = robot::BusLink::up;
          return go(Step::back);
        case Step::back:  // repeated until it works: the drive has switched itself off meanwhile
          self.reset();
          return go(Step::reset);
        case Step::reset:
          if (self.answer_to_reset().state == motion::GoalState::rejected) return go(Step::back);
          if (state.state != motion::RobotState::ready) return;
          self.move({"left_joint", "right_joint"}, {1, 1}, state);
          return go(Step::again);
        case Step::again:
          if (motion::is_terminal(self.goal(2)) || !self.refused().empty()) self.end();
      }
    });
    REQUIRE(robot->run().has_value());
    CHECK(client.refused().empty());
    CHECK(client.goal(1) == motion::GoalState::aborted);
    CHECK(client.goal(2) == motion::GoalState::succeeded);
    CHECK(drives->position(0) == doctest::Approx(1).epsilon(0.02));
    CHECK(drives->position(1) == doctest::Approx(1).epsilon(0.02));
    CHECK(robot->fault().reason == motion::Errc{});
    const std::string down = ": right_joint: the bus of a drive is down: right (own) [bus_down]";
    const std::string next_step = R"(. To continue when the bus is back: `takt reset` (or {"reset":{}}))";
    std::vector<std::string> expected = {"robot starting", "robot ready", "robot stopping" + down,
                                         "robot stopped" + down + next_step};
    expected.insert(expected.end(), a_life.begin(), a_life.end());
    CHECK(reports(*robot) == expected);
  }
}

TEST_CASE("a robot that ends while its bus is down reports the fault") {
  VirtualClock clock;
  const robot::RobotDescription description = two_joints();
  auto drives = sim::RobotSimulation::create(description, clock.now());
  REQUIRE(drives.has_value());
  OwnPort left(*drives, 0, clock);
  RobotOptions options;
  options.clock = &clock;
  options.devices.ports = {&left};
  const auto robot = made(description, options);
  Client client(*robot, [&](Client& self, const motion::Snapshot& state) {
    if (state.state == motion::RobotState::ready) left.is = robot::BusLink::down;
    if (state.state == motion::RobotState::stopped) self.end();
  });
  REQUIRE(robot->run().has_value());
  CHECK(robot->fault().reason == motion::Errc::bus_down);
  CHECK(describe_cause(robot->fault(), robot->description()) ==
        "left_joint: the bus of a drive is down: left (own) [bus_down]");
}
