#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dbc/message_codec.hpp"

namespace takt::dbc {

using codec_detail::in_order;
using codec_detail::load_word;
using codec_detail::no_limit;
using codec_detail::word_bytes;

Result<std::uint64_t> MessageCodec::bits_to_send(const Row& row, double value,
                                                 can::Overflow overflow) const noexcept {
  const can::SignalCoding& signal = coding(row);
  const bool is_coded = row.limit != no_limit;
  if (is_coded && std::isnan(value)) return row.mask;
  const double number = can::to_number(signal, value);
  const can::detail::FieldBits rounded =
      can::detail::round_to_bits(signal.field, limits_[row.signal], number);
  if (rounded.fits) return rounded.bits;
  const can::detail::FieldBits state =
      can::detail::round_to_bits(signal.field, can::number_limits(signal.field), number);
  const auto known = states(row.signal);
  if (state.fits && std::binary_search(known.begin(), known.end(), state.bits) &&
      can::detail::says_number(signal, value, state.bits))
    return state.bits;
  const auto bits = can::detail::overflowing_bits(signal.field, limits_[row.signal], number, overflow);
  if (is_coded && bits && *bits > row.limit)
    return fail(can::Errc::out_of_range);  // wrapping would give a J1939 code
  return bits;
}

/// Encodes a group of a message of eight bytes into one word, if all values fit, which is the usual case.
/// Returns false otherwise; encode_group() then finds the error.
bool MessageCodec::encode_word(std::uint64_t& word, const Group& group,
                               std::span<const double> values) const noexcept {
  constexpr auto zero = std::bit_cast<std::uint64_t>(can::small_shift);
  bool all_fit = true;
  for (std::uint32_t i = group.begin; i < group.end; ++i) {
    const Row& row = rows_[i];
    const Sending& sending = sending_[i];
    const double number = (values[row.signal] - row.offset) / row.scale;
    const std::uint64_t integer = std::bit_cast<std::uint64_t>(number + can::small_shift) - zero;
    all_fit = all_fit & (integer - sending.low <= sending.span);
    word = (word & ~sending.place) | in_order((integer & row.mask) << row.shift, row.big);
  }
  return all_fit;
}

can::Errc MessageCodec::encode_group(const Group& group, std::uint8_t* bytes, std::span<const double> values,
                                     can::Overflow overflow, std::size_t& refused) const noexcept {
  const Row* const rows = rows_.data();
  const auto refuse = [&](const Row& row, Error error) {
    refused = row.signal;
    return static_cast<can::Errc>(error.code);
  };
  for (const Row* row = rows + group.begin; row != rows + group.plain_end; ++row) {
    const auto bits = bits_to_send(*row, values[row->signal], overflow);
    if (!bits) return refuse(*row, bits.error());
    const std::uint64_t others = ~in_order(row->mask << row->shift, row->big);
    const std::uint64_t word = load_word(bytes + row->first) & others;
    can::store_little<word_bytes>(bytes + row->first, word | in_order(*bits << row->shift, row->big));
  }
  for (const Row* row = rows + group.plain_end; row != rows + group.end; ++row) {
    const auto bits = bits_to_send(*row, values[row->signal], overflow);
    if (!bits) return refuse(*row, bits.error());
    const can::BitField field = coding(*row).field;
    can::detail::insert_bits<can::detail::SizedWord>(field, can::detail::window_of(field), bytes, *bits);
  }
  return no_error;
}

can::Errc MessageCodec::encode_data(std::span<std::uint8_t> data, std::span<const double> values,
                                    can::Overflow overflow, std::size_t& refused) const noexcept {
  refused = no_signal;
  if (values.size() < signal_count()) return can::Errc::wrong_count;
  if (data.size() < length()) return can::Errc::wrong_length;
  if (needed_bytes_ > length()) {
    const auto is_beyond = [&](const Signal& signal) { return !can::fits(signal.coding.field, length()); };
    const auto& signals = description_->signals;
    refused =
        static_cast<std::size_t>(std::find_if(signals.begin(), signals.end(), is_beyond) - signals.begin());
    return can::Errc::bad_layout;
  }
  Chosen chosen;
  const can::Errc code = choose(chosen, Unknown::is_error, ShortFrame::error, refused,
                                [&](const Row& row, std::uint64_t& number) {
                                  const auto bits = bits_to_send(row, values[row.signal], overflow);
                                  if (!bits) return static_cast<can::Errc>(bits.error().code);
                                  number = *bits;
                                  return no_error;
                                });
  if (code != no_error) return code;
  if (!sending_.empty()) {
    std::uint64_t word = is_j1939_ ? ~std::uint64_t{0} : 0;
    bool all_fit = encode_word(word, groups_.front(), values);
    for (std::size_t i = 0; i < selectors_.size() && all_fit; ++i) {
      if (chosen[i] != no_group) all_fit = encode_word(word, groups_[chosen[i]], values);
    }
    if (all_fit) {
      std::array<std::uint8_t, word_bytes> bytes;
      can::store_little<word_bytes>(bytes.data(), word);
      std::copy_n(bytes.begin(), length(), data.begin());
      return no_error;
    }
  }
  Scratch scratch;
  std::memset(scratch.data(), is_j1939_ ? 0xFF : 0, load_bytes_);
  can::Errc group = encode_group(groups_.front(), scratch.data(), values, overflow, refused);
  for (std::size_t i = 0; i < selectors_.size() && group == no_error; ++i) {
    if (chosen[i] != no_group)
      group = encode_group(groups_[chosen[i]], scratch.data(), values, overflow, refused);
  }
  if (group == no_error && length() != 0) std::memcpy(data.data(), scratch.data(), length());
  return group;
}

/// The allowed values as text: "-800 to 800 rad/s, or 3276.7 (init)".
std::string MessageCodec::allowed_text(std::size_t signal) const {
  const Signal& said = description_->signals[signal];
  const auto physical = [&](double number) { return number * said.coding.scale + said.coding.offset; };
  const auto [a, b] = std::minmax({physical(limits_[signal].low), physical(limits_[signal].high)});
  std::string text = fmt::format("{:.9g} to {:.9g}", a, b);
  if (!said.unit.empty()) text += " " + said.unit;
  constexpr std::size_t most = 8;
  const auto known = states(signal);
  for (const std::uint64_t bits : known.first(std::min(most, known.size()))) {
    const auto number = said.coding.field.type == can::NumberType::signed_integer
                            ? can::detail::sign_extended(bits, said.coding.field.length)
                            : static_cast<std::int64_t>(bits);
    text += fmt::format(", or {:.9g} ({})", physical(static_cast<double>(number)), label(signal, number));
  }
  return text + (known.size() > most ? ", or another state of its value table" : "");
}

std::optional<MessageCodec::Refusal> MessageCodec::explain(std::span<const double> values,
                                                           can::Overflow overflow) const {
  std::vector<std::uint8_t> data(length());
  Refusal refusal;
  const can::Errc code = encode_data(data, values, overflow, refusal.signal);
  if (code == no_error) return std::nullopt;
  refusal.error = code;
  if (refusal.signal == no_signal) {
    refusal.message = fmt::format("message {}: {} values are given for {} signals", description_->name,
                                  values.size(), signal_count());
    return refusal;
  }
  refusal.message =
      fmt::format("message {}, signal {}: ", description_->name, description_->signals[refusal.signal].name);
  if (code == can::Errc::bad_layout) {
    refusal.message += fmt::format("it does not lie within the {} bytes of the message", length());
  } else if (code == can::Errc::unknown_selector) {
    refusal.message += fmt::format("{:.9g} selects no signal of the message", values[refusal.signal]);
  } else {
    refusal.message += fmt::format("{:.9g} cannot be sent; allowed are {}", values[refusal.signal],
                                   allowed_text(refusal.signal));
  }
  return refusal;
}

Result<can::Frame> MessageCodec::encode(std::span<const double> values,
                                        can::Overflow overflow) const noexcept {
  Result<can::Frame> frame;
  if (length() > (is_fd_ ? can::max_fd_length : can::max_classic_length))
    return fail(can::Errc::payload_too_long);
  frame->id = description_->id;
  frame->extended = description_->extended;
  frame->fd = is_fd_;
  frame->bit_rate_switch = is_fd_;
  frame->length = can::fd_lengths[can::fd_length_code(length())];
  if (const Status status = encode_into(frame->data, values, overflow); !status) frame = fail(status.error());
  return frame;
}

}  // namespace takt::dbc
