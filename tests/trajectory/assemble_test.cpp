#include "takt/trajectory/assemble.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/through.hpp"
#include "trajectory/jerk_limited.hpp"
#include "trajectory/seams.hpp"

using namespace takt;
using namespace takt::trajectory;
using test::step_of;

namespace {

/// Jerk-limited motions of several joints, with the same limits in both directions.
template <class Scalar, std::size_t Joints>
struct Planned {
  BasicPointToPoint<Scalar, Joints> motion;
  std::array<BasicJointLimits<Scalar>, Joints> limits;

  explicit Planned(std::mt19937_64& random) {
    std::array<BasicMotionState<Scalar>, Joints> start, target;
    std::array<BasicDirectionalLimits<Scalar>, Joints> both;
    for (std::size_t j = 0; j < Joints; ++j) {
      const auto problem = test::any_problem<Scalar>(random);
      start[j] = problem.start;
      target[j] = problem.target;
      const auto& given = problem.limits;
      limits[j].velocity = std::max(given.velocity_max, -given.velocity_min);
      limits[j].acceleration = std::max(given.acceleration_max, -given.acceleration_min);
      limits[j].jerk = given.jerk;
      both[j] = both_ways(limits[j]);
    }
    REQUIRE(motion.plan(start, target, both));
  }
};

}  // namespace

TEST_CASE("a part of a polynomial is the same motion") {
  auto random = test::generator(120);
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    const double duration = test::any_scale(random, 1e-3, 1e3);
    const auto whole = Quintic::between(test::any_state<double>(random, 3, 2, 5),
                                        test::any_state<double>(random, 3, 2, 5), duration);
    const double from = duration * test::uniform(random, 0, 1);
    const double length = (duration - from) * test::any_scale(random, 1e-9, 1);
    const auto part = whole.part(from, length);
    CHECK(part.duration() == length);
    const double t = length * test::uniform(random, 0, 1);
    double scale = 0;
    for (const double c : whole.coefficients()) scale += std::abs(c);
    double rate = 1;
    const auto close = [&](double a, double b) {
      const bool yes = std::abs(a - b) <= 1e-12 * scale * rate;
      rate /= duration;
      return yes;
    };
    REQUIRE(close(part.position(t), whole.position(from + t)));
    REQUIRE(close(part.velocity(t), whole.velocity(from + t)));
    REQUIRE(close(part.acceleration(t), whole.acceleration(from + t)));
    REQUIRE(close(part.jerk(t), whole.jerk(from + t)));
  }
}

TEST_CASE_TEMPLATE("jerk-limited motions become one trajectory: the same at all times, smooth, within limits",
                   Scalar, double, float) {
  auto random = test::generator(121);
  const double exact = std::is_same_v<Scalar, double> ? 1e-9 : 1e-3;
  for (std::size_t i = 0; i < test::count(3'000); ++i) {
    const Planned<Scalar, 5> planned(random);
    const auto trajectory = to_trajectory(planned.motion);
    REQUIRE(trajectory);
    REQUIRE(std::abs(trajectory->duration() / planned.motion.duration() - 1) < exact);
    for (std::size_t j = 0; j < 5; ++j) {
      const test::StateScale<Scalar> scale(planned.motion.joint(j).at(0), planned.motion.joint(j).end(),
                                           planned.limits[j], planned.motion.duration(), exact);
      REQUIRE(trajectory->at(trajectory->duration(), j) == planned.motion.joint(j).end());
      REQUIRE(step_of(*trajectory, j, scale) < exact);
      for (int k = 0; k < 10; ++k) {
        const auto t = static_cast<Scalar>(test::uniform(random, 0, planned.motion.duration()));
        REQUIRE(scale.difference(trajectory->at(t, j), planned.motion.joint(j).at(t)) < exact);
      }
    }
    if constexpr (std::is_same_v<Scalar, double>) REQUIRE_FALSE(find_violation(*trajectory, planned.limits));
  }
}

TEST_CASE(
    "parts of trajectories, rests and jerk-limited motions follow each other, at each joint's own times") {
  auto random = test::generator(122);
  for (std::size_t i = 0; i < test::count(1'000); ++i) {
    auto table = test::any_waypoints<double>(random, 2 + i % 7, 2);
    std::fill_n(table.velocities.rbegin(), 2, 0.0);
    std::fill_n(table.accelerations.rbegin(), 2, 0.0);
    const auto source = through(table.view(), Through::smooth).value();
    const double from = source.duration() * test::uniform(random, 0, 0.9);
    const double to = test::uniform(random, from, source.duration());
    std::vector<JointMotion> motions;
    motions.emplace_back(source.at(from, 0)).append(source, 0, from, to);
    motions.emplace_back(source.at(from, 1)).append(source, 1, from);
    const MotionState last = motions[0].end();
    const DirectionalLimits limits{-20, 20, -100, 100, 1000};
    PointToPoint<1> stop;
    const MotionState rest{last.position + 1, 0, 0};
    REQUIRE(stop.plan(std::span(&last, 1), std::span(&rest, 1), std::span(&limits, 1)));
    motions[0].append(stop.joint(0)).hold(0.5);
    const double end = std::max(to - from + stop.duration() + 0.5, source.duration() - from);
    const auto together = assemble<double>(motions);
    REQUIRE(together);
    REQUIRE(together->duration() == doctest::Approx(end));
    for (int k = 0; k < 20; ++k) {
      const double t = test::uniform(random, 0, end);
      const double own = t - (to - from);
      const MotionState first = own < 0 ? source.at(from + t, 0) : stop.joint(0).at(own);
      const MotionState second = source.at(from + t, 1);
      const double speed = 1e-9 * 1e3;
      REQUIRE(std::abs(together->at(t, 0).position - first.position) < speed);
      REQUIRE(std::abs(together->at(t, 0).velocity - first.velocity) < speed);
      REQUIRE(std::abs(together->at(t, 0).acceleration - first.acceleration) < speed);
      REQUIRE(std::abs(together->at(t, 1).position - second.position) < speed);
      REQUIRE(std::abs(together->at(t, 1).velocity - second.velocity) < speed);
      REQUIRE(std::abs(together->at(t, 1).acceleration - second.acceleration) < speed);
    }
  }
}

TEST_CASE("knots that differ by rounding are one knot, and short pieces stay") {
  const auto ramp = [](double shift) {
    JointMotion motion(MotionState{});
    BasicJerkProfile<double> up{MotionState{}};
    up.append({0.5 + shift, 6, 0});
    up.append({0.5 - shift, -6, 3 + 6 * shift});
    return motion.append(up);
  };
  const auto segments = [&](double shift) {
    const std::array<JointMotion, 2> motions{ramp(0), ramp(shift)};
    const auto trajectory = assemble<double>(motions);
    REQUIRE(trajectory);
    CHECK(trajectory->at(0.75, 1).acceleration == doctest::Approx(1.5 + 12 * shift));
    JointLimits limits;
    limits.jerk = 6;
    CHECK_FALSE(find_violation(*trajectory, std::vector<JointLimits>(2, limits)));
    return trajectory->segments();
  };
  CHECK(segments(0) == 2);
  CHECK(segments(1e-15) == 2);
  CHECK(segments(1e-11) == 3);
  CHECK(segments(1e-7) == 3);
}

TEST_CASE("who ends before the others must be at rest") {
  const std::vector<double> times{0, 1}, positions{0, 1}, velocities{0, 2};
  const auto moving = through(Waypoints{1, times, positions, velocities, {}}, Through::given).value();
  const JointMotion resting(MotionState{0.5, 0, 0});
  const JointMotion going = JointMotion(moving.at(0, 0)).append(moving, 0, 0);
  const auto early = JointMotion(moving.at(0, 0)).append(moving, 0, 0, 0.5);
  const auto ends = assemble<double>(std::vector<JointMotion>{resting, going});
  REQUIRE(ends);
  CHECK(ends->at(0.3, 0) == MotionState{0.5, 0, 0});
  CHECK(ends->at(1, 1) == MotionState{1, 2, 0});
  CHECK(assemble<double>(std::vector<JointMotion>{early, going}).error() == Errc::not_at_rest_at_end);
}

TEST_CASE("motions that do not follow each other are refused") {
  const std::vector<double> times{0, 1}, positions{0, 1};
  const auto source = through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
  const auto refused = [](JointMotion motion) {
    const auto result = assemble<double>(std::vector<JointMotion>{std::move(motion)});
    return !result && result.error() == Errc::not_continuous;
  };
  CHECK(refused(JointMotion(MotionState{0.1, 0, 0}).append(source, 0, 0)));
  CHECK(refused(JointMotion(source.at(0.5, 0)).append(source, 0, 0.4)));
  // Each of position, velocity and acceleration is checked, to a millionth.
  const MotionState here = source.at(0.4, 0);
  for (double MotionState::*member :
       {&MotionState::position, &MotionState::velocity, &MotionState::acceleration}) {
    for (const double part : {1e-5, 1e-7}) {
      MotionState off = here;
      off.*member += part * (1 + std::abs(here.*member));
      CHECK(refused(JointMotion(off).append(source, 0, 0.4)) == (part > 1e-6));
    }
  }
  CHECK(refused(JointMotion(source.at(0, 0)).append(source, 0, 0, 0.5).hold(1)));
  CHECK_FALSE(refused(JointMotion(source.at(0, 0)).append(source, 0, 0, 0.5).append(source, 0, 0.5).hold(1)));
}

TEST_CASE("a step stays a step, which the check of limits finds, in any part of a trajectory") {
  Trajectory stepping(std::vector<MotionState>{{0, 1, 0}});
  for (const double to : {1.0, 0.5}) {
    const std::vector line{Quintic::between(stepping.at(9, 0), {to, 0, 0}, 1, Degree::linear)};
    REQUIRE(stepping.append(line, std::vector{line[0].at(1)}, Continuity::position));
  }
  std::vector<JointLimits> limits(1);
  limits[0].acceleration = 1e6;
  for (const auto& again :
       {part(stepping, 0.5, 1.5), select<double>(stepping, std::vector<std::size_t>{0})}) {
    REQUIRE(again);
    CHECK(again->may_step());
    CHECK(find_violation(*again, limits));
  }
  const std::vector<double> times{0, 1}, positions{0, 1};
  const auto smooth = through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
  CHECK_FALSE(part(smooth, 0.5)->may_step());
}

TEST_CASE("an empty motion is a named error or a trajectory without segments") {
  CHECK(assemble<double>({}).error() == Errc::wrong_size);
  const std::vector<JointMotion> still(2, JointMotion(MotionState{1, 0, 0}));
  const auto stands = assemble<double>(still);
  REQUIRE(stands);
  CHECK(stands->segments() == 0);
  CHECK(stands->at(3, 1) == MotionState{1, 0, 0});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<JointMotion> lost{JointMotion(MotionState{nan, 0, 0})};
  lost[0].hold(1);
  CHECK(assemble<double>(lost).error() == Errc::not_finite);
  std::vector<JointMotion> patient{JointMotion(MotionState{})};
  patient[0].hold(1e9);
  CHECK(assemble<double>(patient).error() == Errc::out_of_domain);
  patient[0] = JointMotion(MotionState{}).hold(std::numeric_limits<double>::infinity());
  CHECK(assemble<double>(patient).error() == Errc::not_finite);
}

TEST_CASE("what lasts too long for the digits of its times is refused") {
  std::vector<BasicJointMotion<float>> narrow{BasicJointMotion<float>(BasicMotionState<float>{})};
  narrow[0].hold(90);
  CHECK(assemble<float>(narrow));
  narrow[0].hold(30);
  CHECK(assemble<float>(narrow).error() == Errc::out_of_domain);
}

TEST_CASE("some of the joints of a trajectory move as before") {
  auto random = test::generator(123);
  const auto table = test::any_waypoints<double>(random, 9, 4);
  const auto all = through(table.view(), Through::smooth).value();
  const auto some = select<double>(all, std::vector<std::size_t>{3, 1});
  REQUIRE(some);
  CHECK(some->joints() == 2);
  CHECK(some->segments() == all.segments());
  CHECK(some->duration() == all.duration());
  for (double t = -0.1; t < all.duration() + 0.1; t += 0.01) {
    CHECK(std::abs(some->at(t, 0).position - all.at(t, 3).position) < 1e-12);
    CHECK(std::abs(some->at(t, 1).acceleration - all.at(t, 1).acceleration) < 1e-9);
  }
  CHECK(select<double>(all, {}).error() == Errc::wrong_size);
  CHECK(select<double>(all, std::vector<std::size_t>{4}).error() == Errc::wrong_size);
}
