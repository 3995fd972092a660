// The result of a step of any controller in this room: a number that is always usable, and whether it is new.
#pragma once

#include "takt/control/error.hpp"
#include "takt/core/period.hpp"

namespace takt::control {

/// The result of a step. Use `value` in any case.
template <class Scalar>
struct BasicStep {
  Scalar value = 0;  ///< the new output; after an error the last good one
  Errc error{};      ///< 0: no error

  /// Whether the step had no error.
  [[nodiscard]] constexpr bool ok() const noexcept { return error == Errc{}; }
};
using Step = BasicStep<double>;

}  // namespace takt::control
