// Joints that turn without end (continuous joints) are at the same place after each turn, so a motion may
// take the shorter direction. The reference of such a joint keeps counting turns, as its encoder does. Only
// targets are shifted by whole turns.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "takt/core/joint.hpp"

namespace takt::trajectory {

/// 2 pi, rounded. All turns are whole multiples of this number: the error of 1e8 turns is 2.5e-8 rad, less
/// than the spacing of numbers of that size.
template <class Scalar>
inline constexpr Scalar turn = static_cast<Scalar>(6.283185307179586476925286766559L);

/// The angle (rad) that differs from `angle` by whole turns and from `to` by at most half a turn. An angle
/// within half a turn, inclusive, is returned bit for bit. So for two directions of equal length the given
/// angle decides. Exact to the rounding of the larger argument. If an argument is NaN or infinite, the result
/// is not finite. Real-time safe: no loop.
template <class Scalar>
[[nodiscard]] Scalar nearest_equivalent(Scalar angle, Scalar to) noexcept {
  const Scalar turns = (angle - to) / turn<Scalar>;
  const Scalar whole =
      std::copysign(std::ceil(std::abs(turns) - Scalar{0.5}), turns);  // halves round towards zero
  return whole == 0 ? angle : std::fma(-whole, turn<Scalar>, angle);
}

/// Shifts the positions of the joints in `wrapped` by whole turns. Each waypoint is then at most half a turn
/// from the one before it. The first is compared with `start`. Row-major, value [waypoint * joints + joint];
/// one start per joint. A motion of more than half a turn needs a waypoint on its way. Real-time safe,
/// O(positions).
template <class Scalar>
void take_short_way(std::span<Scalar> positions, std::span<const Scalar> start, JointSet wrapped) noexcept {
  const std::size_t joints = start.size();
  wrapped.for_each([&](std::size_t joint) noexcept {
    if (joint >= joints) return;
    Scalar before = start[joint];
    for (std::size_t i = joint; i < positions.size(); i += joints) {
      before = positions[i] = nearest_equivalent(positions[i], before);
    }
  });
}

}  // namespace takt::trajectory
