// Laps of a simulated vehicle that is driven by twists. Its odometry steers it, and its true pose at the end
// is checked.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

#include "sim/client_rig.hpp"
#include "support/rt_guard.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

using namespace takt;
using namespace std::chrono_literals;
using secure::PlainChannel;
using vehicle::DistanceSource;
using vehicle::SupervisorState;
using vehicle::TurnSource;

namespace {

using Drive = vehicle::VehicleDrive<PlainChannel>;
constexpr double pi = std::numbers::pi;

Drive::Configuration furbot(TurnSource turn, DistanceSource distance, double wheelbase = 1.6) {
  Drive::Configuration c;
  c.client = test::client_of_furbot();
  c.limits = {.forward = 3,
              .backward = 3,
              .left = 1,
              .rotation = 1,
              .acceleration = 1,
              .braking = 1,
              .rotational_acceleration = 2};
  c.law.wheelbase = wheelbase;
  c.law.max_steering = 0.5;
  c.law.steering_rate = 0.8;
  c.law.throttle.proportional = 0.4;
  c.law.throttle.integral = 0.15;
  c.law.brake.proportional = 0.5;
  c.law.brake.integral = 0.2;
  c.odometry.noise = {.forward_per_distance = 1e-5, .left_per_distance = 1e-5, .heading_per_distance = 1e-6};
  c.wheel_radius = 0.3;
  c.track = 1.285;
  c.turn = turn;
  c.distance = distance;
  return c;
}

/// Twists for one full circle: to the left or right, forwards or backwards.
struct Round {
  double radius = 6;  // m
  double speed = 2;   // m/s, negative backwards
  double side = 1;    // 1 left, -1 right
  double angle = 0;   // angle of the circle covered, rad
  mobile::Pose last{};

  /// Mirrors all cases into a circle that is driven forwards to the left.
  [[nodiscard]] mobile::Pose mirrored(const mobile::Pose& p) const {
    const double way = std::copysign(1.0, speed);
    return {way * p.x, side * p.y, side * way * p.heading};
  }
  [[nodiscard]] double left() const { return radius * (2 * pi - angle); }

  [[nodiscard]] mobile::Twist twist(const mobile::Pose& pose) {
    const mobile::Pose p = mirrored(pose);
    angle += mobile::wrap_angle(std::atan2(p.x, radius - p.y) - angle);
    if (left() < 0.02) return {};
    const double ahead = angle + 1.5 / radius;
    const double dx = radius * std::sin(ahead) - p.x, dy = radius * (1 - std::cos(ahead)) - p.y;
    const double across = dy * std::cos(p.heading) - dx * std::sin(p.heading);
    const double v = std::clamp(std::sqrt(0.8 * left()), 0.15, std::abs(speed));
    const double way = std::copysign(1.0, speed);
    return {way * v, 0, side * way * v * 2 * across / (dx * dx + dy * dy)};
  }
};

struct Rig {
  explicit Rig(TurnSource turn, DistanceSource distance, double wheelbase = 1.6)
      : Rig(furbot(turn, distance, wheelbase), test::furbot()) {}
  Rig(const Drive::Configuration& driven, const sim::VehicleOptions& options)
      : drive(Drive::make(driven, PlainChannel{}).value()),
        machine(test::Vehicle::make(options, {.payload = vehicle::ByteOrder::big}, {}, Time{}).value()) {}

  void exchange() noexcept {
    now += 1ms;
    while (const std::size_t size = drive.poll(now, bytes).value_or(0))
      (void)machine.receive(std::span(bytes).first(size), now);
    while (const std::size_t size = machine.poll(now, bytes).value_or(0))
      (void)drive.receive(std::span(bytes).first(size), now);
  }
  void lap(Round& round) noexcept {
    for (int i = 0; i < 120'000; ++i) {
      exchange();
      if (i % 10 == 0 && drive.client().state() != SupervisorState::starting)
        (void)drive.drive(round.twist(drive.estimate().pose), now);
      if (round.left() < 0.02 && plant().speed() == 0) return;
    }
  }
  /// Distance between this pose and the true one, in sigmas of the odometry's covariance.
  [[nodiscard]] double sigmas(const mobile::Pose& pose) const {
    const auto& truth = plant().pose();
    const Eigen::Vector3d off(pose.x - truth.x, pose.y - truth.y,
                              mobile::wrap_angle(pose.heading - truth.heading));
    const Eigen::Map<const Eigen::Matrix3d> covariance(drive.estimate().covariance.data());
    return std::sqrt(off.dot(covariance.inverse() * off));
  }
  [[nodiscard]] const sim::VehiclePlant& plant() const { return machine.controller().plant(); }

  Drive drive;
  test::Vehicle machine;
  Time now{};
  std::array<std::uint8_t, std::max(Drive::Client::max_datagram, test::Vehicle::max_datagram)> bytes{};
};

/// The vehicle is back at its start: within 1 % of the distance driven, and within the odometry's own
/// uncertainty.
void check_lap(Rig& rig, Round round) {
  CAPTURE(round.speed);
  CAPTURE(round.side);
  rig.lap(round);
  REQUIRE(round.left() < 0.02);
  CHECK(rig.drive.client().state() == SupervisorState::driving);
  const double driven = std::abs(rig.plant().travelled());
  CHECK(driven == doctest::Approx(2 * pi * round.radius).epsilon(0.01));
  const double back = std::hypot(rig.plant().pose().x, rig.plant().pose().y);
  CHECK(back < 0.01 * driven);
  CHECK(rig.sigmas({}) < 3);
  CHECK(rig.sigmas(rig.drive.estimate().pose) < 3);
}

}  // namespace

TEST_CASE(
    "a lap driven by twists returns to its start, either way round, forwards and backwards, slow and fast") {
  for (const double speed : {1.0, 2.0, 3.0, -1.0, -2.0}) {
    for (const double side : {1.0, -1.0}) {
      Rig rig(TurnSource::steering, DistanceSource::odometer);
      check_lap(rig, {.speed = speed, .side = side});
    }
  }
}

TEST_CASE("it does so by the rates of the wheels alone, though they are whole revolutions a minute") {
  for (const double side : {1.0, -1.0}) {
    Rig rig(TurnSource::wheels, DistanceSource::wheels);
    check_lap(rig, {.side = side});
  }
}

TEST_CASE("it does so though a fifth of the telemetry is lost, a tenth of it lies, and all of it is late") {
  Rig rig(TurnSource::steering, DistanceSource::odometer);
  rig.machine.set_faults({.late = 40ms, .lost = 0.2, .lying = 0.1});
  check_lap(rig, {});
  CHECK(rig.drive.client().telemetry().counters().lost > 300);
}

TEST_CASE("a vehicle that reports its speeds without a sign drives a lap backwards like any other") {
  for (const DistanceSource distance : {DistanceSource::wheels, DistanceSource::odometer}) {
    auto driven = furbot(TurnSource::steering, distance);
    auto options = test::furbot();
    driven.client.units.speed_is_magnitude = options.units.speed_is_magnitude = true;
    for (const double speed : {-1.0, 1.0}) {
      Rig rig(driven, options);
      check_lap(rig, {.speed = speed});
    }
  }
}

TEST_CASE("the check bites: of a vehicle whose wheelbase is another than it thinks, the odometry is wrong") {
  Rig rig(TurnSource::steering, DistanceSource::odometer, 1.7);
  Round round;
  rig.lap(round);
  CHECK(std::hypot(rig.plant().pose().x, rig.plant().pose().y) > 0.01 * rig.plant().travelled());
  CHECK(rig.sigmas(rig.drive.estimate().pose) > 3);
}

TEST_CASE("driving a lap keeps the rules of the loop") {
  Rig rig(TurnSource::steering, DistanceSource::odometer);
  Round round;
  test::RtGuard guard;
  rig.lap(round);
  CHECK(guard.report() == "");
  CHECK(round.left() < 0.02);
}
