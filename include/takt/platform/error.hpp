// The errors of operating-system calls: shared memory, CAN, UDP, TCP, serial lines and key files.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/core/error.hpp"

namespace takt::platform {

/// Error codes of this room. The numbers are part of the C API and never reused.
enum class Errc : std::uint16_t {
  listen_failed = 1,
  connect_failed = 2,
  connection_closed = 3,
  send_failed = 4,
  receive_failed = 5,
  no_such_segment = 6,
  segment_exists = 7,
  bad_segment_name = 8,
  segment_failed = 9,
  memory_full = 10,
  not_sealed = 11,
  wrong_owner = 12,
  wrong_mode = 13,
  segment_in_use = 14,
  slot_taken = 15,
  not_allowed = 16,
  no_can = 17,
  no_such_can_interface = 18,
  can_interface_down = 19,
  no_can_fd = 20,
  can_failed = 21,
  bad_cycle = 22,
  no_such_cycle = 23,
  bad_address = 24,
  udp_failed = 25,
  can_queue_too_short = 26,
  not_can = 27,
  wrong_can_bit_rate = 28,
  can_bus_off = 29,
  bad_link_message = 30,
  no_permission = 31,
  no_such_serial_line = 32,
  serial_line_busy = 33,
  wait_failed = 34,
  no_key_file = 60,
  key_file_exists = 61,
  key_file_owner = 62,
  key_file_mode = 63,
  key_file_size = 64,
  key_file_failed = 65,
  no_randomness = 66,
};

/// The room of these codes, for core/error.hpp.
[[nodiscard]] constexpr Room room_of(Errc) noexcept { return Room::platform; }

/// The error in words; a fixed text for an unknown number. Real-time safe.
[[nodiscard]] constexpr std::string_view describe(Errc code) noexcept {
  switch (code) {
    case Errc::listen_failed:
      return "the program cannot listen on this port or path";
    case Errc::connect_failed:
      return "no connection could be made";
    case Errc::connection_closed:
      return "the other side closed the connection";
    case Errc::send_failed:
      return "the data could not be sent on the connection";
    case Errc::receive_failed:
      return "no data could be received from the connection";
    case Errc::no_such_segment:
      return "there is no shared memory of this name";
    case Errc::segment_exists:
      return "shared memory of this name exists already";
    case Errc::bad_segment_name:
      return "a segment needs a name of 1 to 63 letters, digits, '_', '-' or '.'";
    case Errc::segment_failed:
      return "the system refuses the shared memory";
    case Errc::memory_full:
      return "the system has no room for the shared memory";
    case Errc::not_sealed:
      return "the shared memory is not sealed: another process that holds it could shrink it";
    case Errc::wrong_owner:
      return "the shared memory, or the server that offers it, belongs to another user";
    case Errc::wrong_mode:
      return "other users may open the shared memory: its mode must be 0600";
    case Errc::segment_in_use:
      return "another process uses the shared memory";
    case Errc::slot_taken:
      return "another process holds this owner slot";
    case Errc::not_allowed:
      return "the segment's server does not serve this user";
    case Errc::no_can:
      return "this system does not support CAN";
    case Errc::no_such_can_interface:
      return "there is no CAN interface of this name";
    case Errc::can_interface_down:
      return "the CAN interface is down";
    case Errc::no_can_fd:
      return "the CAN interface takes classic frames only";
    case Errc::can_failed:
      return "the system refuses the CAN socket";
    case Errc::bad_cycle:
      return "a cycle needs 1 to 256 frames of one format, no more than before, and a period in whole "
             "microseconds up to 400 days";
    case Errc::no_such_cycle:
      return "no cycle sends or watches this message";
    case Errc::bad_address:
      return "an address must be numeric, such as 127.0.0.1 or ::1";
    case Errc::udp_failed:
      return "the system refuses the UDP socket";
    case Errc::can_queue_too_short:
      return "the CAN interface's send queue holds fewer frames than a cycle sends";
    case Errc::not_can:
      return "the network interface is not a CAN interface";
    case Errc::wrong_can_bit_rate:
      return "the CAN interface runs at another bit rate";
    case Errc::can_bus_off:
      return "the CAN controller is bus-off after too many errors";
    case Errc::bad_link_message:
      return "the kernel's message does not describe a network interface";
    case Errc::no_permission:
      return "the system does not permit this user to do so";
    case Errc::no_such_serial_line:
      return "there is no serial line of this name";
    case Errc::serial_line_busy:
      return "another program uses the serial line";
    case Errc::wait_failed:
      return "the system cannot wait for these descriptors";
    case Errc::no_key_file:
      return "there is no readable key file of this name";
    case Errc::key_file_exists:
      return "a file of this name exists already";
    case Errc::key_file_owner:
      return "the key file belongs to another user";
    case Errc::key_file_mode:
      return "other users may read or write the key file: its mode must be 0600 or 0400";
    case Errc::key_file_size:
      return "the key file is not a regular file of exactly the key's size";
    case Errc::key_file_failed:
      return "the key file cannot be written";
    case Errc::no_randomness:
      return "the system cannot give random bytes";
  }
  return "unknown platform error";
}

}  // namespace takt::platform
