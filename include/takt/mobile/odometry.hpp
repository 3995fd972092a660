// The pose of a vehicle from the motion of its wheels, and its covariance.
//
//     Odometry odometry;
//     odometry.move(drive.twist(turned), 0.01);    // angles since the last call, 0.01 s ago: encoders
//     odometry.advance(drive.twist(rates), 0.01);  // or wheel rates for a period
//
//     const Pose pose = odometry.pose();
//
// Long runs of small steps do not stall, even in float. The rounding error of a sum is added to the next step
// (Kahan, "Further remarks on reducing truncation errors", 1965).
//
// The covariance P of (x, y, heading) grows by P = F P F^T + G Q G^T. F carries a heading error into the
// position. Q is the noise of the motion itself, in proportion to the distance (Thrun, Burgard & Fox,
// "Probabilistic Robotics", 5.4).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "takt/core/error.hpp"
#include "takt/core/period.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// The variance that a motion adds.
template <class Scalar>
struct BasicOdometryNoise {
  Scalar forward_per_distance = 0;  ///< m^2 per m of distance
  Scalar left_per_distance = 0;     ///< m^2 per m of distance
  Scalar heading_per_distance = 0;  ///< rad^2 per m of distance
  Scalar heading_per_rotation = 0;  ///< rad^2 per rad of rotation
};

/// The odometry of one vehicle. A value without heap; every function is real-time safe.
template <class Scalar>
class BasicOdometry {
 public:
  /// Of (x, y, heading), row by row: m^2, m rad, rad^2. For Eigen:
  /// `Eigen::Map<const Eigen::Matrix3d>(odometry.covariance().data())`.
  using Covariance = std::array<Scalar, 9>;

  /// The noise of the motion and the timeout of rates.
  struct Configuration {
    PoseIntegration integration = PoseIntegration::exact_arc;
    Scalar timeout = Scalar(0.5);  ///< s: the longest period for which rates are valid; at most ten
    BasicOdometryNoise<Scalar> noise{};
  };

  /// At the origin, with zero covariance and the default configuration.
  BasicOdometry() = default;

  /// Errors: not_finite, not_positive (the timeout), out_of_domain (negative noise, a timeout above
  /// longest_period).
  [[nodiscard]] static Result<BasicOdometry> make(const Configuration& c) noexcept {
    const auto& n = c.noise;
    for (const Scalar number : {c.timeout, n.forward_per_distance, n.left_per_distance,
                                n.heading_per_distance, n.heading_per_rotation}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
      if (number < 0) return fail(Errc::out_of_domain);
    }
    if (!(c.timeout > 0)) return fail(Errc::not_positive);
    if (!is_period(c.timeout)) return fail(Errc::out_of_domain);
    BasicOdometry odometry;
    odometry.configuration_ = c;
    return odometry;
  }

  /// Adds a motion of the vehicle (m, m, rad in its own frame). Errors: not_finite (also an overflow):
  /// nothing changes.
  Status move(const BasicTwist<Scalar>& motion) noexcept {
    if (!detail::is_finite(motion)) return fail(Errc::not_finite);
    const BasicPose<Scalar> change = displacement(pose_.heading, motion, configuration_.integration);
    BasicPose<Scalar> next = pose_;
    BasicPose<Scalar> lost = lost_;
    add(next.x, lost.x, change.x);
    add(next.y, lost.y, change.y);
    add(next.heading, lost.heading, change.heading);
    if (!std::isfinite(next.x) || !std::isfinite(next.y)) return fail(Errc::not_finite);
    const Covariance grown = covariance_after(motion, change);
    if (!has_finite_trace(grown)) return fail(Errc::not_finite);
    next.heading = wrap_angle(next.heading);
    covariance_ = grown;
    pose_ = next;
    lost_ = lost;
    return {};
  }

  /// Adds a motion that took `period` seconds; twist() is then its mean velocity. Errors: bad_period: nothing
  /// changes; not_finite: the pose stays and the twist is zero.
  Status move(const BasicTwist<Scalar>& motion, Scalar period) noexcept {
    if (!is_period(period)) return fail(Errc::bad_period);
    return keep_twist({motion.forward / period, motion.left / period, motion.rotation / period},
                      move(motion));
  }

  /// Adds a motion with these velocities (m/s, rad/s) for `period` seconds.
  /// Errors:
  /// * bad_period: nothing changes.
  /// * not_finite: the pose stays and the twist is zero.
  /// * stale: the period is longer than the timeout, so the motion is unknown. The pose stays and the twist
  ///   is zero. The covariance grows as if the vehicle had moved in any direction all the time. The assumed
  ///   velocities are the faster of these and the ones before. It does not grow if that overflows.
  Status advance(const BasicTwist<Scalar>& twist, Scalar period) noexcept {
    if (!(period > 0) || !std::isfinite(period)) return fail(Errc::bad_period);
    if (!(period > configuration_.timeout)) return keep_twist(twist, move(period * twist));
    if (detail::is_finite(twist)) doubt(twist, period);
    return keep_twist({}, fail(Errc::stale));
  }

  /// The present pose in the world (m, m, rad).
  [[nodiscard]] const BasicPose<Scalar>& pose() const noexcept { return pose_; }
  /// The last velocities of advance() or of move() with a period, in the vehicle's own frame; zero if they
  /// are unknown.
  [[nodiscard]] const BasicTwist<Scalar>& twist() const noexcept { return twist_; }
  /// The covariance of the pose in the world.
  [[nodiscard]] const Covariance& covariance() const noexcept { return covariance_; }

  /// Sets the pose and its covariance. Errors: not_finite, out_of_domain (not symmetric or not positive
  /// semi-definite, beyond rounding): nothing changes.
  Status set(const BasicPose<Scalar>& pose, const Covariance& covariance = {}) noexcept {
    if (!std::isfinite(pose.x) || !std::isfinite(pose.y) || !std::isfinite(pose.heading) ||
        !std::all_of(covariance.begin(), covariance.end(), [](Scalar c) { return std::isfinite(c); }))
      return fail(Errc::not_finite);
    if (!is_covariance(covariance)) return fail(Errc::out_of_domain);
    pose_ = {pose.x, pose.y, wrap_angle(pose.heading)};
    lost_ = {};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j)
        covariance_[3 * i + j] = (covariance[3 * i + j] + covariance[3 * j + i]) / 2;
    }
    return {};
  }

 private:
  /// Compensated summation: `lost` is the rounding error that the sum contains so far.
  static void add(Scalar& sum, Scalar& lost, Scalar term) noexcept {
    const Scalar due = term - lost;
    const Scalar next = sum + due;
    lost = (next - sum) - due;
    sum = next;
  }

  Status keep_twist(const BasicTwist<Scalar>& twist, Status status) noexcept {
    twist_ = status && detail::is_finite(twist) ? twist : BasicTwist<Scalar>{};
    return status;
  }

  /// Adds the variance of a gap of `period` seconds.
  void doubt(const BasicTwist<Scalar>& twist, Scalar period) noexcept {
    const Scalar way =
        period * std::max(std::hypot(twist.forward, twist.left), std::hypot(twist_.forward, twist_.left));
    const Scalar turn = period * std::max(std::abs(twist.rotation), std::abs(twist_.rotation));
    Covariance grown = covariance_;
    grown[0] += way * way;
    grown[4] += way * way;
    grown[8] += turn * turn;
    if (has_finite_trace(grown)) covariance_ = grown;
  }

  [[nodiscard]] static bool has_finite_trace(const Covariance& c) noexcept {
    return std::isfinite(c[0] + c[4] + c[8]);
  }

  /// Checks the correlations: their matrix must have no negative principal minor, up to rounding.
  [[nodiscard]] static bool is_covariance(const Covariance& c) noexcept {
    const Scalar rounding = std::sqrt(std::numeric_limits<Scalar>::epsilon());
    Covariance r{};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!(c[4 * i] >= 0)) return false;
      for (std::size_t j = 0; j < 3; ++j) {
        const Scalar scale = std::sqrt(c[4 * i]) * std::sqrt(c[4 * j]);
        if (!(std::abs(c[3 * i + j]) <= (1 + rounding) * scale)) return false;
        r[3 * i + j] = scale > 0 ? c[3 * i + j] / scale : Scalar(0);
      }
    }
    const Scalar skew = std::max({std::abs(r[1] - r[3]), std::abs(r[2] - r[6]), std::abs(r[5] - r[7])});
    const Scalar volume = 1 + 2 * r[1] * r[5] * r[2] - r[1] * r[1] - r[5] * r[5] - r[2] * r[2];
    return skew <= rounding && volume >= -4 * rounding;
  }

  [[nodiscard]] Covariance covariance_after(const BasicTwist<Scalar>& motion,
                                            const BasicPose<Scalar>& change) const noexcept {
    const auto& n = configuration_.noise;
    const Scalar way = std::hypot(motion.forward, motion.left);
    const Scalar along = n.forward_per_distance * way;
    const Scalar across = n.left_per_distance * way;
    const Scalar c = std::cos(pose_.heading + motion.rotation / 2);
    const Scalar s = std::sin(pose_.heading + motion.rotation / 2);
    // F is the identity, with -change.y and change.x as the position's derivatives by the heading.
    const Covariance& p = covariance_;
    const Scalar x_heading = p[2] - change.y * p[8];
    const Scalar y_heading = p[5] + change.x * p[8];
    const Scalar x_x = p[0] - change.y * (p[2] + x_heading) + c * c * along + s * s * across;
    const Scalar x_y = p[1] + change.x * x_heading - change.y * p[5] + c * s * (along - across);
    const Scalar y_y = p[4] + change.x * (p[5] + y_heading) + s * s * along + c * c * across;
    const Scalar heading =
        p[8] + n.heading_per_distance * way + n.heading_per_rotation * std::abs(motion.rotation);
    return {x_x, x_y, x_heading, x_y, y_y, y_heading, x_heading, y_heading, heading};
  }

  Configuration configuration_;
  BasicPose<Scalar> pose_;
  BasicPose<Scalar> lost_;  ///< rounding error that pose_ contains
  BasicTwist<Scalar> twist_;
  Covariance covariance_{};
};
using Odometry = BasicOdometry<double>;

}  // namespace takt::mobile
