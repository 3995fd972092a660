#include "takt/trajectory/splice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "takt/trajectory/through.hpp"
#include "trajectory/samples.hpp"
#include "trajectory/seams.hpp"

using namespace takt;
using namespace takt::trajectory;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

JointLimits usual_limits() {
  JointLimits limits;
  limits.position_min = -3;
  limits.position_max = 3;
  limits.velocity = 2;
  limits.acceleration = 6;
  limits.jerk = 80;
  return limits;
}

/// A trajectory from rest to rest that keeps the limits.
Trajectory any_trajectory(std::mt19937_64& random, std::size_t joints, std::span<const JointLimits> limits,
                          std::size_t waypoints) {
  auto table = test::any_waypoints<double>(random, waypoints, joints);
  table.velocities.clear();
  table.accelerations.clear();
  while (true) {
    auto trajectory = through(table.view(), Through::smooth).value();
    const double factor = required_slowdown(trajectory, limits);
    if (std::isfinite(factor) && trajectory.slow_down(factor)) return trajectory;
    for (double& position : table.positions) position /= 2;  // it overshoots the range
  }
}

/// One joint from rest at `from` to rest at `to`.
Trajectory move(double from, double to, double duration) {
  const std::vector<double> times{0, duration}, positions{from, to};
  return through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
}

struct Close {
  std::vector<JointLimits> limits;

  [[nodiscard]] bool operator()(const MotionState& a, const MotionState& b, double duration) const {
    return test::StateScale<double>(a, b, limits[0], duration, 1e-9).difference(a, b) < 1e-9;
  }
};

}  // namespace

TEST_CASE("running before, next after, and between them a motion without a step that keeps the limits") {
  auto random = test::generator(130);
  std::size_t in_time = 0, late = 0, further = 0;
  for (std::size_t i = 0; i < test::count(1'500); ++i) {
    const std::size_t joints = 1 + i % 3;
    const Close close{std::vector<JointLimits>(joints, usual_limits())};
    const auto running = any_trajectory(random, joints, close.limits, 2 + i % 5);
    const auto next = any_trajectory(random, joints, close.limits, i % 4 == 0 ? 60 : 2 + i % 7);
    // Sometimes exactly at the start, at a waypoint, at the end, or after it.
    const double at = i % 11 == 0   ? 0
                      : i % 11 == 1 ? running.knot_time(1)
                      : i % 11 == 2 ? running.duration()
                      : i % 11 == 3 ? running.duration() + 0.7
                                    : test::uniform(random, 0, running.duration());
    const double start = at - test::uniform(random, -0.5, 0.95) * next.duration();
    const auto spliced = splice(running, at, next, start, close.limits);
    REQUIRE(spliced);
    const Trajectory& motion = spliced->trajectory;

    // The waypoint is not past, and the delay agrees with its own time.
    const double planned = start + next.knot_time(spliced->waypoint);
    REQUIRE(planned >= at - 1e-9);
    REQUIRE(spliced->joins == doctest::Approx(planned + spliced->delay).epsilon(1e-9));
    REQUIRE(spliced->delay >= 0);
    const bool first = spliced->waypoint == 0 || start + next.knot_time(spliced->waypoint - 1) < at;
    if (!first) REQUIRE(spliced->delay == 0);
    ++(!first ? further : spliced->delay == 0 ? in_time : late);

    const double end = start + next.duration() + spliced->delay;
    REQUIRE(motion.duration() == doctest::Approx(end).epsilon(1e-9));
    for (std::size_t j = 0; j < joints; ++j) {
      const test::StateScale<double> scale(running.at(at, j), next.at(0, j), close.limits[j], end, 1e-9);
      REQUIRE(test::step_of(motion, j, scale) < 1e-9);
      REQUIRE(close(motion.at(at, j), running.at(at, j), end));
      for (int k = 0; k < 5; ++k) {
        const double before = test::uniform(random, 0, at);
        REQUIRE(close(motion.at(before, j), running.at(before, j), end));
        const double after = test::uniform(random, spliced->joins, end);
        REQUIRE(close(motion.at(after, j), next.at(after - start - spliced->delay, j), end));
      }
    }
    const auto found = find_violation(motion, close.limits);
    REQUIRE(found.has_value() == spliced->violation.has_value());
    if (!found) continue;
    // Both trajectories keep all limits; the bridge cannot keep the range of positions.
    REQUIRE(found->quantity == Quantity::position);
    REQUIRE(spliced->violation->joint == found->joint);
    REQUIRE(spliced->violation->time == doctest::Approx(found->time).epsilon(1e-6));
    REQUIRE(spliced->violation->value == doctest::Approx(found->value));
  }
  CHECK(in_time > 0);
  CHECK(late > 0);
  CHECK(further > 0);
}

TEST_CASE("waypoints that are past are dropped, and the first that is left is reached at its time") {
  const std::vector<JointLimits> limits{usual_limits()};
  const auto running = move(0, 0, 10);
  const std::vector<double> times{0, 1, 2, 3, 4}, positions{0.5, 0.6, 0.2, -0.4, 0};
  const auto next = through(Waypoints{1, times, positions, {}, {}}, Through::smooth).value();
  const auto at = [&](double now) { return splice(running, now, next, 2, limits).value(); };
  CHECK(at(0.5).waypoint == 0);
  CHECK(at(0.5).joins == 2);
  CHECK(at(2).waypoint == 0);  // now it is due
  CHECK(at(2).delay > 0);
  CHECK(at(2.1).waypoint == 1);
  const auto spliced = at(4.1);
  CHECK(spliced.waypoint == 3);
  CHECK(spliced.joins == doctest::Approx(5));
  CHECK(spliced.delay == 0);
  CHECK(spliced.trajectory.at(5, 0).position == doctest::Approx(-0.4));
  CHECK(spliced.trajectory.at(4.1, 0).position == 0);
  CHECK(spliced.trajectory.duration() == doctest::Approx(6));
  CHECK(at(6).waypoint == 4);
  CHECK(splice(running, 6.1, next, 2, limits).error() == Errc::no_waypoints);
}

TEST_CASE("who is too late for the first waypoint delays the rest, and does not leave waypoints out") {
  const std::vector<JointLimits> limits{usual_limits()};
  const auto running = move(0, 0, 10);
  const std::vector<double> times{0, 1, 3, 4}, positions{1, -1, 1, 0};
  const auto next = through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
  const auto spliced = splice(running, 1.95, next, 1.9, limits).value();
  CHECK(spliced.waypoint == 1);
  CHECK(spliced.delay == 0);
  const auto late = splice(running, 2.8, next, 1.9, limits).value();
  CHECK(late.waypoint == 1);
  PointToPoint<1> shortest;
  const MotionState from{}, to{-1, 0, 0};
  const auto both = both_ways(limits[0]);
  REQUIRE(shortest.plan(std::span(&from, 1), std::span(&to, 1), std::span(&both, 1)));
  CHECK(late.delay == doctest::Approx(shortest.duration() - 0.1));
  CHECK(late.joins == doctest::Approx(2.8 + shortest.duration()));
  for (const double t : {1.0, 2.0, 2.5, 3.0, 9.0})
    CHECK(late.trajectory.at(1.9 + late.delay + t, 0).position == doctest::Approx(next.at(t, 0).position));
}

TEST_CASE("where waypoints are dense, one that can be joined in time is joined") {
  const std::vector<JointLimits> limits{usual_limits()};
  std::vector<double> times, positions;
  for (int k = 0; k <= 400; ++k) {
    times.push_back(0.01 * k);
    positions.push_back(1 - std::cos(times.back()));
  }
  const auto course = through(Waypoints{1, times, positions, {}, {}}, Through::smooth).value();
  for (double& position : positions) position -= 2e-3;
  const auto next = through(Waypoints{1, times, positions, {}, {}}, Through::smooth).value();
  // Falling back by 2 mm at the same velocity takes a detour.
  const auto spliced = splice(course, 1.003, next, 0, limits).value();
  CHECK(spliced.delay == 0);
  CHECK(spliced.joins > 1.02);
  CHECK(spliced.joins < 1.4);
  CHECK_FALSE(spliced.violation);
  CHECK(spliced.trajectory.at(2, 0).position == doctest::Approx(next.at(2, 0).position));
}

TEST_CASE("joints that the next trajectory is not about go on") {
  auto random = test::generator(131);
  std::size_t spliced_ones = 0;
  for (std::size_t i = 0; i < test::count(500); ++i) {
    Close close{std::vector<JointLimits>(4, usual_limits())};
    for (std::size_t j = 1; j < 4; ++j) close.limits[j].velocity -= 0.3 * static_cast<double>(j);
    const std::array<JointLimits, 2> own{close.limits[3], close.limits[1]};
    const auto running = any_trajectory(random, 4, close.limits, 2 + i % 5);
    const auto next = any_trajectory(random, 2, own, 2 + i % 4);
    const double at = test::uniform(random, 0, 1.2) * running.duration();
    const std::array<std::size_t, 2> joints{3, 1};
    const double start = at + test::uniform(random, 0, 2);
    const auto spliced = splice(running, at, next, start, close.limits, joints);
    REQUIRE(spliced);
    ++spliced_ones;
    const Trajectory& motion = spliced->trajectory;
    CHECK(motion.duration() ==
          doctest::Approx(std::max(running.duration(), start + next.duration() + spliced->delay)));
    for (int k = 0; k < 20; ++k) {
      const double t = test::uniform(random, 0, motion.duration() * 1.1);
      for (const std::size_t other : {std::size_t{0}, std::size_t{2}})
        REQUIRE(close(motion.at(t, other), running.at(t, other), motion.duration()));
      for (std::size_t c = 0; c < 2; ++c) {
        if (t < at) REQUIRE(close(motion.at(t, joints[c]), running.at(t, joints[c]), motion.duration()));
        if (t > spliced->joins)
          REQUIRE(close(motion.at(t, joints[c]), next.at(t - start - spliced->delay, c), motion.duration()));
      }
    }
    // The bridge keeps the limits of its own joints.
    const auto found = find_violation(motion, close.limits);
    REQUIRE((!found || found->quantity == Quantity::position));
    if (spliced->violation) REQUIRE((spliced->violation->joint == 3 || spliced->violation->joint == 1));
  }
  CHECK(spliced_ones > 0);
}

TEST_CASE("from outside the limits the bridge comes back with the least violation, and says so") {
  std::vector<JointLimits> limits{usual_limits()};
  const auto running = move(0, 2, 1.2);  // peaks at 3.1 rad/s
  const auto next = move(1.5, 0, 3);
  const auto spliced = splice(running, 0.6, next, 3, limits).value();
  REQUIRE(spliced.violation);
  CHECK(spliced.violation->quantity == Quantity::velocity);
  CHECK(spliced.violation->value == doctest::Approx(3.125));
  CHECK(spliced.violation->time == doctest::Approx(0.6));
  CHECK(spliced.violation->limit == 2);
  limits[0].position_max = 1.1;
  const auto narrow = splice(running, 0.6, next, 3, limits).value();
  REQUIRE(narrow.violation);
}

TEST_CASE("a bridge that leaves the range of positions says so exactly") {
  std::vector<JointLimits> limits{usual_limits()};
  limits[0].position_max = 1;
  const auto running = move(0, 1, 1.5);
  const auto next = move(0, -1, 3);
  const auto spliced = splice(running, 0.9, next, 2.2, limits).value();
  limits[0].position_max = 0.7;
  const auto beyond = splice(running, 0.9, next, 2.2, limits).value();
  REQUIRE(beyond.violation);
  CHECK(beyond.violation->quantity == Quantity::position);
  double highest = 0;
  for (double t = 0.9; t < beyond.joins; t += 1e-5)
    highest = std::max(highest, beyond.trajectory.at(t, 0).position);
  CHECK(beyond.violation->value == doctest::Approx(highest));
  CHECK_FALSE(spliced.violation);
}

TEST_CASE("a splice that cannot be is a named error") {
  const std::vector<JointLimits> limits{usual_limits()};
  const auto running = move(0, 1, 2), next = move(1, 0, 2);
  const auto error = [&](double at, double start) {
    const auto result = splice(running, at, next, start, limits);
    REQUIRE_FALSE(result);
    return result.error();
  };
  CHECK(error(not_a_number, 0) == Errc::not_finite);
  CHECK(error(1, not_a_number) == Errc::not_finite);
  CHECK(error(std::numeric_limits<double>::infinity(), 0) == Errc::not_finite);
  CHECK(error(-0.1, 0) == Errc::out_of_domain);
  CHECK(error(1, -5) == Errc::no_waypoints);
  CHECK(error(1, 1e7) == Errc::out_of_domain);
  CHECK(splice(running, 1, next, 1, {}).error() == Errc::wrong_size);
  CHECK(splice(running, 1, next, 1, std::vector<JointLimits>{JointLimits{}}).error() == Errc::not_finite);
  const std::vector<JointLimits> two(2, usual_limits());
  const auto both =
      through(Waypoints{2, std::vector<double>{0, 1}, std::vector<double>{0, 0, 1, 1}, {}, {}}, Through::stop)
          .value();
  CHECK(splice(both, 0.5, next, 1, two).error() == Errc::wrong_size);
  CHECK(splice(both, 0.5, next, 1, two, std::vector<std::size_t>{2}).error() == Errc::wrong_size);
  CHECK(splice(both, 0.5, both, 1, two, std::vector<std::size_t>{1, 1}).error() == Errc::wrong_size);
  CHECK(splice(both, 0.5, next, 1, two, std::vector<std::size_t>{1}));
  CHECK(splice(Trajectory(), 0, Trajectory(), 0, {}).error() == Errc::wrong_size);
  const std::vector<double> times{0, 1}, positions{0, 1}, velocities{0, 1};
  const auto moving = through(Waypoints{1, times, positions, velocities, {}}, Through::given).value();
  CHECK(splice(moving, 1.5, next, 3, limits).error() == Errc::not_at_rest_at_end);
  CHECK(splice(moving, 1, next, 3, limits));
  std::vector<JointLimits> slow = limits;
  slow[0].velocity = 0.5;
  CHECK(splice(running, 1, moving, 0.5, slow).error() == Errc::target_outside_limits);
}

TEST_CASE("splicing again and again needs no more memory than one of them, if the past is dropped") {
  const std::vector<JointLimits> limits{usual_limits()};
  auto running = move(0, 1, 2);
  for (int i = 0; i < 50; ++i) {
    running = splice(running, 0.5, move(i % 2, 1 - i % 2, 2), 1.5, limits).value().trajectory;
    const MotionState now = running.at(0.5, 0);
    running = part(running, 0.5).value();
    CHECK(running.at(0, 0).position == doctest::Approx(now.position));
    CHECK(running.segments() < 20);
  }
  CHECK(part(running, not_a_number).error() == Errc::not_finite);
  CHECK(part(running, 1e9).value().segments() == 0);
}
