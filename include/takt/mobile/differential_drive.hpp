// A vehicle with two driven sides, each of one or several wheels, which turns by their difference.
// Skid-steered and tracked vehicles are included.
//
//   forward = (r_l w_l + r_r w_r) / 2,    rotation = (r_r w_r - r_l w_l) / track
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "takt/core/error.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// The two sides: wheel rates in rad/s, or angles that the wheels turned in rad.
template <class Scalar>
struct BasicSides {
  Scalar left = 0;
  Scalar right = 0;

  friend constexpr bool operator==(const BasicSides&, const BasicSides&) = default;
};
using Sides = BasicSides<double>;

/// A differential drive. A value; every function is real-time safe.
template <class Scalar>
class BasicDifferentialDrive {
 public:
  /// The wheel radii and the track.
  struct Geometry {
    Scalar left_radius = 0;   ///< m
    Scalar right_radius = 0;  ///< m
    /// m between the sides; for a skid-steered vehicle the effective track, which is larger
    Scalar track = 0;
  };

  /// Errors: not_finite, not_positive.
  [[nodiscard]] static Result<BasicDifferentialDrive> make(const Geometry& geometry) noexcept {
    for (const Scalar length : {geometry.left_radius, geometry.right_radius, geometry.track}) {
      if (!std::isfinite(length)) return fail(Errc::not_finite);
      if (!(length > 0)) return fail(Errc::not_positive);
    }
    return BasicDifferentialDrive(geometry);
  }

  /// The vehicle's twist for these wheel rates (or its motion for these angles). NaN and infinity pass
  /// through; Odometry rejects them.
  [[nodiscard]] BasicTwist<Scalar> twist(const BasicSides<Scalar>& wheels) const noexcept {
    const Scalar left = geometry_.left_radius * wheels.left;
    const Scalar right = geometry_.right_radius * wheels.right;
    return {(left + right) / 2, 0, (right - left) / geometry_.track};
  }

  /// The wheel rates for a twist. They ignore `left`, which the vehicle cannot drive. NaN, infinity and
  /// overflow give results that are not finite; TwistLimiter returns no such twists.
  [[nodiscard]] BasicSides<Scalar> wheels(const BasicTwist<Scalar>& twist) const noexcept {
    const Scalar turn = twist.rotation * geometry_.track / 2;
    return {(twist.forward - turn) / geometry_.left_radius, (twist.forward + turn) / geometry_.right_radius};
  }

 private:
  explicit BasicDifferentialDrive(const Geometry& geometry) noexcept : geometry_(geometry) {}
  Geometry geometry_;
};
using DifferentialDrive = BasicDifferentialDrive<double>;

/// The rate of a side with several wheels: the mean of its finite values. NaN if there is none. Real-time
/// safe.
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
