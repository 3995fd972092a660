#include "takt/controllers/gripper.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
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
constexpr double nothing = std::numeric_limits<double>::infinity();

robot::RobotDescription hand() {
  robot::RobotDescription robot = rig_robot({"fingers"});
  robot.joints[0].limits = {0, 1, 20, 200, 20000, 50};
  robot.joints[0].following_error = 0.2;
  return robot;
}

/// A gripper that closes from 0 towards 1. An object of 500 N m/rad begins at `object`.
struct Rig : ControllerRig {
  explicit Rig(std::vector<component::Assignment> parameters = {}, robot::RobotDescription robot = hand())
      : ControllerRig(std::move(robot)) {
    parameters.push_back({"joint", "fingers"});
    REQUIRE(load(gripper, parameters) == "");
    auto in = component::connect(sender.port, gripper->goals);
    auto out = component::connect(gripper->results, receiver.port, {.buffering = component::Buffering::fifo});
    REQUIRE(in);
    REQUIRE(out);
    in_ = std::move(*in);
    out_ = std::move(*out);
    REQUIRE(change({"gripper"}) == "");
    make_ready();
  }
  void send(const GripperGoal& goal) { sender.port.write(goal, now); }
  /// Plays the object, by which a joint in position mode stands, or creeps at this speed.
  void play(int cycles, double object = nothing, double creep = 0) {
    run(cycles, [&](int) {
      robot::JointFeedback& joint = drives.feedback[0];
      JointCommand& command = drives.commands[0];
      if (command.mode == CommandMode::effort) {
        drives.load = -500 * std::max(joint.position - object, 0.0);
        return;
      }
      joint.effort = 0;
      if (!(command.position > object)) return;
      joint.effort = 500 * (command.position - joint.position);
      command.position = std::max(joint.position, std::min(command.position, object)) + 0.001 * creep;
    });
  }
  std::optional<GripperResult> result() {
    if (receiver.port.read() != shm::Freshness::new_data) return std::nullopt;
    return receiver.port.value();
  }
  double position() const { return drives.feedback[0].position; }

  std::shared_ptr<GripperController> gripper = std::make_shared<GripperController>("gripper");
  Sender<GripperGoal> sender;
  Receiver<GripperResult> receiver;

 private:
  component::Connection in_;
  component::Connection out_;
};

const std::vector<component::Assignment> effort_mode = {
    {"mode", "effort"}, {"proportional", 200.0}, {"derivative", 20.0}, {"integral", 50.0}};

}  // namespace

TEST_CASE("a goal in the air is reached, by position and by effort") {
  for (const bool by_effort : {false, true}) {
    CAPTURE(by_effort);
    Rig rig(by_effort ? effort_mode : std::vector<component::Assignment>{});
    rig.send({7, 0.6, 5});
    rig.play(3000);
    const auto result = rig.result();
    REQUIRE(result);
    CHECK(result->number == 7);
    CHECK(result->outcome == GripperOutcome::reached);
    CHECK(std::abs(result->position - 0.6) <= 0.01);
    CHECK(rig.position() == Approx(0.6).epsilon(0.01));
    CHECK(rig.state("gripper/status") == 1);
    CHECK(!rig.result());
  }
}

TEST_CASE("an object stalls the fingers, which go on pressing with the largest effort of the goal") {
  SUBCASE("by position, with the effort that the drive reports") {
    Rig rig;
    rig.send({7, 1, 8});
    rig.play(3000, 0.5);
    const auto result = rig.result();
    REQUIRE(result);
    CHECK(result->outcome == GripperOutcome::stalled);
    CHECK(result->position == Approx(0.5));
    CHECK(std::abs(result->effort - 8) < 0.5);
    rig.play(3000, 0.5);
    CHECK(std::abs(rig.drives.feedback[0].effort - 8) < 0.5);
  }
  SUBCASE("by effort") {
    Rig rig(effort_mode);
    rig.drives.friction = 2;
    rig.send({7, 1, 8});
    rig.play(5000, 0.5);
    const auto result = rig.result();
    REQUIRE(result);
    CHECK(result->outcome == GripperOutcome::stalled);
    CHECK(result->position == Approx(0.5 + 8.0 / 500).epsilon(0.02));
    CHECK(rig.drives.commands[0].effort == 8);
  }
}

TEST_CASE("a slowly creeping joint stalls, though its velocity never vanishes") {
  Rig rig({{"stall_window", 0.5}, {"stall_distance", 0.005}});
  rig.send({1, 1, 0});
  rig.play(3000, 0.5, 0.004);
  CHECK(rig.drives.feedback[0].velocity > 0.0035);  // a threshold of 0.001 rad/s would wait for ever
  const auto result = rig.result();
  REQUIRE(result);
  CHECK(result->outcome == GripperOutcome::stalled);
}

TEST_CASE("a slow joint that makes progress does not stall") {
  Rig rig({{"stall_window", 0.5}, {"stall_distance", 0.005}, {"speed", 0.02}});
  rig.send({1, 0.1, 0});
  rig.play(4000);
  CHECK(!rig.result());
  rig.play(2000);
  const auto result = rig.result();
  REQUIRE(result);
  CHECK(result->outcome == GripperOutcome::reached);
}

TEST_CASE("the reference never leads so far that the following error stops the robot") {
  Rig rig({{"speed", 10.0}});
  rig.send({1, 1, 0});
  rig.run(2000, [&](int) {  // a drive that reports no effort
    rig.drives.commands[0].position = std::min(rig.drives.commands[0].position, 0.3);
  });
  CHECK(rig.manager.supervisor().state() == robot::RobotState::ready);
  REQUIRE(rig.result());
  CHECK(rig.drives.commands[0].position == Approx(0.4));
}

TEST_CASE("a goal that ends in time, is replaced or interrupted is not reached") {
  Rig rig({{"goal_time", 1.0}, {"speed", 0.1}});
  SUBCASE("out of time") {
    rig.send({1, 1, 0});
    rig.play(1500);
    const auto result = rig.result();
    REQUIRE(result);
    CHECK(result->outcome == GripperOutcome::not_reached);
    CHECK(rig.state("gripper/status") == 3);
  }
  SUBCASE("replaced") {
    rig.send({1, 1, 0});
    rig.play(100);
    rig.send({2, 0, 0});
    rig.play(500);
    const auto first = rig.result();
    REQUIRE(first);
    CHECK(first->number == 1);
    CHECK(first->outcome == GripperOutcome::not_reached);
    const auto second = rig.result();
    REQUIRE(second);
    CHECK(second->number == 2);
    CHECK(second->outcome == GripperOutcome::reached);
  }
  SUBCASE("interrupted; the next activation holds the measured position") {
    rig.send({1, 1, 0});
    rig.play(500);
    rig.send({3, 1, 0});
    REQUIRE(rig.change({}, {"gripper"}) == "");
    rig.play(500);
    const double stopped = rig.position();
    REQUIRE(rig.result());
    rig.send({4, 1, 0});  // while nobody listens
    REQUIRE(rig.change({"gripper"}) == "");
    rig.play(500);
    CHECK(rig.position() == Approx(stopped));
    const auto rejected = rig.result();
    REQUIRE(rejected);
    CHECK(rejected->outcome == GripperOutcome::rejected);
    while (rig.result()) {
    }
  }
}

TEST_CASE("bad goals end rejected, and the old one goes on") {
  Rig rig;
  rig.send({1, 0.5, 0});
  rig.play(1);
  for (const GripperGoal& bad : {GripperGoal{2, not_a_number, 0}, GripperGoal{3, 0.1, nothing}}) {
    rig.send(bad);
    rig.play(1);
    const auto result = rig.result();
    REQUIRE(result);
    CHECK(result->number == bad.number);
    CHECK(result->outcome == GripperOutcome::rejected);
  }
  rig.play(2000);
  CHECK(rig.state("gripper/rejected") == 2);
  const auto result = rig.result();
  REQUIRE(result);
  CHECK(result->number == 1);
  CHECK(rig.position() == Approx(0.5).epsilon(0.02));
}

TEST_CASE("a negative effort is that of the parameter, as users of ROS expect") {
  auto parameters = effort_mode;
  parameters.push_back({"max_effort", 6.0});
  Rig rig(parameters);
  rig.drives.friction = 2;
  rig.send({1, 1, -1});
  rig.play(5000, 0.5);
  CHECK(rig.drives.commands[0].effort == 6);
  const auto result = rig.result();
  REQUIRE(result);
  CHECK(result->outcome == GripperOutcome::stalled);
}

TEST_CASE("targets and efforts stay within the joint's limits and the parameter") {
  auto parameters = effort_mode;
  parameters.push_back({"max_effort", 6.0});
  Rig rig(parameters);
  rig.drives.friction = 2;
  rig.send({1, 5, 100});
  rig.play(3000, 0.5);
  CHECK(rig.drives.commands[0].effort == 6);
}

TEST_CASE("the inputs win over the port and begin goals when they change") {
  struct Leader final : robot::Controller {
    Leader() : Controller(Sender<int>::about, "leader") {}
    SetupResult<void> on_configure(robot::Resources& resources) override {
      const auto claimed = resources.claim("gripper/position");
      if (!claimed) return tl::unexpected<SetupError>(claimed.error());
      command = *claimed;
      return {};
    }
    Status on_execute(const component::CycleTime&) noexcept override {
      command.set(value);
      return {};
    }
    robot::CommandHandle command;
    double value = 0.3;
  };
  Rig rig;
  const auto leader = std::make_shared<Leader>();
  REQUIRE(rig.load(leader) == "");
  REQUIRE(rig.change({"leader"}) == "");
  rig.send({1, 1, 0});
  rig.play(1500);
  CHECK(rig.position() == Approx(0.3).epsilon(0.02));
  CHECK(rig.state("gripper/status") == 1);
  const auto rejected = rig.result();
  REQUIRE(rejected);
  CHECK(rejected->number == 1);
  CHECK(rejected->outcome != GripperOutcome::reached);
  leader->value = 0.8;
  rig.play(2000, 0.6);
  CHECK(rig.state("gripper/status") == 2);
}

TEST_CASE("a service takes goals and refuses bad ones") {
  struct Client final : component::Component {
    Client() : Component(Sender<int>::about, "client") {}
    component::RequiredService<GripperService> gripper{*this, "gripper"};
  };
  Rig rig;
  Client client;
  REQUIRE(component::connect(rig.gripper->service, client.gripper));
  const auto grip = [&](GripperGoal goal) {
    return client.gripper.call([goal](GripperService& g) noexcept { return g.grip(goal); });
  };
  CHECK(grip({9, 0.4, 0}));
  rig.play(2000);
  const auto result = rig.result();
  REQUIRE(result);
  CHECK(result->number == 9);
  CHECK(grip({9, not_a_number, 0}).error() == Errc::not_finite);
  REQUIRE(rig.change({}, {"gripper"}) == "");
  CHECK(grip({9, 0.4, 0}).error() == Errc::not_active);
}

TEST_CASE("a drive with an effort limit of its own gets it") {
  struct Board final : robot::Device {
    Board() : Device(Sender<int>::about, "board") {}
    SetupResult<void> on_declare(robot::Declarations& declarations) override {
      return declarations.command("board/max_effort", "N m", value, driven);
    }
    double value = 0;
    bool driven = false;
  };
  Board board;
  ControllerRig rig(hand());
  REQUIRE(rig.manager.add(board));
  const auto gripper = std::make_shared<GripperController>("gripper");
  REQUIRE(rig.load(gripper, {{"joint", "fingers"}, {"effort_interface", "board/max_effort"}}) == "");
  Sender<GripperGoal> sender;
  auto connection = component::connect(sender.port, gripper->goals);
  REQUIRE(connection);
  REQUIRE(rig.change({"gripper"}) == "");
  rig.make_ready();
  CHECK(board.value == 10);
  sender.port.write({1, 0.5, 4}, rig.now);
  rig.run(10);
  CHECK(board.value == 4);
}
