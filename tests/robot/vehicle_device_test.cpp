// A vehicle as a device: what controllers see and command, what a stop of the robot does to it, and how its
// own stops end. The vehicle is the simulated one, in virtual time.
#include "takt/robot/vehicle_device.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>

#include "robot/managed.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "support/simulated_base.hpp"

using namespace takt;
using namespace takt::robot;
using namespace std::chrono_literals;
using doctest::Approx;
using test::Managed;
using test::Probe;
using vehicle::SupervisorState;

namespace {

/// A robot with a joint and a vehicle. The controller "driver" drives the vehicle as the test says.
struct Rig {
  /// Runs for some seconds, so that all is ready.
  explicit Rig(double run_up = 3) : managed(test::robot_of({"a"})) {
    REQUIRE(managed.manager.add(*base.device).has_value());
    REQUIRE(managed.manager.load(driver).has_value());
    seconds(run_up);
    REQUIRE(managed.manager.supervisor().state() == RobotState::ready);
  }

  void seconds(double time) {
    for (double t = 0; t < time; t += 0.001) managed.cycle();
  }
  void start() { REQUIRE(managed.start("driver").has_value()); }
  void stop() { REQUIRE(managed.stop("driver").has_value()); }
  /// After NaN from the controller.
  void reset_driver() { (void)managed.manager.reset_controller("driver"); }
  void stop_robot(StopCategory category) {
    managed.begin();
    managed.manager.stop_robot({FaultReason::emergency_stop}, category);
    managed.end();
  }
  [[nodiscard]] RobotState robot_state() const { return managed.manager.supervisor().state(); }
  [[nodiscard]] double moving() {
    for (const InterfaceInfo& info : managed.manager.interfaces()) {
      if (info.name == "base/moving") return info.value;
    }
    FAIL("no state base/moving");
    return 0;
  }

  double forward = 1, rotation = 0;  ///< m/s, rad/s
  const vehicle::OdometryEstimate* odometry = nullptr;
  const VehicleStatus* status = nullptr;
  CommandHandle turn;
  std::shared_ptr<Probe> driver =
      std::make_shared<Probe>("driver", [this](Probe& probe, Resources& resources) -> SetupResult<void> {
        probe.command = resources.claim("base/forward").value();
        turn = resources.claim("base/rotation").value();
        odometry = resources.sensor<vehicle::OdometryEstimate>("base.odometry").value();
        status = resources.sensor<VehicleStatus>("base.status").value();
        probe.act = [this](Probe& it) {
          it.command.set(forward);
          turn.set(rotation);
        };
        return {};
      });
  test::SimulatedBase base;
  Managed managed;
};

}  // namespace

TEST_CASE("a controller drives the vehicle, and sees where it is") {
  Rig rig;
  CHECK(rig.moving() == 0);
  rig.rotation = 0.2;
  rig.start();
  rig.seconds(6);
  CHECK(rig.moving() == 1);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
  CHECK(rig.odometry->twist.forward == Approx(rig.base.speed()).epsilon(0.05));
  CHECK(rig.odometry->twist.rotation == Approx(0.2).epsilon(0.1));
  const mobile::Pose is = rig.base.vehicle.controller().plant().pose();
  CHECK(is.x > 3);
  CHECK(rig.odometry->pose.x == Approx(is.x).epsilon(0.05));
  CHECK(rig.odometry->pose.heading == Approx(is.heading).epsilon(0.1));
  CHECK(rig.status->stamp == rig.managed.now);
  CHECK(rig.status->charge == Approx(0.8).epsilon(0.05));
}

TEST_CASE("without a controller the vehicle brakes to standstill, and needs no recovery") {
  Rig rig;
  rig.start();
  rig.seconds(4);
  rig.stop();
  rig.seconds(4);
  CHECK(rig.base.speed() == Approx(0).epsilon(0.01));
  CHECK(rig.status->state == SupervisorState::driving);
  rig.start();
  rig.seconds(4);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
}

TEST_CASE("a stop of the robot stops the vehicle, and is over when it stands") {
  for (const StopCategory category :
       {StopCategory::category_0, StopCategory::category_1, StopCategory::category_2}) {
    CAPTURE(static_cast<int>(category));
    Rig rig;
    rig.start();
    rig.seconds(4);
    const double at = rig.odometry->pose.x;
    rig.stop_robot(category);
    CHECK(rig.status->state == SupervisorState::driving);  // read before the stop
    rig.managed.cycle();
    CHECK(rig.status->state == SupervisorState::stopping);
    CHECK(rig.status->cause == vehicle::StopCause::requested);
    int cycles = 0;
    for (; rig.moving() == 1 && cycles < 10'000; ++cycles) {
      CHECK(rig.robot_state() == RobotState::stopping);
      rig.managed.cycle();
    }
    CHECK(std::abs(rig.base.speed()) < 0.05);
    CHECK(cycles < 4000);
    CHECK(rig.odometry->pose.x - at < 2);
    rig.managed.cycles(2);
    CHECK(rig.robot_state() == RobotState::stopped);
    rig.seconds(1);
    CHECK(std::abs(rig.base.speed()) < 0.01);

    // The robot's controllers go on after a reset, and so does the vehicle.
    rig.managed.begin();
    (void)rig.managed.manager.reset();
    rig.managed.end();
    rig.seconds(4);
    CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
  }
}

TEST_CASE("a stop of the vehicle ends with the first twist after it stood without one") {
  Rig rig;
  rig.start();
  rig.seconds(4);
  rig.base.vehicle.set_faults({.halted = {vehicle::System::steering}});
  rig.seconds(4);
  CHECK(rig.status->state == SupervisorState::stopped);
  CHECK(rig.status->cause == vehicle::StopCause::system_not_running);
  CHECK(rig.moving() == 0);
  // The cause goes, and the twist goes on.
  rig.base.vehicle.set_faults({});
  rig.seconds(2);
  CHECK(rig.status->state == SupervisorState::stopped);
  CHECK(std::abs(rig.base.speed()) < 0.01);
  rig.stop();
  rig.managed.cycles(2);
  CHECK(rig.status->state == SupervisorState::stopped);
  rig.start();
  rig.seconds(4);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
}

TEST_CASE("a twist that starts while the vehicle still brakes does not end the stop") {
  Rig rig;
  rig.start();
  rig.seconds(4);
  rig.base.device->on_robot_stop(StopCategory::category_1, rig.managed.now);
  rig.managed.cycles(20);
  rig.stop();
  rig.managed.cycle();
  rig.start();
  rig.seconds(6);
  CHECK(rig.status->state == SupervisorState::stopped);
  CHECK(std::abs(rig.base.speed()) < 0.01);
}

TEST_CASE(
    "while the robot is stopped, no twist drives the vehicle, also of a controller that works in a stop") {
  Rig rig;
  rig.driver->rides_on = true;
  rig.start();
  rig.seconds(4);
  bool is_idle = false;
  rig.driver->act = [&](Probe& it) {
    if (is_idle) {
      it.command.release();
      rig.turn.release();
    } else {
      it.command.set(1);
    }
  };
  rig.stop_robot(StopCategory::category_1);
  rig.seconds(4);
  for (int i = 0; i < 3; ++i) {
    is_idle = !is_idle;
    rig.seconds(1);
    CHECK(rig.status->state == SupervisorState::stopped);
    CHECK(std::abs(rig.base.speed()) < 0.01);
  }
  is_idle = true;
  rig.seconds(1);
  rig.managed.begin();
  CHECK(rig.managed.manager.reset().result == Supervisor::ResetAnswer::Result::done);
  rig.managed.end();
  rig.seconds(1);
  CHECK(rig.robot_state() == RobotState::ready);
  is_idle = false;
  rig.seconds(4);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
}

TEST_CASE("a stop of the robot before the vehicle is ready holds the vehicle, too") {
  Rig rig(0.1);
  rig.driver->rides_on = true;
  rig.start();
  CHECK(rig.status->state == SupervisorState::starting);
  rig.stop_robot(StopCategory::category_1);
  rig.seconds(4);
  CHECK(rig.status->state == SupervisorState::ready);
  CHECK(rig.base.speed() == 0);
  rig.managed.begin();
  CHECK(rig.managed.manager.reset().result == Supervisor::ResetAnswer::Result::done);
  rig.managed.end();
  rig.seconds(4);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.05));
}

TEST_CASE("a vehicle that is not heard does not hold the robot's stop for ever, and no device fails") {
  Rig rig;
  rig.start();
  rig.seconds(4);
  rig.base.line->is_cut = true;
  rig.managed.cycles(200);
  CHECK(rig.status->state == SupervisorState::stopping);
  rig.stop_robot(StopCategory::category_1);
  rig.managed.cycles(200);
  CHECK(rig.robot_state() == RobotState::stopping);  // it is unknown whether the vehicle stands
  rig.seconds(to_seconds(test::SimulatedBase::longest_stop));
  CHECK(rig.robot_state() == RobotState::stopped);
  CHECK(rig.base.device->state() == component::ComponentState::active);
  // It stood without a controller in between, and its own controller has stopped it.
  rig.base.line->is_cut = false;
  rig.seconds(3);
  CHECK(std::abs(rig.base.speed()) < 0.01);
  rig.managed.begin();
  CHECK(rig.managed.manager.reset().result == Supervisor::ResetAnswer::Result::done);
  rig.managed.end();
  rig.seconds(6);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.1));
}

TEST_CASE("the vehicle is told to stop when the manager ends") {
  Rig rig;
  rig.start();
  rig.seconds(4);
  const int sent = rig.base.line->sent;
  rig.managed.manager.stop(rig.managed.now);
  rig.managed.runs = false;
  CHECK(rig.base.line->sent > sent);
  std::array<std::uint8_t, 1024> datagram{};
  (void)rig.base.vehicle.poll(rig.managed.now + 2s, datagram);
  CHECK(std::abs(rig.base.speed()) < 0.5);
}

TEST_CASE(
    "whatever is commanded, cut and stopped, nothing but a driver that may drive makes the vehicle faster") {
  Rig rig;
  auto random = test::generator();
  rig.start();
  test::RtGuard guard;
  guard.disarm();
  for (int i = 0; i < 300; ++i) {
    switch (test::uniform_int(random, 0, 6)) {
      case 0:
        rig.forward = test::uniform(random, -3, 3);
        break;
      case 1:
        rig.rotation = std::nan("");
        break;
      case 2:
        rig.rotation = test::uniform(random, -1, 1);
        break;
      case 3:
        rig.base.line->is_cut = !rig.base.line->is_cut;
        break;
      case 4:
        rig.reset_driver();
        if (rig.managed.state_of("driver") == ControllerState::inactive) {
          (void)rig.managed.start("driver");
        } else {
          (void)rig.managed.stop("driver");
        }
        break;
      case 5:
        rig.stop_robot(static_cast<StopCategory>(test::uniform_int(random, 0, 2)));
        break;
      default:
        rig.managed.begin();
        (void)rig.managed.manager.reset();
        rig.managed.end();
    }
    const auto cycles = test::uniform_int(random, 1, 600);
    guard.arm();
    for (int k = 0; k < cycles; ++k) {
      const double before = rig.base.speed();
      rig.managed.cycle();
      // An invariant from outside: only an active controller that may drive makes the vehicle faster.
      const bool may = rig.status->state == SupervisorState::driving;
      const bool is_faster = std::abs(rig.base.speed()) > std::abs(before) + 1e-3;
      if (is_faster && !may && !rig.base.line->is_cut) {
        guard.disarm();
        FAIL("faster in the state " << to_string(rig.status->state));
      }
    }
    guard.disarm();
    CHECK(rig.base.device->state() == component::ComponentState::active);
    CHECK(std::abs(rig.base.speed()) < 2.3);  // its limit is 2
  }
  CHECK(guard.report() == "");
  // A robot in peace can be driven.
  rig.base.line->is_cut = false;
  rig.forward = 1;
  rig.rotation = 0;
  rig.reset_driver();
  if (rig.managed.state_of("driver") != ControllerState::inactive) rig.stop();
  rig.seconds(8);
  rig.managed.begin();
  (void)rig.managed.manager.reset();
  rig.managed.end();
  rig.seconds(3);
  rig.start();
  rig.seconds(6);
  CHECK(rig.base.speed() == Approx(1).epsilon(0.1));
}
