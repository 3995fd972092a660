// Vehicles with steered wheels: bicycle model, car (Ackermann), tricycle. The origin is the middle of the
// rear axle, which does not slide sideways. With the wheelbase L, the curvature is k = rotation / forward =
// tan(steering) / L.
//
// A car's wheel at x in front and y to the left of the origin rolls with (1 - k y, k x) times the speed. It
// points at atan2(k x, 1 - k y), and its speed is the length of that vector times the vehicle's.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "takt/core/error.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// The command of a steered vehicle.
template <class Scalar>
struct BasicSteering {
  Scalar speed = 0;  ///< m/s, of the rear axle's middle (bicycle, car) or along the steered wheel (tricycle)
  Scalar steering = 0;  ///< rad, counter-clockwise
  /// false: the twist is not possible; this is the nearest command, with the requested speed
  bool exact = true;

  friend constexpr bool operator==(const BasicSteering&, const BasicSteering&) = default;
};
using Steering = BasicSteering<double>;

/// The four wheels of a car: front left, front right, rear left, rear right.
template <class Scalar>
struct BasicCarWheels {
  std::array<Scalar, 2> steering{};  ///< rad, of the front wheels: left, right
  std::array<Scalar, 4> speed{};     ///< m/s along each wheel
};
using CarWheels = BasicCarWheels<double>;

/// A car or a bicycle. A value; every function is real-time safe.
template <class Scalar>
class BasicCar {
 public:
  /// The dimensions of a car or a bicycle.
  struct Geometry {
    Scalar wheelbase = 0;     ///< m from the rear axle to the front axle
    Scalar track = 0;         ///< m between left and right wheels; 0 for a bicycle
    Scalar max_steering = 1;  ///< rad, of the bicycle's wheel; below pi/2
  };

  /// Errors: not_finite, not_positive (wheelbase, max_steering; a negative track), out_of_domain. The last
  /// one means that max_steering is pi/2 or more, or that the centre of the tightest turn lies between the
  /// wheels.
  [[nodiscard]] static Result<BasicCar> make(const Geometry& g) noexcept {
    for (const Scalar number : {g.wheelbase, g.track, g.max_steering}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
    }
    if (!(g.wheelbase > 0) || !(g.track >= 0) || !(g.max_steering > 0)) return fail(Errc::not_positive);
    if (!(g.max_steering < std::numbers::pi_v<Scalar> / 2)) return fail(Errc::out_of_domain);
    BasicCar car(g);
    if (!(car.max_curvature_ * g.track / 2 < 1)) return fail(Errc::out_of_domain);
    return car;
  }

  /// The largest curvature (1/m) that the vehicle can drive.
  [[nodiscard]] Scalar max_curvature() const noexcept { return max_curvature_; }

  /// The twist of the vehicle at this speed (m/s) and steering (rad). NaN and infinity pass through.
  [[nodiscard]] BasicTwist<Scalar> twist(Scalar speed, Scalar steering) const noexcept {
    return {speed, 0, speed * std::tan(steering) / geometry_.wheelbase};
  }

  /// The command for a twist; it uses forward and rotation. The same law applies in both directions. At
  /// standstill the vehicle cannot turn. The wheel then turns as far as it can in the direction of the
  /// rotation, as if driving forward. A NaN gives standstill with straight wheels.
  [[nodiscard]] BasicSteering<Scalar> drive(const BasicTwist<Scalar>& twist) const noexcept {
    if (!detail::is_finite(twist)) return {0, 0, false};
    if (twist.rotation == 0) return {twist.forward, 0, true};
    // Infinite at standstill, with the sign of the rotation, because -0 + 0 is 0.
    const Scalar curvature = twist.rotation / (twist.forward + Scalar(0));
    if (std::abs(curvature) <= max_curvature_)
      return {twist.forward, std::atan(curvature * geometry_.wheelbase), true};
    return {twist.forward, std::copysign(geometry_.max_steering, curvature), false};
  }

  /// The wheels of a car at this speed (m/s) and steering (rad, at most max_steering). NaN and infinity pass
  /// through.
  [[nodiscard]] BasicCarWheels<Scalar> wheels(Scalar speed, Scalar steering) const noexcept {
    const Scalar curvature = std::tan(steering) / geometry_.wheelbase;
    const Scalar forward = curvature * geometry_.wheelbase;
    const Scalar left = 1 - curvature * geometry_.track / 2;
    const Scalar right = 1 + curvature * geometry_.track / 2;
    return {
        {std::atan2(forward, left), std::atan2(forward, right)},
        {speed * std::hypot(left, forward), speed * std::hypot(right, forward), speed * left, speed * right}};
  }

  /// The steering of the bicycle (rad) that turns about the same centre as a front wheel at `angle` (rad).
  [[nodiscard]] Scalar steering_from_left_wheel(Scalar angle) const noexcept {
    return bicycle_angle(angle, geometry_.track / 2);
  }
  /// As above, for the right wheel.
  [[nodiscard]] Scalar steering_from_right_wheel(Scalar angle) const noexcept {
    return bicycle_angle(angle, -geometry_.track / 2);
  }

 private:
  explicit BasicCar(const Geometry& g) noexcept
      : geometry_(g), max_curvature_(std::tan(g.max_steering) / g.wheelbase) {}

  /// tan(angle) = k L / (1 - k y), solved for k L.
  [[nodiscard]] Scalar bicycle_angle(Scalar angle, Scalar y) const noexcept {
    const Scalar t = std::tan(angle);
    return std::atan2(t, 1 + t * y / geometry_.wheelbase);
  }

  Geometry geometry_;
  Scalar max_curvature_;
};
/// A car in double precision.
using Car = BasicCar<double>;

/// A vehicle with one front wheel that is steered, by up to a quarter turn, and driven. It can turn on the
/// spot. A value; real-time safe.
template <class Scalar>
class BasicTricycle {
 public:
  /// Takes the wheelbase in m. Errors: not_finite, not_positive.
  [[nodiscard]] static Result<BasicTricycle> make(Scalar wheelbase) noexcept {
    if (!std::isfinite(wheelbase)) return fail(Errc::not_finite);
    if (!(wheelbase > 0)) return fail(Errc::not_positive);
    return BasicTricycle(wheelbase);
  }

  /// The twist of the vehicle at this wheel speed (m/s) and steering (rad). NaN and infinity pass through.
  [[nodiscard]] BasicTwist<Scalar> twist(Scalar wheel_speed, Scalar steering) const noexcept {
    return {wheel_speed * std::cos(steering), 0, wheel_speed * std::sin(steering) / wheelbase_};
  }

  /// The command for a twist. The wheel turns by at most a quarter turn, and rolls backwards when the vehicle
  /// drives backwards. A NaN, or a wheel speed that overflows, gives standstill with a straight wheel and is
  /// not exact.
  [[nodiscard]] BasicSteering<Scalar> drive(const BasicTwist<Scalar>& twist) const noexcept {
    if (!detail::is_finite(twist)) return {0, 0, false};
    const Scalar across = twist.rotation * wheelbase_;
    const Scalar speed = std::hypot(twist.forward, across);
    if (!std::isfinite(speed)) return {0, 0, false};
    // abs() removes -0
    if (twist.forward >= 0) return {speed, std::atan2(across, std::abs(twist.forward)), true};
    return {-speed, std::atan2(-across, -twist.forward), true};
  }

 private:
  explicit BasicTricycle(Scalar wheelbase) noexcept : wheelbase_(wheelbase) {}
  Scalar wheelbase_;
};
using Tricycle = BasicTricycle<double>;

}  // namespace takt::mobile
