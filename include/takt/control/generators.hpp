// Test signals with their derivatives, for the identification of a joint. Times are seconds from the signal's
// start. Before its start and after its end a signal keeps its value; a sinusoid has neither. A time of NaN
// counts as the start. The output of a successfully made signal is always finite. All signals are values;
// every function is real-time safe.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "takt/control/error.hpp"
#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"

namespace takt::control {

/// The signal offset + amplitude sin(2 pi f t + phase).
template <class Scalar>
class BasicSinusoid {
 public:
  /// The parameters of the signal; offset and amplitude in units of the value.
  struct Configuration {
    Scalar offset = 0;
    Scalar amplitude = 0;
    Scalar frequency = 0;  ///< Hz; >= 0
    Scalar phase = 0;      ///< rad
  };

  /// Errors: not_finite; out_of_domain (a frequency < 0, or numbers so large that an acceleration would
  /// overflow).
  [[nodiscard]] static Result<BasicSinusoid> make(const Configuration& c) noexcept {
    for (const Scalar number : {c.offset, c.amplitude, c.frequency, c.phase}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
    }
    const Scalar w = 2 * std::numbers::pi_v<Scalar> * c.frequency;
    const bool finite = std::isfinite(std::abs(c.offset) + std::abs(c.amplitude)) && std::isfinite(w * w) &&
                        std::isfinite(w * w * c.amplitude);
    if (c.frequency < 0 || !finite) return fail(Errc::out_of_domain);
    return BasicSinusoid(c);
  }

  /// Position, velocity and acceleration at t seconds. A time so long that the angle overflows counts as the
  /// start.
  [[nodiscard]] BasicMotionState<Scalar> at(Scalar t) const noexcept {
    const Scalar w = 2 * std::numbers::pi_v<Scalar> * c_.frequency;
    const Scalar angle = std::isfinite(w * t + c_.phase) ? w * t + c_.phase : c_.phase;
    const Scalar s = c_.amplitude * std::sin(angle);
    return {c_.offset + s, w * c_.amplitude * std::cos(angle), -w * w * s};
  }

 private:
  explicit BasicSinusoid(const Configuration& c) noexcept : c_(c) {}

  Configuration c_;
};
using Sinusoid = BasicSinusoid<double>;

/// A sine whose frequency rises or falls exponentially. It spends equal time in each octave, as
/// identification requires.
///   A sin(2 pi f0 L (e^(t/L) - 1)),   L = duration / ln(f1/f0)   (Farina, 2000)
/// For f1 = f0 it is the limit A sin(2 pi f0 t).
template <class Scalar>
class BasicSineSweep {
 public:
  /// Frequencies in Hz, duration in s. Errors: not_finite; out_of_domain (a frequency or the duration is <=
  /// 0, or the angle or an acceleration would overflow).
  [[nodiscard]] static Result<BasicSineSweep> make(Scalar amplitude, Scalar first, Scalar last,
                                                   Scalar duration) noexcept {
    for (const Scalar number : {amplitude, first, last, duration}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
    }
    if (!(first > 0) || !(last > 0) || !(duration > 0)) return fail(Errc::out_of_domain);
    const Scalar ratio = last / first;
    const Scalar growth = std::log(ratio) / duration;
    const Scalar w = 2 * std::numbers::pi_v<Scalar> * std::max(first, last);
    for (const Scalar number :
         {ratio, growth, w * w, w * duration, w * w * amplitude, growth * w * amplitude}) {
      if (!std::isfinite(number)) return fail(Errc::out_of_domain);
    }
    return BasicSineSweep(amplitude, first, growth, duration);
  }

  /// Position, velocity and acceleration at t seconds.
  [[nodiscard]] BasicMotionState<Scalar> at(Scalar t) const noexcept {
    t = within(t);
    const Scalar w0 = 2 * std::numbers::pi_v<Scalar> * first_;
    const Scalar growth = growth_ * t;
    // (e^x - 1)/x is precise for every x except zero.
    const Scalar angle = w0 * t * (growth != 0 ? std::expm1(growth) / growth : Scalar(1));
    const Scalar w = w0 * std::exp(growth);
    const Scalar s = amplitude_ * std::sin(angle);
    const Scalar c = amplitude_ * std::cos(angle);
    if (t == duration_) return {s, 0, 0};
    return {s, w * c, growth_ * w * c - w * w * s};
  }

  /// The frequency in Hz at t seconds.
  [[nodiscard]] Scalar frequency(Scalar t) const noexcept { return first_ * std::exp(growth_ * within(t)); }

 private:
  BasicSineSweep(Scalar amplitude, Scalar first, Scalar growth, Scalar duration) noexcept
      : amplitude_(amplitude), first_(first), growth_(growth), duration_(duration) {}

  [[nodiscard]] Scalar within(Scalar t) const noexcept { return t > 0 ? std::min(t, duration_) : Scalar(0); }

  Scalar amplitude_;
  Scalar first_;
  Scalar growth_;  ///< 1/s
  Scalar duration_;
};
using SineSweep = BasicSineSweep<double>;

/// A step from one value to another.
template <class Scalar>
class BasicStepSignal {
 public:
  /// Errors: not_finite.
  [[nodiscard]] static Result<BasicStepSignal> make(Scalar from, Scalar to) noexcept {
    if (!std::isfinite(from) || !std::isfinite(to)) return fail(Errc::not_finite);
    return BasicStepSignal(from, to);
  }

  /// Position, velocity and acceleration at t seconds; the derivatives are zero.
  [[nodiscard]] BasicMotionState<Scalar> at(Scalar t) const noexcept { return {t > 0 ? to_ : from_, 0, 0}; }

 private:
  BasicStepSignal(Scalar from, Scalar to) noexcept : from_(from), to_(to) {}

  Scalar from_;
  Scalar to_;
};
using StepSignal = BasicStepSignal<double>;

/// A ramp from one value to another.
template <class Scalar>
class BasicRamp {
 public:
  /// Duration in s. Errors: not_finite; out_of_domain (a duration <= 0, or a velocity that would overflow).
  [[nodiscard]] static Result<BasicRamp> make(Scalar from, Scalar to, Scalar duration) noexcept {
    for (const Scalar number : {from, to, duration}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
    }
    if (!(duration > 0) || !std::isfinite(to - from) || !std::isfinite((to - from) / duration))
      return fail(Errc::out_of_domain);
    return BasicRamp(from, to, duration);
  }

  /// Position, velocity and acceleration at t seconds; the acceleration is zero.
  [[nodiscard]] BasicMotionState<Scalar> at(Scalar t) const noexcept {
    if (!(t > 0)) return {from_, 0, 0};
    if (t >= duration_) return {to_, 0, 0};
    return {from_ + (to_ - from_) * (t / duration_), (to_ - from_) / duration_, 0};
  }

 private:
  BasicRamp(Scalar from, Scalar to, Scalar duration) noexcept : from_(from), to_(to), duration_(duration) {}

  Scalar from_;
  Scalar to_;
  Scalar duration_;
};
using Ramp = BasicRamp<double>;

/// White Gaussian noise, against stiction and for identification. The same seed gives the same numbers on
/// every platform, up to the last digit of its log and cos.
template <class Scalar>
class BasicDither {
 public:
  /// Errors: not_finite; out_of_domain (a deviation < 0, or one so large that a sample could overflow).
  [[nodiscard]] static Result<BasicDither> make(Scalar standard_deviation, std::uint64_t seed = 1) noexcept {
    if (!std::isfinite(standard_deviation)) return fail(Errc::not_finite);
    // The magnitude of a sample is at most sqrt(2 ln 2^digits) deviations.
    if (standard_deviation < 0 || !std::isfinite(10 * standard_deviation)) return fail(Errc::out_of_domain);
    return BasicDither(standard_deviation, seed);
  }

  /// The next sample, by the transform of Box and Muller: a fixed number of operations, no rejection.
  [[nodiscard]] Scalar next() noexcept {
    const Scalar radius = std::sqrt(-2 * std::log(uniform()));
    return deviation_ * radius * std::cos(2 * std::numbers::pi_v<Scalar> * uniform());
  }

 private:
  BasicDither(Scalar standard_deviation, std::uint64_t seed) noexcept
      : deviation_(standard_deviation), state_(seed) {}

  /// A number in (0, 1], by Splitmix64 (Steele, Lea & Flood, 2014): one word of state, any seed is good.
  [[nodiscard]] Scalar uniform() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    // As many bits as the mantissa holds, and never zero.
    constexpr int digits = std::numeric_limits<Scalar>::digits - 1;
    return (static_cast<Scalar>(z >> (64 - digits)) + 1) / static_cast<Scalar>(std::uint64_t{1} << digits);
  }

  Scalar deviation_;
  std::uint64_t state_;
};
using Dither = BasicDither<double>;

}  // namespace takt::control
