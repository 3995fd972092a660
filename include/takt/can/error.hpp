// The errors of the CAN room.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::can {

/// The error codes; describe() explains each. Each number is part of the C API and is never reused.
enum class Errc : std::uint16_t {
  unexpected_id = 1,
  wrong_format = 2,
  wrong_length = 3,
  bad_value = 4,
  unknown_command = 5,
  id_too_large = 6,
  payload_too_long = 7,
  not_finite = 8,
  out_of_range = 9,
  bad_layout = 10,
  unknown_node = 11,
  bad_dbc = 12,
  unknown_selector = 13,
  wrong_count = 14,
  bad_plan = 15,
  bad_line = 16,
  no_room = 17,
  file_failed = 18,
};

/// The room of these errors, for takt::Error.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::can; }

/// One sentence for people. Real-time safe: the text is a constant.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::unexpected_id:
      return "no message of this kind has this identifier";
    case Errc::wrong_format:
      return "the frame's format (remote, error, extended, classic or FD) is not that of the message";
    case Errc::wrong_length:
      return "the frame's length is not that of the message";
    case Errc::bad_value:
      return "a field holds a value that the protocol does not define";
    case Errc::unknown_command:
      return "the board command is unknown";
    case Errc::id_too_large:
      return "the identifier has more than 11 bits (29 bits in an extended frame)";
    case Errc::payload_too_long:
      return "the data are longer than the frame format allows";
    case Errc::not_finite:
      return "the number is NaN or infinite";
    case Errc::out_of_range:
      return "the number does not fit its field";
    case Errc::bad_layout:
      return "the bit field does not lie within the frame";
    case Errc::unknown_node:
      return "the number of the board or drive is outside the protocol's range";
    case Errc::bad_dbc:
      return "the text is not a readable DBC file";
    case Errc::unknown_selector:
      return "the selector's value selects no signal of the message";
    case Errc::wrong_count:
      return "the number of entries does not match the number of signals or objects of the message";
    case Errc::bad_plan:
      return "a period, the cycle or a bit rate of the plan is not positive";
    case Errc::bad_line:
      return "the line does not follow the format";
    case Errc::no_room:
      return "the send queue is full or busy: try again later";
    case Errc::file_failed:
      return "the file cannot be opened or read";
  }
  return "unknown CAN error";
}

}  // namespace takt::can
