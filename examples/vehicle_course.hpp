// The course of the vehicle examples, who steers along it, and the configuration of their vehicle.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "takt/mobile/pose.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace vehicle_course {

namespace mobile = takt::mobile;
namespace vehicle = takt::vehicle;

inline constexpr double pi = std::numbers::pi;
inline constexpr double wheelbase = 1.6;  // m

/// Two straights and two half circles to the left, starting in the middle of a straight along x.
struct Course {
  static constexpr double straight = 16, radius = 5;  // m
  static constexpr double length = 2 * straight + 2 * pi * radius;

  [[nodiscard]] static mobile::Pose point(double way) {
    constexpr double half = length / 2;
    const bool back = std::fmod(way, length) >= half;
    const mobile::Pose p = half_lap(std::fmod(way, half));
    return back ? mobile::Pose{-p.x, 2 * radius - p.y, p.heading + pi} : p;
  }

 private:
  [[nodiscard]] static mobile::Pose half_lap(double way) {
    if (way < straight / 2) return {way, 0, 0};
    const double angle = (way - straight / 2) / radius;
    if (angle < pi) return {straight / 2 + radius * std::sin(angle), radius * (1 - std::cos(angle)), angle};
    return {straight / 2 - (angle - pi) * radius, 2 * radius, pi};
  }
};

/// Steers the vehicle by its odometry: each twist lies on the arc through a point of the course a little
/// ahead (pure pursuit).
class Driver {
 public:
  [[nodiscard]] bool arrived() const { return left() < 0.05; }
  [[nodiscard]] double way() const { return way_; }

  [[nodiscard]] mobile::Twist twist(const mobile::Pose& pose) {
    while (distance(pose, way_ + 0.01) < distance(pose, way_)) way_ += 0.01;
    if (arrived()) return {};
    const mobile::Pose ahead = Course::point(way_ + look_ahead);
    const double dx = ahead.x - pose.x, dy = ahead.y - pose.y;
    const double across = dy * std::cos(pose.heading) - dx * std::sin(pose.heading);
    const double speed = std::clamp(std::sqrt(2 * braking * left()), 0.15, cruise);
    return {speed, 0, speed * 2 * across / (dx * dx + dy * dy)};
  }

 private:
  static constexpr double cruise = 2, braking = 0.4, look_ahead = 1.5;  // m/s, m/s^2, m

  [[nodiscard]] double left() const { return Course::length - way_; }
  [[nodiscard]] static double distance(const mobile::Pose& pose, double way) {
    const mobile::Pose p = Course::point(way);
    return std::hypot(p.x - pose.x, p.y - pose.y);
  }
  double way_ = 0;
};

/// The drive of the simulated vehicle.
inline vehicle::VehicleDriveConfiguration configuration() {
  vehicle::VehicleDriveConfiguration c;
  c.client.units = vehicle::provisional_units;  // of the simulated vehicle; measure those of a real one
  c.client.payload = vehicle::ByteOrder::little;
  c.limits = {.forward = 2,
              .backward = 1,
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
  // For tyres with a little slip; the simulated ones have none.
  c.odometry.noise = {.forward_per_distance = 1e-4, .left_per_distance = 1e-4, .heading_per_distance = 1e-5};
  c.wheel_radius = 0.3;
  c.track = 1.285;
  c.turn = vehicle::TurnSource::steering;
  c.distance = vehicle::DistanceSource::odometer;
  c.odometry.timeout = 5;  // s: without datagrams, the vehicle keeps its wheels where they are
  return c;
}

}  // namespace vehicle_course
