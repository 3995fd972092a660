// Invariants of limiters that no command may break, not even an adversarial one. One case is a whole sequence
// of commands. The long run has a million cases (ROOM=control tests/run.sh --cases 1000000).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "support/adversary.hpp"
#include "support/random.hpp"
#include "takt/control/joint_limiter.hpp"
#include "takt/control/limited_proxy.hpp"
#include "takt/control/rate_limiter.hpp"
#include "takt/control/setpoint_follower.hpp"

using namespace takt;
using namespace takt::control;

namespace {

template <class Scalar>
constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
template <class Scalar>
constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();

/// The rounding error that a number of this size may collect over a sequence.
template <class Scalar>
Scalar slack(Scalar size) {
  return (std::is_same_v<Scalar, float> ? Scalar(2e-4) : Scalar(1e-9)) * (1 + std::abs(size));
}

template <class Scalar>
Scalar any(std::mt19937_64& random, double low, double high) {
  return static_cast<Scalar>(test::uniform(random, low, high));
}

template <class Scalar>
Scalar any_magnitude(std::mt19937_64& random, double low, double high) {
  return static_cast<Scalar>(std::exp(test::uniform(random, std::log(low), std::log(high))));
}

template <class Scalar>
BasicJointLimits<Scalar> any_limits(std::mt19937_64& random) {
  BasicJointLimits<Scalar> limits;
  if (test::uniform_int(random, 0, 9) != 0) {
    limits.position_min = -any_magnitude<Scalar>(random, 1e-3, 6);
    limits.position_max = any_magnitude<Scalar>(random, 1e-3, 6);
  }
  limits.velocity = any_magnitude<Scalar>(random, 0.05, 8);
  limits.acceleration = limits.velocity * any_magnitude<Scalar>(random, 0.5, 50);
  limits.jerk = limits.acceleration * any_magnitude<Scalar>(random, 2, 200);
  limits.effort = 10;
  return limits;
}

/// The position where a joint in this state stops.
template <class Scalar>
Scalar stops_at(const BasicMotionState<Scalar>& state, const BasicJointLimits<Scalar>& limits) {
  return state.position + trajectory::plan_stop(state, limits).distance;
}

/// One step by a position, a velocity, or a motion: with a velocity, or near the present one, or without.
template <class Scalar>
auto any_step(BasicJointLimiter<Scalar>& limiter, Scalar command, Scalar period, std::mt19937_64& random) {
  const auto factor = static_cast<Scalar>(test::uniform(random, -2, 2));
  const auto now = limiter.state();
  switch (test::uniform_int(random, 0, 4)) {
    case 0:
      return limiter.toward_velocity(command, period);
    case 1:
      return limiter.follow({command, 0, 0}, period);
    case 2:
      return limiter.follow({command, factor, factor}, period);
    case 3:  // not finite if the command is not
      return limiter.follow({now.position + now.velocity * period * (1 + factor * Scalar(1e-3)) + 0 * command,
                             now.velocity + now.acceleration * period * factor, now.acceleration * factor},
                            period);
    default:
      return limiter.toward_position(command, period);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a joint keeps every limit and can always stop inside, for any command", Scalar, double,
                   float) {
  auto random = test::generator(101);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    const auto l = any_limits<Scalar>(random);
    auto limiter = BasicJointLimiter<Scalar>::make(l).value();
    const Scalar reach = std::isfinite(l.position_max) ? 2 * l.position_max : Scalar(5);
    test::Adversary<Scalar> commands(random, static_cast<double>(reach));
    Scalar period = any_magnitude<Scalar>(random, 2e-4, 0.03);
    for (int k = 0; k < 60; ++k) {
      if (test::uniform_int(random, 0, 30) == 0) period = any_magnitude<Scalar>(random, 2e-4, 0.03);
      const auto before = limiter.state();
      const Scalar command = commands.next();
      const auto step = any_step(limiter, command, period, random);
      const auto& now = step.value;
      EXPECT(step.ok() == std::isfinite(command));
      EXPECT(now == limiter.state());
      EXPECT(std::abs(now.velocity) <= l.velocity + slack(l.velocity));
      EXPECT(std::abs(now.acceleration) <= l.acceleration + slack(l.acceleration));
      EXPECT(std::abs(now.acceleration - before.acceleration) <= l.jerk * period + slack(l.acceleration));
      EXPECT(std::abs(now.velocity - before.velocity) <= l.acceleration * period + slack(l.velocity));
      EXPECT(std::abs(now.position - before.position) <= l.velocity * period + slack(now.position));
      EXPECT(now.position <= l.position_max + slack(now.position));
      EXPECT(now.position >= l.position_min - slack(now.position));
      EXPECT(stops_at(now, l) <= l.position_max + slack(now.position));
      EXPECT(stops_at(now, l) >= l.position_min - slack(now.position));
    }
  }
}

TEST_CASE_TEMPLATE("a joint outside its range goes inward or nowhere, and nowhere by itself", Scalar, double,
                   float) {
  auto random = test::generator(102);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    auto l = any_limits<Scalar>(random);
    if (!std::isfinite(l.position_max)) continue;
    auto limiter = BasicJointLimiter<Scalar>::make(l).value();
    const Scalar side = test::uniform_int(random, 0, 1) == 0 ? Scalar(1) : Scalar(-1);
    const Scalar end = side > 0 ? l.position_max : -l.position_min;
    const Scalar start = end + any_magnitude<Scalar>(random, 1e-2, 3);
    REQUIRE(limiter.reset({side * start, 0, 0}).has_value());
    const Scalar period = any_magnitude<Scalar>(random, 2e-4, 0.03);
    test::Adversary<Scalar> commands(random, static_cast<double>(2 * start));
    bool left_alone = true;  // no command has moved it inward
    Scalar last = start;
    for (int k = 0; k < 60; ++k) {
      Scalar command = commands.next();
      const bool by_velocity = test::uniform_int(random, 0, 3) == 0;
      if (k < 20 && std::isfinite(command)) command = side * (std::abs(command) + (by_velocity ? 0 : start));
      left_alone = left_alone &&
                   (!std::isfinite(command) || (by_velocity ? side * command >= 0 : side * command >= start));
      const auto step =
          by_velocity ? limiter.toward_velocity(command, period) : limiter.toward_position(command, period);
      const Scalar outward = side * step.value.position;
      if (left_alone) EXPECT(outward == start);
      if (last > end)
        EXPECT(outward <= last + slack(start));
      else
        EXPECT(outward <= end + slack(start));
      last = outward;
    }
  }
}

TEST_CASE_TEMPLATE("from any state that it is given a joint comes to rest, and no further out than it must",
                   Scalar, double, float) {
  auto random = test::generator(103);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    const auto l = any_limits<Scalar>(random);
    auto limiter = BasicJointLimiter<Scalar>::make(l).value();
    const BasicMotionState<Scalar> start{any<Scalar>(random, -6, 6), any<Scalar>(random, -3, 3) * l.velocity,
                                         any<Scalar>(random, -3, 3) * l.acceleration};
    REQUIRE(limiter.reset(start).has_value());
    const auto stop = trajectory::plan_stop(start, l);
    const Scalar end = start.position + stop.distance;
    const Scalar period = std::max(stop.duration / 50, Scalar(1e-4));
    for (int k = 0; k < 60; ++k) {
      const auto step = limiter.toward_position(k % 2 == 0 ? not_a_number<Scalar> : infinity<Scalar>, period);
      EXPECT(step.error == Errc::not_finite);
    }
    EXPECT(std::abs(limiter.state().velocity) <= slack(l.velocity));
    const Scalar size =
        std::abs(start.position) + std::abs(stop.distance) + std::abs(start.velocity) * stop.duration;
    EXPECT(std::abs(limiter.state().position - end) <= 10 * slack(size));
  }
}

TEST_CASE_TEMPLATE("a value keeps all rate limits, for any target", Scalar, double, float) {
  auto random = test::generator(104);
  using Limiter = BasicRateLimiter<Scalar>;
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    const auto rate = [&] { return any_magnitude<Scalar>(random, 0.1, 10); };
    const typename Limiter::Limits l{-any<Scalar>(random, 0, 3),
                                     any<Scalar>(random, 0, 3),
                                     rate(),
                                     rate(),
                                     rate(),
                                     rate(),
                                     i % 2 == 0 ? any_magnitude<Scalar>(random, 1, 300) : infinity<Scalar>};
    auto limiter = Limiter::make(l).value();
    const Scalar period = any_magnitude<Scalar>(random, 1e-3, 0.05);
    test::Adversary<Scalar> commands(random, 4);
    const bool smooth = std::isfinite(l.second);
    for (int k = 0; k < 60; ++k) {
      const Scalar before = limiter.value();
      const Scalar rate_before = limiter.rate();
      const Scalar target = commands.next();
      const auto step = limiter.step(target, period);
      EXPECT(step.ok() == !std::isnan(target));
      EXPECT(step.value == limiter.value());
      if (!step.ok()) EXPECT(step.value == before);
      if (!step.ok()) continue;
      const Scalar way = step.value - before;
      const Scalar rounding = slack(Scalar(3)) * period;
      EXPECT(step.value >= l.min);
      EXPECT(step.value <= l.max);
      // A value that would pass its target by rounding ends there (BasicRateLimiter::arrival).
      const Scalar arrival =
          step.value == target ? 1024 * std::numeric_limits<Scalar>::epsilon() * std::abs(target) : 0;
      if (smooth)
        EXPECT(std::abs(way - rate_before * period) <= l.second * period * period + arrival + rounding);
      if (smooth || !(before > 0 ? step.value < 0 : before < 0 && step.value > 0)) {
        const bool above = before > 0 || (before == 0 && way > 0);
        EXPECT(way <= (above ? l.forward_acceleration : l.reverse_braking) * period + rounding);
        EXPECT(way >= -(above ? l.forward_braking : l.reverse_acceleration) * period - rounding);
      } else {
        const Scalar braking = before > 0 ? l.forward_braking : l.reverse_braking;
        const Scalar beyond = before > 0 ? l.reverse_acceleration : l.forward_acceleration;
        EXPECT(std::abs(before) / braking + std::abs(step.value) / beyond <=
               period * (1 + slack(Scalar(0))) + rounding);
      }
    }
    // With a constant target the value reverses at most once, arrives, and stays.
    const Scalar target = any<Scalar>(random, static_cast<double>(l.min), static_cast<double>(l.max));
    if (i % 16 >= 2) continue;  // takes as long as hundreds of the others
    const Scalar rounding =
        slack(target) * period + 64 * std::numeric_limits<Scalar>::epsilon() * (1 + std::abs(target));
    int turns = 0;
    int steps = 0;
    Scalar direction = 0;
    while ((limiter.value() != target || std::abs(limiter.rate()) > l.second * period) && ++steps < 200000) {
      const Scalar before = limiter.value();
      const Scalar way = limiter.step(target, period).value - before;
      if (std::abs(way) <= rounding) continue;
      if (way * direction < 0) ++turns;
      direction = way;
    }
    EXPECT(limiter.value() == target);
    EXPECT(turns <= 1);
    for (int k = 0; k < 5; ++k) EXPECT(limiter.step(target, period).value == target);
  }
}

TEST_CASE_TEMPLATE("a limited proxy keeps its limits and its force, for any target and measurement", Scalar,
                   double, float) {
  auto random = test::generator(106);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    typename BasicLimitedProxy<Scalar>::Configuration c;
    c.limits.position_min = -any<Scalar>(random, 0.1, 2);
    c.limits.position_max = any<Scalar>(random, 0.1, 2);
    c.limits.velocity = any_magnitude<Scalar>(random, 0.1, 5);
    c.limits.acceleration = any_magnitude<Scalar>(random, 0.5, 50);
    c.limits.effort = any_magnitude<Scalar>(random, 1, 100);
    const Scalar period = any_magnitude<Scalar>(random, 2e-4, 0.02);
    c.bandwidth = any<Scalar>(random, 1, 5 / static_cast<double>(period));
    c.mass = any<Scalar>(random, 0, 1);
    c.stiffness = any_magnitude<Scalar>(random, 1, 1000);
    c.damping = any<Scalar>(random, 0, 50);
    c.integral = any<Scalar>(random, 0, 100);
    c.integral_limit = any<Scalar>(random, 0, 10);
    auto proxy = BasicLimitedProxy<Scalar>::make(c).value();
    test::Adversary<Scalar> places(random, 3), speeds(random, 6), accelerations(random, 100),
        joint(random, 2), joint_speed(random, 10);
    BasicMotionState<Scalar> measured{any<Scalar>(random, static_cast<double>(c.limits.position_min),
                                                  static_cast<double>(c.limits.position_max)),
                                      0, 0};
    Scalar last = 0;
    for (int k = 0; k < 60; ++k) {
      const BasicMotionState<Scalar> wanted{places.next(), speeds.next(), accelerations.next()};
      const auto step = proxy.step(wanted, measured, period);
      if (k == 0 && !step.ok()) break;  // only a good step moves the proxy to the joint
      measured = {joint.next(), joint_speed.next(), 0};
      EXPECT(std::abs(step.value) <= c.limits.effort);
      if (!step.ok()) EXPECT(step.value == last);
      const auto& at = proxy.proxy();
      EXPECT(at.position >= c.limits.position_min - slack(c.limits.position_min));
      EXPECT(at.position <= c.limits.position_max + slack(c.limits.position_max));
      EXPECT(std::abs(at.velocity) <= c.limits.velocity * (1 + slack(Scalar(0))));
      last = step.value;
    }
  }
}

TEST_CASE_TEMPLATE("a follower keeps its limits, for any stream of setpoints", Scalar, double, float) {
  auto random = test::generator(107);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    auto l = any_limits<Scalar>(random);
    const Scalar period = any_magnitude<Scalar>(random, 2e-4, 0.03);
    BasicSetpointFollower<Scalar> follower;
    test::Adversary<Scalar> places(random, 5), speeds(random, 10);
    for (int k = 0; k < 60; ++k) {
      const auto before = follower.state();
      const auto now = follower.step({places.next(), speeds.next()}, l, period);
      EXPECT(std::abs(now.velocity) <= l.velocity + slack(l.velocity));
      EXPECT(std::abs(now.velocity - before.velocity) <= l.acceleration * period + slack(l.velocity));
      EXPECT(now.position <= l.position_max + slack(now.position));
      EXPECT(now.position >= l.position_min - slack(now.position));
    }
  }
}
