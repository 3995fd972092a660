// How far joints may deviate from their trajectory, with the meaning of joint_trajectory_controller and
// control_msgs/FollowJointTrajectory. There is a tolerance along the path, another at the goal, and a time
// for settling at the goal. judge() gives one verdict per cycle.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "takt/core/error.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/quantity.hpp"

namespace takt::trajectory {

/// The largest allowed deviation of a measured state from the reference (rad, rad/s, rad/s^2; m for linear
/// joints). Zero or infinity: not checked, and the measurement may then hold any value.
template <class Scalar>
struct BasicJointTolerance {
  Scalar position = 0;
  Scalar velocity = 0;
  Scalar acceleration = 0;

  TAKT_FIELDS(BasicJointTolerance, position, velocity, acceleration)
  friend constexpr bool operator==(const BasicJointTolerance&, const BasicJointTolerance&) = default;
};
using JointTolerance = BasicJointTolerance<double>;

/// Tolerances in the caller's memory, one entry per joint. Joints beyond the end of a list are not checked.
template <class Scalar>
struct BasicTolerances {
  std::span<const BasicJointTolerance<Scalar>> path;           ///< before the trajectory's end
  std::span<const BasicJointTolerance<Scalar>> goal;           ///< from its end on
  Scalar goal_time = std::numeric_limits<Scalar>::infinity();  ///< s after the end by which the goal must be
                                                               ///< reached; infinity: no time limit
};
using Tolerances = BasicTolerances<double>;

/// A measurement that is too far from its reference.
template <class Scalar>
struct BasicDeviation {
  Quantity quantity = Quantity::position;
  std::size_t joint = 0;
  Scalar value = 0;    ///< |reference - measured|, or NaN
  Scalar allowed = 0;  ///< the tolerance
};
using Deviation = BasicDeviation<double>;

/// The state of the tracking of a trajectory.
enum class Tracking : std::uint8_t {
  following,      ///< before the end, within the path tolerances
  path_violated,  ///< before the end, beyond a path tolerance
  settling,       ///< after the end, not yet within the goal tolerances, time remains
  reached,        ///< after the end, within the goal tolerances
  not_in_time,    ///< after the end, not within the goal tolerances, time is over
};

/// The result of judge().
template <class Scalar>
struct BasicVerdict {
  Tracking tracking = Tracking::following;
  BasicDeviation<Scalar> worst;  ///< empty if following or reached
};
using Verdict = BasicVerdict<double>;

/// Checks the tolerance of one joint. Errors: not_finite (NaN), tolerance_negative. Real-time safe.
template <class Scalar>
[[nodiscard]] Status check_tolerance(const BasicJointTolerance<Scalar>& tolerance) noexcept {
  for (const Scalar value : {tolerance.position, tolerance.velocity, tolerance.acceleration}) {
    if (std::isnan(value)) return fail(Errc::not_finite);
    if (value < 0) return fail(Errc::tolerance_negative);
  }
  return {};
}

/// Checks all tolerances and the goal time. Errors: not_finite (NaN), tolerance_negative. Real-time safe.
template <class Scalar>
[[nodiscard]] Status check_tolerances(const BasicTolerances<Scalar>& tolerances) noexcept {
  for (const auto& list : {tolerances.path, tolerances.goal}) {
    for (const auto& tolerance : list) {
      if (Status status = check_tolerance(tolerance); !status) return status;
    }
  }
  return check_tolerance<Scalar>({tolerances.goal_time, 0, 0});
}

/// Collects the worst deviation over joints: the one with the largest ratio to its tolerance. NaN counts as
/// infinite. Real-time safe.
template <class Scalar>
class WorstDeviation {
 public:
  /// Compares one joint's measured state with its reference.
  void look_at(std::size_t joint, const BasicJointTolerance<Scalar>& tolerance,
               const BasicMotionState<Scalar>& reference, const BasicMotionState<Scalar>& measured) noexcept {
    look_at(Quantity::position, joint, tolerance.position, reference.position - measured.position);
    look_at(Quantity::velocity, joint, tolerance.velocity, reference.velocity - measured.velocity);
    look_at(Quantity::acceleration, joint, tolerance.acceleration,
            reference.acceleration - measured.acceleration);
  }

  /// Empty while every joint is within its tolerance.
  [[nodiscard]] const std::optional<BasicDeviation<Scalar>>& result() const noexcept { return worst_; }

 private:
  void look_at(Quantity quantity, std::size_t joint, Scalar allowed, Scalar difference) noexcept {
    const Scalar value = std::abs(difference);
    if (!(allowed > 0) || value <= allowed || std::isinf(allowed)) return;
    const Scalar ratio = std::isnan(value) ? std::numeric_limits<Scalar>::infinity() : value / allowed;
    if (!(ratio > ratio_)) return;
    ratio_ = ratio;
    worst_ = {quantity, joint, value, allowed};
  }

  std::optional<BasicDeviation<Scalar>> worst_;
  Scalar ratio_ = 1;
};

/// Judges one cycle. The states in `reference` and `measured`, one per joint, belong to the same time. The
/// time `time_after_end` (s) is negative before the trajectory's end. Before the end the path tolerances
/// apply, then only the goal tolerances. A joint without a state counts as NaN: it violates every tolerance
/// that is checked. Real-time safe, O(joints).
template <class Scalar>
[[nodiscard]] BasicVerdict<Scalar> judge(const BasicTolerances<Scalar>& tolerances,
                                         std::span<const BasicMotionState<Scalar>> reference,
                                         std::span<const BasicMotionState<Scalar>> measured,
                                         Scalar time_after_end) noexcept {
  constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  const bool on_the_way = time_after_end < 0;
  const auto& list = on_the_way ? tolerances.path : tolerances.goal;
  WorstDeviation<Scalar> worst;
  for (std::size_t j = 0; j < list.size(); ++j) {
    const bool given = j < reference.size() && j < measured.size();
    worst.look_at(j, list[j], given ? reference[j] : BasicMotionState<Scalar>{nan, nan, nan},
                  given ? measured[j] : BasicMotionState<Scalar>{nan, nan, nan});
  }
  if (!worst.result()) return {on_the_way ? Tracking::following : Tracking::reached, {}};
  const bool has_time = time_after_end <= tolerances.goal_time;
  return {on_the_way ? Tracking::path_violated
          : has_time ? Tracking::settling
                     : Tracking::not_in_time,
          *worst.result()};
}

}  // namespace takt::trajectory
