#include "takt/control/pid.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "control/pid_tables.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

PidGains any_gains(std::mt19937_64& random) {
  PidGains gains;
  gains.proportional = test::uniform(random, -5, 20);
  gains.integral = test::uniform_int(random, 0, 3) == 0 ? 0 : test::uniform(random, 0.1, 30);
  gains.derivative = test::uniform_int(random, 0, 3) == 0 ? 0 : test::uniform(random, 0.01, 1);
  gains.derivative_weight = 1;
  gains.integral_min = -test::uniform(random, 0, 3);
  gains.integral_max = test::uniform(random, 0, 3);
  gains.output_min = -test::uniform(random, 0.1, 10);
  gains.output_max = test::uniform(random, 0.1, 10);
  return gains;
}

// The conventions as their projects compute them, from facts about their code, each step as simple as
// possible.

struct Ros1 {
  PidGains g;
  bool anti_windup;
  double sum = 0, last = 0;

  double operator()(double e, double h) {
    const double slope = (e - last) / h;
    last = e;
    sum += h * e;
    if (anti_windup && g.integral != 0) {
      const double a = g.integral_min / g.integral;
      const double b = g.integral_max / g.integral;
      sum = std::clamp(sum, std::min(a, b), std::max(a, b));
    }
    double part = g.integral * sum;
    if (!anti_windup) part = std::clamp(part, g.integral_min, g.integral_max);
    return g.proportional * e + part + g.derivative * slope;
  }
};

struct Ros2 {
  PidGains g;
  AntiWindup strategy;
  double part = 0, last = 0;

  double operator()(double e, double h) {
    const double slope = (e - last) / h;
    last = e;
    const double wanted = g.proportional * e + part + g.derivative * slope;
    const double out = std::clamp(wanted, g.output_min, g.output_max);
    if (strategy == AntiWindup::back_calculation && g.integral != 0) {
      const double time =
          g.derivative != 0 ? std::sqrt(g.derivative / g.integral) : g.proportional / g.integral;
      part += h * (g.integral * e + 1 / time * (out - wanted));
    } else if (strategy == AntiWindup::hold_when_outward) {
      if (!(out != wanted && e * wanted > 0)) part += h * g.integral * e;
    } else if (strategy == AntiWindup::clamping) {
      part += h * g.integral * e;
    }
    part = std::clamp(part, g.integral_min, g.integral_max);
    return out;
  }
};

struct Dataspeed {
  PidGains g;
  double sum = 0, last = 0;

  double operator()(double e, double h) {
    const double next = sum + e * h;
    const double slope = (e - last) / h;
    double out = g.proportional * e + g.integral * sum + g.derivative * slope;
    if (out > g.output_max) {
      out = g.output_max;
    } else if (out < g.output_min) {
      out = g.output_min;
    } else {
      sum = next;
    }
    last = e;
    return out;
  }
};

/// Gives both the same errors and requires the same output, bit for bit.
template <PidForm form, class Peer>
void same_as(std::uint64_t salt, Peer peer_of, bool limits_integral, bool limits_output) {
  auto random = test::generator(salt);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    PidGains gains = any_gains(random);
    if (!limits_integral) gains.integral_min = -infinity, gains.integral_max = infinity;
    if (!limits_output) gains.output_min = -infinity, gains.output_max = infinity;
    if (form.anti_windup ==
        AntiWindup::back_calculation) {  // tracking times above the periods: others oscillate below them
      gains.proportional = std::abs(gains.proportional) + 0.1 + 0.1 * gains.integral;
      if (gains.derivative != 0) gains.derivative += 0.01 * gains.integral;
    }
    auto pid = BasicPid<double, form>::make(gains);
    REQUIRE(pid.has_value());
    auto peer = peer_of(gains);
    for (int k = 0; k < 50; ++k) {
      const double error = test::uniform(random, -2, 2);
      const double period = test::uniform(random, 1e-4, 0.1);
      const Step step = pid->step(error, 0, period);
      CHECK(step.ok());
      CHECK(step.value == peer(error, period));
    }
  }
}

/// The final value and the greatest overshoot of a mass with friction, x'' = u - 2 x', driven to 1.
struct Response {
  double end = 0;
  double overshoot = 0;
};
template <class Controller>
Response response(Controller& pid, double seconds) {
  Response seen;
  double x = 0;
  double v = 0;
  const double h = 1e-3;
  for (double t = 0; t < seconds; t += h) {
    const double u = pid.step(1, x, h).value;
    v += h * (u - 2 * v);
    x += h * v;
    seen.overshoot = std::max(seen.overshoot, x - 1);
  }
  seen.end = x;
  return seen;
}

TEST_CASE("without an integral gain, another controller's output and earlier gains leave nothing behind") {
  auto pid = Pid::make({.proportional = 10}).value();
  REQUIRE(pid.follow(5, 0, 0, 0.001).ok());
  CHECK(pid.step(0, 0, 0.001).value == 0);
  REQUIRE(pid.step(1, 0, 0.001).value == 10);
  REQUIRE(pid.change({.proportional = 20}, 1, 0));
  CHECK(pid.step(1, 0, 0.001).value == 20);
}

TEST_CASE("gains that are set keep the state, and the held output within their limits") {
  auto pid = Pid::make({.proportional = 40, .integral = 1}).value();
  REQUIRE(pid.step(1, 0, 0.001).value == 40 + 0.001);
  REQUIRE(pid.set({.proportional = 5, .integral = 1, .output_min = -10, .output_max = 10}));
  CHECK(pid.output() == 10);
  CHECK(pid.step(std::nan(""), 0, 0.001).value == 10);
  CHECK(pid.step(1, 1, 0.001).value == 0.001);
  CHECK_FALSE(pid.set({.proportional = std::nan("")}));
  CHECK(pid.step(1, 1, 0.001).value == 0.001);
}

TEST_CASE("the output is within its limits before the first good step, too") {
  auto pid = Pid::make({.proportional = 1, .output_min = 0.2, .output_max = 1}).value();
  CHECK(pid.step(0, std::nan(""), 0.001).value == 0.2);
  pid.reset();
  CHECK(pid.output() == 0.2);
}

TEST_CASE("limits of the integral that leave out zero are refused") {
  CHECK(Pid::make({.integral_min = 1}).error() == Errc::out_of_domain);
  CHECK_FALSE(Pid::make({.integral_max = -1}));
}

TEST_CASE("back-calculation faster than the period draws the integral back at once and does not swing") {
  constexpr PidForm form{Integration::backward_euler, AntiWindup::back_calculation, IntegralState::term,
                         false};
  for (const double tracking_time : {0.0, 4e-4, 1e-12}) {
    auto pid = BasicPid<double, form>::make({.proportional = 10,
                                             .integral = 1000,
                                             .derivative = 1e-4,
                                             .tracking_time = tracking_time,
                                             .output_min = -1,
                                             .output_max = 1})
                   .value();
    for (int i = 0; i < 1000; ++i) {
      REQUIRE(pid.step(1, 0, 0.001).value == 1);
      REQUIRE(std::abs(pid.integral_part()) <= 20);
    }
  }
}

}  // namespace

TEST_CASE("gains of ROS 1 give the numbers that they gave there") {
  same_as<conventions::ros1>(
      1,
      [](const PidGains& g) {
        return Ros1{g, false};
      },
      true, false);
  same_as<conventions::ros1_anti_windup>(
      2,
      [](const PidGains& g) {
        return Ros1{g, true};
      },
      true, false);
}

TEST_CASE("gains of ROS 2 give the numbers that they gave there") {
  const auto peer = [](AntiWindup strategy) {
    return [strategy](const PidGains& g) { return Ros2{g, strategy}; };
  };
  same_as<conventions::ros2>(3, peer(AntiWindup::clamping), true, true);
  same_as<conventions::ros2_conditional>(4, peer(AntiWindup::hold_when_outward), true, true);
  same_as<conventions::ros2_back_calculation>(5, peer(AntiWindup::back_calculation), true, true);
}

TEST_CASE("gains of the Furbot's controller give the numbers that they gave there") {
  same_as<conventions::dataspeed>(
      6, [](const PidGains& g) { return Dataspeed{g}; }, false, true);
}

TEST_CASE("the conventions against tables worked out by hand") {
  // Errors 1, 1, 2 every 0.5 s; kp 2, ki 4, kd 1. Every number is exact in binary.
  PidGains gains;
  gains.proportional = 2;
  gains.integral = 4;
  gains.derivative = 1;
  gains.derivative_weight = 1;
  const auto outputs = [](auto pid) {
    return std::array{pid->step(1, 0, 0.5).value, pid->step(1, 0, 0.5).value, pid->step(2, 0, 0.5).value};
  };
  SUBCASE("ROS 1: integrates first, derivative from zero at the first step") {
    CHECK(outputs(BasicPid<double, conventions::ros1>::make(gains)) == std::array{6.0, 6.0, 14.0});
  }
  SUBCASE("ROS 2: integrates last, derivative from zero at the first step") {
    CHECK(outputs(BasicPid<double, conventions::ros2>::make(gains)) == std::array{4.0, 4.0, 10.0});
  }
  SUBCASE("Dataspeed: integrates last, and not while the output is limited") {
    gains.output_max = 3;  // the first two outputs are limited, so nothing is integrated
    CHECK(outputs(BasicPid<double, conventions::dataspeed>::make(gains)) == std::array{3.0, 2.0, 3.0});
  }
  SUBCASE("takt's trapezoidal rule") {
    constexpr PidForm form{Integration::trapezoidal, AntiWindup::none, IntegralState::term, false};
    CHECK(outputs(BasicPid<double, form>::make(gains)) == std::array{4.0, 6.0, 13.0});
  }
}

TEST_CASE("the conventions against tables computed from their projects' formulas, bit for bit") {
  namespace tables = test::pid_tables;
  PidGains gains{.proportional = 2.3, .integral = 17.1, .derivative = 0.07, .derivative_weight = 1};
  const auto limited = [](PidGains g) {
    g.integral_min = -0.9;
    g.integral_max = 0.7;
    return g;
  };
  const auto saturated = [](PidGains g) {
    g.output_min = -3.1;
    g.output_max = 4.3;
    return g;
  };
  const auto outputs = [](auto pid) {
    auto out = tables::errors;
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = pid->step(tables::errors[k], 0, tables::periods[k]).value;
    return out;
  };
  CHECK(outputs(BasicPid<double, conventions::ros1>::make(limited(gains))) == tables::ros1);
  CHECK(outputs(BasicPid<double, conventions::ros1_anti_windup>::make(limited(gains))) ==
        tables::ros1_anti_windup);
  CHECK(outputs(BasicPid<double, conventions::dataspeed>::make(saturated(gains))) == tables::dataspeed);
  gains.dead_band = 0.02;
  const PidGains ros2 = saturated(limited(gains));
  CHECK(outputs(BasicPid<double, conventions::ros2>::make(ros2)) == tables::ros2);
  CHECK(outputs(BasicPid<double, conventions::ros2_conditional>::make(ros2)) == tables::ros2_conditional);
  using BackCalculation = BasicPid<double, conventions::ros2_back_calculation>;
  CHECK(outputs(BackCalculation::make(ros2)) == tables::ros2_back_calculation);
  auto other = ros2;
  other.tracking_time = 0.5;
  CHECK(outputs(BackCalculation::make(other)) == tables::ros2_back_calculation_slow);
  other = ros2;
  other.derivative = 0;
  CHECK(outputs(BackCalculation::make(other)) == tables::ros2_back_calculation_without_derivative);
  other = limited(gains);
  other.integral = -17.1;
  other.dead_band = 0;
  CHECK(outputs(BasicPid<double, conventions::ros1_anti_windup>::make(other)) ==
        tables::ros1_anti_windup_negative);
}

TEST_CASE("a plant is driven to its set-point without an error that stays") {
  auto pid = Pid::make({.proportional = 20, .integral = 8, .derivative = 6});
  const Response seen = response(*pid, 20);
  CHECK(seen.end == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("the closed loop of a proportional controller answers as the formula says") {
  // x' = u, u = k (1 - x): x(t) = 1 - exp(-k t); Euler makes it 1 - (1 - k h)^n.
  auto pid = Pid::make({.proportional = 3});
  double x = 0;
  const double h = 1e-3;
  for (int n = 1; n <= 2000; ++n) {
    x += h * pid->step(1, x, h).value;
    CHECK(x == doctest::Approx(1 - std::pow(1 - 3 * h, n)).epsilon(1e-12));
  }
}

TEST_CASE("a lower set-point weight takes the overshoot away") {
  PidGains gains{.proportional = 20, .integral = 40, .derivative = 6};
  auto full = Pid::make(gains);
  gains.setpoint_weight = 0.2;
  auto weighted = Pid::make(gains);
  const double before = response(*full, 10).overshoot;
  const double after = response(*weighted, 10).overshoot;
  CHECK(before > 0.05);
  CHECK(after < before / 2);
}

TEST_CASE("a step of the set-point does not kick through the derivative, unless it is weighted") {
  auto on_measurement = Pid::make({.derivative = 1});
  CHECK(on_measurement->step(0, 0, 0.01).value == 0);
  CHECK(on_measurement->step(1, 0, 0.01).value == 0);
  auto on_error = Pid::make({.derivative = 1, .derivative_weight = 1});
  CHECK(on_error->step(0, 0, 0.01).value == 0);
  CHECK(on_error->step(1, 0, 0.01).value == doctest::Approx(100));
}

TEST_CASE("the derivative of a ramp comes through its filter") {
  const double time_constant = 0.1;
  const double h = 1e-3;
  auto pid = Pid::make({.derivative = 2, .derivative_filter = time_constant});
  double value = 0;
  for (int k = 0; k <= 100; ++k) value = pid->step(0, -0.5 * h * k, h).value;
  // Backward Euler of 1/(T s + 1): 1 - (T/(T + h))^n of the slope.
  const double risen = 1 - std::pow(time_constant / (time_constant + h), 100);
  CHECK(value == doctest::Approx(2 * 0.5 * risen).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("after a long saturation the output leaves its limit soon", Pid,
                   BasicPid<double, PidForm{.anti_windup = AntiWindup::hold_when_deeper}>,
                   BasicPid<double, PidForm{.anti_windup = AntiWindup::hold_when_saturated}>,
                   BasicPid<double, PidForm{.anti_windup = AntiWindup::hold_when_outward}>,
                   BasicPid<double, PidForm{.anti_windup = AntiWindup::back_calculation}>,
                   BasicPid<double, PidForm{.anti_windup = AntiWindup::hold_when_deeper,
                                            .integral = IntegralState::error}>) {
  auto pid =
      Pid::make({.proportional = 1, .integral = 10, .tracking_time = 0.1, .output_min = -1, .output_max = 1});
  for (int k = 0; k < 10000; ++k) static_cast<void>(pid->step(5, 0, 0.01));
  int steps = 0;
  while (pid->step(-0.5, 0, 0.01).value > 0 && steps < 1000) ++steps;
  CHECK(steps < 70);
}

TEST_CASE("without anti-windup it does not: the check above bites") {
  auto pid = BasicPid<double, PidForm{.anti_windup = AntiWindup::none}>::make(
      {.proportional = 1, .integral = 10, .output_min = -1, .output_max = 1});
  for (int k = 0; k < 10000; ++k) static_cast<void>(pid->step(5, 0, 0.01));
  int steps = 0;
  while (pid->step(-0.5, 0, 0.01).value > 0 && steps < 1000) ++steps;
  CHECK(steps == 1000);
}

TEST_CASE("errors within the dead band are not integrated") {
  auto pid = Pid::make({.integral = 1, .dead_band = 0.1});
  CHECK(pid->step(0.1, 0, 1).value == 0);
  CHECK(pid->step(-0.1, 0, 1).value == 0);
  CHECK(pid->step(0.2, 0, 1).value == doctest::Approx(0.2));
}

TEST_CASE("feed-forward is added, within the output limits") {
  auto pid = Pid::make({.proportional = 1, .output_min = -2, .output_max = 2});
  CHECK(pid->step(1, 0, 0.1, 0.5).value == 1.5);
  CHECK(pid->step(1, 0, 0.1, 7).value == 2);
}

TEST_CASE("the output goes on without a bump when automatic control takes over") {
  auto random = test::generator(7);
  for (std::size_t i = 0; i < test::count(500); ++i) {
    PidGains gains{.proportional = test::uniform(random, 0, 5),
                   .integral = test::uniform(random, 0.1, 5),
                   .derivative = test::uniform(random, 0, 0.1)};
    auto pid = BasicPid<double, PidForm{.integration = Integration::forward_euler}>::make(gains);
    const double r = test::uniform(random, -1, 1);
    const double y = test::uniform(random, -1, 1);
    for (int k = 0; k < 5; ++k) CHECK(pid->follow(0.7, r, y, 0.01).value == 0.7);
    CHECK(pid->step(r, y, 0.01).value == doctest::Approx(0.7).epsilon(1e-9));
  }
}

TEST_CASE("gains change without a bump") {
  auto random = test::generator(8);
  for (std::size_t i = 0; i < test::count(500); ++i) {
    const auto any = [&] {
      return PidGains{.proportional = test::uniform(random, 0, 5),
                      .integral = test::uniform(random, 0.1, 5),
                      .derivative = test::uniform(random, 0, 0.1),
                      .setpoint_weight = test::uniform(random, 0, 1),
                      .derivative_weight = test::uniform(random, 0, 1)};
    };
    auto pid = BasicPid<double, PidForm{.integration = Integration::forward_euler}>::make(any());
    double y = 0;
    for (int k = 0; k < 20; ++k) static_cast<void>(pid->step(1, y += 0.01, 0.01));
    const PidGains next = any();
    auto twin = *pid;
    // The next output with the old gains, except for the integral of this step and the unchanged derivative.
    const double before = twin.step(1, y + 0.01, 0.01).value;
    REQUIRE(pid->change(next, 1, y).has_value());
    const double after = pid->step(1, y + 0.01, 0.01).value;
    CHECK(std::abs(after - before) < 0.2);
    CHECK(pid->change({.proportional = not_a_number}, 1, y).error() == Errc::not_finite);
  }
}

TEST_CASE("the step after a reset has no derivative, or one from zero where the form says so") {
  const PidGains gains{.derivative = 1, .derivative_weight = 1};
  auto smooth = *Pid::make(gains);
  auto kicks = *BasicPid<double, conventions::ros1>::make(gains);
  for (int k = 0; k < 2; ++k) {
    CHECK(smooth.step(3, 1, 0.5).value == 0);
    CHECK(kicks.step(3, 1, 0.5).value == 4);
    smooth.reset();
    kicks.reset();
  }
}

TEST_CASE("reset clears the integral, or keeps it") {
  auto pid = Pid::make({.integral = 1});
  static_cast<void>(pid->step(1, 0, 1));
  pid->reset(IntegralReset::keep);
  CHECK(pid->integral_part() == 1);
  pid->reset();
  CHECK(pid->integral_part() == 0);
}

TEST_CASE("parameters that make no controller are refused by name") {
  CHECK(Pid::make({.proportional = not_a_number}).error() == Errc::not_finite);
  CHECK(Pid::make({.integral = infinity}).error() == Errc::not_finite);
  CHECK(Pid::make({.output_max = not_a_number}).error() == Errc::not_finite);
  CHECK(Pid::make({.output_min = 1, .output_max = -1}).error() == Errc::min_above_max);
  CHECK(Pid::make({.integral_min = 1, .integral_max = -1}).error() == Errc::min_above_max);
  CHECK(Pid::make({.derivative_filter = -1}).error() == Errc::out_of_domain);
  CHECK(Pid::make({.dead_band = -1}).error() == Errc::out_of_domain);
  using BackCalculation = BasicPid<double, conventions::ros2_back_calculation>;
  CHECK(BackCalculation::make({.integral = 1}).error() ==
        Errc::out_of_domain);  // no tracking time, and no gains to derive it from
  CHECK(BackCalculation::make({.integral = 1, .tracking_time = 1}).has_value());
}

TEST_CASE("a bad period or number changes nothing, and the last good output stands") {
  auto pid = Pid::make({.proportional = 2, .integral = 1, .derivative = 0.1});
  const double good = pid->step(1, 0.5, 0.01).value;
  auto twin = *pid;
  for (const double period : {0.0, -1.0, 11.0, not_a_number, infinity}) {
    const Step step = pid->step(1, 0.5, period);
    CHECK(step.error == Errc::bad_period);
    CHECK(step.value == good);
  }
  for (const double number : {not_a_number, infinity, -infinity, 1e308}) {
    for (const auto& [r, y, f] :
         {std::array{number, 0.5, 0.0}, std::array{1.0, number, 0.0}, std::array{1.0, 0.5, number}}) {
      if (number == 1e308 && f != 0) continue;  // a valid number, only large
      const Step step = pid->step(r, y, 0.01, f);
      CHECK(step.error == Errc::not_finite);
      CHECK(step.value == good);
    }
  }
  CHECK(pid->follow(not_a_number, 1, 0.5, 0.01).error == Errc::not_finite);
  CHECK(pid->step(1, 0.6, 0.01).value == twin.step(1, 0.6, 0.01).value);
}

TEST_CASE("the output keeps its limits for any input") {
  auto random = test::generator(9);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    const PidGains gains = any_gains(random);
    auto pid = Pid::make(gains);
    for (int k = 0; k < 100; ++k) {
      const auto any = [&] {
        const auto bits = random();
        return test::uniform_int(random, 0, 3) == 0 ? std::bit_cast<double>(bits)
                                                    : test::uniform(random, -9, 9);
      };
      const double value = pid->step(any(), any(), test::uniform(random, -0.01, 0.1), any()).value;
      CHECK(value >= gains.output_min);
      CHECK(value <= gains.output_max);
      CHECK(std::isfinite(pid->integral_part()));
    }
  }
}

TEST_CASE("float works as double does, to its precision") {
  auto narrow = BasicPid<float>::make({.proportional = 2, .integral = 1});
  auto wide = Pid::make({.proportional = 2, .integral = 1});
  for (int k = 0; k < 100; ++k) {
    const double y = 0.01 * k;
    CHECK(narrow->step(1, static_cast<float>(y), 0.01F).value ==
          doctest::Approx(wide->step(1, y, 0.01).value).epsilon(1e-4));
  }
}
