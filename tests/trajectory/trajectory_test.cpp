#include "takt/trajectory/trajectory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/through.hpp"
#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;
using test::uniform;

namespace {

template <class Scalar>
struct Sample {
  explicit Sample(std::size_t joints) : p(joints), v(joints), a(joints) {}
  std::vector<Scalar> p, v, a;
  [[nodiscard]] BasicMotionState<Scalar> operator[](std::size_t j) const { return {p[j], v[j], a[j]}; }
};

template <class Scalar>
bool close(const BasicMotionState<Scalar>& x, const BasicMotionState<Scalar>& y) {
  const Scalar tolerance = 4000 * std::numeric_limits<Scalar>::epsilon();
  const auto near = [&](Scalar a, Scalar b, Scalar scale) { return std::abs(a - b) <= tolerance * scale; };
  return near(x.position, y.position, 10) && near(x.velocity, y.velocity, 100) &&
         near(x.acceleration, y.acceleration, 1000);
}

}  // namespace

TEST_CASE_TEMPLATE("the cursor, random access and the pieces agree", Scalar, double, float) {
  auto random = test::generator(20);
  for (std::size_t n = 0; n < test::count(200); ++n) {
    const std::size_t joints = 1 + n % 9;
    const auto table = test::any_waypoints<Scalar>(random, 2 + n % 30, joints);
    const auto trajectory = through(table.view(), Through::given).value();
    REQUIRE(trajectory.segments() == table.times.size() - 1);
    typename BasicTrajectory<Scalar>::Cursor rising, jumping;
    Sample<Scalar> one(joints), other(joints);
    for (int i = -2; i <= 102; ++i) {
      const Scalar t = trajectory.duration() * static_cast<Scalar>(i) / 100;
      trajectory.sample(t, rising, one.p, one.v, one.a);
      const auto elsewhere =
          static_cast<Scalar>(uniform(random, -1, static_cast<double>(trajectory.duration()) + 1));
      trajectory.sample(elsewhere, jumping, other.p, other.v, other.a);
      for (std::size_t j = 0; j < joints; ++j) {
        REQUIRE(close(one[j], trajectory.at(t, j)));
        REQUIRE(close(other[j], trajectory.at(elsewhere, j)));
      }
    }
  }
}

TEST_CASE_TEMPLATE("position, velocity and acceleration are continuous and pass the waypoints", Scalar,
                   double, float) {
  auto random = test::generator(21);
  for (std::size_t n = 0; n < test::count(200); ++n) {
    const std::size_t joints = 1 + n % 5;
    const auto table = test::any_waypoints<Scalar>(random, 2 + n % 10, joints);
    const auto trajectory = through(table.view(), Through::given).value();
    for (std::size_t k = 0; k <= trajectory.segments(); ++k) {
      for (std::size_t j = 0; j < joints; ++j) {
        const std::size_t i = k * joints + j;
        const BasicMotionState<Scalar> waypoint{table.positions[i], table.velocities[i],
                                                table.accelerations[i]};
        REQUIRE(close(trajectory.knot(k, j), waypoint));
        if (k == 0) continue;
        const auto before = trajectory.piece(k - 1, j);
        REQUIRE(close(before.at(before.duration()), waypoint));
      }
    }
  }
}

TEST_CASE("before the start and after the end the trajectory stands at its ends, exactly") {
  const std::vector<double> times{5, 6.1}, positions{0.1, 0.7};
  const auto trajectory = through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
  CHECK(trajectory.duration() == doctest::Approx(1.1));
  CHECK(trajectory.at(-3, 0) == MotionState{0.1, 0, 0});
  CHECK(trajectory.at(std::numeric_limits<double>::quiet_NaN(), 0) == MotionState{0.1, 0, 0});
  CHECK(trajectory.at(trajectory.duration(), 0) == MotionState{0.7, 0, 0});
  CHECK(trajectory.at(1e300, 0) == MotionState{0.7, 0, 0});
  Cursor cursor{12345};  // a cursor of another trajectory
  Sample<double> sample(1);
  trajectory.sample(0.3, cursor, sample.p, sample.v, sample.a);
  CHECK(close(sample[0], trajectory.at(0.3, 0)));
  trajectory.sample(std::numeric_limits<double>::infinity(), cursor, sample.p, sample.v, sample.a);
  CHECK(sample[0] == MotionState{0.7, 0, 0});
}

TEST_CASE("a trajectory that ends in motion says so at its end") {
  const std::vector<double> times{0, 1}, positions{0, 1}, velocities{0, 2}, accelerations{0, 3};
  const auto trajectory =
      through(Waypoints{1, times, positions, velocities, accelerations}, Through::given).value();
  CHECK(trajectory.at(2, 0) == MotionState{1, 2, 3});
  CHECK(trajectory.knot(1, 0) == MotionState{1, 2, 3});
  CHECK(trajectory.knot(99, 0) == MotionState{1, 2, 3});
}

TEST_CASE("an empty trajectory is harmless") {
  const Trajectory none;
  CHECK(none.joints() == 0);
  CHECK(none.segments() == 0);
  CHECK(none.duration() == 0);
  CHECK(none.at(1, 0) == MotionState{});
  CHECK(none.knot(0, 0) == MotionState{});
  CHECK(none.piece(0, 0).position(1) == 0);
  Cursor cursor;
  none.sample(1, cursor, {}, {}, {});
}

TEST_CASE("what cannot be appended leaves the trajectory as it was") {
  const std::vector<MotionState> start{{1, 0, 0}};
  Trajectory trajectory(start);
  CHECK(trajectory.at(3, 0) == MotionState{1, 0, 0});
  const std::vector<MotionState> end{{2, 0, 0}}, two(2), bad{{std::nan(""), 0, 0}};
  REQUIRE(trajectory.append(end, 1));
  CHECK(trajectory.append(two, 1).error() == Errc::wrong_size);
  CHECK(trajectory.append(bad, 1).error() == Errc::not_finite);
  CHECK(trajectory.append(end, -1).error() == Errc::out_of_domain);
  CHECK(trajectory.append(end, 1e6).error() == Errc::out_of_domain);
  CHECK(trajectory.segments() == 1);
  CHECK(trajectory.duration() == 1);
  Trajectory none;
  CHECK(none.append({}, 1).error() == Errc::wrong_size);
}

TEST_CASE_TEMPLATE("pieces are appended where the motion ends, and nowhere else", Scalar, double, float) {
  auto random = test::generator(23);
  using State = BasicMotionState<Scalar>;
  using Piece = BasicQuintic<Scalar>;
  for (std::size_t n = 0; n < test::count(2000); ++n) {
    const auto offset = static_cast<Scalar>(test::any_number(random, test::any_scale(random, 1e-3, 1e6)));
    const auto table = test::any_waypoints<Scalar>(random, 6, 1, test::any_scale(random, 1, 100));
    const auto state = [&](std::size_t k) {
      return State{table.positions[k] + offset, table.velocities[k], table.accelerations[k]};
    };
    const std::vector<State> start{state(0)};
    BasicTrajectory<Scalar> trajectory(start);
    Scalar fastest = 0;
    for (std::size_t k = 1; k < table.times.size(); ++k) {
      const Scalar duration = table.times[k] - table.times[k - 1];
      const Piece piece = Piece::between(state(k - 1), state(k), duration);
      const std::vector<State> end{state(k)};
      fastest = std::max(
          {fastest, std::abs(piece.velocity_extrema().peak().value), std::abs(offset) / duration, Scalar{1}});
      for (std::size_t wrong = 0; wrong < 6; ++wrong) {
        State from = state(k - 1), to = state(k);
        State& bent = wrong < 3 ? from : to;
        const Scalar much = static_cast<Scalar>(std::is_same_v<Scalar, double> ? 1e-6 : 3e-2) * fastest;
        (wrong % 3 == 0   ? bent.position
         : wrong % 3 == 1 ? bent.velocity
                          : bent.acceleration) +=
            much * static_cast<Scalar>(1 + 1000 * (wrong % 3)) * std::max(Scalar{1}, 1 / duration);
        const std::vector<Piece> pieces{Piece::between(from, to, duration)};
        REQUIRE(trajectory.append(pieces, end).error() == Errc::not_continuous);
      }
      const std::vector<Piece> pieces{piece};
      REQUIRE(trajectory.append(pieces, end));
    }
    CHECK(trajectory.segments() == 5);
    CHECK_FALSE(trajectory.may_step());
  }
}

TEST_CASE("straight lines are appended where steps are asked for, and the steps are found") {
  const std::vector<MotionState> start{{0, 1, 0}};
  const auto line = [](double from, double to) {
    return std::vector{Quintic::between({from, 0, 0}, {to, 0, 0}, 1, Degree::linear)};
  };
  const auto end_of = [](const std::vector<Quintic>& pieces) { return std::vector{pieces[0].at(1)}; };
  const auto first = line(0, 1), on = line(1, 2), back = line(1, 0.5), apart = line(1.1, 2);
  Trajectory trajectory(start);
  CHECK(trajectory.append(line(0, 2), end_of(line(0, 2)), Continuity::position).error() ==
        Errc::not_continuous);  // the start moves at 1, the line at 2
  REQUIRE(trajectory.append(first, end_of(first), Continuity::position));
  CHECK_FALSE(trajectory.may_step());
  CHECK(trajectory.append(back, end_of(back)).error() == Errc::not_continuous);
  CHECK(trajectory.append(apart, end_of(apart), Continuity::position).error() == Errc::not_continuous);
  Trajectory straight = trajectory;
  REQUIRE(straight.append(on, end_of(on), Continuity::position));
  REQUIRE(trajectory.append(back, end_of(back), Continuity::position));
  CHECK(trajectory.may_step());
  CHECK(trajectory.step(1, 0) == MotionState{0, -1.5, 0});
  CHECK(trajectory.step(0, 0) == MotionState{});
  CHECK(straight.step(1, 0) == MotionState{});

  std::vector<JointLimits> limits(1);
  limits[0].velocity = 2;
  CHECK_FALSE(find_violation(trajectory, limits));
  CHECK(required_slowdown(trajectory, limits) == 1);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  limits[0].jerk = 1000;
  const auto by_jerk = find_violation(trajectory, limits);
  REQUIRE(by_jerk);
  CHECK(by_jerk->quantity == Quantity::jerk);
  limits[0].acceleration = 100;
  const auto violation = find_violation(trajectory, limits);
  REQUIRE(violation);
  CHECK(violation->quantity == Quantity::acceleration);
  CHECK(violation->time == 1);
  CHECK(violation->value == -infinity);
  CHECK(violation->limit == 100);
  CHECK(required_slowdown(trajectory, limits) == infinity);
  CHECK_FALSE(find_violation(straight, limits));
  CHECK(required_slowdown(straight, limits) == 1);
}

TEST_CASE("slowing down keeps the path and divides the derivatives") {
  auto random = test::generator(22);
  const auto table = test::any_waypoints<double>(random, 6, 3);
  const auto fast = through(table.view(), Through::given).value();
  Trajectory slow = fast;
  REQUIRE(slow.slow_down(2));
  CHECK(slow.duration() == doctest::Approx(2 * fast.duration()));
  for (double t = -0.1; t < fast.duration() + 0.2; t += 0.01) {
    const MotionState expected = fast.at(t, 1);
    CHECK(close(slow.at(2 * t, 1), {expected.position, expected.velocity / 2, expected.acceleration / 4}));
  }
  for (const double factor : {0.0, -1.0, 1e9, 1e-9})
    CHECK(slow.slow_down(factor).error() == Errc::out_of_domain);
  CHECK(slow.slow_down(std::nan("")).error() == Errc::not_finite);
  CHECK(slow.duration() == doctest::Approx(2 * fast.duration()));
}
