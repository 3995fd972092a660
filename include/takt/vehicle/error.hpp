// What can be wrong with a vehicle's frames, and with what it is told.
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
  both_pedals = 40,
  not_ready = 41,
  stopped = 42,
  not_standing = 43,
  cause_remains = 44,
  late = 45,
  duplicate = 46,
  impossible_stamp = 47,
};

[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::vehicle; }

[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::too_short:
      return "a datagram is shorter than its frame's fixed part";
    case Errc::too_long:
      return "a datagram is longer than its frame can be";
    case Errc::bad_magic:
      return "a datagram does not begin as this frame does";
    case Errc::truncated_tlv:
      return "a system's block does not lie within the datagram";
    case Errc::bad_len:
      return "a length is not that of the system's layout or of the frame";
    case Errc::duplicate_sid:
      return "a system has two blocks in one frame";
    case Errc::count_mismatch:
      return "the number of blocks is not the one that the frame's header says";
    case Errc::no_room:
      return "the memory for a frame is too small, or the frame is full";
    case Errc::unknown_system:
      return "the table of layouts has no such system";
    case Errc::unknown_field:
      return "the system's layout has no such field";
    case Errc::out_of_range:
      return "a number is beyond its range, or does not fit into its field";
    case Errc::bad_layout:
      return "a table of layouts is not one: an id or a length out of range, two systems of one id, a field "
             "outside of its block, or "
             "a field missing that a typed system needs";
    case Errc::not_finite:
      return "a number is NaN or infinite";
    case Errc::both_pedals:
      return "throttle and brake are pressed at once";
    case Errc::not_ready:
      return "the vehicle may not be driven yet: its reason says why";
    case Errc::stopped:
      return "the vehicle was stopped, and goes on only when it is told to recover";
    case Errc::not_standing:
      return "the vehicle does not stand, or nobody knows whether it does";
    case Errc::cause_remains:
      return "something is wrong with the vehicle still";
    case Errc::late:
      return "a later frame came first";
    case Errc::duplicate:
      return "the frame came already";
    case Errc::impossible_stamp:
      return "a frame's time stamp is from further ahead, or from longer ago, than can be";
  }
  return "unknown vehicle error";
}

}  // namespace takt::vehicle
