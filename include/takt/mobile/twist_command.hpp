// The last commanded twist, with a timeout. If commands stop arriving, the vehicle stops.
//
//     TwistCommand command = *TwistCommand::make(0.5);
//     (void)command.set(wanted);                                         // when a command arrives
//     const Twist twist = limiter.step(command.step(h).value, h).value;  // every period, within the limits
#pragma once

#include <cmath>

#include "takt/core/error.hpp"
#include "takt/core/period.hpp"
#include "takt/mobile/error.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/mobile/twist_limiter.hpp"

namespace takt::mobile {

/// A value for use by one loop; every function is real-time safe. It counts periods, so it needs no clock.
template <class Scalar>
class BasicTwistCommand {
 public:
  /// Takes the timeout in s. Errors: not_finite, not_positive, out_of_domain (above longest_period).
  [[nodiscard]] static Result<BasicTwistCommand> make(Scalar timeout) noexcept {
    if (!std::isfinite(timeout)) return fail(Errc::not_finite);
    if (!(timeout > 0)) return fail(Errc::not_positive);
    if (!is_period(timeout)) return fail(Errc::out_of_domain);
    return BasicTwistCommand(timeout);
  }

  /// Stores a new command. Errors: not_finite: the command before stays and keeps its age.
  Status set(const BasicTwist<Scalar>& twist) noexcept {
    if (!detail::is_finite(twist)) return fail(Errc::not_finite);
    twist_ = twist;
    left_ = timeout_;
    return {};
  }

  /// The twist for the next `period` seconds: the last command, if it is not older than the timeout at their
  /// end. Errors: stale: standstill, also before the first command; bad_period: nothing changes.
  BasicTwistStep<Scalar> step(Scalar period) noexcept {
    if (!is_period(period)) return {twist_, Errc::bad_period};
    if (period > left_) {
      twist_ = {};
      left_ = 0;
      return {twist_, Errc::stale};
    }
    left_ -= period;
    return {twist_, {}};
  }

 private:
  explicit BasicTwistCommand(Scalar timeout) noexcept : timeout_(timeout) {}

  Scalar timeout_;
  Scalar left_ = 0;  ///< s until the timeout
  BasicTwist<Scalar> twist_;
};
using TwistCommand = BasicTwistCommand<double>;

}  // namespace takt::mobile
