// J1939 codes: which numbers of a field are values, and which mean "not available" or "error". Also the mask
// of the parameter group in an identifier. Pure; real-time safe.
#pragma once

#include <cstdint>
#include <limits>

#include "takt/can/signal.hpp"

namespace takt::can {

/// The state of a signal in a frame.
enum class Presence : std::uint8_t {
  value,            ///< a physical value
  not_selected,     ///< the selector selects other signals
  cut_off,          ///< the frame ends before the signal does
  not_available,    ///< J1939 0xFF..: the sender has no value
  error_indicator,  ///< J1939 0xFE..: the sender's sensor has failed
  reserved,         ///< J1939 0xFB.. to 0xFD..: reserved codes
};

/// Returns the largest number of a field that is a value (SAE J1939-71). For whole bytes, a top byte of 0xFB
/// or more is a code. For fields of a few bits, the two largest numbers are codes. In fields longer than a
/// number (texts, names), all numbers are values.
[[nodiscard]] constexpr std::uint64_t largest_j1939_value(BitField field) noexcept {
  if (field.type != NumberType::unsigned_integer || field.length < 2 || field.length > 32)
    return std::numeric_limits<std::uint64_t>::max();
  if (field.length % 8 == 0) return (std::uint64_t{0xFB} << (field.length - 8)) - 1;
  return detail::mask_of(field.length) - 2;
}

/// Returns the meaning of a number above largest_j1939_value().
[[nodiscard]] constexpr Presence j1939_presence(BitField field, std::uint64_t number) noexcept {
  const bool is_bytes = field.length % 8 == 0;
  const std::uint64_t code =
      is_bytes ? number >> (field.length - 8) : number + 0xFF - detail::mask_of(field.length);
  return code == 0xFF   ? Presence::not_available
         : code == 0xFE ? Presence::error_indicator
                        : Presence::reserved;
}

/// Returns the bits of an identifier that form its parameter group (SAE J1939-21). Priority and source are
/// excluded. For a PDU1 identifier (second byte below 240), the destination in the third byte is excluded,
/// too.
[[nodiscard]] constexpr std::uint32_t j1939_group_mask(std::uint32_t id) noexcept {
  return (id >> 16 & 0xFF) < 240 ? 0x03FF'0000 : 0x03FF'FF00;
}
/// Returns the number of the parameter group of a 29-bit identifier.
[[nodiscard]] constexpr std::uint32_t j1939_group_of(std::uint32_t id) noexcept {
  return (id & j1939_group_mask(id)) >> 8;
}

}  // namespace takt::can
