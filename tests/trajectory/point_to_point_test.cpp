#include "takt/trajectory/point_to_point.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "trajectory/jerk_limited.hpp"

using namespace takt;
using namespace takt::trajectory;
using test::fault_of;
using test::JointProblem;

namespace {

template <class Scalar, std::size_t Joints>
struct Problem {
  std::array<BasicMotionState<Scalar>, Joints> start, target;
  std::array<BasicDirectionalLimits<Scalar>, Joints> limits;

  [[nodiscard]] JointProblem<Scalar> joint(std::size_t j) const { return {start[j], target[j], limits[j]}; }
};

template <class Scalar, std::size_t Joints>
Problem<Scalar, Joints> any(std::mt19937_64& random) {
  Problem<Scalar, Joints> problem;
  for (std::size_t j = 0; j < Joints; ++j) {
    const auto joint = test::any_problem<Scalar>(random);
    problem.start[j] = joint.start;
    problem.target[j] = joint.target;
    problem.limits[j] = joint.limits;
  }
  return problem;
}

/// All joints at one point of the line from `start` towards `start` + `way`, in proportion.
template <std::size_t Joints>
Problem<double, Joints> any_on_a_line(std::mt19937_64& random) {
  Problem<double, Joints> problem;
  const auto leader = test::any_problem<double>(random);
  for (std::size_t j = 0; j < Joints; ++j) {
    const double ratio = j == 0 ? 1 : test::any_number(random, 1);
    const double from = test::uniform(random, -1, 1);
    const double way = leader.target.position - leader.start.position;
    problem.start[j] = {from, ratio * leader.start.velocity, ratio * leader.start.acceleration};
    problem.target[j] = {from + ratio * way, ratio * leader.target.velocity,
                         ratio * leader.target.acceleration};
    const double spare = test::any_scale(random, 1, 3);
    auto limits = ratio < 0 ? leader.limits.mirrored() : leader.limits;
    const double scale = spare * std::max(std::abs(ratio), 0.1);
    problem.limits[j] = {scale * limits.velocity_min, scale * limits.velocity_max,
                         scale * limits.acceleration_min, scale * limits.acceleration_max,
                         scale * limits.jerk};
  }
  return problem;
}

}  // namespace

TEST_CASE("all joints arrive together, within their limits, wherever they come from") {
  auto random = test::generator(110);
  PointToPoint<7> motion;
  for (std::size_t i = 0; i < test::count(5'000); ++i) {
    const auto problem = any<double, 7>(random);
    REQUIRE(motion.plan(problem.start, problem.target, problem.limits));
    CHECK(motion.fits());
    for (std::size_t j = 0; j < 7; ++j) {
      REQUIRE(fault_of(motion.joint(j), problem.joint(j), 1e-9) == "");
      REQUIRE(motion.joint(j).duration() == motion.duration());
    }
  }
}

TEST_CASE("the duration is the first that is possible for every joint") {
  auto random = test::generator(111);
  PointToPoint<3> motion;
  for (std::size_t i = 0; i < test::count(5'000); ++i) {
    const auto problem = any<double, 3>(random);
    REQUIRE(motion.plan(problem.start, problem.target, problem.limits));
    std::vector<Transfer> joints;
    double slowest = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      joints.push_back(Transfer::between(problem.start[j], problem.target[j], problem.limits[j]).value());
      slowest = std::max(slowest, joints.back().shortest());
    }
    REQUIRE(motion.duration() >= slowest * (1 - 1e-12));
    if (motion.duration() <= slowest * (1 + 1e-6)) continue;
    for (int k = 0; k < 100; ++k) {
      const double earlier = slowest + (motion.duration() - slowest) * k / 100;
      const bool all = std::all_of(joints.begin(), joints.end(), [&](const Transfer& joint) {
        return joint.not_less_than(earlier) <= earlier * (1 + 1e-9);
      });
      REQUIRE_FALSE(all);
    }
  }
}

TEST_CASE(
    "in phase all joints stay on the straight line and within their limits, and one of them touches a "
    "limit") {
  auto random = test::generator(112);
  PointToPoint<5> motion;
  for (std::size_t i = 0; i < test::count(3'000); ++i) {
    const auto problem = any_on_a_line<5>(random);
    const Status status = motion.plan(problem.start, problem.target, problem.limits, Synchronisation::phase);
    REQUIRE((status ? 0 : status.error().code) == 0);
    double use = 0;
    const double way = problem.target[0].position - problem.start[0].position;
    for (std::size_t j = 0; j < 5; ++j) {
      REQUIRE(fault_of(motion.joint(j), problem.joint(j), 1e-8) == "");
      for (std::size_t k = 0; k < motion.joint(j).phases(); ++k)
        use = std::max(use, std::abs(motion.joint(j).jerk(k)) / problem.limits[j].jerk);
      if (std::abs(way) < 1e-3) continue;
      const double ratio = (problem.target[j].position - problem.start[j].position) / way;
      for (int k = 1; k < 10; ++k) {
        const double t = motion.duration() * k / 10;
        const double along = motion.joint(0).at(t).position - problem.start[0].position;
        const double own = motion.joint(j).at(t).position - problem.start[j].position;
        REQUIRE(std::abs(own - ratio * along) < 1e-8 * (1 + std::abs(along)));
      }
    }
    if (motion.duration() > 0) CHECK(use > 1 - 1e-9);
  }
}

TEST_CASE(
    "in phase from rest to rest takes as long as the slowest joint alone, if it is slowest in everything") {
  const std::array<MotionState, 3> start{}, target{MotionState{1, 0, 0}, {-0.5, 0, 0}, {0, 0, 0}};
  const std::array<DirectionalLimits, 3> limits{
      DirectionalLimits{-1, 1, -2, 2, 20}, {-1, 1, -2, 2, 20}, {-1, 1, -2, 2, 20}};
  PointToPoint<3> motion;
  REQUIRE(motion.plan(start, target, limits, Synchronisation::phase));
  CHECK(motion.duration() == doctest::Approx(1 + 1.0 / 2 + 2.0 / 20));
  CHECK(motion.joint(2).position_extrema().peak().value == 0);
  REQUIRE(motion.plan(start, start, limits, Synchronisation::phase));
  CHECK(motion.duration() == 0);
}

TEST_CASE("a duration that is asked for is kept exactly where it is possible, else the next that is") {
  auto random = test::generator(116);
  PointToPoint<3> motion;
  std::size_t exactly = 0;
  for (std::size_t i = 0; i < test::count(5'000); ++i) {
    const auto problem = any<double, 3>(random);
    REQUIRE(motion.plan(problem.start, problem.target, problem.limits));
    const double shortest = motion.duration();
    const double wanted = shortest * test::any_scale(random, 0.5, 20);
    REQUIRE(motion.plan(problem.start, problem.target, problem.limits, Synchronisation::time, wanted));
    REQUIRE(motion.duration() >= std::max(shortest * (1 - 1e-12), wanted));
    for (std::size_t j = 0; j < 3; ++j) REQUIRE(fault_of(motion.joint(j), problem.joint(j), 1e-9) == "");
    if (motion.duration() == wanted) ++exactly;
    if (motion.duration() <= std::max(shortest, wanted) * (1 + 1e-9)) continue;
    bool possible = true;
    for (std::size_t j = 0; j < 3; ++j) {
      const auto joint = Transfer::between(problem.start[j], problem.target[j], problem.limits[j]).value();
      possible = possible && joint.not_less_than(wanted) == wanted;
    }
    REQUIRE_FALSE(possible);
  }
  CHECK(exactly > 0);
}

TEST_CASE("a duration in the gap between passing through and turning back becomes the end of the gap") {
  // From 1 m/s to 1 m/s over half a metre. This is too short to stop, so a longer motion first turns back.
  const MotionState start{0, 1, 0}, target{0.5, 1, 0};
  const DirectionalLimits limits{-1, 1, -2, 2, 20};
  const auto transfer = Transfer::between(start, target, limits).value();
  REQUIRE(transfer.shortest() == doctest::Approx(0.5));
  const double end_of_gap = transfer.not_less_than(1);
  CHECK(end_of_gap > 1.5);

  PointToPoint<2> motion;  // the second joint alone takes about a second
  const std::array starts{start, MotionState{}}, targets{target, MotionState{0.4, 0, 0}};
  REQUIRE(motion.plan(starts, targets, std::array{limits, limits}));
  CHECK(motion.duration() == end_of_gap);
  PointToPoint<1> asked;
  REQUIRE(asked.plan(std::array{start}, std::array{target}, std::array{limits}, Synchronisation::time, 1));
  CHECK(asked.duration() == end_of_gap);
}

TEST_CASE("in phase too a duration can be asked for") {
  auto random = test::generator(117);
  PointToPoint<5> motion;
  std::size_t exactly = 0;
  for (std::size_t i = 0; i < test::count(3'000); ++i) {
    const auto problem = any_on_a_line<5>(random);
    REQUIRE(motion.plan(problem.start, problem.target, problem.limits, Synchronisation::phase));
    const double wanted = motion.duration() * test::any_scale(random, 0.5, 20);
    REQUIRE(motion.plan(problem.start, problem.target, problem.limits, Synchronisation::phase, wanted));
    REQUIRE(motion.duration() >= wanted);
    for (std::size_t j = 0; j < 5; ++j) REQUIRE(fault_of(motion.joint(j), problem.joint(j), 1e-8) == "");
    if (motion.duration() == wanted) ++exactly;
  }
  CHECK(exactly > 0);
}

TEST_CASE("in the middle of a motion the rest of it can be asked for") {
  auto random = test::generator(118);
  PointToPoint<2> motion, rest;
  for (std::size_t i = 0; i < test::count(5'000); ++i) {
    const auto problem = any<double, 2>(random);
    REQUIRE(motion.plan(problem.start, problem.target, problem.limits));
    const double now = motion.duration() * test::uniform(random, 0.01, 0.99);
    const double left = motion.duration() - now;
    const std::array<MotionState, 2> here{motion.joint(0).at(now), motion.joint(1).at(now)};
    REQUIRE(rest.plan(here, problem.target, problem.limits, Synchronisation::time, left));
    // A target near which the motion must leave the limits can make the start leave them too.
    if (rest.fits()) REQUIRE(rest.duration() <= left + 1e-9 * motion.duration());
  }
}

TEST_CASE("what is not on one line cannot move in phase") {
  const std::array<MotionState, 2> start{MotionState{0, 0.1, 0}, {0, 0, 0}},
      target{MotionState{1, 0, 0}, {1, 0, 0}};
  const std::array<DirectionalLimits, 2> limits{DirectionalLimits{-1, 1, -2, 2, 20}, {-1, 1, -2, 2, 20}};
  PointToPoint<2> motion;
  CHECK(motion.plan(start, target, limits, Synchronisation::phase).error() == Errc::not_in_phase);
  CHECK(motion.plan(start, target, limits));
}

TEST_CASE("sized at run time it is the same, and samples give what each joint's motion says") {
  auto random = test::generator(113);
  const auto problem = any<double, 7>(random);
  PointToPoint<7> fixed;
  PointToPoint<> sized(7);
  REQUIRE(fixed.plan(problem.start, problem.target, problem.limits));
  REQUIRE(sized.plan(problem.start, problem.target, problem.limits));
  CHECK(sized.joints() == 7);
  CHECK(fixed.duration() == sized.duration());
  std::array<double, 7> p{}, v{}, a{};
  for (int k = -1; k <= 12; ++k) {
    const double t = fixed.duration() * k / 10;
    sized.sample(t, p, v, a);
    for (std::size_t j = 0; j < 7; ++j) CHECK(fixed.joint(j).at(t) == MotionState{p[j], v[j], a[j]});
  }
  sized.sample(2 * fixed.duration(), p, v, a);
  CHECK(p[6] == problem.target[6].position);
  std::array<double, 2> few{};
  sized.sample(0, few, v, a);
  CHECK(few[1] == problem.start[1].position);
}

TEST_CASE("an error leaves the old motion as it is") {
  auto random = test::generator(114);
  const auto problem = any<double, 2>(random);
  PointToPoint<2> motion;
  REQUIRE(motion.plan(problem.start, problem.target, problem.limits));
  const double duration = motion.duration();
  const auto refused = [&](auto start, auto target, auto limits, Errc code, Synchronisation how) {
    const Status status = motion.plan(start, target, limits, how);
    CHECK(motion.duration() == duration);
    CHECK(motion.joint(1).end() == problem.target[1]);
    return !status && status.error() == code;
  };
  for (const auto how : {Synchronisation::time, Synchronisation::phase}) {
    auto bad = problem;
    bad.start[1].velocity = std::numeric_limits<double>::quiet_NaN();
    CHECK(refused(bad.start, bad.target, bad.limits, Errc::not_finite, how));
    bad = problem;
    bad.limits[1].jerk = 0;
    CHECK(refused(bad.start, bad.target, bad.limits, Errc::limit_not_positive, how));
    CHECK(refused(std::span(problem.start).first(1), problem.target, problem.limits, Errc::wrong_size, how));
    const auto lasts = [&](double at_least) {
      return motion.plan(problem.start, problem.start, problem.limits, how, at_least);
    };
    CHECK(lasts(std::numeric_limits<double>::quiet_NaN()).error() == Errc::not_finite);
    CHECK(lasts(std::numeric_limits<double>::infinity()).error() == Errc::not_finite);
  }
  CHECK(motion.plan(problem.start, problem.target, problem.limits, Synchronisation::time, 1e9).error() ==
        Errc::out_of_domain);
  CHECK(motion.duration() == duration);
  REQUIRE(motion.plan(problem.start, problem.target, problem.limits, Synchronisation::time, -1));
  CHECK(motion.duration() == duration);
  auto far = problem;
  far.limits[0] = {-1e-3, 1e-3, -1, 1, 1};
  far.start[0] = {};
  far.target[0] = {1e6, 0, 0};
  CHECK(refused(far.start, far.target, far.limits, Errc::out_of_domain, Synchronisation::time));
}

TEST_CASE("no joints are no motion") {
  PointToPoint<> motion;
  CHECK(motion.plan({}, {}, {}));
  CHECK(motion.duration() == 0);
}

TEST_CASE("many joints work in single precision") {
  auto random = test::generator(115);
  BasicPointToPoint<float, 4> motion;
  for (std::size_t i = 0; i < test::count(2'000); ++i) {
    const auto problem = any<float, 4>(random);
    REQUIRE(motion.plan(problem.start, problem.target, problem.limits));
    for (std::size_t j = 0; j < 4; ++j) REQUIRE(fault_of(motion.joint(j), problem.joint(j), 2e-4) == "");
  }
}

TEST_CASE("a joint that others slow down stays in its range if that is possible at all") {
  PointToPoint<2> motion;
  // The first joint moves towards the end of its range and has to turn back. It has time, because the second
  // joint moves far.
  const std::array<MotionState, 2> from{{{0.8, 1, 0}, {0, 0, 0}}};
  const std::array<MotionState, 2> to{{{0.5, 0, 0}, {20, 0, 0}}};
  const std::array<JointLimits, 2> limits{{{-2, 1.0, 2, 5, 100, 1}, {-30, 30, 2, 5, 100, 1}}};
  const std::array<DirectionalLimits, 2> bounds{both_ways(limits[0]), both_ways(limits[1])};
  REQUIRE(motion.plan(from, to, bounds));
  const double duration = motion.duration();
  REQUIRE(find_violation(motion, limits));
  CHECK_FALSE(keep_in_range(motion, limits));
  CHECK(motion.duration() == duration);
  const JerkProfile& joint = motion.joint(0);
  CHECK(joint.duration() == duration);
  CHECK(joint.at(duration * 0.9).position == doctest::Approx(0.5));
  CHECK(joint.at(duration) == to[0]);
  CHECK(joint.position_extrema().max.value <= 1.0);

  // If no joint may or must be early, nothing changes.
  REQUIRE(motion.plan(from, from, bounds, Synchronisation::time, 5));
  const double furthest = motion.joint(0).position_extrema().max.value;
  motion.arrive_early(0);
  CHECK(motion.joint(0).position_extrema().max.value == furthest);
}
