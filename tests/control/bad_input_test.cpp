// Gives bad numbers and bad periods, from one table, to every step function of this room. Each must return a
// named error and the last good output. The object's state must then continue as if the call had not been
// made.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "takt/control/biquad.hpp"
#include "takt/control/joint_limiter.hpp"
#include "takt/control/limited_proxy.hpp"
#include "takt/control/low_pass.hpp"
#include "takt/control/pid.hpp"
#include "takt/control/rate_limiter.hpp"
#include "takt/control/setpoint_follower.hpp"

using namespace takt;
using namespace takt::control;

namespace {

template <class Scalar>
constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();
template <class Scalar>
constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();

/// `step(object, command, measured, period)` calls the step function of a good object.
template <class Scalar, class Object, class Step>
void check_periods(const std::string& name, Object object, Step step) {
  CAPTURE(name);
  const Scalar h = Scalar(0.01);
  REQUIRE(step(object, Scalar(0.3), Scalar(0.1), h).ok());
  const auto good = step(object, Scalar(0.3), Scalar(0.1), h);
  REQUIRE(good.ok());
  Object twin = object;
  for (const Scalar period :
       {Scalar(0), -Scalar(0), -h, std::numeric_limits<Scalar>::denorm_min(), Scalar(9e-10), Scalar(10.01),
        Scalar(1e30), -infinity<Scalar>, infinity<Scalar>, not_a_number<Scalar>}) {
    const auto bad = step(object, Scalar(0.3), Scalar(0.1), period);
    CHECK(bad.error == Errc::bad_period);
    CHECK(bad.value == good.value);
  }
  CHECK(step(object, Scalar(0.4), Scalar(0.2), h).value == step(twin, Scalar(0.4), Scalar(0.2), h).value);
}

template <class Scalar, class Object, class Step>
void check_numbers(const std::string& name, Object object, Step step, bool takes_measurement) {
  CAPTURE(name);
  const Scalar h = Scalar(0.01);
  REQUIRE(step(object, Scalar(0.3), Scalar(0.1), h).ok());
  const auto good = step(object, Scalar(0.3), Scalar(0.1), h);
  REQUIRE(good.ok());
  Object twin = object;
  for (const Scalar number : {not_a_number<Scalar>, infinity<Scalar>, -infinity<Scalar>}) {
    const auto bad = step(object, number, Scalar(0.1), h);
    CHECK(bad.error == Errc::not_finite);
    CHECK(bad.value == good.value);
    if (!takes_measurement) continue;
    const auto unseen = step(object, Scalar(0.3), number, h);
    CHECK(unseen.error == Errc::not_finite);
    CHECK(unseen.value == good.value);
  }
  CHECK(step(object, Scalar(0.4), Scalar(0.2), h).value == step(twin, Scalar(0.4), Scalar(0.2), h).value);
}

template <class Scalar>
BasicJointLimits<Scalar> limits() {
  BasicJointLimits<Scalar> l;
  l.position_min = -1;
  l.position_max = 1;
  l.velocity = 2;
  l.acceleration = 10;
  l.jerk = 100;
  l.effort = 5;
  return l;
}

}  // namespace

TEST_CASE_TEMPLATE("a bad period or NaN changes nothing", Scalar, double, float) {
  const auto step = [](auto& o, Scalar r, Scalar y, Scalar h) { return o.step(r, y, h); };
  const BasicPidGains<Scalar> gains{
      .proportional = 2, .integral = 1, .derivative = Scalar(0.1), .derivative_filter = Scalar(0.02)};
  const auto both = [&](const char* name, auto object, auto call) {
    check_periods<Scalar>(name, object, call);
    check_numbers<Scalar>(name, object, call, true);
  };
  both("pid", *BasicPid<Scalar>::make(gains), step);
  both("ros1", *BasicPid<Scalar, conventions::ros1>::make(gains), step);
  both("ros2", *BasicPid<Scalar, conventions::ros2>::make(gains), step);
  both("ros2_back_calculation", *BasicPid<Scalar, conventions::ros2_back_calculation>::make(gains), step);
  both("dataspeed", *BasicPid<Scalar, conventions::dataspeed>::make(gains), step);
  both("pid that follows", *BasicPid<Scalar>::make(gains),
       [](auto& o, Scalar r, Scalar y, Scalar h) { return o.follow(Scalar(0.5), r, y, h); });

  typename BasicLimitedProxy<Scalar>::Configuration c;
  c.limits = limits<Scalar>();
  c.bandwidth = 30;
  c.mass = Scalar(0.1);
  c.stiffness = 200;
  c.damping = 2;
  both("limited proxy", *BasicLimitedProxy<Scalar>::make(c), [](auto& o, Scalar r, Scalar y, Scalar h) {
    return o.step({r, 0, 0}, {y, 0, 0}, h);
  });

  // An infinite target is valid: it means as far as the limits allow.
  using Limiter = BasicRateLimiter<Scalar>;
  const auto to = [](auto& o, Scalar r, Scalar, Scalar h) { return o.step(r, h); };
  check_periods<Scalar>("rate limiter", *Limiter::make({-2, 2, 1, 2, 1, 2, 10}), to);
  check_periods<Scalar>("rate limiter, first order", *Limiter::make({-2, 2, 1, 2, 1, 2}), to);
  auto rate = *Limiter::make({-2, 2, 1, 2, 1, 2, 10});
  const Scalar value = rate.step(1, Scalar(0.01)).value;
  CHECK(rate.step(not_a_number<Scalar>, Scalar(0.01)).error == Errc::not_finite);
  CHECK(rate.value() == value);

  // A NaN command brakes the joint to rest, with an error each time.
  check_periods<Scalar>("joint limiter", *BasicJointLimiter<Scalar>::make(limits<Scalar>()),
                        [](auto& o, Scalar r, Scalar, Scalar h) { return o.toward_position(r, h); });
  check_periods<Scalar>("joint limiter, motion", *BasicJointLimiter<Scalar>::make(limits<Scalar>()),
                        [](auto& o, Scalar r, Scalar, Scalar h) {
                          return o.follow({r, r, 0}, h);
                        });
  check_periods<Scalar>("joint limiter, velocity", *BasicJointLimiter<Scalar>::make(limits<Scalar>()),
                        [](auto& o, Scalar r, Scalar, Scalar h) { return o.toward_velocity(r, h); });

  const auto sample = [](auto& o, Scalar r, Scalar, Scalar) { return o.step(r); };
  check_numbers<Scalar>("low pass", *BasicLowPass<Scalar>::from_weight(Scalar(0.1)), sample, false);
  check_numbers<Scalar>("biquad", *BasicBiquad<Scalar>::low_pass({.frequency = 10, .period = Scalar(0.01)}),
                        sample, false);
  check_numbers<Scalar>("chain", *butterworth<2>(Scalar(10), Scalar(0.01)), sample, false);
}

TEST_CASE_TEMPLATE("a follower waits while the period is NaN or not positive", Scalar, double, float) {
  BasicSetpointFollower<Scalar> follower;
  const auto state = follower.step({1, 0}, limits<Scalar>(), Scalar(0.01));
  for (const Scalar period : {Scalar(0), Scalar(-1), Scalar(11), infinity<Scalar>, not_a_number<Scalar>})
    CHECK(follower.step({1, 0}, limits<Scalar>(), period) == state);
}

TEST_CASE_TEMPLATE("a value or a proxy that begins outside its range comes back at its own pace", Scalar,
                   double, float) {
  auto rate = BasicRateLimiter<Scalar>::make({-1, 1, 2, 4, 2, 4}).value();
  rate.reset(3);
  CHECK(rate.step(3, Scalar(0.25)).value == 2);
  CHECK(rate.step(-9, Scalar(0.125)).value == Scalar(1.5));
  rate.reset(-3);
  CHECK(rate.step(3, Scalar(0.25)).value == -2);

  typename BasicLimitedProxy<Scalar>::Configuration c;
  c.limits = limits<Scalar>();
  c.bandwidth = 30;
  c.stiffness = 200;
  auto proxy = BasicLimitedProxy<Scalar>::make(c).value();
  BasicMotionState<Scalar> joint{2, 0, 0};
  Scalar last = 2;
  for (int k = 0; k < 2000; ++k) {
    CHECK(proxy.step({3, 0, 0}, joint, Scalar(0.001)).ok());
    CHECK(proxy.proxy().position <= last);
    last = joint.position = proxy.proxy().position;
  }
}
