#include "takt/trajectory/stop.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/random.hpp"
#include "takt/trajectory/through.hpp"
#include "trajectory/samples.hpp"
#include "trajectory/seams.hpp"

using namespace takt;
using namespace takt::trajectory;

namespace {

JointLimits limits_of(double velocity, double acceleration, double jerk) {
  JointLimits limits;
  limits.velocity = velocity;
  limits.acceleration = acceleration;
  limits.jerk = jerk;
  return limits;
}

}  // namespace

TEST_CASE("a stop from rest is no motion") {
  const StopMotion stop = plan_stop(MotionState{1.5, 0, 0}, limits_of(1, 1, 1));
  CHECK(stop.duration == 0);
  CHECK(stop.distance == 0);
  CHECK(stop.fits);
  CHECK(stop.at(0).position == 1.5);
  CHECK(stop.at(9) == MotionState{1.5, 0, 0});
}

TEST_CASE("a stop takes the time and the distance of the textbook") {
  // v = 2, a = 4, j = 8: half a second each up and down and no hold. So the distance is v T / 2 with T = v/a
  // + a/j.
  const StopMotion stop = plan_stop(MotionState{0, 2, 0}, limits_of(2, 4, 8));
  CHECK(stop.duration == doctest::Approx(1.0));
  CHECK(stop.distance == doctest::Approx(1.0));
  const StopMotion longer = plan_stop(MotionState{0, 4, 0}, limits_of(4, 4, 8));
  CHECK(longer.duration == doctest::Approx(1.5));
  const StopMotion hard =
      plan_stop(MotionState{0, -4, 0}, limits_of(4, 4, std::numeric_limits<double>::infinity()));
  CHECK(hard.duration == doctest::Approx(1.0));
  CHECK(hard.distance == doctest::Approx(-2.0));
}

TEST_CASE(
    "from anywhere inside the limits a stop keeps acceleration and jerk, never steps, and ends at rest") {
  auto random = test::generator();
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    const JointLimits limits =
        limits_of(std::pow(10, test::uniform(random, -2, 2)), std::pow(10, test::uniform(random, -2, 2)),
                  std::pow(10, test::uniform(random, -2, 3)));
    const MotionState start{test::uniform(random, -3, 3), test::uniform(random, -1, 1) * limits.velocity,
                            test::uniform(random, -1, 1) * limits.acceleration};
    const StopMotion stop = plan_stop(start, limits);
    const double overshoot = start.acceleration * start.acceleration / (2 * limits.jerk);
    constexpr int steps = 50;
    const double step = stop.duration / steps;
    MotionState before = stop.at(0);
    CHECK(before == start);
    for (int k = 1; k <= steps; ++k) {
      const MotionState now = stop.at(step * k);
      REQUIRE(std::abs(now.acceleration) <= limits.acceleration * (1 + 1e-9));
      REQUIRE(std::abs(now.velocity) <= (limits.velocity + overshoot) * (1 + 1e-9));
      // Continuity: the bound on the next derivative limits the change in each step.
      REQUIRE(std::abs(now.acceleration - before.acceleration) <=
              limits.jerk * step * (1 + 1e-6) + 1e-9 * limits.acceleration);
      REQUIRE(std::abs(now.velocity - before.velocity) <=
              limits.acceleration * step * (1 + 1e-6) + 1e-9 * limits.velocity);
      before = now;
    }
    CHECK(stop.at(stop.duration).velocity == 0);
    const MotionState end = stop.phases[2].at(stop.duration);
    CHECK(std::abs(end.velocity) <= 1e-9 * (limits.velocity + overshoot));
    CHECK(std::abs(end.acceleration) <= 1e-9 * limits.acceleration + 1e-12 * limits.jerk * stop.duration);
    if (stop.fits) CHECK(std::abs(start.velocity) <= limits.velocity * (1 + 1e-9));
  }
}

TEST_CASE("a stop from outside the limits says so and still ends at rest") {
  const JointLimits limits = limits_of(1, 2, 10);
  for (const MotionState& start : {MotionState{0, 3, 0}, MotionState{0, 0.5, -9}, MotionState{0, 1, 2}}) {
    const StopMotion stop = plan_stop(start, limits);
    CHECK_FALSE(stop.fits);
    CHECK(std::isfinite(stop.duration));
    CHECK(std::abs(stop.phases[2].at(stop.duration).velocity) < 1e-9);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const StopMotion lost = plan_stop(MotionState{1, nan, nan}, limits);
  CHECK_FALSE(lost.fits);
  CHECK(lost.duration == 0);
  CHECK(plan_stop(MotionState{0, 1, 1}, JointLimits{}).duration == 0);
}

TEST_CASE("it works in single precision") {
  BasicJointLimits<float> limits;
  limits.velocity = 2;
  limits.acceleration = 4;
  limits.jerk = 8;
  const BasicStopMotion<float> stop = plan_stop(BasicMotionState<float>{0, 2, 0}, limits);
  CHECK(stop.duration == doctest::Approx(1.0f));
  CHECK(stop.at(0.5f).velocity == doctest::Approx(1.0f));
}

TEST_CASE("a trajectory that ends in motion is brought to rest within the limits of every joint") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(500); ++i) {
    const std::vector<JointLimits> limits{limits_of(5, 8, 60), limits_of(5, 4, 20),
                                          limits_of(5, 6, std::numeric_limits<double>::infinity())};
    std::vector<MotionState> start(3), end(3);
    for (std::size_t j = 0; j < 3; ++j) {
      start[j].position = test::uniform(random, -1, 1);
      end[j] = {start[j].position, test::uniform(random, -2, 2), test::uniform(random, -3, 3)};
    }
    Trajectory trajectory(start);
    REQUIRE(trajectory.append(end, 5.0));
    const std::size_t segments = trajectory.segments();
    REQUIRE(append_stop(trajectory, limits));
    CHECK(trajectory.segments() > segments);
    for (std::size_t j = 0; j < 3; ++j) {
      const MotionState rest = trajectory.at(trajectory.duration(), j);
      CHECK(rest.velocity == 0);
      CHECK(rest.acceleration == 0);
      for (std::size_t k = segments; k < trajectory.segments(); ++k) {
        const Quintic piece = trajectory.piece(k, j);
        CHECK(std::abs(piece.acceleration_extrema().peak().value) <= limits[j].acceleration * (1 + 1e-9));
        CHECK(std::abs(piece.jerk_extrema().peak().value) <= limits[j].jerk * (1 + 1e-9));
      }
    }
    Trajectory again = trajectory;
    REQUIRE(append_stop(again, limits));
    CHECK(again.segments() == trajectory.segments());
  }
}

TEST_CASE("each joint of a trajectory comes to rest by itself, from any moment on, without a step") {
  auto random = test::generator(2);
  std::size_t kept = 0, left = 0;
  for (std::size_t i = 0; i < test::count(1'000); ++i) {
    auto table = test::any_waypoints<double>(random, 2 + i % 5, 3);
    auto running = through(table.view(), Through::smooth).value();
    std::vector<JointLimits> limits{limits_of(3, 8, 60), limits_of(5, 4, 20), limits_of(5, 6, 300)};
    REQUIRE(running.slow_down(required_slowdown(running, limits)));
    for (JointLimits& limit : limits) {
      limit.position_min = -4;
      limit.position_max = 4;
    }
    const double at = running.duration() * test::uniform(random, 0, 1.1);
    const auto stopped = stop_each(running, at, limits);
    REQUIRE(stopped);
    const double now = std::min(at, running.duration());
    double longest = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const test::StateScale<double> scale(running.at(now, j), running.at(now, j), limits[j],
                                           stopped->trajectory.duration(), 1e-9);
      REQUIRE(test::step_of(stopped->trajectory, j, scale) < 1e-9);
      const StopMotion alone = plan_stop(running.at(now, j), limits[j]);
      longest = std::max(longest, alone.duration);
      for (int k = 0; k < 5; ++k) {
        const double t = now * test::uniform(random, 0, 1);
        REQUIRE(scale.difference(stopped->trajectory.at(t, j), running.at(t, j)) < 1e-9);
        const double then = alone.duration * test::uniform(random, 0, 1.1);
        // The stop keeps a millionth of the limits in reserve for the rounding of segments.
        REQUIRE(scale.difference(stopped->trajectory.at(now + then, j), alone.at(then)) < 1e-4);
      }
      const MotionState rest = stopped->trajectory.at(1e9, j);
      REQUIRE(rest.velocity == 0);
      REQUIRE(rest.acceleration == 0);
    }
    REQUIRE(stopped->trajectory.duration() == doctest::Approx(now + longest));
    const auto found = find_violation(part(stopped->trajectory, now).value(), limits);
    REQUIRE(found.has_value() == stopped->violation.has_value());
    ++(found ? left : kept);
    if (!found) continue;
    REQUIRE(stopped->violation->quantity == found->quantity);
    REQUIRE(stopped->violation->time == doctest::Approx(now + found->time));
  }
  CHECK(kept > 0);
  CHECK(left > 0);
}

TEST_CASE("cut off at any moment, all joints come to rest together") {
  const std::vector<double> times{0, 2}, positions{0, 1, 1, -1};
  const auto running = through(Waypoints{2, times, positions, {}, {}}, Through::stop).value();
  const std::vector<JointLimits> limits(2, limits_of(2, 3, 30));
  auto cut = part(running, 0.0, 0.7).value();
  REQUIRE(append_stop(cut, limits));
  CHECK(cut.at(0.5, 1).position == doctest::Approx(running.at(0.5, 1).position));
  CHECK(cut.duration() > 0.7);
  CHECK_FALSE(find_violation(cut, limits));
}

TEST_CASE("joints that move in proportion stop together as fast as each would alone") {
  const std::vector<JointLimits> limits{limits_of(2, 4, 40), limits_of(1, 2, 20)};
  for (const double speed : {0.5, 1.0, 2.0}) {
    Trajectory running(std::vector<MotionState>(2));
    REQUIRE(running.append(std::vector<MotionState>{{2, speed, 0}, {1, speed / 2, 0}}, 3.0));
    const double alone = plan_stop(running.at(3, 0), limits[0]).duration;
    REQUIRE(append_stop(running, limits));
    CHECK(running.duration() - 3 == doctest::Approx(alone).epsilon(1e-5));
  }
}

TEST_CASE("without a jerk limit a stop takes twice as long as the bare deceleration") {
  const std::vector<JointLimits> limits(1, limits_of(2, 4, std::numeric_limits<double>::infinity()));
  Trajectory running(std::vector<MotionState>(1));
  REQUIRE(running.append(std::vector<MotionState>{{2, 2, 0}}, 3.0));
  CHECK(stop_each(running, 3, limits).value().trajectory.duration() == doctest::Approx(4));
  REQUIRE(append_stop(running, limits));
  CHECK(running.duration() == doctest::Approx(4).epsilon(2e-3));  // its shortest phase is 5 ms
}

TEST_CASE("a trajectory that is outside its limits is stopped with the least violation, and says which") {
  const std::vector<double> times{0, 1}, positions{0, 1};
  const auto running = through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
  const auto fast = stop_each(running, 0.5, std::vector<JointLimits>{limits_of(1, 4, 40)}).value();
  REQUIRE(fast.violation);
  CHECK(fast.violation->quantity == Quantity::velocity);
  CHECK(fast.violation->value == doctest::Approx(1.875));
  CHECK(fast.violation->time == doctest::Approx(0.5));
  const auto unlimited = stop_each(running, 0.5, std::vector<JointLimits>{JointLimits{}}).value();
  CHECK_FALSE(unlimited.violation);
  CHECK(unlimited.trajectory.at(9, 0).velocity == 0);
}

TEST_CASE(
    "a stop where a limit allows nothing says which limit it had to leave, unless it was at rest already") {
  const std::vector<double> times{0, 1}, positions{0, 1};
  const auto running = through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
  const auto no_jerk = stop_each(running, 0.5, std::vector<JointLimits>{limits_of(5, 40, 0)}).value();
  REQUIRE(no_jerk.violation);
  CHECK(no_jerk.violation->quantity == Quantity::jerk);
  CHECK_FALSE(stop_each(running, 0, std::vector<JointLimits>{limits_of(0, 0, 0)}).value().violation);
}

TEST_CASE("a stop at a time that is none is a named error") {
  const std::vector<double> times{0, 1}, positions{0, 1};
  const auto running = through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
  const std::vector<JointLimits> limits{limits_of(1, 4, 40)};
  CHECK(stop_each(running, std::nan(""), limits).error() == Errc::not_finite);
  CHECK(stop_each(running, -1, limits).error() == Errc::out_of_domain);
  CHECK(stop_each(running, 0.5, {}).error() == Errc::wrong_size);
  CHECK(stop_each(Trajectory(), 0.5, {}).error() == Errc::wrong_size);
  CHECK(stop_each(running, 0, limits).value().trajectory.segments() == 0);
}
