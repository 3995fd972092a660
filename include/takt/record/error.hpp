// The errors of reading and writing a recording.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::record {

/// Error codes of this room. Their numbers are never reused; 2 and 10 are gone.
enum class Errc : std::uint16_t {
  not_a_recording = 1,
  metadata_too_long = 3,
  bad_metadata = 4,
  record_too_long = 5,
  record_too_short = 6,
  time_out_of_range = 7,
  time_not_rising = 8,
  data_after_end = 9,
  cannot_open = 11,
  read_failed = 12,
  write_failed = 13,
  already_running = 14,
  bad_chunk = 15,
  unknown_channel = 16,
  definition_changed = 17,
  bad_message = 18,
  other_schema = 19,
  no_joint_states = 20,
  bad_topic = 21,
  unsupported_compression = 22,
  checksum_mismatch = 23,
  not_running = 24,
  bad_record = 25,
};

/// The room of these codes, for core/error.hpp.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::record; }

/// The error in words; a fixed text for an unknown number. Real-time safe.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::not_a_recording:
      return "the file is not a recording: it begins neither as an MCAP file nor as a ROS 1 bag";
    case Errc::unsupported_compression:
      return "this program cannot read the compression of a chunk";
    case Errc::metadata_too_long:
      return "the metadata is longer than a recording allows";
    case Errc::bad_metadata:
      return "the metadata is incomplete or wrong";
    case Errc::record_too_long:
      return "a record is longer than a reader accepts";
    case Errc::record_too_short:
      return "a record is shorter than its type requires";
    case Errc::time_out_of_range:
      return "a time is outside the range of the clock";
    case Errc::time_not_rising:
      return "a cycle is not later than the one before it";
    case Errc::data_after_end:
      return "data follow the end of the file";
    case Errc::checksum_mismatch:
      return "a checksum differs: the file is damaged";
    case Errc::cannot_open:
      return "the file cannot be opened";
    case Errc::read_failed:
      return "reading failed";
    case Errc::write_failed:
      return "writing failed";
    case Errc::already_running:
      return "it runs already";
    case Errc::not_running:
      return "it does not run";
    case Errc::bad_record:
      return "the opcode or the size of a record is wrong";
    case Errc::bad_chunk:
      return "a chunk is damaged";
    case Errc::unknown_channel:
      return "a message or a channel lacks its definition";
    case Errc::definition_changed:
      return "a schema or a channel is defined twice, differently";
    case Errc::bad_message:
      return "a message does not have the form of its schema";
    case Errc::other_schema:
      return "a topic has another schema than this version of takt gives it";
    case Errc::no_joint_states:
      return "the file has neither a recording of takt nor a topic with joint states";
    case Errc::bad_topic:
      return "a topic needs a name that no other has, a type, and a valid schema or a definition; a text "
             "needs a schema";
  }
  return "unknown recording error";
}

}  // namespace takt::record
