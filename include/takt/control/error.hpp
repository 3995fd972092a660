// The errors of the numbers that a controller is made from or receives in a step.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::control {

/// The numbers are part of the C API and are never reused.
enum class Errc : std::uint16_t {
  not_finite = 1,
  min_above_max = 2,
  bad_period = 3,
  out_of_domain = 4,
  wrong_size = 5,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::control; }

/// The message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::not_finite:
      return "a number is NaN or infinite";
    case Errc::min_above_max:
      return "a lower limit is above its upper limit";
    case Errc::bad_period:
      return "the period of a step must be from a nanosecond to ten seconds";
    case Errc::out_of_domain:
      return "a parameter is outside the range that its documentation gives";
    case Errc::wrong_size:
      return "the number of values does not match the number of controllers or joints";
  }
  return "unknown control error";
}

}  // namespace takt::control
