// Invariants of a vehicle's limiter that no command may break, and sums that must stay exact over a long run.
// One case is a whole sequence of commands. The long run has a million cases (ROOM=mobile tests/run.sh
// --cases 1000000).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "support/adversary.hpp"
#include "support/random.hpp"
#include "takt/mobile/car_like.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/encoder.hpp"
#include "takt/mobile/holonomic_drive.hpp"
#include "takt/mobile/odometry.hpp"
#include "takt/mobile/twist_limiter.hpp"
#include "takt/mobile/unicycle.hpp"

using namespace takt;
using namespace takt::mobile;

namespace {

template <class Scalar>
constexpr Scalar rounding = std::is_same_v<Scalar, float> ? Scalar(2e-5) : Scalar(1e-12);

template <class Scalar>
Scalar any(std::mt19937_64& random, double low, double high) {
  return static_cast<Scalar>(test::uniform(random, low, high));
}

/// A change of velocity takes at least the time to brake to zero and to accelerate again.
template <class Scalar>
bool changes_in_time(Scalar from, Scalar to, Scalar braking, Scalar acceleration, Scalar period) {
  const bool turns = from * to < 0;
  const Scalar more = turns ? std::abs(to) : std::max(Scalar(0), std::abs(to) - std::abs(from));
  const Scalar less = turns ? std::abs(from) : std::max(Scalar(0), std::abs(from) - std::abs(to));
  return less / braking + more / acceleration <=
         period + rounding<Scalar> * (1 + std::abs(from) + std::abs(to)) / std::min(braking, acceleration);
}

template <class Scalar>
bool near(const BasicTwist<Scalar>& a, const BasicTwist<Scalar>& b) {
  const Scalar slack =
      20 * rounding<Scalar> * (1 + std::abs(b.forward) + std::abs(b.left) + std::abs(b.rotation));
  return std::abs(a.forward - b.forward) <= slack && std::abs(a.left - b.left) <= slack &&
         std::abs(a.rotation - b.rotation) <= slack;
}

}  // namespace

TEST_CASE_TEMPLATE("a twist keeps all limits, for any target", Scalar, double, float) {
  auto random = test::generator(101);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    using Limiter = BasicTwistLimiter<Scalar>;
    const auto limit = [&] { return any<Scalar>(random, 0.1, 5); };
    const typename Limiter::Limits l{limit(), limit(), limit(), limit(), limit(), limit(), limit()};
    auto limiter = Limiter::make(l).value();
    const Scalar period = any<Scalar>(random, 1e-3, 0.2);
    test::Adversary<Scalar> forward(random, 6), left(random, 6), rotation(random, 6);
    for (int k = 0; k < 60; ++k) {
      const auto before = limiter.twist();
      const BasicTwist<Scalar> wanted{forward.next(), left.next(), rotation.next()};
      const bool finite = detail::is_finite(wanted);
      const auto step = limiter.step(wanted, period);
      const auto& now = step.value;
      EXPECT(now == limiter.twist());
      EXPECT(step.error == (finite ? Errc{} : Errc::not_finite));
      EXPECT(now.forward <= l.forward * (1 + rounding<Scalar>));
      EXPECT(now.forward >= -l.backward * (1 + rounding<Scalar>));
      EXPECT(std::abs(now.left) <= l.left * (1 + rounding<Scalar>));
      EXPECT(std::abs(now.rotation) <= l.rotation * (1 + rounding<Scalar>));
      EXPECT(changes_in_time(before.forward, now.forward, l.braking, l.acceleration, period));
      EXPECT(changes_in_time(before.left, now.left, l.braking, l.acceleration, period));
      EXPECT(std::abs(now.rotation - before.rotation) <=
             l.rotational_acceleration * period + rounding<Scalar> * l.rotation);
      if (!finite) EXPECT(std::abs(now.rotation) <= std::abs(before.rotation));
      if (!finite) EXPECT(std::abs(now.forward) <= std::abs(before.forward));
      // A stop takes no longer than braking from the larger of |forward| and |left|.
      const Scalar speed = std::max(std::abs(now.forward), std::abs(now.left));
      const Scalar speed_before = std::max(std::abs(before.forward), std::abs(before.left));
      if (!finite)
        EXPECT(speed <= std::max(Scalar(0), speed_before - l.braking * period) +
                            rounding<Scalar> * (1 + speed_before));
    }
    // With a constant twist it ends on the curve of that twist.
    const Scalar speed = any<Scalar>(random, -4, 4);
    const Scalar curvature = any<Scalar>(random, -2, 2);
    for (int k = 0; k < 200000; ++k) {
      const auto before = limiter.twist();
      if (limiter.step({speed, 0, curvature * speed}, period).value == before) break;
    }
    EXPECT(std::abs(limiter.twist().rotation - curvature * limiter.twist().forward) <=
           100 * rounding<Scalar>);
    EXPECT(limiter.twist().forward * speed > 0);
  }
}

TEST_CASE_TEMPLATE("every drive reads the commanded twist back from its wheels", Scalar, double, float) {
  auto random = test::generator(102);
  const auto any_twist = [&] {
    return BasicTwist<Scalar>{any<Scalar>(random, -3, 3), any<Scalar>(random, -3, 3),
                              any<Scalar>(random, -3, 3)};
  };
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    CAPTURE(i);
    const auto length = [&] { return any<Scalar>(random, 0.2, 3); };
    const auto wanted = any_twist();
    const BasicTwist<Scalar> without_left{wanted.forward, 0, wanted.rotation};
    const BasicUnicycle<Scalar> unicycle;
    const auto command = unicycle.drive(wanted);
    EXPECT(command.exact == (wanted.left == 0));
    EXPECT(unicycle.drive(without_left).exact);
    EXPECT(unicycle.twist(command.forward, command.rotation) == without_left);
    const auto differential = BasicDifferentialDrive<Scalar>::make({length(), length(), length()}).value();
    EXPECT(near(differential.twist(differential.wheels(without_left)), without_left));
    const auto tricycle = BasicTricycle<Scalar>::make(length()).value();
    const auto driven = tricycle.drive(without_left);
    EXPECT(near(tricycle.twist(driven.speed, driven.steering), without_left));
    const Scalar wheelbase = length();
    const auto car = BasicCar<Scalar>::make({wheelbase, wheelbase / 2, Scalar(0.7)}).value();
    const auto steered = car.drive(without_left);
    EXPECT(steered.exact == (std::abs(wanted.rotation / wanted.forward) <= car.max_curvature()));
    if (steered.exact) EXPECT(near(car.twist(steered.speed, steered.steering), without_left));
    EXPECT(std::abs(steered.steering) <= Scalar(0.7) * (1 + rounding<Scalar>));
    const auto wheels = car.wheels(steered.speed, steered.steering);
    EXPECT(std::abs(car.steering_from_left_wheel(wheels.steering[0]) - steered.steering) <=
           10 * rounding<Scalar>);
    EXPECT(std::abs(car.steering_from_right_wheel(wheels.steering[1]) - steered.steering) <=
           10 * rounding<Scalar>);
    const auto omni = omni_drive<3>(length(), length(), any<Scalar>(random, -3, 3)).value();
    EXPECT(near(omni.twist(omni.wheels(wanted)), wanted));
    EXPECT(omni.slip(omni.wheels(wanted)) <= 1000 * rounding<Scalar>);
    const auto mecanum = mecanum_drive(length(), length(), length()).value();
    EXPECT(near(mecanum.twist(mecanum.wheels(wanted)), wanted));
  }
}

TEST_CASE_TEMPLATE("a circle closes through wheels and odometry, in either precision", Scalar, double,
                   float) {
  constexpr Scalar pi = std::numbers::pi_v<Scalar>;
  const auto drive = BasicDifferentialDrive<Scalar>::make({Scalar(0.3), Scalar(0.3), Scalar(1.285)}).value();
  for (const int steps : {3, 100, 1000}) {
    BasicOdometry<Scalar> odometry;
    const BasicTwist<Scalar> twist{1, 0, Scalar(0.5)};  // 4 pi seconds around a circle of 2 m
    const Scalar period = 4 * pi / static_cast<Scalar>(steps);
    for (int k = 0; k < steps; ++k) {
      const auto wheels = drive.wheels(period * twist);
      REQUIRE(odometry.move(drive.twist(wheels)).has_value());
    }
    CHECK(std::hypot(odometry.pose().x, odometry.pose().y) < (std::is_same_v<Scalar, float> ? 1e-3 : 1e-12));
    CHECK(std::abs(odometry.pose().heading) < (std::is_same_v<Scalar, float> ? 1e-3 : 1e-12));
  }
}

TEST_CASE("the odometry of encoders that wrap returns after many rounds") {
  // One step per case: --count=100000000 is the long run. The wheels turn by whole counts, so that a round is
  // exact.
  const std::size_t rounds = std::max<std::size_t>(test::count(1'000'000) / 1000, 1);
  const double track = 0.5;
  const int counts = 4000;                              // of one turn of a wheel
  const double radius = track * counts / 2 / 1000 / 4;  // 1000 steps of +-4 counts turn the vehicle once
  const auto drive = DifferentialDrive::make({radius, radius, track}).value();
  auto left = Encoder::make({counts, 16, 1e3}).value();
  auto right = Encoder::make({counts, 16, 1e3}).value();
  Odometry odometry;
  std::uint64_t left_count = 0, right_count = 0;
  REQUIRE(left.turned(left_count, 0.01).has_value());
  REQUIRE(right.turned(right_count, 0.01).has_value());
  bool ok = true;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (int k = 0; k < 1000; ++k) {
      left_count += 1;
      right_count += 9;
      const Sides turned{left.turned(left_count & 0xffff, 0.01).value_or(9),
                         right.turned(right_count & 0xffff, 0.01).value_or(9)};
      ok = ok && odometry.move(drive.twist(turned));
    }
  }
  CHECK(ok);
  CHECK(std::hypot(odometry.pose().x, odometry.pose().y) < 1e-6);
  CHECK(std::abs(odometry.pose().heading) < 1e-6);
}
