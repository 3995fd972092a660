// Errors of a call of the C API itself, before it reaches a room.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::capi {

/// Errors of the C API. The numbers are part of the API and are never reused.
enum class Errc : std::uint16_t {
  null_pointer = 1,
  wrong_struct_size = 2,
  bad_argument = 3,
  bad_limits = 4,
  out_of_memory = 5,
  internal = 6,
  buffer_too_small = 7,
  misaligned = 8,
  timeout = 9,
  bad_description = 10,
};

[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::capi; }

[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::null_pointer:
      return "a required pointer is NULL";
    case Errc::wrong_struct_size:
      return "this library does not know a structure of this struct_size";
    case Errc::bad_argument:
      return "an argument has an invalid value";
    case Errc::bad_limits:
      return "a limit is NaN or negative, or a minimum is above its maximum";
    case Errc::out_of_memory:
      return "memory is exhausted";
    case Errc::internal:
      return "an unexpected error of the library; please report it";
    case Errc::buffer_too_small:
      return "the caller's memory is too small";
    case Errc::misaligned:
      return "the caller's memory is misaligned";
    case Errc::timeout:
      return "no answer within the time limit";
    case Errc::bad_description:
      return "a description cannot be read or has mistakes";
  }
  return "unknown error of the C interface";
}

}  // namespace takt::capi
