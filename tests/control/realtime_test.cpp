// Runs the functions of this room that a control loop calls, under the real-time guard.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/control/biquad.hpp"
#include "takt/control/generators.hpp"
#include "takt/control/joint_limiter.hpp"
#include "takt/control/limited_proxy.hpp"
#include "takt/control/low_pass.hpp"
#include "takt/control/pid.hpp"
#include "takt/control/pid_bank.hpp"
#include "takt/control/rate_limiter.hpp"
#include "takt/control/setpoint_follower.hpp"
#include "takt/control/transmission.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

JointLimits limits() {
  JointLimits l;
  l.position_min = -1;
  l.position_max = 1;
  l.velocity = 2;
  l.acceleration = 10;
  l.jerk = 100;
  l.effort = 5;
  return l;
}

/// Steps, and the other calls that a loop may make between them.
template <PidForm form>
bool run(BasicPid<double, form> pid, const PidGains& gains) {
  bool ok = true;
  for (int k = 0; k < 100; ++k) {
    ok = ok && pid.step(1, 0.01 * k, 0.001, 0.1).ok();
    ok = ok && !pid.step(not_a_number, 0, 0.001).ok() && !pid.step(0, 0, 0).ok();
    ok = ok && pid.follow(0.1, 1, 0.01 * k, 0.001).ok();
    ok = ok && pid.change(gains, 1, 0.01 * k);
  }
  pid.reset();
  return ok && pid.output() == 0;
}

}  // namespace

TEST_CASE("PIDs of every form, and their making, keep the rules of the loop") {
  const PidGains gains{
      .proportional = 1, .integral = 2, .derivative = 0.1, .output_min = -1, .output_max = 1};
  test::RtGuard guard;
  bool ok = run(*Pid::make(gains), gains);
  ok = ok && run(*BasicPid<double, conventions::ros1>::make(gains), gains);
  ok = ok && run(*BasicPid<double, conventions::ros1_anti_windup>::make(gains), gains);
  ok = ok && run(*BasicPid<double, conventions::ros2>::make(gains), gains);
  ok = ok && run(*BasicPid<double, conventions::ros2_conditional>::make(gains), gains);
  ok = ok && run(*BasicPid<double, conventions::ros2_back_calculation>::make(gains), gains);
  ok = ok && run(*BasicPid<double, conventions::dataspeed>::make(gains), gains);
  CHECK(guard.report() == "");
  CHECK(ok);
}

TEST_CASE("a bank of PIDs keeps the rules of the loop") {
  constexpr std::size_t size = 21;
  const PidGains gains{.proportional = 1, .integral = 2, .derivative = 0.1};
  auto bank = PidBank::make(std::vector<PidGains>(size, gains)).value();
  std::vector<double> setpoints(size, 1), measured(size, 0), outputs(size);
  test::RtGuard guard;
  bool ok = true;
  for (int k = 0; k < 100; ++k) {
    measured[3] = k % 10 == 0 ? not_a_number : 0.1;
    ok = ok && bank.step(setpoints, measured, 0.001, outputs);
    ok = ok && bank.set(5, gains) && !bank.step(setpoints, measured, 0, outputs);
  }
  bank.reset(IntegralReset::keep);
  CHECK(guard.report() == "");
  CHECK(ok);
}

TEST_CASE("filters and test signals keep the rules of the loop") {
  test::RtGuard guard;
  auto low_pass = *LowPass::from_cutoff(10.0, 0.001);
  auto notch = *Biquad::notch({.frequency = 35, .quality = 4, .period = 0.001});
  auto chain = *butterworth<3>(50.0, 0.001);
  const auto sweep = *SineSweep::make(1, 1, 10, 1);
  const auto sinusoid = *Sinusoid::make({0, 1, 2, 0});
  const auto ramp = *Ramp::make(0, 1, 0.5);
  const auto step = *StepSignal::make(0, 1);
  auto dither = *Dither::make(0.1);
  bool ok = true;
  for (int k = 0; k < 1000; ++k) {
    const double t = 0.001 * k;
    const double x = sweep.at(t).position + sinusoid.at(t).position + ramp.at(t).position +
                     step.at(t).position + dither.next();
    ok = ok && low_pass.step(x).ok() && notch.step(x).ok() && chain.step(x).ok();
    ok = ok && !low_pass.step(not_a_number).ok() && !notch.step(not_a_number).ok() &&
         !chain.step(not_a_number).ok();
    if (k == 500) low_pass.reset(), notch.reset(), chain.reset();
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}

TEST_CASE("limiters, proxies and followers keep the rules of the loop") {
  test::RtGuard guard;
  auto rate = *RateLimiter::make({-2, 2, 1, 2, 1, 2, 10});
  auto joint = *JointLimiter::make(limits());
  LimitedProxy::Configuration c;
  c.limits = limits();
  c.bandwidth = 30;
  c.stiffness = 200;
  auto proxy = *LimitedProxy::make(c);
  SetpointFollower follower;
  bool ok = true;
  for (int k = 0; k < 1000; ++k) {
    const double command = k % 100 == 99 ? not_a_number : k % 200 < 100 ? 3 : -3;
    const MotionState measured{0.001 * k - 0.5, 1, 0};
    const bool good = k % 100 != 99;
    ok = ok && rate.step(command, 0.001).ok() == good;
    ok = ok && joint.toward_position(command, 0.001).ok() == good;
    ok = ok && joint.toward_velocity(command, 0.001).ok() == good;
    ok = ok && joint.follow({command, 1, 0}, 0.001).ok() == good;
    ok = ok && joint.effort(command, measured).ok() == good;
    ok = ok && proxy.step({command, 0, 0}, measured, 0.001).ok() == good;
    ok = ok && follower.step({command, 0}, limits(), 0.001).acceleration <= 10.001;
    if (k == 500) {
      rate.reset(1);
      proxy.reset();
      ok = ok && joint.reset({0.5, 1, 0});
    }
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}

TEST_CASE("transmissions, and their making, keep the rules of the loop") {
  test::RtGuard guard;
  const auto gear = simple_transmission(50.0);
  const auto wrist = differential_transmission<double>({10, 10}, {2, 2});
  const auto linkage = four_bar_transmission<double>({10, 10}, {2, 2});
  const auto wide = Transmission<2, 3>::make({1, 0.2, 0.5, -0.1, 1, 0.6});
  bool ok = gear && wrist && linkage && wide && !simple_transmission(0.0);
  const auto both_ways = [&](const auto& transmission, const auto& actuators, const auto& joints) {
    double sum = transmission.joint_positions(actuators)[0] + transmission.joint_velocities(actuators)[0] +
                 transmission.joint_efforts(actuators)[0];
    sum += transmission.actuator_positions(joints)[0] + transmission.actuator_velocities(joints)[0] +
           transmission.actuator_efforts(joints)[0];
    ok = ok && std::isfinite(sum);
  };
  both_ways(*gear, std::array{1.0}, std::array{1.0});
  both_ways(*wrist, std::array{1.0, 2.0}, std::array{1.0, 2.0});
  both_ways(*linkage, std::array{1.0, 2.0}, std::array{1.0, 2.0});
  both_ways(*wide, std::array{1.0, 2.0, 3.0}, std::array{1.0, 2.0});
  CHECK(guard.report() == "");
  CHECK(ok);
}
