#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "dbc/message_codec.hpp"

namespace takt::dbc {

using codec_detail::in_order;
using codec_detail::load_word;

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace

inline MessageCodec::Bytes MessageCodec::readable(std::span<const std::uint8_t> bytes, std::size_t size,
                                                  Scratch& scratch) const noexcept {
  if (bytes.size() >= load_bytes_) [[likely]]
    return {bytes.data(), size};
  return copied(bytes.first(size), scratch);
}

MessageCodec::Bytes MessageCodec::copied(std::span<const std::uint8_t> bytes,
                                         Scratch& scratch) const noexcept {
  std::memset(scratch.data(), 0, load_bytes_);
  if (!bytes.empty()) std::memcpy(scratch.data(), bytes.data(), bytes.size());
  return {scratch.data(), bytes.size()};
}

/// Returns the bits of a signal that lies within the frame.
inline std::uint64_t MessageCodec::number_in(const Row& row, Bytes bytes) const noexcept {
  if (row.is_plain) [[likely]]
    return in_order(load_word(bytes.data + row.first), row.big) >> row.shift & row.mask;
  const can::BitField field = coding(row).field;
  return can::detail::extract_bits<can::detail::SizedWord>(field, can::detail::window_of(field), bytes.data);
}

/// Decodes the integers of a group. With `checked`, the frame may end before a signal. With `coded`, numbers
/// above a limit are J1939 codes.
template <bool checked, bool coded>
inline void MessageCodec::decode_plain(const Group& group, Bytes bytes, const Target& target) const noexcept {
  const auto has_none = [&](const Row& row, can::Presence why) {
    target.values[row.signal * target.stride] = no_value;
    if (target.presence != nullptr) target.presence[row.signal] = why;
  };
  const Row* const end = rows_.data() + group.plain_end;
  for (const Row* row = rows_.data() + group.begin; row != end; ++row) {
    if (checked && row->end > bytes.size) {
      has_none(*row, can::Presence::cut_off);
      continue;
    }
    const std::uint64_t bits =
        in_order(load_word(bytes.data + row->first), row->big) >> row->shift & row->mask;
    if (coded && bits > row->limit) {
      has_none(*row, can::j1939_presence(coding(*row).field, bits));
      continue;
    }
    const auto number = static_cast<std::int64_t>((bits ^ row->sign) - row->sign);
    target.values[row->signal * target.stride] = static_cast<double>(number) * row->scale + row->offset;
  }
}

/// Decodes the other signals of a group: 64 bits, floating point, or within nine bytes.
template <bool checked>
inline void MessageCodec::decode_others(const Group& group, Bytes bytes,
                                        const Target& target) const noexcept {
  const Row* const rows = rows_.data();
  for (const Row* row = rows + group.plain_end; row != rows + group.end; ++row) {
    const bool is_cut_off = checked && row->end > bytes.size;
    target.values[row->signal * target.stride] =
        is_cut_off ? no_value : can::to_physical(coding(*row), number_in(*row, bytes));
    if (is_cut_off && target.presence != nullptr) target.presence[row->signal] = can::Presence::cut_off;
  }
}

template <bool checked, bool coded>
void MessageCodec::decode_rows(std::span<const std::uint32_t> groups, Bytes bytes,
                               const Target& target) const noexcept {
  for (const std::uint32_t index : groups) {
    decode_plain<checked, coded>(groups_[index], bytes, target);
    decode_others<checked>(groups_[index], bytes, target);
  }
}

/// Decodes a message of eight bytes. The bytes are loaded once, and no number is shifted.
void MessageCodec::decode_in_place(std::span<const std::uint32_t> groups, Bytes bytes,
                                   const Target& target) const noexcept {
  const std::uint64_t little = load_word(bytes.data);
  const std::uint64_t big = can::detail::swap_bytes(little);
  const std::uint64_t words[] = {little, little >> 1, big, big >> 1};
  for (const std::uint32_t index : groups) {
    const Group& group = groups_[index];
    const InPlace* const end = in_place_.data() + group.plain_end;
    for (const InPlace* row = in_place_.data() + group.begin; row != end; ++row) {
      const std::uint64_t bits = words[row->word] & row->mask;
      const auto number = static_cast<std::int64_t>((bits ^ row->sign) - row->sign);
      target.values[row->signal * target.stride] = static_cast<double>(number) * row->scale + row->offset;
    }
    if (group.plain_end != group.end) decode_others<false>(group, bytes, target);
  }
}

can::Errc MessageCodec::choose_from(Chosen& chosen, Bytes bytes, ShortFrame short_frame) const noexcept {
  std::size_t refused = no_signal;
  return choose(chosen, Unknown::selects_nothing, short_frame, refused,
                [this, bytes](const Row& row, std::uint64_t& number) {
                  if (row.end > bytes.size) return can::Errc::wrong_length;
                  number = number_in(row, bytes);
                  return no_error;
                });
}

inline can::Errc MessageCodec::decode_bytes(Bytes bytes, const Target& target,
                                            ShortFrame short_frame) const noexcept {
  if (bytes.size < length() && short_frame == ShortFrame::error) return can::Errc::wrong_length;
  std::array<std::uint32_t, 1 + max_selectors_in_message> there;
  there[0] = 0;
  std::size_t count = 1;
  if (!selectors_.empty()) {
    Chosen chosen;
    if (const can::Errc code = choose_from(chosen, bytes, short_frame); code != no_error) return code;
    for (std::size_t i = 0; i < selectors_.size(); ++i) {
      if (chosen[i] != no_group) there[count++] = chosen[i];
    }
    for (std::size_t i = 0; i < signal_count(); ++i) target.values[i * target.stride] = no_value;
    if (target.presence != nullptr) std::fill_n(target.presence, signal_count(), can::Presence::not_selected);
  }
  const std::span<const std::uint32_t> groups = std::span(there).first(count);
  if (target.presence != nullptr) {
    for (const std::uint32_t index : groups) {
      for (std::uint32_t i = groups_[index].begin; i < groups_[index].end; ++i)
        target.presence[rows_[i].signal] = can::Presence::value;
    }
  }
  const bool is_whole = bytes.size >= needed_bytes_;
  if (is_whole && !in_place_.empty()) {
    decode_in_place(groups, bytes, target);
  } else if (is_j1939_) {
    is_whole ? decode_rows<false, true>(groups, bytes, target)
             : decode_rows<true, true>(groups, bytes, target);
  } else {
    is_whole ? decode_rows<false, false>(groups, bytes, target)
             : decode_rows<true, false>(groups, bytes, target);
  }
  return no_error;
}

can::Errc MessageCodec::decode_data(std::span<const std::uint8_t> data, std::span<double> values,
                                    can::Presence* presence, ShortFrame short_frame) const noexcept {
  if (values.size() < signal_count()) return can::Errc::wrong_count;
  Scratch scratch;
  const std::size_t size = std::min(data.size(), load_bytes_);
  return decode_bytes(readable(data, size, scratch), {values.data(), 1, presence}, short_frame);
}

// Bytes of a frame beyond its length are readable, so nothing has to be copied.
can::Errc MessageCodec::decode_frame(const can::Frame& frame, std::span<double> values,
                                     can::Presence* presence, ShortFrame short_frame) const noexcept {
  if (!frame.is_data()) return can::Errc::wrong_format;
  if (values.size() < signal_count()) return can::Errc::wrong_count;
  Scratch scratch;
  return decode_bytes(readable(frame.data, frame.payload().size(), scratch), {values.data(), 1, presence},
                      short_frame);
}

Result<MessageCodec::Batch> MessageCodec::decode_batch(std::span<const can::Frame> frames,
                                                       std::span<double> columns, std::size_t rows,
                                                       std::span<Time> stamps,
                                                       ShortFrame short_frame) const noexcept {
  const bool is_table =
      rows == 0 ? columns.empty() : columns.size() / rows == signal_count() && columns.size() % rows == 0;
  if (!is_table || (!stamps.empty() && stamps.size() != rows)) return fail(can::Errc::wrong_count);
  Batch batch;
  Scratch scratch;
  for (; batch.frames < frames.size() && batch.rows < rows; ++batch.frames) {
    const can::Frame& frame = frames[batch.frames];
    if (!is_mine(frame)) continue;
    double* const row = columns.empty() ? nullptr : columns.data() + batch.rows;  // unused without signals
    const bool is_decoded =
        frame.is_data() && decode_bytes(readable(frame.data, frame.payload().size(), scratch),
                                        {row, rows, nullptr}, short_frame) == no_error;
    if (!is_decoded) {
      ++batch.refused;
      continue;
    }
    if (!stamps.empty()) stamps[batch.rows] = frame.stamp;
    ++batch.rows;
  }
  return batch;
}

Status MessageCodec::decode_numbers(std::span<const std::uint8_t> data, std::span<std::int64_t> numbers,
                                    std::span<can::Presence> presence,
                                    ShortFrame short_frame) const noexcept {
  if (numbers.size() < signal_count() || presence.size() < signal_count())
    return fail(can::Errc::wrong_count);
  if (data.size() < length() && short_frame == ShortFrame::error) return fail(can::Errc::wrong_length);
  Scratch scratch;
  const Bytes bytes = readable(data, std::min(data.size(), load_bytes_), scratch);
  Chosen chosen;
  if (const can::Errc code = choose_from(chosen, bytes, short_frame); code != no_error) return fail(code);
  std::fill_n(numbers.begin(), signal_count(), 0);
  std::fill_n(presence.begin(), signal_count(), can::Presence::not_selected);
  const auto take = [&](const Group& group) {
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
      const Row& row = rows_[i];
      presence[row.signal] = row.end > bytes.size ? can::Presence::cut_off : can::Presence::value;
      if (row.end > bytes.size) continue;
      const can::BitField field = coding(row).field;
      const std::uint64_t bits = number_in(row, bytes);
      if (bits > row.limit) presence[row.signal] = can::j1939_presence(field, bits);
      numbers[row.signal] = field.type == can::NumberType::signed_integer
                                ? can::detail::sign_extended(bits, field.length)
                                : static_cast<std::int64_t>(bits);
    }
  };
  take(groups_.front());
  for (std::size_t i = 0; i < selectors_.size(); ++i) {
    if (chosen[i] != no_group) take(groups_[chosen[i]]);
  }
  return {};
}

}  // namespace takt::dbc
