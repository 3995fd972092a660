#include "takt/sim/vehicle_plant.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/mobile/odometry.hpp"

using namespace takt;
using sim::VehicleParameters;
using sim::VehiclePlant;
using vehicle::DriveCommand;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

VehicleParameters furbot() {
  VehicleParameters parameters;
  parameters.wheelbase = 1.6;
  return parameters;
}

VehiclePlant plant() { return VehiclePlant::make(furbot()).value(); }

void drive(VehiclePlant& vehicle, const DriveCommand& command, double seconds) {
  const int steps = static_cast<int>(std::lround(seconds / sim::vehicle_seconds));
  for (int i = 0; i < steps; ++i) vehicle.step(command);
}

}  // namespace

TEST_CASE("full throttle leads to the top speed, forwards and backwards, and does not exceed it") {
  for (const double throttle : {1.0, -1.0}) {
    VehiclePlant vehicle = plant();
    for (int i = 0; i < 60'000; ++i) {
      vehicle.step({0, throttle, 0});
      CHECK(std::abs(vehicle.speed()) <= furbot().top_speed + 1e-12);
    }
    CHECK(vehicle.speed() == doctest::Approx(throttle * furbot().top_speed).epsilon(1e-4));
  }
}

TEST_CASE("throttle, brake and steering follow as first-order lags do") {
  VehiclePlant vehicle = plant();
  drive(vehicle, {0, 1, 0}, furbot().throttle_lag);
  CHECK(vehicle.throttle() == doctest::Approx(1 - std::exp(-1.0)));
  drive(vehicle, {0, 0, 1}, furbot().brake_lag);
  CHECK(vehicle.brake() == doctest::Approx(1 - std::exp(-1.0)));
  drive(vehicle, {0.02, 0, 1}, furbot().steering_lag);  // so small that the rate does not limit it
  CHECK(vehicle.steering() == doctest::Approx(0.02 * (1 - std::exp(-1.0))));
}

TEST_CASE("the wheels turn no faster and no further than they can") {
  VehiclePlant vehicle = plant();
  auto random = test::generator(1);
  double last = 0;
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    vehicle.step({test::uniform(random, -3, 3), 0, 0});
    CHECK(std::abs(vehicle.steering() - last) <= furbot().steering_rate * sim::vehicle_seconds + 1e-12);
    CHECK(std::abs(vehicle.steering()) <= furbot().max_steering);
    last = vehicle.steering();
  }
  drive(vehicle, {infinity, 0, 0}, 3);
  CHECK(vehicle.steering() == doctest::Approx(furbot().max_steering));
}

TEST_CASE("the brake stops the vehicle where physics says, and never reverses it") {
  VehiclePlant vehicle = plant();
  drive(vehicle, {0, 1, 0}, 5);
  const double speed = vehicle.speed(), from = vehicle.travelled();
  for (int i = 0; i < 5000; ++i) {
    vehicle.step({0, 0, 1});
    CHECK(vehicle.speed() >= 0);
  }
  CHECK(vehicle.speed() == 0);
  const double way = vehicle.travelled() - from;
  const auto p = furbot();
  CHECK(way > speed * speed / (2 * (p.braking + p.rolling + p.acceleration)));
  CHECK(way < speed * speed / (2 * p.braking) + speed * (p.brake_lag + p.throttle_lag));
  const double stand = vehicle.travelled();
  drive(vehicle, {0, 0, 0}, 5);  // a vehicle that stands stays
  CHECK(vehicle.travelled() == stand);
  drive(vehicle, {0, 1, 1}, 5);  // the brake is stronger than the drive
  CHECK(vehicle.travelled() == stand);
}

TEST_CASE("with the wheel turned it drives the circle of its geometry") {
  VehiclePlant vehicle = plant();
  drive(vehicle, {0.3, 0, 0}, 2);
  CHECK(vehicle.pose() == mobile::Pose{});
  const double radius = 1.6 / std::tan(vehicle.steering());
  for (int i = 0; i < 20'000; ++i) {
    vehicle.step({0.3, 0.4, 0});
    CHECK(std::hypot(vehicle.pose().x, vehicle.pose().y - radius) == doctest::Approx(radius).epsilon(1e-4));
  }
  CHECK(vehicle.travelled() > 3 * radius);
}

TEST_CASE("the motion matches the reported wheel speeds and steering") {
  VehiclePlant vehicle = plant();
  const auto wheels = *mobile::DifferentialDrive::make({0.3, 0.3, 1.285});
  auto odometry = *mobile::Odometry::make({});
  auto random = test::generator(2);
  DriveCommand command;
  mobile::Sides before;
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    if (i % 500 == 0)
      command = {test::uniform(random, -0.5, 0.5), test::uniform(random, -1, 1),
                 test::uniform_int(random, 0, 3) == 0 ? 0.3 : 0};
    vehicle.step(command);
    const mobile::Sides now = vehicle.turned();
    REQUIRE(odometry.move(wheels.twist({now.left - before.left, now.right - before.right})));
    before = now;
  }
  CHECK(odometry.pose().x == doctest::Approx(vehicle.pose().x));
  CHECK(odometry.pose().y == doctest::Approx(vehicle.pose().y));
  CHECK(odometry.pose().heading == doctest::Approx(vehicle.pose().heading));
  CHECK(
      vehicle.twist() ==
      mobile::Twist{vehicle.speed(), 0, vehicle.speed() * std::tan(vehicle.steering()) / furbot().wheelbase});
}

TEST_CASE("NaN releases the throttle and leaves steering and brake unchanged") {
  VehiclePlant vehicle = plant();
  drive(vehicle, {0.2, 0, 0.5}, 2);
  drive(vehicle, {not_a_number, not_a_number, not_a_number}, 2);
  CHECK(vehicle.steering() == doctest::Approx(0.2));
  CHECK(vehicle.brake() == doctest::Approx(0.5));
  drive(vehicle, {0, infinity, 0}, 2);
  drive(vehicle, {0, not_a_number, 0}, 2);
  CHECK(vehicle.throttle() == doctest::Approx(0).scale(1).epsilon(1e-5));
  CHECK(std::isfinite(vehicle.pose().x));
}

TEST_CASE("a vehicle that cannot be is refused") {
  const auto refused = [](auto&& change) {
    VehicleParameters parameters = furbot();
    change(parameters);
    const auto made = VehiclePlant::make(parameters);
    return !made && made.error() == sim::Errc::bad_vehicle;
  };
  CHECK(refused([](auto& p) { p = {}; }));  // the wheelbase must be given
  for (const double bad : {0.0, -1.0, not_a_number, infinity}) {
    CAPTURE(bad);
    CHECK(refused([&](auto& p) { p.wheelbase = bad; }));
    CHECK(refused([&](auto& p) { p.wheel_radius = bad; }));
    CHECK(refused([&](auto& p) { p.max_steering = bad; }));
    CHECK(refused([&](auto& p) { p.steering_rate = bad; }));
    CHECK(refused([&](auto& p) { p.steering_lag = bad; }));
    CHECK(refused([&](auto& p) { p.top_speed = bad; }));
    CHECK(refused([&](auto& p) { p.acceleration = bad; }));
    CHECK(refused([&](auto& p) { p.braking = bad; }));
    CHECK(refused([&](auto& p) { p.throttle_lag = bad; }));
    CHECK(refused([&](auto& p) { p.brake_lag = bad; }));
    if (bad != 0) CHECK(refused([&](auto& p) { p.rolling = bad; }));
    if (bad != 0) CHECK(refused([&](auto& p) { p.track = bad; }));
  }
  CHECK(refused([](auto& p) { p.rolling = p.acceleration; }));
  CHECK(!VehiclePlant::make(furbot(), {0, not_a_number, 0}));
}

TEST_CASE("a step keeps the rules of the loop") {
  VehiclePlant vehicle = plant();
  test::RtGuard guard;
  for (int i = 0; i < 1000; ++i) vehicle.step({0.1, i % 7 == 0 ? not_a_number : 0.5, 0});
  CHECK(guard.report() == "");
}
