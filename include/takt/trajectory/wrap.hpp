// Joints that turn without end: the same place again after each turn, so that a motion may take the shorter of two ways. The
// reference of such a joint goes on counting turns, as its encoder does; only targets are moved by whole turns.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "takt/core/joint.hpp"

namespace takt::trajectory {

/// 2 pi, rounded. Turns are whole multiples of this number: 1e8 of them are off by 2.5e-8 rad, less than the spacing of
/// numbers of that size.
template <class Scalar>
inline constexpr Scalar turn = static_cast<Scalar>(6.283185307179586476925286766559L);

/// The angle (rad) that is whole turns from `angle` and at most half a turn from `to`. What is already is returned as it is, to
/// the bit, half a turn included: which of two ways of equal length is taken is then what the angle says. Exact to the rounding
/// of the larger of the two. What is not finite gives what is not finite. Real-time safe: no loop.
template <class Scalar>
[[nodiscard]] Scalar nearest_equivalent(Scalar angle, Scalar to) noexcept {
  const Scalar turns = (angle - to) / turn<Scalar>;
  const Scalar whole =
      std::copysign(std::ceil(std::abs(turns) - Scalar{0.5}), turns);  // halves go towards zero
  return whole == 0 ? angle : std::fma(-whole, turn<Scalar>, angle);
}

/// Moves the positions of the joints in `wrapped` by whole turns, so that each waypoint is at most half a turn from the one
/// before it, the first from `start`. Row-major, value [waypoint * joints + joint]; one start for each joint. A motion of more
/// than half a turn needs a waypoint on its way. Real-time safe, O(positions).
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
