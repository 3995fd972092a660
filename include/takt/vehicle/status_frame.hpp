// The frame in which a Furbot reports its state: one datagram of up to 256 bytes, sent a hundred times a
// second to port 18003.
//
//   0   "ATSF"
//   4   time stamp, u32, most significant byte first (timestamp.hpp)
//   8   number of blocks, u8
//
//   9   three bytes of padding, written as zeros, ignored by the decoder
//
//   12  blocks: system id u8, length u8 (without these two bytes), that many bytes of payload
//
// With all twelve systems it has 132 bytes. A table defines the fields of each block (system_layout.hpp).
//
//     StatusFrame status;
//     if (const auto decoded = decode_into(status, datagram); !decoded) return;  // status is unchanged
//     if (const auto traction = status.traction()) count(traction->left_speed);
//
// The decoder accepts a frame completely or not at all. It skips and counts a block of an unknown system, and
// the block stays in the frame. So a decoded frame is encoded to the same bytes.
//
// Every function is real-time safe and usable in constant expressions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "takt/core/bytes.hpp"
#include "takt/core/error.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/system_layout.hpp"
#include "takt/vehicle/systems.hpp"

namespace takt::vehicle {

/// The UDP port to which the vehicle sends status frames.
inline constexpr std::uint16_t status_port = 18003;
inline constexpr std::uint32_t status_magic = 0x41545346;  ///< "ATSF"
/// Bytes before the first block.
inline constexpr std::size_t status_header_bytes = 12;
/// The size of the longest frame, in bytes.
inline constexpr std::size_t max_status_bytes = 256;

namespace detail {

/// Finds the blocks of a status frame and writes their offsets into `index`. Errors: truncated_tlv, bad_len,
/// duplicate_sid; `index` is then undefined. It does not return the index by value, because a copy right
/// after single-byte writes stalls the load.
[[nodiscard]] constexpr Status scan(std::span<const std::uint8_t> blocks, const Layouts& layouts,
                                    BlockIndex& index) noexcept {
  SystemSet present;
  std::uint8_t count = 0;
  std::uint8_t unknown = 0;
  for (std::size_t at = 0; at < blocks.size();) {
    const std::size_t left = blocks.size() - at;
    if (left < 2 || left - 2 < blocks[at + 1]) return fail(Errc::truncated_tlv);
    const auto system = static_cast<System>(blocks[at]);
    const std::uint8_t length = blocks[at + 1];
    const std::uint8_t expected = layouts.length(system);
    at += 2;
    ++count;
    if (expected == 0) {
      ++unknown;
    } else {
      if (length != expected) return fail(Errc::bad_len);
      if (present.contains(system)) return fail(Errc::duplicate_sid);
      present.insert(system);
      index.offsets[static_cast<std::uint8_t>(system)] = static_cast<std::uint8_t>(at);
    }
    at += length;
  }
  index.present = present;
  index.count = count;
  index.unknown = unknown;
  return {};
}

}  // namespace detail

/// The status of a vehicle: a time stamp and one block per system. A value without external parts, except the
/// table of layouts, which must outlive it.
class StatusFrame {
 public:
  /// An empty frame, for this table.
  explicit constexpr StatusFrame(const Layouts& layouts = furbot_layouts) noexcept : layouts_(&layouts) {}

  std::uint32_t stamp = 0;  ///< ms, see timestamp.hpp

  /// The systems with a block in this frame.
  [[nodiscard]] constexpr SystemSet present() const noexcept { return index_.present; }
  /// Whether this system has a block.
  [[nodiscard]] constexpr bool has(System system) const noexcept { return index_.present.contains(system); }
  /// The number of blocks of systems that the table does not have.
  [[nodiscard]] constexpr std::uint32_t unknown_blocks() const noexcept { return index_.unknown; }
  /// The table of layouts.
  [[nodiscard]] constexpr const Layouts& layouts() const noexcept { return *layouts_; }

  /// The state of a system; SystemState::unknown without a block.
  [[nodiscard]] constexpr SystemState state(System system) const noexcept {
    if (!has(system)) return SystemState::unknown;
    return static_cast<SystemState>(layouts_->state_place(system).read(payload(system)));
  }

  /// The payload of a block as received, without id and length; empty if there is none.
  [[nodiscard]] constexpr std::span<const std::uint8_t> bytes(System system) const noexcept {
    if (!has(system)) return {};
    return {payload(system), layouts_->length(system)};
  }

  /// Reads a typed block: Traction, Steering or Battery. Returns nothing if the frame has none.
  template <class Block>
  [[nodiscard]] constexpr std::optional<Block> block() const noexcept {
    if (!has(Block::system)) return std::nullopt;
    Block read;
    const detail::Place* place = layouts_->places<Block>().data();
    const std::uint8_t* const bytes = payload(Block::system);
    Block::visit(read, [&](std::string_view, std::int32_t& number) {
      number = static_cast<std::int32_t>(place++->read(bytes));
    });
    return read;
  }
  /// The traction block, in raw counts; nothing if the frame has none.
  [[nodiscard]] constexpr std::optional<Traction> traction() const noexcept { return block<Traction>(); }
  /// The steering block, in raw counts; nothing if the frame has none.
  [[nodiscard]] constexpr std::optional<Steering> steering() const noexcept { return block<Steering>(); }
  /// The battery block, in raw counts; nothing if the frame has none.
  [[nodiscard]] constexpr std::optional<Battery> battery() const noexcept { return block<Battery>(); }

  /// Reads one field, by its name or by a SystemField from the table, in raw counts. Returns nothing without
  /// the block, or if the table has no such field.
  [[nodiscard]] constexpr std::optional<std::int64_t> value(System system,
                                                            std::string_view field) const noexcept {
    const auto found = layouts_->find(system, field);
    return found ? value(system, *found) : std::nullopt;
  }
  [[nodiscard]] constexpr std::optional<std::int64_t> value(System system,
                                                            const SystemField& field) const noexcept {
    if (!has(system) || field.offset + size_of(field.type) > layouts_->length(system)) return std::nullopt;
    return detail::Place(field).read(payload(system));
  }

  /// Sets a block's payload. Errors: unknown_system (not in the table), bad_len, no_room; the frame is then
  /// unchanged.
  [[nodiscard]] constexpr Status set(System system, std::span<const std::uint8_t> block) noexcept {
    if (const Status made = make_room(system, block.size()); !made) return made;
    std::copy(block.begin(), block.end(),
              blocks_.begin() + index_.offsets[static_cast<std::uint8_t>(system)]);
    return {};
  }

  /// Sets one field. The other fields of the block stay; in a new block they are zero. Errors:
  /// unknown_system, unknown_field, out_of_range (the number does not fit), no_room; the frame is then
  /// unchanged.
  [[nodiscard]] constexpr Status set(System system, std::string_view field, std::int64_t value) noexcept {
    const auto found = layouts_->find(system, field);
    if (!found) return fail(found.error());
    const detail::Place place(*found);
    if (!place.fits(value)) return fail(Errc::out_of_range);
    if (const Status made = make_room(system, layouts_->length(system)); !made) return made;
    place.write(payload(system), value);
    return {};
  }
  /// Sets the state of a system. Errors: as for one field.
  [[nodiscard]] constexpr Status set(System system, SystemState state) noexcept {
    return set(system, "state", static_cast<std::uint8_t>(state));
  }

  /// Sets all fields of a typed block. Errors: as for one field.
  [[nodiscard]] constexpr Status set(const Traction& block) noexcept { return set_typed(block); }
  [[nodiscard]] constexpr Status set(const Steering& block) noexcept { return set_typed(block); }
  [[nodiscard]] constexpr Status set(const Battery& block) noexcept { return set_typed(block); }

  /// All blocks as on the wire, in the order of their arrival or of the calls of set().
  [[nodiscard]] constexpr std::span<const std::uint8_t> blocks() const noexcept {
    return {blocks_.data(), size_};
  }
  /// The number of all blocks.
  [[nodiscard]] constexpr std::uint8_t block_count() const noexcept { return index_.count; }

  /// Equal: the same stamp and the same blocks in the same order, whatever the table.
  friend constexpr bool operator==(const StatusFrame& a, const StatusFrame& b) noexcept {
    return a.stamp == b.stamp && std::ranges::equal(a.blocks(), b.blocks());
  }

  friend constexpr Status decode_into(StatusFrame& frame, std::span<const std::uint8_t> datagram,
                                      const Layouts& layouts) noexcept;

 private:
  [[nodiscard]] constexpr const std::uint8_t* payload(System system) const noexcept {
    return blocks_.data() + index_.offsets[static_cast<std::uint8_t>(system)];
  }
  [[nodiscard]] constexpr std::uint8_t* payload(System system) noexcept {
    return blocks_.data() + index_.offsets[static_cast<std::uint8_t>(system)];
  }

  template <class Block>
  [[nodiscard]] constexpr Status set_typed(const Block& block) noexcept {
    if (layouts_->length(Block::system) == 0) return fail(Errc::unknown_system);
    bool fit = true;
    const detail::Place* place = layouts_->places<Block>().data();
    Block::visit(block, [&](std::string_view, std::int32_t number) { fit = place++->fits(number) && fit; });
    if (!fit) return fail(Errc::out_of_range);
    if (const Status made = make_room(Block::system, layouts_->length(Block::system)); !made) return made;
    place = layouts_->places<Block>().data();
    Block::visit(block, [&](std::string_view, std::int32_t number) {
      place++->write(payload(Block::system), number);
    });
    return {};
  }

  /// Ensures that the system has a block; a new one is zero.
  [[nodiscard]] constexpr Status make_room(System system, std::size_t length) noexcept {
    if (layouts_->length(system) == 0) return fail(Errc::unknown_system);
    if (length != layouts_->length(system)) return fail(Errc::bad_len);
    if (has(system)) return {};
    if (max_status_bytes - status_header_bytes - size_ < length + 2) return fail(Errc::no_room);
    blocks_[size_] = static_cast<std::uint8_t>(system);
    blocks_[size_ + 1U] = static_cast<std::uint8_t>(length);
    std::fill_n(blocks_.begin() + size_ + 2, length, std::uint8_t{0});
    index_.insert(system, size_ + 2U);
    ++index_.count;
    size_ = static_cast<std::uint8_t>(size_ + length + 2);
    return {};
  }

  const Layouts* layouts_;
  detail::BlockIndex index_;
  std::uint8_t size_ = 0;
  // Place::read() loads eight bytes, so the array is eight bytes longer than the blocks.
  std::array<std::uint8_t, max_status_bytes - status_header_bytes + 8> blocks_{};
};

/// Decodes a status frame into `frame`. Errors: too_short, too_long, bad_magic, truncated_tlv, bad_len (the
/// table has another length for this system), duplicate_sid, count_mismatch; `frame` is then unchanged.
[[nodiscard]] constexpr Status decode_into(StatusFrame& frame, std::span<const std::uint8_t> datagram,
                                           const Layouts& layouts = furbot_layouts) noexcept {
  if (datagram.size() < status_header_bytes) return fail(Errc::too_short);
  if (datagram.size() > max_status_bytes) return fail(Errc::too_long);
  ByteReader header(datagram.first<status_header_bytes>());
  if (header.big<std::uint32_t>() != status_magic) return fail(Errc::bad_magic);
  const auto stamp = header.big<std::uint32_t>();
  const auto count = header.big<std::uint8_t>();
  const auto blocks = datagram.subspan(status_header_bytes);
  if (const detail::BlockIndex* const whole = layouts.whole(blocks)) {
    if (whole->count != count) return fail(Errc::count_mismatch);
    frame.index_ = *whole;
  } else {
    const detail::BlockIndex before = frame.index_;
    Status scanned = detail::scan(blocks, layouts, frame.index_);
    if (scanned && frame.index_.count != count) scanned = fail(Errc::count_mismatch);
    if (!scanned) {
      frame.index_ = before;
      return scanned;
    }
  }
  frame.stamp = stamp;
  frame.layouts_ = &layouts;
  frame.size_ = static_cast<std::uint8_t>(blocks.size());
  std::copy(blocks.begin(), blocks.end(), frame.blocks_.begin());
  return {};
}
/// Deleted: the frame keeps a pointer to the table.
Status decode_into(StatusFrame& frame, std::span<const std::uint8_t> datagram,
                   const Layouts&& layouts) = delete;

/// The same, with the frame as the result.
[[nodiscard]] constexpr Result<StatusFrame> decode_status(std::span<const std::uint8_t> datagram,
                                                          const Layouts& layouts = furbot_layouts) noexcept {
  Result<StatusFrame> frame;
  if (const Status decoded = decode_into(*frame, datagram, layouts); !decoded) frame = fail(decoded.error());
  return frame;
}
/// Deleted: the frame keeps a pointer to the table.
Result<StatusFrame> decode_status(std::span<const std::uint8_t> datagram, const Layouts&& layouts) = delete;

/// Encodes a frame into `out` and returns its size in bytes. Error: no_room; `out` is then unchanged.
/// max_status_bytes are always enough.
[[nodiscard]] constexpr Result<std::size_t> encode_status(const StatusFrame& frame,
                                                          std::span<std::uint8_t> out) noexcept {
  const auto blocks = frame.blocks();
  if (out.size() < status_header_bytes + blocks.size()) return fail(Errc::no_room);
  ByteWriter writer(out.first<status_header_bytes>());
  writer.big(status_magic);
  writer.big(frame.stamp);
  writer.big(std::uint32_t{frame.block_count()} << 24);
  std::copy(blocks.begin(), blocks.end(), out.begin() + status_header_bytes);
  return status_header_bytes + blocks.size();
}

}  // namespace takt::vehicle
