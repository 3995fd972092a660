#include "takt/control/ros_limits.hpp"

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
constexpr double h = 0.1;

JointLimits limits() {
  JointLimits l;
  l.position_min = -1;
  l.position_max = 1;
  l.velocity = 2;
  l.acceleration = 5;
  l.effort = 8;
  return l;
}
constexpr SoftLimits soft{-0.8, 0.8, 4, 10};

MotionState at(double position, double velocity = 0) { return {position, velocity, 0}; }

}  // namespace

// The expected numbers of these tables are worked out by hand from the formulas of the originals.

TEST_CASE("a position is saturated by the velocity limit, from the command before") {
  auto ros1 = Ros1Limits::make(limits()).value();
  CHECK(ros1.position(0.9, at(0), h).value == doctest::Approx(0.2));
  CHECK(ros1.position(0.9, at(0), h).value == doctest::Approx(0.4));  // open loop: the joint has not moved
  CHECK(ros1.position(-0.9, at(0), h).value == doctest::Approx(0.2));
  ros1.reset();
  CHECK(ros1.position(0.9, at(0.7), h).value == doctest::Approx(0.9));
  CHECK(ros1.position(5, at(0.7), h).value == 1);

  auto ros2 = Ros2Limits::make(limits()).value();
  CHECK(ros2.position(0.9, at(0), h).value == doctest::Approx(0.05));     // reach 0 + 5 * 0.1 rad/s
  CHECK(ros2.position(0.9, at(0, 1), h).value == doctest::Approx(0.2));   // 1 + 0.5 rad/s
  CHECK(ros2.position(0.9, at(0, -3), h).value == doctest::Approx(0.4));  // the velocity limit
  CHECK(ros2.position(0.9, at(1.1, 0), h).error == Errc::out_of_domain);
  CHECK(ros2.position(0.9, at(1.1, 0), h).value == doctest::Approx(0.4));
}

TEST_CASE("a position nears its soft limit ever more slowly, and may go back at full speed") {
  auto ros1 = Ros1Limits::make(limits(), soft).value();
  CHECK(ros1.position(0.9, at(0.5), h).value == doctest::Approx(0.62));  // 4 (0.8 - 0.5) = 1.2 rad/s
  CHECK(ros1.position(0.9, at(0.5), h).value == doctest::Approx(0.692));
  CHECK(ros1.position(-0.9, at(0.5), h).value == doctest::Approx(0.492));  // 2 rad/s
  auto outside = Ros1Limits::make(limits(), soft).value();
  CHECK(outside.position(0.95, at(0.9), h).value == doctest::Approx(0.86));  // driven back: -4 (0.9 - 0.8)
  auto ros2 = Ros2Limits::make(limits(), soft).value();
  CHECK(ros2.position(0.9, at(0.5, 2), h).value == doctest::Approx(0.62));
  auto ros2_outside = Ros2Limits::make(limits(), soft).value();
  CHECK(ros2_outside.position(0.95, at(0.9), h).value == doctest::Approx(0.8));
}

TEST_CASE("a velocity is saturated by the acceleration limit") {
  auto ros1 = Ros1Limits::make(limits()).value();
  CHECK(ros1.velocity(9, at(0, 1.7), h).value ==
        doctest::Approx(0.5));  // from its own last command, zero at first
  CHECK(ros1.velocity(9, at(0, 1.7), h).value == doctest::Approx(1));
  CHECK(ros1.velocity(-9, at(0), h).value == doctest::Approx(0.5));
  auto ros2 = Ros2Limits::make(limits()).value();
  CHECK(ros2.velocity(9, at(0, 1.7), h).value == doctest::Approx(2));
  // At most 0.5 rad/s to the end of the range, at least 1.5 by the acceleration limit: the original swaps them.
  CHECK(ros2.velocity(9, at(0.95, 1.7), h).value == doctest::Approx(1.5));
  CHECK(ros2.velocity(0, at(0), h).value == doctest::Approx(1));
  auto outside = Ros2Limits::make(limits()).value();
  CHECK(outside.velocity(9, at(1.001), h).value == 0);
  CHECK(outside.velocity(-9, at(1.5), h).value == 0);
  auto inward = Ros2Limits::make(limits()).value();
  CHECK(inward.velocity(-1, at(1.001, -0.6), h).value == doctest::Approx(-1));
}

TEST_CASE("a velocity near soft limits, and outside them") {
  auto ros1 = Ros1Limits::make(limits(), soft).value();
  CHECK(ros1.velocity(9, at(0.5, 1), h).value == doctest::Approx(1.2));
  CHECK(ros1.velocity(9, at(0.5, 0), h).value == doctest::Approx(0.5));
  auto ros2 = Ros2Limits::make(limits(), soft).value();
  CHECK(ros2.velocity(9, at(0, 1.8), h).value == doctest::Approx(2));
  auto driven = Ros2Limits::make(limits(), soft).value();
  const double degree = 3.14159265358979 / 180;
  CHECK(std::abs(driven.velocity(0, at(0.9), h).value) ==
        doctest::Approx(degree));  // the known fault of the original
}

TEST_CASE("efforts do not drive on") {
  const auto ros1 = Ros1Limits::make(limits()).value();
  CHECK(ros1.effort(20, at(0)).value == 8);
  CHECK(ros1.effort(5, at(1.01)).value == 0);
  CHECK(ros1.effort(-5, at(1.01)).value == -5);
  CHECK(ros1.effort(5, at(0, 2.1)).value == 0);
  CHECK(ros1.effort(5, at(1)).value == 5);
  const auto ros2 = Ros2Limits::make(limits()).value();
  CHECK(ros2.effort(5, at(1)).value == 0);
  CHECK(ros2.effort(5, at(1, -0.1)).value == 5);
  const auto soft1 = Ros1Limits::make(limits(), soft).value();
  CHECK(soft1.effort(8, at(0.7, 0.1)).value == doctest::Approx(3));  // -10 (0.1 - 0.4)
  CHECK(soft1.effort(8, at(0.8, 0.5)).value == doctest::Approx(-5));
}

TEST_CASE("within the formulas no command leaves its range") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    auto ros1 = Ros1Limits::make(limits(), soft).value();
    auto ros2 = Ros2Limits::make(limits(), soft).value();
    double x1 = 0, x2 = 0;
    for (int k = 0; k < 200; ++k) {
      const double command = test::uniform(random, -3, 3);
      const double period = test::uniform(random, 0.001, 0.1);
      const double next1 = ros1.position(command, at(x1), period).value;
      CHECK(std::abs(next1) <= 0.8 + 1e-12);
      CHECK(std::abs(next1 - x1) <= 2 * period + 1e-12);
      x1 = next1;
      const double next2 = ros2.position(command, at(x2, test::uniform(random, -2, 2)), period).value;
      CHECK(std::abs(next2) <= 0.8 + 1e-12);
      x2 = next2;
    }
  }
}

TEST_CASE("bad numbers change nothing, limits that are none are refused by name") {
  auto ros2 = Ros2Limits::make(limits()).value();
  const double good = ros2.position(0.03, at(0), h).value;
  for (const double bad : {not_a_number, infinity}) {
    CHECK(ros2.position(bad, at(0), h).error == Errc::not_finite);
    CHECK(ros2.position(0, at(bad), h).error == Errc::not_finite);
    CHECK(ros2.position(bad, at(0), h).value == good);
    CHECK(ros2.effort(bad, at(0)).value == 0);
  }
  for (const double period : {0.0, -1.0, not_a_number, infinity})
    CHECK(ros2.position(0, at(0), period).error == Errc::bad_period);
  auto l = limits();
  l.position_min = 2;
  CHECK(Ros1Limits::make(l).error() == Errc::min_above_max);
  l = limits();
  l.velocity = not_a_number;
  CHECK(Ros1Limits::make(l).error() == Errc::not_finite);
  l.velocity = -1;
  CHECK(Ros1Limits::make(l).error() == Errc::out_of_domain);
  CHECK(Ros1Limits::make(limits(), SoftLimits{1, -1, 1, 1}).error() == Errc::min_above_max);
  CHECK(Ros1Limits::make(limits(), SoftLimits{-1, 1, infinity, 1}).error() == Errc::not_finite);
}
