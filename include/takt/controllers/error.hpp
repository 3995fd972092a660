// The errors of the ready-made controllers.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::controllers {

/// The errors of this room. Their numbers are part of the C API and are never reused.
enum class Errc : std::uint16_t {
  empty_list = 1,
  named_twice = 2,
  too_many_names = 3,
  bad_number_list = 4,
  fixed_after_load = 5,
  bad_gains = 6,
  bad_filters = 7,
  not_finite = 8,
  beyond_limits = 9,
  no_measurement = 10,
  bad_record = 11,
  bad_sweep = 12,
  wrong_joint_count = 13,
  unstable = 14,
  not_active = 15,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::controllers; }

/// Returns the message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::empty_list:
      return "the list of names is empty";
    case Errc::named_twice:
      return "a list names the same thing twice";
    case Errc::too_many_names:
      return "a list has more names than a message holds";
    case Errc::bad_number_list:
      return "a list of numbers must have one number, or one for each joint";
    case Errc::fixed_after_load:
      return "the parameter is read when the controller is loaded; load the controller again to change it";
    case Errc::bad_gains:
      return "the gains make no controller";
    case Errc::bad_filters:
      return "the text describes no chain of filters";
    case Errc::not_finite:
      return "a number is NaN or infinite";
    case Errc::beyond_limits:
      return "the motion would leave the limits of the joint";
    case Errc::no_measurement:
      return "a joint has not reported its position yet, or reports no effort though it is needed";
    case Errc::bad_record:
      return "the record has too few samples, lengths that differ, or no excitation";
    case Errc::bad_sweep:
      return "the numbers make no sweep";
    case Errc::wrong_joint_count:
      return "the controller cannot work with this number of joints";
    case Errc::unstable:
      return "the period is too long for this mass, damping and stiffness";
    case Errc::not_active:
      return "the controller is not active";
  }
  return "unknown controllers error";
}

}  // namespace takt::controllers
