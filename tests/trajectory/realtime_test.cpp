// Runs the functions of this room that a control loop calls, under the real-time guard.
#include <doctest/doctest.h>

#include <vector>

#include "support/rt_guard.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/minimum_jerk.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/speed_scaling.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/tolerances.hpp"
#include "takt/trajectory/wrap.hpp"
#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;

TEST_CASE("sampling, checking, stopping and rebuilding a segment keep the rules of the loop") {
  auto random = test::generator(60);
  constexpr std::size_t joints = 7;
  const auto table = test::any_waypoints<double>(random, 20, joints);
  const auto trajectory = through(table.view(), Through::smooth).value();
  std::vector<double> p(joints), v(joints), a(joints);
  std::vector<MotionState> start(joints), end(joints, MotionState{1, 0, 0});
  std::vector<JointLimits> limits(joints, JointLimits{-1, 1, 0.1, 0.1, 0.1, 1});
  QuinticSegment segment(joints);
  MinimumJerkSpline spline(20, joints);
  CubicSpline cubic(20);
  auto velocities = table.velocities;
  auto accelerations = table.accelerations;
  Cursor cursor;
  const std::vector<JointTolerance> tolerances(joints, JointTolerance{0.1, 0.1, 0.1});

  test::RtGuard guard;
  bool ok = true;
  for (int i = -10; i < 1000; ++i) {
    trajectory.sample(trajectory.duration() * i / 900, cursor, p, v, a);
    for (std::size_t j = 0; j < joints; ++j) start[j] = {p[j], v[j], a[j]};
    ok = ok && segment.set(start, end, 0.5);
    segment.sample(0.3, p, v, a);
    ok = ok && find_violation(segment, limits);
    ok = ok && plan_stop(start[0], limits[0]).duration >= 0;
    ok = ok && judge<double>({tolerances, tolerances, 1}, start, start, i).tracking !=
                   (i < 0 ? Tracking::path_violated : Tracking::not_in_time);
    take_short_way<double>(p, a, JointSet::first(joints));
  }
  ok = ok && required_slowdown(trajectory, limits) > 1;
  ok = ok && spline.solve(joints, table.times, table.positions, velocities, accelerations);
  ok = ok && cubic.solve(joints, table.times, table.positions, velocities, accelerations, CubicEnds::full);
  ok = ok && monotone_velocities<double>(joints, table.times, table.positions, velocities);
  CHECK(guard.report() == "");
  CHECK(ok);
}

TEST_CASE("planning from point to point keeps the rules of the loop") {
  auto random = test::generator(61);
  constexpr std::size_t joints = 7;
  PointToPoint<joints> fixed;
  PointToPoint<> sized(joints);
  std::vector<MotionState> start(joints), target(joints);
  const std::vector<DirectionalLimits> limits(joints, DirectionalLimits{-2, 1, -4, 3, 50});
  std::vector<double> p(joints), v(joints), a(joints);

  test::RtGuard guard;
  bool ok = true;
  for (int i = 0; i < 100; ++i) {
    for (std::size_t j = 0; j < joints; ++j) {
      start[j] = {test::uniform(random, -1, 1), test::uniform(random, -3, 3), test::uniform(random, -5, 5)};
      target[j] = {test::uniform(random, -1, 1), test::uniform(random, -1, 0.9), 0};
    }
    ok = ok && fixed.plan(start, target, limits) && sized.plan(start, target, limits);
    ok = ok && !fixed.plan(start, target, limits, Synchronisation::phase);
    sized.sample(fixed.duration() / 2, p, v, a);
    ok = ok && fixed.plan(start, target, limits, Synchronisation::time, 2 * fixed.duration());
    ok = ok && fixed.joint(3).position_extrema().max.value >= start[3].position;
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}

TEST_CASE("changing the speed along a trajectory keeps the rules of the loop") {
  auto random = test::generator(62);
  constexpr std::size_t joints = 7;
  const auto trajectory =
      through(test::any_waypoints<double>(random, 20, joints).view(), Through::smooth).value();
  const std::vector<JointLimits> limits(joints, JointLimits{-9, 9, 2, 5, 50, 1});
  std::vector<double> p(joints), v(joints), a(joints);
  SpeedScaling scaling;
  Cursor cursor;

  test::RtGuard guard;
  for (int i = 0; i < 3000; ++i) {
    if (i % 300 == 0) scaling.aim(i % 600 == 0 ? 0.2 : 0.9);
    scaling.step(trajectory, cursor, limits, std::chrono::milliseconds(1));
    trajectory.sample(scaling.time(), cursor, p, v, a);
    scaling.scale(v, a);
  }
  CHECK(guard.report() == "");
  CHECK(scaling.time() > 0);
}
