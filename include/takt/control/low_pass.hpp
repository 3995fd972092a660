// First-order low-pass filter, the "exponential filter" of control toolboxes:  y += alpha (x - y).
//
// The input counts as constant between samples. Then alpha = 1 - exp(-h/T) is exact for time constant T and
// period h. The first sample sets the output, so the filter does not start from zero.
//
// The output stops changing when alpha (x - y) rounds away: within epsilon |y| / (2 alpha) of the input. In
// float with a time constant of 100 000 periods this is 0.6 % of the value; in double it is not measurable.
#pragma once

#include <cmath>
#include <numbers>

#include "takt/control/error.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"

namespace takt::control {

/// A first-order low-pass. A value; every function is real-time safe.
template <class Scalar>
class BasicLowPass {
 public:
  /// Takes the weight of a new sample, 0 < alpha <= 1; 1 means no filter. Errors: not_finite, out_of_domain.
  [[nodiscard]] static Result<BasicLowPass> from_weight(Scalar alpha) noexcept {
    if (!std::isfinite(alpha)) return fail(Errc::not_finite);
    if (!(alpha > 0 && alpha <= 1)) return fail(Errc::out_of_domain);
    return BasicLowPass(alpha);
  }

  /// Takes the time constant (s); zero means no filter. Period in s. Errors: not_finite, bad_period,
  /// out_of_domain (negative, or so long that a sample would have no effect).
  [[nodiscard]] static Result<BasicLowPass> from_time_constant(Scalar time_constant, Scalar period) noexcept {
    if (!std::isfinite(time_constant)) return fail(Errc::not_finite);
    if (!is_period(period)) return fail(Errc::bad_period);
    if (time_constant < 0) return fail(Errc::out_of_domain);
    return from_weight(-std::expm1(-period / time_constant));
  }

  /// Takes the frequency (Hz) at which half the power passes. Errors: as above; out_of_domain for a frequency
  /// <= 0.
  [[nodiscard]] static Result<BasicLowPass> from_cutoff(Scalar frequency, Scalar period) noexcept {
    if (!std::isfinite(frequency)) return fail(Errc::not_finite);
    if (!(frequency > 0)) return fail(Errc::out_of_domain);
    return from_time_constant(1 / (2 * std::numbers::pi_v<Scalar> * frequency), period);
  }

  /// Filters one sample. Errors: not_finite (also an overflow). The sample is then ignored, and the value is
  /// the last one.
  BasicStep<Scalar> step(Scalar sample) noexcept {
    const Scalar next = started_ ? value_ + alpha_ * (sample - value_) : sample;
    if (!std::isfinite(next)) return {value_, Errc::not_finite};
    value_ = next;
    started_ = true;
    return {value_, {}};
  }

  /// The last output.
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
