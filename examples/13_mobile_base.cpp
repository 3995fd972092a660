// A mobile base with two driven wheels, from the ready-made controllers, in virtual time. A sender commands
// twists at 20 Hz: a straight line, an arc, a turn on the spot. After 8 s it falls silent, and the base
// brakes.
//
// Prints time (s), pose (m, m, rad) by odometry, speed (m/s) and rotation (rad/s) by odometry, and both as
// commanded; 13_mobile_base.gp draws them. Exit code: 0 if the base stands where it should.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "takt/app/devices.hpp"
#include "takt/component/connection.hpp"
#include "takt/controllers/differential_drive.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/manager.hpp"

using namespace takt;

namespace {

constexpr const char* description = R"({
  "name": "base", "rate": 500,
  "buses": [{"name": "wheels", "protocol": "odrive", "bit_rate": 1000000}],
  "joints": [
    {"name": "left", "kind": "continuous", "bus": "wheels", "board": 1,
     "limits": {"velocity": 20, "acceleration": 80, "jerk": 4000},
     "drive": {"gear": 8, "current_limit": 30, "watchdog": 0.2}, "plant": {"inertia": 0.02, "torque_limit": 20}},
    {"name": "right", "kind": "continuous", "bus": "wheels", "board": 2,
     "limits": {"velocity": 20, "acceleration": 80, "jerk": 4000},
     "drive": {"gear": 8, "current_limit": 30, "watchdog": 0.2}, "plant": {"inertia": 0.02, "torque_limit": 20}}
  ]
})";

/// The sender of commands, such as a planner or a joystick. Only its ports matter here.
struct Sender final : component::Component {
  static constexpr component::ComponentMetadata about{.type = "Sender",
                                                      .version = "1.0.0",
                                                      .vendor = "you",
                                                      .category = "example",
                                                      .description = "Sends twists."};
  Sender() : Component(about, "sender") {}
  component::OutPort<mobile::Twist> twist{*this, "twist"};
  component::InPort<controllers::OdometrySample> odometry{*this, "odometry"};
};

/// The command at this time (s).
mobile::Twist wanted(double t) {
  if (t < 3) return {0.8, 0, 0};
  if (t < 6) return {0.8, 0, 0.8};
  return {0, 0, 1.5};
}

}  // namespace

int main() {
  const auto robot = drives::load_robot(description);
  if (!robot) return std::puts(to_string(robot.error().front()).c_str()), 1;
  auto hardware = app::Devices::create(*robot, {.simulate = true});  // a real robot: without .simulate
  if (!hardware) return std::puts(hardware.error().message.c_str()), 1;

  auto base = std::make_shared<controllers::DifferentialDriveController>("base");
  const std::vector<component::Assignment> settings = {{"left", std::string("left")},
                                                       {"right", std::string("right")},
                                                       {"track", 0.4},
                                                       {"wheel_radius", 0.08},
                                                       {"odometry_source", std::string("velocity")}};
  robot::DriveDevice drives("drives", **hardware);
  robot::Manager manager(*robot);
  SetupResult<void> made = base->parameters().set(settings, "example");
  if (made) made = manager.add(drives);
  if (made) made = manager.load(base);
  if (made) made = manager.switch_controllers({.start = {"base"}});
  if (!made) return std::puts(made.error().message.c_str()), 1;
  Sender sender;
  const auto commands = component::connect(sender.twist, base->command);
  const auto answers = component::connect(base->odometry, sender.odometry);
  if (!commands || !answers) return std::puts("the ports do not connect"), 1;

  if (!manager.start(Time{})) return 1;
  Time now{};
  mobile::Twist command;
  controllers::OdometrySample seen;
  for (int i = 0; i < 5000; ++i) {
    now += robot->period;
    const double t = to_seconds(now - Time{});
    if (i % 25 == 0 && t < 8) {
      command = wanted(t);
      sender.twist.write(command, now);
    }
    manager.begin(now, robot->period, 0);
    manager.control();
    manager.write();
    manager.publish();
    if (sender.odometry.read() == shm::Freshness::new_data) seen = sender.odometry.value();
    std::printf("%.3f %.4f %.4f %.4f %.4f %.4f %.3f %.3f\n", t, seen.pose.x, seen.pose.y, seen.pose.heading,
                seen.twist.forward, seen.twist.rotation, t < 8 ? command.forward : 0,
                t < 8 ? command.rotation : 0);
  }
  manager.stop(now);
  const bool stands = std::abs(seen.twist.forward) < 1e-3 && std::abs(seen.twist.rotation) < 1e-3;
  const double distance = std::hypot(seen.pose.x, seen.pose.y);
  std::fprintf(stderr, "the base %s, %.2f m from its start\n", stands ? "stands" : "moves", distance);
  return stands && distance > 2 && distance < 6 ? 0 : 1;
}
