// Whether bytes can be a record of MCAP. Each kind of record but a message tells its size twice: in its
// prefix, and by the sizes of its own fields. So a wrong bit in either of them shows. Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/mcap.hpp"
#include "takt/core/bytes.hpp"

namespace takt::record {

/// A record at the beginning of some bytes, as its prefix tells. The bytes must outlive it.
struct McapFrame {
  /// `bytes`: the prefix, and what there is behind it.
  explicit McapFrame(std::span<const std::uint8_t> bytes) noexcept;

  /// Whether all of the record is there.
  [[nodiscard]] bool is_whole() const noexcept { return content.size() == size; }
  /// Whether its fields fill it exactly, if it is a record of this kind. False for a message.
  [[nodiscard]] bool fits(McapOpcode kind) const noexcept;
  /// Whether its fields fill it exactly, if it is a record of any kind.
  [[nodiscard]] bool fits_any() const noexcept;
  /// Whether its fields are those of a chunk with messages, whatever its opcode is.
  [[nodiscard]] bool has_form_of_chunk() const noexcept;
  /// Whether opcode and size can be right, as far as the record and the bytes behind it tell.
  /// `is_behind_chunk`: whether the file has a chunk before it.
  [[nodiscard]] bool is_sound(bool is_behind_chunk) const noexcept;
  /// Whether the record is complete, fits its opcode, and another one follows. False for a message.
  [[nodiscard]] bool is_followed() const noexcept;

  McapOpcode opcode;
  std::uint64_t size;                     ///< as the prefix tells
  std::span<const std::uint8_t> content;  ///< `size` bytes, or those that are there
  std::span<const std::uint8_t> behind;   ///< the bytes behind the record
};

/// Bytes behind a record that prove another one, at most.
inline constexpr std::size_t mcap_look_ahead = 4096;
/// Bytes of a message before its data.
inline constexpr std::size_t mcap_message_head = 22;

/// Whether bytes begin with a prefix of a record, and with fields that fill so many bytes.
[[nodiscard]] bool can_begin_record(std::span<const std::uint8_t> bytes) noexcept;

}  // namespace takt::record
