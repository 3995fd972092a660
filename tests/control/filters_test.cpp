// Tests low-pass filters, biquads and chains: their gains against their formulas, and their reaction to NaN
// and infinity.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "support/random.hpp"
#include "takt/control/biquad.hpp"
#include "takt/control/low_pass.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double pi = std::numbers::pi;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double period = 1e-3;

/// The gain of a filter for a sine of this frequency (Hz), after its transient.
template <class Filter>
double gain_at(Filter filter, double frequency) {
  double in_phase = 0;
  double quadrature = 0;
  const double turns = std::max(20.0, std::ceil(2 * frequency));
  const auto settle = static_cast<int>(std::llround(turns / frequency / period));
  const auto samples = static_cast<int>(std::llround(turns / frequency / period));
  for (int k = 0; k < settle + samples; ++k) {
    const double angle = 2 * pi * frequency * period * k;
    const double y = filter.step(std::sin(angle)).value;
    if (k < settle) continue;
    in_phase += y * std::sin(angle);
    quadrature += y * std::cos(angle);
  }
  return 2 * std::hypot(in_phase, quadrature) / samples;
}

/// The frequency to which the bilinear transform maps an analogue frequency, relative to the design
/// frequency.
double warped(double frequency, double design) {
  return std::tan(pi * frequency * period) / std::tan(pi * design * period);
}

}  // namespace

TEST_CASE("a low-pass answers a step as its time constant says, exactly") {
  auto filter = LowPass::from_time_constant(0.05, period).value();
  CHECK(filter.step(0).value == 0);
  for (int k = 1; k < 500; ++k)
    CHECK(filter.step(1).value == doctest::Approx(1 - std::exp(-k * period / 0.05)).epsilon(1e-12));
}

TEST_CASE("a filter starts with its first sample, not with zero") {
  auto low_pass = LowPass::from_weight(0.1).value();
  CHECK(low_pass.step(7).value == 7);
  auto biquad = Biquad::low_pass({.frequency = 10, .period = period}).value();
  for (int k = 0; k < 100; ++k) CHECK(biquad.step(7).value == doctest::Approx(7));
  auto high_pass = Biquad::high_pass({.frequency = 10, .period = period}).value();
  for (int k = 0; k < 100; ++k) CHECK(std::abs(high_pass.step(7).value) < 1e-9);
  high_pass.reset();
  CHECK(std::abs(high_pass.step(-3).value) < 1e-9);
}

TEST_CASE("biquads have the gains of their prototypes at every frequency") {
  for (const double design : {20.0, 100.0}) {
    for (const double quality : {0.5, 0.7071, 4.0}) {
      const Biquad::Design of{design, quality, period};
      for (const double frequency : {5.0, 20.0, 50.0, 100.0, 200.0, 400.0}) {
        const double x = warped(frequency, design);
        const std::complex<double> denominator(1 - x * x, x / quality);
        CHECK(gain_at(*Biquad::low_pass(of), frequency) ==
              doctest::Approx(1 / std::abs(denominator)).epsilon(0.02).scale(0.1));
        CHECK(gain_at(*Biquad::high_pass(of), frequency) ==
              doctest::Approx(x * x / std::abs(denominator)).epsilon(0.02).scale(0.1));
        CHECK(gain_at(*Biquad::band_pass(of), frequency) ==
              doctest::Approx(x / quality / std::abs(denominator)).epsilon(0.02).scale(0.1));
        CHECK(gain_at(*Biquad::notch(of), frequency) ==
              doctest::Approx(std::abs(1 - x * x) / std::abs(denominator)).epsilon(0.02).scale(0.1));
      }
    }
  }
}

TEST_CASE("a Butterworth chain falls as its order says") {
  const auto chain = butterworth<2>(50.0, period).value();
  for (const double frequency : {10.0, 50.0, 100.0, 200.0}) {
    const double wanted = 1 / std::sqrt(1 + std::pow(warped(frequency, 50), 8));
    CHECK(gain_at(chain, frequency) == doctest::Approx(wanted).epsilon(0.02).scale(0.02));
  }
}

TEST_CASE("samples that are no numbers do not count") {
  auto low_pass = LowPass::from_cutoff(10.0, period).value();
  auto notch = Biquad::notch({.frequency = 35, .quality = 4, .period = period}).value();
  auto chain = butterworth<2>(50.0, period).value();
  auto random = test::generator(1);
  double last_low = 0, last_notch = 0, last_chain = 0;
  for (int k = 0; k < 100; ++k) {
    const double x = test::uniform(random, -1, 1);
    last_low = low_pass.step(x).value;
    last_notch = notch.step(x).value;
    last_chain = chain.step(x).value;
    auto twin = notch;
    for (const double bad : {not_a_number, infinity, -infinity}) {
      CHECK(low_pass.step(bad).error == Errc::not_finite);
      CHECK(low_pass.step(bad).value == last_low);
      CHECK(notch.step(bad).error == Errc::not_finite);
      CHECK(notch.step(bad).value == last_notch);
      CHECK(chain.step(bad).error == Errc::not_finite);
      CHECK(chain.step(bad).value == last_chain);
    }
    CHECK(twin.step(0.5).value == Biquad(notch).step(0.5).value);
  }
  CHECK(notch.step(1e308).error == Errc::not_finite);
}

TEST_CASE_TEMPLATE(
    "a filter whose cut-off is lost in rounding is refused, and every other one passes what it should",
    Scalar, double, float) {
  using Filter = BasicBiquad<Scalar>;
  auto random = test::generator(5);
  const Scalar h = Scalar(0.001);
  std::size_t made = 0;
  for (std::size_t i = 0; i < test::count(400); ++i) {
    const Scalar frequency = static_cast<Scalar>(std::pow(10, test::uniform(random, -2, 2.69)));
    const Scalar quality = static_cast<Scalar>(std::pow(10, test::uniform(random, -1, 1)));
    CAPTURE(frequency);
    CAPTURE(quality);
    const typename Filter::Design design{frequency, quality, h};
    for (const auto& filter : {Filter::low_pass(design), Filter::notch(design)}) {
      if (!filter) {
        CHECK(filter.error() == Errc::out_of_domain);
        continue;
      }
      ++made;
      auto settled = *filter;
      CHECK(settled.step(3).value == doctest::Approx(3).epsilon(1e-3));
      auto stepped = *filter;
      stepped.step(0);
      // Until the slowest pole has decayed; its time constant is at most Q' / (pi f) with Q' = max(2 Q, 1/Q).
      const double time = 20 *
                          std::max(2.0 * static_cast<double>(quality), 1 / static_cast<double>(quality)) /
                          (pi * static_cast<double>(frequency));
      Scalar last = 0;
      for (int k = 0; k < static_cast<int>(std::min(time, 1e3) / 1e-3) + 100; ++k)
        last = stepped.step(1).value;
      if (time < 1e3) CHECK(last == doctest::Approx(1).epsilon(5e-3));
    }
    for (const auto& filter : {Filter::high_pass(design), Filter::band_pass(design)}) {
      if (!filter) continue;
      auto settled = *filter;
      CHECK(std::abs(settled.step(3).value) < Scalar(1e-3));
    }
  }
  CHECK(made > test::count(400) / 2);
  CHECK(BasicBiquad<float>::low_pass({.frequency = 2, .period = 0.001F}).has_value());
  CHECK(BasicBiquad<float>::low_pass({.frequency = 1, .period = 0.001F}).error() == Errc::out_of_domain);
  CHECK(butterworth<2>(0.1F, 0.001F).error() == Errc::out_of_domain);
  CHECK(Biquad::low_pass({.frequency = 1e-3, .period = period}).value().step(1).value == doctest::Approx(1));
  CHECK(Biquad::low_pass({.frequency = 1e-6, .period = period}).error() == Errc::out_of_domain);
  CHECK(Biquad::low_pass({.frequency = 10, .quality = 1e-320, .period = period}).error() ==
        Errc::out_of_domain);
  CHECK(Biquad::notch({.frequency = 10, .quality = 1e300, .period = period}).error() == Errc::out_of_domain);
}

TEST_CASE("a sample that would overflow a low-pass does not count, and the filter lives on") {
  auto filter = LowPass::from_weight(0.5).value();
  filter.step(1e308);
  const Step overflow = filter.step(-1e308);
  CHECK(overflow.error == Errc::not_finite);
  CHECK(overflow.value == 1e308);
  CHECK(filter.step(0).value == 0.5e308);
}

TEST_CASE("filters that cannot be are refused by name") {
  CHECK(LowPass::from_weight(0.0).error() == Errc::out_of_domain);
  CHECK(LowPass::from_weight(1.1).error() == Errc::out_of_domain);
  CHECK(LowPass::from_weight(not_a_number).error() == Errc::not_finite);
  CHECK(LowPass::from_time_constant(0.0, period).value().step(3).value == 3);
  CHECK(LowPass::from_time_constant(-1.0, period).error() == Errc::out_of_domain);
  CHECK(LowPass::from_time_constant(1.0, 0.0).error() == Errc::bad_period);
  CHECK(LowPass::from_cutoff(0.0, period).error() == Errc::out_of_domain);
  CHECK(Biquad::low_pass({.frequency = 500, .period = period}).error() == Errc::out_of_domain);
  CHECK(Biquad::low_pass({.frequency = 0, .period = period}).error() == Errc::out_of_domain);
  CHECK(Biquad::low_pass({.frequency = 10, .quality = 0, .period = period}).error() == Errc::out_of_domain);
  CHECK(Biquad::low_pass({.frequency = 10}).error() == Errc::bad_period);
  CHECK(Biquad::notch({.frequency = not_a_number, .period = period}).error() == Errc::not_finite);
}
