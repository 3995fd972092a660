// Position control by a force that stays gentle when the joint is blocked. A spring, a damper and an integral
// pull the joint towards a proxy. The proxy follows the desired motion within limits of position, velocity
// and acceleration. While the force is at its limit, the joint drags the proxy with it. When the joint is
// released, it starts from its present position at the proxy's pace, without wind-up.
//
// With the desired x_d, v_d, a_d, the proxy x, v and the joint q, w:
//
//   a = a_d + 2 l (v_d - v) + l^2 (x_d - x)                  critically damped (bandwidth l), limited
//   f = m a + k_p (x - q) + k_d (v - w) + I,    I += h k_i (x - q)  both limited
//
// Here v and x are those at the end of the period h. This is Euler's implicit rule: a double pole at 1/(1 + l
// h), stable for every l h. The idea is that of the PR2's LimitedProxy. As there, the proxy approaches x_d
// only as fast as the acceleration limit lets it brake, so it reaches a step without overshoot. The position
// limits are an addition. Both use the braking distance of the discrete steps (setpoint_follower.hpp).
#pragma once

#include <algorithm>
#include <cmath>

#include "takt/control/error.hpp"
#include "takt/control/position_range.hpp"
#include "takt/control/setpoint_follower.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"

namespace takt::control {

/// The controller of one joint. A value; every function is real-time safe.
template <class Scalar>
class BasicLimitedProxy {
 public:
  using State = BasicMotionState<Scalar>;

  /// The parameters of the controller, for a rotary joint; m and N replace rad and N m for a linear one.
  struct Configuration {
    BasicJointLimits<Scalar>
        limits;  ///< of the proxy; velocity and acceleration finite; effort: the largest force (N m)
    Scalar bandwidth = 0;       ///< l, rad/s
    Scalar mass = 0;            ///< m, kg m^2
    Scalar stiffness = 0;       ///< k_p, N m/rad
    Scalar damping = 0;         ///< k_d, N m s/rad
    Scalar integral = 0;        ///< k_i, N m/(rad s)
    Scalar integral_limit = 0;  ///< N m
  };

  /// Errors: not_finite (also if both position limits are the same infinity); min_above_max; out_of_domain.
  /// The bandwidth, stiffness, velocity, acceleration and effort must be > 0, the other numbers >= 0.
  [[nodiscard]] static Result<BasicLimitedProxy> make(const Configuration& c) noexcept {
    for (const Scalar number : {c.limits.velocity, c.limits.acceleration, c.limits.effort, c.bandwidth,
                                c.stiffness, c.mass, c.damping, c.integral, c.integral_limit}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
      if (number < 0) return fail(Errc::out_of_domain);
    }
    if (const auto range = check_position_range(c.limits.position_min, c.limits.position_max); !range)
      return fail(range.error());
    for (const Scalar number :
         {c.limits.velocity, c.limits.acceleration, c.limits.effort, c.bandwidth, c.stiffness}) {
      if (number == 0) return fail(Errc::out_of_domain);
    }
    return BasicLimitedProxy(c);
  }

  /// The force (N m) for the next `period` seconds; `desired` is the state at their end. The first call after
  /// reset() sets the proxy to the joint's position. Errors: bad_period, not_finite (also an overflow).
  /// Nothing changes then, and the value is the last force. Use equal periods for one proxy, because its
  /// braking distance is counted in them.
  BasicStep<Scalar> step(const State& desired, const State& measured, Scalar period) noexcept {
    if (!is_period(period)) return {force_, Errc::bad_period};
    for (const Scalar number :
         {desired.position, desired.velocity, desired.acceleration, measured.position, measured.velocity}) {
      if (!std::isfinite(number)) return {force_, Errc::not_finite};
    }
    const BasicLimitedProxy before = *this;
    if (!started_) proxy_ = {measured.position, 0, 0};
    started_ = true;
    advance(desired, period);
    pull(measured, period);
    if (std::isfinite(force_) && std::isfinite(proxy_.position) && std::isfinite(proxy_.velocity))
      return {force_, {}};
    *this = before;
    return {force_, Errc::not_finite};
  }

  /// The present state of the proxy.
  [[nodiscard]] const State& proxy() const noexcept { return proxy_; }

  /// The next step starts with the proxy at the joint.
  void reset() noexcept {
    started_ = false;
    integral_ = 0;
    force_ = 0;
  }

 private:
  explicit BasicLimitedProxy(const Configuration& c) noexcept : c_(c) {}

  void advance(const State& desired, Scalar period) noexcept {
    const auto& l = c_.limits;
    // The distance before this period, in the frame that moves with the desired motion.
    const Scalar distance = desired.position - desired.velocity * period - proxy_.position;
    const Scalar slower = 1 / (1 + c_.bandwidth * period);
    const Scalar gain = c_.bandwidth * slower;
    const Scalar wanted =
        slower * slower * desired.acceleration +
        gain * ((2 * slower + gain * period) * (desired.velocity - proxy_.velocity) + gain * distance);
    const Scalar closing = braking_speed(std::abs(distance), l.acceleration, period);
    Scalar velocity = proxy_.velocity + wanted * period;
    velocity = std::clamp(velocity, desired.velocity - closing, desired.velocity + closing);
    velocity = stoppable(velocity, period);
    const Scalar reach = l.acceleration * period;
    velocity = std::clamp(velocity, proxy_.velocity - reach, proxy_.velocity + reach);
    proxy_.acceleration = (velocity - proxy_.velocity) / period;
    proxy_.velocity = velocity;
    proxy_.position += velocity * period;
  }

  /// The nearest velocity for which the proxy keeps its limit and can stop inside its range.
  [[nodiscard]] Scalar stoppable(Scalar velocity, Scalar period) const noexcept {
    const auto& l = c_.limits;
    velocity = std::clamp(velocity, -l.velocity, l.velocity);
    velocity = std::min(velocity, braking_speed(l.position_max - proxy_.position, l.acceleration, period));
    return std::max(velocity, -braking_speed(proxy_.position - l.position_min, l.acceleration, period));
  }

  void pull(const State& measured, Scalar period) noexcept {
    const Scalar stretch = proxy_.position - measured.position;
    const Scalar summed =
        std::clamp(integral_ + period * c_.integral * stretch, -c_.integral_limit, c_.integral_limit);
    const Scalar rest =
        c_.mass * proxy_.acceleration + c_.damping * (proxy_.velocity - measured.velocity) + summed;
    const Scalar wanted = rest + c_.stiffness * stretch;
    force_ = std::clamp(wanted, -c_.limits.effort, c_.limits.effort);
    if (force_ == wanted) {
      integral_ = summed;
      return;
    }
    // The joint drags the proxy. The spring is no more stretched than this force requires, and the proxy is
    // no faster than the joint.
    const Scalar held =
        std::clamp((force_ - integral_) / c_.stiffness, -std::abs(stretch), std::abs(stretch));
    proxy_.position = std::clamp(measured.position + held, std::min(c_.limits.position_min, proxy_.position),
                                 std::max(c_.limits.position_max, proxy_.position));
    proxy_.velocity = stoppable(measured.velocity, period);
    proxy_.acceleration = 0;
  }

  Configuration c_;
  State proxy_;
  Scalar integral_ = 0;
  Scalar force_ = 0;
  bool started_ = false;
};
using LimitedProxy = BasicLimitedProxy<double>;

}  // namespace takt::control
