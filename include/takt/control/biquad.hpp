// Second-order filters, alone and in a chain: low-pass, high-pass, band-pass, notch.
//
//     auto notch = Biquad::notch({.frequency = 35, .quality = 4, .period = 0.001});     // a resonance taken out of a torque
//     const Step filtered = notch->step(sample);
//
// The analogue prototypes, with w0 = 2 pi f and quality Q, are  w0^2 / D,  s^2 / D,  (w0/Q) s / D,  (s^2 + w0^2) / D  with
// D = s^2 + (w0/Q) s + w0^2, made discrete by the bilinear transform that keeps f in place. Source: R. Bristow-Johnson, "Cookbook
// formulae for audio equalizer biquad filter coefficients". Realised in transposed direct form II, which rounds least.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "takt/control/error.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"

namespace takt::control {

/// A value; every function is real-time safe.
template <class Scalar>
class BasicBiquad {
 public:
  struct Design {
    Scalar frequency = 0;  ///< Hz: cut-off, or middle of the band; below half the sampling rate
    Scalar quality =
        Scalar(0.70710678118654752);  ///< 1/sqrt(2): the flattest pass band (Butterworth); above 0
    Scalar period = 0;                ///< s between samples
  };

  /// All of them. Errors: not_finite, bad_period, out_of_domain (frequency not between 0 and half the sampling rate, quality not
  /// positive).
  [[nodiscard]] static Result<BasicBiquad> low_pass(const Design& design) noexcept {
    return from(design, [](Scalar c, Scalar) { return Numerator{(1 - c) / 2, 1 - c, (1 - c) / 2}; });
  }
  [[nodiscard]] static Result<BasicBiquad> high_pass(const Design& design) noexcept {
    return from(design, [](Scalar c, Scalar) { return Numerator{(1 + c) / 2, -(1 + c), (1 + c) / 2}; });
  }
  /// Gain 1 at the middle frequency; half the power passes at a distance of about f/(2 Q).
  [[nodiscard]] static Result<BasicBiquad> band_pass(const Design& design) noexcept {
    return from(design, [](Scalar, Scalar alpha) { return Numerator{alpha, 0, -alpha}; });
  }
  /// Gain 0 at the middle frequency, 1 far from it.
  [[nodiscard]] static Result<BasicBiquad> notch(const Design& design) noexcept {
    return from(design, [](Scalar c, Scalar) { return Numerator{1, -2 * c, 1}; });
  }

  /// One sample. The first one is taken to have been there for ever: no swinging in. Errors: not_finite (also of an overflow):
  /// the sample does not count, the value is the last one.
  BasicStep<Scalar> step(Scalar x) noexcept {
    if (!started_) settle(x);
    const Scalar y = b_[0] * x + s1_;
    const Scalar s1 = b_[1] * x - a_[0] * y + s2_;
    const Scalar s2 = b_[2] * x - a_[1] * y;
    if (!std::isfinite(y + s1 + s2)) return {value_, Errc::not_finite};
    started_ = true;
    s1_ = s1;
    s2_ = s2;
    value_ = y;
    return {y, {}};
  }

  [[nodiscard]] Scalar value() const noexcept { return value_; }

  /// The next sample is the first again.
  void reset() noexcept { started_ = false; }

 private:
  using Numerator = std::array<Scalar, 3>;

  template <class MakeNumerator>
  [[nodiscard]] static Result<BasicBiquad> from(const Design& design, MakeNumerator&& numerator) noexcept {
    if (!std::isfinite(design.frequency) || !std::isfinite(design.quality)) return fail(Errc::not_finite);
    if (!is_period(design.period)) return fail(Errc::bad_period);
    const Scalar turn = design.frequency * design.period;
    if (!(turn > 0 && turn < Scalar(0.5)) || !(design.quality > 0)) return fail(Errc::out_of_domain);
    const Scalar angle = 2 * std::numbers::pi_v<Scalar> * turn;
    const Scalar c = std::cos(angle);
    const Scalar alpha = std::sin(angle) / (2 * design.quality);
    BasicBiquad filter;
    filter.b_ = numerator(c, alpha);
    for (Scalar& b : filter.b_) b /= 1 + alpha;
    filter.a_ = {-2 * c / (1 + alpha), (1 - alpha) / (1 + alpha)};
    return filter;
  }

  /// The state after any number of samples x.
  void settle(Scalar x) noexcept {
    const Scalar gain = (b_[0] + b_[1] + b_[2]) / (1 + a_[0] + a_[1]);
    s2_ = (b_[2] - a_[1] * gain) * x;
    s1_ = (gain - b_[0]) * x;
  }

  Numerator b_{1, 0, 0};
  std::array<Scalar, 2> a_{};
  Scalar s1_ = 0;
  Scalar s2_ = 0;
  Scalar value_ = 0;
  bool started_ = false;
};
using Biquad = BasicBiquad<double>;

/// Filters one after the other. A value; every function is real-time safe.
template <class Filter, std::size_t Count>
class FilterChain {
 public:
  using Step = decltype(std::declval<Filter&>().step({}));

  explicit FilterChain(const std::array<Filter, Count>& filters) noexcept : filters_(filters) {}

  /// One sample through all of them. Errors: not_finite: it does not count for the filter that it ends at, nor for those after it;
  /// the value is the chain's last one.
  Step step(decltype(Step::value) sample) noexcept {
    for (Filter& filter : filters_) {
      const Step next = filter.step(sample);
      if (!next.ok()) return {filters_.back().value(), next.error};
      sample = next.value;
    }
    return {sample, {}};
  }

  void reset() noexcept {
    for (Filter& filter : filters_) filter.reset();
  }

 private:
  std::array<Filter, Count> filters_;
};

/// A Butterworth low-pass of order 2 Count: the flattest pass band of that order, 12 Count dB an octave beyond it. Errors: those of
/// BasicBiquad::low_pass().
template <std::size_t Count, class Scalar>
[[nodiscard]] Result<FilterChain<BasicBiquad<Scalar>, Count>> butterworth(Scalar frequency,
                                                                          Scalar period) noexcept {
  std::array<BasicBiquad<Scalar>, Count> filters;
  for (std::size_t k = 0; k < Count; ++k) {
    const Scalar angle =
        std::numbers::pi_v<Scalar> * static_cast<Scalar>(2 * k + 1) / static_cast<Scalar>(4 * Count);
    auto filter = BasicBiquad<Scalar>::low_pass({frequency, 1 / (2 * std::cos(angle)), period});
    if (!filter) return fail(filter.error());
    filters[k] = *filter;
  }
  return FilterChain<BasicBiquad<Scalar>, Count>(filters);
}

}  // namespace takt::control
