#include "takt/control/rate_limiter.hpp"

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
using Limits = RateLimiter::Limits;

Limits any_limits(std::mt19937_64& random, bool second) {
  const auto rate = [&] { return test::uniform(random, 0.2, 5); };
  return {-test::uniform(random, 0, 3),
          test::uniform(random, 0, 3),
          rate(),
          rate(),
          rate(),
          rate(),
          second ? test::uniform(random, 1, 100) : infinity};
}

/// No limit is exceeded in a step by more than rounding.
void check_step(const Limits& limits, double before, double rate_before, const RateLimiter& after,
                double period) {
  const double value = after.value();
  const double rate = (value - before) / period;
  const double slack = 1e-9;
  CHECK(value >= limits.min - slack);
  CHECK(value <= limits.max + slack);
  if (std::isfinite(limits.second)) CHECK(std::abs(rate - rate_before) <= limits.second * period + slack);
  if (std::isfinite(limits.second) || before * value >= 0) {
    // One period has one rate limit: the limit for the value at its start.
    if (before > 0 || (before == 0 && rate > 0)) CHECK(rate <= limits.forward_acceleration + slack);
    if (before > 0) CHECK(rate >= -limits.forward_braking - slack);
    if (before < 0) CHECK(rate <= limits.reverse_braking + slack);
    if (before < 0 || (before == 0 && rate < 0)) CHECK(rate >= -limits.reverse_acceleration - slack);
  } else {
    const double braking = before > 0 ? limits.forward_braking : limits.reverse_braking;
    const double acceleration = before > 0 ? limits.reverse_acceleration : limits.forward_acceleration;
    CHECK(std::abs(before) / braking + std::abs(value) / acceleration <= period + slack);
  }
}

}  // namespace

TEST_CASE("no target makes the value exceed a limit") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(2000); ++i) {
    const Limits limits = any_limits(random, i % 2 == 0);
    auto limiter = RateLimiter::make(limits).value();
    const double period = test::uniform(random, 0.001, 0.05);
    double target = 0;
    for (int k = 0; k < 200; ++k) {
      if (test::uniform_int(random, 0, 9) == 0) target = test::uniform(random, -4, 4);
      if (test::uniform_int(random, 0, 50) == 0)
        target = test::uniform_int(random, 0, 1) == 0 ? infinity : -infinity;
      const double before = limiter.value();
      const double rate_before = limiter.rate();
      CHECK(limiter.step(target, period).ok());
      check_step(limits, before, rate_before, limiter, period);
    }
  }
}

TEST_CASE("it arrives exactly, never swings, and stays") {
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(2000); ++i) {
    const Limits limits = any_limits(random, i % 2 == 0);
    auto limiter = RateLimiter::make(limits).value();
    const double period = test::uniform(random, 0.001, 0.05);
    const double target = test::uniform(random, limits.min, limits.max);
    int steps = 0;
    double last = 0;
    while (limiter.value() != target && steps < 100000) {
      const double value = limiter.step(target, period).value;
      CHECK(std::abs(value) >= std::abs(last));
      CHECK(std::abs(value) <= std::abs(target));
      last = value;
      ++steps;
    }
    CHECK(limiter.value() == target);
    for (int k = 0; k < 10; ++k) CHECK(limiter.step(target, period).value == target);
    CHECK(limiter.rate() == doctest::Approx(0));
    // From rest to rest it is no slower than the limits require, except that the number of steps rounds up.
    const double rate = target > 0 ? limits.forward_acceleration : limits.reverse_acceleration;
    const double ramp = std::isfinite(limits.second)
                            ? std::min(rate / limits.second, std::sqrt(std::abs(target) / limits.second))
                            : 0;
    const double shortest = std::isfinite(limits.second) && rate * ramp > std::abs(target)
                                ? 2 * std::sqrt(std::abs(target) / limits.second)
                                : std::abs(target) / rate + ramp;
    CHECK(steps * period <= shortest + 4 * period);
  }
}

TEST_CASE("the four limits of a driver") {
  auto limiter = RateLimiter::make({-5, 5, 1, 2, 3, 4}).value();
  CHECK(limiter.step(5, 1).value == 1);
  CHECK(limiter.step(5, 1).value == 2);
  CHECK(limiter.step(0, 0.5).value == 1);
  CHECK(limiter.step(-5, 1).value ==
        doctest::Approx(-1.5));  // half a period of braking, half of reverse acceleration
  CHECK(limiter.step(5, 0.25).value == doctest::Approx(-0.5));
}

TEST_CASE("taken over at a rate, the value goes on at that rate") {
  const double h = 0.01;
  auto limiter = RateLimiter::make({-5, 5, 1, 1, 1, 1, 10}).value();
  limiter.reset(0.2, 0.9);
  double rate = 0.9, last = 0.2;
  while (limiter.value() != 1.5 && last < 2) {
    last = limiter.step(1.5, h).value;
    CHECK(std::abs(limiter.rate() - rate) <= 10 * h + 1e-12);
    CHECK(limiter.rate() <= 1 + 1e-12);
    rate = limiter.rate();
  }
  CHECK(limiter.value() == 1.5);
  limiter.reset(0.2, 3);  // beyond its limit: returns as the second limit allows
  limiter.step(1.5, h);
  CHECK(limiter.rate() == doctest::Approx(2.9));
  limiter.reset(0.2, not_a_number);
  CHECK(limiter.rate() == 0);
}

TEST_CASE("a value that nothing bounds is refused, one that a rate bounds goes on for ever") {
  auto boundless = RateLimiter::make({}).value();
  boundless.step(2, 0.01);
  CHECK(boundless.step(infinity, 0.01).error == Errc::not_finite);
  CHECK(boundless.step(infinity, 0.01).value == 2);
  CHECK(boundless.step(3, 0.01).value == 3);
  auto steady = RateLimiter::make({.forward_acceleration = 1}).value();
  for (int k = 1; k <= 100; ++k) CHECK(steady.step(infinity, 0.01).value == doctest::Approx(0.01 * k));
}

TEST_CASE("bad periods and targets change nothing, bad limits are refused by name") {
  auto limiter = RateLimiter::make({-5, 5, 1, 2, 3, 4, 10}).value();
  const double value = limiter.step(5, 0.1).value;
  for (const double period : {0.0, -1.0, not_a_number, infinity}) {
    CHECK(limiter.step(5, period).error == Errc::bad_period);
    CHECK(limiter.value() == value);
  }
  CHECK(limiter.step(not_a_number, 0.1).error == Errc::not_finite);
  CHECK(limiter.value() == value);
  limiter.reset(3);
  CHECK(limiter.value() == 3);
  CHECK(limiter.rate() == 0);
  CHECK(RateLimiter::make({1, 5}).error() == Errc::min_above_max);
  CHECK(RateLimiter::make({-1, -5}).error() == Errc::min_above_max);
  CHECK(RateLimiter::make({-1, not_a_number}).error() == Errc::not_finite);
  CHECK(RateLimiter::make({-1, 1, 0}).error() == Errc::out_of_domain);
}
