#include "takt/trajectory/speed_scaling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "takt/trajectory/assemble.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t joints = 7;

/// Limits of a robot with 1 to 7 joints, whose times to build up the acceleration differ.
std::vector<JointLimits> any_unequal_limits(std::mt19937_64& random) {
  std::vector<JointLimits> limits(static_cast<std::size_t>(test::uniform_int(random, 1, joints)));
  for (JointLimits& limit : limits) {
    limit.velocity = test::any_scale(random, 0.3, 3);
    limit.acceleration = test::uniform(random, 2, 10);
    limit.jerk = test::any_scale(random, 2.5, 110) * limit.acceleration;
  }
  return limits;
}

/// Limits of a robot. The jerk builds up the acceleration in 10 to 200 ms.
std::vector<JointLimits> any_joint_limits(std::mt19937_64& random) {
  const double ratio = test::any_scale(random, 5, 100);
  std::vector<JointLimits> limits(joints);
  for (JointLimits& limit : limits) {
    limit.velocity = test::uniform(random, 0.5, 2);
    limit.acceleration = test::uniform(random, 2, 10);
    limit.jerk = ratio * limit.acceleration;
  }
  return limits;
}

Trajectory any_spline(std::mt19937_64& random) {
  std::vector<double> times{0}, positions;
  const auto waypoints = static_cast<std::size_t>(test::uniform_int(random, 2, 8));
  while (times.size() < waypoints) times.push_back(times.back() + test::uniform(random, 0.2, 1));
  for (std::size_t i = 0; i < waypoints * joints; ++i) positions.push_back(test::uniform(random, -2, 2));
  constexpr std::array ways{Through::stop, Through::smooth, Through::cubic, Through::monotone};
  const Through way = ways[static_cast<std::size_t>(test::uniform_int(random, 0, 3))];
  return through(Waypoints{joints, times, positions, {}, {}}, way).value();
}

/// A trajectory that touches a limit.
Trajectory any_fitted(std::mt19937_64& random, const std::vector<JointLimits>& limits) {
  Trajectory motion = any_spline(random);
  REQUIRE(motion.slow_down(1e-2));
  REQUIRE(motion.slow_down(required_slowdown(motion, limits)));
  return motion;
}

/// A path whose jerk is always zero or at some joint's limit, with steps between them.
PointToPoint<> any_jerk_limited(std::mt19937_64& random, const std::vector<JointLimits>& limits) {
  std::vector<MotionState> start(limits.size()), end(limits.size());
  for (MotionState& state : end) state.position = test::uniform(random, -2, 2);
  std::vector<DirectionalLimits> both(limits.size());
  std::transform(limits.begin(), limits.end(), both.begin(), both_ways<double>);
  PointToPoint<> motion(limits.size());
  REQUIRE(motion.plan(start, end, both));
  return motion;
}

/// The fraction by which a limit is exceeded at a state of the path time. If the planned motion exceeds the
/// limit, its planned value counts as the limit.
template <class Path>
double excess_at(const Path& path, const MotionState& progress, double u,
                 const std::vector<JointLimits>& limits) {
  const double r = progress.velocity;
  const double w = progress.acceleration;
  typename Path::Cursor cursor;
  double worst = 0;
  path.derivatives(progress.position, cursor, [&](std::size_t j, double v, double a, double jerk) {
    const auto check = [&](double value, double planned, double limit) {
      worst = std::max(worst, std::abs(value) / std::max(std::abs(planned), limit) - 1);
    };
    check(v * r, v, limits[j].velocity);
    check(a * r * r + v * w, a, limits[j].acceleration);
    check(jerk * r * r * r + 3 * a * r * w + v * u, jerk, limits[j].jerk);
  });
  return worst;
}

/// The motion of one joint as a trajectory with one segment per phase. It touches its limits up to the
/// rounding of its derivatives.
Trajectory in_one_piece_a_phase(const JerkProfile& profile) {
  Trajectory path(std::vector<MotionState>{profile.at(0)});
  for (std::size_t k = 0; k < profile.phases(); ++k) {
    REQUIRE(path.append(std::vector<MotionState>{profile.at(profile.begins(k + 1))},
                        profile.begins(k + 1) - profile.begins(k)));
  }
  return path;
}

/// The speed stays below `most` in the period from `before` to now. The limits are exceeded by little, mostly
/// by the path's change between two checks.
template <class Path>
void check_period(const Path& path, const std::vector<JointLimits>& limits, const MotionState& before,
                  const SpeedScaling& now, Duration period, double most) {
  const double h = to_seconds(period);
  const double u = (now.rate() - before.acceleration) / h;
  double fastest = 0;
  double worst = 0;
  for (int i = 0; i <= 20; ++i) {
    const MotionState there = advance(before, u, h * i / 20);
    fastest = std::max(fastest, there.velocity);
    worst = std::max(worst, excess_at(path, there, u, limits));
  }
  REQUIRE(fastest <= most + 1e-9);
  REQUIRE(now.excess() <= 0.003);
  REQUIRE(worst <= 0.01);
}

/// All joints' motions as one trajectory, as the motion server plans a move.
Trajectory in_one_trajectory(const PointToPoint<>& move) {
  std::vector<BasicJointMotion<double>> motions;
  for (std::size_t j = 0; j < move.joints(); ++j)
    motions.emplace_back(move.joint(j).at(0)).append(move.joint(j));
  return assemble<double>(motions).value();
}

/// Slows down, and resumes `left` seconds before the end. Checks every period until the path has ended.
template <class Path>
void resume_near_the_end(const Path& path, double scale, double left, const std::vector<JointLimits>& limits,
                         Duration period) {
  const double resume = path.duration() - left;
  SpeedScaling scaling(std::max(0.0, resume - 0.5));
  scaling.aim(scale);
  const auto longest = static_cast<int>(10 / (scale * to_seconds(period)));
  int periods = 0;
  while (scaling.time() < path.duration()) {
    REQUIRE(++periods < longest);
    if (scaling.time() >= resume) scaling.aim(1);
    const MotionState before{scaling.time(), scaling.speed(), scaling.rate()};
    const bool was_steady = scaling.steady();
    scaling.step(path, {}, limits, period);
    if (!was_steady && scaling.time() < path.duration())
      check_period(path, limits, before, scaling, period, 1);
  }
}

/// Requests one speed after the other in the last 0.4 s of a path.
template <class Path>
void change_near_the_end(const Path& path, std::mt19937_64& random, const std::vector<JointLimits>& limits,
                         Duration period) {
  SpeedScaling scaling(std::max(0.0, path.duration() - test::uniform(random, 0, 0.4)));
  scaling.aim(0);
  double next = scaling.time() + test::uniform(random, 0, 0.2);
  while (scaling.time() < path.duration()) {
    const bool rests = scaling.steady() && scaling.speed() == 0;
    if (rests || scaling.time() >= next) {
      scaling.aim(test::uniform(random, rests ? 0.2 : -1, 1.2));
      next = scaling.time() + test::uniform(random, 0, 0.2);
    }
    const MotionState before{scaling.time(), scaling.speed(), scaling.rate()};
    scaling.step(path, {}, limits, period);
    if (scaling.time() >= path.duration()) break;
    // A rising speed cannot turn back at once. It then stays below the planned speed.
    const bool rises = before.acceleration > 0;
    check_period(path, limits, before, scaling, period,
                 rises ? 1 : std::max(before.velocity, scaling.target()));
  }
}

/// Moves to the end with changes of the target speed at random times, and checks every period.
template <class Path>
double travel(const Path& path, std::mt19937_64& random, const std::vector<JointLimits>& limits,
              Duration period) {
  const double h = to_seconds(period);
  SpeedScaling scaling;
  const typename Path::Cursor cursor;
  double worst = 0;
  double next = test::uniform(random, 0, 0.3) * path.duration();
  int changes = 0;
  for (double t = 0; scaling.time() < path.duration(); t += h) {
    REQUIRE(t < 100 * path.duration() + 100);
    if (t >= next) {
      const bool goes_on = (scaling.target() == 0 && scaling.steady()) || ++changes > 8;
      const double target = goes_on ? test::uniform(random, 0.2, 1.2) : test::uniform(random, -0.3, 1.2);
      scaling.aim(target);
      CHECK(scaling.target() == std::clamp(target, 0.0, 1.0));
      next = t + test::uniform(random, 0.01, 0.6) * path.duration();
    }
    const MotionState before{scaling.time(), scaling.speed(), scaling.rate()};
    const bool was_steady = scaling.steady();
    scaling.step(path, cursor, limits, period);
    REQUIRE(scaling.speed() >= -1e-9);
    REQUIRE(scaling.speed() <= 1 + 1e-9);
    if (was_steady || scaling.time() >= path.duration()) continue;
    const double u = (scaling.rate() - before.acceleration) / h;
    const MotionState after = advance(before, u, h);
    REQUIRE(after.position == doctest::Approx(scaling.time()).epsilon(1e-12));
    REQUIRE(std::abs(after.velocity - scaling.speed()) < 1e-12);
    for (int i = 0; i <= 8; ++i) {
      worst = std::max(worst, excess_at(path, advance(before, u, h * i / 8), u, limits));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("undisturbed, path time is the time that has passed, to the last bit") {
  auto random = test::generator(90);
  const auto limits = any_joint_limits(random);
  const Trajectory motion = any_fitted(random, limits);
  SpeedScaling scaling;
  scaling.aim(1);
  Cursor cursor;
  for (int i = 1; i < 5000; ++i) {
    REQUIRE(scaling.step(motion, cursor, limits, milliseconds(1)));
    REQUIRE(scaling.time() == to_seconds(milliseconds(1) * i));
    std::vector<double> velocity{0.1}, acceleration{0.7};
    scaling.scale(velocity, acceleration);
    REQUIRE(velocity[0] == 0.1);
    REQUIRE(acceleration[0] == 0.7);
  }
}

TEST_CASE("along splines that touch their limits, any change of speed keeps them to two thousandths") {
  auto random = test::generator(91);
  double worst = 0;
  for (std::size_t n = 0; n < test::count(100, 1000); ++n) {
    const auto limits = any_joint_limits(random);
    const Trajectory motion = any_fitted(random, limits);
    worst = std::max(worst, travel(motion, random, limits, milliseconds(n % 2 == 0 ? 1 : 5)));
    REQUIRE(worst <= 2e-3);
  }
  MESSAGE("at worst exceeded by ", worst);
}

TEST_CASE("along paths whose own jerk steps between its limits, they are exceeded by little") {
  auto random = test::generator(92);
  double worst = 0;
  double sum = 0;
  const std::size_t count = test::count(100, 1000);
  for (std::size_t n = 0; n < count; ++n) {
    const auto limits = any_joint_limits(random);
    const PointToPoint<> path = any_jerk_limited(random, limits);
    const double excess = travel(path, random, limits, milliseconds(n % 2 == 0 ? 1 : 5));
    worst = std::max(worst, excess);
    sum += excess;
    REQUIRE(excess <= 0.01);
  }
  if (count >= 100) CHECK(sum / static_cast<double>(count) <= 1e-3);  // a single path may exceed the mean
  MESSAGE("at worst exceeded by ", worst, ", on average ", sum / static_cast<double>(count));
}

TEST_CASE("a step of the path's jerk in the last microseconds of a period is seen") {
  // The hundredth path exceeded a limit by 39 %: its jerk stepped 5 us before the end of a period.
  std::mt19937_64 random(276'941'287 * 0x9e3779b97f4a7c15u + 92);
  for (std::size_t n = 0; n < 100; ++n) {
    const auto limits = any_joint_limits(random);
    const PointToPoint<> path = any_jerk_limited(random, limits);
    REQUIRE(travel(path, random, limits, milliseconds(n % 2 == 0 ? 1 : 5)) <= 0.01);
  }
}

TEST_CASE("resuming near the end of a move keeps the planned speed and all limits, at every moment") {
  // Some of these moments sped the path up.
  const std::vector<std::array<double, 5>> joints_of_issue{
      {0.3678, 2.2787, 116.404, 1.1133, -0.5413}, {0.6326, 2.3879, 260.502, 1.6641, 1.7274},
      {0.8359, 6.5807, 145.674, 1.3883, -1.0521}, {1.0852, 10.0957, 24.966, -1.042, -0.6417},
      {1.9344, 5.3274, 160.218, 0.8737, 0.3903},  {3.1, 3.0805, 286.884, 0.8947, 0.126}};
  std::vector<JointLimits> limits;
  std::vector<DirectionalLimits> both;
  std::vector<MotionState> start, end;
  for (const auto& [velocity, acceleration, jerk, from, to] : joints_of_issue) {
    limits.push_back({-3, 3, velocity, acceleration, jerk, 10});
    both.push_back(both_ways(limits.back()));
    start.push_back({from, 0, 0});
    end.push_back({to, 0, 0});
  }
  PointToPoint<> move(limits.size());
  REQUIRE(move.plan(start, end, both));
  for (int k = 0; k <= 400; ++k) resume_near_the_end(move, 0.26, 1e-3 * k, limits, milliseconds(1));
}

TEST_CASE("resuming near the end of any move keeps the planned speed and all limits") {
  auto random = test::generator(87);
  for (std::size_t n = 0; n < test::count(300); ++n) {
    const auto limits = any_unequal_limits(random);
    const PointToPoint<> move = any_jerk_limited(random, limits);
    const Duration period = milliseconds(n % 2 == 0 ? 1 : 5);
    const double scale = test::uniform(random, 0.2, 0.8);
    const double left = test::uniform(random, 0, 0.4);
    resume_near_the_end(move, scale, left, limits, period);
    const Trajectory trajectory = in_one_trajectory(move);
    resume_near_the_end(trajectory, scale, left, limits, period);
    change_near_the_end(move, random, limits, period);
    change_near_the_end(trajectory, random, limits, period);
  }
}

TEST_CASE("near the end of a move at its limits, no request speeds the path up or exceeds limits unsaid") {
  auto random = test::generator(89);
  for (std::size_t n = 0; n < test::count(200, 10); ++n) {
    const Duration period = milliseconds(n % 2 == 0 ? 1 : 5);
    const auto limits = any_joint_limits(random);
    change_near_the_end(any_jerk_limited(random, limits), random, limits, period);
    const std::vector<JointLimits> limit(1, limits[0]);
    const PointToPoint<> move = any_jerk_limited(random, limit);
    for (int k = 0; k < 10; ++k)
      change_near_the_end(in_one_piece_a_phase(move.joint(0)), random, limit, period);
  }
}

TEST_CASE("a stop that runs off the end of its path never speeds the path up, whenever it is asked for") {
  // With 5 ms, aim(0) at 1.9307 s raised the speed to 1.02, the acceleration to 1.04 and the jerk to 1.06. So
  // did about 1 % of other times.
  const std::vector<JointLimits> limits{{-3, 3, 0.46258, 2.75221, 82.2812, 10}};
  PointToPoint<> move(1);
  REQUIRE(move.plan(std::vector<MotionState>{{-0.96631, 0, 0}}, std::vector<MotionState>{{-1.85826, 0, 0}},
                    std::vector<DirectionalLimits>{both_ways(limits[0])}));
  const Trajectory path = in_one_piece_a_phase(move.joint(0));
  auto random = test::generator(88);
  for (std::size_t n = 0; n < test::count(2000); ++n) {
    SpeedScaling scaling(n == 0 ? 1.93165 : test::uniform(random, 1.9, path.duration()));
    scaling.aim(0);
    while (scaling.time() < path.duration() && !scaling.steady()) {
      const MotionState before{scaling.time(), scaling.speed(), scaling.rate()};
      scaling.step(path, {}, limits, milliseconds(5));
      if (scaling.time() < path.duration())
        check_period(path, limits, before, scaling, milliseconds(5), before.velocity);
    }
  }
}

TEST_CASE("a path that leaves its limits as planned does not leave them further") {
  auto random = test::generator(93);
  for (std::size_t n = 0; n < test::count(50, 1000); ++n) {
    auto limits = any_joint_limits(random);
    const Trajectory motion = any_fitted(random, limits);
    for (JointLimits& limit : limits) {
      limit.acceleration *= test::uniform(random, 0.3, 1);
      limit.jerk *= test::uniform(random, 0.3, 1);
    }
    REQUIRE(travel(motion, random, limits, milliseconds(n % 2 == 0 ? 1 : 5)) <= 1e-2);
  }
}

TEST_CASE("without limits of jerk those of acceleration are kept") {
  auto random = test::generator(94);
  for (std::size_t n = 0; n < test::count(50, 1000); ++n) {
    auto limits = any_joint_limits(random);
    for (JointLimits& limit : limits) limit.jerk = std::numeric_limits<double>::infinity();
    const Trajectory motion = any_fitted(random, limits);
    REQUIRE(travel(motion, random, limits, milliseconds(1)) <= 1e-3);
  }
}

TEST_CASE("a stop takes hardly longer than the slowest joint would need by itself") {
  auto random = test::generator(95);
  std::vector<double> ratios;
  const Duration period = milliseconds(1);
  for (std::size_t n = 0; n < test::count(200, 1000); ++n) {
    const auto limits = any_joint_limits(random);
    const Trajectory motion = any_fitted(random, limits);
    const double begin = test::uniform(random, 0, 0.9) * motion.duration();
    double shortest = 0;  // no stop can be faster, on the path or elsewhere
    for (std::size_t j = 0; j < joints; ++j)
      shortest = std::max(shortest, plan_stop(motion.at(begin, j), limits[j]).duration);
    SpeedScaling scaling(begin);
    scaling.aim(0);
    double t = 0;
    for (; !scaling.steady() && scaling.time() < motion.duration(); t += to_seconds(period))
      CHECK(scaling.step(motion, {}, limits, period));
    if (scaling.time() >= motion.duration()) continue;
    CHECK(scaling.speed() == 0);
    const double stands = scaling.time();
    CHECK(scaling.step(motion, {}, limits, period));
    CHECK(scaling.time() == stands);
    if (shortest > 0.02) ratios.push_back(t / shortest);
  }
  std::sort(ratios.begin(), ratios.end());
  REQUIRE(ratios.size() >= 10);
  MESSAGE("median ", ratios[ratios.size() / 2], ", 95 % ", ratios[ratios.size() * 95 / 100], ", worst ",
          ratios.back());
  CHECK(ratios[ratios.size() / 2] <= 1.1);
  CHECK(ratios[ratios.size() * 9 / 10] <= 1.5);
}

TEST_CASE("from a straight cruise a stop on the path takes hardly longer than the textbook's") {
  const std::vector<std::array<double, 3>> problems{{1, 4, 40}, {2, 4, 8}, {0.5, 5, 20}, {1.5, 2, 200}};
  for (const std::array<double, 3>& problem : problems) {
    const double speed = problem[0];
    CAPTURE(speed);
    JointLimits limit;
    limit.velocity = speed;
    limit.acceleration = problem[1];
    limit.jerk = problem[2];
    const std::vector<JointLimits> limits(2, limit);
    Trajectory path(std::vector<MotionState>(2));
    REQUIRE(path.append(std::vector<MotionState>{{2 * speed, speed, 0}, {-speed, -speed / 2, 0}}, 4.0));
    REQUIRE(path.append(std::vector<MotionState>{{6 * speed, speed, 0}, {-3 * speed, -speed / 2, 0}}, 4.0));
    REQUIRE(path.append(std::vector<MotionState>{{8 * speed, 0, 0}, {-4 * speed, 0, 0}}, 4.0));
    const double textbook = plan_stop(path.at(4.5, 0), limit).duration;
    SpeedScaling scaling(4.5);
    scaling.aim(0);
    double t = 0;
    for (; !scaling.steady() && t < 10; t += 1e-3) CHECK(scaling.step(path, {}, limits, milliseconds(1)));
    CHECK(scaling.speed() == 0);
    CHECK(t >= textbook * 0.999);
    CHECK(t <= textbook * 1.15);
  }
}

TEST_CASE("where no change of speed keeps the limits, they are exceeded by the least, and it says so") {
  // A limit is lowered during a change of speed, so that the joints' present jerk exceeds the limit.
  auto random = test::generator(99);
  int exceeded = 0;
  for (std::size_t n = 0; n < test::count(50, 1000); ++n) {
    const auto limits = any_joint_limits(random);
    auto lower = limits;
    for (JointLimits& limit : lower) limit.acceleration *= test::uniform(random, 0.05, 0.5);
    const Trajectory motion = any_fitted(random, limits);
    SpeedScaling scaling(test::uniform(random, 0.2, 0.6) * motion.duration());
    scaling.aim(0);
    for (int i = 0; i < 20 && !scaling.steady(); ++i) {
      scaling.step(motion, {}, limits, milliseconds(1));
      CHECK(scaling.excess() == 0);
    }
    const MotionState before{scaling.time(), scaling.speed(), scaling.rate()};
    if (scaling.steady() || scaling.time() >= motion.duration()) continue;
    const bool fits = scaling.step(motion, {}, lower, milliseconds(1));
    CHECK(fits == (scaling.excess() == 0));
    if (fits || scaling.excess() > 1e4) continue;
    ++exceeded;
    const auto worst_with = [&](double u) {
      double worst = 0;  // the acceleration at first does not depend on u
      for (int i = 1; i <= 4; ++i)
        worst = std::max(worst, excess_at(motion, advance(before, u, 0.25e-3 * i), u, lower));
      return worst;
    };
    CHECK(worst_with((scaling.rate() - before.acceleration) / 1e-3) <= scaling.excess() * 1.01 + 1e-3);
    // No other u is better, except that the path's jerk may have stepped between the checked places.
    bool is_least = true;
    for (int k = 0; k <= 100; ++k) {
      const double other = worst_with(-0.02 * k * before.acceleration / 1e-3);
      is_least = is_least && other >= scaling.excess() * 0.7 - 1e-3;
    }
    // Or the way back is followed, since it is known where it leads: to its end, within 2 %.
    while (!is_least) {
      CHECK(scaling.excess() <= 0.02);
      if (scaling.steady() || scaling.time() >= motion.duration()) break;
      scaling.step(motion, {}, lower, milliseconds(1));
    }
  }
  CHECK(exceeded > 0);
}

TEST_CASE("a speed is reached exactly and kept, and its bounds are, too") {
  auto random = test::generator(96);
  const auto limits = any_joint_limits(random);
  const Trajectory motion = any_fitted(random, limits);
  SpeedScaling scaling(0, {2, 50});
  for (const double target : {0.3, 0.0, 1.0, 0.7}) {
    scaling.aim(target);
    for (int i = 0; i < 2000 && !scaling.steady(); ++i) {
      const double before = scaling.rate();
      scaling.step(motion, {}, limits, milliseconds(1));
      REQUIRE(std::abs(scaling.rate()) <= 2 * (1 + 1e-9));
      REQUIRE(std::abs(scaling.rate() - before) <= 0.05 * (1 + 1e-9));
    }
    REQUIRE(scaling.steady());
    CHECK(scaling.speed() == target);
    CHECK(scaling.rate() == 0);
    const double anchor = scaling.time();
    for (int i = 1; i <= 10; ++i) {
      scaling.step(motion, {}, limits, milliseconds(1));
      CHECK(scaling.time() == anchor + target * to_seconds(milliseconds(i)));
    }
  }
}

TEST_CASE("beyond the end of its path time runs as planned") {
  auto random = test::generator(97);
  const auto limits = any_joint_limits(random);
  const Trajectory motion = any_fitted(random, limits);
  SpeedScaling scaling(motion.duration());
  scaling.aim(0);
  scaling.step(motion, {}, limits, milliseconds(1));
  CHECK(scaling.speed() == 1);
  CHECK(scaling.time() == motion.duration() + 0.001);
}

TEST_CASE("bad numbers do no harm") {
  auto random = test::generator(98);
  const Trajectory motion = any_spline(random);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<JointLimits> strange{JointLimits{nan, nan, nan, nan, nan, nan},
                                         JointLimits{0, 0, 0, 0, 0, 0}};
  SpeedScaling scaling;
  scaling.aim(nan);
  CHECK(scaling.target() == 0);
  for (int i = 0; i < 20'000; ++i) {
    if (i == 1000) scaling.aim(1);
    scaling.step(motion, {}, strange, milliseconds(1));
    REQUIRE(scaling.speed() >= 0);
    REQUIRE(scaling.speed() <= 1);
  }
  CHECK(scaling.time() > motion.duration());
}

TEST_CASE("it works in single precision") {
  BasicTrajectory<float> motion(std::vector<BasicMotionState<float>>(2));
  REQUIRE(motion.append(std::vector<BasicMotionState<float>>{{1, 0, 0}, {-0.5f, 0, 0}}, 2.0f));
  const std::vector<BasicJointLimits<float>> limits(2, {-9, 9, 2, 4, 40, 1});
  BasicSpeedScaling<float> scaling(0.5f);
  for (const float target : {0.0f, 1.0f, 0.5f}) {
    scaling.aim(target);
    int periods = 0;
    while (!scaling.steady() && ++periods < 1000) CHECK(scaling.step(motion, {}, limits, milliseconds(1)));
    CHECK(periods < 1000);
    CHECK(scaling.speed() == target);
  }
}
