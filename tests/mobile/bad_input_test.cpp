// Gives bad numbers, bad periods and jumps to every class of this room. Each must return a named error and
// keep its state.
#include <doctest/doctest.h>

#include <limits>

#include "takt/mobile/car_like.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/encoder.hpp"
#include "takt/mobile/holonomic_drive.hpp"
#include "takt/mobile/odometry.hpp"
#include "takt/mobile/twist_limiter.hpp"

using namespace takt;
using namespace takt::mobile;

namespace {

template <class Scalar>
constexpr Scalar not_a_number = std::numeric_limits<Scalar>::quiet_NaN();
template <class Scalar>
constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();

}  // namespace

TEST_CASE_TEMPLATE("no dimension of a vehicle may be zero, negative or no number", Scalar, double, float) {
  struct Bad {
    Scalar length;
    Errc error;
  };
  for (const Bad& bad :
       {Bad{0, Errc::not_positive}, Bad{-1, Errc::not_positive}, Bad{not_a_number<Scalar>, Errc::not_finite},
        Bad{infinity<Scalar>, Errc::not_finite}}) {
    const Scalar x = bad.length;
    CHECK(BasicDifferentialDrive<Scalar>::make({x, 1, 1}).error() == bad.error);
    CHECK(BasicDifferentialDrive<Scalar>::make({1, x, 1}).error() == bad.error);
    CHECK(BasicDifferentialDrive<Scalar>::make({1, 1, x}).error() == bad.error);
    CHECK(BasicCar<Scalar>::make({x, 1, Scalar(0.5)}).error() == bad.error);
    CHECK(BasicCar<Scalar>::make({2, 1, x}).error() == bad.error);
    if (x != 0) CHECK(BasicCar<Scalar>::make({2, x, Scalar(0.5)}).error() == bad.error);
    CHECK(BasicTricycle<Scalar>::make(x).error() == bad.error);
    CHECK(omni_drive<3>(Scalar(1), x).error() == bad.error);
    CHECK(mecanum_drive(x, Scalar(1), Scalar(1)).error() == bad.error);
    CHECK(mecanum_drive(Scalar(1), x, Scalar(1)).error() == bad.error);
    CHECK(mecanum_drive(Scalar(1), Scalar(1), x).error() == bad.error);
    CHECK(BasicEncoder<Scalar>::make({100, 16, x}).error() == bad.error);
    if (!(x < 0)) CHECK(BasicEncoder<Scalar>::make({x, 16, 10}).error() == bad.error);
    if (!(x < 0)) CHECK(BasicOdometry<Scalar>::make({.timeout = x}).error() == bad.error);
    typename BasicTwistLimiter<Scalar>::Limits limits{1, 1, 1, 1, 1, 1, 1};
    for (Scalar* limit : {&limits.forward, &limits.backward, &limits.left, &limits.rotation,
                          &limits.acceleration, &limits.braking, &limits.rotational_acceleration}) {
      *limit = x;
      const auto made = BasicTwistLimiter<Scalar>::make(limits);
      CHECK((x > 0 ? made.has_value() : made.error() == bad.error));  // an infinite limit is no limit
      *limit = 1;
    }
  }
}

TEST_CASE_TEMPLATE("no period, no number and no jump of an encoder moves a vehicle", Scalar, double, float) {
  auto odometry =
      BasicOdometry<Scalar>::make({.noise = {Scalar(0.1), Scalar(0.1), Scalar(0.1), Scalar(0.1)}}).value();
  auto limiter = BasicTwistLimiter<Scalar>::make({2, 1, 1, 2, 1, 3, 2}).value();
  auto encoder = BasicEncoder<Scalar>::make({1000, 16, 10}).value();
  REQUIRE(odometry.advance({1, 0, Scalar(0.5)}, Scalar(0.1)).has_value());
  REQUIRE(limiter.step({1, 0, Scalar(0.5)}, Scalar(0.1)).ok());
  REQUIRE(encoder.turned(100, Scalar(0.1)).has_value());
  const auto pose = odometry.pose();
  const auto twist = limiter.twist();
  for (const Scalar period :
       {Scalar(0), Scalar(-1), Scalar(11), Scalar(1e30), infinity<Scalar>, not_a_number<Scalar>}) {
    const auto advanced = odometry.advance({1, 0, 0}, period);
    CHECK(advanced.error() == (period > 0 && std::isfinite(period) ? Errc::stale : Errc::bad_period));
    CHECK(limiter.step({2, 0, 0}, period).error == Errc::bad_period);
    CHECK(limiter.twist() == twist);
    CHECK(encoder.turned(110, period).error() == Errc::bad_period);
  }
  const auto covariance = odometry.covariance();  // a gap makes it grow
  CHECK(encoder.turned(20000, Scalar(0.1)).error() == Errc::encoder_jump);
  CHECK(encoder.turned(20001, Scalar(0.1)).has_value());
  for (const Scalar number : {not_a_number<Scalar>, infinity<Scalar>, -infinity<Scalar>}) {
    CHECK(odometry.move({number, 0, 0}).error() == Errc::not_finite);
    CHECK(odometry.move({0, number, 0}).error() == Errc::not_finite);
    CHECK(odometry.advance({0, 0, number}, Scalar(0.1)).error() == Errc::not_finite);
    CHECK(odometry.set({0, 0, number}).error() == Errc::not_finite);
  }
  CHECK(odometry.move({std::numeric_limits<Scalar>::max(), 0, 0}).error() == Errc::not_finite);
  CHECK(odometry.pose() == pose);
  CHECK(odometry.covariance() == covariance);

  // A NaN twist brakes the vehicle.
  CHECK(limiter.step({not_a_number<Scalar>, 0, 0}, Scalar(0.01)).error == Errc::not_finite);
  CHECK(limiter.twist().forward < twist.forward);
  for (int k = 0; k < 100; ++k) CHECK_FALSE(limiter.step({0, infinity<Scalar>, 0}, Scalar(0.01)).ok());
  CHECK(limiter.twist() == BasicTwist<Scalar>{});
  limiter.reset({not_a_number<Scalar>, 0, 0});
  CHECK(limiter.twist() == BasicTwist<Scalar>{});
}

TEST_CASE("a velocity that passes zero brakes up to there and accelerates for the rest of the period") {
  auto limiter = TwistLimiter::make({5, 5, 5, 5, 1, 4, 9}).value();
  limiter.reset({1, 0, 0});
  CHECK(limiter.step({-5, 0, 0}, 0.125).value.forward == 0.5);
  CHECK(limiter.step({-5, 0, 0}, 0.25).value.forward == doctest::Approx(-0.125));
  CHECK(limiter.step({-5, 0, 0}, 0.25).value.forward == doctest::Approx(-0.375));
}
