// The twist law: steering regimes, pedals, holding, invalid input, and random sequences.
#include "takt/vehicle/twist_law.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "support/adversary.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::vehicle;
using mobile::Twist;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TwistLaw::Configuration furbot() {
  TwistLaw::Configuration c;
  c.wheelbase = 1.6;
  c.max_steering = 0.5;
  c.steering_rate = 0.6;
  c.throttle.proportional = 0.4;
  c.throttle.integral = 0.2;
  c.brake.proportional = 0.5;
  c.brake.integral = 0.1;
  return c;
}

/// The angle that the law wants, with an unlimited steering rate.
double angle(const Twist& wanted, double measured) {
  auto c = furbot();
  c.steering_rate = 1e9;
  auto law = TwistLaw::make(c).value();
  return law.step(wanted, measured, 0.01)->steering;
}

}  // namespace

TEST_CASE("above its thresholds the steering is that of the report, within the angle limit") {
  CHECK(angle({2, 0, 0.3}, 0) == doctest::Approx(std::atan(1.6 * 0.3 / 2)));
  CHECK(angle({0, 0, 0.1}, 1) == doctest::Approx(std::atan(1.6 * 0.1 / 1)));
  CHECK(angle({0, 0, 0.3}, 0.2) == 0);
  CHECK(angle({0.2, 0, 3}, 0) == 0.5);
}

TEST_CASE("from half of a threshold to the whole of it, its regime takes over by and by") {
  const auto steering = [](double speed) { return std::atan(1.6 * 0.02 / speed); };
  CHECK(angle({0.1, 0, 0.02}, 1) == doctest::Approx(steering(0.1)));
  CHECK(angle({0.075, 0, 0.02}, 1) == doctest::Approx((steering(0.075) + steering(1)) / 2));
  CHECK(angle({0.0501, 0, 0.02}, 1) == doctest::Approx(steering(1)).epsilon(0.05));
  CHECK(angle({0.05, 0, 0.02}, 1) == doctest::Approx(steering(1)));
  CHECK(angle({0, 0, 0.02}, 0.5) == doctest::Approx(steering(0.5)));
  CHECK(angle({0, 0, 0.02}, 0.375) == doctest::Approx(steering(0.375) / 2));
  CHECK(angle({0, 0, 0.02}, 0.25) == 0);
}

TEST_CASE("reverse is the mirror image of forward") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(2000); ++i) {
    const Twist twist{test::uniform(random, -2, 2), 0, test::uniform(random, -1, 1)};
    const double measured = test::uniform(random, -2, 2);
    CHECK(angle({-twist.forward, 0, twist.rotation}, -measured) == -angle(twist, measured));
    auto forward = TwistLaw::make(furbot()).value();
    auto reverse = TwistLaw::make(furbot()).value();
    for (int k = 0; k < 20; ++k) {
      const DriveCommand a = forward.step(twist, measured, 0.01).value();
      const DriveCommand b = reverse.step({-twist.forward, 0, -twist.rotation}, -measured, 0.01).value();
      CHECK(a.throttle == -b.throttle);
      CHECK(a.brake == b.brake);
      CHECK(a.steering == b.steering);
    }
  }
}

TEST_CASE("the steering jumps nowhere between the regimes") {
  // Along any line of commands and speeds, the wanted angle changes at most as fast as in its steepest
  // regime.
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    const double rotation = test::uniform(random, -1, 1);
    const Twist from{test::uniform(random, -1, 1), 0, rotation},
        to{test::uniform(random, -1, 1), 0, rotation};
    const double measured_from = test::uniform(random, -1, 1), measured_to = test::uniform(random, -1, 1);
    const int steps = 4000;
    double last = angle(from, measured_from);
    for (int k = 1; k <= steps; ++k) {
      const double part = static_cast<double>(k) / steps;
      const double now = angle({from.forward + part * (to.forward - from.forward), 0, rotation},
                               measured_from + part * (measured_to - measured_from));
      CHECK(std::abs(now - last) < 0.03);
      last = now;
    }
  }
}

TEST_CASE("the wheels turn no faster than they may, throttle and brake are never pressed together") {
  auto random = test::generator(3);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    auto law = TwistLaw::make(furbot()).value();
    double last = 0;
    for (int k = 0; k < 200; ++k) {
      const auto any = [&] {
        const auto bits = random();
        return test::uniform_int(random, 0, 9) == 0 ? std::bit_cast<double>(bits)
                                                    : test::uniform(random, -3, 3);
      };
      const DriveCommand before = law.command();
      const Twist wanted{any(), any(), any()};
      const double measured = any();
      const auto stepped = law.step(wanted, measured, 0.01);
      const DriveCommand now = law.command();
      if (!stepped) CHECK(now == DriveCommand{before.steering, 0, std::max(before.brake, 0.2)});
      CHECK(std::abs(now.steering - last) <= 0.006 + 1e-12);
      CHECK(std::abs(now.steering) <= 0.5);
      CHECK((now.throttle == 0 || now.brake == 0));
      CHECK(std::abs(now.throttle) <= 1);
      CHECK(now.brake >= 0);
      CHECK(now.brake <= 1);
      if (stepped) CHECK(now.throttle * wanted.forward >= 0);
      last = now.steering;
    }
  }
}

TEST_CASE_TEMPLATE(
    "for any command and measurement, reverse mirrors forward, one pedal at a time, within all limits",
    Scalar, double, float) {
  // One case is a whole sequence. The long run is --count=1000000.
  auto random = test::generator(101);
  using Law = BasicTwistLaw<Scalar>;
  const auto any = [&](double low, double high) {
    return static_cast<Scalar>(test::uniform(random, low, high));
  };
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    typename Law::Configuration c;
    c.wheelbase = any(0.5, 4);
    c.max_steering = any(0.1, 1.5);
    c.steering_rate = any(0.1, 5);
    c.command_threshold = any(0.01, 1);
    c.measured_threshold = any(0.01, 1);
    c.holding_brake = any(0, 1);
    c.throttle.proportional = any(0, 2);
    c.throttle.integral = any(0, 2);
    c.throttle.derivative = any(0, 0.1);
    c.brake.proportional = any(0.01, 2);
    c.brake.integral = any(0, 2);
    auto forward = Law::make(c).value();
    auto reverse = Law::make(c).value();
    const Scalar period = any(1e-3, 0.1);
    const Scalar rounding = 16 * std::numeric_limits<Scalar>::epsilon() * c.max_steering;
    test::Adversary<Scalar> speeds(random, 3), rotations(random, 2), measurements(random, 3);
    for (int k = 0; k < 60; ++k) {
      const mobile::BasicTwist<Scalar> wanted{speeds.next(), 0, rotations.next()};
      const Scalar measured = measurements.next();
      const auto before = forward.command();
      const auto step = forward.step(wanted, measured, period);
      const auto mirrored = reverse.step({-wanted.forward, 0, -wanted.rotation}, -measured, period);
      const auto& now = forward.command();
      bool good = step.has_value() == mirrored.has_value();
      good = good && now.throttle == -reverse.command().throttle && now.brake == reverse.command().brake &&
             now.steering == reverse.command().steering;
      const typename Law::Command held{before.steering, 0, std::max(before.brake, c.holding_brake)};
      good = good && now == (step ? *step : held);
      if (!std::isfinite(wanted.forward) || !std::isfinite(wanted.rotation) || !std::isfinite(measured))
        good = good && !step && step.error() == control::Errc::not_finite;
      good = good && std::abs(now.steering) <= c.max_steering;
      good = good && std::abs(now.steering - before.steering) <= c.steering_rate * period + rounding;
      good = good && (now.throttle == 0 || now.brake == 0);
      good = good && std::abs(now.throttle) <= 1 && now.brake >= 0 && now.brake <= 1;
      if (step)
        good = good && (now.throttle == 0 || std::signbit(now.throttle) == std::signbit(wanted.forward));
      if (!good) CHECK(good);
    }
  }
}

TEST_CASE(
    "a vehicle comes to the speed that is asked for, stops, is held, and drives backwards after a stand") {
  auto law = TwistLaw::make(furbot()).value();
  double v = 0;
  const double h = 0.01;
  const auto drive = [&](double wanted, double seconds) {
    for (double t = 0; t < seconds; t += h) {
      const DriveCommand command = law.step({wanted, 0, 0}, v, h).value();
      if (v > 0.05) CHECK(command.throttle >= 0);  // no throttle against the motion
      if (v < -0.05) CHECK(command.throttle <= 0);
      const double braking = std::min(6 * command.brake * h, std::abs(v));
      v += h * (3 * command.throttle - 0.2 * v);
      v -= std::copysign(braking, v);
    }
  };
  drive(2, 60);
  CHECK(v == doctest::Approx(2).epsilon(0.02));
  drive(1, 60);
  CHECK(v == doctest::Approx(1).epsilon(0.1));
  drive(0, 10);
  CHECK(std::abs(v) < 1e-3);
  CHECK(law.command().brake >= 0.2);
  drive(1, 60);
  CHECK(v == doctest::Approx(1).epsilon(0.02));
  drive(-1, 60);
  CHECK(v == doctest::Approx(-1).epsilon(0.02));
}

TEST_CASE(
    "a vehicle whose speed or command is not known is braked by what holds it, and its steering stays") {
  for (const auto& [wanted, measured] :
       {std::pair(Twist{2, 0, 0.2}, not_a_number), std::pair(Twist{2, 0, 0.2}, infinity),
        std::pair(Twist{not_a_number, 0, 0.2}, 1.0), std::pair(Twist{2, 0, infinity}, 1.0)}) {
    auto law = TwistLaw::make(furbot()).value();
    DriveCommand good;
    for (int k = 0; k < 100; ++k) good = law.step({2, 0, 0.2}, 1, 0.01).value();
    CHECK(good.throttle > 0.4);
    CHECK(law.step(wanted, measured, 0.01).error() == control::Errc::not_finite);
    CHECK(law.command() == DriveCommand{good.steering, 0, 0.2});
    // After valid input it continues as before, with its integral.
    CHECK(law.step({2, 0, 0.2}, 1, 0.01)->throttle == doctest::Approx(good.throttle).epsilon(0.02));
  }
  auto braking = TwistLaw::make(furbot()).value();
  const double pressed = braking.step({0, 0, 0}, 1, 0.01)->brake;
  CHECK(pressed == doctest::Approx(0.5));
  CHECK(braking.step({0, 0, 0}, not_a_number, 0.01).error() == control::Errc::not_finite);
  CHECK(braking.command().brake == pressed);
}

TEST_CASE("before the first valid step the vehicle is held") {
  auto law = TwistLaw::make(furbot()).value();
  CHECK(law.command() == DriveCommand{0, 0, 0.2});
  CHECK(law.step({1, 0, 0}, not_a_number, 0.01).error() == control::Errc::not_finite);
  CHECK(law.command() == DriveCommand{0, 0, 0.2});
}

TEST_CASE("a command below the standstill threshold does not let a vehicle roll down a slope") {
  for (const double wanted : {0.0, 1e-6, -1e-6, 0.049}) {
    auto c = furbot();
    c.throttle.integral = c.brake.integral = 0;
    auto law = TwistLaw::make(c).value();
    const double h = 0.01;
    double v = 0, way = 0;
    for (int k = 0; k < 3000; ++k) {
      const DriveCommand command = law.step({wanted, 0, 0}, v, h).value();
      const double brakes = 5 * command.brake;
      v += h * (3 * command.throttle - 0.5);
      v = std::copysign(std::max(0.0, std::abs(v) - h * brakes), v);
      way += h * v;
    }
    CHECK(std::abs(way) < 1e-3);
  }
}

TEST_CASE("no derivative kicks a pedal that is taken up, and it is the vehicle's speed that it damps") {
  for (const double weight : {0.0, 1.0}) {
    auto c = furbot();
    c.throttle.integral = c.brake.integral = 0;
    c.throttle.derivative = c.brake.derivative = 0.05;
    c.throttle.derivative_weight = c.brake.derivative_weight = weight;
    auto law = TwistLaw::make(c).value();
    const auto drive = [&](double measured) { return law.step({2, 0, 0}, measured, 0.01).value(); };
    CHECK(drive(0.5).throttle == doctest::Approx(0.6));  // 0.4 (2 - 0.5)
    CHECK(drive(0.5).throttle == doctest::Approx(0.6));
    CHECK(drive(0.51).throttle == doctest::Approx(0.4 * 1.49 - 0.05));
    CHECK(drive(2.2).brake == doctest::Approx(0.1));
    CHECK(drive(2.2).brake == doctest::Approx(0.1));
    CHECK(drive(2.21).brake == doctest::Approx(0.5 * 0.21 + 0.05));
    CHECK(drive(1.5).throttle == doctest::Approx(0.2));
  }
}

TEST_CASE("it brakes from the hysteresis on, and until the vehicle is no longer too fast") {
  auto law = TwistLaw::make(furbot()).value();
  const auto brakes = [&](double measured) { return law.step({2, 0, 0}, measured, 0.01)->brake > 0; };
  CHECK_FALSE(brakes(1.9));
  CHECK_FALSE(brakes(2.09));
  CHECK(brakes(2.11));
  CHECK(brakes(2.05));
  CHECK(brakes(2.01));
  CHECK_FALSE(brakes(1.99));
  CHECK_FALSE(brakes(2.05));
}

TEST_CASE("what is slower than the standstill is to stand, and what rolls slower than it stands") {
  const auto first = [](double wanted, double measured) {
    auto law = TwistLaw::make(furbot()).value();
    return law.step({wanted, 0, 0}, measured, 0.01).value();
  };
  CHECK(first(0.051, 0).throttle > 0);
  CHECK(first(0.049, 0) == DriveCommand{0, 0, 0.2});
  CHECK(first(0, 0.049) == DriveCommand{0, 0, 0.2});
  CHECK(first(0, 0.051).brake == doctest::Approx(0.5 * 0.051));
  CHECK(first(1, -0.049).throttle == doctest::Approx(0.4));  // it stands and may drive forward
  CHECK(first(1, -0.051).brake == doctest::Approx(0.5 * 0.051));
}

TEST_CASE("no integral learns from more throttle than may be pressed") {
  for (const double way : {1.0, -1.0}) {
    auto c = furbot();
    (way > 0 ? c.max_throttle : c.max_reverse) = 0.3;
    auto law = TwistLaw::make(c).value();
    for (int k = 0; k < 2000; ++k)
      CHECK(std::abs(law.step({2 * way, 0, 0}, 1.5 * way, 0.01)->throttle) <= 0.3);
    CHECK(law.command().throttle == 0.3 * way);
    // An integral over these twenty seconds would keep the throttle, though the vehicle is faster than
    // commanded.
    CHECK(std::abs(law.step({2 * way, 0, 0}, 2.05 * way, 0.01)->throttle) < 0.1);
  }
}

TEST_CASE("a change of direction resets the law, also without time to brake") {
  auto c = furbot();
  c.throttle = {.integral = 1};
  auto law = TwistLaw::make(c).value();
  for (int k = 0; k < 50; ++k) REQUIRE(law.step({1, 0, 0}, 0, 0.01).has_value());
  CHECK(law.command().throttle > 0.4);
  CHECK(law.step({-1, 0, 0}, 0, 0.01)->throttle == 0);
}

TEST_CASE("a pedal that is pressed again begins anew, not with what had wound up before") {
  auto c = furbot();
  c.throttle = {.integral = 1};
  c.brake = {.proportional = 1e-9, .integral = 1};
  auto law = TwistLaw::make(c).value();
  for (int k = 0; k < 50; ++k) REQUIRE(law.step({1, 0, 0}, 0, 0.01).has_value());
  CHECK(law.command().throttle > 0.4);
  for (int k = 0; k < 50; ++k) REQUIRE(law.step({0, 0, 0}, 1, 0.01).has_value());
  CHECK(law.command().brake > 0.4);
  CHECK(law.step({1, 0, 0}, 0, 0.01)->throttle == 0);
  CHECK(law.step({0, 0, 0}, 1, 0.01)->brake == doctest::Approx(0));
}

TEST_CASE("bad periods change nothing, and impossible vehicles are refused by name") {
  auto law = TwistLaw::make(furbot()).value();
  const DriveCommand good = law.step({1, 0, 0.2}, 0.5, 0.01).value();
  for (const double period : {0.0, -1.0, not_a_number, infinity})
    CHECK(law.step({1, 0, 0}, 0, period).error() == control::Errc::bad_period);
  CHECK(law.command() == good);
  for (auto member : {&TwistLaw::Configuration::wheelbase, &TwistLaw::Configuration::max_steering,
                      &TwistLaw::Configuration::steering_rate, &TwistLaw::Configuration::command_threshold}) {
    auto c = furbot();
    c.*member = 0;
    CHECK(TwistLaw::make(c).error() == control::Errc::out_of_domain);
    c.*member = not_a_number;
    CHECK(TwistLaw::make(c).error() == control::Errc::not_finite);
  }
  for (auto share : {&TwistLaw::Configuration::holding_brake, &TwistLaw::Configuration::max_throttle,
                     &TwistLaw::Configuration::max_reverse}) {
    for (const double bad : {-0.1, 1.1, not_a_number}) {
      auto c = furbot();
      c.*share = bad;
      CHECK(TwistLaw::make(c).error() == control::Errc::out_of_domain);
    }
  }
  law.reset(0.3);
  CHECK(law.command() == DriveCommand{0.3, 0, 0.2});
}

TEST_CASE("gains that would never brake are refused") {
  const auto error = [](auto change) {
    auto c = furbot();
    change(c);
    return TwistLaw::make(c).error();
  };
  CHECK(error([](auto& c) { c.brake = {}; }) == control::Errc::out_of_domain);
  CHECK(error([](auto& c) { c.brake.proportional = -0.5; }) == control::Errc::out_of_domain);
  CHECK(error([](auto& c) { c.brake.integral = -0.1; }) == control::Errc::out_of_domain);
  CHECK(error([](auto& c) { c.brake.derivative = -0.1; }) == control::Errc::out_of_domain);
  CHECK(error([](auto& c) { c.throttle.proportional = -0.1; }) == control::Errc::out_of_domain);
  CHECK(error([](auto& c) { c.brake.proportional = not_a_number; }) == control::Errc::not_finite);
}

TEST_CASE("the law keeps the rules of the loop") {
  auto law = TwistLaw::make(furbot()).value();
  test::RtGuard guard;
  bool ok = true;
  for (int k = 0; k < 1000; ++k) ok = ok && law.step({k < 500 ? 1.0 : -1.0, 0, 0.2}, 0.001 * k, 0.01);
  CHECK(guard.report() == "");
  CHECK(ok);
}

TEST_CASE("a reset law is as new except for the steering: the integrals of the pedals are cleared") {
  auto random = test::generator(9);
  for (int run = 0; run < 50; ++run) {
    auto used = TwistLaw::make(furbot()).value(), fresh = used;
    const auto any = [&](double reach) { return test::uniform(random, -reach, reach); };
    for (int i = 0; i < 200; ++i) (void)used.step({any(3), 0, any(0.3)}, any(3), 0.01);
    used.reset(0.2);
    fresh.reset(0.2);
    CHECK(used.command() == fresh.command());
    for (int i = 0; i < 200; ++i) {
      const Twist wanted{any(3), 0, any(0.3)};
      const double measured = any(3);
      EXPECT(used.step(wanted, measured, 0.01).value() == fresh.step(wanted, measured, 0.01).value());
    }
  }
}
