// What SAE J1939 makes of a number in a field: a value, or that there is none; and of an identifier.
#pragma once

#include <cstdint>
#include <limits>

#include "takt/can/signal.hpp"

namespace takt::can {

/// What a frame has of a signal.
enum class Presence : std::uint8_t {
  value,            ///< a physical value
  not_selected,     ///< the selector has chosen other signals
  cut_off,          ///< the frame ends before the signal does
  not_available,    ///< J1939: 0xFF.., the sender does not have it
  error_indicator,  ///< J1939: 0xFE.., the sender's sensor has failed
  reserved,         ///< J1939: 0xFB.. to 0xFD.., what is no value either
};

/// SAE J1939-71: the largest number that is a value. Of bytes, the top one says what is none from 0xFB on; of fields of a few bits
/// the two largest numbers do. Texts and names are longer than any number: there all are values.
[[nodiscard]] constexpr std::uint64_t largest_j1939_value(Field field) noexcept {
  if (field.type != NumberType::unsigned_integer || field.length < 2 || field.length > 32)
    return std::numeric_limits<std::uint64_t>::max();
  if (field.length % 8 == 0) return (std::uint64_t{0xFB} << (field.length - 8)) - 1;
  return detail::mask_of(field.length) - 2;
}

/// What a larger number says.
[[nodiscard]] constexpr Presence j1939_presence(Field field, std::uint64_t number) noexcept {
  const bool is_bytes = field.length % 8 == 0;
  const std::uint64_t code =
      is_bytes ? number >> (field.length - 8) : number + 0xFF - detail::mask_of(field.length);
  return code == 0xFF   ? Presence::not_available
         : code == 0xFE ? Presence::error_indicator
                        : Presence::reserved;
}

/// The bits of an identifier that are its parameter group, SAE J1939-21: not priority and source, and below 240 in the second byte
/// not the destination, which is the third.
[[nodiscard]] constexpr std::uint32_t j1939_group_mask(std::uint32_t id) noexcept {
  return (id >> 16 & 0xFF) < 240 ? 0x03FF'0000 : 0x03FF'FF00;
}
[[nodiscard]] constexpr std::uint32_t j1939_group_of(std::uint32_t id) noexcept {
  return (id & j1939_group_mask(id)) >> 8;
}

}  // namespace takt::can
