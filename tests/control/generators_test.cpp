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

/// The derivatives that a signal tells are those that it has.
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

TEST_CASE("signals tell their true derivatives") {
  derivatives_are_true(Sinusoid{1, 0.5, 2, 0.3}, 0, 1);
  derivatives_are_true(SineSweep::make(0.5, 1, 10, 2).value(), 0, 2);
  derivatives_are_true(SineSweep::make(0.5, 10, 1, 2).value(), 0, 2);
  derivatives_are_true(SineSweep::make(0.5, 3, 3, 2).value(), 0, 2);
  derivatives_are_true(Ramp{1, 3, 2}, 0, 2);
}

TEST_CASE("a sweep goes from its first frequency to its last, and ends") {
  const auto sweep = SineSweep::make(2, 1, 16, 4).value();
  CHECK(sweep.frequency(0) == 1);
  CHECK(sweep.frequency(1) == doctest::Approx(2));  // an octave in a quarter of four octaves
  CHECK(sweep.frequency(4) == doctest::Approx(16));
  CHECK(sweep.at(-1).position == 0);
  CHECK(sweep.at(9) == sweep.at(4));
  CHECK(sweep.at(9).velocity == 0);
  // Equal frequencies are the limit of nearly equal ones.
  const auto flat = SineSweep::make(1, 3, 3, 2).value();
  const auto nearly = SineSweep::make(1, 3, 3 * (1 + 1e-12), 2).value();
  CHECK(flat.at(1.3).position == doctest::Approx(std::sin(2 * pi * 3 * 1.3)));
  CHECK(nearly.at(1.3).position == doctest::Approx(flat.at(1.3).position).epsilon(1e-9));
}

TEST_CASE("sweeps that cannot be are refused by name") {
  CHECK(SineSweep::make(1, 0, 1, 1).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(1, 1, -1, 1).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(1, 1, 2, 0).error() == Errc::out_of_domain);
  CHECK(SineSweep::make(std::nan(""), 1, 2, 1).error() == Errc::not_finite);
}

TEST_CASE("steps and ramps stand still before and after") {
  CHECK(StepSignal{1, 2}.at(0) == MotionState{1, 0, 0});
  CHECK(StepSignal{1, 2}.at(1e-9) == MotionState{2, 0, 0});
  CHECK(Ramp{1, 2, 4}.at(-1) == MotionState{1, 0, 0});
  CHECK(Ramp{1, 2, 4}.at(2) == MotionState{1.5, 0.25, 0});
  CHECK(Ramp{1, 2, 4}.at(5) == MotionState{2, 0, 0});
}

TEST_CASE("dither is Gaussian, white, and the same for the same seed") {
  Dither dither(2, test::seed());
  Dither twin(2, test::seed());
  Dither other(2, test::seed() + 1);
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
