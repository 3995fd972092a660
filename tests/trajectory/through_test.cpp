#include "takt/trajectory/through.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "takt/trajectory/limits.hpp"
#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;
using test::any_number;
using test::any_scale;

namespace {

constexpr auto every_way = {Through::stop, Through::given, Through::smooth, Through::cubic,
                            Through::monotone};

/// The derivative of the given order by time at one end of a piece.
template <std::size_t Order>
double derivative_at(const Quintic& piece, double s) {
  return evaluate(piece.by_s<Order>(), s) / std::pow(piece.duration(), Order);
}

/// The magnitude of the derivative of the given order in the pieces around a knot.
template <std::size_t Order>
double scale_of(const Quintic& piece) {
  double scale = 0;
  for (const double c : piece.coefficients()) scale = std::max(scale, std::abs(c));
  return scale * std::pow(piece.duration(), -static_cast<double>(Order));
}

template <std::size_t Order>
double worst_step(const Trajectory& trajectory) {
  double worst = 0;
  for (std::size_t k = 1; k < trajectory.segments(); ++k) {
    for (std::size_t j = 0; j < trajectory.joints(); ++j) {
      const Quintic before = trajectory.piece(k - 1, j);
      const Quintic after = trajectory.piece(k, j);
      const double step = std::abs(derivative_at<Order>(before, 1) - derivative_at<Order>(after, 0));
      worst = std::max(worst, step / std::max({scale_of<Order>(before), scale_of<Order>(after), 1e-300}));
    }
  }
  return worst;
}

double squared_jerk(const Trajectory& trajectory) {
  double sum = 0;
  for (std::size_t k = 0; k < trajectory.segments(); ++k) {
    const Quintic piece = trajectory.piece(k, 0);
    const auto jerk = piece.by_s<3>();
    double square = 0;  // of the polynomial, integrated over s = 0 .. 1
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t m = 0; m < 3; ++m) square += jerk[i] * jerk[m] / static_cast<double>(i + m + 1);
    }
    sum += square * std::pow(piece.duration(), -5);
  }
  return sum;
}

}  // namespace

TEST_CASE("a smooth trajectory is continuous up to the fourth derivative") {
  auto random = test::generator(30);
  for (std::size_t n = 0; n < test::count(300); ++n) {
    const double ratio = n % 4 == 0 ? max_duration_ratio : n % 4 == 1 ? 1e3 : 10;
    const double tolerance = 1e-9;
    const auto table = test::any_waypoints<double>(random, 2 + n % 20, 1 + n % 4, ratio);
    const auto trajectory = through(table.view(), Through::smooth).value();
    REQUIRE(worst_step<0>(trajectory) <= tolerance);
    REQUIRE(worst_step<1>(trajectory) <= tolerance);
    REQUIRE(worst_step<2>(trajectory) <= tolerance);
    REQUIRE(worst_step<3>(trajectory) <= tolerance);
    REQUIRE(worst_step<4>(trajectory) <= tolerance);
    const std::size_t last = trajectory.segments();
    const std::size_t row = last * table.joints;
    REQUIRE(trajectory.knot(last, 0) ==
            MotionState{table.positions[row], table.velocities[row], table.accelerations[row]});
  }
}

TEST_CASE("no other inner derivatives have less jerk than the smooth ones") {
  auto random = test::generator(31);
  for (std::size_t n = 0; n < test::count(200); ++n) {
    auto table = test::any_waypoints<double>(random, 3 + n % 5, 1);
    const auto smooth = through(table.view(), Through::smooth).value();
    const double least = squared_jerk(smooth);
    for (std::size_t k = 1; k + 1 < table.times.size(); ++k) {
      const MotionState knot = smooth.knot(k, 0);
      table.velocities[k] = knot.velocity + test::uniform(random, -0.1, 0.1);
      table.accelerations[k] = knot.acceleration + test::uniform(random, -0.1, 0.1);
    }
    REQUIRE(squared_jerk(through(table.view(), Through::given).value()) > least);
  }
}

TEST_CASE("a quintic through its own points is found again by the smooth trajectory") {
  const auto quintic = Quintic::between({1, -2, 3}, {0, 2, -1}, 3);
  std::vector<double> times, positions, velocities, accelerations;
  for (const double t : {0.0, 0.4, 1.5, 1.9, 3.0}) {
    times.push_back(t);
    positions.push_back(quintic.position(t));
    velocities.push_back(t == 0 || t == 3 ? quintic.velocity(t) : 99);  // the inner ones are ignored
    accelerations.push_back(t == 0 || t == 3 ? quintic.acceleration(t) : 99);
  }
  const auto smooth =
      through(Waypoints{1, times, positions, velocities, accelerations}, Through::smooth).value();
  for (double t = 0; t < 3; t += 0.01) {
    CHECK(smooth.at(t, 0).position == doctest::Approx(quintic.position(t)).epsilon(1e-10));
    CHECK(smooth.at(t, 0).acceleration == doctest::Approx(quintic.acceleration(t)).epsilon(1e-9));
  }
}

TEST_CASE("a cubic trajectory is a cubic between waypoints, and continuous up to the acceleration") {
  auto random = test::generator(35);
  for (std::size_t n = 0; n < test::count(300); ++n) {
    const double ratio = n % 4 == 0 ? 1e6 : n % 4 == 1 ? 1e3 : 10;
    auto table = test::any_waypoints<double>(random, 2 + n % 20, 1 + n % 4, ratio);
    const bool natural = n % 3 == 0;
    const bool full = n % 3 == 2;
    if (natural) table.velocities.clear();
    if (!full) table.accelerations.clear();
    const auto trajectory = through(table.view(), Through::cubic).value();
    REQUIRE(worst_step<0>(trajectory) <= 1e-9);
    REQUIRE(worst_step<1>(trajectory) <= 1e-9);
    REQUIRE(worst_step<2>(trajectory) <= 1e-9);
    const std::size_t last = trajectory.segments() - 1;
    for (std::size_t j = 0; j < table.joints; ++j) {
      for (std::size_t k = 0; k <= last; ++k) {
        const auto c = trajectory.piece(k, j).coefficients();
        // A velocity can be a small difference of its neighbours' terms. Its error is relative to those
        // terms: 1e-9, as for the steps.
        const double tolerance = 1e-9 * scale_of<0>(trajectory.piece(k, j));
        const bool quartic = full && (k == 0 || k == last);
        if (!quartic) REQUIRE(std::abs(c[4]) <= tolerance);
        if (last > 0 || !quartic) REQUIRE(std::abs(c[5]) <= tolerance);
      }
      for (const std::size_t k : {std::size_t{0}, last + 1}) {
        const std::size_t i = k * table.joints + j;
        const MotionState knot = trajectory.knot(k, j);
        REQUIRE(knot.position == table.positions[i]);
        if (natural) REQUIRE(knot.acceleration == 0);
        if (!natural) REQUIRE(knot.velocity == doctest::Approx(table.velocities[i]).epsilon(1e-12));
        if (full) REQUIRE(knot.acceleration == doctest::Approx(table.accelerations[i]).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("no other inner velocities have less squared acceleration than the cubic ones") {
  auto random = test::generator(36);
  for (std::size_t n = 0; n < test::count(200); ++n) {
    auto table = test::any_waypoints<double>(random, 3 + n % 5, 1);
    table.accelerations.clear();
    const auto spline = through(table.view(), Through::cubic).value();
    const auto squared_acceleration = [&](double change) {
      double sum = 0;
      for (std::size_t k = 0; k < spline.segments(); ++k) {
        MotionState start = spline.knot(k, 0);
        MotionState end = spline.knot(k + 1, 0);
        if (k > 0) start.velocity += change;
        if (k + 1 < spline.segments()) end.velocity += change;
        const double duration = spline.piece(k, 0).duration();
        const auto piece = Quintic::between(start, end, duration, Degree::cubic);
        const double a0 = piece.acceleration(0);
        const double a1 = piece.acceleration(duration);
        sum += duration * (a0 * a0 + a0 * a1 + a1 * a1) / 3;
      }
      return sum;
    };
    REQUIRE(squared_acceleration(0.1) > squared_acceleration(0));
    REQUIRE(squared_acceleration(-0.1) > squared_acceleration(0));
  }
}

TEST_CASE("a cubic through its own points is found again by the cubic trajectory") {
  const auto cubic = Quintic::between({1, -2, 0}, {0, 2, 0}, 3, Degree::cubic);
  std::vector<double> times, positions, velocities, accelerations;
  for (const double t : {0.0, 0.4, 1.5, 1.9, 3.0}) {
    times.push_back(t);
    positions.push_back(cubic.position(t));
    velocities.push_back(t == 0 || t == 3 ? cubic.velocity(t) : 99);  // the inner ones are ignored
    accelerations.push_back(t == 0 || t == 3 ? cubic.acceleration(t) : 99);
  }
  for (const bool full : {false, true}) {
    const std::span<const double> given =
        full ? std::span<const double>(accelerations) : std::span<const double>();
    const auto spline = through(Waypoints{1, times, positions, velocities, given}, Through::cubic).value();
    for (double t = 0; t < 3; t += 0.01) {
      CHECK(spline.at(t, 0).position == doctest::Approx(cubic.position(t)).epsilon(1e-12));
      CHECK(spline.at(t, 0).acceleration == doctest::Approx(cubic.acceleration(t)).epsilon(1e-11));
    }
  }
  // Without derivatives a straight line joins two points.
  const std::vector<double> two{0, 2}, places{1, 4};
  CHECK(through(Waypoints{1, two, places, {}, {}}, Through::cubic).value().at(0.5, 0) ==
        MotionState{1.75, 1.5, 0});
}

TEST_CASE_TEMPLATE("a monotone trajectory never leads beyond its waypoints, and has no step in acceleration",
                   Scalar, double, float) {
  auto random = test::generator(37);
  const Scalar rounding = 100 * std::numeric_limits<Scalar>::epsilon();
  for (std::size_t n = 0; n < test::count(500); ++n) {
    auto table = test::any_waypoints<Scalar>(random, 2 + n % 20, 1 + n % 4, 1e3);
    table.velocities.clear();
    table.accelerations.clear();
    const auto trajectory = through(table.view(), Through::monotone).value();
    for (std::size_t k = 0; k < trajectory.segments(); ++k) {
      for (std::size_t j = 0; j < table.joints; ++j) {
        const auto piece = trajectory.piece(k, j);
        const Scalar from = table.positions[k * table.joints + j];
        const Scalar to = table.positions[(k + 1) * table.joints + j];
        const auto extrema = piece.position_extrema();
        REQUIRE(extrema.min.value >= std::min(from, to) - 5 * rounding);
        REQUIRE(extrema.max.value <= std::max(from, to) + 5 * rounding);
        // It never reverses either.
        const auto velocities = piece.velocity_extrema();
        const Scalar still = rounding * 20 / piece.duration();
        if (to >= from) REQUIRE(velocities.min.value >= -still);
        if (to <= from) REQUIRE(velocities.max.value <= still);
        REQUIRE(trajectory.knot(k, j).acceleration == 0);
      }
    }
  }
}

TEST_CASE("of what is given, only the derivatives at its ends count for a smooth and a monotone trajectory") {
  auto random = test::generator(38);
  for (std::size_t n = 0; n < test::count(100); ++n) {
    auto table = test::any_waypoints<double>(random, 2 + n % 5, 1 + n % 3);
    const auto with = [&](Through mode) { return through(table.view(), mode).value(); };
    const std::array before{with(Through::smooth), with(Through::monotone)};
    for (std::size_t i = table.joints; i + table.joints < table.positions.size(); ++i) {
      table.velocities[i] = test::uniform(random, -9, 9);
      table.accelerations[i] = test::uniform(random, -9, 9);
    }
    const std::array after{with(Through::smooth), with(Through::monotone)};
    const std::size_t last = before[0].segments();
    for (std::size_t way = 0; way < before.size(); ++way) {
      for (std::size_t j = 0; j < table.joints; ++j) {
        for (std::size_t k = 0; k <= last; ++k) REQUIRE(after[way].knot(k, j) == before[way].knot(k, j));
        for (const std::size_t k : {std::size_t{0}, last}) {
          const std::size_t i = k * table.joints + j;
          const MotionState knot = after[way].knot(k, j);
          REQUIRE(knot.velocity == doctest::Approx(table.velocities[i]).epsilon(1e-12));
          REQUIRE(knot.acceleration == doctest::Approx(table.accelerations[i]).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("a monotone trajectory goes straight where its waypoints do, and stands where they turn") {
  const std::vector<double> times{0, 1, 2, 3, 4, 5}, positions{0, 1, 2, 3, 4, 3};
  const auto trajectory = through(Waypoints{1, times, positions, {}, {}}, Through::monotone).value();
  for (double t = 1; t < 3; t += 0.1) CHECK(trajectory.at(t, 0).velocity == doctest::Approx(1));
  CHECK(trajectory.knot(4, 0) == MotionState{4, 0, 0});
}

TEST_CASE("splines whose tables do not fit are refused by name") {
  CubicSpline spline(3);
  const std::vector<double> times{0, 1, 2}, four{0, 1, 2, 3}, one{0};
  std::vector<double> p(3), v(3), a(3), more(4);
  const auto solve = [&](std::span<const double> t, std::vector<double>& velocities, std::size_t joints = 1) {
    return spline.solve(joints, t, p, velocities, a, CubicEnds::natural);
  };
  CHECK(solve(times, v));
  CHECK(solve(times, more).error() == Errc::wrong_size);
  CHECK(solve(times, v, 0).error() == Errc::wrong_size);
  CHECK(solve(four, v).error() == Errc::wrong_size);
  CHECK(solve({}, v).error() == Errc::wrong_size);
  CHECK(solve(one, v).error() == Errc::one_waypoint);
  const std::span<const double> t(times), positions(p);
  CHECK(monotone_velocities(1, t, positions, std::span(v)));
  CHECK(monotone_velocities(1, t, positions, std::span(more)).error() == Errc::wrong_size);
  CHECK(monotone_velocities(0, t, positions, std::span(v)).error() == Errc::wrong_size);
}

TEST_CASE("stopping at each waypoint is rest there, whatever derivatives are given") {
  auto random = test::generator(32);
  const auto table = test::any_waypoints<double>(random, 5, 2);
  const auto trajectory = through(table.view(), Through::stop).value();
  for (std::size_t k = 0; k < 5; ++k)
    CHECK(trajectory.knot(k, 1) == MotionState{table.positions[2 * k + 1], 0, 0});
}

TEST_CASE("accelerations that are not given are zero") {
  const std::vector<double> times{0, 1, 2}, positions{0, 1, 0}, velocities{0, 1, 0};
  const auto trajectory = through(Waypoints{1, times, positions, velocities, {}}, Through::given).value();
  CHECK(trajectory.knot(1, 0) == MotionState{1, 1, 0});
}

TEST_CASE("waypoints that make no trajectory are refused by name") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Case {
    Errc expected;
    std::vector<double> times, positions, velocities{}, accelerations{};
    std::size_t joints = 1;
  };
  const std::vector<Case> cases{
      {Errc::no_waypoints, {}, {}},
      {Errc::one_waypoint, {0}, {1}},
      {Errc::wrong_size, {0, 1}, {1}},
      {Errc::wrong_size, {0, 1}, {1, 2, 3}},
      {Errc::wrong_size, {0, 1}, {1, 2, 3}, {}, {}, 2},
      {Errc::wrong_size, {0, 1}, {1, 2}, {}, {}, 0},
      {Errc::wrong_size, {0, 1}, {1, 2}, {0}},
      {Errc::wrong_size, {0, 1}, {1, 2}, {0, 0}, {0, 0, 0}},
      {Errc::wrong_size, {0, 1}, {1, 2}, {}, {}, std::numeric_limits<std::size_t>::max()},
      {Errc::times_not_increasing, {0, 0}, {1, 2}},
      {Errc::times_not_increasing, {1, 0}, {1, 2}},
      {Errc::not_finite, {0, nan}, {1, 2}},
      {Errc::not_finite, {0, infinity}, {1, 2}},
      {Errc::not_finite, {0, 1}, {1, nan}},
      {Errc::not_finite, {0, 1}, {1, 2}, {infinity, 0}},
      {Errc::not_finite, {0, 1}, {1, 2}, {0, 0}, {0, -infinity}},
      {Errc::out_of_domain, {0, 1e-12}, {1, 2}},
      {Errc::out_of_domain, {0, 1e9}, {1, 2}},
      {Errc::out_of_domain, {0, 1}, {1, 2e9}},
      {Errc::out_of_domain, {0, 6e5, 1.2e6}, {1, 2, 3}},
  };
  for (const Case& c : cases) {
    CAPTURE(describe(c.expected));
    for (const Through mode : every_way) {
      if (mode == Through::given && c.velocities.empty() && c.expected != Errc::no_velocities) continue;
      const auto result =
          through(Waypoints{c.joints, c.times, c.positions, c.velocities, c.accelerations}, mode);
      REQUIRE_FALSE(result);
      CHECK(result.error() == c.expected);
    }
  }
  const std::vector<double> times{0, 1}, positions{0, 1}, uneven{0, 1e-3, 1e3}, three{0, 1, 2};
  CHECK(through(Waypoints{1, times, positions, {}, {}}, Through::given).error() == Errc::no_velocities);
  CHECK(through(Waypoints{1, uneven, three, {}, {}}, Through::smooth).error() == Errc::out_of_domain);
}

TEST_CASE_TEMPLATE("inside the domain nothing becomes NaN or infinite", Scalar, double, float) {
  auto random = test::generator(33);
  std::size_t made = 0;
  for (std::size_t n = 0; n < test::count(3000); ++n) {
    const std::size_t waypoints = 2 + n % 4;
    test::WaypointTable<Scalar> table;
    table.joints = 1;
    const double typical = any_scale(random, min_duration, max_duration / 10);
    Scalar time = 0;
    for (std::size_t k = 0; k < waypoints; ++k) {
      table.times.push_back(time);
      time += static_cast<Scalar>(std::max(min_duration, typical * test::uniform(random, 0.5, 2)));
      table.positions.push_back(
          static_cast<Scalar>(any_number(random, any_scale(random, 1e-12, max_magnitude))));
      table.velocities.push_back(
          static_cast<Scalar>(any_number(random, any_scale(random, 1e-12, max_magnitude))));
      table.accelerations.push_back(
          static_cast<Scalar>(any_number(random, any_scale(random, 1e-12, max_magnitude))));
    }
    for (const Through mode : every_way) {
      auto trajectory = through(table.view(), mode);
      if (!trajectory) {
        REQUIRE((mode != Through::stop && mode != Through::given));
        REQUIRE(trajectory.error() == Errc::out_of_domain);
        continue;
      }
      ++made;
      Cursor cursor;
      Scalar p = 0, v = 0, a = 0;
      for (int i = 0; i <= 20; ++i) {
        const Scalar t = trajectory->duration() * static_cast<Scalar>(i) / 20;
        trajectory->sample(t, cursor, std::span(&p, 1), std::span(&v, 1), std::span(&a, 1));
        REQUIRE((std::isfinite(p) && std::isfinite(v) && std::isfinite(a)));
      }
      const BasicJointLimits<Scalar> limits{-10, 10, 1, 2, 3, 4};
      if (const auto violation = find_violation(*trajectory, std::span(&limits, 1))) {
        REQUIRE(std::isfinite(violation->value));
        REQUIRE(std::isfinite(violation->time));
      }
      REQUIRE_FALSE(std::isnan(required_slowdown(*trajectory, std::span(&limits, 1))));
    }
  }
  CHECK(made > 0);
}

TEST_CASE_TEMPLATE("the fast check of many numbers agrees with the check of one", Scalar, double, float) {
  using Limits = std::numeric_limits<Scalar>;
  const Scalar edge = static_cast<Scalar>(max_magnitude);
  for (const Scalar sign : {Scalar(1), Scalar(-1)}) {
    for (const Scalar number :
         {Scalar(0), Limits::denorm_min(), Scalar(1), edge, std::nextafter(edge, Limits::max()),
          Limits::max(), Limits::infinity(), Limits::quiet_NaN(), Limits::signaling_NaN()}) {
      std::vector<Scalar> numbers(7, Scalar(0.5));
      numbers[5] = sign * number;
      const bool expected = static_cast<bool>(check_number(numbers[5]));
      CHECK(kernels_for<Scalar>(1).all_within(numbers.data(), numbers.size(), edge) == expected);
    }
  }
}

TEST_CASE("a new assignment replaces the trajectory, and a bad one changes nothing") {
  auto random = test::generator(34);
  const auto large = test::any_waypoints<double>(random, 9, 5);
  auto small = test::any_waypoints<double>(random, 3, 1);
  Trajectory trajectory;
  REQUIRE(trajectory.assign(large.view()));
  REQUIRE(trajectory.assign(small.view()));
  const auto fresh = through(small.view(), Through::given).value();
  CHECK(trajectory.segments() == 2);
  CHECK(trajectory.joints() == 1);
  for (double t = -0.1; t < fresh.duration() + 0.1; t += 0.01) CHECK(trajectory.at(t, 0) == fresh.at(t, 0));
  small.positions[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK(trajectory.assign(small.view()).error() == Errc::not_finite);
  small.positions[1] = 0;
  small.accelerations.clear();
  CHECK(trajectory.assign(small.view()).error() == Errc::no_velocities);
  CHECK(trajectory.at(0.05, 0) == fresh.at(0.05, 0));
}

TEST_CASE("a hundred thousand waypoints are no problem") {
  const std::size_t count = test::count(0) > 0 ? 100'000 : 20'000;
  std::vector<double> times(count), positions(count);
  for (std::size_t k = 0; k < count; ++k) {
    times[k] = 0.01 * static_cast<double>(k);
    positions[k] = std::sin(times[k]);
  }
  const auto trajectory = through(Waypoints{1, times, positions, {}, {}}, Through::smooth).value();
  CHECK(trajectory.at(100.003, 0).position == doctest::Approx(std::sin(100.003)));
  CHECK(trajectory.at(100.003, 0).velocity == doctest::Approx(std::cos(100.003)));
}
