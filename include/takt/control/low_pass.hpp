// First-order low-pass filter, the "exponential filter" of control toolboxes:  y += alpha (x - y).
//
// Between samples the input is taken to be constant, so that alpha = 1 - exp(-h/T) is exact for time constant T and period h.
// The first sample sets the output: a filter does not swing in from zero.
//
// The output stands still where alpha (x - y) rounds away beside it: within epsilon |y| / (2 alpha) of the input. That is 0.6 %
// of the value in float with a time constant of 100 000 periods; in double it is nothing that can be measured.
#pragma once

#include <cmath>
#include <numbers>

#include "takt/control/error.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"

namespace takt::control {

/// A value; every function is real-time safe.
template <class Scalar>
class BasicLowPass {
 public:
  /// From the weight of a new sample, above 0 (exclusive) and up to 1: no filter. Errors: not_finite, out_of_domain.
  [[nodiscard]] static Result<BasicLowPass> from_weight(Scalar alpha) noexcept {
    if (!std::isfinite(alpha)) return fail(Errc::not_finite);
    if (!(alpha > 0 && alpha <= 1)) return fail(Errc::out_of_domain);
    return BasicLowPass(alpha);
  }

  /// From the time constant (s), zero for no filter. Errors: not_finite, bad_period, out_of_domain (negative, or so long that a
  /// sample would count for nothing).
  [[nodiscard]] static Result<BasicLowPass> from_time_constant(Scalar time_constant, Scalar period) noexcept {
    if (!std::isfinite(time_constant)) return fail(Errc::not_finite);
    if (!is_period(period)) return fail(Errc::bad_period);
    if (time_constant < 0) return fail(Errc::out_of_domain);
    return from_weight(-std::expm1(-period / time_constant));
  }

  /// From the frequency (Hz) at which half the power passes. Errors: as above; out_of_domain for a frequency that is not positive.
  [[nodiscard]] static Result<BasicLowPass> from_cutoff(Scalar frequency, Scalar period) noexcept {
    if (!std::isfinite(frequency)) return fail(Errc::not_finite);
    if (!(frequency > 0)) return fail(Errc::out_of_domain);
    return from_time_constant(1 / (2 * std::numbers::pi_v<Scalar> * frequency), period);
  }

  /// One sample. Errors: not_finite (also of an overflow): the sample does not count, the value is the last one.
  BasicStep<Scalar> step(Scalar sample) noexcept {
    const Scalar next = started_ ? value_ + alpha_ * (sample - value_) : sample;
    if (!std::isfinite(next)) return {value_, Errc::not_finite};
    value_ = next;
    started_ = true;
    return {value_, {}};
  }

  [[nodiscard]] Scalar value() const noexcept { return value_; }

  /// The next sample sets the output again.
  void reset() noexcept { started_ = false; }

 private:
  explicit BasicLowPass(Scalar alpha) noexcept : alpha_(alpha) {}

  Scalar alpha_;
  Scalar value_ = 0;
  bool started_ = false;
};
using LowPass = BasicLowPass<double>;

}  // namespace takt::control
