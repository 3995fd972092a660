#include "takt/mobile/odometry.hpp"

#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "support/random.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/encoder.hpp"
#include "takt/mobile/twist_limiter.hpp"

using namespace takt;
using namespace takt::mobile;

namespace {

constexpr double pi = std::numbers::pi;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("odometry from encoders that wrap follows the vehicle") {
  const auto drive = DifferentialDrive::make({0.1, 0.1, 0.5}).value();
  auto left = Encoder::make({1000, 16, 100}).value();
  auto right = Encoder::make({1000, 16, 100}).value();
  Odometry odometry;
  // A quarter circle of 2 m radius, on which the counters, preset to 15 000 counts, wrap several times.
  const double left_way = pi / 2 * (2 - 0.25);
  const double right_way = pi / 2 * (2 + 0.25);
  const auto count = [](double way) {
    return static_cast<std::uint64_t>(std::llround(60000 + way / 0.1 / (2 * pi) * 1000)) & 0xffff;
  };
  for (int k = 0; k <= 500; ++k) {
    const Sides turned{left.turned(count(left_way * k / 500), 0.01).value(),
                       right.turned(count(right_way * k / 500), 0.01).value()};
    REQUIRE(odometry.move(drive.twist(turned)).has_value());
  }
  CHECK(odometry.pose().x == doctest::Approx(2).epsilon(2e-3));
  CHECK(odometry.pose().y == doctest::Approx(2).epsilon(2e-3));
  CHECK(odometry.pose().heading == doctest::Approx(pi / 2).epsilon(2e-3));
}

TEST_CASE("an encoder knows a wrap from a jump, and goes on after one") {
  auto encoder = Encoder::make({100, 8, 10}).value();  // 2 pi / 100 rad a count
  CHECK(encoder.turned(250, 0.1).value() == 0);
  CHECK(encoder.turned(4, 0.1).value() == doctest::Approx(2 * pi / 10));
  CHECK(encoder.turned(250, 0.1).value() == doctest::Approx(-2 * pi / 10));
  CHECK(encoder.turned(150, 0.1).error() == Errc::encoder_jump);
  CHECK(encoder.turned(155, 0.1).value() == doctest::Approx(2 * pi / 20));
  for (const double period : {0.0, -1.0, not_a_number, infinity})
    CHECK(encoder.turned(160, period).error() == Errc::bad_period);
  CHECK(encoder.turned(160, 0.1).value() == doctest::Approx(2 * pi / 20));
  encoder.reset();
  CHECK(encoder.turned(0, 0.1).value() == 0);
  auto wide = Encoder::make({-1, 64, 1e19}).value();
  CHECK(wide.turned(~std::uint64_t{0}, 1).value() == 0);
  CHECK(wide.turned(1, 1).value() == doctest::Approx(-4 * pi));
  CHECK(Encoder::make({0, 8, 1}).error() == Errc::not_positive);
  CHECK(Encoder::make({1, 8, 0}).error() == Errc::not_positive);
  CHECK(Encoder::make({1, 65, 1}).error() == Errc::out_of_domain);
  CHECK(Encoder::make({not_a_number, 8, 1}).error() == Errc::not_finite);
}

TEST_CASE_TEMPLATE("an encoder does not take half its range forward for less backward", Scalar, double,
                   float) {
  // One turn is the whole range. At 60 rad/s it takes 0.1 s, and half of it may have passed after 0.0524 s.
  auto encoder = BasicEncoder<Scalar>::make({65536, 16, 60}).value();
  const auto count = [](double angle) {
    return static_cast<std::uint64_t>(std::llround(angle / (2 * pi) * 65536)) & 0xffff;
  };
  REQUIRE(encoder.turned(0, Scalar(0.1)).has_value());
  CHECK(encoder.turned(count(4), Scalar(0.1)).error() == Errc::stale);
  CHECK(encoder.turned(count(6), Scalar(0.05)).value() == doctest::Approx(2).epsilon(1e-4));  // continues
  CHECK(encoder.turned(count(9), Scalar(0.0523)).value() == doctest::Approx(3).epsilon(1e-4));
  CHECK(encoder.turned(count(9), Scalar(0.0525)).error() == Errc::stale);
}

TEST_CASE("motion during a gap is not invented") {
  auto odometry = Odometry::make({.timeout = 0.2}).value();
  REQUIRE(odometry.advance({1, 0, 0}, 0.1).has_value());
  const Pose before = odometry.pose();
  CHECK(odometry.advance({1, 0, 0}, 0.3).error() == Errc::stale);
  CHECK(odometry.pose() == before);
  CHECK(odometry.twist() == Twist{});
  for (const double period : {0.0, -1.0, not_a_number, infinity})
    CHECK(odometry.advance({1, 0, 0}, period).error() == Errc::bad_period);
  for (const double number : {not_a_number, infinity}) {
    CHECK(odometry.advance({number, 0, 0}, 0.1).error() == Errc::not_finite);
    CHECK(odometry.move({0, 0, number}).error() == Errc::not_finite);
    CHECK(odometry.set({number, 0, 0}).error() == Errc::not_finite);
  }
  CHECK(odometry.pose() == before);
  CHECK(Odometry::make({.timeout = 0}).error() == Errc::not_positive);
  CHECK(Odometry::make({.noise = {.forward_per_distance = -1}}).error() == Errc::out_of_domain);
  CHECK(Odometry::make({.noise = {.forward_per_distance = not_a_number}}).error() == Errc::not_finite);
}

TEST_CASE("a gap leaves open where the vehicle is: as far as it could have gone") {
  auto odometry = Odometry::make({.timeout = 0.2}).value();
  REQUIRE(odometry.advance({2, 0, 0.5}, 0.1).has_value());
  const Pose before = odometry.pose();
  CHECK(odometry.advance({1, 0, -1}, 3).error() == Errc::stale);
  CHECK(odometry.pose() == before);
  CHECK(odometry.covariance() == Odometry::Covariance{36, 0, 0, 0, 36, 0, 0, 0, 9});
  CHECK(odometry.advance({0, 0, 0}, 100).error() == Errc::stale);  // it stood still before and after
  CHECK(odometry.covariance()[0] == 36);
  CHECK(odometry.advance({1e200, 0, 0}, 100).error() == Errc::stale);
  CHECK(odometry.covariance()[0] == 36);
  CHECK(Odometry::make({.timeout = 100}).error() == Errc::out_of_domain);
}

TEST_CASE("the velocities are those of the last step, and none where they are not known") {
  Odometry odometry;
  REQUIRE(odometry.move({0.02, 0, 0.01}, 0.01).has_value());
  CHECK(odometry.twist().forward == doctest::Approx(2));
  CHECK(odometry.twist().rotation == doctest::Approx(1));
  CHECK(odometry.pose().x == doctest::Approx(0.02).epsilon(1e-3));
  const Pose before = odometry.pose();
  const Twist twist = odometry.twist();
  for (const double period : {0.0, -1.0, 11.0, not_a_number, infinity})
    CHECK(odometry.move({1, 0, 0}, period).error() == Errc::bad_period);
  CHECK(odometry.twist() == twist);
  CHECK(odometry.move({not_a_number, 0, 0}, 0.01).error() == Errc::not_finite);
  CHECK(odometry.twist() == Twist{});
  REQUIRE(odometry.advance({1, 0, 0}, 0.01).has_value());
  CHECK(odometry.twist() == Twist{1, 0, 0});
  CHECK(odometry.advance({not_a_number, 0, 0}, 0.01).error() == Errc::not_finite);
  CHECK(odometry.twist() == Twist{});
  CHECK(odometry.pose().x == doctest::Approx(before.x + 0.01));
}

TEST_CASE_TEMPLATE("only what is a covariance is taken for one", Scalar, double, float) {
  BasicOdometry<Scalar> odometry;
  using Covariance = Eigen::Matrix<Scalar, 3, 3>;
  const auto numbers = [](const Covariance& c) {
    typename BasicOdometry<Scalar>::Covariance by_rows;
    for (int i = 0; i < 9; ++i) by_rows[static_cast<std::size_t>(i)] = c(i / 3, i % 3);
    return by_rows;
  };
  const auto refused = [&](const Covariance& c) {
    return odometry.set({1, 2, 3}, numbers(c)).error() == Errc::out_of_domain &&
           odometry.pose() == BasicPose<Scalar>{};
  };
  Covariance c = -Covariance::Identity();
  CHECK(refused(c));
  c = Covariance::Identity();
  c(0, 1) = c(1, 0) = Scalar(1.1);  // a correlation above one
  CHECK(refused(c));
  c(0, 1) = Scalar(0.5);
  c(1, 0) = Scalar(-0.5);
  CHECK(refused(c));
  c.setConstant(Scalar(-0.9));  // each pair is possible, all three are not
  c.diagonal().setOnes();
  CHECK(refused(c));
  c.setZero();
  c(0, 2) = c(2, 0) = Scalar(0.1);  // correlation with a zero variance
  CHECK(refused(c));
  // A matrix that is constructed as a covariance is accepted, even if it is almost singular.
  auto random = test::generator(3);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    Eigen::Matrix<Scalar, 3, 2> spread;
    for (int k = 0; k < 6; ++k)
      spread(k / 2, k % 2) = static_cast<Scalar>(std::pow(10, test::uniform(random, -6, 6)));
    const Covariance made = spread * spread.transpose();
    CHECK(odometry.set({1, 2, 3}, numbers(made)).has_value());
    const Eigen::Map<const Covariance> kept(odometry.covariance().data());
    CHECK(kept == kept.transpose());
  }
}

TEST_CASE_TEMPLATE("slow motion far from the origin is not lost to rounding", Scalar, double, float) {
  const auto period = static_cast<Scalar>(1e-3);
  const auto after = [&](const BasicPose<Scalar>& from, const BasicTwist<Scalar>& twist) {
    BasicOdometry<Scalar> odometry;
    REQUIRE(odometry.set(from).has_value());
    bool ok = true;
    for (int k = 0; k < 1'000'000; ++k) ok = ok && odometry.advance(twist, period);
    CHECK(ok);
    return odometry.pose();
  };
  CHECK(after({100, 0, 0}, {Scalar(0.003), 0, 0}).x == doctest::Approx(103).epsilon(1e-6));
  CHECK(after({0, 100, 0}, {0, Scalar(-0.003), 0}).y == doctest::Approx(97).epsilon(1e-6));
  CHECK(after({0, 0, 0}, {Scalar(0.1), 0, 0}).x == doctest::Approx(100).epsilon(1e-6));
  CHECK(after({0, 0, 3}, {0, 0, Scalar(1e-4)}).heading == doctest::Approx(3.1).epsilon(1e-6));
}

TEST_CASE("the covariance is that of many vehicles that all err a little") {
  const BasicOdometryNoise<double> noise{4e-4, 1e-4, 1e-4, 4e-4};
  auto odometry = Odometry::make({.noise = noise}).value();
  const Twist step{0.02, 0, 0.01};
  const int steps = 150;
  for (int k = 0; k < steps; ++k) REQUIRE(odometry.move(step).has_value());

  auto random = test::generator(1);
  std::normal_distribution<double> normal;
  const std::size_t vehicles = test::count(4000);
  Eigen::Matrix3d seen = Eigen::Matrix3d::Zero();
  for (std::size_t i = 0; i < vehicles; ++i) {
    Pose pose;
    for (int k = 0; k < steps; ++k) {
      const double way = step.forward;
      Twist motion = step;
      motion.forward += std::sqrt(noise.forward_per_distance * way) * normal(random);
      motion.left += std::sqrt(noise.left_per_distance * way) * normal(random);
      motion.rotation +=
          std::sqrt(noise.heading_per_distance * way + noise.heading_per_rotation * step.rotation) *
          normal(random);
      pose = moved(pose, motion);
    }
    const Eigen::Vector3d off(pose.x - odometry.pose().x, pose.y - odometry.pose().y,
                              pose.heading - odometry.pose().heading);
    seen += off * off.transpose() / static_cast<double>(vehicles);
  }
  const Eigen::Matrix3d told = Eigen::Map<const Eigen::Matrix3d>(odometry.covariance().data());
  for (int i = 0; i < 3; ++i) {
    CHECK(told(i, i) == doctest::Approx(seen(i, i)).epsilon(0.1));
    for (int j = 0; j < 3; ++j)
      CHECK(std::abs(told(i, j) - seen(i, j)) < 0.1 * std::sqrt(told(i, i) * told(j, j)));
  }
  CHECK(told == told.transpose());
  CHECK(Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(told).eigenvalues().minCoeff() > 0);
}

TEST_CASE("a limited twist stays on its curve and keeps every limit") {
  const TwistLimiter::Limits limits{2, 1, 0.5, 1.5, 1, 3, 2};
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(200); ++i) {
    auto limiter = TwistLimiter::make(limits).value();
    const double curvature = test::uniform(random, -3, 3);
    const double speed = test::uniform(random, -4, 4);
    for (int k = 0; k < 400; ++k) {
      const Twist before = limiter.twist();
      const Twist now = limiter.step({speed, 0, curvature * speed}, 0.01).value;
      CHECK(now.rotation == doctest::Approx(curvature * now.forward));
      CHECK(now.forward <= 2 + 1e-9);
      CHECK(now.forward >= -1 - 1e-9);
      CHECK(std::abs(now.rotation) <= 1.5 + 1e-9);
      CHECK(std::abs(now.forward - before.forward) <= 0.01 + 1e-12);
      CHECK(std::abs(now.rotation - before.rotation) <= 0.02 + 1e-12);
    }
    const double factor =
        std::min({1.0, (speed > 0 ? 2 : 1) / std::abs(speed), 1.5 / std::abs(curvature * speed)});
    CHECK(limiter.twist().forward == doctest::Approx(factor * speed));
    limiter.step({not_a_number, 0, 0}, 10);
    CHECK(limiter.twist() == Twist{});
    limiter.reset({1, 0, 0});
    CHECK(limiter.step({2, 0, 0}, not_a_number).value == Twist{1, 0, 0});
  }
  CHECK(TwistLimiter::make({2, 1, 0.5, 1.5, 0, 3, 2}).error() == Errc::not_positive);
  CHECK(TwistLimiter::make({2, 1, 0.5, not_a_number, 1, 3, 2}).error() == Errc::not_finite);
}
