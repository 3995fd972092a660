// A vehicle whose command is forward speed and rotation, such as a robot base with its own wheel controller.
// It cannot move sideways.
#pragma once

#include "takt/mobile/pose.hpp"

namespace takt::mobile {

/// The command of a unicycle.
template <class Scalar>
struct BasicUnicycleCommand {
  Scalar forward = 0;   ///< m/s
  Scalar rotation = 0;  ///< rad/s, counter-clockwise
  bool exact = true;    ///< false: the twist also asks for a sideways speed, or is not finite

  friend constexpr bool operator==(const BasicUnicycleCommand&, const BasicUnicycleCommand&) = default;
};
using UnicycleCommand = BasicUnicycleCommand<double>;

/// A unicycle. A value without parameters; every function is real-time safe.
template <class Scalar>
class BasicUnicycle {
 public:
  /// The twist of the vehicle at this speed (m/s) and rotation (rad/s). It passes on NaN and infinity, which
  /// Odometry rejects.
  [[nodiscard]] constexpr BasicTwist<Scalar> twist(Scalar forward, Scalar rotation) const noexcept {
    return {forward, 0, rotation};
  }

  /// The command for a twist. It leaves out a sideways speed and is then not exact. A twist that is not
  /// finite gives a command of zeros, not exact either.
  [[nodiscard]] BasicUnicycleCommand<Scalar> drive(const BasicTwist<Scalar>& twist) const noexcept {
    if (!detail::is_finite(twist)) return {0, 0, false};
    return {twist.forward, twist.rotation, twist.left == 0};
  }
};
using Unicycle = BasicUnicycle<double>;

}  // namespace takt::mobile
