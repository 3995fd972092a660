// The errors of a drive's dimensions and of its wheels' measurements.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::mobile {

/// The numbers are part of the C API and are never reused.
enum class Errc : std::uint16_t {
  not_finite = 1,
  not_positive = 2,
  out_of_domain = 3,
  bad_period = 4,
  encoder_jump = 5,
  stale = 6,
  min_above_max = 7,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::mobile; }

/// The message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::not_finite:
      return "a number is NaN or infinite";
    case Errc::not_positive:
      return "a length, a radius or a number of counts must be above zero";
    case Errc::out_of_domain:
      return "a parameter is outside the range that its documentation gives";
    case Errc::bad_period:
      return "the period of a step must be from a nanosecond to ten seconds";
    case Errc::encoder_jump:
      return "an encoder moved further than its wheel can";
    case Errc::stale:
      return "the last measurement or command is too old";
    case Errc::min_above_max:
      return "a lower limit is above its upper limit";
  }
  return "unknown mobile error";
}

}  // namespace takt::mobile
