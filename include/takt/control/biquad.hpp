// Second-order filters, alone and in a chain: low-pass, high-pass, band-pass, notch.
//
//     auto notch = Biquad::notch({.frequency = 35, .quality = 4, .period = 0.001});  // removes a resonance
//
//     const Step filtered = notch->step(sample);                                     // every period
//
// The analogue prototypes are w0^2 / D, s^2 / D, (w0/Q) s / D and (s^2 + w0^2) / D. Here D = s^2 + (w0/Q) s +
// w0^2, w0 = 2 pi f, and Q is the quality. The bilinear transform makes them discrete and keeps f in place.
// Source: R. Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter coefficients". The
// realisation is transposed direct form II, which has the smallest rounding error. A cut-off far below the
// sampling rate is contained only in the last digits of the coefficients. So there is a lowest cut-off. In
// float it is 1/500 of the sampling rate (2 Hz at 1 kHz); in double it is far below any use. Filter slower
// signals in double or at a lower sampling rate.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>

#include "takt/control/error.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"

namespace takt::control {

/// A second-order filter. A value; every function is real-time safe.
template <class Scalar>
class BasicBiquad {
 public:
  /// The parameters of a filter.
  struct Design {
    Scalar frequency = 0;  ///< Hz: cut-off, or centre of the band; below half the sampling rate
    Scalar quality = Scalar(0.70710678118654752);  ///< 1/sqrt(2): the flattest pass band (Butterworth); > 0
    Scalar period = 0;                             ///< s between samples
  };

  /// Each of the four designs fails with the same errors:
  /// * not_finite, bad_period.
  /// * out_of_domain: the frequency is not between 0 and half the sampling rate, or the quality is not
  ///   positive.
  /// * out_of_domain too: rounding of the coefficients changes frequency, damping or pass-band gain by more
  ///   than 1e-3. This happens near those bounds or at a very high quality.
  [[nodiscard]] static Result<BasicBiquad> low_pass(const Design& design) noexcept {
    return from(design, {.steady = 1});
  }
  /// Gain 1 far above the cut-off, 0 for a constant value.
  [[nodiscard]] static Result<BasicBiquad> high_pass(const Design& design) noexcept {
    return from(design, {.fastest = 1});
  }
  /// Gain 1 at the centre frequency; half the power passes at a distance of about f/(2 Q).
  [[nodiscard]] static Result<BasicBiquad> band_pass(const Design& design) noexcept {
    return from(design, {.middle = 1});
  }
  /// Gain 0 at the centre frequency, 1 far from it.
  [[nodiscard]] static Result<BasicBiquad> notch(const Design& design) noexcept {
    return from(design, {.steady = 1, .fastest = 1});
  }

  /// Filters one sample. The first sample counts as if it had been there always, so the filter has no
  /// start-up transient. Errors: not_finite (also an overflow). The sample is then ignored, and the value is
  /// the last one.
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

  /// The last output.
  [[nodiscard]] Scalar value() const noexcept { return value_; }

  /// The next sample counts as the first again.
  void reset() noexcept { started_ = false; }

 private:
  /// The gains for a constant value, at half the sampling rate and at the centre frequency. Except for its
  /// phase, the denominator p0 + p1/z + p2/z^2 there equals 2 (1 - cos w), 2 (1 + cos w) and 2 alpha. These
  /// are p0 + p1 + p2, p0 - p1 + p2 and p0 - p2. The numerator has those of the three values that pass.
  struct Gains {
    double steady = 0;
    double fastest = 0;
    double middle = 0;
  };

  /// The three values of the denominator, divided by p0, determine frequency and damping. Rounding changes
  /// them by about one epsilon, which may be at most 1e-3 of each.
  static constexpr double smallest = 1e3 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());

  /// Computed in double; the half-angle formula keeps the digits of 1 - cos w.
  [[nodiscard]] static Result<BasicBiquad> from(const Design& design, const Gains& gains) noexcept {
    if (!std::isfinite(design.frequency) || !std::isfinite(design.quality)) return fail(Errc::not_finite);
    if (!is_period(design.period)) return fail(Errc::bad_period);
    const double turn = static_cast<double>(design.frequency) * static_cast<double>(design.period);
    if (!(turn > 0 && turn < 0.5) || !(design.quality > 0)) return fail(Errc::out_of_domain);
    const double s = std::sin(std::numbers::pi * turn);
    const double c = std::cos(std::numbers::pi * turn);
    const double alpha = s * c / static_cast<double>(design.quality);
    const double steady = 4 * s * s / (1 + alpha);
    const double fastest = 4 * c * c / (1 + alpha);
    const double middle = 2 * alpha / (1 + alpha);
    if (!(std::min({steady, fastest, middle}) >= smallest)) return fail(Errc::out_of_domain);
    BasicBiquad filter;
    filter.b_ = polynomial(gains.steady * steady, gains.fastest * fastest, gains.middle * middle);
    const auto a = polynomial(steady, fastest, middle);
    filter.a_ = {a[1], a[2]};
    return filter;
  }

  /// The polynomial with these p0 + p1 + p2, p0 - p1 + p2 and p0 - p2.
  [[nodiscard]] static std::array<Scalar, 3> polynomial(double steady, double fastest,
                                                        double middle) noexcept {
    const double even = (steady + fastest) / 2;
    return {static_cast<Scalar>((even + middle) / 2), static_cast<Scalar>((steady - fastest) / 2),
            static_cast<Scalar>((even - middle) / 2)};
  }

  /// The state after infinitely many samples x.
  void settle(Scalar x) noexcept {
    const Scalar gain = (b_[0] + b_[1] + b_[2]) / (1 + a_[0] + a_[1]);
    s2_ = (b_[2] - a_[1] * gain) * x;
    s1_ = (gain - b_[0]) * x;
  }

  std::array<Scalar, 3> b_{1, 0, 0};
  std::array<Scalar, 2> a_{};
  Scalar s1_ = 0;
  Scalar s2_ = 0;
  Scalar value_ = 0;
  bool started_ = false;
};
using Biquad = BasicBiquad<double>;

/// Filters in series. A value; every function is real-time safe.
template <class Filter, std::size_t Count>
class FilterChain {
 public:
  using Step = decltype(std::declval<Filter&>().step({}));

  explicit FilterChain(const std::array<Filter, Count>& filters) noexcept : filters_(filters) {}

  /// Passes one sample through all filters. Errors: not_finite. The filter that fails and those after it then
  /// ignore the sample, and the value is the last output of the chain.
  Step step(decltype(Step::value) sample) noexcept {
    for (Filter& filter : filters_) {
      const Step next = filter.step(sample);
      if (!next.ok()) return {filters_.back().value(), next.error};
      sample = next.value;
    }
    return {sample, {}};
  }

  /// The next sample counts as the first again.
  void reset() noexcept {
    for (Filter& filter : filters_) filter.reset();
  }

 private:
  std::array<Filter, Count> filters_;
};

/// A Butterworth low-pass of order 2 Count: the flattest pass band of that order, and 12 Count dB per octave
/// beyond it. Errors: those of BasicBiquad::low_pass(). Real-time safe.
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
