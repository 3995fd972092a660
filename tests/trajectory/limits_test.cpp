#include "takt/trajectory/limits.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "trajectory/samples.hpp"
#include "trajectory/ur_arm.hpp"

using namespace takt;
using namespace takt::trajectory;
using test::any_scale;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Limits that the motion keeps, except for a factor on the acceleration limit.
std::vector<JointLimits> acceleration_limits(std::size_t joints, double acceleration) {
  JointLimits limits;
  limits.acceleration = acceleration;
  return std::vector<JointLimits>(joints, limits);
}

/// The largest ratio of a magnitude to its limit, by brute force.
template <class Scalar>
double sampled_ratio(const BasicTrajectory<Scalar>& trajectory,
                     const std::vector<BasicJointLimits<Scalar>>& limits) {
  double worst = 0;
  for (std::size_t k = 0; k < trajectory.segments(); ++k) {
    for (std::size_t j = 0; j < trajectory.joints(); ++j) {
      const auto piece = trajectory.piece(k, j);
      for (int i = 0; i <= 100; ++i) {
        const Scalar t = piece.duration() * static_cast<Scalar>(i) / 100;
        for (const Scalar ratio :
             {piece.velocity(t) / limits[j].velocity, piece.acceleration(t) / limits[j].acceleration,
              piece.jerk(t) / limits[j].jerk}) {
          worst = std::max(worst, std::abs(static_cast<double>(ratio)));
        }
      }
    }
  }
  return worst;
}

template <class Scalar>
std::vector<BasicJointLimits<Scalar>> any_limits(std::mt19937_64& random, std::size_t joints) {
  std::vector<BasicJointLimits<Scalar>> limits(joints);
  for (auto& limit : limits) {
    limit.velocity = static_cast<Scalar>(any_scale(random, 0.1, 100));
    limit.acceleration = static_cast<Scalar>(any_scale(random, 0.1, 1000));
    limit.jerk = static_cast<Scalar>(any_scale(random, 1, 100000));
  }
  return limits;
}

}  // namespace

TEST_CASE("a real planner's trajectory breaks 5 rad/s^2 between its waypoints, at the elbow") {
  const auto trajectory = through(test::ur_arm(), Through::given).value();
  const auto violation = find_violation(trajectory, acceleration_limits(6, 5));
  REQUIRE(violation);
  CHECK(violation->quantity == Quantity::acceleration);
  CHECK(violation->joint == test::ur_elbow);
  CHECK(std::abs(violation->value) == doctest::Approx(6.87).epsilon(1e-3));
  CHECK(violation->limit == 5);
  CHECK(violation->time > 0);
  CHECK(violation->time < 0.4);
  CHECK(trajectory.at(violation->time, test::ur_elbow).acceleration == doctest::Approx(violation->value));
}

TEST_CASE("it passes at 8 rad/s^2 with a stop, and at 5 rad/s^2 slowed down with a stop") {
  auto trajectory = through(test::ur_arm(), Through::given).value();
  REQUIRE(append_stop(trajectory, acceleration_limits(6, 8)));
  CHECK(trajectory.segments() > 4);
  CHECK_FALSE(find_violation(trajectory, acceleration_limits(6, 8)));

  trajectory = through(test::ur_arm(), Through::given).value();
  const auto limits = acceleration_limits(6, 5);
  REQUIRE(trajectory.slow_down(required_slowdown(trajectory, limits)));
  REQUIRE(append_stop(trajectory, limits));
  CHECK_FALSE(find_violation(trajectory, limits));
  for (std::size_t j = 0; j < 6; ++j) {
    CHECK(trajectory.at(trajectory.duration(), j).velocity == 0);
    CHECK(trajectory.at(trajectory.duration(), j).acceleration == 0);
  }
}

TEST_CASE_TEMPLATE("a violation is found exactly when sampling finds one", Scalar, double, float) {
  auto random = test::generator(40);
  std::size_t violations = 0;
  for (std::size_t n = 0; n < test::count(300); ++n) {
    const auto table = test::any_waypoints<Scalar>(random, 2 + n % 4, 1 + n % 3);
    const auto trajectory = through(table.view(), Through::given).value();
    const auto limits = any_limits<Scalar>(random, table.joints);
    const double sampled = sampled_ratio(trajectory, limits);
    const auto violation = find_violation(trajectory, limits);
    if (sampled > 1.001) REQUIRE(violation);
    if (sampled < 0.99) REQUIRE_FALSE(violation);
    if (!violation) continue;
    ++violations;
    // The reported violation is the worst one: no sample exceeds its limit more, and the violation lies where
    // it is reported.
    const double ratio = std::abs(static_cast<double>(violation->value / violation->limit));
    REQUIRE(ratio >= sampled * (1 - 1e-4));
    REQUIRE(ratio <= sampled * 1.2);
  }
  CHECK(violations > 0);
}

TEST_CASE_TEMPLATE(
    "what is slowed down to fit keeps the limits, and would not if it were one per cent faster", Scalar,
    double, float) {
  auto random = test::generator(41);
  const double rounding = std::is_same_v<Scalar, double> ? 2 * limit_slack : 2e-5;
  for (std::size_t n = 0; n < test::count(300); ++n) {
    const auto table = test::any_waypoints<Scalar>(random, 2 + n % 6, 1 + n % 3);
    const auto mode = n % 2 == 0 ? Through::given : Through::smooth;
    auto trajectory = through(table.view(), mode).value();
    const auto limits = any_limits<Scalar>(random, table.joints);
    const Scalar factor = required_slowdown(trajectory, limits);
    REQUIRE(factor >= 1);
    auto faster = trajectory;
    REQUIRE(trajectory.slow_down(factor));
    REQUIRE_FALSE(find_violation(trajectory, limits));
    REQUIRE(sampled_ratio(trajectory, limits) <= 1 + rounding);
    if (factor == 1) continue;
    REQUIRE(faster.slow_down(factor * Scalar(0.99)));
    REQUIRE(find_violation(faster, limits));
  }
}

TEST_CASE("positions between the waypoints are checked, and no slow-down helps them") {
  const std::vector<double> times{0, 1}, positions{0, 0}, velocities{2, -2};
  const auto trajectory = through(Waypoints{1, times, positions, velocities, {}}, Through::given).value();
  const double top = trajectory.piece(0, 0).position_extrema().max.value;
  std::vector<JointLimits> limits(1);
  limits[0].position_min = -0.1;
  limits[0].position_max = 0.9 * top;
  const auto violation = find_violation(trajectory, limits);
  REQUIRE(violation);
  CHECK(violation->quantity == Quantity::position);
  CHECK(violation->time == doctest::Approx(0.5));
  CHECK(violation->value == doctest::Approx(top));
  CHECK(violation->limit == 0.9 * top);
  CHECK(required_slowdown(trajectory, limits) == infinity);
  limits[0].position_max = top;
  CHECK_FALSE(find_violation(trajectory, limits));
  limits[0].position_min = 0.01;
  CHECK(find_violation(trajectory, limits)->limit == 0.01);
}

TEST_CASE("a limit may be exceeded by limit_slack of it, and by no more") {
  const std::vector<double> times{0, 1}, positions{0, 1};
  const auto trajectory = through(Waypoints{1, times, positions, {}, {}}, Through::stop).value();
  const auto exceeds = [&](double JointLimits::*member, double peak, double part) {
    std::vector<JointLimits> limits(1);
    limits[0].*member = peak / (1 + part);
    return find_violation(trajectory, limits).has_value();
  };
  for (const auto& [member, peak] :
       {std::pair{&JointLimits::velocity, 1.875}, std::pair{&JointLimits::acceleration, 10 / std::sqrt(3)},
        std::pair{&JointLimits::jerk, 60.0}}) {
    CHECK_FALSE(exceeds(member, peak, 0.9 * limit_slack));
    CHECK(exceeds(member, peak, 1.1 * limit_slack));
  }
}

TEST_CASE("the worst of several violations is reported") {
  const std::vector<double> times{0, 1}, positions{0, 0, 1, 1};
  const auto trajectory = through(Waypoints{2, times, positions, {}, {}}, Through::stop).value();
  std::vector<JointLimits> limits(2);
  limits[0].velocity = 1;      // exceeded 1.875 times
  limits[1].acceleration = 4;  // 1.44 times
  CHECK(find_violation(trajectory, limits)->joint == 0);
  limits[1].acceleration = 1;  // 5.8 times
  CHECK(find_violation(trajectory, limits)->joint == 1);
  limits[1].jerk = 1;  // 60 times
  CHECK(find_violation(trajectory, limits)->quantity == Quantity::jerk);
}

TEST_CASE("infinite limits allow everything; zero, negative, NaN and missing ones only what does not move") {
  const std::vector<double> times{0, 1}, positions{0, 0, 1, 0};
  const auto trajectory = through(Waypoints{2, times, positions, {}, {}}, Through::stop).value();
  std::vector<JointLimits> limits(2);
  CHECK_FALSE(find_violation(trajectory, limits));
  CHECK(required_slowdown(trajectory, limits) == 1);
  limits[1].velocity = limits[1].acceleration = limits[1].jerk = 0;
  CHECK_FALSE(find_violation(trajectory, limits));
  limits[0].velocity = 0;
  CHECK(find_violation(trajectory, limits)->joint == 0);
  CHECK(required_slowdown(trajectory, limits) == infinity);
  limits[0].velocity = std::numeric_limits<double>::quiet_NaN();
  CHECK(find_violation(trajectory, limits)->joint == 0);
  CHECK(required_slowdown(trajectory, limits) == infinity);
  limits[0].velocity = -1;
  REQUIRE(find_violation(trajectory, limits));
  CHECK(find_violation(trajectory, limits)->joint == 0);
  CHECK(required_slowdown(trajectory, limits) == infinity);
  limits[0] = {};
  limits.pop_back();
  CHECK(find_violation(trajectory, limits)->joint == 1);
  CHECK(required_slowdown(trajectory, limits) == infinity);
}

TEST_CASE("what the bounds over whole rows clear, the exact check of each piece clears too") {
  auto random = test::generator(42);
  std::size_t violations = 0;
  for (std::size_t n = 0; n < test::count(200); ++n) {
    const auto table = test::any_waypoints<double>(random, 2 + n % 4, 1 + n % 70);
    const auto trajectory = through(table.view(), Through::smooth).value();
    auto limits = any_limits<double>(random, table.joints);
    for (auto& limit : limits) limit.position_min = -(limit.position_max = any_scale(random, 3, 100));
    trajectory::detail::WorstViolation<double> worst;
    for (std::size_t k = 0; k < trajectory.segments(); ++k) {
      for (std::size_t j = 0; j < trajectory.joints(); ++j)
        worst.check(trajectory.piece(k, j), j, trajectory.knot_time(k), limits[j]);
    }
    const auto found = find_violation(trajectory, limits);
    REQUIRE(found.has_value() == worst.result().has_value());
    if (!found) continue;
    ++violations;
    REQUIRE(found->quantity == worst.result()->quantity);
    REQUIRE(found->joint == worst.result()->joint);
    REQUIRE(found->time == worst.result()->time);
    REQUIRE(found->value == worst.result()->value);
  }
  CHECK(violations > 0);
}

TEST_CASE("a segment is checked like a trajectory") {
  QuinticSegment segment(2);
  const std::vector<MotionState> start(2), end{{0, 0, 0}, {1, 0, 0}};
  REQUIRE(segment.set(start, end, 1));
  std::vector<JointLimits> limits(2);
  CHECK_FALSE(find_violation(segment, limits));
  limits[1].velocity = 1.8;
  const auto violation = find_violation(segment, limits);
  REQUIRE(violation);
  CHECK(violation->joint == 1);
  CHECK(violation->value == doctest::Approx(1.875));
  CHECK(violation->time == doctest::Approx(0.5));
}
