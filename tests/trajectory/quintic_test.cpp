#include "takt/trajectory/quintic.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <vector>

#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;
using test::any_scale;
using test::any_state;
using test::uniform;

namespace {

/// Twenty rounding errors of half a unit in the last place in every term.
template <class Scalar>
constexpr Scalar rounding = 10 * std::numeric_limits<Scalar>::epsilon();

/// The rounding error of a derivative computed from the coefficients c. For position to jerk it is the sum of
/// the weights of c times the largest coefficient.
template <class Scalar>
Scalar tolerance(const BasicQuintic<Scalar>& quintic, std::size_t order) {
  constexpr std::array<Scalar, 4> weights{6, 1 + 2 + 3 + 4 + 5, 2 + 6 + 12 + 20, 6 + 24 + 60};
  Scalar scale = 0;
  for (const Scalar c : quintic.coefficients()) scale = std::max(scale, std::abs(c));
  return rounding<Scalar> * weights[order] * scale *
         std::pow(quintic.duration(), -static_cast<Scalar>(order));
}

/// The rounding error if the coefficients are computed too. The upper three are sums of at most 34, 50 and 20
/// times the largest input.
template <class Scalar>
Scalar tolerance(const BasicMotionState<Scalar>& start, const BasicMotionState<Scalar>& end, Scalar duration,
                 std::size_t order) {
  constexpr std::array<Scalar, 4> weights{3 + 34 + 50 + 20, 1 + 2 + 3 * 34 + 4 * 50 + 5 * 20,
                                          2 + 6 * 34 + 12 * 50 + 20 * 20, 6 * 34 + 24 * 50 + 60 * 20};
  return rounding<Scalar> * weights[order] * test::data_scale(start, end, duration) *
         std::pow(duration, -static_cast<Scalar>(order));
}

template <class Scalar>
BasicQuintic<Scalar> any_quintic(std::mt19937_64& random) {
  const double duration = any_scale(random, 1e-3, 1e3);
  const auto start = any_state<Scalar>(random, 3, 3 / duration, 10 / duration / duration);
  const auto end = any_state<Scalar>(random, 3, 3 / duration, 10 / duration / duration);
  return BasicQuintic<Scalar>::between(start, end, static_cast<Scalar>(duration));
}

}  // namespace

TEST_CASE_TEMPLATE("a quintic meets its boundary conditions", Scalar, double, float) {
  auto random = test::generator(10);
  for (std::size_t n = 0; n < test::count(5000); ++n) {
    const auto duration = static_cast<Scalar>(any_scale(random, min_duration, max_duration));
    const double speed = any_scale(random, 1e-3, 1e3) / static_cast<double>(duration);
    const auto start = any_state<Scalar>(random, 10, speed, speed * speed);
    const auto end = any_state<Scalar>(random, 10, speed, speed * speed);
    const auto quintic = BasicQuintic<Scalar>::between(start, end, duration);
    REQUIRE(std::abs(quintic.position(0) - start.position) <= tolerance(start, end, duration, 0));
    REQUIRE(std::abs(quintic.velocity(0) - start.velocity) <= tolerance(start, end, duration, 1));
    REQUIRE(std::abs(quintic.acceleration(0) - start.acceleration) <= tolerance(start, end, duration, 2));
    REQUIRE(std::abs(quintic.position(duration) - end.position) <= tolerance(start, end, duration, 0));
    REQUIRE(std::abs(quintic.velocity(duration) - end.velocity) <= tolerance(start, end, duration, 1));
    REQUIRE(std::abs(quintic.acceleration(duration) - end.acceleration) <=
            tolerance(start, end, duration, 2));
  }
}

TEST_CASE_TEMPLATE("a cubic and a straight line take over what they can, and the rest is their own", Scalar,
                   double, float) {
  auto random = test::generator(12);
  for (std::size_t n = 0; n < test::count(1000); ++n) {
    const auto duration = static_cast<Scalar>(any_scale(random, 1e-2, 1e3));
    const double speed = any_scale(random, 1e-3, 10) / static_cast<double>(duration);
    const auto start = any_state<Scalar>(random, 10, speed, speed * speed);
    const auto end = any_state<Scalar>(random, 10, speed, speed * speed);
    const auto cubic = BasicQuintic<Scalar>::between(start, end, duration, Degree::cubic);
    REQUIRE(cubic.position(0) == start.position);
    REQUIRE(std::abs(cubic.position(duration) - end.position) <= tolerance(start, end, duration, 0));
    REQUIRE(std::abs(cubic.velocity(0) - start.velocity) <= tolerance(start, end, duration, 1));
    REQUIRE(std::abs(cubic.velocity(duration) - end.velocity) <= tolerance(start, end, duration, 1));
    REQUIRE(std::abs(cubic.jerk(0) - cubic.jerk(duration)) <= tolerance(start, end, duration, 3));
    const auto line = BasicQuintic<Scalar>::between(start, end, duration, Degree::linear);
    REQUIRE(std::abs(line.position(duration) - end.position) <= tolerance(start, end, duration, 0));
    REQUIRE(std::abs(line.velocity(0) - line.velocity(duration)) <= tolerance(start, end, duration, 1));
    REQUIRE(line.acceleration(0) == 0);

    BasicQuinticSegment<Scalar> segment(1);
    for (const auto& [degree, piece] : {std::pair{Degree::cubic, cubic}, std::pair{Degree::linear, line}}) {
      REQUIRE(segment.set(std::span(&start, 1), std::span(&end, 1), duration, degree));
      REQUIRE(segment.joint(0).coefficients() == piece.coefficients());
      Scalar p = 0, v = 0, a = 0;  // after the end of the segment, its final state
      segment.sample(duration, std::span(&p, 1), std::span(&v, 1), std::span(&a, 1));
      REQUIRE(p == end.position);
      REQUIRE(std::abs(v - piece.velocity(duration)) <= tolerance(piece, 1));
      REQUIRE(a == piece.acceleration(duration));
    }
  }
}

TEST_CASE_TEMPLATE("extrema are never exceeded by dense sampling, and are touched where they say", Scalar,
                   double, float) {
  auto random = test::generator(11);
  constexpr int samples = 200;
  for (std::size_t n = 0; n < test::count(1000); ++n) {
    const auto quintic = any_quintic<Scalar>(random);
    const auto check = [&](const Extrema<Scalar>& extrema, std::size_t order, auto&& value) {
      const Scalar slack = tolerance(quintic, order);
      for (const auto& extremum : {extrema.min, extrema.max}) {
        REQUIRE(extremum.time >= 0);
        REQUIRE(extremum.time <= quintic.duration());
        REQUIRE(std::abs(value(extremum.time) - extremum.value) <= slack);
      }
      bool never_exceeded = true;
      for (int i = 0; i <= samples; ++i) {
        const Scalar x = value(quintic.duration() * static_cast<Scalar>(i) / samples);
        never_exceeded = never_exceeded && x <= extrema.max.value + slack && x >= extrema.min.value - slack;
      }
      REQUIRE(never_exceeded);
    };
    check(quintic.position_extrema(), 0, [&](Scalar t) { return quintic.position(t); });
    check(quintic.velocity_extrema(), 1, [&](Scalar t) { return quintic.velocity(t); });
    check(quintic.acceleration_extrema(), 2, [&](Scalar t) { return quintic.acceleration(t); });
    check(quintic.jerk_extrema(), 3, [&](Scalar t) { return quintic.jerk(t); });
  }
}

TEST_CASE("rest to rest peaks where the textbook says") {
  const auto quintic = Quintic::between({1, 0, 0}, {3, 0, 0}, 4);
  CHECK(quintic.velocity_extrema().peak().value == doctest::Approx(1.875 * 2 / 4));
  CHECK(quintic.velocity_extrema().peak().time == doctest::Approx(2));
  CHECK(quintic.acceleration_extrema().max.value == doctest::Approx(10 / std::sqrt(3.0) * 2 / 16));
  CHECK(quintic.jerk_extrema().max.value == doctest::Approx(60 * 2 / 64.0));
  CHECK(quintic.position_extrema().max.value == doctest::Approx(3));
}

TEST_CASE_TEMPLATE("a segment gives what its joints' quintics give", Scalar, double, float) {
  auto random = test::generator(12);
  for (std::size_t joints = 0; joints <= 20; ++joints) {
    BasicQuinticSegment<Scalar> segment(joints);
    std::vector<BasicMotionState<Scalar>> start, end;
    for (std::size_t j = 0; j < joints; ++j) {
      start.push_back(any_state<Scalar>(random, 3, 2, 5));
      end.push_back(any_state<Scalar>(random, 3, 2, 5));
    }
    REQUIRE(segment.set(start, end, Scalar(0.7)));
    std::vector<Scalar> p(joints), v(joints), a(joints);
    for (const Scalar t : {Scalar(0), Scalar(0.1), Scalar(0.35), Scalar(0.69)}) {
      segment.sample(t, p, v, a);
      for (std::size_t j = 0; j < joints; ++j) {
        const auto quintic = segment.joint(j);
        CHECK(std::abs(p[j] - quintic.position(t)) <= tolerance(quintic, 0));
        CHECK(std::abs(v[j] - quintic.velocity(t)) <= tolerance(quintic, 1));
        CHECK(std::abs(a[j] - quintic.acceleration(t)) <= tolerance(quintic, 2));
      }
    }
    for (const Scalar late : {Scalar(0.7), Scalar(8), std::numeric_limits<Scalar>::infinity()}) {
      segment.sample(late, p, v, a);
      for (std::size_t j = 0; j < joints; ++j) {
        CHECK(BasicMotionState<Scalar>{p[j], v[j], a[j]} == end[j]);
      }
    }
    for (const Scalar early : {Scalar(0), Scalar(-1), std::numeric_limits<Scalar>::quiet_NaN()}) {
      segment.sample(early, p, v, a);
      for (std::size_t j = 0; j < joints; ++j) CHECK(p[j] == start[j].position);
    }
  }
}

TEST_CASE("a segment refuses bad numbers and keeps its motion") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  QuinticSegment segment(1);
  const std::vector<MotionState> zero(1), one{{1, 0, 0}};
  REQUIRE(segment.set(zero, one, 2));
  const auto refused = [&](const std::vector<MotionState>& start, const std::vector<MotionState>& end,
                           double duration) {
    const Status status = segment.set(start, end, duration);
    REQUIRE_FALSE(status);
    CHECK(segment.duration() == 2);
    CHECK(segment.joint(0).position(2) == doctest::Approx(1));
    return status.error();
  };
  CHECK(refused({}, one, 1) == Errc::wrong_size);
  CHECK(refused(zero, {{}, {}}, 1) == Errc::wrong_size);
  CHECK(refused({{nan, 0, 0}}, one, 1) == Errc::not_finite);
  CHECK(refused(zero, {{0, infinity, 0}}, 1) == Errc::not_finite);
  CHECK(refused(zero, {{0, 0, 1e10}}, 1) == Errc::out_of_domain);
  CHECK(refused(zero, one, nan) == Errc::not_finite);
  CHECK(refused(zero, one, 0) == Errc::out_of_domain);
  CHECK(refused(zero, one, -1) == Errc::out_of_domain);
  CHECK(refused(zero, one, 1e-12) == Errc::out_of_domain);
  CHECK(refused(zero, one, 1e9) == Errc::out_of_domain);
  CHECK(refused(zero, one, std::numeric_limits<double>::denorm_min()) == Errc::out_of_domain);
}

TEST_CASE("an empty segment and spans that are too short are harmless") {
  QuinticSegment none;
  none.sample(1, {}, {}, {});
  CHECK(none.joint(3).position(1) == 0);
  QuinticSegment two(2);
  const std::vector<MotionState> start(2), end{{1, 0, 0}, {2, 0, 0}};
  REQUIRE(two.set(start, end, 1));
  std::vector<double> p(1, -1), v(2, -1), a(2, -1);
  two.sample(2, p, v, a);
  CHECK(p[0] == 1);
  CHECK(v[1] == -1);
}
