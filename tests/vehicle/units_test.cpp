// Counts to SI units and back: by hand, over random values, and every error.
#include "takt/vehicle/units.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::vehicle;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Units some_units() { return *Units::make(provisional_units); }

}  // namespace

TEST_CASE("counts follow the configuration") {
  const Units units = some_units();
  Traction traction;
  traction.speed = -150;
  traction.left_speed = 60;
  traction.right_speed = -30;
  CHECK(units.speed(traction) == doctest::Approx(-1.5));
  CHECK(units.wheel_rates(traction).left == doctest::Approx(2 * std::numbers::pi));  // 60 rpm
  CHECK(units.wheel_rates(traction).right == doctest::Approx(-std::numbers::pi));
  CHECK(units.angle({2, 100, -200}) == doctest::Approx(0.1));
  CHECK(units.target_angle({2, 100, -200}) == doctest::Approx(-0.2));
  const BatteryReading reading = units.reading({2, 200, 1234, 480, 40, 30});
  CHECK(reading.charge == doctest::Approx(1));
  CHECK(reading.current == doctest::Approx(123.4));
  CHECK(reading.voltage == doctest::Approx(48));
  CHECK(reading.highest_temperature == 40);
  CHECK(reading.lowest_temperature == 30);
  CHECK(units.control({-0.25, 0.5, 0.125}, 7) == ControlFrame{7, -250, 50, 13});
}

TEST_CASE("an odometer that goes round counts on") {
  const Units units = some_units();
  constexpr std::int32_t top = std::numeric_limits<std::int32_t>::max();
  Traction from, to;
  from.odometer = top;
  to.odometer = -top - 1;
  CHECK(units.travelled(from, to) == doctest::Approx(0.001));
  CHECK(units.travelled(to, from) == doctest::Approx(-0.001));
  CHECK(units.odometer(top * 0.001) == top);
  CHECK(units.odometer((top + 1.0) * 0.001) == -top - 1);
  CHECK(units.odometer(-0.002) == -2);
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const double start = test::uniform(random, -1e8, 1e8);
    const double way = test::uniform(random, -1e6, 1e6);
    from.odometer = *units.odometer(start);
    to.odometer = *units.odometer(start + way);
    CHECK(units.travelled(from, to) == doctest::Approx(way).epsilon(1e-6).scale(1e4));
  }
}

TEST_CASE_TEMPLATE("commands are decoded within half a count, for either sign of the vehicle's counts",
                   Scalar, double, float) {
  auto random = test::generator(2);
  for (const Scalar sign : {Scalar(1), Scalar(-1)}) {
    const auto units = BasicUnits<Scalar>::make({.speed = Scalar(0.01),
                                                 .angle = sign * Scalar(0.001),
                                                 .odometer = Scalar(0.001),
                                                 .steer = sign * Scalar(0.002),
                                                 .full_throttle = 1000,
                                                 .full_brake = 255});
    REQUIRE(units.has_value());
    const auto any = [&](double low, double high) {
      return static_cast<Scalar>(test::uniform(random, low, high));
    };
    test::RtGuard guard;
    bool near = true;
    for (std::size_t i = 0; i < test::count(1000); ++i) {
      const BasicDriveCommand<Scalar> sent{any(-1, 1), any(-1, 1), any(0, 1)};
      const auto frame = units->control(sent, 0);
      if (!frame) near = false;
      const auto got = units->command(*frame);
      constexpr auto rounding = Scalar(1e-5);
      near = near && std::abs(got.steering - sent.steering) <= Scalar(0.001) + rounding;
      near = near && std::abs(got.throttle - sent.throttle) <= Scalar(0.0005) + rounding;
      near = near && std::abs(got.brake - sent.brake) <= Scalar(0.5) / 255 + rounding;
    }
    CHECK(guard.report() == "");
    CHECK(near);
  }
}

TEST_CASE("numbers that are none and commands beyond full are refused by name") {
  const Units units = some_units();
  for (const double bad : {not_a_number, infinity, -infinity}) {
    CHECK(units.control({bad, 0, 0}, 0).error() == Errc::not_finite);
    CHECK_FALSE(units.control({0, bad, 0}, 0).has_value());
    CHECK_FALSE(units.control({0, 0, bad}, 0).has_value());
    CHECK(units.odometer(bad).error() == Errc::not_finite);
    CHECK(to_counts(bad, 1.0).error() == Errc::not_finite);
  }
  CHECK(units.control({0, not_a_number, 0}, 0).error() == Errc::not_finite);
  CHECK(units.control({0, 0, not_a_number}, 0).error() == Errc::not_finite);
  CHECK(units.control({0, 1.01, 0}, 0).error() == Errc::out_of_range);
  CHECK(units.control({0, -1.01, 0}, 0).error() == Errc::out_of_range);
  CHECK(units.control({0, 0, 1.01}, 0).error() == Errc::out_of_range);
  CHECK(units.control({0, 0, -0.01}, 0).error() == Errc::out_of_range);
  CHECK(units.control({3e6, 0, 0}, 0).error() == Errc::out_of_range);
  CHECK(to_counts(2147483647.4, 1.0) == 2147483647);
  CHECK(to_counts(2147483647.6, 1.0).error() == Errc::out_of_range);
  CHECK(to_counts(-2147483648.4, 1.0) == -2147483647 - 1);
  CHECK(to_counts(-2147483648.6, 1.0).error() == Errc::out_of_range);
}

TEST_CASE("where speeds are magnitudes, the reverse flag is their sign") {
  const Traction forwards{.speed = 200, .left_speed = 30, .right_speed = 40};
  Traction backwards = forwards;
  backwards.reverse = 1;
  auto c = provisional_units;
  for (const bool is_magnitude : {false, true}) {
    c.speed_is_magnitude = is_magnitude;
    const Units units = Units::make(c).value();
    const double sign = is_magnitude ? -1 : 1;
    CHECK(units.speed(forwards) == doctest::Approx(2));
    CHECK(units.speed(backwards) == doctest::Approx(2 * sign));
    CHECK(units.wheel_rates(forwards).left == doctest::Approx(30 * c.wheel_rate));
    CHECK(units.wheel_rates(backwards).left == doctest::Approx(30 * c.wheel_rate * sign));
    CHECK(units.wheel_rates(backwards).right == doctest::Approx(40 * c.wheel_rate * sign));
  }
  // A value that already has a sign gets no second one.
  backwards.speed = -200;
  CHECK(Units::make(c).value().speed(backwards) == doctest::Approx(-2));
}

TEST_CASE("a missing or invalid unit is refused") {
  using C = Units::Configuration;
  CHECK(Units::make({}).error() == Errc::out_of_range);
  for (auto member : {&C::wheel_rate, &C::speed, &C::angle, &C::odometer, &C::steer, &C::full_throttle,
                      &C::full_brake, &C::charge, &C::current, &C::voltage}) {
    C c = provisional_units;
    c.*member = 0;
    CHECK(Units::make(c).error() == Errc::out_of_range);
    c.*member = not_a_number;
    CHECK(Units::make(c).error() == Errc::not_finite);
    c.*member = -1;
    CHECK(Units::make(c).has_value() == (member == &C::angle || member == &C::steer));
  }
  C c = provisional_units;
  for (const double full : {3e9, 0.4}) {
    c.full_brake = full;
    CHECK(Units::make(c).error() == Errc::out_of_range);
  }
}
