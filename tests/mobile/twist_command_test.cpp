// If commands stop arriving, the vehicle stops within its limits.
#include "takt/mobile/twist_command.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "support/rt_guard.hpp"
#include "takt/mobile/twist_limiter.hpp"

using namespace takt;
using namespace takt::mobile;

namespace {

template <class Scalar>
constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();
constexpr double period = 1.0 / 64;

}  // namespace

TEST_CASE_TEMPLATE("a command is driven until its timeout, and a new one restarts the timeout", Scalar,
                   double, float) {
  auto command = BasicTwistCommand<Scalar>::make(Scalar(0.5)).value();
  const BasicTwist<Scalar> wanted{1, 0, Scalar(0.2)};
  const auto step = [&] { return command.step(static_cast<Scalar>(period)); };
  CHECK(step().error == Errc::stale);  // no command yet
  for (int round = 0; round < 3; ++round) {
    REQUIRE(command.set(wanted).has_value());
    for (int k = 0; k < 32; ++k) {
      const auto now = step();
      CHECK(now.ok());
      CHECK(now.value == wanted);
    }
    CHECK(step().error == Errc::stale);
    CHECK(step().value == BasicTwist<Scalar>{});
  }
}

TEST_CASE_TEMPLATE("an invalid command does not keep an old one alive", Scalar, double, float) {
  auto command = BasicTwistCommand<Scalar>::make(Scalar(0.5)).value();
  const BasicTwist<Scalar> wanted{1, 0, 0};
  REQUIRE(command.set(wanted).has_value());
  for (int k = 0; k < 32; ++k) {
    CHECK(command.set({1, 0, not_a_number<Scalar>}).error() == Errc::not_finite);
    for (const Scalar bad : {Scalar(0), Scalar(-1), Scalar(11), not_a_number<Scalar>}) {
      CHECK(command.step(bad).error == Errc::bad_period);
      CHECK(command.step(bad).value == wanted);
    }
    CHECK(command.step(static_cast<Scalar>(period)).ok());
  }
  CHECK(command.step(static_cast<Scalar>(period)).error == Errc::stale);
  REQUIRE(command.set(wanted).has_value());
  CHECK(command.step(1).error == Errc::stale);  // the period is longer than the timeout
  using Command = BasicTwistCommand<Scalar>;
  CHECK(Command::make(0).error() == Errc::not_positive);
  CHECK(Command::make(11).error() == Errc::out_of_domain);
  CHECK(Command::make(not_a_number<Scalar>).error() == Errc::not_finite);
}

TEST_CASE("a silent commander makes the vehicle stop within its limits, by the rules of the loop") {
  test::RtGuard guard;
  auto command = *TwistCommand::make(0.5);
  auto limiter = *TwistLimiter::make({2, 1, 1, 1, 4, 2, 2});
  bool ok = command.set({1, 0, 0.5}).has_value();
  for (int k = 0; k < 128; ++k) {
    const double before = limiter.twist().forward;
    const double now = limiter.step(command.step(period).value, period).value.forward;
    ok = ok && now >= before - 2 * period && now <= before + 4 * period;
    if (k == 31) ok = ok && now == 1;
  }
  ok = ok && limiter.twist() == Twist{};
  CHECK(guard.report() == "");
  CHECK(ok);
}
