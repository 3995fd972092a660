// Vehicles that are steered by turning wheels: bicycle model, car (Ackermann), tricycle. The origin is the
// middle of the rear axle, which cannot slide sideways; with the wheelbase L, curvature k = rotation /
// forward = tan(steering) / L.
//
//     car: a wheel that stands y to the left and x in front of the origin rolls with (1 - k y, k x) times the speed: it points
//     at atan2(k x, 1 - k y), and goes the length of that vector as fast.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "takt/core/error.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// How a steered vehicle is driven.
template <class Scalar>
struct BasicSteering {
  Scalar speed = 0;  ///< m/s, of the rear axle's middle (bicycle, car) or along the steered wheel (tricycle)
  Scalar steering = 0;  ///< rad, counter-clockwise
  bool exact = true;    ///< false: the twist cannot be driven; this comes nearest, with the speed asked for

  friend constexpr bool operator==(const BasicSteering&, const BasicSteering&) = default;
};
using Steering = BasicSteering<double>;

/// What the four wheels of a car do: front left, front right, rear left, rear right.
template <class Scalar>
struct BasicCarWheels {
  std::array<Scalar, 2> steering{};  ///< rad, of the front wheels: left, right
  std::array<Scalar, 4> speed{};     ///< m/s along each wheel
};
using CarWheels = BasicCarWheels<double>;

/// A value; every function is real-time safe.
template <class Scalar>
class BasicCar {
 public:
  struct Geometry {
    Scalar wheelbase = 0;     ///< m from the rear axle to the front axle
    Scalar track = 0;         ///< m between left and right wheels; 0: a bicycle
    Scalar max_steering = 1;  ///< rad, of the bicycle's wheel; below pi/2
  };

  /// Errors: not_finite, not_positive (wheelbase, max_steering; a negative track), out_of_domain
  /// (max_steering of pi/2 or more, or the centre of the tightest turn would lie between the wheels).
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

  /// Largest 1/radius (1/m) that can be driven.
  [[nodiscard]] Scalar max_curvature() const noexcept { return max_curvature_; }

  /// What the vehicle does when it is driven so. What is not finite stays so.
  [[nodiscard]] BasicTwist<Scalar> twist(Scalar speed, Scalar steering) const noexcept {
    return {speed, 0, speed * std::tan(steering) / geometry_.wheelbase};
  }

  /// How to drive the twist: forward and rotation; forwards and backwards alike. Standing it cannot turn: the
  /// wheel is then turned as far as it goes the way that the rotation asks for, as if driving forward. Of a
  /// NaN, a vehicle that stands straight.
  [[nodiscard]] BasicSteering<Scalar> drive(const BasicTwist<Scalar>& twist) const noexcept {
    if (!detail::is_finite(twist)) return {0, 0, false};
    if (twist.rotation == 0) return {twist.forward, 0, true};
    // Infinite where the vehicle stands: of the sign of the rotation, since -0 + 0 is 0.
    const Scalar curvature = twist.rotation / (twist.forward + Scalar(0));
    if (std::abs(curvature) <= max_curvature_)
      return {twist.forward, std::atan(curvature * geometry_.wheelbase), true};
    return {twist.forward, std::copysign(geometry_.max_steering, curvature), false};
  }

  /// The wheels of a car that drives so; steering within max_steering. What is not finite stays so.
  [[nodiscard]] BasicCarWheels<Scalar> wheels(Scalar speed, Scalar steering) const noexcept {
    const Scalar curvature = std::tan(steering) / geometry_.wheelbase;
    const Scalar forward = curvature * geometry_.wheelbase;
    const Scalar left = 1 - curvature * geometry_.track / 2;
    const Scalar right = 1 + curvature * geometry_.track / 2;
    return {
        {std::atan2(forward, left), std::atan2(forward, right)},
        {speed * std::hypot(left, forward), speed * std::hypot(right, forward), speed * left, speed * right}};
  }

  /// The steering of the bicycle that turns about the same centre as one front wheel of the car does.
  [[nodiscard]] Scalar steering_from_left_wheel(Scalar angle) const noexcept {
    return bicycle_angle(angle, geometry_.track / 2);
  }
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
using Car = BasicCar<double>;

/// A vehicle whose one front wheel is steered and driven, by up to a quarter turn and on the spot. A value;
/// real-time safe.
template <class Scalar>
class BasicTricycle {
 public:
  /// From the wheelbase in m. Errors: not_finite, not_positive.
  [[nodiscard]] static Result<BasicTricycle> make(Scalar wheelbase) noexcept {
    if (!std::isfinite(wheelbase)) return fail(Errc::not_finite);
    if (!(wheelbase > 0)) return fail(Errc::not_positive);
    return BasicTricycle(wheelbase);
  }

  /// What the vehicle does when it is driven so. What is not finite stays so.
  [[nodiscard]] BasicTwist<Scalar> twist(Scalar wheel_speed, Scalar steering) const noexcept {
    return {wheel_speed * std::cos(steering), 0, wheel_speed * std::sin(steering) / wheelbase_};
  }

  /// The wheel turns by no more than a quarter: backwards it rolls backwards. Of a NaN, or a wheel speed that
  /// overflows, a vehicle that stands straight, and not exact.
  [[nodiscard]] BasicSteering<Scalar> drive(const BasicTwist<Scalar>& twist) const noexcept {
    if (!detail::is_finite(twist)) return {0, 0, false};
    const Scalar across = twist.rotation * wheelbase_;
    const Scalar speed = std::hypot(twist.forward, across);
    if (!std::isfinite(speed)) return {0, 0, false};
    if (twist.forward >= 0) return {speed, std::atan2(across, std::abs(twist.forward)), true};  // no -0
    return {-speed, std::atan2(-across, -twist.forward), true};
  }

 private:
  explicit BasicTricycle(Scalar wheelbase) noexcept : wheelbase_(wheelbase) {}
  Scalar wheelbase_;
};
using Tricycle = BasicTricycle<double>;

}  // namespace takt::mobile
