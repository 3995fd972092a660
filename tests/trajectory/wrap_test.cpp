#include "takt/trajectory/wrap.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;
using test::uniform;

namespace {

template <class Scalar>
Scalar rounding(Scalar angle, Scalar to) {
  return 4 * std::numeric_limits<Scalar>::epsilon() * std::max({std::abs(angle), std::abs(to), turn<Scalar>});
}

/// The distance of two angles on the circle.
double apart(long double a, long double b) {
  constexpr long double circle = 6.283185307179586476925286766559L;
  return static_cast<double>(std::abs(std::remainder(a - b, circle)));
}

}  // namespace

TEST_CASE_TEMPLATE("the nearest equivalent is at most half a turn away and the same angle", Scalar, double,
                   float) {
  auto random = test::generator(70);
  for (std::size_t n = 0; n < test::count(100000); ++n) {
    const double scale = test::any_scale(random, 1e-3, std::is_same_v<Scalar, double> ? 1e9 : 1e4);
    const auto angle = static_cast<Scalar>(test::any_number(random, scale));
    const auto to = static_cast<Scalar>(test::any_number(random, scale));
    const Scalar nearest = nearest_equivalent(angle, to);
    REQUIRE(std::abs(nearest - to) <= turn<Scalar> / 2 + rounding(angle, to));
    REQUIRE(apart(nearest, angle) <= static_cast<double>(rounding(angle, to)));
    if (std::abs(angle - to) < turn<Scalar> / 2) REQUIRE(nearest == angle);
    // The nearest angle stays, except half a turn away, where rounding decides which direction is nearer.
    if (std::abs(nearest - to) < turn<Scalar> / 2) REQUIRE(nearest_equivalent(nearest, to) == nearest);
  }
}

TEST_CASE("whole turns are subtracted exactly, from any position of the joint") {
  for (const double turns : {-1e8, -20.0, -1.0, 0.0, 1.0, 3.0, 1e8}) {
    const double to = turns * turn<double>;
    CHECK(nearest_equivalent(0.0, to) == to);
    CHECK(std::abs(nearest_equivalent(to, 0.0)) <= rounding(to, 0.0));
    CHECK(nearest_equivalent(to, to) == to);
  }
  CHECK(nearest_equivalent(-3.1, 3.1) == doctest::Approx(-3.1 + turn<double>));
  CHECK(nearest_equivalent(3.1, -3.1) == doctest::Approx(3.1 - turn<double>));
}

TEST_CASE("half a turn goes in the direction of the angle's sign") {
  constexpr double half = turn<double> / 2;
  CHECK(nearest_equivalent(half, 0.0) == half);
  CHECK(nearest_equivalent(-half, 0.0) == -half);
  CHECK(nearest_equivalent(3 * half, 0.0) == half);
  CHECK(nearest_equivalent(-3 * half, 0.0) == -half);
}

TEST_CASE("NaN and infinity have no equivalent angle") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK_FALSE(std::isfinite(nearest_equivalent(std::nan(""), 0.0)));
  CHECK_FALSE(std::isfinite(nearest_equivalent(0.0, std::nan(""))));
  CHECK_FALSE(std::isfinite(nearest_equivalent(infinity, 0.0)));
  CHECK_FALSE(std::isfinite(nearest_equivalent(0.0, -infinity)));
}

TEST_CASE("waypoints of wrapped joints take the short direction, those of the others stay") {
  auto random = test::generator(71);
  for (std::size_t n = 0; n < test::count(2000); ++n) {
    const std::size_t joints = 1 + n % 5;
    const JointSet wrapped =
        JointSet::from_bits(static_cast<std::uint64_t>(test::uniform_int(random, 0, 63)));
    std::vector<double> given, start;
    for (std::size_t j = 0; j < joints; ++j) start.push_back(uniform(random, -20, 20));
    for (std::size_t i = 0; i < joints * (n % 7); ++i) given.push_back(uniform(random, -20, 20));
    std::vector<double> positions = given;
    take_short_way<double>(positions, start, wrapped);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const double before = i < joints ? start[i] : positions[i - joints];
      if (!wrapped.contains(i % joints)) {
        REQUIRE(positions[i] == given[i]);
        continue;
      }
      REQUIRE(std::abs(positions[i] - before) <= turn<double> / 2 + 1e-12);
      REQUIRE(apart(positions[i], given[i]) < 1e-12);
    }
  }
}
