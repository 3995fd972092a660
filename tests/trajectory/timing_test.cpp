#include "takt/trajectory/timing.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;

namespace {

constexpr auto ways = {Through::stop, Through::smooth, Through::cubic, Through::monotone};
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Scalar>
struct Problem {
  std::size_t joints;
  std::vector<Scalar> positions;
  std::vector<BasicJointLimits<Scalar>> limits;

  Problem(std::mt19937_64& random, std::size_t waypoints, std::size_t count) : joints(count) {
    for (std::size_t i = 0; i < waypoints * joints; ++i)
      positions.push_back(static_cast<Scalar>(test::uniform(random, -2, 2)));
    limits.resize(joints);
    for (auto& limit : limits) {
      limit.velocity = static_cast<Scalar>(test::uniform(random, 0.5, 1.5));
      limit.acceleration = static_cast<Scalar>(test::uniform(random, 1, 5));
      if (random() % 2 == 0) limit.jerk = static_cast<Scalar>(test::uniform(random, 10, 50));
    }
  }
  /// Waypoints on a curve, instead of back and forth.
  void lie_on_a_curve() {
    for (std::size_t i = 0; i < positions.size(); ++i)
      positions[i] =
          static_cast<Scalar>(std::sin(0.3 * static_cast<double>((i / joints) * (i % joints + 1))));
  }
  [[nodiscard]] BasicWaypoints<Scalar> waypoints(std::span<const Scalar> times = {}) const {
    return {joints, times, positions, {}, {}};
  }
};

/// The duration of the motion with these durations after it is slowed down, or sped up, to its limits.
double shortest_uniform(const Problem<double>& problem, Through mode, const std::vector<double>& durations) {
  std::vector<double> times{0};
  for (const double duration : durations) times.push_back(times.back() + duration);
  const std::vector<double> rest(problem.positions.size());
  auto motion = through(Waypoints{problem.joints, times, problem.positions, rest, rest}, mode);
  if (!motion || !motion->slow_down(1e-2)) return infinity;  // so that the factor is above 1
  return motion->duration() * required_slowdown(*motion, problem.limits);
}

/// The best of many random changes, large ones first.
double brute_force(const Problem<double>& problem, Through mode, std::vector<double> durations,
                   std::mt19937_64& random) {
  double best = shortest_uniform(problem, mode, durations);
  for (double step = 0.3; step > 2e-3; step /= 2) {
    for (std::size_t i = 0; i < 30 * durations.size(); ++i) {
      auto changed = durations;
      for (double& duration : changed) {
        if (random() % 2 == 0) duration *= std::exp(test::uniform(random, -step, step));
      }
      const double total = shortest_uniform(problem, mode, changed);
      if (!(total < best)) continue;
      best = total;
      durations = changed;
    }
  }
  return best;
}

}  // namespace

TEST_CASE_TEMPLATE("allocated times keep the limits, and touch one", Scalar, double, float) {
  auto random = test::generator(80);
  for (std::size_t n = 0; n < test::count(60, 1000); ++n) {
    const Problem<Scalar> problem(random, 2 + n % 12, 1 + n % 7);
    for (const Through mode : ways) {
      auto motion = through_within(problem.waypoints(), mode, problem.limits).value().trajectory;
      REQUIRE(motion.segments() == problem.positions.size() / problem.joints - 1);
      REQUIRE_FALSE(find_violation(motion, problem.limits));
      for (std::size_t j = 0; j < problem.joints; ++j) {
        const auto end = motion.knot(motion.segments(), j);
        REQUIRE(motion.knot(0, j) == BasicMotionState<Scalar>{problem.positions[j], 0, 0});
        REQUIRE(end.velocity == 0);
        REQUIRE(end.acceleration == 0);
      }
      REQUIRE(motion.slow_down(Scalar(0.999)));
      REQUIRE(find_violation(motion, problem.limits));
    }
  }
}

TEST_CASE_TEMPLATE(
    "durations of few segments keep the limits, and would not if they were one per cent shorter", Scalar,
    double, float) {
  auto random = test::generator(87);
  for (std::size_t n = 0; n < test::count(400); ++n) {
    const Problem<Scalar> problem(random, 2 + n % 3, 1 + n % 2);
    const Through mode = *(ways.begin() + n / 6 % ways.size());
    auto motion = through_within(problem.waypoints(), mode, problem.limits).value().trajectory;
    const auto stopping =
        through_within(problem.waypoints(), Through::stop, problem.limits).value().trajectory;
    REQUIRE_FALSE(find_violation(motion, problem.limits));
    REQUIRE(motion.duration() <= stopping.duration() * (1 + 10 * std::numeric_limits<Scalar>::epsilon()));
    REQUIRE(motion.slow_down(Scalar(0.99)));
    REQUIRE(find_violation(motion, problem.limits));
  }
}

TEST_CASE("they are nearly the shortest that brute force finds") {
  auto random = test::generator(81);
  for (const Through mode : ways) {
    double worst = 0;
    double sum = 0;
    const std::size_t count = test::count(12, 10'000);
    for (std::size_t n = 0; n < count; ++n) {
      Problem<double> problem(random, 2 + n % 8, 1 + n % 4);
      if (n % 2 == 1) problem.lie_on_a_curve();
      const auto motion = through_within(problem.waypoints(), mode, problem.limits).value().trajectory;
      std::vector<double> durations;
      for (std::size_t k = 0; k < motion.segments(); ++k)
        durations.push_back(motion.knot_time(k + 1) - motion.knot_time(k));
      const double ratio = motion.duration() / brute_force(problem, mode, durations, random);
      worst = std::max(worst, ratio);
      sum += ratio;
    }
    CAPTURE(static_cast<int>(mode));
    CHECK(worst <= (mode == Through::stop ? 1 + 1e-6 : 1.12));
    CHECK(sum / static_cast<double>(count) <= 1.02);
  }
}

TEST_CASE("going through is never slower than stopping, however unlike the segments are") {
  auto random = test::generator(83);
  for (std::size_t n = 0; n < test::count(40, 10'000); ++n) {
    Problem<double> problem(random, 2 + n % 40, 1 + n % 3);
    if (n % 2 == 0) {
      for (std::size_t i = problem.joints; i < problem.positions.size(); ++i) {
        const double step = test::any_scale(random, 1e-4, 3) * (random() % 2 == 0 ? 1 : -1);
        problem.positions[i] = problem.positions[i - problem.joints] + step;
      }
    }
    const double stopping =
        through_within(problem.waypoints(), Through::stop, problem.limits).value().trajectory.duration();
    for (const Through mode : ways) {
      const auto motion = through_within(problem.waypoints(), mode, problem.limits).value().trajectory;
      REQUIRE(motion.duration() <= stopping * (1 + 1e-9));
      REQUIRE_FALSE(find_violation(motion, problem.limits));
    }
  }
}

TEST_CASE("hundreds of segments take hardly longer than their parts from rest to rest, one after the other") {
  constexpr std::size_t parts = 20;
  constexpr std::size_t segments = 10;
  // The second is one of which the search once gave its last motion, and had found a better one before.
  for (auto random : {test::generator(84), std::mt19937_64(3552578362 * 0x9e3779b97f4a7c15u + 84)}) {
    for (const Through mode : ways) {
      Problem<double> whole(random, 1, 2);
      double sum = 0;
      for (std::size_t part = 0; part < parts;) {
        Problem<double> alone(random, segments + 1, whole.joints);
        const auto timed = through_within(alone.waypoints(), mode, whole.limits).value();
        if (timed.mode != mode) continue;  // it stops at its waypoints: the whole cannot, at these alone
        ++part;
        sum += timed.trajectory.duration();
        for (std::size_t i = 0; i < segments * whole.joints; ++i)
          whole.positions.push_back(whole.positions[whole.positions.size() - whole.joints] +
                                    alone.positions[i + whole.joints] - alone.positions[i]);
      }
      CAPTURE(static_cast<int>(mode));
      const auto all = through_within(whole.waypoints(), mode, whole.limits).value();
      CHECK(all.trajectory.duration() <= 1.03 * sum);
    }
  }
}

TEST_CASE("along a curve, going through takes less than two thirds of what stopping at each waypoint does") {
  auto random = test::generator(88);
  Problem<double> problem(random, 200, 2);
  problem.lie_on_a_curve();
  const double stopping =
      through_within(problem.waypoints(), Through::stop, problem.limits).value().trajectory.duration();
  for (const Through mode : {Through::smooth, Through::cubic, Through::monotone}) {
    const auto timed = through_within(problem.waypoints(), mode, problem.limits).value();
    CAPTURE(timed.trajectory.duration() / stopping);
    CHECK(timed.mode == mode);
    CHECK(timed.trajectory.duration() < 2.0 / 3 * stopping);
  }
}

TEST_CASE("the smallest motions take as little time as the limits allow") {
  const std::vector<double> positions{0, 1e-9, 3e-9};
  std::vector<JointLimits> limits(1);
  limits[0].velocity = limits[0].acceleration = 1;
  const double expected = std::sqrt(10 / std::sqrt(3.0) * 1e-9) + std::sqrt(10 / std::sqrt(3.0) * 2e-9);
  CHECK(through_within(Waypoints{1, {}, positions, {}, {}}, Through::stop, limits)
            .value()
            .trajectory.duration() == doctest::Approx(expected));
}

TEST_CASE("no segment is shorter than the times that are given") {
  auto random = test::generator(82);
  for (std::size_t n = 0; n < test::count(20, 1000); ++n) {
    const Problem<double> problem(random, 6, 2);
    std::vector<double> times{3};
    for (std::size_t k = 0; k < 5; ++k) times.push_back(times.back() + test::any_scale(random, 0.1, 10));
    for (const Through mode : ways) {
      const auto motion = through_within(problem.waypoints(times), mode, problem.limits).value().trajectory;
      REQUIRE_FALSE(find_violation(motion, problem.limits));
      for (std::size_t k = 0; k < 5; ++k) {
        const double duration = motion.knot_time(k + 1) - motion.knot_time(k);
        REQUIRE(duration >= (times[k + 1] - times[k]) * (1 - 1e-9));
      }
    }
  }
}

TEST_CASE("joints that do not move may have limits of zero") {
  const std::vector<double> positions{1, 0, 1, 0, 1, 2, 1, 2};  // two joints; the first never moves
  std::vector<JointLimits> limits(2);
  limits[0].velocity = limits[0].acceleration = limits[0].jerk = 0;
  limits[1].velocity = 1;
  for (const Through mode : ways) {
    const auto motion = through_within(Waypoints{2, {}, positions, {}, {}}, mode, limits).value().trajectory;
    CHECK_FALSE(find_violation(motion, limits));
    CHECK(motion.duration() > 2);
    CHECK(motion.duration() < 5);
  }
  const std::vector<double> still{1, 1, 1};
  CHECK(through_within(Waypoints{1, {}, still, {}, {}}, Through::smooth, std::span(limits).first(1))
            .value()
            .trajectory.at(0, 0) == MotionState{1, 0, 0});
}

TEST_CASE("what no times can satisfy is refused by name") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> positions{0, 1, 0}, bad{0, nan, 0}, one{0}, times{0, 1, 1};
  std::vector<JointLimits> limits(1);
  limits[0].velocity = 1;
  const auto error = [&](std::span<const double> p, std::span<const double> t = {},
                         Through mode = Through::smooth) {
    return through_within(Waypoints{1, t, p, {}, {}}, mode, limits).error();
  };
  CHECK(error(bad) == Errc::not_finite);
  CHECK(error(one) == Errc::one_waypoint);
  CHECK(error({}) == Errc::no_waypoints);
  CHECK(error(positions, times) == Errc::times_not_increasing);
  CHECK(error(positions, std::span(times).first(2)) == Errc::wrong_size);
  CHECK(error(positions, {}, Through::given) == Errc::no_velocities);
  for (const Through mode : ways) {
    for (const double limit : {0.0, nan, -1.0, 1e-30}) {
      for (double JointLimits::*member :
           {&JointLimits::velocity, &JointLimits::acceleration, &JointLimits::jerk}) {
        limits[0] = {};
        limits[0].*member = limit;
        CAPTURE(limit);
        CHECK(error(positions, {}, mode) == Errc::out_of_domain);
      }
    }
  }
  limits[0] = {};  // without any limit the motion would have no bound on its speed
  for (const Through mode : ways) {
    CHECK(error(positions, {}, mode) == Errc::out_of_domain);
    CHECK(error(std::span(positions).first(2), {}, mode) == Errc::out_of_domain);
  }
  limits.clear();
  CHECK(error(positions) == Errc::wrong_size);
}

TEST_CASE("a joint without limits moves along with others, or as the times say") {
  const std::vector<double> positions{0, 0, 1, 1, 2, 2}, apart{0, 0, 1, 0, 1, 1}, times{0, 0.5, 2};
  std::vector<JointLimits> limits(2);
  limits[0].velocity = 1;
  for (const Through mode : ways) {
    const auto along = through_within(Waypoints{2, {}, positions, {}, {}}, mode, limits).value();
    CHECK(along.trajectory.duration() > 2);
    CHECK(along.trajectory.duration() < 4);
    // Only the joint without limits moves in the second segment.
    CHECK(through_within(Waypoints{2, {}, apart, {}, {}}, mode, limits).error() == Errc::out_of_domain);
    CHECK(through_within(Waypoints{2, times, apart, {}, {}}, mode, limits).value().mode == mode);
    const std::vector<JointLimits> none(2);
    const auto timed = through_within(Waypoints{2, times, positions, {}, {}}, mode, none).value();
    CHECK(timed.trajectory.duration() == doctest::Approx(2));
    CHECK(timed.mode == mode);
  }
}

TEST_CASE("the result says whether the motion goes through its waypoints or stops at each") {
  auto random = test::generator(85);
  std::size_t through_them = 0;
  std::size_t stopped = 0;
  for (std::size_t n = 0; n < test::count(60, 1000); ++n) {
    Problem<double> problem(random, 3 + n % 5, 1 + n % 3);
    if (n % 3 == 0) {  // back and forth: not stopping gains nothing
      for (std::size_t i = problem.joints; i < problem.positions.size(); ++i)
        problem.positions[i] = (i / problem.joints) % 2 == 0 ? -1 : 1;
    }
    for (const Through mode : ways) {
      const auto timed = through_within(problem.waypoints(), mode, problem.limits).value();
      REQUIRE((timed.mode == mode || timed.mode == Through::stop));
      bool rests = true;
      for (std::size_t k = 1; k < timed.trajectory.segments(); ++k) {
        for (std::size_t j = 0; j < problem.joints; ++j)
          rests = rests &&
                  timed.trajectory.knot(k, j) == MotionState{problem.positions[k * problem.joints + j], 0, 0};
      }
      if (timed.mode == Through::stop) REQUIRE(rests);
      if (timed.mode == Through::smooth) REQUIRE_FALSE(rests);
      ++(timed.mode == mode ? through_them : stopped);
    }
  }
  CHECK(through_them > 0);
  CHECK(stopped > 0);
}

TEST_CASE("a search ends after so many trajectories, however many segments there are") {
  auto random = test::generator(86);
  for (const std::size_t waypoints : {2U, 3U, 10U, 11U, 12U, 30U, 200U}) {
    for (const bool curve : {false, true}) {
      Problem<double> problem(random, waypoints, 2);
      if (curve) problem.lie_on_a_curve();
      for (const Through mode : ways) {
        detail::DurationSearch<double> search(problem.waypoints(), mode, problem.limits);
        REQUIRE(search.run());
        CHECK(search.evaluations() <= search.evaluation_bound());
        CHECK(search.evaluation_bound() == 635);  // as the header says
      }
    }
  }
}
