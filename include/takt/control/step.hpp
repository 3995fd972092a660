// What a step of anything in this room answers: a number that may always be used, and whether it is new.
#pragma once

#include "takt/control/error.hpp"

namespace takt::control {

/// The longest period between two steps, in seconds: a longer one is a mistake, not a slow loop.
inline constexpr double longest_period = 10;

/// Whether a step may take this long (s). False for NaN too.
template <class Scalar>
[[nodiscard]] constexpr bool is_period(Scalar period) noexcept {
  return period > 0 && period <= static_cast<Scalar>(longest_period);
}

/// The result of a step.
template <class Scalar>
struct BasicStep {
  Scalar value = 0;  ///< the new output; after an error the last good one
  Errc error{};      ///< 0 = none

  [[nodiscard]] constexpr bool ok() const noexcept { return error == Errc{}; }
};
using Step = BasicStep<double>;

}  // namespace takt::control
