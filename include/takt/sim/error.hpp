// The errors of setting up a simulation.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::sim {

/// The errors of this room. Their numbers are part of the C API and are never reused.
enum class Errc : std::uint16_t {
  bad_plant = 1,
  bad_place = 2,
  too_many_nodes = 3,
  bad_vehicle = 4,
  bad_physics = 5,
  physics_diverged = 6,
  no_pictures = 7,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::sim; }

/// Returns the message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::bad_plant:
      return "a joint's physical parameters cannot be simulated";
    case Errc::bad_place:
      return "a joint's bus, board or channel does not exist or is taken";
    case Errc::too_many_nodes:
      return "a bus has more boards than the simulation supports";
    case Errc::bad_vehicle:
      return "a vehicle's physical parameters cannot be simulated";
    case Errc::bad_physics:
      return "the physics do not fit the robot";
    case Errc::physics_diverged:
      return "the physics left the range of numbers and stand still";
    case Errc::no_pictures:
      return "no picture could be rendered or written";
  }
  return "unknown simulation error";
}

}  // namespace takt::sim
