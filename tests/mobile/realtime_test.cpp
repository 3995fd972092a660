// Runs the functions of this room that a control loop calls, under the real-time guard.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "support/rt_guard.hpp"
#include "takt/mobile/car_like.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/encoder.hpp"
#include "takt/mobile/holonomic_drive.hpp"
#include "takt/mobile/odometry.hpp"
#include "takt/mobile/twist_limiter.hpp"
#include "takt/mobile/unicycle.hpp"

using namespace takt;
using namespace takt::mobile;

TEST_CASE("drives, encoders, limits and odometry, and their making, keep the rules of the loop") {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  test::RtGuard guard;
  auto odometry = *Odometry::make({.noise = {1e-4, 1e-4, 1e-4, 1e-4}});
  auto limiter = *TwistLimiter::make({2, 1, 0.5, 1.5, 1, 3, 2});
  auto encoder = *Encoder::make({1000, 16, 100});
  const Unicycle unicycle;
  const auto differential = *DifferentialDrive::make({0.3, 0.3, 1.285});
  const auto car = *Car::make({2, 1, 0.6});
  const auto tricycle = *Tricycle::make(1.5);
  const auto omni = *omni_drive<3>(0.3, 0.05);
  const auto mecanum = *mecanum_drive(0.6, 0.4, 0.1);
  bool ok = !Car::make({0, 1, 0.6}) && !omni_drive<3>(0.0, 0.05);
  for (int k = 0; k < 1000; ++k) {
    const double speed = k % 100 == 99 ? not_a_number : 1;
    const auto step = limiter.step({speed, 0, 0.3}, 0.001);
    const Twist& twist = step.value;
    ok = ok && step.ok() == (k % 100 != 99) && !limiter.step(twist, 0).ok();
    const Sides sides = differential.wheels(twist);
    const std::array left{sides.left, not_a_number};
    ok = ok && odometry.advance(differential.twist({mean_of_wheels<double>(left), sides.right}), 0.001);
    const UnicycleCommand command = unicycle.drive(twist);
    ok = ok && command.exact &&
         odometry.move(0.001 * unicycle.twist(command.forward, command.rotation)).has_value();
    ok = ok && odometry.move(0.001 * tricycle.twist(tricycle.drive(twist).speed, 0.1));
    const auto [angle, exact] = std::pair(car.drive(twist).steering, car.drive(twist).exact);
    ok = ok && exact && odometry.move(0.001 * car.twist(1, car.steering_from_left_wheel(angle)));
    ok = ok && car.wheels(1, car.steering_from_right_wheel(angle)).speed[0] > 0;
    ok = ok && odometry.move(0.001 * omni.twist(omni.wheels(twist))) && omni.slip(omni.wheels(twist)) < 1e-6;
    ok = ok && odometry.move(0.001 * mecanum.twist(mecanum.wheels(twist)), 0.001);
    ok = ok && !odometry.advance({not_a_number, 0, 0}, 0.001) && !odometry.advance(twist, 1);
    ok = ok && encoder.turned(static_cast<std::uint64_t>(k), 0.001) && !encoder.turned(0, 0);
    if (k == 500) {
      encoder.reset();
      ok = ok && odometry.set({1, 2, 3});
      limiter.reset({1, 0, 0.3});
    }
  }
  ok = ok && moved(odometry.pose(), {1, 0, 1}, PoseIntegration::runge_kutta).heading != 0 &&
       moved(odometry.pose(), {1, 0, 1}, PoseIntegration::euler).heading != 0;
  CHECK(guard.report() == "");
  CHECK(ok);
}
