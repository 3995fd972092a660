#include "takt/control/pid_bank.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Scalar, PidForm form>
void same_as_single_ones(std::uint64_t salt) {
  auto random = test::generator(salt);
  const auto number = [&](double low, double high) {
    return static_cast<Scalar>(test::uniform(random, low, high));
  };
  for (std::size_t i = 0; i < test::count(100); ++i) {
    const auto size = static_cast<std::size_t>(test::uniform_int(random, 1, 64));
    std::vector<BasicPidGains<Scalar>> gains(size);
    std::vector<BasicPid<Scalar, form>> singles;
    for (auto& g : gains) {
      g.proportional = number(0.1, 5);
      g.integral = number(0.1, 5);
      g.derivative = number(0.01, 1);
      g.setpoint_weight = number(0, 1);
      g.derivative_filter = number(0, 0.1);
      g.dead_band = number(0, 0.1);
      g.output_min = number(-3, 0);
      g.output_max = number(0, 3);
      singles.push_back(*BasicPid<Scalar, form>::make(g));
    }
    auto bank = BasicPidBank<Scalar, form>::make(gains);
    REQUIRE(bank.has_value());
    std::vector<Scalar> setpoints(size), measured(size), feed_forward(size), outputs(size);
    for (int k = 0; k < 30; ++k) {
      for (std::size_t j = 0; j < size; ++j) {
        setpoints[j] = number(-1, 1);
        feed_forward[j] = number(-0.1, 0.1);
        measured[j] =
            test::uniform_int(random, 0, 20) == 0 ? std::numeric_limits<Scalar>::quiet_NaN() : number(-1, 1);
      }
      const auto period = static_cast<Scalar>(test::uniform_int(random, 1, 3)) * Scalar(0.01);
      const auto held = bank->step(setpoints, measured, period, outputs, feed_forward);
      REQUIRE(held.has_value());
      for (std::size_t j = 0; j < size; ++j) {
        const auto single = singles[j].step(setpoints[j], measured[j], period, feed_forward[j]);
        CHECK(held->contains(j) == !single.ok());
        CHECK(static_cast<double>(outputs[j]) == doctest::Approx(static_cast<double>(single.value))
                                                     .epsilon(std::is_same_v<Scalar, float> ? 2e-3 : 1e-9));
      }
    }
  }
}

}  // namespace

TEST_CASE("each controller of a bank behaves as one of its own") {
  same_as_single_ones<double, PidForm{}>(1);
  same_as_single_ones<double, conventions::ros1>(2);
  same_as_single_ones<double, conventions::ros2_back_calculation>(3);
  same_as_single_ones<double, PidForm{.integration = Integration::trapezoidal}>(4);
  same_as_single_ones<float, PidForm{}>(5);
  same_as_single_ones<double, conventions::ros1_anti_windup>(6);
  same_as_single_ones<double, conventions::ros2>(7);
  same_as_single_ones<double, conventions::ros2_conditional>(8);
  same_as_single_ones<double, conventions::dataspeed>(9);
}

TEST_CASE("a bank that cannot be is refused by name") {
  using Gains = std::vector<PidGains>;
  CHECK(PidBank::make(Gains{}).error() == Errc::wrong_size);
  CHECK(PidBank::make(Gains(65)).error() == Errc::wrong_size);
  CHECK(PidBank::make(Gains{{.proportional = not_a_number}}).error() == Errc::not_finite);
}

TEST_CASE("a step with wrong sizes or a bad period does nothing") {
  auto bank = PidBank::make(std::vector<PidGains>(3, {.integral = 1}));
  std::vector<double> three(3, 1), two(2), outputs(3, 5);
  CHECK(bank->step(three, two, 0.1, outputs).error() == Errc::wrong_size);
  CHECK(bank->step(three, three, not_a_number, outputs).error() == Errc::bad_period);
  CHECK(bank->step(three, three, 0.1, outputs, two).error() == Errc::wrong_size);
  CHECK(outputs == std::vector<double>(3, 5));
  CHECK(bank->set(3, {}).error() == Errc::wrong_size);
}

TEST_CASE("gains of one controller change, its neighbours go on") {
  auto bank = PidBank::make(std::vector<PidGains>(3, {.proportional = 1, .integral = 1}));
  const std::vector<double> r(3, 1), y(3, 0);
  std::vector<double> u(3);
  REQUIRE(bank->step(r, y, 0.5, u).has_value());
  REQUIRE(bank->set(1, {.proportional = 3, .integral = 1}).has_value());
  REQUIRE(bank->step(r, y, 0.5, u).has_value());
  CHECK(u == std::vector<double>{2, 4, 2});
  bank->reset(IntegralReset::keep);
  REQUIRE(bank->step(r, y, 0.5, u).has_value());
  CHECK(u == std::vector<double>{2.5, 4.5, 2.5});
  bank->reset();
  REQUIRE(bank->step(r, y, 0.5, u).has_value());
  CHECK(u == std::vector<double>{1.5, 3.5, 1.5});
}

TEST_CASE(
    "a bank's output is within its limits before the first good step, and lanes without a controller are no "
    "joints") {
  auto bank =
      PidBank::make(std::array{PidGains{.proportional = 1, .output_min = 0.2, .output_max = 1}}).value();
  std::array<double, 1> out{};
  const std::array<double, 1> zero{}, none{not_a_number};
  CHECK(bank.step(zero, none, 0.001, out).value() == JointSet::first(1));
  CHECK(out[0] == 0.2);
  REQUIRE(bank.set(0, {.proportional = 1, .output_min = -1, .output_max = 0.1}));
  REQUIRE(bank.step(zero, none, 0.001, out));
  CHECK(out[0] == 0.1);
}

TEST_CASE("one controller of a bank is reset, its neighbours go on") {
  const std::array<PidGains, 2> gains{PidGains{.integral = 1}, PidGains{.integral = 1}};
  auto bank = PidBank::make(gains).value();
  const std::array<double, 2> one{1, 1}, zero{};
  std::array<double, 2> out{};
  REQUIRE(bank.step(one, zero, 1.0, out));
  bank.reset(0);
  bank.reset(7);
  REQUIRE(bank.step(one, zero, 1.0, out));
  CHECK(out == std::array<double, 2>{1, 2});
}
