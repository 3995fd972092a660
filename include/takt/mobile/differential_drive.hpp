// Two driven sides, each of one wheel or several, and the turn that their difference makes: skid-steered and
// tracked vehicles too.
//
//     forward = (r_l w_l + r_r w_r) / 2,    rotation = (r_r w_r - r_l w_l) / track
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "takt/core/error.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// What the two sides do: wheel rates in rad/s, or how far the wheels turned in rad.
template <class Scalar>
struct BasicSides {
  Scalar left = 0;
  Scalar right = 0;

  friend constexpr bool operator==(const BasicSides&, const BasicSides&) = default;
};
using Sides = BasicSides<double>;

/// A value; every function is real-time safe.
template <class Scalar>
class BasicDifferentialDrive {
 public:
  struct Geometry {
    Scalar left_radius = 0;   ///< m
    Scalar right_radius = 0;  ///< m
    Scalar track = 0;  ///< m between the sides; of a skid-steered vehicle the effective one, which is larger
  };

  /// Errors: not_finite, not_positive.
  [[nodiscard]] static Result<BasicDifferentialDrive> make(const Geometry& geometry) noexcept {
    for (const Scalar length : {geometry.left_radius, geometry.right_radius, geometry.track}) {
      if (!std::isfinite(length)) return fail(Errc::not_finite);
      if (!(length > 0)) return fail(Errc::not_positive);
    }
    return BasicDifferentialDrive(geometry);
  }

  /// What the wheels' motion makes of the vehicle's. What is not finite stays so, for Odometry to refuse.
  [[nodiscard]] BasicTwist<Scalar> twist(const BasicSides<Scalar>& wheels) const noexcept {
    const Scalar left = geometry_.left_radius * wheels.left;
    const Scalar right = geometry_.right_radius * wheels.right;
    return {(left + right) / 2, 0, (right - left) / geometry_.track};
  }

  /// What the wheels must do; `left` of the twist cannot be done and is not looked at. What is not finite, or
  /// overflows, is not finite: TwistLimiter gives no such twists.
  [[nodiscard]] BasicSides<Scalar> wheels(const BasicTwist<Scalar>& twist) const noexcept {
    const Scalar turn = twist.rotation * geometry_.track / 2;
    return {(twist.forward - turn) / geometry_.left_radius, (twist.forward + turn) / geometry_.right_radius};
  }

 private:
  explicit BasicDifferentialDrive(const Geometry& geometry) noexcept : geometry_(geometry) {}
  Geometry geometry_;
};
using DifferentialDrive = BasicDifferentialDrive<double>;

/// One side of several wheels: their mean, of those that say something. NaN if none does. Real-time safe.
template <class Scalar>
[[nodiscard]] Scalar mean_of_wheels(std::span<const Scalar> wheels) noexcept {
  Scalar sum = 0;
  std::size_t heard = 0;
  for (const Scalar wheel : wheels) {
    if (!std::isfinite(wheel)) continue;
    sum += wheel;
    ++heard;
  }
  return sum / static_cast<Scalar>(heard);
}

}  // namespace takt::mobile
