// Computes velocities that keep the shape of the waypoints. Between two waypoints the position only rises or
// only falls, so it never overshoots them. Where the direction changes, the velocity is zero. The price is a
// less even velocity: it dips and swells where other splines would overshoot.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "takt/core/error.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// Fills the inner rows of `velocities`. Rows as in BasicWaypoints; times must increase. Errors: wrong_size.
/// Real-time safe.
///
/// Each velocity is that of the parabola through the waypoint and its neighbours, limited to twice the mean
/// velocity of either segment. If the mean velocities differ in sign, it is zero (Steffen, Astronomy and
/// Astrophysics 239, 1990). Steffen's velocities are made for cubics. They also suit quintics with zero
/// acceleration at the waypoints, whose acceleration is then continuous. Let m be the mean velocity of a
/// segment, x = v0/m and y = v1/m. The velocity of such a quintic is m times
///   x (1-s)^2 (1+2s) + y s^2 (3-2s) + (30 - 15x - 15y) s^2 (1-s)^2.
/// It is linear in x and y, and not negative in the four corners of x, y = 0 .. 2. So it is not negative
/// between them.
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
