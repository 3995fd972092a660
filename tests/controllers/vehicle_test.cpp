// The controller of a vehicle of the robot: commands, timeouts, odometry, and how it fails and starts again.
#include "takt/controllers/vehicle.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "controllers/controller_rig.hpp"
#include "controllers/drive_rig.hpp"
#include "robot/managed.hpp"
#include "support/simulated_base.hpp"
#include "takt/controllers/registry.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace std::chrono_literals;
using doctest::Approx;
using robot::ControllerState;
using vehicle::SupervisorState;

namespace {

/// A robot with a joint, a vehicle, and the controller "drive".
struct Rig {
  Rig() : managed(test::robot_of({"a"})) {
    REQUIRE(managed.manager.add(*base.device).has_value());
    REQUIRE(managed.manager.load(drive).has_value());
    in = component::connect(sender.port, drive->command).value();
    out = component::connect(drive->odometry, receiver.port).value();
    seconds(3);
    REQUIRE(managed.manager.supervisor().state() == robot::RobotState::ready);
  }

  void start() { REQUIRE(managed.start("drive").has_value()); }
  void stop() { REQUIRE(managed.stop("drive").has_value()); }
  void seconds(double time) {
    for (double t = 0; t < time; t += 0.001) managed.cycle();
  }
  /// Sends the twist 50 times a second.
  void command(const mobile::Twist& twist, double time) {
    for (double t = 0; t < time; t += 0.02) {
      sender.port.write(twist, Time{});
      managed.cycles(20);
    }
  }
  [[nodiscard]] ControllerState state() { return managed.state_of("drive"); }
  [[nodiscard]] double value(std::string_view name) {
    for (const robot::InterfaceInfo& info : managed.manager.interfaces()) {
      if (info.name == name && !info.is_command) return info.value;
    }
    FAIL("no state " << name);
    return 0;
  }

  test::SimulatedBase base;
  std::shared_ptr<VehicleDriveController> drive = std::make_shared<VehicleDriveController>("drive");
  test::Sender<mobile::Twist> sender;
  test::Receiver<OdometrySample> receiver;
  test::Managed managed;
  component::Connection in, out;
};

}  // namespace

TEST_CASE("twists drive the vehicle, and the odometry follows it") {
  Rig rig;
  rig.start();
  rig.command({0.8, 0, 0.2}, 5);
  CHECK(rig.base.speed() == Approx(0.8).epsilon(0.05));
  REQUIRE(rig.receiver.port.read() == shm::Freshness::new_data);
  const OdometrySample& odometry = rig.receiver.port.value();
  const mobile::Pose is = rig.base.vehicle.controller().plant().pose();
  CHECK(odometry.pose.x == Approx(is.x).epsilon(0.05));
  CHECK(odometry.pose.heading == Approx(is.heading).epsilon(0.1));
  CHECK(odometry.twist.forward == Approx(rig.base.speed()).epsilon(0.05));
  CHECK(rig.value("drive/timed_out") == 0);
}

TEST_CASE(
    "a command that is too old means standstill without a latched stop, and the next one drives again") {
  Rig rig;
  rig.start();
  rig.command({1, 0, 0}, 4);
  rig.seconds(4);
  CHECK(rig.value("drive/timed_out") == 1);
  CHECK(std::abs(rig.base.speed()) < 0.01);
  CHECK(rig.state() == ControllerState::active);
  rig.command({1, 0, 0}, 4);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
}

TEST_CASE("twists from before the start, and those with NaN, do not drive") {
  Rig rig;
  rig.sender.port.write({1, 0, 0}, Time{});
  rig.start();
  rig.seconds(0.4);
  CHECK(std::abs(rig.base.speed()) < 0.01);
  rig.command({std::numeric_limits<double>::quiet_NaN(), 0, 0}, 0.1);
  rig.command({0, 0, std::numeric_limits<double>::infinity()}, 0.1);
  CHECK(rig.value("drive/rejected_commands") >= 10);
  CHECK(std::abs(rig.base.speed()) < 0.01);
}

TEST_CASE("twists that waited in a fifo drive nothing, however many there are") {
  Rig rig;
  rig.in = component::connect(rig.sender.port, rig.drive->command,
                              {.buffering = component::Buffering::fifo, .capacity = 4096})
               .value();
  for (int i = 0; i < 1000; ++i) rig.sender.port.write({1, 0, 0}, Time{});
  rig.start();
  rig.seconds(2);
  CHECK(std::abs(rig.base.speed()) < 0.001);
  rig.command({1, 0, 0}, 4);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
}

TEST_CASE("a command that arrives older than the timeout is late, and drives nothing") {
  Rig rig;
  rig.start();
  for (int i = 0; i < 50; ++i) {
    rig.sender.port.write({1, 0, 0}, rig.managed.now - 1s);
    rig.managed.cycles(20);
  }
  CHECK(rig.value("drive/late_commands") >= 49);
  CHECK(std::abs(rig.base.speed()) < 0.001);
}

TEST_CASE("the controller fails with a stop of the vehicle, and ends it when it is started again") {
  Rig rig;
  rig.start();
  rig.command({1, 0, 0}, 4);
  rig.base.vehicle.set_faults({.halted = {vehicle::System::steering}});
  rig.command({1, 0, 0}, 3);
  REQUIRE(rig.state() == ControllerState::failed);
  for (const robot::ControllerStatus& status : rig.managed.manager.controllers())
    CHECK(status.error == vehicle::Errc::stopped);
  CHECK(std::abs(rig.base.speed()) < 0.01);

  // Nothing drives it while the cause remains.
  REQUIRE(rig.managed.manager.reset_controller("drive").has_value());
  rig.start();
  rig.command({1, 0, 0}, 1);
  CHECK(rig.state() == ControllerState::failed);
  CHECK(std::abs(rig.base.speed()) < 0.01);

  rig.base.vehicle.set_faults({});
  REQUIRE(rig.managed.manager.reset_controller("drive").has_value());
  rig.seconds(1);
  rig.start();
  rig.command({1, 0, 0}, 5);
  CHECK(rig.state() == ControllerState::active);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
}

TEST_CASE("a stop of the robot suspends the controller, and a reset lets it drive on") {
  Rig rig;
  rig.start();
  rig.command({1, 0, 0}, 4);
  rig.managed.begin();
  rig.managed.manager.stop_robot({robot::FaultReason::emergency_stop}, StopCategory::category_1);
  rig.managed.end();
  rig.command({1, 0, 0}, 4);
  CHECK(rig.state() == ControllerState::suspended);
  CHECK(std::abs(rig.base.speed()) < 0.01);
  rig.managed.begin();
  (void)rig.managed.manager.reset();
  rig.managed.end();
  rig.command({1, 0, 0}, 5);
  CHECK(rig.state() == ControllerState::active);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
}

TEST_CASE("another controller drives the vehicle through the inputs") {
  Rig rig;
  auto leader = std::make_shared<test::Leader>("drive/forward", 0.5);
  REQUIRE(rig.managed.manager.load(leader).has_value());
  rig.start();
  REQUIRE(rig.managed.start("leader").has_value());
  rig.seconds(4);
  CHECK(rig.base.speed() == Approx(0.5).epsilon(0.05));
  REQUIRE(rig.managed.stop("leader").has_value());
  rig.seconds(4);
  CHECK(std::abs(rig.base.speed()) < 0.01);
}

TEST_CASE("a vehicle that the robot does not have is named") {
  auto drive = std::make_shared<VehicleDriveController>("drive");
  REQUIRE(drive->parameters().set("vehicle", "truck", "test"));
  test::Managed managed(test::robot_of({"a"}));
  const auto loaded = managed.manager.load(drive);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message.find("truck") != std::string::npos);
}
