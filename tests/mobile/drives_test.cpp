// Tests each kind of drive: the wheels of a command give back its twist, and the formulas agree with cases
// computed by hand.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "support/random.hpp"
#include "takt/mobile/car_like.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/holonomic_drive.hpp"
#include "takt/mobile/odometry.hpp"
#include "takt/mobile/unicycle.hpp"

using namespace takt;
using namespace takt::mobile;

namespace {

constexpr double pi = std::numbers::pi;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

void near(const Twist& a, const Twist& b) {
  CHECK(a.forward == doctest::Approx(b.forward).epsilon(1e-9));
  CHECK(a.left == doctest::Approx(b.left).epsilon(1e-9));
  CHECK(a.rotation == doctest::Approx(b.rotation).epsilon(1e-9));
}

Twist any_twist(std::mt19937_64& random) {
  return {test::uniform(random, -2, 2), test::uniform(random, -2, 2), test::uniform(random, -2, 2)};
}

}  // namespace

TEST_CASE("a unicycle drives a twist but for its sideways speed, and says so") {
  constexpr Unicycle unicycle;
  near(unicycle.twist(1.5, -0.4), {1.5, 0, -0.4});
  CHECK(unicycle.drive({1.5, 0, -0.4}) == UnicycleCommand{1.5, -0.4, true});
  CHECK(unicycle.drive({1.5, 0.1, -0.4}) == UnicycleCommand{1.5, -0.4, false});
  for (const Twist& bad : {Twist{not_a_number, 0, 1}, Twist{1, not_a_number, 1}, Twist{1, 0, not_a_number}})
    CHECK(unicycle.drive(bad) == UnicycleCommand{0, 0, false});
  auto random = test::generator(19);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const Twist wanted = any_twist(random);
    const UnicycleCommand command = unicycle.drive(wanted);
    CHECK(unicycle.twist(command.forward, command.rotation) == Twist{wanted.forward, 0, wanted.rotation});
  }
}

TEST_CASE("a differential drive turns by the difference of its sides") {
  // The Furbot's rear axle: wheels of 0.3 m, 1.285 m apart.
  const auto drive = DifferentialDrive::make({0.3, 0.3, 1.285}).value();
  const Twist twist = drive.twist({9, 11});
  CHECK(twist.forward == doctest::Approx(3));
  CHECK(twist.rotation == doctest::Approx(0.6 / 1.285));
  CHECK(drive.twist({-1, 1}).forward == 0);
  CHECK(drive.twist({-1, 1}).rotation > 0);
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const auto any = DifferentialDrive::make({test::uniform(random, 0.05, 1), test::uniform(random, 0.05, 1),
                                              test::uniform(random, 0.1, 3)})
                         .value();
    Twist wanted = any_twist(random);
    wanted.left = 0;
    near(any.twist(any.wheels(wanted)), wanted);
  }
}

TEST_CASE("several wheels a side count as their mean, but for those that say nothing") {
  const std::vector wheels{1.0, 3.0, not_a_number};
  CHECK(mean_of_wheels<double>(wheels) == 2);
  CHECK(std::isnan(mean_of_wheels<double>(std::vector{not_a_number})));
}

TEST_CASE("a car's wheels all turn about one point on the line of its rear axle") {
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const double wheelbase = test::uniform(random, 0.5, 4);
    const double track = test::uniform(random, 0, 0.8) * wheelbase;
    const auto car = Car::make({wheelbase, track, 0.9}).value();
    const double steering = test::uniform(random, 0.05, 0.9);
    const double speed = test::uniform(random, -3, 3);
    const double radius = wheelbase / std::tan(steering);  // the centre is (0, radius)
    const CarWheels wheels = car.wheels(speed, steering);
    CHECK(wheels.steering[0] == doctest::Approx(std::atan2(wheelbase, radius - track / 2)));
    CHECK(wheels.steering[1] == doctest::Approx(std::atan2(wheelbase, radius + track / 2)));
    CHECK(wheels.steering[0] >= wheels.steering[1]);  // the inner wheel turns further
    const double rotation = car.twist(speed, steering).rotation;
    CHECK(rotation == doctest::Approx(speed / radius));
    CHECK(wheels.speed[0] == doctest::Approx(rotation * std::hypot(wheelbase, radius - track / 2)));
    CHECK(wheels.speed[1] == doctest::Approx(rotation * std::hypot(wheelbase, radius + track / 2)));
    CHECK(wheels.speed[2] == doctest::Approx(rotation * (radius - track / 2)));
    CHECK(wheels.speed[3] == doctest::Approx(rotation * (radius + track / 2)));
    CHECK(car.steering_from_left_wheel(wheels.steering[0]) == doctest::Approx(steering));
    CHECK(car.steering_from_right_wheel(wheels.steering[1]) == doctest::Approx(steering));
    const CarWheels mirrored = car.wheels(speed, -steering);
    CHECK(mirrored.steering[0] == doctest::Approx(-wheels.steering[1]));
    CHECK(mirrored.speed[2] == doctest::Approx(wheels.speed[3]));
  }
}

TEST_CASE(
    "a car drives the twist that it is asked for, backwards too, or comes as near as its steering goes") {
  const auto car = Car::make({2, 1, 0.6}).value();
  auto random = test::generator(3);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const Twist wanted{test::uniform(random, -3, 3), 0, test::uniform(random, -2, 2)};
    const Steering driven = car.drive(wanted);
    const bool possible = std::abs(wanted.rotation) <= car.max_curvature() * std::abs(wanted.forward);
    CHECK(driven.exact == possible);
    CHECK(std::abs(driven.steering) <= 0.6);
    const Twist got = car.twist(driven.speed, driven.steering);
    if (possible) near(got, wanted);
    CHECK(got.rotation * wanted.rotation >= 0);
  }
  CHECK(car.drive({0, 0, 0}) == Steering{0, 0, true});
  CHECK(car.drive({0, 0, 1}) == Steering{0, 0.6, false});
  CHECK(car.drive({not_a_number, 0, 0}) == Steering{0, 0, false});
}

TEST_CASE("a tricycle drives any twist, on the spot too") {
  const auto tricycle = Tricycle::make(1.5).value();
  auto random = test::generator(4);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    Twist wanted = any_twist(random);
    wanted.left = 0;
    const Steering driven = tricycle.drive(wanted);
    CHECK(std::abs(driven.steering) <= pi / 2);
    near(tricycle.twist(driven.speed, driven.steering), wanted);
  }
  CHECK(tricycle.drive({0, 0, 1}).steering == doctest::Approx(pi / 2));
}

TEST_CASE("a standing vehicle steers towards the commanded turn, for either sign of zero") {
  const auto car = Car::make({2.5, 1.5, 0.5}).value();
  CHECK(car.drive({-0.0, 0, 1}) == car.drive({0.0, 0, 1}));
  CHECK(car.drive({-0.0, 0, 1}).steering == 0.5);
  CHECK(car.drive({-0.0, 0, -1}).steering == -0.5);
  const auto tricycle = Tricycle::make(1.0).value();
  CHECK(tricycle.drive({-0.0, 0, 0}) == Steering{0, 0, true});
  CHECK(tricycle.drive({-0.0, 0, 1}).steering == doctest::Approx(pi / 2));
  CHECK(tricycle.drive({-0.0, 0, -1}).steering == doctest::Approx(-pi / 2));
}

TEST_CASE("an overflow in a drive never becomes a command") {
  const double huge = 1e308;
  CHECK(Tricycle::make(10.0)->drive({1, 0, huge}) == Steering{0, 0, false});
  CHECK(Tricycle::make(10.0)->drive({1, 0, not_a_number}) == Steering{0, 0, false});
  Odometry odometry;
  const auto differential = DifferentialDrive::make({0.3, 0.3, 1.285}).value();
  CHECK_FALSE(std::isfinite(differential.wheels({huge, 0, 0}).left));
  CHECK_FALSE(std::isfinite(differential.wheels({not_a_number, 0, 0}).right));
  CHECK(odometry.move(DifferentialDrive::make({3, 3, 1})->twist({huge, huge})).error() == Errc::not_finite);
  CHECK(odometry.move(differential.twist({not_a_number, 1})).error() == Errc::not_finite);
  CHECK(odometry.move(differential.twist({mean_of_wheels<double>({}), 1})).error() == Errc::not_finite);
  const auto mecanum = mecanum_drive(0.6, 0.4, 0.1).value();
  for (const double wheel : mecanum.wheels({huge, huge, huge})) CHECK_FALSE(std::isfinite(wheel));
  for (const double bad : {not_a_number, std::numeric_limits<double>::infinity()}) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::array<double, 4> rates{1, 1, 1, 1};
      rates[i] = bad;
      CHECK(odometry.move(mecanum.twist(rates)).error() == Errc::not_finite);
      CHECK_FALSE(std::isfinite(mecanum.slip(rates)));
    }
  }
  CHECK(odometry.pose() == Pose{});
}

TEST_CASE("mecanum wheels follow the formula of the field") {
  const auto drive = mecanum_drive(0.6, 0.4, 0.1).value();
  const Twist t{1, 0.5, 0.25};
  const auto wheels = drive.wheels(t);
  const double lever = 0.3 + 0.2;
  CHECK(wheels[0] == doctest::Approx((t.forward - t.left - lever * t.rotation) / 0.1));
  CHECK(wheels[1] == doctest::Approx((t.forward + t.left + lever * t.rotation) / 0.1));
  CHECK(wheels[2] == doctest::Approx((t.forward + t.left - lever * t.rotation) / 0.1));
  CHECK(wheels[3] == doctest::Approx((t.forward - t.left + lever * t.rotation) / 0.1));
}

TEST_CASE("omni wheels: there and back, and slip is what they contradict each other by") {
  auto random = test::generator(5);
  const auto three = omni_drive<3>(0.3, 0.05).value();
  const auto five = omni_drive<5>(0.3, 0.05, 0.7).value();
  const auto four = mecanum_drive(0.6, 0.4, 0.1).value();
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const Twist wanted = any_twist(random);
    near(three.twist(three.wheels(wanted)), wanted);
    near(five.twist(five.wheels(wanted)), wanted);
    near(four.twist(four.wheels(wanted)), wanted);
    auto wheels = four.wheels(wanted);
    CHECK(four.slip(wheels) < 1e-9);
    wheels[2] += 1;
    CHECK(four.slip(wheels) == doctest::Approx(0.25));
  }
  // All three wheels at the same rate turn the vehicle on the spot, counter-clockwise.
  near(three.twist({6, 6, 6}), {0, 0, 1});
}

TEST_CASE("dimensions that make no vehicle are refused by name") {
  CHECK(DifferentialDrive::make({0, 0.3, 1}).error() == Errc::not_positive);
  CHECK(DifferentialDrive::make({0.3, 0.3, -1}).error() == Errc::not_positive);
  CHECK(DifferentialDrive::make({0.3, not_a_number, 1}).error() == Errc::not_finite);
  CHECK(Car::make({0, 1, 0.5}).error() == Errc::not_positive);
  CHECK(Car::make({2, 1, 1.6}).error() == Errc::out_of_domain);
  CHECK(Car::make({1, 4, 1.2}).error() == Errc::out_of_domain);
  CHECK(Tricycle::make(0.0).error() == Errc::not_positive);
  CHECK(omni_drive<3>(0.3, 0.0).error() == Errc::not_positive);
  CHECK(omni_drive<3>(0.0, 0.1).error() == Errc::out_of_domain);  // no lever: cannot turn
  CHECK(omni_drive<2>(0.3, 0.1).error() == Errc::out_of_domain);
  CHECK(mecanum_drive(0.6, not_a_number, 0.1).error() == Errc::not_finite);
}
