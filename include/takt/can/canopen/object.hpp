// What all services of CANopen share (CiA 301): who may have which identifier on the bus, and how an entry of
// a device's object dictionary is named. takt is the master: "receive" and "transmit" are, as in the
// standard, what the *device* does.
//
//   0x000        NMT commands          nmt.hpp        0x080        SYNC              sync.hpp
//   0x080+node   emergencies           emergency.hpp  0x180..0x57F process data      pdo.hpp
//   0x580+node   SDO, from the device  sdo_client.hpp 0x600+node   SDO, to the device
//   0x700+node   boot-up and heartbeat nmt.hpp
//
// All frames are classic data frames with 11-bit identifiers, all numbers little-endian. Real-time safe and
// usable in constant expressions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/can/frame.hpp"

namespace takt::can::canopen {

inline constexpr std::uint8_t max_node = 127;
[[nodiscard]] constexpr bool is_node(std::uint32_t node) noexcept { return node >= 1 && node <= max_node; }

inline constexpr std::uint32_t nmt_id = 0x000;
inline constexpr std::uint32_t sync_id = 0x080;
inline constexpr std::uint32_t emergency_base = 0x080;
inline constexpr std::uint32_t sdo_reply_base = 0x580;
inline constexpr std::uint32_t sdo_request_base = 0x600;
inline constexpr std::uint32_t heartbeat_base = 0x700;

/// Where an entry of the object dictionary stands.
struct Address {
  std::uint16_t index = 0;
  std::uint8_t subindex = 0;

  friend constexpr bool operator==(const Address&, const Address&) = default;
};

/// One number to be written into an object dictionary by SDO.
struct ObjectWrite {
  Address object;
  std::uint32_t value = 0;
  std::uint8_t bytes = 4;  ///< 1..4
  bool optional = false;   ///< not every device has the object: one that has not, is none the worse for it

  friend constexpr bool operator==(const ObjectWrite&, const ObjectWrite&) = default;
};

namespace detail {

/// Makes `frame` an empty one.
constexpr void begin(Frame& frame, std::uint32_t id, std::size_t length) noexcept {
  clear(frame);
  frame.id = id;
  frame.length = static_cast<std::uint8_t>(length);
}

/// Whether a frame can be of CANopen at all. Error: wrong_format.
[[nodiscard]] constexpr Status check_format(const Frame& frame) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  return {};
}

/// The node that a frame with identifier base + node is of. Errors: wrong_format, unexpected_id,
/// wrong_length.
[[nodiscard]] constexpr Result<std::uint8_t> node_of(const Frame& frame, std::uint32_t base,
                                                     std::size_t length) noexcept {
  if (const Status format = check_format(frame); !format) return fail(format.error());
  if (frame.id < base || !is_node(frame.id - base)) return fail(Errc::unexpected_id);
  if (frame.length != length) return fail(Errc::wrong_length);
  return static_cast<std::uint8_t>(frame.id - base);
}

}  // namespace detail

using can::encode;  // encode(message) gives a Result<Frame>; encode_into(frame, message) writes into a frame

}  // namespace takt::can::canopen
