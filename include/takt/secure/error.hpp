// Every reason for which a secure channel refuses a datagram or a call.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::secure {

/// Numbers are part of the C API: never reused.
enum class Errc : std::uint16_t {
  too_short = 1,
  too_long = 2,
  bad_magic = 3,
  wrong_length = 4,
  no_room = 5,
  out_of_range = 6,
  wrong_version = 10,
  unexpected_kind = 11,
  unknown_key = 12,
  unknown_session = 13,
  bad_tag = 14,
  replayed = 15,
  overtaken = 16,
  too_old = 17,
  clock_jumped = 18,
  not_established = 19,
  stale_handshake = 20,
  busy = 21,
  sequence_end = 22,
  no_key = 23,
  no_entropy = 24,
};

/// Returns this room's number, for Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::secure; }

/// Returns the message of an error, without a full stop at its end.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::too_short:
      return "the datagram is shorter than an envelope";
    case Errc::too_long:
      return "the payload is longer than an envelope can carry (65535 bytes)";
    case Errc::bad_magic:
      return "the datagram does not begin with the envelope's magic number";
    case Errc::wrong_length:
      return "the length in the envelope does not match the datagram or its kind";
    case Errc::no_room:
      return "the buffer is too small for the datagram";
    case Errc::out_of_range:
      return "a limit is out of range: 1 ms <= age <= silence <= renewal <= 1 h, and the drift in a session "
             "at "
             "most a quarter of the age";
    case Errc::wrong_version:
      return "the envelope has an unknown version, kind or flag";
    case Errc::unexpected_kind:
      return "this end sends this kind of envelope and does not accept it";
    case Errc::unknown_key:
      return "the envelope names a key that this end does not have";
    case Errc::unknown_session:
      return "the envelope belongs to no live session";
    case Errc::bad_tag:
      return "the tag does not match: the envelope was altered, or its sender does not have the key";
    case Errc::replayed:
      return "the envelope was already received, or it is older than the replay window";
    case Errc::overtaken:
      return "a newer command has already been accepted";
    case Errc::too_old:
      return "the envelope is older than the age limit";
    case Errc::clock_jumped:
      return "the envelope's time is in the future: one of the clocks was set";
    case Errc::not_established:
      return "there is no live session with the other end";
    case Errc::stale_handshake:
      return "the handshake's answer was not requested, arrived too late or arrived twice";
    case Errc::busy:
      return "another client has a live session with this server";
    case Errc::sequence_end:
      return "the session has used all its sequence numbers";
    case Errc::no_key:
      return "the channel needs a key that is not all zero; a server takes one or two, with different ids";
    case Errc::no_entropy:
      return "the channel needs random bytes; the bytes given are all zero";
  }
  return "unknown secure channel error";
}

}  // namespace takt::secure
