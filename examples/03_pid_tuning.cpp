// Four PIDs turn the same joint to the same set-points against the same disturbance. A lower set-point weight
// reduces the overshoot. Anti-windup shortens the recovery of a saturated output. Then a hand holds the joint
// for a second and lets go: a PD jumps, a limited proxy starts at its own pace.
//
// Prints time (s), set-point, position (rad) and torque (N m), one block per controller; 03_pid_tuning.gp
// draws the first four. Prints the performance of each to the standard error.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "takt/control/limited_proxy.hpp"
#include "takt/control/pid.hpp"

using namespace takt::control;
using takt::MotionState;

namespace {

/// A motor behind a gear: inertia and viscous friction.
struct Plant {
  double position = 0;
  double velocity = 0;

  void push(double torque, double seconds) {
    constexpr double inertia = 0.1;   // kg m^2
    constexpr double friction = 0.6;  // N m s/rad
    velocity += seconds * (torque - friction * velocity) / inertia;
    position += seconds * velocity;
  }
};

double setpoint(double t) { return t < 2.5 ? 1 : 0.2; }

template <PidForm form>
int run(const char* name, const PidGains& gains) {
  auto pid = BasicPid<double, form>::make(gains);
  if (!pid) return 1;
  Plant plant;
  double overshoot = 0;
  double settled = 0;  // last time when the position was more than 2 % from the first set-point
  constexpr double period = 0.001;
  for (int k = 0; k < 5000; ++k) {
    const double t = k * period;
    const Step torque = pid->step(setpoint(t), plant.position, period);
    const double disturbance = t > 4 ? -1.5 : 0;  // N m
    plant.push(torque.value + disturbance, period);
    if (t < 2.5) overshoot = std::max(overshoot, plant.position - 1);
    if (t < 2.5 && std::abs(plant.position - 1) > 0.02) settled = t;
    if (k % 10 == 0) std::printf("%.2f %.4f %.5f %.4f\n", t, setpoint(t), plant.position, torque.value);
  }
  std::printf("\n\n");
  std::fprintf(stderr, "%-28s overshoot %4.1f %%, within 2 %% after %.2f s\n", name, 100 * overshoot,
               settled);
  return 0;
}

/// A hand holds the joint from 0.1 s to 1 s, while it should go to 1 rad. `torque_of`: of the joint's state.
template <class TorqueOf>
int release(const char* name, double most, const TorqueOf& torque_of) {
  Plant plant;
  double fastest = 0;
  constexpr double period = 0.001;
  for (int k = 0; k < 4000; ++k) {
    const double t = k * period;
    const Step torque = torque_of(MotionState{plant.position, plant.velocity, 0}, period);
    if (t > 0.1 && t < 1) {
      plant.velocity = 0;
    } else {
      plant.push(torque.value, period);
    }
    if (t > 1) fastest = std::max(fastest, plant.velocity);
    if (k % 10 == 0) std::printf("%.2f %.4f %.5f %.4f\n", t, 1.0, plant.position, torque.value);
  }
  std::printf("\n\n");
  std::fprintf(stderr, "%-28s released, it moves at %4.2f rad/s\n", name, fastest);
  return fastest < most && std::abs(plant.position - 1) < 0.01 ? 0 : 1;
}

int release_pd(const PidGains& gains) {
  auto pid = BasicPid<double, PidForm{}>::make(gains);
  if (!pid) return 1;
  return release("PD, held for a second", 10, [&](const MotionState& joint, double period) {
    return pid->step(1, joint.position, period);
  });
}

int release_proxy(const PidGains& gains) {
  LimitedProxy::Configuration configuration;
  configuration.limits.velocity = 0.5;    // rad/s
  configuration.limits.acceleration = 4;  // rad/s^2
  configuration.limits.effort = gains.output_max;
  configuration.bandwidth = 20;
  configuration.mass = 0.1;
  configuration.stiffness = 60;
  configuration.damping = 4;
  auto proxy = LimitedProxy::make(configuration);
  if (!proxy) return 1;
  return release("limited proxy, held", 0.75, [&](const MotionState& joint, double period) {
    return proxy->step({1, 0, 0}, joint, period);
  });
}

}  // namespace

int main() {
  PidGains gains;
  gains.proportional = 14;
  gains.derivative = 0.8;
  gains.derivative_filter = 0.005;
  gains.output_min = -3;
  gains.output_max = 3;
  const PidGains pd = gains;
  int failed = run<PidForm{}>("PD", gains);
  gains.integral = 40;
  failed += run<PidForm{.anti_windup = AntiWindup::none}>("PID without anti-windup", gains);
  failed += run<PidForm{}>("PID", gains);
  gains.setpoint_weight = 0.4;
  failed += run<PidForm{}>("PID, set-point weight 0.4", gains);
  failed += release_pd(pd) + release_proxy(pd);
  return failed == 0 ? 0 : 1;
}
