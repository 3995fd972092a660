// What a step of anything in this room answers: a number that may always be used, and whether it is new.
#pragma once

#include "takt/control/error.hpp"
#include "takt/core/period.hpp"

namespace takt::control {

/// The result of a step.
template <class Scalar>
struct BasicStep {
  Scalar value = 0;  ///< the new output; after an error the last good one
  Errc error{};      ///< 0 = none

  [[nodiscard]] constexpr bool ok() const noexcept { return error == Errc{}; }
};
using Step = BasicStep<double>;

}  // namespace takt::control
