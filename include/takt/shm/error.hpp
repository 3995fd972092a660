// The errors of shared memory: its layout, a requested layout, joint commands, and ring contents.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::shm {

/// Error codes of this room. The numbers are part of the C API and never reused.
enum class Errc : std::uint16_t {
  // The memory does not match.
  not_ready = 1,
  not_a_segment = 2,
  wrong_version = 3,
  wrong_byte_order = 4,
  wrong_word_size = 5,
  wrong_size = 6,
  bad_directory = 7,
  no_such_exchange = 8,
  wrong_kind = 9,
  wrong_schema = 10,
  no_such_slot = 11,
  read_only = 12,
  // The requested layout is not possible.
  bad_schema = 13,
  bad_name = 14,
  bad_extent = 15,
  too_many_exchanges = 16,
  does_not_fit = 17,
  misaligned = 18,
  // The exchange does not match its type.
  wrong_extent = 19,
  // A joint command is wrong.
  bad_reference = 30,
  unknown_mode = 31,
  unknown_joint = 32,
  not_owner = 33,
  out_of_domain = 34,
  // Nothing is wrong; try again later.
  full = 40,
  empty = 41,
  // A peer has damaged a ring.
  broken = 42,
};

/// The room of these codes, for core/error.hpp.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::shm; }

/// The error in words; a fixed text for an unknown number. Real-time safe.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::not_ready:
      return "the memory has no layout yet, or its creator died before it wrote the layout";
    case Errc::not_a_segment:
      return "the memory does not hold a takt segment";
    case Errc::wrong_version:
      return "the segment was laid out by another version";
    case Errc::wrong_byte_order:
      return "the segment was laid out on a machine of the other byte order";
    case Errc::wrong_word_size:
      return "the segment was laid out by a program with words of another size";
    case Errc::wrong_size:
      return "the segment's size is not the size in its header";
    case Errc::bad_directory:
      return "the segment's directory is inconsistent";
    case Errc::no_such_exchange:
      return "the segment has no exchange of this name";
    case Errc::wrong_kind:
      return "the exchange is of another kind";
    case Errc::wrong_schema:
      return "the exchange holds elements of another type";
    case Errc::no_such_slot:
      return "the exchange has no such owner slot";
    case Errc::read_only:
      return "the segment is open only for reading";
    case Errc::bad_schema:
      return "the schema is not a list of fields such as \"position f64[6], stamp i64\"";
    case Errc::bad_name:
      return "an exchange needs a unique name: 1 to 31 letters, digits, '_', '-' or '.'";
    case Errc::bad_extent:
      return "an exchange of this kind cannot have this capacity or this many owner slots";
    case Errc::too_many_exchanges:
      return "a segment has 1 to 32 exchanges and at most 256 owner slots";
    case Errc::does_not_fit:
      return "the memory is too small for the exchanges";
    case Errc::misaligned:
      return "the memory does not begin at a multiple of 128 bytes";
    case Errc::wrong_extent:
      return "the exchange's capacity or owner slots differ from those of this type";
    case Errc::bad_reference:
      return "a reference is NaN or infinite";
    case Errc::unknown_mode:
      return "the joint mode is unknown";
    case Errc::unknown_joint:
      return "the robot has no such joint";
    case Errc::not_owner:
      return "the joint is not owned";
    case Errc::out_of_domain:
      return "a parameter is outside the range that its documentation gives";
    case Errc::full:
      return "the ring is full";
    case Errc::empty:
      return "the ring is empty";
    case Errc::broken:
      return "the peer wrote an invalid record into the ring";
  }
  return "unknown shm error";
}

}  // namespace takt::shm
