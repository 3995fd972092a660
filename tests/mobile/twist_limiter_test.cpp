// Tests how a vehicle stops and reaches its limits: braking has priority over the curve.
#include "takt/mobile/twist_limiter.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace takt;
using namespace takt::mobile;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double period = 0.01;

/// The stopping distance (m) of a vehicle that brakes at 5 m/s^2 and changes its rotation much more slowly.
double way_to_standstill(const Twist& from, const Twist& wanted) {
  auto limiter = TwistLimiter::make({2, 1, 1, 1, 1, 5, 0.1}).value();
  limiter.reset(from);
  double way = 0;
  for (int k = 0; k < 3000; ++k) {
    const Twist now = limiter.step(wanted, period).value;
    way += period * std::hypot(now.forward, now.left);
  }
  CHECK(limiter.twist().forward == 0);
  CHECK(limiter.twist().left == 0);
  return way;
}

}  // namespace

TEST_CASE("a stop is no longer for what rotates: commanded, forced, or into a turn on the spot") {
  const double alone = way_to_standstill({2, 0, 0}, {0, 0, 0});
  CHECK(alone < 0.41);
  CHECK(way_to_standstill({2, 0, 0.5}, {0, 0, 0}) == doctest::Approx(alone));
  CHECK(way_to_standstill({2, 0, 0.5}, {not_a_number, 0, 0}) == doctest::Approx(alone));
  CHECK(way_to_standstill({2, 0, 0}, {0, 0, 1}) == doctest::Approx(alone));
  CHECK(way_to_standstill({2, 0, -1}, {0, 0, 1}) == doctest::Approx(alone));
  CHECK(way_to_standstill({-1, 0, 0.5}, {0, 0, -1}) ==
        doctest::Approx(way_to_standstill({-1, 0, 0}, {0, 0, 0})));
}

TEST_CASE("braking does not wait for what speeds up sideways") {
  auto limiter = TwistLimiter::make({2, 1, 1, 1, 0.1, 5, 9}).value();
  limiter.reset({2, 0, 0});
  for (int k = 0; k < 40; ++k) limiter.step({0, 1, 0}, period);
  CHECK(limiter.twist().forward == doctest::Approx(0));
  CHECK(limiter.twist().left == doctest::Approx(0.04));
}

TEST_CASE("a stop stays on its curve where that costs no braking distance") {
  auto limiter = TwistLimiter::make({2, 1, 1, 1, 1, 5, 1.3}).value();
  limiter.reset({2, 0, 0.5});  // all gone in 0.4 s: 1.25 rad/s^2
  while (limiter.twist().forward > 0) {
    const Twist now = limiter.step({0, 0, 0}, period).value;
    CHECK(now.rotation == doctest::Approx(0.25 * now.forward));
  }
}

TEST_CASE("a turn ends as fast as it can, however slowly the vehicle speeds up") {
  auto limiter = TwistLimiter::make({2, 1, 1, 1, 0.1, 5, 2}).value();
  limiter.reset({0, 0, 1});
  for (int k = 0; k < 50; ++k) limiter.step({1, 0, 0}, period);
  CHECK(limiter.twist().rotation == doctest::Approx(0));
  CHECK(limiter.twist().forward == doctest::Approx(0.05));
}

TEST_CASE_TEMPLATE("a command however large is slowed down to the limits", Scalar, double, float) {
  const Scalar most = std::numeric_limits<Scalar>::max();
  const Scalar half(0.5);
  auto limiter = BasicTwistLimiter<Scalar>::make({half, half, half, half, 100, 100, 100}).value();
  CHECK(limiter.step({most, 0, 0}, 1).value == BasicTwist<Scalar>{half, 0, 0});
  CHECK(limiter.step({-most, most, most}, 1).value == BasicTwist<Scalar>{-half, half, half});
  CHECK(limiter.step({most / 4, most, 0}, 1).value == BasicTwist<Scalar>{half / 4, half, 0});
  // Without limits the results are finite too.
  const Scalar none = std::numeric_limits<Scalar>::infinity();
  auto free = BasicTwistLimiter<Scalar>::make({none, none, none, none, none, none, none}).value();
  free.reset({most, most, most});
  CHECK(free.twist() == BasicTwist<Scalar>{});
  for (const Scalar speed : {most, -most, most, Scalar(0)})
    CHECK(detail::is_finite(free.step({speed, -speed, speed}, 1).value));
  CHECK(free.twist() == BasicTwist<Scalar>{});
}
