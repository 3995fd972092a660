// Velocities with which a motion keeps the shape of its waypoints: between two of them it only rises or only falls, so that it
// never goes beyond them, and where they turn round it stands. What it pays for that is speed: the velocity dips or swells
// where other splines would swing out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "takt/core/error.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// Fills the rows between the first and the last of `velocities`; rows as in BasicWaypoints, times must rise. At each waypoint
/// that of the parabola through it and its neighbours, but at most twice the mean velocity of either segment, and zero where
/// these differ in sign (Steffen, Astronomy and Astrophysics 239, 1990). Errors: wrong_size. Real-time safe.
///
/// These velocities, made for cubics, serve quintics whose acceleration is zero at the waypoints, and thereby continuous. With
/// x = v0/m and y = v1/m, m the mean velocity of a segment, the velocity of such a quintic is m times
///     x (1-s)^2 (1+2s) + y s^2 (3-2s) + (30 - 15x - 15y) s^2 (1-s)^2;
/// linear in x and y, it is nowhere negative for x and y in 0 .. 2 because it is not in the four corners.
template <class Scalar>
[[nodiscard]] Status monotone_velocities(std::size_t joints, std::span<const Scalar> times,
                                         std::span<const Scalar> positions,
                                         std::span<Scalar> velocities) noexcept {
  if (joints == 0) return fail(Errc::wrong_size);
  for (const std::size_t size : {positions.size(), velocities.size()}) {
    if (size / joints != times.size() || size % joints != 0) return fail(Errc::wrong_size);
  }
  for (std::size_t k = 1; k + 1 < times.size(); ++k) {
    const Scalar before = times[k] - times[k - 1];
    const Scalar after = times[k + 1] - times[k];
    for (std::size_t i = k * joints; i < (k + 1) * joints; ++i) {
      const Scalar left = (positions[i] - positions[i - joints]) / before;
      const Scalar right = (positions[i + joints] - positions[i]) / after;
      const Scalar parabola = (left * after + right * before) / (before + after);
      const Scalar most = 2 * std::min(std::abs(left), std::abs(right));
      const bool turns = left * right <= 0;
      velocities[i] = turns ? 0 : std::clamp(parabola, -most, most);
    }
  }
  return {};
}

}  // namespace takt::trajectory
