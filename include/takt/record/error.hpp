// The errors of reading and writing a recording.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::record {

/// Error codes of this room.
enum class Errc : std::uint16_t {
  not_a_recording = 1,
  unsupported_version = 2,
  metadata_too_long = 3,
  bad_metadata = 4,
  record_too_long = 5,
  record_too_short = 6,
  time_out_of_range = 7,
  time_not_rising = 8,
  data_after_end = 9,
  totals_mismatch = 10,
  cannot_open = 11,
  read_failed = 12,
  write_failed = 13,
  already_running = 14,
};

/// The room of these codes, for core/error.hpp.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::record; }

/// The error in words; a fixed text for an unknown number. Real-time safe.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::not_a_recording:
      return "the file is not a recording of takt run --record";
    case Errc::unsupported_version:
      return "this program does not support the recording's version";
    case Errc::metadata_too_long:
      return "the metadata is longer than the format allows";
    case Errc::bad_metadata:
      return "the metadata is incomplete or wrong";
    case Errc::record_too_long:
      return "a record is longer than the format allows";
    case Errc::record_too_short:
      return "a record is shorter than its type requires";
    case Errc::time_out_of_range:
      return "a time is outside the range of the clock";
    case Errc::time_not_rising:
      return "a cycle is not later than the one before it";
    case Errc::data_after_end:
      return "data follow the end record";
    case Errc::totals_mismatch:
      return "the end record's count differs from the number of records read";
    case Errc::cannot_open:
      return "the file cannot be opened";
    case Errc::read_failed:
      return "reading failed";
    case Errc::write_failed:
      return "writing failed";
    case Errc::already_running:
      return "the recorder's thread runs already";
  }
  return "unknown recording error";
}

}  // namespace takt::record
