#include "takt/trajectory/transfer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "trajectory/jerk_limited.hpp"
#include "trajectory/switching_search.hpp"

using namespace takt;
using namespace takt::trajectory;
using test::any_problem;
using test::fault_of;
using test::JointProblem;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr DirectionalLimits usual{-1, 1, -2, 2, 20};

Error error_of(const MotionState& start, const MotionState& target, const DirectionalLimits& limits) {
  const auto transfer = Transfer::between(start, target, limits);
  return transfer ? Error{} : transfer.error();
}

template <class Scalar>
BasicTransfer<Scalar> solve(const JointProblem<Scalar>& problem) {
  return BasicTransfer<Scalar>::between(problem.start, problem.target, problem.limits).value();
}

/// A random motion within the limits; its end is the target.
JerkProfile any_motion(std::mt19937_64& random, JointProblem<double>& problem) {
  const auto& limits = problem.limits;
  JerkProfile motion(problem.start);
  const auto phases = test::uniform_int(random, 1, 7);
  for (std::int64_t k = 0; k < phases; ++k) {
    const MotionState now = motion.end();
    const double jerk = limits.jerk * (test::uniform_int(random, 0, 3) == 0
                                           ? test::uniform(random, -1, 1)
                                           : static_cast<double>(test::uniform_int(random, -1, 1)));
    double duration = test::any_scale(random, 1e-3, 2);
    if (jerk != 0) {
      const double to = jerk > 0 ? limits.acceleration_max : limits.acceleration_min;
      if (test::uniform_int(random, 0, 1) == 0) duration = (to - now.acceleration) / jerk;
      duration = std::min(duration, (to - now.acceleration) / jerk);
    }
    // Shorter, until the inevitable velocity is within the limits.
    for (; duration > 1e-6; duration *= 0.7) {
      const MotionState then = advance(now, jerk, duration);
      const double turn = jerk == 0 ? 0 : std::clamp(-now.acceleration / jerk, 0.0, duration);
      const double ahead =
          then.velocity + then.acceleration * std::abs(then.acceleration) / (2 * limits.jerk);
      bool inside = true;
      for (const double v : {advance(now, jerk, turn).velocity, then.velocity, ahead})
        inside = inside && v <= limits.velocity_max && v >= limits.velocity_min;
      if (inside) break;
    }
    if (duration > 1e-6) motion.append({duration, jerk, now.acceleration});
  }
  problem.target = motion.end();
  return motion;
}

}  // namespace

TEST_CASE("a motion from rest to rest takes the textbook's time") {
  const auto time = [](double distance) {
    return Transfer::between({1, 0, 0}, {1 + distance, 0, 0}, usual).value().shortest();
  };
  CHECK(time(0) == 0);
  // Jerk alone: d = j T^3 / 32, until the motion reaches the acceleration limit at d = 2 a^3 / j^2.
  CHECK(time(0.03) == doctest::Approx(std::cbrt(32 * 0.03 / 20)).epsilon(1e-12));
  // Then a hold at the acceleration limit, until the motion reaches the velocity limit at d = v (v/a + a/j).
  const double ramp = 2.0 / 20;
  CHECK(time(0.3) == doctest::Approx(ramp + std::sqrt(ramp * ramp + 4 * 0.3 / 2)).epsilon(1e-12));
  // Then a cruise.
  CHECK(time(-5) == doctest::Approx(5 + 1.0 / 2 + ramp).epsilon(1e-12));
}

TEST_CASE("from any state to any other it arrives exactly, within the limits, in at most seven phases") {
  auto random = test::generator(100);
  for (std::size_t i = 0; i < test::count(30'000); ++i) {
    const auto problem = any_problem<double>(random);
    const Transfer transfer = solve(problem);
    const JerkProfile motion = transfer.profile(transfer.shortest());
    REQUIRE(fault_of(motion, problem, 1e-9) == "");
    REQUIRE(motion.duration() == transfer.shortest());
    REQUIRE(motion.phases() <= 7);
  }
}

TEST_CASE("it arrives as exactly in every longer duration that is possible") {
  auto random = test::generator(101);
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    const auto problem = any_problem<double>(random);
    const Transfer transfer = solve(problem);
    const double asked = transfer.shortest() * (1 + test::any_scale(random, 1e-6, 10));
    const double duration = transfer.not_less_than(asked);
    REQUIRE(duration >= asked);
    const JerkProfile motion = transfer.profile(duration);
    REQUIRE(fault_of(motion, problem, 1e-9) == "");
    REQUIRE(motion.duration() == duration);
  }
}

TEST_CASE("no motion within the limits is shorter than the shortest, and its duration is possible") {
  auto random = test::generator(102);
  std::size_t solved = 0;
  for (std::size_t i = 0; i < test::count(30'000); ++i) {
    auto problem = any_problem<double>(random);
    const JerkProfile motion = any_motion(random, problem);
    const auto transfer = Transfer::between(problem.start, problem.target, problem.limits);
    if (!transfer) continue;  // only a start near this target can reach it
    ++solved;
    REQUIRE(transfer->shortest() <= motion.duration() + 1e-7);
    // The duration may be the last of an interval of possible ones. Rounding then puts it beyond the end.
    REQUIRE(transfer->not_less_than(motion.duration() - 1e-9) <= motion.duration() + 1e-7);
  }
  CHECK(solved > test::count(30'000) / 2);
}

TEST_CASE("on a grid of states, brute force finds slightly longer motions and no shorter one") {
  auto random = test::generator(103);
  int cases = 0, found_longer = 0;
  for (const double v0 : {-0.5, 0.0, 0.7}) {
    for (const double a0 : {-1.5, 0.0, 1.0}) {
      for (const double distance : {-1.5, -0.2, 0.05, 0.8}) {
        for (const double v1 : {0.0, 0.5}) {
          const JointProblem<double> problem{{0, v0, a0}, {distance, v1, 0}, {-0.9, 1, -2, 1.6, 10}};
          const Transfer transfer = solve(problem);
          const double shortest = transfer.shortest();
          const test::SwitchingSearch search(problem);
          CAPTURE(v0);
          CAPTURE(a0);
          CAPTURE(distance);
          CAPTURE(v1);
          for (const double part : {0.6, 0.9, 0.99, 0.999})
            CHECK_FALSE(search.finds(part * shortest, random, 3));
          const double longer = 1.001 * shortest;
          if (transfer.not_less_than(longer) > longer) continue;
          ++cases;
          found_longer += search.finds(longer, random) ? 1 : 0;
        }
      }
    }
  }
  CHECK(cases > 50);
  // Proves that the search finds solutions: it would detect a planner that is a thousandth too slow.
  CHECK(found_longer > 0.75 * cases);
}

TEST_CASE("the checks of these tests see planted mistakes") {
  const JointProblem<double> problem{{0, 0.2, 1}, {0.7, 0, 0}, usual};
  const Transfer transfer = solve(problem);
  const JerkProfile right = transfer.profile(transfer.shortest());
  REQUIRE(fault_of(right, problem, 1e-9) == "");

  auto other = problem;
  other.target.position += 1e-7;
  CHECK(fault_of(right, other, 1e-9) == "the position misses the target's");
  other = problem;
  other.limits.velocity_max = 0.99 * right.velocity_extrema().max.value;
  CHECK(fault_of(right, other, 1e-9).starts_with("too fast"));
  other = problem;
  other.limits.acceleration_min *= 0.99;
  CHECK(fault_of(right, other, 1e-9) == "too much acceleration");
  other = problem;
  other.limits.jerk *= 0.99;
  CHECK(fault_of(right, other, 1e-9) == "too much jerk");

  JerkProfile wrong(problem.start);
  for (std::size_t k = 0; k < right.phases(); ++k) {
    const double longer = k == 1 ? 1e-6 : 0;
    wrong.append({right.begins(k + 1) - right.begins(k) + longer, right.jerk(k),
                  right.at(right.begins(k)).acceleration});
  }
  CHECK(fault_of(wrong, problem, 1e-9) != "");
}

TEST_CASE("a joint that moves fast arrives at once or only after it has turned back") {
  const Transfer transfer = Transfer::between({0, 1, 0}, {0.45, 0.8, 0}, usual).value();
  const double soon = transfer.shortest();
  CHECK(soon == doctest::Approx(0.5).epsilon(0.1));
  const double late = transfer.not_less_than(1.1);
  CHECK(late > 1.3);
  CHECK(transfer.profile(late).velocity_extrema().min.value < 0);
  CHECK(transfer.not_less_than(late) == late);
}

TEST_CASE("a new plan during the motion gives the rest of it") {
  auto random = test::generator(104);
  for (std::size_t i = 0; i < test::count(3'000); ++i) {
    const auto problem = any_problem<double>(random);
    const Transfer transfer = solve(problem);
    const JerkProfile motion = transfer.profile(transfer.shortest());
    std::vector<double> times{0.5 * motion.duration(), 0.999999 * motion.duration()};
    for (std::size_t k = 0; k < motion.phases(); ++k) times.push_back(motion.begins(k));
    for (const double t : times) {
      const auto again = Transfer::between(motion.at(t), problem.target, problem.limits);
      REQUIRE(again);
      // A target near which the motion must leave the limits can make the start leave them too.
      if (again->fits()) REQUIRE(again->shortest() <= motion.duration() - t + 1e-4);
    }
  }
}

TEST_CASE(
    "a start outside the limits is brought back inside first, with no more violation than was inevitable") {
  auto random = test::generator(105);
  std::size_t outside = 0;
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    auto problem = any_problem<double>(random);
    const auto& limits = problem.limits;
    problem.start.velocity *= test::uniform(random, 0, 5);
    problem.start.acceleration *= test::uniform(random, 0, 5);
    const Transfer transfer = solve(problem);
    const JerkProfile motion = transfer.profile(transfer.shortest());
    REQUIRE(motion.phases() <= 10);
    REQUIRE(motion.at(motion.duration()) == problem.target);
    if (transfer.fits()) continue;
    ++outside;
    // The inevitable part: the present acceleration, and the velocity after jerk has taken it to zero.
    const double a = problem.start.acceleration;
    const double v = problem.start.velocity;
    const double ahead = v + a * std::abs(a) / (2 * limits.jerk);
    const auto speeds = motion.velocity_extrema();
    const auto pushes = motion.acceleration_extrema();
    REQUIRE(speeds.max.value <= std::max({v, ahead, limits.velocity_max}) * (1 + 1e-9));
    REQUIRE(speeds.min.value >= std::min({v, ahead, limits.velocity_min}) * (1 + 1e-9));
    REQUIRE(pushes.max.value <= std::max(a, limits.acceleration_max) * (1 + 1e-9));
    REQUIRE(pushes.min.value >= std::min(a, limits.acceleration_min) * (1 + 1e-9));
    // It also lasts no longer than necessary.
    double back = 0;
    while (back < motion.duration()) {
      const MotionState state = motion.at(back);
      const bool inside = state.velocity <= limits.velocity_max * (1 + 1e-6) &&
                          state.velocity >= limits.velocity_min * (1 + 1e-6) &&
                          state.acceleration <= limits.acceleration_max * (1 + 1e-6) &&
                          state.acceleration >= limits.acceleration_min * (1 + 1e-6);
      if (inside && back > 0) break;
      back += motion.duration() / 1000;
    }
    const double weakest = std::min(limits.acceleration_max, -limits.acceleration_min);
    const double longest_ramp =
        (std::abs(a) + limits.acceleration_max - limits.acceleration_min) / limits.jerk;
    REQUIRE(back <=
            4 * longest_ramp + 2 * (std::abs(v) + std::abs(ahead)) / weakest + motion.duration() / 500);
  }
  CHECK(outside > 0);
}

TEST_CASE("what exceeds a limit by rounding keeps it") {
  const double v = 1 + 1e-12;
  const Transfer transfer = Transfer::between({0, v, 0}, {2, v, 0}, usual).value();
  CHECK(transfer.fits());
  CHECK(transfer.shortest() == doctest::Approx(2));
}

TEST_CASE("bad numbers, limits and targets have named errors") {
  const MotionState zero{};
  for (const double bad : {not_a_number, infinity, -infinity}) {
    CHECK(error_of({bad, 0, 0}, zero, usual) == Errc::not_finite);
    CHECK(error_of({0, bad, 0}, zero, usual) == Errc::not_finite);
    CHECK(error_of(zero, {0, 0, bad}, usual) == Errc::not_finite);
  }
  CHECK(error_of({2e9, 0, 0}, zero, usual) == Errc::out_of_domain);
  for (double DirectionalLimits::*limit : {&DirectionalLimits::velocity_min, &DirectionalLimits::velocity_max,
                                           &DirectionalLimits::acceleration_min,
                                           &DirectionalLimits::acceleration_max, &DirectionalLimits::jerk}) {
    for (const double bad : {not_a_number, infinity, -infinity}) {
      DirectionalLimits limits = usual;
      limits.*limit = bad;
      CHECK(error_of(zero, zero, limits) == Errc::not_finite);
    }
    DirectionalLimits limits = usual;
    limits.*limit = 0;
    CHECK(error_of(zero, zero, limits) == Errc::limit_not_positive);
    limits.*limit = -(usual.*limit);
    CHECK(error_of(zero, zero, limits) == Errc::limit_not_positive);
    limits.*limit = (usual.*limit) * 1e-11;
    CHECK(error_of(zero, zero, limits) == Errc::out_of_domain);
    limits.*limit = (usual.*limit) * 1e11;
    CHECK(error_of(zero, zero, limits) == Errc::out_of_domain);
  }
  CHECK(error_of(zero, {0, 1.1, 0}, usual) == Errc::target_outside_limits);
  CHECK(error_of(zero, {0, 0, -2.1}, usual) == Errc::target_outside_limits);
  CHECK(error_of(zero, {0, 0.95, -2}, usual) == Errc::target_outside_limits);  // it was faster before
  CHECK(error_of({0, 9e8, 0}, zero, {-1, 1, -1e-2, 1e-2, 1}) == Errc::out_of_domain);
  CHECK(both_ways(JointLimits{-1, 1, 1, 2, 20, 9}) == usual);
}

TEST_CASE_TEMPLATE("nowhere in the domain is there a NaN", Scalar, double, float) {
  auto random = test::generator(106);
  std::size_t solved = 0;
  const auto any = [&](double magnitude) {
    return static_cast<Scalar>(
        test::uniform_int(random, 0, 4) == 0
            ? 0
            : std::copysign(test::any_scale(random, 1e-12, magnitude), test::uniform(random, -1, 1)));
  };
  for (std::size_t i = 0; i < test::count(30'000); ++i) {
    const auto limit = [&] { return static_cast<Scalar>(test::any_scale(random, 1e-9, 1e9)); };
    const BasicDirectionalLimits<Scalar> limits{-limit(), limit(), -limit(), limit(), limit()};
    const BasicMotionState<Scalar> start{any(1e9), any(1e9), any(1e9)};
    const BasicMotionState<Scalar> target{any(1e9), any(1) * limits.velocity_max,
                                          any(1) * limits.acceleration_max};
    const auto transfer = BasicTransfer<Scalar>::between(start, target, limits);
    if (!transfer) continue;
    const Scalar duration = transfer->shortest();
    REQUIRE(duration >= 0);
    if (!(duration <= static_cast<Scalar>(max_duration))) continue;
    ++solved;
    const auto motion = transfer->profile(transfer->not_less_than(duration * 2));
    REQUIRE(std::isfinite(motion.duration()));
    for (const Scalar part : {Scalar(0), Scalar(0.3), Scalar(0.7), Scalar(1)}) {
      const auto state = motion.at(part * motion.duration());
      REQUIRE(std::isfinite(state.position));
      REQUIRE(std::isfinite(state.velocity));
      REQUIRE(std::isfinite(state.acceleration));
    }
  }
  CHECK(solved > 0);
}

TEST_CASE("it works in single precision") {
  auto random = test::generator(107);
  for (std::size_t i = 0; i < test::count(10'000); ++i) {
    const auto problem = any_problem<float>(random);
    const auto transfer = solve(problem);
    const float shortest = transfer.shortest();
    REQUIRE(fault_of(transfer.profile(shortest), problem, 2e-4) == "");
    const auto slower = transfer.profile(transfer.not_less_than(1.5F * shortest));
    REQUIRE(fault_of(slower, problem, 2e-4) == "");
  }
}
