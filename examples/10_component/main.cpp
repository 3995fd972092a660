// A motor and its controller as components. The controller runs at 1 kHz. While it holds the motor, it
// migrates to a context of 200 Hz, misses no cycle, and adapts to the new rate. Then its sensor fails: the
// controller enters the state error, and a brake takes over. All of it runs in virtual time, so each run
// prints the same lines. `takt launch system.json` runs the same components on the clock, in two processes.
#include <cmath>
#include <cstdio>

#include "motor.hpp"

#include "takt/component/connection.hpp"
#include "takt/component/drivers.hpp"

using namespace std::chrono_literals;
using namespace takt::component;
using namespace motor_example;

namespace {

/// What the two contexts and the motor do at this time.
void print(const VirtualTime& time, const Controller& controller) {
  std::printf("%5.2f s: motor at %6.3f rad, controller %s in %s after %d cycles\n",
              takt::to_seconds(time.now().time_since_epoch()), controller.joint.value().position,
              to_string(controller.state()).data(), controller.context()->name().c_str(),
              controller.executions);
}

/// Runs the robot. Returns false if a request was refused.
bool run() {
  Motor motor("motor");
  Controller controller("controller");
  Brake brake("brake");
  // The brake's torque has precedence over the controller's.
  const auto state = connect(motor.joint, controller.joint);
  const auto speed = connect(motor.joint, brake.joint);
  const auto torque = connect(controller.torque, motor.torque, {.order = 2});
  const auto braking = connect(brake.torque, motor.torque, {.order = 1});
  if (!state || !speed || !torque || !braking) return false;

  ExecutionContext fast({.name = "fast"}), slow({.name = "slow"});
  if (!fast.add(controller) || !fast.add(motor) || !slow.add(brake)) return false;
  VirtualTime time;
  if (!time.add(slow, 5ms) || !time.add(fast, 1ms)) return false;

  Switch start;
  start.activate = {&motor, &controller};  // both in one cycle, or none
  if (!fast.apply(start).status) return false;
  time.run_until(takt::Time(2s));
  print(time, controller);  // 2000 cycles

  Switch move;
  move.migrate = {{&controller, &slow, {}}};
  if (!fast.apply(move).status) return false;
  if (!controller.parameters().set("target", 0.8, "main")) return false;
  time.run_until(takt::Time(4s));
  print(time, controller);  // 400 cycles more

  if (!motor.parameters().set("sensor_works", false, "main")) return false;
  while (controller.state() != ComponentState::error) time.run_until(time.now() + 5ms);
  if (!slow.activate(brake)) return false;
  time.run_until(takt::Time(5s));
  print(time, controller);
  return std::abs(brake.joint.value().velocity) < 1e-3;
}

}  // namespace

int main() {
  if (run()) return 0;
  std::fputs("a request was refused\n", stderr);
  return 1;
}
