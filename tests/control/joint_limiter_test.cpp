#include "takt/control/joint_limiter.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/random.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

JointLimits any_limits(std::mt19937_64& random) {
  JointLimits limits;
  limits.position_min = -test::uniform(random, 0, 2);
  limits.position_max = test::uniform(random, 0, 2);
  limits.velocity = test::uniform(random, 0.5, 4);
  limits.acceleration = test::uniform(random, 2, 20);
  limits.jerk = limits.acceleration * test::uniform(random, 5, 100);
  limits.effort = 10;
  return limits;
}

/// A joint with these limits can move from one reference to the next.
void check_step(const JointLimits& limits, const MotionState& before, const MotionState& after,
                double period) {
  const double jerk = (after.acceleration - before.acceleration) / period;
  CHECK(std::abs(after.velocity) <= limits.velocity * (1 + 1e-6));
  CHECK(std::abs(after.acceleration) <= limits.acceleration * (1 + 1e-6));
  CHECK(std::abs(jerk) <= limits.jerk * (1 + 1e-6));
  // The references are consistent: position and velocity are integrals of their derivatives.
  CHECK(std::abs(after.velocity - before.velocity) <= limits.acceleration * period * (1 + 1e-6));
  CHECK(std::abs(after.position - before.position) <= limits.velocity * period * (1 + 1e-6));
  const double by_mean = before.velocity + (before.acceleration + after.acceleration) / 2 * period;
  CHECK(std::abs(after.velocity - by_mean) <= limits.jerk * period * period / 2);
}

}  // namespace

TEST_CASE("no command makes the joint exceed a limit or leave its range") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(400); ++i) {
    const JointLimits limits = any_limits(random);
    auto limiter = JointLimiter::make(limits).value();
    const double period = test::uniform(random, 0.0005, 0.02);
    double command = 0;
    MotionState motion;
    enum { position, velocity, moving } by = position;
    const auto kind = test::uniform_int(random, 0, 2);  // steps, bang-bang, noise
    for (int k = 0; k < 300; ++k) {
      if (kind == 2 || test::uniform_int(random, 0, 19) == 0) {
        by = static_cast<decltype(by)>(test::uniform_int(random, 0, 2));
        command =
            kind == 1 ? (test::uniform_int(random, 0, 1) == 0 ? 1e9 : -1e9) : test::uniform(random, -5, 5);
        if (test::uniform_int(random, 0, 19) == 0) command = not_a_number;
        if (test::uniform_int(random, 0, 19) == 0) command = -infinity;
      }
      const MotionState before = limiter.state();
      motion = {command + motion.velocity * period * k, test::uniform(random, -5, 5) * (k % 50 < 25), 0};
      const ReferenceStep step = by == velocity ? limiter.toward_velocity(command, period)
                                 : by == moving ? limiter.follow(motion, period)
                                                : limiter.toward_position(command, period);
      CHECK(step.ok() == std::isfinite(command));
      CHECK(step.value == limiter.state());
      CHECK(step.value.position >= limits.position_min - 1e-9);
      CHECK(step.value.position <= limits.position_max + 1e-9);
      check_step(limits, before, step.value, period);
    }
  }
}

TEST_CASE("a position is reached in the shortest time, and a velocity exactly") {
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(200); ++i) {
    const JointLimits limits = any_limits(random);
    auto limiter = JointLimiter::make(limits).value();
    const double target = test::uniform(random, limits.position_min, limits.position_max);
    const auto transfer =
        trajectory::Transfer::between(limiter.state(), {target, 0, 0}, trajectory::both_ways(limits)).value();
    const double period = 0.001;
    int steps = 0;
    while (std::abs(limiter.state().position - target) > 1e-9 && steps < 20000) {
      static_cast<void>(limiter.toward_position(target, period));
      ++steps;
    }
    CHECK(steps * period <= transfer.shortest() + 2 * period);
    for (int k = 0; k < 100; ++k) static_cast<void>(limiter.toward_position(target, period));
    CHECK(limiter.state().position == doctest::Approx(target).epsilon(1e-9));
    CHECK(limiter.state().velocity == doctest::Approx(0).scale(1));
  }
  JointLimits endless;
  endless.velocity = 2;
  endless.acceleration = 10;
  endless.jerk = 100;
  auto wheel = JointLimiter::make(endless).value();
  for (int k = 0; k < 2000; ++k) static_cast<void>(wheel.toward_velocity(-1.5, 0.001));
  CHECK(wheel.state().velocity == doctest::Approx(-1.5));
  for (int k = 0; k < 2000; ++k) static_cast<void>(wheel.toward_velocity(0.7, 0.001));
  CHECK(wheel.state().velocity == doctest::Approx(0.7));
  for (int k = 0; k < 2000; ++k) static_cast<void>(wheel.toward_velocity(0, 0.001));
  CHECK(wheel.state().velocity == 0);
}

TEST_CASE("a stream of motions that keeps the limits is followed exactly") {
  auto random = test::generator(3);
  for (std::size_t i = 0; i < test::count(100); ++i) {
    const JointLimits limits = any_limits(random);
    JointLimits gentle = limits;  // by more than rounding
    for (double* limit : {&gentle.velocity, &gentle.acceleration, &gentle.jerk}) *limit *= 0.999;
    const double target = 0.999 * test::uniform(random, limits.position_min, limits.position_max);
    const double period = test::uniform(random, 0.0005, 0.01);
    const auto transfer =
        trajectory::Transfer::between({}, {target, 0, 0}, trajectory::both_ways(gentle)).value();
    const auto stream = transfer.profile(transfer.shortest());
    auto limiter = JointLimiter::make(limits).value();
    for (int k = 1; k * period < transfer.shortest() + 0.1; ++k) {
      const MotionState wanted = stream.at(k * period);
      CHECK(limiter.follow(wanted, period).value == wanted);
    }
  }
}

TEST_CASE("a joint catches up with a command that moves already, and then follows it exactly") {
  JointLimits limits;
  limits.velocity = 2;
  limits.acceleration = 10;
  limits.jerk = 200;
  auto limiter = JointLimiter::make(limits).value();
  constexpr double period = 0.001;
  const auto at = [](int k) { return MotionState{0.3 + 1.5 * k * period, 1.5, 0}; };
  int caught = 0;
  for (int k = 1; k < 5000; ++k) {
    const MotionState before = limiter.state();
    static_cast<void>(limiter.follow(at(k), period));
    check_step(limits, before, limiter.state(), period);
    if (caught == 0 && std::abs(limiter.state().position - at(k).position) < 1e-9) caught = k;
    if (caught != 0) CHECK(limiter.state().position == doctest::Approx(at(k).position).epsilon(1e-9));
  }
  // In the frame of the command: the shortest motion from where it started.
  auto moving = trajectory::both_ways(limits);
  moving.velocity_max -= 1.5;
  moving.velocity_min -= 1.5;
  const auto shortest = trajectory::Transfer::between({0, -1.5, 0}, {0.3, 0, 0}, moving).value().shortest();
  CHECK(caught * period <= shortest + 2 * period);
}

TEST_CASE("a joint outside its range stays where it is, or moves inward") {
  JointLimits limits;
  limits.position_min = -1;
  limits.position_max = 1;
  limits.velocity = 2;
  limits.acceleration = 10;
  limits.jerk = 100;
  for (const double side : {1.0, -1.0}) {
    for (const double command : {3.0, 1.5, not_a_number}) {
      auto limiter = JointLimiter::make(limits).value();
      REQUIRE(limiter.reset({1.3 * side, 0, 0}).has_value());
      for (int k = 0; k < 1000; ++k) static_cast<void>(limiter.toward_position(command * side, 0.001));
      CHECK(limiter.state().position == doctest::Approx(1.3 * side).epsilon(1e-9));
      for (int k = 0; k < 1000; ++k) static_cast<void>(limiter.toward_velocity(command * side, 0.001));
      CHECK(limiter.state().position == doctest::Approx(1.3 * side).epsilon(1e-9));
    }
    auto limiter = JointLimiter::make(limits).value();
    REQUIRE(limiter.reset({1.3 * side, 0, 0}).has_value());
    double last = 1.3;
    for (int k = 0; k < 3000; ++k) {
      // Turned back on its way in, it rests further inside than where it turned.
      const double command = k % 700 < 500 ? 0.2 : 2;
      const double position = side * limiter.toward_position(command * side, 0.001).value.position;
      if (last > 1) CHECK(position <= last + 1e-12);
      last = position;
    }
    CHECK(last <= 1 + 1e-9);
  }
}

TEST_CASE("a joint that comes inward does not slow down so hard that its stop would lead out again") {
  JointLimits limits;
  limits.position_min = -0.0037;
  limits.position_max = 0.0037;
  limits.velocity = 6.3;
  limits.acceleration = 143;
  limits.jerk = 1193;
  auto limiter = JointLimiter::make(limits).value();
  REQUIRE(limiter.reset({0.1139, -1.473, 26.5}).has_value());
  // First slows down as fast as acceleration and jerk allow; then receives no new target.
  double last = limiter.toward_velocity(-0.84, 0.0222).value.position;
  for (int k = 0; k < 50; ++k) {
    const double position = limiter.toward_position(not_a_number, 0.002).value.position;
    CHECK(position <= last + 1e-12);
    last = position;
  }
  CHECK(limiter.state().velocity == 0);
}

TEST_CASE("efforts do not drive a joint out of its range") {
  JointLimits limits;
  limits.position_min = -1;
  limits.position_max = 1;
  limits.velocity = 2;
  limits.acceleration = 10;
  limits.jerk = 100;
  limits.effort = 5;
  const auto limiter = JointLimiter::make(limits).value();
  CHECK(limiter.effort(9, {0, 0, 0}).value == 5);
  CHECK(limiter.effort(-9, {0, 0, 0}).value == -5);
  CHECK(limiter.effort(3, {1.1, 0, 0}).value == 0);
  CHECK(limiter.effort(-3, {1.1, 0, 0}).value == -3);
  CHECK(limiter.effort(3, {0.9, 2, 0}).value == 0);  // braking takes 0.2 rad, 0.1 rad are left
  CHECK(limiter.effort(3, {0.7, 2, 0}).value == 3);
  CHECK(limiter.effort(-3, {-0.9, -2, 0}).value == 0);
  CHECK(limiter.effort(not_a_number, {0, 0, 0}).error == Errc::not_finite);
  CHECK(limiter.effort(1, {not_a_number, 0, 0}).value == 0);
}

TEST_CASE("an effort brakes a joint that rushes inward from outside its range, but drives none out") {
  JointLimits limits;
  limits.position_min = -1;
  limits.position_max = 1;
  limits.velocity = 2;
  limits.acceleration = 10;
  limits.jerk = 100;
  const auto limiter = JointLimiter::make(limits).value();
  for (const double side : {1.0, -1.0}) {
    const auto effort = [&](double wanted, double position, double velocity) {
      return side * limiter.effort(side * wanted, {side * position, side * velocity, 0}).value;
    };
    CHECK(effort(10, 1.05, -5) == 10);   // 1.25 rad of braking lead to -0.2 rad
    CHECK(effort(10, 1.05, -0.9) == 0);  // 0.04 rad do not lead inside
    CHECK(effort(10, 1, -0.1) == 10);
    CHECK(effort(10, 1, 0) == 0);
    CHECK(effort(10, 0.999, 0) == 10);
    CHECK(effort(-10, 1, 0) == -10);
  }
}

TEST_CASE("bad periods change nothing, limits that allow nothing are refused by name") {
  auto random = test::generator(3);
  const JointLimits good = any_limits(random);
  auto limiter = JointLimiter::make(good).value();
  static_cast<void>(limiter.toward_position(1, 0.01));
  const MotionState state = limiter.state();
  for (const double period : {0.0, -1.0, not_a_number, infinity}) {
    CHECK(limiter.toward_position(1, period).error == Errc::bad_period);
    CHECK(limiter.toward_velocity(1, period).error == Errc::bad_period);
  }
  CHECK(limiter.reset({not_a_number, 0, 0}).error() == Errc::not_finite);
  CHECK(limiter.state() == state);
  for (auto member : {&JointLimits::velocity, &JointLimits::acceleration, &JointLimits::jerk}) {
    JointLimits bad = good;
    bad.*member = 0;
    CHECK(JointLimiter::make(bad).error() == Errc::out_of_domain);
    bad.*member = infinity;
    CHECK(JointLimiter::make(bad).error() == Errc::not_finite);
  }
  JointLimits bad = good;
  bad.position_min = 3;
  CHECK(JointLimiter::make(bad).error() == Errc::min_above_max);
  bad.position_min = not_a_number;
  CHECK(JointLimiter::make(bad).error() == Errc::not_finite);
  for (const double end : {infinity, -infinity}) {
    bad.position_min = bad.position_max = end;
    CHECK(JointLimiter::make(bad).error() == Errc::not_finite);
  }
}
