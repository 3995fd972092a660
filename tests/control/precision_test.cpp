// Single precision, for boards without double: compares each class of this room with itself in double over
// the same numbers. The promises of the limiters are tested in both precisions in invariants_test.cpp.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "support/random.hpp"
#include "takt/control/biquad.hpp"
#include "takt/control/generators.hpp"
#include "takt/control/limited_proxy.hpp"
#include "takt/control/low_pass.hpp"
#include "takt/control/pid.hpp"
#include "takt/control/transmission.hpp"

using namespace takt;
using namespace takt::control;

namespace {

/// Both receive the same samples, with a new set-point r every `hold` steps; `step(object, r, y)` returns the
/// outputs.
template <class Wide, class Narrow, class Step>
void same(const std::string& name, Wide wide, Narrow narrow, Step step, double tolerance, int hold = 1) {
  CAPTURE(name);
  auto random = test::generator(1);
  float r = 0;
  for (int k = 0; k < 1000; ++k) {
    if (k % hold == 0) r = static_cast<float>(test::uniform(random, -1, 1));
    const auto y = static_cast<float>(test::uniform(random, -1, 1));
    const auto exact = step(wide, static_cast<double>(r), static_cast<double>(y));
    const auto rounded = step(narrow, r, y);
    REQUIRE(exact.ok());
    REQUIRE(rounded.ok());
    REQUIRE(std::abs(static_cast<double>(rounded.value) - exact.value) <=
            tolerance * (1 + std::abs(exact.value)));
  }
}

template <class Signal, class Narrow>
void same_signal(const Signal& wide, const Narrow& narrow) {
  for (int k = 0; k < 200; ++k) {
    const float t = 0.01F * static_cast<float>(k);
    const auto exact = wide.at(static_cast<double>(t));
    const auto rounded = narrow.at(t);
    CHECK(std::abs(static_cast<double>(rounded.position) - exact.position) <= 1e-4);
    CHECK(std::abs(static_cast<double>(rounded.velocity) - exact.velocity) <= 1e-3);
    CHECK(std::abs(static_cast<double>(rounded.acceleration) - exact.acceleration) <=
          1e-3 * (1 + std::abs(exact.acceleration)));
  }
}

template <PidForm form>
void same_pid(const std::string& name) {
  const auto made = []<class Scalar>(Scalar) {
    return *BasicPid<Scalar, form>::make({.proportional = 2,
                                          .integral = 3,
                                          .derivative = Scalar(0.01),
                                          .derivative_weight = 1,
                                          .integral_min = -1,
                                          .integral_max = 1,
                                          .output_min = -3,
                                          .output_max = 3});
  };
  same(
      name, made(0.0), made(0.0F),
      [](auto& pid, auto r, auto y) { return pid.step(r, y, decltype(r)(0.01)); }, 1e-4);
}

}  // namespace

TEST_CASE("filters, PIDs and proxies do in float what they do in double") {
  const auto filter = [](auto& own, auto r, auto) { return own.step(r); };
  same("low pass", *LowPass::from_cutoff(10.0, 0.001), *BasicLowPass<float>::from_cutoff(10.0F, 0.001F),
       filter, 1e-5);
  const Biquad::Design wide{.frequency = 40, .quality = 2, .period = 0.001};
  const BasicBiquad<float>::Design narrow{.frequency = 40, .quality = 2, .period = 0.001F};
  same("low", *Biquad::low_pass(wide), *BasicBiquad<float>::low_pass(narrow), filter, 1e-4);
  same("high", *Biquad::high_pass(wide), *BasicBiquad<float>::high_pass(narrow), filter, 1e-4);
  same("band", *Biquad::band_pass(wide), *BasicBiquad<float>::band_pass(narrow), filter, 1e-4);
  same("notch", *Biquad::notch(wide), *BasicBiquad<float>::notch(narrow), filter, 1e-4);
  same("chain", *butterworth<2>(50.0, 0.001), *butterworth<2>(50.0F, 0.001F), filter, 1e-4);

  same_pid<PidForm{}>("takt");
  same_pid<conventions::ros1>("ros1");
  same_pid<conventions::ros1_anti_windup>("ros1_anti_windup");
  same_pid<conventions::ros2>("ros2");
  same_pid<conventions::ros2_back_calculation>("ros2_back_calculation");

  const auto proxy = []<class Scalar>(Scalar) {
    typename BasicLimitedProxy<Scalar>::Configuration c;
    c.limits.velocity = 1;
    c.limits.acceleration = 5;
    c.limits.effort = 1000;  // never reached, because rounding would decide when
    c.bandwidth = 20;
    c.mass = Scalar(0.5);
    c.stiffness = 100;
    c.damping = 10;
    return *BasicLimitedProxy<Scalar>::make(c);
  };
  // Each set-point holds for 50 steps. A new random one in each step would let the braking law amplify any
  // difference. Two proxies in double that start 3e-8 apart would then differ by up to 0.07 after 1000 steps
  // (3000 seeds). With held set-points such a difference stays below 2e-5. In float the position's rounding
  // over the squared period remains, 7e-4 at worst (3000 seeds).
  same(
      "proxy", proxy(0.0), proxy(0.0F),
      [](auto& own, auto r, auto y) {
        return own.step({r, 0, 0}, {y, 0, 0}, decltype(r)(0.01));
      },
      1e-3, 50);
}

TEST_CASE("test signals are in float what they are in double") {
  same_signal(*Sinusoid::make({1, 0.5, 2, 0.25}), *BasicSinusoid<float>::make({1, 0.5F, 2, 0.25F}));
  same_signal(*SineSweep::make(0.5, 1, 4, 2), *BasicSineSweep<float>::make(0.5F, 1, 4, 2));
  same_signal(*Ramp::make(1, 3, 2), *BasicRamp<float>::make(1, 3, 2));
  same_signal(*StepSignal::make(1, 3), *BasicStepSignal<float>::make(1, 3));
  auto dither = *BasicDither<float>::make(2, test::seed());
  double sum = 0, squares = 0;
  const int samples = 50000;
  for (int k = 0; k < samples; ++k) {
    const auto x = static_cast<double>(dither.next());
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / samples) < 0.05);
  CHECK(squares / samples == doctest::Approx(4).epsilon(0.04));
}

TEST_CASE("transmissions go both ways in float and keep the power") {
  const auto both_ways = []<std::size_t Size>(const BasicTransmission<float, Size>& transmission) {
    std::array<float, Size> actuators{}, efforts{};
    for (std::size_t i = 0; i < Size; ++i) {
      actuators[i] = 1 + static_cast<float>(i);
      efforts[i] = 3 - static_cast<float>(i);
    }
    const auto back = transmission.actuator_positions(transmission.joint_positions(actuators));
    const auto joint_velocities = transmission.joint_velocities(actuators);
    const auto joint_efforts = transmission.joint_efforts(efforts);
    float here = 0, there = 0;
    for (std::size_t i = 0; i < Size; ++i) {
      CHECK(back[i] == doctest::Approx(actuators[i]).epsilon(1e-4));
      here += actuators[i] * efforts[i];
      there += joint_velocities[i] * joint_efforts[i];
    }
    CHECK(here == doctest::Approx(there).epsilon(1e-4));
  };
  both_ways(simple_transmission(-50.0F, 0.5F).value());
  both_ways(differential_transmission<float>({10, -20}, {2, 3}, {0.1F, 0.2F}).value());
  both_ways(four_bar_transmission<float>({10, -20}, {2, 3}, {0.1F, 0.2F}).value());
  both_ways(BasicTransmission<float, 3>::make({1, 0.2F, 0, 0.1F, 1, 0.3F, 0, 0.2F, 1}).value());
}
