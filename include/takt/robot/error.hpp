// The errors of setting up a robot's hardware from its description.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::robot {

/// The errors of this room. Their numbers are part of the C API and are never reused.
enum class Errc : std::uint16_t {
  no_such_bus = 1,
  bad_address = 2,
  duplicate_address = 3,
  bad_scale = 4,
  too_many_joints = 5,
  no_such_joint = 6,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::robot; }

/// Returns the message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::no_such_bus:
      return "the joint's bus was not given";
    case Errc::bad_address:
      return "the protocol does not allow this board or channel";
    case Errc::duplicate_address:
      return "two joints have the same bus, board and channel";
    case Errc::bad_scale:
      return "the encoder counts per radian are zero, NaN or infinite";
    case Errc::too_many_joints:
      return "the robot has more joints than takt allows";
    case Errc::no_such_joint:
      return "the robot has no such joint on buses of this protocol";
  }
  return "unknown robot error";
}

}  // namespace takt::robot
