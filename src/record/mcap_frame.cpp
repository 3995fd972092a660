#include "record/mcap_frame.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "record/growing_bytes.hpp"
#include "record/message_source.hpp"

namespace takt::record {
namespace {

// The fields of a record: a number of bytes, or one of these.
constexpr std::int8_t sized_text = -4;  // a size of 4 bytes, and so many bytes; also a list or a map
constexpr std::int8_t sized_data = -8;  // likewise with a size of 8 bytes

// Larger sizes are taken for wrong where nothing else proves a record.
constexpr std::uint64_t max_growth = 256;                      // bytes that a later version appends
constexpr std::uint64_t max_private = std::uint64_t{1} << 20;  // of a record with a private opcode
constexpr std::uint64_t max_long = std::uint64_t{1} << 40;     // of a chunk or an attachment

struct Layout {
  McapOpcode opcode;
  std::array<std::int8_t, 5> fields;
};
constexpr std::array layouts{
    Layout{McapOpcode::header, {sized_text, sized_text}},
    Layout{McapOpcode::footer, {20}},
    Layout{McapOpcode::schema, {2, sized_text, sized_text, sized_text}},
    Layout{McapOpcode::channel, {4, sized_text, sized_text, sized_text}},
    Layout{McapOpcode::chunk, {28, sized_text, sized_data}},
    Layout{McapOpcode::message_index, {2, sized_text}},
    Layout{McapOpcode::chunk_index, {32, sized_text, 8, sized_text, 16}},
    Layout{McapOpcode::attachment, {16, sized_text, sized_text, sized_data, 4}},
    Layout{McapOpcode::attachment_index, {40, sized_text, sized_text}},
    Layout{McapOpcode::statistics, {42, sized_text}},
    Layout{McapOpcode::metadata, {sized_text, sized_text}},
    Layout{McapOpcode::metadata_index, {16, sized_text}},
    Layout{McapOpcode::summary_offset, {17}},
    Layout{McapOpcode::data_end, {4}},
};

/// The bytes of the fields; nothing if the content ends before it tells.
std::optional<std::uint64_t> told_size(const Layout& layout, std::span<const std::uint8_t> content) {
  std::uint64_t told = 0;
  for (const std::int8_t field : layout.fields) {
    if (field >= 0) {
      told += static_cast<std::uint64_t>(field);
      continue;
    }
    if (told > content.size()) return std::nullopt;
    ByteReader reader(content.subspan(static_cast<std::size_t>(told)));
    const std::uint64_t size =
        field == sized_text ? reader.little<std::uint32_t>() : reader.little<std::uint64_t>();
    if (!reader.ok() || size > std::uint64_t{1} << 62) return std::nullopt;
    told += reader.position() + size;
  }
  return told;
}

const Layout* layout_of(McapOpcode opcode) {
  const auto* found = std::ranges::find(layouts, opcode, &Layout::opcode);
  return found == layouts.end() ? nullptr : found;
}

bool is_filled(const McapFrame& frame, const Layout& layout) {
  return told_size(layout, frame.content) == frame.size;
}

/// Whether a record of this size can have fields of so many bytes. Later versions of MCAP may append some.
bool has_room_for(std::uint64_t told, std::uint64_t size) { return told <= size && size - told < max_growth; }

/// Whether the end of a complete file is among the bytes.
bool has_end_of_file(const McapFrame& frame) {
  const std::span all(frame.content.data(), frame.content.size() + frame.behind.size());
  return as_text(all).ends_with(as_text(mcap_magic));
}

}  // namespace

McapFrame::McapFrame(std::span<const std::uint8_t> bytes) noexcept {
  ByteReader reader(bytes);
  opcode = static_cast<McapOpcode>(reader.little<std::uint8_t>());
  size = reader.little<std::uint64_t>();
  content = reader.bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size, reader.remaining())));
  behind = reader.bytes(reader.remaining());
}

bool McapFrame::fits(McapOpcode kind) const noexcept {
  const Layout* const layout = layout_of(kind);
  return layout != nullptr && is_filled(*this, *layout);
}

bool McapFrame::fits_any() const noexcept {
  return std::ranges::any_of(layouts, [this](const Layout& layout) { return is_filled(*this, layout); });
}

bool McapFrame::has_form_of_chunk() const noexcept {
  ByteReader reader(content);
  const auto first = reader.little<std::uint64_t>();
  const auto last = reader.little<std::uint64_t>();
  const auto unpacked_size = reader.little<std::uint64_t>();
  return first <= last && unpacked_size > 0 && fits(McapOpcode::chunk);
}

bool McapFrame::is_sound(bool is_behind_chunk) const noexcept {
  using enum McapOpcode;
  const Layout* const layout = layout_of(opcode);
  const auto told = layout == nullptr ? std::nullopt : told_size(*layout, content);
  if (told == size) return true;
  const bool never_grows = opcode == data_end || opcode == footer;
  if (!is_whole() || never_grows || (opcode != chunk && has_form_of_chunk())) return false;
  if (layout != nullptr)
    return told && has_room_for(*told, size) && can_begin_record(behind) &&
           layout_of(McapFrame(behind).opcode) != nullptr;
  // Counted messages may look like an index. Behind a chunk, an index is likelier.
  const bool is_other =
      fits(schema) || fits(channel) || fits(metadata) || (is_behind_chunk && fits(message_index));
  if (opcode == message && (size < mcap_message_head || is_other)) return false;
  if (has_end_of_file(*this)) return can_begin_record(behind) && McapFrame(behind).is_whole();
  return behind.size() < mcap_prefix || can_begin_record(behind);
}

bool McapFrame::is_followed() const noexcept {
  return is_whole() && fits(opcode) && can_begin_record(behind);
}

bool can_begin_record(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() < mcap_prefix) return false;
  const McapFrame frame(bytes);
  const bool is_private = static_cast<std::uint8_t>(frame.opcode) >= 0x80;
  const Layout* const layout = layout_of(frame.opcode);
  const bool can_be_long = frame.opcode == McapOpcode::chunk || frame.opcode == McapOpcode::attachment;
  const std::uint64_t longest = is_private ? max_private : can_be_long ? max_long : max_file_record;
  if (frame.size == 0 || frame.size > longest) return false;
  if (layout == nullptr) return is_private || frame.opcode == McapOpcode::message;
  const auto told = told_size(*layout, frame.content);
  return !told || has_room_for(*told, frame.size);
}

}  // namespace takt::record
