// The errors of setting up a loop or a thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::rt {

/// The numbers are part of the C API and are never reused.
enum class Errc : std::uint16_t {
  period_not_positive = 1,
  bad_priority = 2,
  bad_cores = 3,
  not_permitted = 4,
  not_granted = 5,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::rt; }

/// The message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::period_not_positive:
      return "the period of a loop must be positive";
    case Errc::bad_priority:
      return "a SCHED_FIFO priority lies between 1 and 99";
    case Errc::bad_cores:
      return "none of the requested processor cores exists";
    case Errc::not_permitted:
      return "the operating system does not permit it";
    case Errc::not_granted:
      return "the operating system did not grant it";
  }
  return "unknown real-time error";
}

}  // namespace takt::rt
