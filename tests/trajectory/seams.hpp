// Detects steps in the joints of a trajectory, relative to the typical magnitudes of their motion, for the
// tests of this room.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "takt/core/joint.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::test {

/// The magnitudes of position, velocity and acceleration in a motion between two states within limits, for
/// comparisons with this tolerance. Times are exact to rounding or to the shortest piece, so states are only
/// exact to their change in that time.
template <class Scalar>
struct StateScale {
  double position, velocity, acceleration;

  StateScale(const BasicMotionState<Scalar>& start, const BasicMotionState<Scalar>& end,
             const BasicJointLimits<Scalar>& limits, Scalar duration, double tolerance) {
    const double instant =
        (trajectory::min_piece_duration + 8 * std::numeric_limits<Scalar>::epsilon() * duration) / tolerance;
    acceleration = limits.acceleration + limits.jerk * instant;
    velocity = limits.velocity + acceleration * instant;
    position = std::abs(start.position) + std::abs(end.position) + velocity * (1 + duration);
  }

  [[nodiscard]] double difference(const BasicMotionState<Scalar>& a,
                                  const BasicMotionState<Scalar>& b) const {
    return std::max({std::abs(a.position - b.position) / position,
                     std::abs(a.velocity - b.velocity) / velocity,
                     std::abs(a.acceleration - b.acceleration) / acceleration});
  }
};

/// The largest step of one joint at a knot.
template <class Scalar>
double step_of(const trajectory::BasicTrajectory<Scalar>& trajectory, std::size_t joint,
               const StateScale<Scalar>& scale) {
  double largest = 0;
  for (std::size_t k = 0; k < trajectory.segments(); ++k) {
    const auto piece = trajectory.piece(k, joint);
    largest = std::max(largest, scale.difference(piece.at(piece.duration()), trajectory.knot(k + 1, joint)));
  }
  return largest;
}

}  // namespace takt::test
