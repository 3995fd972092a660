// Service data objects (CiA 301, 7.2.4) read and write entries of an object dictionary. Up to four bytes fit
// in one frame (expedited); longer values take segments of seven bytes. This header has the abort codes and
// the frames. The two ends are sdo_client.hpp and sdo_server.hpp. Block transfers, for long values, are in
// sdo_block.hpp. Real-time safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "takt/can/canopen/object.hpp"
#include "takt/can/word.hpp"

namespace takt::can::canopen {

/// The reason why either side aborted a transfer. A device may send any other number.
enum class SdoAbort : std::uint32_t {
  none = 0,
  toggle = 0x0503'0000,
  timeout = 0x0504'0000,
  unknown_command = 0x0504'0001,
  block_size = 0x0504'0002,
  sequence_number = 0x0504'0003,
  checksum = 0x0504'0004,
  out_of_memory = 0x0504'0005,
  unsupported_access = 0x0601'0000,
  write_only = 0x0601'0001,
  read_only = 0x0601'0002,
  no_such_object = 0x0602'0000,
  cannot_be_mapped = 0x0604'0041,
  pdo_too_long = 0x0604'0042,
  incompatible_parameter = 0x0604'0043,
  incompatible_device = 0x0604'0047,
  hardware = 0x0606'0000,
  wrong_length = 0x0607'0010,
  too_long = 0x0607'0012,
  too_short = 0x0607'0013,
  no_such_subindex = 0x0609'0011,
  bad_value = 0x0609'0030,
  value_too_high = 0x0609'0031,
  value_too_low = 0x0609'0032,
  maximum_below_minimum = 0x0609'0036,
  no_such_connection = 0x060A'0023,
  general = 0x0800'0000,
  cannot_store = 0x0800'0020,
  local_control = 0x0800'0021,
  wrong_device_state = 0x0800'0022,
  no_dictionary = 0x0800'0023,
  no_data = 0x0800'0024,
};

/// Returns the meaning of an abort code, as text.
[[nodiscard]] constexpr std::string_view describe(SdoAbort code) noexcept {
  switch (code) {
    case SdoAbort::none:
      return "no error";
    case SdoAbort::toggle:
      return "the toggle bit did not alternate";
    case SdoAbort::timeout:
      return "no answer came in time";
    case SdoAbort::unknown_command:
      return "the command is unknown or not expected now";
    case SdoAbort::block_size:
      return "invalid block size";
    case SdoAbort::sequence_number:
      return "invalid sequence number";
    case SdoAbort::checksum:
      return "wrong checksum";
    case SdoAbort::out_of_memory:
      return "out of memory";
    case SdoAbort::unsupported_access:
      return "the object does not support this access";
    case SdoAbort::write_only:
      return "the object can only be written";
    case SdoAbort::read_only:
      return "the object can only be read";
    case SdoAbort::no_such_object:
      return "the object does not exist";
    case SdoAbort::cannot_be_mapped:
      return "the object cannot be mapped into a PDO";
    case SdoAbort::pdo_too_long:
      return "the mapped objects are longer than a PDO";
    case SdoAbort::incompatible_parameter:
      return "the parameter is incompatible";
    case SdoAbort::incompatible_device:
      return "incompatible inside the device";
    case SdoAbort::hardware:
      return "a hardware error prevented the access";
    case SdoAbort::wrong_length:
      return "the length does not match the object";
    case SdoAbort::too_long:
      return "the data are too long for the object";
    case SdoAbort::too_short:
      return "the data are too short for the object";
    case SdoAbort::no_such_subindex:
      return "the sub-index does not exist";
    case SdoAbort::bad_value:
      return "the value is not allowed";
    case SdoAbort::value_too_high:
      return "the value is too high";
    case SdoAbort::value_too_low:
      return "the value is too low";
    case SdoAbort::maximum_below_minimum:
      return "the maximum is below the minimum";
    case SdoAbort::no_such_connection:
      return "the resource is not available";
    case SdoAbort::general:
      return "general error";
    case SdoAbort::cannot_store:
      return "the data cannot be transferred or stored";
    case SdoAbort::local_control:
      return "the data cannot be stored: the device is under local control";
    case SdoAbort::wrong_device_state:
      return "the data cannot be stored in the present state of the device";
    case SdoAbort::no_dictionary:
      return "the device has no object dictionary";
    case SdoAbort::no_data:
      return "there are no data";
  }
  return "an abort code that the standard does not define";
}

namespace detail {

inline constexpr std::size_t sdo_length = 8;
inline constexpr std::size_t sdo_segment = 7;
inline constexpr std::size_t sdo_expedited = 4;

// The upper three bits of the first byte. Requests and answers use the same numbers with different meanings.
inline constexpr std::uint8_t command_mask = 0xE0;
inline constexpr std::uint8_t download_segment_request = 0x00;
inline constexpr std::uint8_t download_request = 0x20;
inline constexpr std::uint8_t upload_request = 0x40;
inline constexpr std::uint8_t upload_segment_request = 0x60;
inline constexpr std::uint8_t upload_segment_reply = 0x00;
inline constexpr std::uint8_t download_segment_reply = 0x20;
inline constexpr std::uint8_t upload_reply = 0x40;
inline constexpr std::uint8_t download_reply = 0x60;
inline constexpr std::uint8_t abort_command = 0x80;
// The lower bits of the first byte.
inline constexpr std::uint8_t toggle_bit = 0x10;
inline constexpr std::uint8_t expedited_bit = 0x02;
inline constexpr std::uint8_t size_bit = 0x01;
inline constexpr std::uint8_t last_bit = 0x01;

[[nodiscard]] constexpr Address address_in(const Frame& frame) noexcept {
  return {static_cast<std::uint16_t>(load_little<2>(frame.data.data() + 1)), frame.data[3]};
}
[[nodiscard]] constexpr std::uint32_t number_in(const Frame& frame) noexcept {
  return static_cast<std::uint32_t>(load_little<4>(frame.data.data() + 4));
}

/// A frame with an address and a number: request, reply or abort.
[[nodiscard]] constexpr Frame sdo_frame(std::uint32_t id, unsigned command, Address object,
                                        std::uint32_t number = 0) noexcept {
  Frame frame;
  begin(frame, id, sdo_length);
  frame.data[0] = static_cast<std::uint8_t>(command);
  store_little<2>(frame.data.data() + 1, object.index);
  frame.data[3] = object.subindex;
  store_little<4>(frame.data.data() + 4, number);
  return frame;
}

/// Up to four bytes in one frame: the answer to an upload or the request of a download.
[[nodiscard]] constexpr Frame expedited_frame(std::uint32_t id, unsigned command, Address object,
                                              std::span<const std::uint8_t> data) noexcept {
  const auto unused = static_cast<unsigned>(sdo_expedited - data.size());
  Frame frame = sdo_frame(id, command | unused << 2 | expedited_bit | size_bit, object);
  std::copy(data.begin(), data.end(), frame.data.begin() + 4);
  return frame;
}
[[nodiscard]] constexpr std::size_t expedited_size(std::uint8_t command) noexcept {
  return (command & size_bit) != 0 ? sdo_expedited - (command >> 2 & 3U) : sdo_expedited;
}

/// The next segment of `left`: up to seven bytes.
[[nodiscard]] constexpr Frame segment_frame(std::uint32_t id, unsigned command, bool toggle,
                                            std::span<const std::uint8_t> left) noexcept {
  const std::size_t bytes = std::min(left.size(), sdo_segment);
  Frame frame;
  begin(frame, id, sdo_length);
  frame.data[0] = static_cast<std::uint8_t>(command | (toggle ? toggle_bit : 0) |
                                            static_cast<unsigned>(sdo_segment - bytes) << 1 |
                                            (bytes == left.size() ? last_bit : 0));
  std::copy_n(left.begin(), bytes, frame.data.begin() + 1);
  return frame;
}
[[nodiscard]] constexpr std::span<const std::uint8_t> segment_data(const Frame& frame) noexcept {
  return std::span<const std::uint8_t>(frame.data).subspan(1, sdo_segment - (frame.data[0] >> 1 & 7U));
}
[[nodiscard]] constexpr bool toggle_in(const Frame& frame) noexcept {
  return (frame.data[0] & toggle_bit) != 0;
}

}  // namespace detail
}  // namespace takt::can::canopen
