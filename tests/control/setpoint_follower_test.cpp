#include "takt/control/setpoint_follower.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/random.hpp"

using namespace takt;
using control::SetpointFollower;
using control::Target;

namespace {

JointLimits limits() {
  JointLimits joint;
  joint.position_min = -2;
  joint.position_max = 3;
  joint.velocity = 2;
  joint.acceleration = 10;
  return joint;
}

}  // namespace

TEST_CASE("a stream within the limits is followed exactly") {
  const double period = 0.005;
  SetpointFollower follower;
  double time = 0;
  for (int i = 0; i < 2000; ++i) {
    time += period;
    // Starts at rest: 1 - cos has zero velocity at zero, and peaks at 1 rad/s and 1 rad/s^2.
    const double before = 1 - std::cos(time - period);
    const double now = 1 - std::cos(time);
    const MotionState state = follower.step({now, (now - before) / period}, limits(), period);
    CHECK(state.position == doctest::Approx(now).epsilon(1e-12));
  }
}

TEST_CASE("a step is reached without overshoot, in about the time that the limits allow") {
  for (const double period : {0.001, 0.005}) {
    SetpointFollower follower;
    const double step = 1.5;
    double time = 0;
    while (std::abs(follower.state().position - step) > 1e-9 && time < 5) {
      time += period;
      const MotionState state = follower.step({step, 0}, limits(), period);
      CHECK(state.position <= step + 1e-12);
    }
    // Trapezoid over 1.5 rad: 0.2 s up to 2 rad/s, cruise, 0.2 s down; 0.95 s in total.
    CHECK(time == doctest::Approx(0.95).epsilon(0.03));
    follower.step({step, 0}, limits(), period);
    CHECK(std::abs(follower.state().velocity) < 1e-6);
  }
}

TEST_CASE("no stream, however absurd, breaks a limit") {
  auto random = test::generator();
  const JointLimits bounds = limits();
  for (std::size_t run = 0; run < test::count(300); ++run) {
    const double period = test::uniform(random, 0.0005, 0.01);
    SetpointFollower follower(MotionState{test::uniform(random, -1, 1), 0, 0});
    Target target;
    for (int i = 0; i < 1000; ++i) {
      const double before = follower.state().velocity;
      switch (test::uniform_int(random, 0, 30)) {
        case 0:
          target = {test::uniform(random, -5, 5), 0};
          break;
        case 1:
          target = {test::uniform(random, -5, 5), test::uniform(random, -9, 9)};
          break;
        case 2:
          target.position = std::numeric_limits<double>::quiet_NaN();
          break;
        case 3:
          target = {1e300, -1e300};
          break;
        case 4:
          target.velocity = std::numeric_limits<double>::infinity();
          break;
        default:
          break;
      }
      const MotionState state = follower.step(target, bounds, period);
      REQUIRE(std::isfinite(state.position));
      CHECK(std::abs(state.velocity) <= bounds.velocity * (1 + 1e-12));
      CHECK(std::abs(state.velocity - before) <= bounds.acceleration * period * (1 + 1e-9));
      CHECK(state.position <= bounds.position_max + 1e-9);
      CHECK(state.position >= bounds.position_min - 1e-9);
    }
  }
}

TEST_CASE("a joint outside its range only moves inward") {
  SetpointFollower follower(MotionState{3.5, 0, 0});
  double before = 3.5;
  for (int i = 0; i < 4000; ++i) {
    const MotionState state = follower.step({10, 0}, limits(), 0.001);
    CHECK(state.position <= before + 1e-12);
    before = state.position;
  }
  CHECK(before == doctest::Approx(3.0));
}

TEST_CASE("bad limits change nothing, and the follower continues afterwards") {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  SetpointFollower follower;
  follower.step({1, 0}, limits(), 0.001);
  SetpointFollower twin = follower;
  const auto stays = [&](double JointLimits::*member, double value) {
    JointLimits bad = limits();
    bad.*member = value;
    CHECK(follower.step({1, 0}, bad, 0.001) == twin.state());
  };
  for (const double value : {0.0, -1.0, nothing}) stays(&JointLimits::acceleration, value);
  for (const double value : {-1.0, nothing}) stays(&JointLimits::velocity, value);
  for (const double value : {4.0, nothing}) stays(&JointLimits::position_min, value);
  for (const double value : {-3.0, nothing}) stays(&JointLimits::position_max, value);
  CHECK(follower.step({1, 0}, limits(), 0.001) == twin.step({1, 0}, limits(), 0.001));
  // No limit keeps this motion finite. No period is so short that the braking distance becomes NaN.
  SetpointFollower free;
  CHECK(free.step({1, 1e308}, {}, 10) == MotionState{});
  CHECK(control::braking_speed(1.0, 5.0, 1e-200) == 0);
  CHECK(control::braking_speed(1.0, 0.0, 0.001) == 0);
  CHECK(control::braking_speed(1.0, 1e-305, 0.01) == 0);
}

TEST_CASE("it works in single precision") {
  control::BasicSetpointFollower<float> follower;
  BasicJointLimits<float> bounds;
  bounds.velocity = 1;
  bounds.acceleration = 5;
  for (int i = 0; i < 3000; ++i) follower.step({1.0f, 0.0f}, bounds, 0.001f);
  CHECK(follower.state().position == doctest::Approx(1.0f));
}
