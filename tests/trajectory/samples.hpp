// Random motion states and trajectories for the tests of this room.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/random.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::test {

/// A number with a uniform exponent: every order of magnitude is equally likely.
inline double any_scale(std::mt19937_64& random, double low, double high) {
  return std::exp(uniform(random, std::log(low), std::log(high)));
}

/// A number of either sign with a magnitude up to `magnitude`; sometimes exactly zero or exactly the limit.
inline double any_number(std::mt19937_64& random, double magnitude) {
  switch (uniform_int(random, 0, 9)) {
    case 0:
      return 0;
    case 1:
      return magnitude;
    case 2:
      return -magnitude;
    default:
      return uniform(random, -magnitude, magnitude);
  }
}

template <class Scalar>
BasicMotionState<Scalar> any_state(std::mt19937_64& random, double position, double velocity,
                                   double acceleration) {
  return {static_cast<Scalar>(any_number(random, position)),
          static_cast<Scalar>(any_number(random, velocity)),
          static_cast<Scalar>(any_number(random, acceleration))};
}

/// The largest input of a quintic, in units of position. Rounding errors of the quintic are relative to it,
/// not to its coefficients, which can be smaller after cancellation.
template <class Scalar>
Scalar data_scale(const BasicMotionState<Scalar>& start, const BasicMotionState<Scalar>& end,
                  Scalar duration) {
  Scalar scale = 0;
  for (const auto& state : {start, end}) {
    scale = std::max({scale, std::abs(state.position), std::abs(state.velocity * duration),
                      std::abs(state.acceleration * duration * duration / 2)});
  }
  return scale;
}

/// Waypoints that own their numbers; view() converts them for the library.
template <class Scalar>
struct WaypointTable {
  std::size_t joints = 0;
  std::vector<Scalar> times, positions, velocities, accelerations;

  [[nodiscard]] trajectory::BasicWaypoints<Scalar> view() const {
    return {joints, times, positions, velocities, accelerations};
  }
};

/// Waypoints of typical size for a robot. Durations between them differ by a factor of at most
/// `duration_ratio`.
template <class Scalar>
WaypointTable<Scalar> any_waypoints(std::mt19937_64& random, std::size_t waypoints, std::size_t joints,
                                    double duration_ratio = 10) {
  WaypointTable<Scalar> table;
  table.joints = joints;
  Scalar time = static_cast<Scalar>(uniform(random, -1, 1));
  for (std::size_t k = 0; k < waypoints; ++k) {
    table.times.push_back(time);
    time += static_cast<Scalar>(any_scale(random, 0.1, 0.1 * duration_ratio));
    for (std::size_t j = 0; j < joints; ++j) {
      table.positions.push_back(static_cast<Scalar>(any_number(random, 3)));
      table.velocities.push_back(static_cast<Scalar>(any_number(random, 2)));
      table.accelerations.push_back(static_cast<Scalar>(any_number(random, 5)));
    }
  }
  return table;
}

}  // namespace takt::test
