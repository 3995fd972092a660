// Gives every function that makes a motion arbitrary numbers, sizes and counts. Inside the documented domain
// (domain.hpp) no result is NaN or infinite. Outside it the function returns a named error. Ordinary and
// impossible numbers are mixed, so that sometimes exactly one number is bad.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "takt/trajectory/assemble.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/speed_scaling.hpp"
#include "takt/trajectory/splice.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/timing.hpp"
#include "takt/trajectory/tolerances.hpp"
#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;

namespace {

constexpr auto every_way = {Through::stop, Through::given, Through::smooth, Through::cubic,
                            Through::monotone};

template <class Scalar>
class Source {
 public:
  explicit Source(std::uint64_t salt) : random_(test::generator(salt)) {}

  std::size_t up_to(std::size_t most) {
    return static_cast<std::size_t>(test::uniform_int(random_, 0, static_cast<std::int64_t>(most)));
  }
  bool rarely() { return up_to(rarity_) == 0; }
  /// One in this many numbers is not ordinary.
  void set_rarity(std::size_t rarity) { rarity_ = rarity; }

  Scalar number(double low, double high) {
    if (!rarely()) return static_cast<Scalar>(test::uniform(random_, low, high));
    using Limits = std::numeric_limits<Scalar>;
    const std::vector<Scalar> table{0,
                                    -Scalar(0),
                                    Scalar(1e-12),
                                    Scalar(1e-6),
                                    Scalar(1e6),
                                    Scalar(1e9),
                                    Scalar(-1e9),
                                    Scalar(1e10),
                                    Limits::denorm_min(),
                                    Limits::max(),
                                    Limits::lowest(),
                                    Limits::infinity(),
                                    -Limits::infinity(),
                                    Limits::quiet_NaN()};
    return table[up_to(table.size() - 1)];
  }

  /// A period of a control loop, or one that no real loop has.
  Duration period() {
    using namespace std::chrono_literals;
    if (!rarely()) return std::chrono::microseconds(test::uniform_int(random_, 100, 20'000));
    const std::vector<Duration> table{1ns, 1us, 1s, 10s};
    return table[up_to(table.size() - 1)];
  }
  Duration no_period() {
    using namespace std::chrono_literals;
    const std::vector<Duration> table{0ns, -1ns, -1s, 10s + 1ns, 1'000'000'000s, -1'000'000'000s};
    return table[up_to(table.size() - 1)];
  }

  std::vector<Scalar> column(std::size_t size, double magnitude) {
    if (rarely()) size = up_to(size + 2);
    std::vector<Scalar> column;
    for (std::size_t i = 0; i < size; ++i) column.push_back(number(-magnitude, magnitude));
    return column;
  }

  BasicMotionState<Scalar> state() { return {number(-3, 3), number(-1, 1), number(-2, 2)}; }

  std::vector<BasicMotionState<Scalar>> states(std::size_t size) {
    if (rarely()) size = up_to(size + 2);
    std::vector<BasicMotionState<Scalar>> result;
    for (std::size_t i = 0; i < size; ++i) result.push_back(state());
    return result;
  }

  std::vector<BasicJointLimits<Scalar>> limits(std::size_t size) {
    if (rarely()) size = up_to(size + 2);
    std::vector<BasicJointLimits<Scalar>> result(size);
    for (auto& limit : result)
      limit = {number(-9, -4), number(4, 9), number(1, 3), number(2, 9), number(10, 90), number(1, 2)};
    return result;
  }

  test::WaypointTable<Scalar> waypoints() {
    test::WaypointTable<Scalar> table;
    table.joints = rarely() ? 0 : 1 + up_to(2);
    const std::size_t count = rarely() ? up_to(2) : 2 + up_to(4);
    Scalar time = number(-1, 1);
    for (std::size_t k = 0; k < count; ++k) {
      table.times.push_back(time);
      time += number(0.1, 2);
    }
    table.positions = column(count * table.joints, 3);
    if (up_to(2) > 0) table.velocities = column(count * table.joints, 2);
    if (up_to(2) > 0) table.accelerations = column(count * table.joints, 5);
    return table;
  }

 private:
  std::mt19937_64 random_;
  std::size_t rarity_ = 40;
};

template <class Scalar>
bool finite(const BasicMotionState<Scalar>& state) {
  return std::isfinite(state.position) && std::isfinite(state.velocity) && std::isfinite(state.acceleration);
}

/// Samples within the motion, at its ends and beyond them.
template <class Scalar>
bool finite(const BasicTrajectory<Scalar>& trajectory) {
  const std::size_t joints = trajectory.joints();
  std::vector<Scalar> p(joints), v(joints), a(joints);
  Cursor cursor;
  const auto sampled = [&](Scalar t) {
    trajectory.sample(t, cursor, p, v, a);
    for (std::size_t j = 0; j < joints; ++j) {
      if (!finite(BasicMotionState<Scalar>{p[j], v[j], a[j]}) || !finite(trajectory.at(t, j))) return false;
    }
    return true;
  };
  for (int i = -1; i <= 9; ++i) {
    if (!sampled(trajectory.duration() * static_cast<Scalar>(i) / 8)) return false;
  }
  using Limits = std::numeric_limits<Scalar>;
  return sampled(Limits::quiet_NaN()) && sampled(Limits::infinity()) && sampled(Limits::lowest());
}

bool has_name(const Error& error) {
  return error.room == Room::trajectory &&
         describe(static_cast<Errc>(error.code)) != "unknown trajectory error";
}

template <class Scalar>
bool fine(const Result<BasicTrajectory<Scalar>>& result) {
  return result ? finite(*result) : has_name(result.error());
}

bool fine(const Status& status) { return status || has_name(status.error()); }

template <class Scalar>
bool all_in_domain(std::span<const Scalar> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](Scalar x) { return std::abs(x) <= Scalar(1e9); });
}

/// The requirements of domain.hpp and BasicWaypoints, written a second time.
template <class Scalar>
bool in_domain(const BasicWaypoints<Scalar>& table) {
  const std::size_t count = table.times.size();
  if (count < 2 || table.joints == 0 || table.positions.size() != count * table.joints) return false;
  for (const auto column : {table.velocities, table.accelerations}) {
    if ((!column.empty() && column.size() != table.positions.size()) || !all_in_domain(column)) return false;
  }
  if (!all_in_domain(table.positions) || !all_in_domain(table.times)) return false;
  for (std::size_t k = 1; k < count; ++k) {
    const double duration = static_cast<double>(table.times[k] - table.times[k - 1]);
    if (!(duration >= min_duration * (1 - 1e-6) && duration <= max_duration * (1 + 1e-6))) return false;
  }
  return static_cast<double>(table.times.back() - table.times.front()) <= max_duration * (1 + 1e-6);
}

}  // namespace

TEST_CASE_TEMPLATE("whatever the waypoints are, the trajectory is finite or refused by name", Scalar, double,
                   float) {
  Source<Scalar> source(130);
  std::size_t made = 0, refused = 0;
  for (std::size_t n = 0; n < test::count(3000); ++n) {
    source.set_rarity(10 + 30 * (n % 4));
    const auto table = source.waypoints();
    const bool good = in_domain(table.view());
    for (const Through mode : every_way) {
      const auto trajectory = through(table.view(), mode);
      REQUIRE(fine(trajectory));
      ++(trajectory ? made : refused);
      if (!good) REQUIRE_FALSE(trajectory);
      if (good && (mode == Through::stop || (mode == Through::given && !table.velocities.empty())))
        REQUIRE(trajectory);
    }
    BasicTrajectory<Scalar> assigned;
    const Status status = assigned.assign(table.view());
    REQUIRE(fine(status));
    REQUIRE(status.has_value() == (good && !table.velocities.empty() && !table.accelerations.empty()));
    REQUIRE(finite(assigned));
  }
  CHECK(made > 0);
  CHECK(refused > 0);
}

TEST_CASE_TEMPLATE("whatever is asked of a trajectory, it stays finite or is refused by name", Scalar, double,
                   float) {
  Source<Scalar> source(131);
  std::size_t spliced = 0;
  for (std::size_t n = 0; n < test::count(2000); ++n) {
    source.set_rarity(10 + 30 * (n % 4));
    const auto table = source.waypoints();
    auto trajectory = through(table.view(), n % 2 == 0 ? Through::stop : Through::cubic);
    if (!trajectory) continue;
    const std::size_t joints = trajectory->joints();
    const auto limits = source.limits(joints);

    REQUIRE_FALSE(std::isnan(required_slowdown(*trajectory, limits)));
    if (const auto violation = find_violation(*trajectory, limits)) {
      REQUIRE(std::isfinite(violation->value));
      REQUIRE(std::isfinite(violation->time));
    }
    auto slower = *trajectory;
    REQUIRE(fine(slower.slow_down(source.number(0.1, 10))));
    REQUIRE(finite(slower));
    auto longer = *trajectory;
    REQUIRE(fine(longer.append(source.states(joints), source.number(0.1, 2))));
    REQUIRE(finite(longer));
    REQUIRE(fine(append_stop(longer, std::span(limits))));
    REQUIRE(finite(longer));
    const auto stopped = stop_each(*trajectory, source.number(-0.1, 5), std::span(limits));
    REQUIRE((stopped ? finite(stopped->trajectory) : has_name(stopped.error())));
    REQUIRE(fine(part(*trajectory, source.number(-1, 5), source.number(-1, 9))));
    const auto next = through(source.waypoints().view(), Through::stop);
    if (!next) continue;
    const auto joined = splice(*trajectory, source.number(0, 5), *next, source.number(0, 5), limits);
    REQUIRE((joined ? finite(joined->trajectory) : has_name(joined.error())));
    spliced += joined ? 1U : 0U;
  }
  CHECK(spliced > 0);
}

TEST_CASE_TEMPLATE("whatever the limits are, durations are found or refused by name", Scalar, double, float) {
  Source<Scalar> source(132);
  for (std::size_t n = 0; n < test::count(300, 1000); ++n) {
    source.set_rarity(10 + 30 * (n % 4));
    auto table = source.waypoints();
    if (n % 2 == 0) table.times.clear();
    const auto limits = source.limits(table.joints);
    for (const Through mode : every_way) {
      const auto timed = through_within(table.view(), mode, limits);
      REQUIRE((timed ? finite(timed->trajectory) : has_name(timed.error())));
    }
  }
}

TEST_CASE_TEMPLATE("whatever its ends are, a segment is finite or refused by name", Scalar, double, float) {
  Source<Scalar> source(133);
  constexpr std::size_t joints = 3;
  BasicQuinticSegment<Scalar> segment(joints);
  std::vector<Scalar> p(joints), v(joints), a(joints);
  for (std::size_t n = 0; n < test::count(5000); ++n) {
    const auto start = source.states(joints);
    const auto end = source.states(joints);
    const auto degree = n % 3 == 0 ? Degree::linear : n % 3 == 1 ? Degree::cubic : Degree::quintic;
    REQUIRE(fine(segment.set(start, end, source.number(0.1, 2), degree)));
    segment.sample(source.number(-1, 3), p, v, a);
    for (std::size_t j = 0; j < joints; ++j) REQUIRE(finite(BasicMotionState<Scalar>{p[j], v[j], a[j]}));
    const auto limits = source.limits(joints);
    if (const auto violation = find_violation(segment, limits)) REQUIRE(std::isfinite(violation->value));
  }
}

TEST_CASE_TEMPLATE("whatever the state and the limits are, a stop has no NaN", Scalar, double, float) {
  Source<Scalar> source(134);
  for (std::size_t n = 0; n < test::count(20'000); ++n) {
    auto state = source.state();
    if (!std::isfinite(state.position)) state.position = 0;
    const auto stop =
        plan_stop(state, {-9, 9, source.number(1, 3), source.number(2, 9), source.number(9, 90), 1});
    CAPTURE(state.velocity);
    CAPTURE(state.acceleration);
    REQUIRE(stop.duration >= 0);
    REQUIRE_FALSE(std::isnan(stop.distance));
    REQUIRE(stop.at(stop.duration).velocity == 0);
  }
}

TEST_CASE_TEMPLATE(
    "whatever start, target and limits are, a way from point to point is finite or refused by name", Scalar,
    double, float) {
  Source<Scalar> source(135);
  std::size_t made = 0;
  for (std::size_t n = 0; n < test::count(5000); ++n) {
    source.set_rarity(20 + 30 * (n % 4));
    const std::size_t joints = 1 + n % 3;
    BasicPointToPoint<Scalar> motion(joints);
    std::vector<BasicDirectionalLimits<Scalar>> limits(source.rarely() ? source.up_to(4) : joints);
    for (auto& limit : limits)
      limit = {source.number(-3, -1), source.number(1, 3), source.number(-9, -2), source.number(2, 9),
               source.number(10, 90)};
    const auto how = n % 2 == 0 ? Synchronisation::time : Synchronisation::phase;
    const Status status = motion.plan(source.states(joints), source.states(joints), limits, how);
    REQUIRE(fine(status));
    if (!status) continue;
    ++made;
    for (std::size_t j = 0; j < joints; ++j) {
      for (int i = -1; i <= 9; ++i)
        REQUIRE(finite(motion.joint(j).at(motion.duration() * static_cast<Scalar>(i) / 8)));
    }
    REQUIRE(fine(to_trajectory(motion)));
  }
  CHECK(made > 0);
}

TEST_CASE_TEMPLATE("whatever motions are assembled, the trajectory is finite or refused by name", Scalar,
                   double, float) {
  Source<Scalar> source(136);
  std::size_t made = 0;
  std::size_t refused = 0;
  for (std::size_t n = 0; n < test::count(3000); ++n) {
    source.set_rarity(20 + 60 * (n % 4));
    const std::size_t joints = 1 + n % 3;
    auto trajectory = through(source.waypoints().view(), Through::stop);
    BasicPointToPoint<Scalar> motion(joints);
    std::vector<BasicDirectionalLimits<Scalar>> limits(joints, {-1, 2, -4, 3, 50});
    std::vector<BasicMotionState<Scalar>> start(joints);
    for (auto& state : start) state.position = source.number(-3, 3);
    if (!trajectory || !motion.plan(source.states(joints), start, limits)) continue;
    std::vector<BasicJointMotion<Scalar>> motions;
    for (std::size_t j = 0; j < joints; ++j) {
      motions.emplace_back(source.rarely() ? source.state() : motion.joint(j).at(0));
      if (!source.rarely()) motions[j].append(motion.joint(j));
      motions[j].hold(source.number(-1, 2));
      if (n % 2 == 0) continue;
      const std::size_t from = j % trajectory->joints();
      motions.emplace_back(trajectory->at(0, from))
          .append(*trajectory, from, source.number(-1, 0), source.number(1, 9));
    }
    const auto together = assemble<Scalar>(motions);
    REQUIRE(fine(together));
    ++(together ? made : refused);
    std::vector<std::size_t> selected;
    for (std::size_t i = source.up_to(4); i > 0; --i)
      selected.push_back(source.up_to(source.rarely() ? 9 : 2));
    const bool exist = std::all_of(selected.begin(), selected.end(),
                                   [&](std::size_t j) { return j < trajectory->joints(); });
    const auto some = select<Scalar>(*trajectory, selected);
    REQUIRE(fine(some));
    if (!exist || selected.empty()) REQUIRE(some.error() == Errc::wrong_size);
    REQUIRE(fine(part(*trajectory, source.number(-1, 5), source.number(-1, 9))));
  }
  CHECK(made > 0);
  CHECK(refused > 0);
}

TEST_CASE_TEMPLATE("whatever speed is asked for, in whatever periods, a motion goes on along its path",
                   Scalar, double, float) {
  Source<Scalar> source(137);
  for (std::size_t n = 0; n < test::count(400); ++n) {
    source.set_rarity(10 + 30 * (n % 4));
    const auto trajectory = through(source.waypoints().view(), n % 2 == 0 ? Through::stop : Through::cubic);
    if (!trajectory) continue;
    const auto limits = source.limits(trajectory->joints());
    const BasicSpeedBounds<Scalar> bounds{source.number(0.5, 5), source.number(5, 50)};
    BasicSpeedScaling<Scalar> scaling(source.number(0, 1), bounds);
    const Duration period = source.period();
    CAPTURE(period.count());
    for (int i = 0; i < 100; ++i) {
      if (i % 10 == 0) scaling.aim(source.number(-0.5, 1.5));
      const BasicSpeedScaling<Scalar> before = scaling;
      const bool passes = !source.rarely();
      scaling.step(*trajectory, {}, limits, passes ? period : source.no_period());
      REQUIRE(finite(BasicMotionState<Scalar>{scaling.time(), scaling.speed(), scaling.rate()}));
      REQUIRE(scaling.speed() >= 0);
      REQUIRE(scaling.speed() <= 1 + 1000 * std::numeric_limits<Scalar>::epsilon());
      REQUIRE((passes ? scaling.time() >= before.time() : scaling.time() == before.time()));
      Scalar velocity = 1, acceleration = 1;
      scaling.scale(std::span(&velocity, 1), std::span(&acceleration, 1));
      REQUIRE(std::isfinite(acceleration));
    }
  }
}

TEST_CASE_TEMPLATE("whatever the tolerances are, they are refused by name or judged by numbers", Scalar,
                   double, float) {
  Source<Scalar> source(138);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::size_t n = 0; n < test::count(5000); ++n) {
    source.set_rarity(10 + 30 * (n % 4));
    const std::size_t joints = 1 + n % 3;
    std::vector<BasicJointTolerance<Scalar>> path(source.rarely() ? source.up_to(4) : joints),
        goal(path.size());
    bool good = true;
    const auto tolerance = [&] {
      const Scalar value = source.number(0, 2);
      good = good && value >= 0;
      return value;
    };
    for (auto* list : {&path, &goal}) {
      for (auto& joint : *list) joint = {tolerance(), tolerance(), tolerance()};
    }
    const BasicTolerances<Scalar> tolerances{path, goal, tolerance()};
    const Status status = check_tolerances(tolerances);
    REQUIRE(fine(status));
    REQUIRE(status.has_value() == good);
    ++(status ? accepted : refused);
    const auto reference = source.states(joints);
    const auto measured = source.states(joints);
    const Scalar time = source.number(-2, 2);
    const auto verdict = judge<Scalar>(tolerances, reference, measured, time);
    const bool met = verdict.tracking == Tracking::following || verdict.tracking == Tracking::reached;
    REQUIRE((verdict.tracking == Tracking::following || verdict.tracking == Tracking::path_violated) ==
            (time < 0));
    if (!status || met) continue;
    REQUIRE(verdict.worst.joint < path.size());
    REQUIRE(std::isfinite(verdict.worst.allowed));
    REQUIRE_FALSE(verdict.worst.value <= verdict.worst.allowed);
    const auto all_finite = [&](const auto& states) {
      return states.size() >= path.size() && std::all_of(states.begin(), states.end(), [](const auto& state) {
               return static_cast<bool>(check_state(state));
             });
    };
    if (all_finite(reference) && all_finite(measured)) REQUIRE(std::isfinite(verdict.worst.value));
  }
  CHECK(accepted > 0);
  CHECK(refused > 0);
}
