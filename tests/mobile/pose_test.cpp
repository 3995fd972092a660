#include "takt/mobile/pose.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "support/random.hpp"

using namespace takt;
using namespace takt::mobile;

namespace {

constexpr double pi = std::numbers::pi;

/// The exponential map by its series, with more digits than double.
Pose by_series(const Pose& from, const Twist& motion) {
  using Wide = long double;
  const Wide w = motion.rotation;
  Wide sine = 1, versine = w / 2;  // sin(w)/w and (1 - cos(w))/w
  Wide term_s = 1, term_v = w / 2;
  for (int k = 1; k < 30; ++k) {
    term_s *= -w * w / (2 * k * (2 * k + 1));
    term_v *= -w * w / ((2 * k + 1) * (2 * k + 2));
    sine += term_s;
    versine += term_v;
  }
  const Wide forward = sine * motion.forward - versine * motion.left;
  const Wide left = versine * motion.forward + sine * motion.left;
  const Wide c = std::cos(static_cast<Wide>(from.heading));
  const Wide s = std::sin(static_cast<Wide>(from.heading));
  return {static_cast<double>(from.x + c * forward - s * left),
          static_cast<double>(from.y + s * forward + c * left), wrap_angle(from.heading + motion.rotation)};
}

Pose around(PoseIntegration integration, int steps) {
  Pose pose;
  for (int k = 0; k < steps; ++k) pose = moved(pose, {2 * pi / steps, 0, 2 * pi / steps}, integration);
  return pose;
}

}  // namespace

TEST_CASE("an arc is exact for every rotation, also close to a straight line") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(20000); ++i) {
    const double rotation = std::copysign(std::exp(test::uniform(random, std::log(1e-300), std::log(6.0))),
                                          test::uniform(random, -1, 1));
    const Twist motion{test::uniform(random, -1, 1), test::uniform(random, -1, 1), rotation};
    const Pose from{test::uniform(random, -1, 1), test::uniform(random, -1, 1),
                    test::uniform(random, -pi, pi)};
    const Pose got = moved(from, motion);
    const Pose wanted = by_series(from, motion);
    CHECK(std::abs(got.x - wanted.x) < 2e-15);
    CHECK(std::abs(got.y - wanted.y) < 2e-15);
    CHECK(got.heading == wanted.heading);
  }
}

TEST_CASE("straight on is straight on") {
  CHECK(moved(Pose{}, {2, 0, 0}) == Pose{2, 0, 0});
  CHECK(moved(Pose{}, {0, 3, 0}) == Pose{0, 3, 0});
}

TEST_CASE("a circle closes to 1e-12 in however many steps") {
  for (const int steps : {1, 2, 3, 7, 100, 1000, 10000}) {
    const Pose end = around(PoseIntegration::exact_arc, steps);
    CHECK(std::hypot(end.x, end.y) < 1e-12);
    CHECK(std::abs(end.heading) < 1e-11);
  }
}

TEST_CASE("the simpler rules are of the order that they say") {
  // Half a circle. Euler's end point is off by one chord, to first order. The mean heading makes the circle
  // larger, to second order.
  const auto half_way_error = [](PoseIntegration integration, int steps) {
    Pose pose;
    for (int k = 0; k < steps; ++k) pose = moved(pose, {pi / steps, 0, pi / steps}, integration);
    return std::hypot(pose.x, pose.y - 2);
  };
  CHECK(half_way_error(PoseIntegration::euler, 100) / half_way_error(PoseIntegration::euler, 200) ==
        doctest::Approx(2).epsilon(0.01));
  CHECK(half_way_error(PoseIntegration::runge_kutta, 100) /
            half_way_error(PoseIntegration::runge_kutta, 200) ==
        doctest::Approx(4).epsilon(0.01));
  CHECK(half_way_error(PoseIntegration::exact_arc, 100) < 1e-13);
}

TEST_CASE("the pose returns after many steps around a circle") {
  // --count=100000000 is the long run.
  const std::size_t turns = test::count(1'000'000) / 1000;
  Pose pose;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (int k = 0; k < 1000; ++k) pose = moved(pose, {2 * pi / 1000, 0, 2 * pi / 1000});
  }
  CHECK(std::hypot(pose.x, pose.y) < 1e-6);
  CHECK(std::abs(pose.heading) < 1e-6);
}

TEST_CASE("angles wrap to half a turn either way") {
  CHECK(wrap_angle(3 * pi / 2) == doctest::Approx(-pi / 2));
  CHECK(wrap_angle(-3 * pi / 2) == doctest::Approx(pi / 2));
  CHECK(wrap_angle(0.5) == 0.5);
  CHECK(std::abs(wrap_angle(1e6)) <= pi);
  CHECK(wrap_angle(-pi) == pi);
  CHECK(wrap_angle(pi) == pi);
  CHECK(wrap_angle(3 * pi) == pi);
  CHECK(wrap_angle(std::numbers::pi_v<float> * -1) == std::numbers::pi_v<float>);
  CHECK(std::isnan(wrap_angle(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("an angle wraps to the exact remainder, however large it is") {
  auto random = test::generator(616);
  const auto expect_remainder = [](double angle) {
    CAPTURE(angle);
    const double exact = std::remainder(angle, 2 * pi);
    REQUIRE(wrap_angle(angle) == (exact == -pi ? pi : exact));
  };
  for (std::size_t i = 0; i < test::count(20000); ++i) {
    expect_remainder(test::uniform(random, -12, 12));
    expect_remainder(std::ldexp(test::uniform(random, -1, 1), static_cast<int>(i % 200)));
  }
  for (int quarters = -16; quarters <= 16; ++quarters) {
    const double angle = quarters * pi / 2;
    for (const double near : {std::nextafter(angle, -100.0), angle, std::nextafter(angle, 100.0)})
      expect_remainder(near);
  }
}
