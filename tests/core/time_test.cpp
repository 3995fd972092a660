#include "takt/core/time.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "takt/core/manual_clock.hpp"

using namespace takt;

TEST_CASE("seconds round to the nearest nanosecond and saturate") {
  CHECK(from_seconds(1.0) == Duration(1'000'000'000));
  CHECK(from_seconds(0.4e-9) == Duration(0));
  CHECK(from_seconds(0.6e-9) == Duration(1));
  CHECK(from_seconds(-0.6e-9) == Duration(-1));
  CHECK(from_seconds(1e300) == Duration::max());
  CHECK(from_seconds(-1e300) == Duration::min());
  CHECK(from_seconds(std::numeric_limits<double>::quiet_NaN()) == Duration(0));
}

TEST_CASE("a manual clock moves only on request, and never backwards") {
  ManualClock clock(time_from_nanoseconds(5));
  CHECK(to_nanoseconds(clock.now()) == 5);
  clock.sleep_until(time_from_nanoseconds(3));
  CHECK(to_nanoseconds(clock.now()) == 5);
  clock.advance(Duration(7));
  clock.advance(Duration(-1));
  CHECK(to_nanoseconds(clock.now()) == 12);
}

TEST_CASE("of times within reach any sum and difference is a number, and what is beyond is the nearest") {
  static_assert(within_reach(time_from_nanoseconds(-5)) == time_from_nanoseconds(-5));
  static_assert(within_reach(Time::max()) == Time(time_reach));
  static_assert(within_reach(Time::min()) == Time(-time_reach));
  // An overflow would not compile as a constant expression.
  static_assert(within_reach(Time::max()) - within_reach(Time::min()) == 2 * time_reach);
  static_assert(within_reach(Time::max()) + time_reach / 2 > Time(time_reach));
}
