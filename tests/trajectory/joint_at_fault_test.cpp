// Tests that the joint of an error is found: one joint is spoilt, and it alone is named.
#include "takt/trajectory/joint_at_fault.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/stop.hpp"

namespace {

using namespace takt::trajectory;
using takt::JointLimits;
using takt::MotionState;
using Joint = std::optional<std::size_t>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr JointLimits usual{-3, 3, 2, 5, 50, 10};

/// Three joints through three waypoints.
struct Rows {
  std::vector<double> times{0, 1, 2};
  std::vector<double> positions{0, 0, 0, 0.5, 0.2, 0.1, 0.3, 0.8, 0.4};
  std::vector<double> velocities = std::vector<double>(9);

  [[nodiscard]] Waypoints all() const { return {3, times, positions, velocities, {}}; }
  [[nodiscard]] Waypoints untimed() const { return {3, {}, positions, {}, {}}; }
};

TEST_CASE("a number of one joint's waypoints is that joint's fault, times and sizes are none's") {
  for (const Through mode : {Through::stop, Through::given, Through::smooth, Through::cubic}) {
    CAPTURE(static_cast<int>(mode));
    Rows rows;
    CHECK(joint_at_fault(rows.all(), mode) == Joint());
    rows.positions[4] = nan;
    REQUIRE_FALSE(through(rows.all(), mode));
    CHECK(joint_at_fault(rows.all(), mode) == Joint(1));
    rows.positions[4] = 0;
    rows.velocities[8] = 1e300;
    REQUIRE_FALSE(through(rows.all(), mode));
    CHECK(joint_at_fault(rows.all(), mode) == Joint(2));
    rows.times[2] = 1;  // now the times are wrong, too
    CHECK(joint_at_fault(rows.all(), mode) == Joint());
    rows.times.pop_back();
    CHECK(joint_at_fault(rows.all(), mode) == Joint());
    CHECK(joint_at_fault(Waypoints{}, mode) == Joint());
  }
}

TEST_CASE("a limit that allows no motion is its joint's fault") {
  Rows rows;
  std::array<JointLimits, 3> limits{usual, usual, usual};
  CHECK(joint_at_fault(rows.untimed(), limits) == Joint());
  limits[2].velocity = 0;
  REQUIRE_FALSE(through_within(rows.untimed(), Through::smooth, limits));
  CHECK(joint_at_fault(rows.untimed(), limits) == Joint(2));
  limits[2] = usual;
  limits[0].jerk = nan;
  CHECK(joint_at_fault(rows.untimed(), limits) == Joint(0));
  limits[0] = usual;
  rows.positions[4] = nan;
  CHECK(joint_at_fault(rows.untimed(), limits) == Joint(1));
  rows.positions = {0, 0, 0, 1, 0, 0, 2, 0, 0};  // only a joint without limits moves, and there are no times
  limits[0] = {};
  REQUIRE_FALSE(through_within(rows.untimed(), Through::smooth, limits));
  CHECK(joint_at_fault(rows.untimed(), limits) == Joint());
  CHECK(joint_at_fault(rows.untimed(), std::span(limits).first(2)) == Joint());
}

TEST_CASE("a move names the joint of its state, of its limit, and the one off the line") {
  std::array<MotionState, 3> start{};
  std::array<MotionState, 3> target{{{1, 0, 0}, {0.5, 0, 0}, {0.2, 0, 0}}};
  std::array<DirectionalLimits, 3> limits;
  limits.fill(both_ways(usual));
  const auto at_fault = [&](Synchronisation how) {
    REQUIRE_FALSE(PointToPoint<3>().plan(start, target, limits, how));
    return PointToPoint<3>::joint_at_fault(start, target, limits, how);
  };
  for (const auto how : {Synchronisation::time, Synchronisation::phase}) {
    CHECK(PointToPoint<3>::joint_at_fault(start, target, limits, how) == Joint());
    target[1].velocity = 7;
    CHECK(at_fault(Synchronisation::time) == Joint(1));
    target[1].velocity = 0;
    limits[2].jerk = 0;
    CHECK(at_fault(how) == Joint(2));
    limits[2] = limits[0];
    start[0].velocity = nan;
    CHECK(at_fault(how) == Joint(0));
    start[0].velocity = 0;
  }
  start[2].velocity = 0.1;
  CHECK(at_fault(Synchronisation::phase) == Joint(2));
  CHECK(PointToPoint<3>::joint_at_fault(start, target, limits) == Joint());
  CHECK(PointToPoint<3>::joint_at_fault(std::span(start).first(2), target, limits) == Joint());
}

TEST_CASE("a stop that lasts too long is its joint's fault") {
  const std::array<MotionState, 3> moving{{{0, 1, 0}, {0, 1, 0}, {0, 0, 0}}};
  std::array<JointLimits, 3> limits{usual, usual, usual};
  limits[1].acceleration = 1e-12;
  Trajectory motion(moving);
  REQUIRE_FALSE(append_stop(motion, limits));
  CHECK(joint_at_fault(motion, 0, limits) == Joint(1));
  CHECK(joint_at_fault(motion, 0, std::span(limits).first(2)) == Joint());
}

}  // namespace
