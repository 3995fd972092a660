#include "dbc/message_codec.hpp"

#include <cmath>
#include <map>
#include <set>

namespace takt::dbc {

using codec_detail::in_order;
using codec_detail::no_limit;
using codec_detail::word_bytes;

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

}  // namespace takt::dbc
