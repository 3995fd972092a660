// SAE J1939 on CAN: the fields of a 29-bit identifier, and the NAME that identifies a device. Messages of up
// to 8 bytes are single frames. takt/can/j1939_transport.hpp carries longer ones, and
// takt/can/j1939_address.hpp claims an address. The signals, with codes such as "not available", are decoded
// by takt/dbc/database.hpp and takt/can/message.hpp.
//
//   identifier   priority 3 bits | page 2 | PF 8 | PS 8 | source address 8
//   PF below 240 (PDU1): PS is the destination; the parameter group number (PGN) ends in 00
//   PF from 240  (PDU2): PS belongs to the PGN; the message is a broadcast
//
// Real-time safe, usable in constant expressions. Sources: SAE J1939-21 (identifier), J1939-81 (NAME).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/can/frame.hpp"
#include "takt/can/word.hpp"

namespace takt::can::j1939 {

inline constexpr std::uint8_t null_address = 0xFE;       ///< the source of a device without an address
inline constexpr std::uint8_t broadcast_address = 0xFF;  ///< the destination of a broadcast
inline constexpr std::uint8_t max_address = 0xFD;        ///< the largest address of a device
inline constexpr std::uint32_t max_pgn = 0x3'FFFF;       ///< 18 bits
inline constexpr std::size_t max_message_length = 1785;  ///< bytes: 255 packets of 7

// Parameter groups of the network management and transport.
inline constexpr std::uint32_t pgn_request = 0xEA00;
inline constexpr std::uint32_t pgn_transport_data = 0xEB00;
inline constexpr std::uint32_t pgn_transport_management = 0xEC00;
inline constexpr std::uint32_t pgn_address_claimed = 0xEE00;

/// Returns whether messages of this group have a destination (PDU1).
[[nodiscard]] constexpr bool is_destined(std::uint32_t pgn) noexcept { return (pgn >> 8 & 0xFFU) < 240; }

/// The fields of an identifier.
struct Id {
  std::uint8_t priority = 6;  ///< 0 (highest) to 7
  std::uint32_t pgn = 0;      ///< 18 bits
  std::uint8_t source = null_address;
  std::uint8_t destination = broadcast_address;

  friend constexpr bool operator==(const Id&, const Id&) = default;
};

/// Decodes the low 29 bits of an identifier. Every number is valid.
[[nodiscard]] constexpr Id decode_id(std::uint32_t id) noexcept {
  Id decoded;
  decoded.priority = static_cast<std::uint8_t>(id >> 26 & 7U);
  decoded.source = static_cast<std::uint8_t>(id);
  decoded.pgn = id >> 8 & max_pgn;
  if (is_destined(decoded.pgn)) {
    decoded.destination = static_cast<std::uint8_t>(decoded.pgn);
    decoded.pgn &= ~0xFFU;
  }
  return decoded;
}

/// Encodes an identifier. Errors: out_of_range (priority, PGN), bad_value (a PDU1 PGN that does not end in
/// 00, or a destination for a PDU2 PGN).
[[nodiscard]] constexpr Result<std::uint32_t> encode_id(const Id& id) noexcept {
  if (id.priority > 7 || id.pgn > max_pgn) return fail(Errc::out_of_range);
  const bool destined = is_destined(id.pgn);
  if (destined ? (id.pgn & 0xFFU) != 0 : id.destination != broadcast_address) return fail(Errc::bad_value);
  return std::uint32_t{id.priority} << 26 | (id.pgn | (destined ? id.destination : 0U)) << 8 | id.source;
}

/// Makes a message of a single frame. Errors: those of encode_id(), payload_too_long (more than 8 bytes).
[[nodiscard]] constexpr Result<Frame> make_frame(const Id& id, std::span<const std::uint8_t> data) noexcept {
  const auto number = encode_id(id);
  if (!number) return fail(number.error());
  return can::make_frame(*number, data, true);
}

/// Returns whether a frame has the format of J1939: a classic data frame with a 29-bit identifier.
[[nodiscard]] constexpr bool is_message(const Frame& frame) noexcept {
  return frame.extended && frame.is_data() && !frame.fd && frame.length <= max_classic_length;
}

/// The NAME of a device, unique in the world. If two devices claim one address, the lower NAME number wins.
struct Name {
  std::uint32_t identity = 0;          ///< 21 bits: a serial number
  std::uint16_t manufacturer = 0;      ///< 11 bits, by SAE
  std::uint8_t ecu_instance = 0;       ///< 3 bits
  std::uint8_t function_instance = 0;  ///< 5 bits
  std::uint8_t function = 0;           ///< 8 bits
  std::uint8_t vehicle_system = 0;     ///< 7 bits
  std::uint8_t system_instance = 0;    ///< 4 bits
  std::uint8_t industry_group = 0;     ///< 3 bits
  bool arbitrary_address = false;      ///< the device can take another address than its preferred one

  friend constexpr bool operator==(const Name&, const Name&) = default;
};

/// Encodes a NAME as the number that claims are compared by. Error: out_of_range (a field exceeds its bits).
[[nodiscard]] constexpr Result<std::uint64_t> encode_name(const Name& name) noexcept {
  if (name.identity >= 1U << 21 || name.manufacturer >= 1U << 11 || name.ecu_instance >= 1U << 3 ||
      name.function_instance >= 1U << 5 || name.vehicle_system >= 1U << 7 ||
      name.system_instance >= 1U << 4 || name.industry_group >= 1U << 3) {
    return fail(Errc::out_of_range);
  }
  return std::uint64_t{name.identity} | std::uint64_t{name.manufacturer} << 21 |
         std::uint64_t{name.ecu_instance} << 32 | std::uint64_t{name.function_instance} << 35 |
         std::uint64_t{name.function} << 40 | std::uint64_t{name.vehicle_system} << 49 |
         std::uint64_t{name.system_instance} << 56 | std::uint64_t{name.industry_group} << 60 |
         std::uint64_t{name.arbitrary_address} << 63;
}

/// Decodes a NAME. The reserved bit 48 is ignored.
[[nodiscard]] constexpr Name decode_name(std::uint64_t number) noexcept {
  const auto field = [number](unsigned shift, unsigned bits) {
    return static_cast<std::uint32_t>(number >> shift & ((1U << bits) - 1));
  };
  return {.identity = field(0, 21),
          .manufacturer = static_cast<std::uint16_t>(field(21, 11)),
          .ecu_instance = static_cast<std::uint8_t>(field(32, 3)),
          .function_instance = static_cast<std::uint8_t>(field(35, 5)),
          .function = static_cast<std::uint8_t>(field(40, 8)),
          .vehicle_system = static_cast<std::uint8_t>(field(49, 7)),
          .system_instance = static_cast<std::uint8_t>(field(56, 4)),
          .industry_group = static_cast<std::uint8_t>(field(60, 3)),
          .arbitrary_address = field(63, 1) != 0};
}

}  // namespace takt::can::j1939
