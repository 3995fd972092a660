// Random problems of jerk-limited motion, and checks of the answers, for the tests of this room.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "support/random.hpp"
#include "takt/trajectory/transfer.hpp"
#include "trajectory/samples.hpp"

namespace takt::test {

template <class Scalar>
struct JointProblem {
  BasicMotionState<Scalar> start;
  BasicMotionState<Scalar> target;
  trajectory::BasicDirectionalLimits<Scalar> limits;
};

template <class Scalar>
trajectory::BasicDirectionalLimits<Scalar> any_limits(std::mt19937_64& random) {
  const auto limit = [&](double low, double high) {
    return static_cast<Scalar>(any_scale(random, low, high));
  };
  return {-limit(0.2, 4), limit(0.2, 4), -limit(0.3, 10), limit(0.3, 10), limit(1, 300)};
}

/// A random number between two limits, sometimes exactly a limit or zero.
template <class Scalar>
Scalar any_between(std::mt19937_64& random, Scalar low, Scalar high) {
  switch (uniform_int(random, 0, 9)) {
    case 0:
      return low;
    case 1:
      return high;
    case 2:
    case 3:
      return 0;
    default:
      return static_cast<Scalar>(uniform(random, low, high));
  }
}

/// Whether the states at both ends are within the limits, and so are the inevitable velocities after the
/// start and before the target.
template <class Scalar>
JointProblem<Scalar> any_problem(std::mt19937_64& random) {
  while (true) {
    JointProblem<Scalar> problem;
    const auto limits = problem.limits = any_limits<Scalar>(random);
    const auto state = [&](double position) {
      return BasicMotionState<Scalar>{static_cast<Scalar>(position),
                                      any_between(random, limits.velocity_min, limits.velocity_max),
                                      any_between(random, limits.acceleration_min, limits.acceleration_max)};
    };
    problem.start = state(uniform(random, -3, 3));
    problem.target = state(problem.start.position + any_scale(random, 1e-3, 10) * uniform(random, -1, 1));
    const auto transfer = trajectory::BasicTransfer<Scalar>::between(problem.start, problem.target, limits);
    if (transfer && transfer->fits()) return problem;
  }
}

/// The first error in a motion that should solve the problem; empty if there is none. Uses no code of the
/// planner. It integrates the phases from the start and computes the extrema of each phase with its own
/// formulas. `tolerance` is relative.
template <class Scalar>
std::string fault_of(const trajectory::BasicJerkProfile<Scalar>& motion, const JointProblem<Scalar>& problem,
                     double tolerance) {
  const auto& limits = problem.limits;
  // Times are exact only to rounding, and so is every state at such a time.
  const double instant =
      4 * std::numeric_limits<Scalar>::epsilon() * static_cast<double>(motion.duration()) / tolerance;
  const double a_scale = std::max(limits.acceleration_max, -limits.acceleration_min) + limits.jerk * instant;
  const double v_scale = std::max(limits.velocity_max, -limits.velocity_min) + a_scale * instant;
  const double p_scale = std::abs(problem.start.position) + std::abs(problem.target.position) +
                         v_scale * (static_cast<double>(motion.duration()) + v_scale / a_scale);
  double p = problem.start.position;
  double v = problem.start.velocity;
  double a = problem.start.acceleration;
  const auto outside = [&](double value, double scale, double low, double high) {
    return !(value >= low - tolerance * scale && value <= high + tolerance * scale);
  };
  for (std::size_t k = 0; k < motion.phases(); ++k) {
    const double j = motion.jerk(k);
    const double begin = motion.begins(k);
    const double d = static_cast<double>(motion.begins(k + 1)) - begin;
    const auto state = motion.at(motion.begins(k));
    if (std::abs(state.position - p) > tolerance * p_scale) return "the position steps";
    if (std::abs(state.velocity - v) > tolerance * v_scale) return "the velocity steps";
    if (std::abs(state.acceleration - a) > tolerance * a_scale) return "the acceleration steps";
    if (std::abs(j) > limits.jerk * (1 + tolerance)) return "too much jerk";
    p = state.position, v = state.velocity, a = state.acceleration;
    const double turn = j == 0 ? -1 : -a / j;  // extremum of the velocity
    if (turn > 0 && turn < d && outside(v + a * turn / 2, v_scale, limits.velocity_min, limits.velocity_max))
      return "too fast between the ends of a phase";
    p += d * (v + d * (a / 2 + d * j / 6));
    v += d * (a + d * j / 2);
    a += d * j;
    if (outside(v, v_scale, limits.velocity_min, limits.velocity_max)) return "too fast";
    if (outside(a, a_scale, limits.acceleration_min, limits.acceleration_max)) return "too much acceleration";
  }
  if (std::abs(p - problem.target.position) > tolerance * p_scale) return "the position misses the target's";
  if (std::abs(v - problem.target.velocity) > tolerance * v_scale) return "the velocity misses the target's";
  if (std::abs(a - problem.target.acceleration) > tolerance * a_scale)
    return "the acceleration misses the target's";
  if (!(motion.at(motion.duration()) == problem.target)) return "the end is not exactly the target";
  return {};
}

}  // namespace takt::test
