// Every reason for which a vehicle's frame, layout or command is refused.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::vehicle {

/// Numbers are part of the C API: never reused.
enum class Errc : std::uint16_t {
  too_short = 1,
  too_long = 2,
  bad_magic = 3,
  truncated_tlv = 4,
  bad_len = 5,
  duplicate_sid = 6,
  count_mismatch = 7,
  no_room = 8,
  unknown_system = 9,
  unknown_field = 10,
  out_of_range = 11,
  bad_layout = 12,
  not_finite = 13,
  no_block = 14,
  no_byte_order = 15,
  both_pedals = 40,
  not_ready = 41,
  stopped = 42,
  not_standing = 43,
  cause_remains = 44,
  late = 45,
  duplicate = 46,
  impossible_stamp = 47,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::vehicle; }

/// Returns the message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::too_short:
      return "the datagram is shorter than the frame's fixed part";
    case Errc::too_long:
      return "the datagram is longer than this frame can be";
    case Errc::bad_magic:
      return "the datagram does not begin with the frame's magic number";
    case Errc::truncated_tlv:
      return "a system's block does not end within the datagram";
    case Errc::bad_len:
      return "a length does not match the system's layout or the frame";
    case Errc::duplicate_sid:
      return "one system has two blocks in the frame";
    case Errc::count_mismatch:
      return "the number of blocks differs from the number in the frame's header";
    case Errc::no_room:
      return "the buffer is too small for the frame, or the frame is full";
    case Errc::unknown_system:
      return "the table of layouts does not contain this system";
    case Errc::unknown_field:
      return "the system's layout does not contain this field";
    case Errc::out_of_range:
      return "a number is out of its range or does not fit its field";
    case Errc::bad_layout:
      return "the table of layouts has an id, length or field out of range, a duplicate id, or lacks a field "
             "that a typed system needs";
    case Errc::not_finite:
      return "a number is NaN or infinite";
    case Errc::no_block:
      return "the frame has no block of this system";
    case Errc::no_byte_order:
      return "the byte order of the control frames is not set: network order, or little-endian like the "
             "Furbot's original sender";
    case Errc::both_pedals:
      return "throttle and brake are both applied";
    case Errc::not_ready:
      return "the vehicle is not ready to drive; its state gives the reason";
    case Errc::stopped:
      return "the vehicle was stopped and waits for the command to recover";
    case Errc::not_standing:
      return "the vehicle is moving, or its speed is unknown";
    case Errc::cause_remains:
      return "the cause of the stop is still present";
    case Errc::late:
      return "a newer frame has already arrived";
    case Errc::duplicate:
      return "the frame has already arrived";
    case Errc::impossible_stamp:
      return "the frame's time stamp is too far in the future or in the past";
  }
  return "unknown vehicle error";
}

}  // namespace takt::vehicle
