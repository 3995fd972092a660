// The errors of setting up a robot, and of its manager.
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
  no_such_interface = 7,
  claimed = 8,
  no_such_controller = 9,
  in_use = 10,
  device_refuses = 11,
  changed_meanwhile = 12,
  command_not_finite = 13,
  device_lost = 14,
  duplicate_name = 15,
  switch_timed_out = 16,
  not_a_controller = 17,
  group_failed = 18,
  wrong_state = 19,
  chain_incomplete = 20,
  rolled_back = 21,
  result_late = 22,
  finished = 23,
  no_such_device = 24,
  position_out_of_reach = 25,
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
    case Errc::no_such_interface:
      return "no device and no controller has an interface with this name";
    case Errc::claimed:
      return "another controller owns the interface";
    case Errc::no_such_controller:
      return "no controller with this name is loaded";
    case Errc::in_use:
      return "an active controller commands this one's inputs; stop it in the same switch";
    case Errc::device_refuses:
      return "a device refuses the change of mode";
    case Errc::changed_meanwhile:
      return "a controller failed or was stopped while the switch was prepared; nothing was changed";
    case Errc::command_not_finite:
      return "the controller commanded NaN or infinity";
    case Errc::device_lost:
      return "a device that the controller uses is not active";
    case Errc::duplicate_name:
      return "another controller or interface has this name";
    case Errc::switch_timed_out:
      return "the devices did not change their mode in time; the previous controllers run again";
    case Errc::not_a_controller:
      return "the component is not a controller";
    case Errc::group_failed:
      return "another controller of the same chain failed";
    case Errc::wrong_state:
      return "the controller's state does not allow this";
    case Errc::chain_incomplete:
      return "the controller commands inputs of one that would not be active";
    case Errc::rolled_back:
      return "a controller failed to activate; the previous ones run again";
    case Errc::result_late:
      return "its worker gave no result for too long";
    case Errc::finished:
      return "the controller has done its work";
    case Errc::no_such_device:
      return "the manager has no device with this name";
    case Errc::position_out_of_reach:
      return "the position words of the bus do not hold all positions of an actuator";
  }
  return "unknown robot error";
}

}  // namespace takt::robot
