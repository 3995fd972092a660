// Common parts of all CANopen services (CiA 301): the identifiers on the bus, and the address of an object
// dictionary entry. takt is the master. As in the standard, "receive" and "transmit" are from the view of the
// *device*.
//
// - 0x000        NMT commands (nmt.hpp)
// - 0x080        SYNC (sync.hpp)
// - 0x080+node   emergencies (emergency.hpp)
// - 0x180 to 0x57F  process data (pdo.hpp)
// - 0x580+node   SDO, from the device (sdo_client.hpp)
// - 0x600+node   SDO, to the device (sdo_server.hpp)
// - 0x700+node   boot-up and heartbeat (nmt.hpp)
//
// All frames are classic data frames with 11-bit identifiers. All numbers are little-endian. Real-time safe
// and usable in constant expressions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/can/frame.hpp"

namespace takt::can::canopen {

inline constexpr std::uint8_t max_node = 127;
/// Returns whether this is a valid node number.
[[nodiscard]] constexpr bool is_node(std::uint32_t node) noexcept { return node >= 1 && node <= max_node; }

/// Identifiers of the predefined connection set; those named base are for base + node.
inline constexpr std::uint32_t nmt_id = 0x000;
inline constexpr std::uint32_t sync_id = 0x080;
inline constexpr std::uint32_t emergency_base = 0x080;
inline constexpr std::uint32_t sdo_reply_base = 0x580;
inline constexpr std::uint32_t sdo_request_base = 0x600;
inline constexpr std::uint32_t heartbeat_base = 0x700;

/// The address of an object dictionary entry.
struct Address {
  std::uint16_t index = 0;
  std::uint8_t subindex = 0;

  friend constexpr bool operator==(const Address&, const Address&) = default;
};

/// One number to write into an object dictionary by SDO.
struct ObjectWrite {
  Address object;
  std::uint32_t value = 0;
  std::uint8_t bytes = 4;  ///< 1 to 4
  bool optional = false;   ///< a device without this object is no error

  friend constexpr bool operator==(const ObjectWrite&, const ObjectWrite&) = default;
};

namespace detail {

/// Makes `frame` an empty frame.
constexpr void begin(Frame& frame, std::uint32_t id, std::size_t length) noexcept {
  clear(frame);
  frame.id = id;
  frame.length = static_cast<std::uint8_t>(length);
}

/// Checks that a frame can be a CANopen frame. Error: wrong_format.
[[nodiscard]] constexpr Status check_format(const Frame& frame) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  return {};
}

/// Returns the node of a frame with identifier base + node. Errors: wrong_format, unexpected_id,
/// wrong_length.
[[nodiscard]] constexpr Result<std::uint8_t> node_of(const Frame& frame, std::uint32_t base,
                                                     std::size_t length) noexcept {
  if (const Status format = check_format(frame); !format) return fail(format.error());
  if (frame.id < base || !is_node(frame.id - base)) return fail(Errc::unexpected_id);
  if (frame.length != length) return fail(Errc::wrong_length);
  return static_cast<std::uint8_t>(frame.id - base);
}

}  // namespace detail

using can::encode;  // encode(message) returns a Result<Frame>; encode_into(frame, message) writes one

}  // namespace takt::can::canopen
