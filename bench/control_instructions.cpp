// The cost of control steps and odometry in instructions.
#include <array>
#include <vector>

#include "instructions.hpp"
#include "takt/control/biquad.hpp"
#include "takt/control/joint_limiter.hpp"
#include "takt/control/pid.hpp"
#include "takt/control/pid_bank.hpp"
#include "takt/control/rate_limiter.hpp"
#include "takt/control/transmission.hpp"
#include "takt/mobile/odometry.hpp"

namespace takt::bench {
namespace {

using namespace takt::control;

PidGains gains() {
  PidGains g;
  g.proportional = 10;
  g.integral = 3;
  g.derivative = 0.5;
  g.output_min = -20;
  g.output_max = 20;
  return g;
}

const Kernel pid("control/pid_step", [](Counter& count) {
  auto one = *Pid::make(gains());
  count([&] { keep(one.step(1, 0.5, 1e-3)); });
});

const Kernel bank("control/pid_bank_20", [](Counter& count) {
  auto many = *PidBank::make(std::vector<PidGains>(20, gains()));
  std::vector<double> r(20, 1), y(20, 0.5), u(20);
  count([&] { keep(many.step(r, y, 1e-3, u)); });
});

const Kernel notch("control/biquad_step", [](Counter& count) {
  auto filter = *Biquad::notch({.frequency = 35, .quality = 4, .period = 1e-3});
  count([&] { keep(filter.step(0.5)); });
});

const Kernel rate("control/rate_limiter_step", [](Counter& count) {
  auto limiter = *RateLimiter::make({-2, 2, 1, 2, 1, 2, 10});
  int k = 0;
  count([&] { keep(limiter.step(++k % 200 < 100 ? 2 : -2, 1e-3)); });
});

const Kernel joint("control/joint_limiter_step", [](Counter& count) {
  JointLimits limits;
  limits.position_min = -2;
  limits.position_max = 2;
  limits.velocity = 2;
  limits.acceleration = 10;
  limits.jerk = 200;
  auto limiter = *JointLimiter::make(limits);
  int k = 0;
  count([&] { keep(limiter.toward_position(++k % 200 < 100 ? 1.5 : -1.5, 1e-3)); });
});

/// Both directions, as a loop does in each period.
const Kernel transmission("control/differential_transmission", [](Counter& count) {
  const auto wrist = *differential_transmission<double>({50, 50}, {1, 1});
  std::array<double, 2> actuators{0.1, 0.2};
  count([&] {
    actuators = wrist.actuator_positions(wrist.joint_positions(actuators));
    keep(actuators);
  });
});

const Kernel odometry("mobile/odometry_move", [](Counter& count) {
  auto vehicle = *mobile::Odometry::make({.noise = {1e-4, 1e-4, 1e-4, 1e-4}});
  count([&] { keep(vehicle.move({0.01, 0, 0.003})); });
});

}  // namespace
}  // namespace takt::bench
