// What can be wrong with a call of the C API itself, before any room has seen it.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::capi {

/// Numbers are part of the C API: never reused.
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
      return "a pointer is NULL that must not be";
    case Errc::wrong_struct_size:
      return "struct_size is not that of a structure which this library knows";
    case Errc::bad_argument:
      return "an argument is none of the values that are allowed";
    case Errc::bad_limits:
      return "a limit is NaN or negative, or a minimum is above its maximum";
    case Errc::out_of_memory:
      return "memory is exhausted";
    case Errc::internal:
      return "the library failed in a way that it does not foresee; please report it";
    case Errc::buffer_too_small:
      return "the caller's memory is too small";
    case Errc::misaligned:
      return "the caller's memory is not aligned as it must be";
    case Errc::timeout:
      return "nothing came within the time allowed";
    case Errc::bad_description:
      return "a description cannot be read, or has mistakes";
  }
  return "unknown error of the C interface";
}

}  // namespace takt::capi
