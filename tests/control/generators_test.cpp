#include "takt/control/generators.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "support/random.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double pi = std::numbers::pi;

/// The derivatives that a signal returns are those of its values.
template <class Signal>
void derivatives_are_true(const Signal& signal, double from, double until) {
  const double h = 1e-5;
  for (double t = from + 3 * h; t < until - 3 * h; t += (until - from) / 97) {
    const MotionState before = signal.at(t - h), now = signal.at(t), after = signal.at(t + h);
    CHECK(now.velocity ==
          doctest::Approx((after.position - before.position) / (2 * h)).epsilon(1e-5).scale(1));
    CHECK(now.acceleration ==
          doctest::Approx((after.velocity - before.velocity) / (2 * h)).epsilon(1e-5).scale(1));
  }
}

}  // namespace

TEST_CASE("signals return their exact derivatives") {
  derivatives_are_true(Sinusoid::make({1, 0.5, 2, 0.3}).value(), 0, 1);
  derivatives_are_true(SineSweep::make(0.5, 1, 10, 2).value(), 0, 2);
  derivatives_are_true(SineSweep::make(0.5, 10, 1, 2).value(), 0, 2);
  derivatives_are_true(SineSweep::make(0.5, 3, 3, 2).value(), 0, 2);
  derivatives_are_true(Ramp::make(1, 3, 2).value(), 0, 2);
}

TEST_CASE("a sweep goes from its first frequency to its last, and ends") {
  const auto sweep = SineSweep::make(2, 1, 16, 4).value();
  CHECK(sweep.frequency(0) == 1);
  CHECK(sweep.frequency(1) == doctest::Approx(2));  // one octave in a quarter of four octaves
  CHECK(sweep.frequency(4) == doctest::Approx(16));
  CHECK(sweep.at(-1).position == 0);
  CHECK(sweep.at(9) == sweep.at(4));
  CHECK(sweep.at(9).velocity == 0);
  // Equal frequencies give the limit of nearly equal ones.
  const auto flat = SineSweep::make(1, 3, 3, 2).value();
  const auto nearly = SineSweep::make(1, 3, 3 * (1 + 1e-12), 2).value();
  CHECK(flat.at(1.3).position == doctest::Approx(std::sin(2 * pi * 3 * 1.3)));
  CHECK(nearly.at(1.3).position == doctest::Approx(flat.at(1.3).position).epsilon(1e-9));
}

TEST_CASE("signals that cannot be, or would overflow, are refused by name") {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nothing, infinity, -infinity}) {
    CHECK(Sinusoid::make({.offset = bad}).error() == Errc::not_finite);
    CHECK(Sinusoid::make({.amplitude = bad}).error() == Errc::not_finite);
    CHECK(Sinusoid::make({.frequency = bad}).error() == Errc::not_finite);
    CHECK(Sinusoid::make({.phase = bad}).error() == Errc::not_finite);
    CHECK(StepSignal::make(bad, 1).error() == Errc::not_finite);
    CHECK(StepSignal::make(1, bad).error() == Errc::not_finite);
    CHECK(Ramp::make(bad, 1, 1).error() == Errc::not_finite);
    CHECK(Ramp::make(1, bad, 1).error() == Errc::not_finite);
    CHECK(Ramp::make(1, 1, bad).error() == Errc::not_finite);
    CHECK(Dither::make(bad).error() == Errc::not_finite);
  }
  CHECK(Sinusoid::make({.amplitude = 1, .frequency = -1}).error() == Errc::out_of_domain);
  CHECK(Sinusoid::make({.amplitude = 1, .frequency = 1e200}).error() == Errc::out_of_domain);
  CHECK(Sinusoid::make({.offset = 1e308, .amplitude = 1e308}).error() == Errc::out_of_domain);
  CHECK(Ramp::make(0, 1, 0).error() == Errc::out_of_domain);
  CHECK(Ramp::make(0, 1, -1).error() == Errc::out_of_domain);
  CHECK(Ramp::make(-1e308, 1e308, 1).error() == Errc::out_of_domain);
  CHECK(Ramp::make(0, 1, 1e-310).error() == Errc::out_of_domain);
  CHECK(Dither::make(-1).error() == Errc::out_of_domain);
  CHECK(Dither::make(1e308).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(1, 1e-300, 1e300, 1).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(1, 1, 1e200, 1).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(1, 1, 2, 1e-310).error() == Errc::out_of_domain);
  const auto longest = Sinusoid::make({.amplitude = 1, .frequency = 1e3}).value();
  for (const double t : {1e308, nothing, infinity}) CHECK(longest.at(t) == longest.at(0));
}

TEST_CASE("sweeps that cannot be are refused by name") {
  CHECK(SineSweep::make(1, 0, 1, 1).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(1, 1, -1, 1).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(1, 1, 2, 0).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(std::nan(""), 1, 2, 1).error() == Errc::not_finite);
}

TEST_CASE("steps and ramps stand still before and after") {
  CHECK(StepSignal::make(1, 2)->at(0) == MotionState{1, 0, 0});
  CHECK(StepSignal::make(1, 2)->at(1e-9) == MotionState{2, 0, 0});
  CHECK(Ramp::make(1, 2, 4)->at(-1) == MotionState{1, 0, 0});
  CHECK(Ramp::make(1, 2, 4)->at(2) == MotionState{1.5, 0.25, 0});
  CHECK(Ramp::make(1, 2, 4)->at(5) == MotionState{2, 0, 0});
}

TEST_CASE("dither is Gaussian, white, and the same for the same seed") {
  auto dither = Dither::make(2, test::seed()).value();
  auto twin = Dither::make(2, test::seed()).value();
  auto other = Dither::make(2, test::seed() + 1).value();
  const int samples = 200000;
  double sum = 0, squares = 0, fourth = 0, neighbours = 0, last = 0, others = 0;
  for (int k = 0; k < samples; ++k) {
    const double x = dither.next();
    CHECK(std::isfinite(x));
    CHECK(x == twin.next());
    others += x * other.next();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    neighbours += x * last;
    last = x;
  }
  CHECK(std::abs(sum / samples) < 0.03);
  CHECK(squares / samples == doctest::Approx(4).epsilon(0.02));
  CHECK(fourth / samples == doctest::Approx(3 * 16).epsilon(0.06));
  CHECK(std::abs(neighbours / samples) < 0.06);
  CHECK(std::abs(others / samples) < 0.06);
}
