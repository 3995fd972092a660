// The errors of assembling a robot from its description.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::app {

/// The errors of this room. Their numbers are never reused.
enum class Errc : std::uint16_t {
  bad_bus_address = 1,
  not_a_real_bus = 2,
  no_adapter = 3,
  adapter_refuses = 4,
  bad_bit_rate = 5,
  no_fd_adapter = 6,
  no_thread = 7,
  bad_description = 8,
  no_such_bus = 9,
  recording_exists = 10,
  not_replayable = 11,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::app; }

/// Returns the message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::bad_bus_address:
      return "the text is not a bus address such as can0, slcan:/dev/ttyACM0 or virtual";
    case Errc::not_a_real_bus:
      return "a virtual bus belongs to a simulation and cannot be opened";
    case Errc::no_adapter:
      return "no slcan adapter answers on the serial line";
    case Errc::adapter_refuses:
      return "the slcan adapter refuses a command";
    case Errc::bad_bit_rate:
      return "the slcan protocol has no such bit rate";
    case Errc::no_fd_adapter:
      return "an slcan bus carries classic frames only";
    case Errc::no_thread:
      return "the system cannot start a thread";
    case Errc::bad_description:
      return "the robot's description has mistakes";
    case Errc::no_such_bus:
      return "the robot has no bus of this name";
    case Errc::recording_exists:
      return "another recording is there";
    case Errc::not_replayable:
      return "the recording cannot be replayed";
  }
  return "unknown app error";
}

}  // namespace takt::app
