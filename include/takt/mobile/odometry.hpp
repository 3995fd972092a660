// Where a vehicle has got to, from what its wheels did, and how sure that is.
//
//     Odometry odometry;
//     odometry.move(drive.twist(turned));               // wheel angles since the last call: encoders
//     odometry.advance(drive.twist(rates), 0.01);       // or wheel rates, for a period
//     const Pose pose = odometry.pose();
//
// The covariance P of (x, y, heading) grows by P = F P F^T + G Q G^T: F carries an error of the heading into the position, and
// Q is what the motion itself adds, in proportion to the way it went (Thrun, Burgard & Fox, "Probabilistic Robotics", 5.4).
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "takt/core/error.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// How much a motion adds to the variances.
template <class Scalar>
struct BasicOdometryNoise {
  Scalar forward_by_way = 0;       ///< m^2 for each m
  Scalar left_by_way = 0;          ///< m^2 for each m
  Scalar heading_by_way = 0;       ///< rad^2 for each m
  Scalar heading_by_rotation = 0;  ///< rad^2 for each rad
};

/// A value without heap; every function is real-time safe.
template <class Scalar>
class BasicOdometry {
 public:
  using Covariance = Eigen::Matrix<Scalar, 3, 3>;

  struct Configuration {
    Integration integration = Integration::exact_arc;
    Scalar timeout = Scalar(0.5);  ///< s: rates are taken for as long as this, and not longer
    BasicOdometryNoise<Scalar> noise{};
  };

  BasicOdometry() = default;

  /// Errors: not_finite, not_positive (the time-out), out_of_domain (a negative noise).
  [[nodiscard]] static Result<BasicOdometry> make(const Configuration& c) noexcept {
    const auto& n = c.noise;
    for (const Scalar number :
         {c.timeout, n.forward_by_way, n.left_by_way, n.heading_by_way, n.heading_by_rotation}) {
      if (!std::isfinite(number)) return fail(Errc::not_finite);
      if (number < 0) return fail(Errc::out_of_domain);
    }
    if (!(c.timeout > 0)) return fail(Errc::not_positive);
    BasicOdometry odometry;
    odometry.configuration_ = c;
    return odometry;
  }

  /// The vehicle has made this motion (m, m, rad in its own frame). Errors: not_finite (an overflow too): nothing changes.
  Status move(const BasicTwist<Scalar>& motion) noexcept {
    if (!detail::is_finite(motion)) return fail(Errc::not_finite);
    const BasicPose<Scalar> next = moved(pose_, motion, configuration_.integration);
    if (!std::isfinite(next.x) || !std::isfinite(next.y)) return fail(Errc::not_finite);
    const Covariance grown = covariance_after(motion, next);
    if (!std::isfinite(grown.trace())) return fail(Errc::not_finite);
    covariance_ = grown;
    pose_ = next;
    return {};
  }

  /// The vehicle has moved with these velocities for `period` seconds. Errors: not_finite, bad_period: nothing changes; stale: the
  /// period is longer than the time-out: what the vehicle did meanwhile is not known, the pose stays, and the twist is zero.
  Status advance(const BasicTwist<Scalar>& twist, Scalar period) noexcept {
    if (!(period > 0) || !std::isfinite(period)) return fail(Errc::bad_period);
    if (period > configuration_.timeout) {
      twist_ = {};
      return fail(Errc::stale);
    }
    if (Status status = move(period * twist); !status) return status;
    twist_ = twist;
    return {};
  }

  [[nodiscard]] const BasicPose<Scalar>& pose() const noexcept { return pose_; }
  /// The velocities that advance() had last, in the vehicle's own frame.
  [[nodiscard]] const BasicTwist<Scalar>& twist() const noexcept { return twist_; }
  /// Of (x, y, heading) in the world: m^2, m rad, rad^2.
  [[nodiscard]] const Covariance& covariance() const noexcept { return covariance_; }

  /// The vehicle is known to be here. Errors: not_finite: nothing changes.
  Status set(const BasicPose<Scalar>& pose, const Covariance& covariance = Covariance::Zero()) noexcept {
    if (!std::isfinite(pose.x) || !std::isfinite(pose.y) || !std::isfinite(pose.heading) ||
        !covariance.allFinite())
      return fail(Errc::not_finite);
    pose_ = {pose.x, pose.y, wrap_angle(pose.heading)};
    covariance_ = covariance;
    return {};
  }

 private:
  [[nodiscard]] Covariance covariance_after(const BasicTwist<Scalar>& motion,
                                            const BasicPose<Scalar>& next) const noexcept {
    const auto& n = configuration_.noise;
    const Scalar way = std::hypot(motion.forward, motion.left);
    const Scalar along = n.forward_by_way * way;
    const Scalar across = n.left_by_way * way;
    const Scalar c = std::cos(pose_.heading + motion.rotation / 2);
    const Scalar s = std::sin(pose_.heading + motion.rotation / 2);
    Covariance carried = Covariance::Identity();
    carried(0, 2) = pose_.y - next.y;
    carried(1, 2) = next.x - pose_.x;
    Covariance grown = carried * covariance_ * carried.transpose();
    grown(0, 0) += c * c * along + s * s * across;
    grown(0, 1) += c * s * (along - across);
    grown(1, 1) += s * s * along + c * c * across;
    grown(2, 2) += n.heading_by_way * way + n.heading_by_rotation * std::abs(motion.rotation);
    // Symmetric to the last digit, however long it grows.
    grown(1, 0) = grown(0, 1);
    grown(2, 0) = grown(0, 2);
    grown(2, 1) = grown(1, 2);
    return grown;
  }

  Configuration configuration_;
  BasicPose<Scalar> pose_;
  BasicTwist<Scalar> twist_;
  Covariance covariance_ = Covariance::Zero();
};
using Odometry = BasicOdometry<double>;

}  // namespace takt::mobile
