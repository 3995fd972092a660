// A motor and its controller as components. The controller runs at 1 kHz. While it holds the motor, it
// migrates to a context of 200 Hz, misses no cycle, and adapts to the new rate. Then its sensor fails: the
// controller enters the state error, and a brake takes over. All of it runs in virtual time, so each run
// prints the same lines.
#include <cmath>
#include <cstdio>
#include <optional>

#include "takt/component/drivers.hpp"
#include "takt/control/pid.hpp"

using namespace std::chrono_literals;
using namespace takt::component;
using takt::Status;

namespace {

/// A motor behind a gear: inertia and viscous friction.
struct Motor final : Component {
  static constexpr ComponentMetadata about{.type = "Motor",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "plant",
                                           .description = "Turns a joint by a torque."};
  Motor() : Component(about, "motor") {}

  // All controllers have computed their torques when any component updates its state.
  Status on_state_update(const CycleTime& cycle) noexcept override {
    constexpr double inertia = 0.1;   // kg m^2
    constexpr double friction = 0.6;  // N m s/rad
    const double seconds = takt::to_seconds(cycle.period);
    velocity += seconds * (torque - friction * velocity) / inertia;
    position += seconds * velocity;
    return {};
  }

  double torque = 0;    // N m
  double position = 0;  // rad
  double velocity = 0;  // rad/s
  bool sensor_works = true;
};

/// Holds the motor at a position.
struct Controller final : Component {
  static constexpr ComponentMetadata about{.type = "Controller",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "control",
                                           .description = "Turns a motor to a position."};
  explicit Controller(Motor& motor) : Component(about, "controller"), motor_(&motor) {}

  takt::SetupResult<void> on_initialize() override {
    takt::control::PidGains gains;
    gains.proportional = 14;
    gains.derivative = 0.8;
    gains.derivative_filter = 0.005;
    auto pid = takt::control::Pid::make(gains);
    if (!pid) return takt::fail(pid.error(), "the gains are wrong");
    pid_.emplace(*pid);
    return {};
  }
  Status on_execute(const CycleTime& cycle) noexcept override {
    ++executions;
    const double measured = motor_->sensor_works ? motor_->position : NAN;
    const auto step = pid_->step(setpoint, measured, takt::to_seconds(cycle.period));
    if (step.error != takt::control::Errc{}) return takt::fail(step.error);
    motor_->torque = step.value;
    return {};
  }

  double setpoint = 1;  // rad
  int executions = 0;

 private:
  Motor* motor_;
  std::optional<takt::control::Pid> pid_;
};

/// Takes the torque away.
struct Brake final : Component {
  static constexpr ComponentMetadata about{.type = "Brake",
                                           .version = "1.0.0",
                                           .vendor = "takt",
                                           .category = "safety",
                                           .description = "Brakes a motor."};
  explicit Brake(Motor& motor) : Component(about, "brake"), motor_(&motor) {}

  Status on_execute(const CycleTime& /*cycle*/) noexcept override {
    motor_->torque = -5 * motor_->velocity;
    return {};
  }

 private:
  Motor* motor_;
};

/// What the two contexts and the motor do at this time.
void print(const VirtualTime& time, const Motor& motor, const Controller& controller) {
  std::printf("%5.2f s: motor at %6.3f rad, controller %s in %s after %d cycles\n",
              takt::to_seconds(time.now().time_since_epoch()), motor.position,
              to_string(controller.state()).data(), controller.context()->name().c_str(),
              controller.executions);
}

/// Runs the robot. Returns false if a request was refused.
bool run() {
  Motor motor;
  Controller controller(motor);
  Brake brake(motor);
  ExecutionContext fast({.name = "fast"}), slow({.name = "slow"});
  if (!fast.add(controller) || !fast.add(motor) || !slow.add(brake)) return false;
  VirtualTime time;
  if (!time.add(slow, 5ms) || !time.add(fast, 1ms)) return false;

  Switch start;
  start.activate = {&motor, &controller};  // both in one cycle, or none
  if (!fast.apply(start).status) return false;
  time.run_until(takt::Time(2s));
  print(time, motor, controller);  // 2000 cycles

  Switch move;
  move.migrate = {{&controller, &slow, {}}};
  if (!fast.apply(move).status) return false;
  controller.setpoint = 0.8;
  time.run_until(takt::Time(4s));
  print(time, motor, controller);  // 400 cycles more

  motor.sensor_works = false;
  while (controller.state() != ComponentState::error) time.run_until(time.now() + 5ms);
  if (!slow.activate(brake)) return false;
  time.run_until(takt::Time(5s));
  print(time, motor, controller);
  return motor.velocity < 1e-3;
}

}  // namespace

int main() {
  if (run()) return 0;
  std::fputs("a request was refused\n", stderr);
  return 1;
}
