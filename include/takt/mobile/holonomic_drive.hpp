// Vehicles that move in any direction, with mecanum wheels, or with any number of omni wheels in any place.
//
// A wheel at (x, y) that pushes only along the unit vector (c, s) turns by (c, s, c (-y) + s x) . (forward,
// left, rotation) / radius. This is one row per wheel of a matrix B. The vehicle's motion is the
// least-squares solution of B twist = wheels, with equal weights. The residual is slip.
#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "takt/core/error.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// The place of a wheel and its direction of push.
template <class Scalar>
struct BasicOmniWheel {
  Scalar x = 0;          ///< m
  Scalar y = 0;          ///< m
  Scalar direction = 0;  ///< rad, from the vehicle's x axis: direction of push when the wheel turns forward
  Scalar radius = 0;     ///< m
};
using OmniWheel = BasicOmniWheel<double>;

/// A drive with omni wheels. A value without heap; after make() every function is real-time safe.
template <class Scalar, std::size_t Wheels>
class BasicHolonomicDrive {
 public:
  using WheelValues = std::array<Scalar, Wheels>;

  /// Errors: not_finite, not_positive (a radius), out_of_domain (some motion is impossible: all wheels push
  /// in the same direction, or through one point).
  [[nodiscard]] static Result<BasicHolonomicDrive> make(
      const std::array<BasicOmniWheel<Scalar>, Wheels>& wheels) noexcept {
    BasicHolonomicDrive drive;
    for (std::size_t i = 0; i < Wheels; ++i) {
      const auto& w = wheels[i];
      for (const Scalar number : {w.x, w.y, w.direction, w.radius}) {
        if (!std::isfinite(number)) return fail(Errc::not_finite);
      }
      if (!(w.radius > 0)) return fail(Errc::not_positive);
      const Scalar c = std::cos(w.direction);
      const Scalar s = std::sin(w.direction);
      drive.rates_.row(static_cast<int>(i)) << c / w.radius, s / w.radius, (s * w.x - c * w.y) / w.radius;
    }
    const Eigen::Matrix<Scalar, 3, 3> normal = drive.rates_.transpose() * drive.rates_;
    drive.twist_ = normal.inverse() * drive.rates_.transpose();
    const Eigen::Matrix<Scalar, 3, 3> identity = drive.twist_ * drive.rates_;
    constexpr Scalar tolerance = std::numeric_limits<Scalar>::epsilon() * Scalar(1e6);
    if (!identity.allFinite() || !identity.isIdentity(tolerance)) return fail(Errc::out_of_domain);
    return drive;
  }

  /// The wheel rates in rad/s for a twist, or angles in rad for a motion. NaN, infinity and overflow give
  /// results that are not finite; TwistLimiter returns no such twists.
  [[nodiscard]] WheelValues wheels(const BasicTwist<Scalar>& twist) const noexcept {
    WheelValues out;
    Eigen::Map<WheelVector>(out.data()) = rates_ * vector(twist);
    return out;
  }

  /// The vehicle's twist for these wheel rates. NaN and infinity pass through; Odometry rejects them.
  [[nodiscard]] BasicTwist<Scalar> twist(const WheelValues& wheels) const noexcept {
    const Eigen::Matrix<Scalar, 3, 1> t = twist_ * Eigen::Map<const WheelVector>(wheels.data());
    return {t[0], t[1], t[2]};
  }

  /// The largest deviation (rad/s) of a wheel's rate from the least-squares motion. Zero if no wheel slips,
  /// and always for three wheels. Not finite if a rate is not finite.
  [[nodiscard]] Scalar slip(const WheelValues& wheels) const noexcept {
    const auto rolling = this->wheels(twist(wheels));
    Scalar most = 0;
    for (std::size_t i = 0; i < Wheels; ++i) {
      const Scalar off = std::abs(wheels[i] - rolling[i]);
      if (std::isnan(off)) return off;
      most = std::max(most, off);
    }
    return most;
  }

 private:
  static constexpr int count = static_cast<int>(Wheels);
  using WheelVector = Eigen::Matrix<Scalar, count, 1>;

  [[nodiscard]] static Eigen::Matrix<Scalar, 3, 1> vector(const BasicTwist<Scalar>& twist) noexcept {
    return {twist.forward, twist.left, twist.rotation};
  }

  Eigen::Matrix<Scalar, count, 3> rates_;
  Eigen::Matrix<Scalar, 3, count> twist_;
};
template <std::size_t Wheels>
using HolonomicDrive = BasicHolonomicDrive<double, Wheels>;

/// Wheels at equal distances on a circle about the origin; M-Hubo has three. The first wheel is at the angle
/// `first` (rad from x), and they are counted counter-clockwise. Each pushes counter-clockwise along the
/// circle. Lengths in m. Errors: those of make(). Real-time safe.
template <std::size_t Wheels, class Scalar>
[[nodiscard]] Result<BasicHolonomicDrive<Scalar, Wheels>> omni_drive(Scalar circle, Scalar wheel_radius,
                                                                     Scalar first = 0) noexcept {
  std::array<BasicOmniWheel<Scalar>, Wheels> wheels;
  for (std::size_t i = 0; i < Wheels; ++i) {
    const Scalar angle = first + 2 * std::numbers::pi_v<Scalar> * static_cast<Scalar>(i) / Wheels;
    wheels[i] = {circle * std::cos(angle), circle * std::sin(angle), angle + std::numbers::pi_v<Scalar> / 2,
                 wheel_radius};
  }
  return BasicHolonomicDrive<Scalar, Wheels>::make(wheels);
}

/// Four mecanum wheels whose rollers form an X seen from above: front left, front right, rear left, rear
/// right. A roller at 45 degrees lets its wheel push only along the roller, with sqrt(2) times the leverage.
/// Lengths in m between the wheels' middles. Errors: those of make(), not_positive. Real-time safe.
template <class Scalar>
[[nodiscard]] Result<BasicHolonomicDrive<Scalar, 4>> mecanum_drive(Scalar length, Scalar width,
                                                                   Scalar wheel_radius) noexcept {
  if (!std::isfinite(length) || !std::isfinite(width)) return fail(Errc::not_finite);
  if (!(length > 0) || !(width > 0)) return fail(Errc::not_positive);
  constexpr Scalar eighth = std::numbers::pi_v<Scalar> / 4;
  const Scalar x = length / 2;
  const Scalar y = width / 2;
  const Scalar radius = wheel_radius / std::numbers::sqrt2_v<Scalar>;
  return BasicHolonomicDrive<Scalar, 4>::make({{{x, y, -eighth, radius},
                                                {x, -y, eighth, radius},
                                                {-x, y, eighth, radius},
                                                {-x, -y, -eighth, radius}}});
}

}  // namespace takt::mobile
