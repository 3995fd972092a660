#include "takt/trajectory/fixed_trajectory.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "support/rt_guard.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/speed_scaling.hpp"
#include "takt/trajectory/through.hpp"
#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;

namespace {

constexpr std::size_t most_joints = 9;
constexpr std::size_t most_segments = 12;

template <class Scalar>
using Fixed = BasicFixedTrajectory<Scalar, most_joints, most_segments>;

static_assert(std::is_trivially_copyable_v<Fixed<float>>, "a copy is one run over memory");
static_assert(std::is_nothrow_default_constructible_v<FixedQuinticSegment<7>>);
constinit Fixed<double> made_before_main;

std::size_t up_to(std::mt19937_64& random, std::size_t most) {
  return static_cast<std::size_t>(test::uniform_int(random, 1, static_cast<std::int64_t>(most)));
}

template <class Scalar>
test::WaypointTable<Scalar> any_table(std::mt19937_64& random) {
  const std::size_t segments = up_to(random, most_segments);
  return test::any_waypoints<Scalar>(random, segments + 1, up_to(random, most_joints));
}

template <class Scalar>
std::vector<BasicMotionState<Scalar>> row(const test::WaypointTable<Scalar>& table, std::size_t k) {
  std::vector<BasicMotionState<Scalar>> states;
  for (std::size_t i = k * table.joints; i < (k + 1) * table.joints; ++i)
    states.push_back({table.positions[i], table.velocities[i], table.accelerations[i]});
  return states;
}

template <class Scalar>
std::vector<BasicJointLimits<Scalar>> any_limits(std::mt19937_64& random, std::size_t joints) {
  const auto any = [&](double low, double high) {
    return static_cast<Scalar>(test::any_scale(random, low, high));
  };
  std::vector<BasicJointLimits<Scalar>> limits;
  for (std::size_t j = 0; j < joints; ++j) {
    BasicJointLimits<Scalar> limit;
    limit.position_max = any(1, 10);
    limit.position_min = -limit.position_max;
    limit.velocity = any(1, 100);
    limit.acceleration = any(10, 1000);
    limit.jerk = any(100, 100000);
    limits.push_back(limit);
  }
  return limits;
}

/// Compares all results of both, bit for bit. Samples also before the start, after the end, and backwards in
/// time.
template <class Scalar, class A, class B>
void check_same(std::mt19937_64& random, const A& a, const B& b) {
  REQUIRE(a.joints() == b.joints());
  REQUIRE(a.segments() == b.segments());
  REQUIRE(a.duration() == b.duration());
  REQUIRE(a.may_step() == b.may_step());
  const std::size_t joints = a.joints();
  for (std::size_t k = 0; k <= a.segments() + 1; ++k) {
    REQUIRE(a.knot_time(k) == b.knot_time(k));
    for (std::size_t j = 0; j < joints; ++j) {
      REQUIRE(a.knot(k, j) == b.knot(k, j));
      REQUIRE(a.piece(k, j).coefficients() == b.piece(k, j).coefficients());
      REQUIRE(a.step(k, j) == b.step(k, j));
    }
  }
  Cursor cursor_a, cursor_b;
  std::vector<Scalar> found_a(3 * joints), found_b(3 * joints);
  const auto sample = [&](const auto& trajectory, Scalar t, Cursor& cursor, std::vector<Scalar>& found) {
    const std::span all(found);
    trajectory.sample(t, cursor, all.first(joints), all.subspan(joints, joints), all.last(joints));
  };
  const auto derivatives = [](const auto& trajectory, Scalar t, Cursor& cursor) {
    std::vector<Scalar> numbers;
    trajectory.derivatives(t, cursor, [&](std::size_t j, Scalar v, Scalar acceleration, Scalar jerk) {
      numbers.insert(numbers.end(), {static_cast<Scalar>(j), v, acceleration, jerk});
    });
    return numbers;
  };
  for (int i = -5; i < 60; ++i) {
    const bool jumps = test::uniform_int(random, 0, 4) == 0;
    const Scalar part =
        jumps ? static_cast<Scalar>(test::uniform(random, -0.2, 1.2)) : static_cast<Scalar>(i) / 50;
    const Scalar t = part * a.duration();
    sample(a, t, cursor_a, found_a);
    sample(b, t, cursor_b, found_b);
    REQUIRE(found_a == found_b);
    REQUIRE(derivatives(a, t, cursor_a) == derivatives(b, t, cursor_b));
    for (std::size_t j = 0; j < joints; ++j) REQUIRE(a.at(t, j) == b.at(t, j));
  }
  const auto limits = any_limits<Scalar>(random, joints);
  const auto worst_a = find_violation(a, limits);
  const auto worst_b = find_violation(b, limits);
  REQUIRE(worst_a.has_value() == worst_b.has_value());
  if (worst_a) {
    REQUIRE(worst_a->quantity == worst_b->quantity);
    REQUIRE(worst_a->joint == worst_b->joint);
    REQUIRE(worst_a->time == worst_b->time);
    REQUIRE(worst_a->value == worst_b->value);
    REQUIRE(worst_a->limit == worst_b->limit);
  }
  REQUIRE(required_slowdown(a, limits) == required_slowdown(b, limits));
}

}  // namespace

TEST_CASE_TEMPLATE("a fixed trajectory through waypoints is the one on the heap, bit for bit", Scalar, double,
                   float) {
  auto random = test::generator(140);
  Fixed<Scalar> fixed;  // one object for all cases: an earlier motion must leave no trace
  for (std::size_t n = 0; n < test::count(200); ++n) {
    CAPTURE(n);
    const auto table = any_table<Scalar>(random);
    BasicTrajectory<Scalar> heap;
    REQUIRE(heap.assign(table.view()));
    REQUIRE(fixed.assign(table.view()));
    check_same<Scalar>(random, heap, fixed);
    const Scalar factor = static_cast<Scalar>(test::uniform(random, 0.5, 3));
    REQUIRE(heap.slow_down(factor));
    REQUIRE(fixed.slow_down(factor));
    check_same<Scalar>(random, heap, fixed);
    const Fixed<Scalar> copy = fixed;
    REQUIRE(fixed.assign_stops(table.view()));
    check_same<Scalar>(random, heap, copy);
    check_same<Scalar>(random, through(table.view(), Through::stop).value(), fixed);
  }
}

TEST_CASE_TEMPLATE("a fixed trajectory that is appended to is the one on the heap, bit for bit", Scalar,
                   double, float) {
  auto random = test::generator(141);
  Fixed<Scalar> fixed;
  for (std::size_t n = 0; n < test::count(200); ++n) {
    CAPTURE(n);
    const auto table = any_table<Scalar>(random);
    BasicTrajectory<Scalar> heap(row(table, 0));
    REQUIRE(fixed.restart(row(table, 0)));
    check_same<Scalar>(random, heap, fixed);
    for (std::size_t k = 1; k < table.times.size(); ++k) {
      const Scalar duration = table.times[k] - table.times[k - 1];
      const auto start = row(table, k - 1);
      const auto end = row(table, k);
      if (k % 2 == 0) {
        REQUIRE(heap.append(end, duration));
        REQUIRE(fixed.append(end, duration));
        continue;
      }
      std::vector<BasicQuintic<Scalar>> pieces;
      for (std::size_t j = 0; j < table.joints; ++j)
        pieces.push_back(BasicQuintic<Scalar>::between(start[j], end[j], duration));
      const auto continuity = k % 3 == 0 ? Continuity::position : Continuity::acceleration;
      REQUIRE(heap.append(pieces, end, continuity).has_value() ==
              fixed.append(pieces, end, continuity).has_value());
    }
    check_same<Scalar>(random, heap, fixed);
  }
}

TEST_CASE("at rest at each waypoint means between any two the quintic without derivatives") {
  auto random = test::generator(142);
  const auto table = test::any_waypoints<double>(random, most_segments + 1, 3);
  FixedTrajectory<3, most_segments> fixed;
  REQUIRE(fixed.assign_stops(table.view()));
  for (std::size_t k = 0; k + 1 < table.times.size(); ++k) {
    for (std::size_t j = 0; j < 3; ++j) {
      const MotionState from{table.positions[3 * k + j], 0, 0};
      const MotionState to{table.positions[3 * (k + 1) + j], 0, 0};
      CHECK(fixed.knot(k, j) == from);
      const auto expected = Quintic::between(from, to, table.times[k + 1] - table.times[k]).coefficients();
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(fixed.piece(k, j).coefficients()[i] == doctest::Approx(expected[i]).epsilon(1e-14));
    }
  }
  CHECK(fixed.knot(most_segments, 2) == MotionState{table.positions.back(), 0, 0});
}

TEST_CASE("too many joints or segments are refused by name, and the motion stays as it was") {
  auto random = test::generator(143);
  const auto good = test::any_waypoints<double>(random, 4, 2);
  const auto long_one = test::any_waypoints<double>(random, 5, 2);
  const auto wide_one = test::any_waypoints<double>(random, 3, 3);
  FixedTrajectory<2, 3> fixed;
  CHECK(fixed.append(row(good, 0), 1).error() == Errc::wrong_size);
  REQUIRE(fixed.assign(good.view()));
  const Trajectory expected = through(good.view(), Through::given).value();
  const auto unchanged = [&] { check_same<double>(random, expected, fixed); };

  CHECK(fixed.assign(long_one.view()).error() == Errc::too_many_segments);
  CHECK(fixed.assign_stops(long_one.view()).error() == Errc::too_many_segments);
  CHECK(fixed.append(row(good, 0), 1).error() == Errc::too_many_segments);
  const std::vector<Quintic> pieces(2);
  CHECK(fixed.append(pieces, row(good, 0), Continuity::position).error() == Errc::too_many_segments);
  unchanged();
  CHECK(fixed.assign(wide_one.view()).error() == Errc::too_many_joints);
  CHECK(fixed.assign_stops(wide_one.view()).error() == Errc::too_many_joints);
  CHECK(fixed.restart(row(wide_one, 0)).error() == Errc::too_many_joints);
  CHECK(fixed.restart({}).error() == Errc::wrong_size);
  const std::vector<MotionState> not_a_number(2, {std::numeric_limits<double>::quiet_NaN(), 0, 0});
  CHECK(fixed.restart(not_a_number).error() == Errc::not_finite);
  CHECK(fixed.append(row(wide_one, 0), 1).error() == Errc::wrong_size);
  unchanged();
  CHECK(made_before_main.segments() == 0);
  CHECK(made_before_main.duration() == 0);
}

TEST_CASE_TEMPLATE("a fixed segment is the one on the heap, bit for bit", Scalar, double, float) {
  auto random = test::generator(144);
  constexpr std::size_t joints = 7;
  BasicQuinticSegment<Scalar> heap(joints);
  BasicFixedQuinticSegment<Scalar, joints> fixed;
  for (std::size_t n = 0; n < test::count(200); ++n) {
    const auto table = test::any_waypoints<Scalar>(random, 2, joints);
    const Scalar duration = table.times[1] - table.times[0];
    const Degree degree = n % 3 == 0 ? Degree::linear : n % 3 == 1 ? Degree::cubic : Degree::quintic;
    REQUIRE(heap.set(row(table, 0), row(table, 1), duration, degree));
    REQUIRE(fixed.set(row(table, 0), row(table, 1), duration, degree));
    std::array<std::array<Scalar, joints>, 3> a{}, b{};
    for (int i = -1; i < 22; ++i) {
      heap.sample(duration * static_cast<Scalar>(i) / 20, a[0], a[1], a[2]);
      fixed.sample(duration * static_cast<Scalar>(i) / 20, b[0], b[1], b[2]);
      REQUIRE(a == b);
    }
    const auto limits = any_limits<Scalar>(random, joints);
    REQUIRE(find_violation(heap, limits).has_value() == find_violation(fixed, limits).has_value());
  }
  CHECK(fixed.set({}, {}, 1).error() == Errc::wrong_size);
  CHECK(fixed.joints() == joints);
}

TEST_CASE("making, checking, sampling and slowing down a fixed trajectory keep the rules of the loop") {
  auto random = test::generator(145);
  const auto table = test::any_waypoints<double>(random, most_segments + 1, most_joints);
  const auto start = row(table, 0);
  const auto end = row(table, 1);
  const std::vector<JointLimits> limits(most_joints, JointLimits{-9, 9, 2, 5, 50, 1});
  std::vector<Quintic> pieces;
  for (std::size_t j = 0; j < most_joints; ++j) pieces.push_back(Quintic::between(start[j], end[j], 0.5));
  std::array<double, most_joints> p{}, v{}, a{};

  test::RtGuard guard;
  bool ok = true;
  for (int n = 0; n < 20; ++n) {
    Fixed<double> trajectory;
    ok = ok && trajectory.assign(table.view());
    ok = ok && trajectory.restart(start) && trajectory.append(pieces, end) && trajectory.append(start, 0.5);
    ok = ok && trajectory.assign_stops(table.view());
    const double slowdown = required_slowdown(trajectory, limits);
    ok = ok && trajectory.slow_down(slowdown) && !find_violation(trajectory, limits);
    Fixed<double> copy = trajectory;
    SpeedScaling scaling;
    scaling.aim(0.5);
    Cursor cursor;
    for (int i = 0; i < 100; ++i) {
      scaling.step(copy, cursor, limits, std::chrono::milliseconds(1));
      copy.sample(scaling.time(), cursor, p, v, a);
    }
    ok = ok && scaling.speed() < 1;
    FixedQuinticSegment<most_joints> segment;
    ok = ok && segment.set(start, end, 0.5) && find_violation(segment, limits);
    segment.sample(0.3, p, v, a);
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}
