// Test signals with their derivatives: what one sends through a joint to get to know it. Times are seconds from the signal's start;
// before it, and where a signal has ended, the value stands still; a sinusoid has neither end. A time that is no number counts as the
// start. Values; every function is real-time safe.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "takt/control/error.hpp"
#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"

namespace takt::control {

/// offset + amplitude sin(2 pi f t + phase).
template <class Scalar>
struct BasicSinusoid {
  Scalar offset = 0;
  Scalar amplitude = 0;
  Scalar frequency = 0;  ///< Hz
  Scalar phase = 0;      ///< rad

  [[nodiscard]] BasicMotionState<Scalar> at(Scalar t) const noexcept {
    if (!std::isfinite(t)) t = 0;
    const Scalar w = 2 * std::numbers::pi_v<Scalar> * frequency;
    const Scalar angle = w * t + phase;
    const Scalar s = amplitude * std::sin(angle);
    return {offset + s, w * amplitude * std::cos(angle), -w * w * s};
  }
};
using Sinusoid = BasicSinusoid<double>;

/// A sine whose frequency grows, or falls, exponentially: as long in each octave, which identification wants.
///     A sin(2 pi f0 L (e^(t/L) - 1)),   L = duration / ln(f1/f0)      (Farina, 2000); for f1 = f0 the limit A sin(2 pi f0 t)
template <class Scalar>
class BasicSineSweep {
 public:
  /// Frequencies in Hz, duration in s. Errors: not_finite, out_of_domain (a frequency or the duration is not positive).
  [[nodiscard]] static Result<BasicSineSweep> make(Scalar amplitude, Scalar first, Scalar last,
                                                   Scalar duration) noexcept {
    for (const Scalar number : {amplitude, first, last, duration}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
    }
    if (!(first > 0) || !(last > 0) || !(duration > 0)) return fail(Errc::out_of_domain);
    return BasicSineSweep(amplitude, first, std::log(last / first) / duration, duration);
  }

  [[nodiscard]] BasicMotionState<Scalar> at(Scalar t) const noexcept {
    if (!(t > 0)) t = 0;
    if (t > duration_) t = duration_;
    const Scalar w0 = 2 * std::numbers::pi_v<Scalar> * first_;
    const Scalar growth = growth_ * t;
    // (e^x - 1)/x is precise for every x but zero.
    const Scalar angle = w0 * t * (growth != 0 ? std::expm1(growth) / growth : Scalar(1));
    const Scalar w = w0 * std::exp(growth);
    const Scalar s = amplitude_ * std::sin(angle);
    const Scalar c = amplitude_ * std::cos(angle);
    if (t == duration_) return {s, 0, 0};
    return {s, w * c, growth_ * w * c - w * w * s};
  }

  /// Hz at t.
  [[nodiscard]] Scalar frequency(Scalar t) const noexcept { return first_ * std::exp(growth_ * t); }

 private:
  BasicSineSweep(Scalar amplitude, Scalar first, Scalar growth, Scalar duration) noexcept
      : amplitude_(amplitude), first_(first), growth_(growth), duration_(duration) {}

  Scalar amplitude_;
  Scalar first_;
  Scalar growth_;  ///< 1/s
  Scalar duration_;
};
using SineSweep = BasicSineSweep<double>;

/// From one value to another at once.
template <class Scalar>
struct BasicStepSignal {
  Scalar from = 0;
  Scalar to = 0;

  [[nodiscard]] BasicMotionState<Scalar> at(Scalar t) const noexcept { return {t > 0 ? to : from, 0, 0}; }
};
using StepSignal = BasicStepSignal<double>;

/// From one value to another in a time that is above zero.
template <class Scalar>
struct BasicRamp {
  Scalar from = 0;
  Scalar to = 0;
  Scalar duration = 1;  ///< s

  [[nodiscard]] BasicMotionState<Scalar> at(Scalar t) const noexcept {
    if (!(t > 0)) return {from, 0, 0};
    if (t >= duration) return {to, 0, 0};
    return {from + (to - from) * (t / duration), (to - from) / duration, 0};
  }
};
using Ramp = BasicRamp<double>;

/// White Gaussian noise, against stiction and for identification. The same seed gives the same numbers everywhere (up to the
/// last digit of the platform's log and cos).
template <class Scalar>
class BasicDither {
 public:
  explicit BasicDither(Scalar standard_deviation, std::uint64_t seed = 1) noexcept
      : deviation_(standard_deviation), state_(seed) {}

  /// The next sample. Box and Muller's transform: a fixed number of operations, no rejection.
  [[nodiscard]] Scalar next() noexcept {
    const Scalar radius = std::sqrt(-2 * std::log(uniform()));
    return deviation_ * radius * std::cos(2 * std::numbers::pi_v<Scalar> * uniform());
  }

 private:
  /// In (0, 1]. Splitmix64 (Steele, Lea & Flood, 2014): a word of state, any seed is good.
  [[nodiscard]] Scalar uniform() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    // As many bits as the number holds, and never zero.
    constexpr int digits = std::numeric_limits<Scalar>::digits - 1;
    return (static_cast<Scalar>(z >> (64 - digits)) + 1) / static_cast<Scalar>(std::uint64_t{1} << digits);
  }

  Scalar deviation_;
  std::uint64_t state_;
};
using Dither = BasicDither<double>;

}  // namespace takt::control
