#include "takt/control/limited_proxy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/random.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double h = 1e-3;

LimitedProxy::Configuration gentle() {
  LimitedProxy::Configuration c;
  c.limits.position_min = -1;
  c.limits.position_max = 1;
  c.limits.velocity = 1;
  c.limits.acceleration = 5;
  c.limits.effort = 10;
  c.bandwidth = 30;
  c.mass = 0.5;
  c.stiffness = 200;
  c.damping = 20;
  c.integral = 50;
  c.integral_limit = 2;
  return c;
}

/// A joint with inertia and friction, which does not move while `blocked`.
struct Joint {
  MotionState state;
  void push(double force, bool blocked = false) {
    if (blocked) {
      state.velocity = 0;
      return;
    }
    state.velocity += h * (force - 1 * state.velocity) / 0.5;
    state.position += h * state.velocity;
  }
};

}  // namespace

TEST_CASE("the joint comes to where it is wanted, within the limits on the way") {
  auto proxy = LimitedProxy::make(gentle()).value();
  Joint joint;
  double last = 0;
  for (int k = 0; k < 5000; ++k) {
    joint.push(proxy.step({0.8, 0, 0}, joint.state, h).value);
    CHECK(std::abs(proxy.proxy().velocity) <= 1 + 1e-12);
    CHECK(std::abs(proxy.proxy().velocity - last) <= 5 * h + 1e-12);
    last = proxy.proxy().velocity;
  }
  CHECK(joint.state.position == doctest::Approx(0.8).epsilon(1e-3));
}

TEST_CASE("a target outside the range is approached up to the range's end, without overshoot") {
  for (const double wanted : {3.0, -3.0}) {
    auto proxy = LimitedProxy::make(gentle()).value();
    Joint joint;
    for (int k = 0; k < 5000; ++k) {
      joint.push(proxy.step({wanted, 0, 0}, joint.state, h).value);
      CHECK(std::abs(proxy.proxy().position) <= 1 + 1e-9);
    }
    CHECK(proxy.proxy().position == doctest::Approx(std::copysign(1, wanted)));
  }
}

TEST_CASE("a step is reached without overshoot or oscillation, for all limits, bandwidths and periods") {
  auto random = test::generator(2);
  const auto any = [&](double low, double high) {
    return std::exp(test::uniform(random, std::log(low), std::log(high)));
  };
  for (std::size_t i = 0; i < test::count(300); ++i) {
    LimitedProxy::Configuration c;
    c.limits.velocity = any(0.1, 20);
    c.limits.acceleration = any(0.5, 2000);
    c.limits.effort = 1e9;
    c.stiffness = 1;
    const double period = any(1e-4, 0.05);
    c.bandwidth = any(0.01, 10) / period;
    const double wanted = any(1e-3, 10);
    CAPTURE(i);
    auto proxy = LimitedProxy::make(c).value();
    static_cast<void>(proxy.step({0, 0, 0}, {0, 0, 0}, period));
    double last = 0;
    for (int k = 0; k < 20000; ++k) {
      CHECK(proxy.step({wanted, 0, 0}, proxy.proxy(), period).ok());
      const double position = proxy.proxy().position;
      CHECK(position >= last - 1e-9 * wanted);
      CHECK(position <= wanted * (1 + 1e-9));
      last = position;
    }
    const double time = wanted / c.limits.velocity + 2 * std::sqrt(wanted / c.limits.acceleration) +
                        c.limits.velocity / c.limits.acceleration + 40 / c.bandwidth + 40 * period;
    if (time < 20000 * period) CHECK(last == doctest::Approx(wanted).epsilon(1e-6));
  }
}

TEST_CASE("a target that moves within the limits is followed exactly once it is reached") {
  auto c = gentle();
  c.limits.effort = 1e9;
  auto proxy = LimitedProxy::make(c).value();
  for (int k = 1; k <= 6000; ++k) {
    // The set-point at the end of the period. Its velocity is the difference of the discrete steps, not the
    // derivative of the sine.
    const double before = 0.5 * std::sin(h * (k - 1)), now = 0.5 * std::sin(h * k),
                 earlier = 0.5 * std::sin(h * (k - 2));
    const MotionState wanted{now, (now - before) / h, (now - 2 * before + earlier) / (h * h)};
    static_cast<void>(proxy.step(wanted, proxy.proxy(), h));
    if (k > 3000) CHECK(std::abs(proxy.proxy().position - now) < 1e-9);
  }
}

TEST_CASE("a joint that was blocked for long does not rush when it is released") {
  auto proxy = LimitedProxy::make(gentle()).value();
  Joint joint;
  for (int k = 0; k < 10000; ++k) {
    joint.push(proxy.step({0.9, 0, 0}, joint.state, h).value, true);
    CHECK(std::abs(proxy.step({0.9, 0, 0}, joint.state, h).value) <= 10);
  }
  // Only as far ahead as the force requires: 10 N m at 200 N m/rad, plus the motion of one period.
  CHECK(proxy.proxy().position < 0.07);
  double fastest = 0;
  for (int k = 0; k < 3000; ++k) {
    joint.push(proxy.step({0.9, 0, 0}, joint.state, h).value);
    fastest = std::max(fastest, joint.state.velocity);
  }
  CHECK(fastest < 1.5);  // full force all the way would make it 6
  CHECK(joint.state.position == doctest::Approx(0.9).epsilon(0.01));
}

TEST_CASE("the force keeps its limit and stays finite, for any target and measurement") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(200); ++i) {
    auto proxy = LimitedProxy::make(gentle()).value();
    for (int k = 0; k < 200; ++k) {
      const auto any = [&] {
        return test::uniform_int(random, 0, 30) == 0 ? not_a_number : test::uniform(random, -5, 5);
      };
      const Step step = proxy.step({any(), any(), any()}, {any(), any(), 0}, h);
      CHECK(std::abs(step.value) <= 10);
      CHECK(std::isfinite(proxy.proxy().position));
    }
  }
}

TEST_CASE("bad numbers change nothing, proxies that cannot be are refused by name") {
  auto proxy = LimitedProxy::make(gentle()).value();
  const double force = proxy.step({0.5, 0, 0}, {0, 0, 0}, h).value;
  const MotionState state = proxy.proxy();
  CHECK(proxy.step({not_a_number, 0, 0}, {0, 0, 0}, h).error == Errc::not_finite);
  CHECK(proxy.step({0, 0, 0}, {0, infinity, 0}, h).error == Errc::not_finite);
  CHECK(proxy.step({0, 0, 0}, {0, 0, 0}, 0).error == Errc::bad_period);
  CHECK(proxy.step({not_a_number, 0, 0}, {0, 0, 0}, h).value == force);
  CHECK(proxy.proxy() == state);
  auto c = gentle();
  c.stiffness = 0;
  CHECK(LimitedProxy::make(c).error() == Errc::out_of_domain);
  c = gentle();
  c.mass = -1;
  CHECK(LimitedProxy::make(c).error() == Errc::out_of_domain);
  c.mass = infinity;
  CHECK(LimitedProxy::make(c).error() == Errc::not_finite);
  c = gentle();
  c.limits.position_min = 2;
  CHECK(LimitedProxy::make(c).error() == Errc::min_above_max);
  for (const double end : {infinity, -infinity}) {
    c.limits.position_min = c.limits.position_max = end;
    CHECK(LimitedProxy::make(c).error() == Errc::not_finite);
  }
}
