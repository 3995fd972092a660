#include "takt/dbc/database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

namespace takt::dbc {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t no_limit = ~std::uint64_t{0};
constexpr std::size_t word_bytes = 8;

constexpr std::uint64_t in_order(std::uint64_t word, bool big) noexcept {
  return big ? can::detail::swap_bytes(word) : word;
}

/// Returns the mistake in a description that no file could contain; empty if it is valid.
std::string mistake_in(const Message& message) {
  const std::vector<Signal>& signals = message.signals;
  if (message.id > (message.extended ? can::max_extended_id : can::max_standard_id))
    return fmt::format("the identifier {:#x} has more than {} bits", message.id, message.extended ? 29 : 11);
  if (message.length > dbc::max_message_length)
    return fmt::format("the message has {} bytes; at most {} are allowed", message.length,
                       dbc::max_message_length);
  if (signals.size() > dbc::max_signals_in_message)
    return fmt::format("the message has {} signals; at most {} are allowed", signals.size(),
                       dbc::max_signals_in_message);
  for (const Signal& signal : signals) {
    const auto refuse = [&](std::string_view why) { return fmt::format("signal {}: {}", signal.name, why); };
    if (!can::fits(signal.coding.field, dbc::max_message_length + word_bytes))
      return refuse("its bits do not lie within a message of the allowed length");
    if (!can::is_finite(signal.coding.scale) || signal.coding.scale == 0 ||
        !can::is_finite(signal.coding.offset))
      return refuse("its scale must be finite and not 0, and its offset finite");
    if (signal.selected_by.has_value() == signal.selected_for.empty())
      return refuse("it must have both a selector and selector values, or neither");
    const auto is_falling = [](const NumberRange& a, const NumberRange& b) {
      return a.first > a.last || b.first > b.last || b.first <= a.last;
    };
    if (std::adjacent_find(signal.selected_for.begin(), signal.selected_for.end(), is_falling) !=
            signal.selected_for.end() ||
        (!signal.selected_for.empty() && signal.selected_for[0].first > signal.selected_for[0].last))
      return refuse("the values of its selector are not in increasing order");
    const Signal* at = &signal;
    for (std::size_t depth = 0; at->selected_by; ++depth) {
      if (*at->selected_by >= signals.size() || depth == dbc::max_multiplex_depth)
        return refuse("its selector is not in the message, depends on itself, or depends on too many others");
      at = &signals[*at->selected_by];
    }
  }
  return {};
}

}  // namespace

// ---- tables

MessageCodec::MessageCodec(const File& file, const Message& message)
    : description_(&message),
      is_j1939_(dbc::is_j1939(file, message)),
      is_fd_(dbc::is_fd(file, message)),
      cycle_time_(dbc::cycle_time(file, message)) {
  for (const Signal& signal : message.signals) {
    const can::detail::Window window = can::detail::window_of(signal.coding.field);
    needed_bytes_ = std::max(needed_bytes_, window.first + window.bytes);
    limits_.push_back(can::number_limits(signal.coding));
    const std::uint64_t largest = is_j1939_ ? largest_j1939_value(signal.coding.field) : no_limit;
    if (largest != no_limit)
      limits_.back().high = std::min(limits_.back().high, static_cast<double>(largest));
  }
  load_bytes_ = std::max({word_bytes, needed_bytes_, std::size_t{message.length}});
}

namespace {

/// Returns whether eight bytes hold the field, and std::int64_t its number.
bool is_plain(can::BitField field) noexcept {
  return can::detail::window_of(field).bytes <= word_bytes &&
         (field.type == can::NumberType::signed_integer ||
          (field.type == can::NumberType::unsigned_integer && field.length < 64));
}

}  // namespace

bool MessageCodec::build(std::size_t most) {
  const std::vector<Signal>& signals = description_->signals;
  std::vector<std::uint32_t> always;
  std::set<std::uint32_t> selectors;
  for (std::uint32_t i = 0; i < signals.size(); ++i) {
    if (signals[i].selected_by) {
      selectors.insert(*signals[i].selected_by);
    } else {
      always.push_back(i);
    }
  }
  add_group(always);
  if (selectors.size() > max_selectors_in_message) return false;

  // Each selector comes before those that depend on it.
  std::vector<std::uint32_t> order;
  const auto is_in_order = [&](std::uint32_t signal) {
    return std::find(order.begin(), order.end(), signal) != order.end();
  };
  while (order.size() < selectors.size()) {
    for (const std::uint32_t signal : selectors) {
      const auto& parent = signals[signal].selected_by;
      if (!is_in_order(signal) && (!parent || is_in_order(*parent))) order.push_back(signal);
    }
  }
  const bool is_built = std::all_of(order.begin(), order.end(),
                                    [&](std::uint32_t signal) { return add_selector(signal, most); });
  if (!is_built) return false;
  add_states();
  prepare_sending();
  prepare_in_place();
  return true;
}

/// Adds the numbers that only the value table names. A selector's number selects a group without signals.
void MessageCodec::add_states() {
  const std::vector<Signal>& signals = description_->signals;
  std::vector<std::set<std::uint64_t>> states(signals.size());
  const auto add = [&](std::uint32_t i, auto is_state) {
    const can::BitField field = signals[i].coding.field;
    if (field.type > can::NumberType::signed_integer) return;
    for (const ValueText& value : signals[i].values) {
      const std::uint64_t bits = static_cast<std::uint64_t>(value.value) & can::detail::mask_of(field.length);
      if (can::detail::holds(field, value.value) && is_state(bits)) states[i].insert(bits);
    }
  };
  std::vector<Step> steps;
  for (Selector& selector : selectors_) {
    add(selector.row.signal, [&](std::uint64_t bits) { return group_of(selector, bits) == no_group; });
    std::map<std::uint64_t, std::uint32_t> known;
    for (std::uint32_t i = selector.steps_begin; i < selector.steps_end; ++i)
      known.emplace(steps_[i].first, steps_[i].group);
    const std::set<std::uint64_t>& named = states[selector.row.signal];
    if (!named.empty()) add_group({});
    for (const std::uint64_t number : named) {
      if (number != no_limit) known.try_emplace(number + 1, no_group);
      known[number] = static_cast<std::uint32_t>(groups_.size() - 1);
    }
    selector.steps_begin = static_cast<std::uint32_t>(steps.size());
    for (const auto& [first, group] : known) steps.push_back({first, group});
    selector.steps_end = static_cast<std::uint32_t>(steps.size());
  }
  steps_ = std::move(steps);

  state_begin_.push_back(0);
  for (std::uint32_t i = 0; i < signals.size(); ++i) {
    add(i, [&](std::uint64_t bits) {
      const double number = can::detail::number_of(signals[i].coding.field, bits);
      return number < limits_[i].low || number > limits_[i].high;
    });
    states_.insert(states_.end(), states[i].begin(), states[i].end());
    state_begin_.push_back(static_cast<std::uint32_t>(states_.size()));
  }
}

void MessageCodec::prepare_sending() {
  if (load_bytes_ != word_bytes || rows_.empty()) return;
  for (const Row& row : rows_) {
    const can::BitField field = coding(row).field;
    if (!is_plain(field) || field.length > can::small_bits) return sending_.clear();
    const auto low = static_cast<std::uint64_t>(static_cast<std::int64_t>(limits_[row.signal].low));
    const auto high = static_cast<std::uint64_t>(static_cast<std::int64_t>(limits_[row.signal].high));
    sending_.push_back({low, high - low, in_order(row.mask << row.shift, row.big)});
  }
}

/// Uses a number that is 2^n too high with a scale that is 2^n too low. The value is the same bit for bit,
/// while the scale is a normal number.
void MessageCodec::prepare_in_place() {
  if (load_bytes_ != word_bytes || is_j1939_) return;
  for (const Row& row : rows_) {
    if (!row.is_plain) {
      in_place_.emplace_back();  // decoded by decode_others()
      continue;
    }
    const bool is_halved = row.sign == 0 && (row.mask << row.shift) >> 63 != 0;  // does not fit std::int64_t
    const int shift = is_halved ? row.shift - 1 : row.shift;
    const double scale = std::ldexp(row.scale, -shift);
    if (!std::isnormal(scale)) return in_place_.clear();
    in_place_.push_back({row.mask << shift, row.sign << shift, scale, row.offset, row.signal,
                         (row.big ? 2U : 0U) + (is_halved ? 1U : 0U)});
  }
}

bool MessageCodec::add_selector(std::uint32_t signal, std::size_t most) {
  const std::vector<Signal>& signals = description_->signals;
  Selector selector;
  selector.row = row_of(signal);
  selector.steps_begin = static_cast<std::uint32_t>(steps_.size());
  for (std::uint32_t i = 0; i < selectors_.size(); ++i) {
    if (selectors_[i].row.signal == signals[signal].selected_by) selector.parent = i;
  }

  // A step begins at each number where signals are added or removed. A range up to the largest number never
  // ends.
  struct Change {
    std::uint64_t at;
    bool comes;
    std::uint32_t signal;
  };
  std::vector<Change> changes;
  for (std::uint32_t i = 0; i < signals.size(); ++i) {
    if (signals[i].selected_by != signal) continue;
    for (const NumberRange& range : signals[i].selected_for) {
      changes.push_back({range.first, true, i});
      if (range.last != ~std::uint64_t{0}) changes.push_back({range.last + 1, false, i});
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  std::multiset<std::uint32_t> there;
  for (auto change = changes.begin(); change != changes.end();) {
    const std::uint64_t at = change->at;
    for (; change != changes.end() && change->at == at; ++change) {
      if (change->comes) {
        there.insert(change->signal);
      } else {
        there.extract(change->signal);
      }
    }
    if (rows_.size() + there.size() > most) return false;
    const auto group = static_cast<std::uint32_t>(groups_.size());
    steps_.push_back({at, there.empty() ? no_group : group});
    if (!there.empty()) add_group(std::vector<std::uint32_t>(there.begin(), there.end()));
  }
  selector.steps_end = static_cast<std::uint32_t>(steps_.size());
  selectors_.push_back(selector);
  return true;
}

void MessageCodec::add_group(std::span<const std::uint32_t> signals) {
  Group group;
  group.begin = static_cast<std::uint32_t>(rows_.size());
  for (const bool plain : {true, false}) {
    for (const std::uint32_t signal : signals) {
      if (is_plain(description_->signals[signal].coding.field) == plain) rows_.push_back(row_of(signal));
    }
    (plain ? group.plain_end : group.end) = static_cast<std::uint32_t>(rows_.size());
  }
  groups_.push_back(group);
}

MessageCodec::Row MessageCodec::row_of(std::uint32_t signal) const noexcept {
  const can::SignalCoding& coding = description_->signals[signal].coding;
  const can::BitField field = coding.field;
  const can::detail::Window window = can::detail::window_of(field);
  Row row;
  row.scale = coding.scale;
  row.offset = coding.offset == 0 ? -0.0 : coding.offset;  // adding -0 changes nothing, also not a -0
  row.sign = field.type == can::NumberType::signed_integer ? std::uint64_t{1} << (field.length - 1) : 0;
  row.limit = is_j1939_ ? largest_j1939_value(field) : no_limit;
  row.signal = signal;
  row.first = static_cast<std::uint16_t>(std::min(window.first, load_bytes_ - word_bytes));
  row.end = static_cast<std::uint16_t>(window.first + window.bytes);
  row.big = field.order == can::ByteOrder::big;
  row.mask = can::detail::mask_of(field.length);
  row.is_plain = is_plain(field);
  if (!row.is_plain) return row;
  // Number of bits below the number in the eight bytes, in the field's byte order.
  const std::size_t below = row.big ? row.first + word_bytes - row.end : window.first - row.first;
  const auto shift = static_cast<unsigned>(8 * below + window.shift);
  row.shift = static_cast<std::uint8_t>(shift);
  return row;
}

// ---- decoding

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

namespace {

inline std::uint64_t load_word(const std::uint8_t* bytes) noexcept {
  return can::load_little<word_bytes>(bytes);
}

}  // namespace

/// Returns the bits of a signal that lies within the frame.
inline std::uint64_t MessageCodec::number_in(const Row& row, Bytes bytes) const noexcept {
  if (row.is_plain) [[likely]]
    return in_order(load_word(bytes.data + row.first), row.big) >> row.shift & row.mask;
  const can::BitField field = coding(row).field;
  return can::detail::extract_bits<can::detail::SizedWord>(field, can::detail::window_of(field), bytes.data);
}

inline std::uint32_t MessageCodec::group_of(const Selector& selector, std::uint64_t number) const noexcept {
  // A binary search without branches: the processor cannot predict the page of the next frame.
  const Step* step = steps_.data() + selector.steps_begin;
  for (std::size_t count = selector.steps_end - selector.steps_begin; count > 1;) {
    const std::size_t half = count / 2;
    step += half * static_cast<std::size_t>(step[half].first <= number);
    count -= half;
  }
  return step->first <= number ? step->group : no_group;
}

/// Finds the group that each selector selects. `number_of` writes a selector's bits or returns an error. In a
/// frame that may be short, a selector with an error selects nothing. No Result, because it would go through
/// memory: a third of the cost of a multiplexed decode.
template <class NumberOf>
[[gnu::always_inline]] inline can::Errc MessageCodec::choose(Chosen& chosen, ShortFrame short_frame,
                                                             std::size_t& refused,
                                                             NumberOf number_of) const noexcept {
  std::array<std::uint64_t, max_selectors_in_message> numbers;
  for (std::size_t i = 0; i < selectors_.size(); ++i) {
    const Selector& selector = selectors_[i];
    chosen[i] = no_group;
    if (selector.parent != no_group) {
      if (chosen[selector.parent] == no_group) continue;
      const auto& ranges = description_->signals[selector.row.signal].selected_for;
      const std::uint64_t number = numbers[selector.parent];
      const auto range = std::partition_point(ranges.begin(), ranges.end(),
                                              [&](const NumberRange& each) { return each.last < number; });
      if (range == ranges.end() || number < range->first) continue;
    }
    if (const can::Errc code = number_of(selector.row, numbers[i]); code != no_error) {
      if (code == can::Errc::wrong_length && short_frame == ShortFrame::complete_signals) continue;
      refused = selector.row.signal;
      return code;
    }
    chosen[i] = group_of(selector, numbers[i]);
    if (chosen[i] == no_group) {
      refused = selector.row.signal;
      return can::Errc::unknown_selector;
    }
  }
  return no_error;
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
  return choose(chosen, short_frame, refused, [this, bytes](const Row& row, std::uint64_t& number) {
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

// ---- numbers and labels

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

std::string_view MessageCodec::label(std::size_t signal, std::int64_t number) const noexcept {
  if (signal >= signal_count()) return {};
  const std::vector<ValueText>& values = description_->signals[signal].values;
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const ValueText& each) { return each.value == number; });
  return found == values.end() ? std::string_view() : std::string_view(found->text);
}

std::optional<double> MessageCodec::value_of(std::size_t signal, std::string_view label) const noexcept {
  if (signal >= signal_count()) return std::nullopt;
  const std::vector<ValueText>& values = description_->signals[signal].values;
  const can::SignalCoding& coding = description_->signals[signal].coding;
  const auto found = std::find_if(values.begin(), values.end(), [&](const ValueText& each) {
    return each.text == label && can::detail::holds(coding.field, each.value);
  });
  if (found == values.end()) return std::nullopt;
  return static_cast<double>(found->value) * coding.scale + coding.offset;
}

// ---- encoding

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
  const can::Errc code =
      choose(chosen, ShortFrame::error, refused, [&](const Row& row, std::uint64_t& number) {
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

// ---- the database

SetupResult<Database> Database::load(const std::string& path, Strictness strictness) {
  auto reading = dbc::load(path, strictness);
  if (!reading) return tl::unexpected<SetupError>(std::move(reading).error());
  return build(std::move(*reading));
}

SetupResult<Database> Database::parse(std::string_view text, Strictness strictness) {
  auto reading = dbc::parse(text, strictness);
  if (!reading) return tl::unexpected<SetupError>(std::move(reading).error());
  return build(std::move(*reading));
}

SetupResult<Database> Database::make(File file) { return build(Reading{std::move(file), {}, 0, 0}); }

namespace {

/// The number of messages of each parameter group.
std::map<std::uint32_t, std::size_t> group_sizes(const File& file) {
  std::map<std::uint32_t, std::size_t> sizes;
  for (const Message& message : file.messages) {
    if (message.extended) ++sizes[can::j1939_group_of(message.id)];
  }
  return sizes;
}

}  // namespace

SetupResult<Database> Database::build(Reading reading) {
  Database database(std::move(reading));
  const File& file = database.file();
  const auto refuse = [](const Message& message, std::string_view why) {
    return fail(can::Errc::bad_dbc, fmt::format("message {}: {}", message.name, why));
  };
  if (file.messages.size() > dbc::max_messages)
    return fail(can::Errc::bad_dbc, fmt::format("the file has {} messages; at most {} are allowed",
                                                file.messages.size(), dbc::max_messages));
  std::size_t rows_left = max_table_rows;
  const std::map<std::uint32_t, std::size_t> sizes = group_sizes(file);
  database.standard_.assign(can::max_standard_id + 1, none);
  database.messages_.reserve(file.messages.size());
  for (const Message& message : file.messages) {
    if (const std::string mistake = mistake_in(message); !mistake.empty()) return refuse(message, mistake);
    MessageCodec made(file, message);
    if (!made.build(rows_left))
      return refuse(message, fmt::format("its multiplexing exceeds the {} table rows allowed in a file",
                                         max_table_rows));
    rows_left -= std::min(rows_left, made.rows_.size());
    const auto index = static_cast<std::uint32_t>(database.messages_.size());
    if (!message.extended) {
      if (database.standard_[message.id] != none)
        return refuse(message, "another message has this identifier");
      database.standard_[message.id] = index;
    } else {
      database.extended_.push_back({message.id, index});
      const std::uint32_t group = can::j1939_group_of(message.id);
      if (made.is_j1939_ && sizes.at(group) == 1) {
        made.id_mask_ = can::j1939_group_mask(message.id);
        database.parameter_groups_.push_back({group, index});
      }
    }
    database.messages_.push_back(std::move(made));
  }
  const auto is_before = [](const Key& a, const Key& b) { return a.id < b.id; };
  std::stable_sort(database.extended_.begin(), database.extended_.end(), is_before);
  std::stable_sort(database.parameter_groups_.begin(), database.parameter_groups_.end(), is_before);
  const auto same = std::adjacent_find(database.extended_.begin(), database.extended_.end(),
                                       [](const Key& a, const Key& b) { return a.id == b.id; });
  if (same != database.extended_.end())
    return refuse(file.messages[same->message], "another message has this identifier");
  return database;
}

std::uint32_t Database::look_up(const std::vector<Key>& keys, std::uint32_t id) noexcept {
  const auto found =
      std::partition_point(keys.begin(), keys.end(), [&](const Key& key) { return key.id < id; });
  return found != keys.end() && found->id == id ? found->message : none;
}

const MessageCodec* Database::find(std::uint32_t id, bool extended) const noexcept {
  std::uint32_t message = none;
  if (extended) {
    message = look_up(extended_, id);
    if (message == none && id <= can::max_extended_id)
      message = look_up(parameter_groups_, can::j1939_group_of(id));
  } else if (id < standard_.size()) {
    message = standard_[id];
  }
  return message == none ? nullptr : &messages_[message];
}

const MessageCodec* Database::find(std::string_view name) const noexcept {
  const auto found = std::find_if(messages_.begin(), messages_.end(), [&](const MessageCodec& message) {
    return message.description().name == name;
  });
  return found == messages_.end() ? nullptr : &*found;
}

}  // namespace takt::dbc
