// The errors of vehicle frames, channels and commands.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::vehicle {

/// Why a frame, a datagram or a command was refused; describe() has the texts. The numbers are part of the C
/// API: never reuse one.
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
  wrong_version = 60,
  unexpected_kind = 61,
  unknown_key = 62,
  unknown_session = 63,
  bad_tag = 64,
  replayed = 65,
  overtaken = 66,
  too_old = 67,
  clock_jumped = 68,
  not_established = 69,
  stale_handshake = 70,
  commander_busy = 71,
  sequence_end = 72,
  no_key = 73,
  no_entropy = 74,
};

/// Lets an Errc convert to takt::Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::vehicle; }

/// The text for people, without a final period. Real-time safe.
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
    case Errc::no_block:
      return "the frame has no block of this system";
    case Errc::no_byte_order:
      return "the byte order of the control frames is missing: network, or little-endian as "
             "the Furbot's original sender";
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
    case Errc::wrong_version:
      return "an envelope is of another version, or of a kind or with flags that this one does not have";
    case Errc::unexpected_kind:
      return "an envelope is of a kind that this end sends, not receives";
    case Errc::unknown_key:
      return "an envelope names a key that this end does not have";
    case Errc::unknown_session:
      return "an envelope belongs to no session that is alive";
    case Errc::bad_tag:
      return "an envelope was changed on its way, or made by somebody without the key";
    case Errc::replayed:
      return "an envelope came a second time, or too late to tell";
    case Errc::overtaken:
      return "a setpoint comes after a newer one";
    case Errc::too_old:
      return "an envelope was under way for too long";
    case Errc::clock_jumped:
      return "an envelope comes before it was sent: a clock jumped";
    case Errc::not_established:
      return "there is no session with the other end yet, or none that is alive";
    case Errc::stale_handshake:
      return "a handshake's answer was not asked for, came too late or came twice";
    case Errc::commander_busy:
      return "another commander has the vehicle";
    case Errc::sequence_end:
      return "a session is at the end of its numbers";
    case Errc::no_key:
      return "a channel needs a key that is not zero; a vehicle's needs one or two, with different ids";
    case Errc::no_entropy:
      return "a channel needs random bytes, and these are all zero";
  }
  return "unknown vehicle error";
}

}  // namespace takt::vehicle
