// A vehicle that is commanded by forward speed and rotation themselves, as the base of a robot whose wheels some other controller
// drives. It cannot move sideways.
#pragma once

#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// How a unicycle is driven.
template <class Scalar>
struct BasicUnicycleCommand {
  Scalar forward = 0;   ///< m/s
  Scalar rotation = 0;  ///< rad/s, counter-clockwise
  bool exact = true;    ///< false: the twist also asks for a sideways speed, or is not finite

  friend constexpr bool operator==(const BasicUnicycleCommand&, const BasicUnicycleCommand&) = default;
};
using UnicycleCommand = BasicUnicycleCommand<double>;

/// A value without parameters; every function is real-time safe.
template <class Scalar>
class BasicUnicycle {
 public:
  /// What the vehicle does when it is driven so: m/s and rad/s. What is not finite stays so, for Odometry to refuse.
  [[nodiscard]] constexpr BasicTwist<Scalar> twist(Scalar forward, Scalar rotation) const noexcept {
    return {forward, 0, rotation};
  }

  /// How to drive the twist. A sideways speed is left out, and the command is then not exact. A twist that is not finite makes the
  /// vehicle stand.
  [[nodiscard]] BasicUnicycleCommand<Scalar> drive(const BasicTwist<Scalar>& twist) const noexcept {
    if (!detail::is_finite(twist)) return {0, 0, false};
    return {twist.forward, twist.rotation, twist.left == 0};
  }
};
using Unicycle = BasicUnicycle<double>;

}  // namespace takt::mobile
