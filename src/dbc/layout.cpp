#include "dbc/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "takt/can/signal.hpp"

namespace takt::dbc {
namespace {

/// The bits of a signal in the bytes of its message.
struct Footprint {
  std::size_t first = 0;
  std::size_t bytes = 0;
  std::array<std::uint8_t, 9> masks{};
  std::uint32_t signal = 0;

  [[nodiscard]] static Footprint of(can::BitField field, std::uint32_t signal) noexcept {
    Footprint footprint;
    footprint.first = field.start / 8U;
    footprint.bytes = can::detail::window_of(field).bytes;
    footprint.signal = signal;
    field.start = field.start % 8U;
    can::detail::insert_bits<can::detail::SizedWord>(field, can::detail::window_of(field),
                                                     footprint.masks.data(), ~std::uint64_t{0});
    return footprint;
  }
  [[nodiscard]] bool meets(const Footprint& later) const noexcept {
    for (std::size_t i = later.first; i < std::min(first + bytes, later.first + later.bytes); ++i) {
      if ((masks[i - first] & later.masks[i - later.first]) != 0) return true;
    }
    return false;
  }
};

bool have_common_number(const std::vector<NumberRange>& a, const std::vector<NumberRange>& b) noexcept {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].first <= b[j].last && b[j].first <= a[i].last) return true;
    ++(a[i].last < b[j].last ? i : j);
  }
  return false;
}

/// Returns whether two signals can be in one frame. They cannot if a common selector chooses between them.
bool can_meet(const std::vector<Signal>& signals, std::uint32_t a, std::uint32_t b) noexcept {
  for (const Signal* x = &signals[a]; x->selected_by; x = &signals[*x->selected_by]) {
    for (const Signal* y = &signals[b]; y->selected_by; y = &signals[*y->selected_by]) {
      if (*x->selected_by == *y->selected_by && !have_common_number(x->selected_for, y->selected_for))
        return false;
    }
  }
  return true;
}

/// Finds the selector of signals that have a page number only.
struct Root {
  std::vector<std::uint32_t> signals;  ///< selectors that depend on no other one; exactly one in a valid file
  bool has_nested = false;             ///< there are selectors that depend on others

  static Root of(const std::vector<Signal>& signals, const Notes& notes) {
    Root root;
    for (std::uint32_t i = 0; i < signals.size(); ++i) {
      if (!signals[i].is_selector) continue;
      const Multiplexing& multiplexing = notes.multiplexing[i];
      if (multiplexing.page || !multiplexing.ranges.empty()) {
        root.has_nested = true;
      } else {
        root.signals.push_back(i);
      }
    }
    return root;
  }
};

/// Resolves SG_MUL_VAL_. Reports the mistake if the signal cannot be resolved.
std::string_view choose_by_ranges(std::vector<Signal>& signals, const Notes& notes, std::uint32_t i) {
  const auto found = notes.signals.find(notes.multiplexing[i].selector);
  if (found == notes.signals.end() || found->second == i) return "the message has no such selector";
  signals[i].selected_by = found->second;
  signals[i].selected_for = notes.multiplexing[i].ranges;
  signals[found->second].is_selector = true;
  return {};
}

/// Resolves mN without SG_MUL_VAL_.
std::string_view choose_by_page(std::vector<Signal>& signals, const Root& root, std::uint32_t i,
                                std::uint64_t page) {
  if (root.signals.size() != 1) return "the message has no selector, or more than one";
  signals[i].selected_by = root.signals.front();
  signals[i].selected_for = {{page, page}};
  return {};
}

/// Returns whether the chain of selectors has a skipped selector, or is too deep or circular.
bool hangs_in_the_air(const std::vector<Signal>& signals, const std::vector<bool>& left_out,
                      std::uint32_t signal) {
  for (std::size_t depth = 0; depth <= max_multiplex_depth; ++depth) {
    if (left_out[signal]) return true;
    if (!signals[signal].selected_by) return false;
    signal = *signals[signal].selected_by;
  }
  return true;
}

/// Checks the place of one signal on its own.
void check_place(const Message& message, const Signal& signal, TextPosition place, Complaints& complaints) {
  if (!can::fits(signal.coding.field, message.length)) {
    complaints.complain(place, fmt::format("{} does not lie within the {} bytes of {}", signal.name,
                                           message.length, message.name));
  }
  if (!signal.selected_by) return;
  const Signal& selector = message.signals[*signal.selected_by];
  const std::uint64_t last = signal.selected_for.back().last;
  if (last > can::detail::mask_of(selector.coding.field.length))
    complaints.complain(place, fmt::format("selector {} cannot have the value {}", selector.name, last));
}

}  // namespace

void normalise(std::vector<NumberRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const NumberRange& a, const NumberRange& b) { return a.first < b.first; });
  std::vector<NumberRange> joined;
  for (const NumberRange& range : ranges) {
    if (!joined.empty() && (range.first <= joined.back().last || range.first - 1 == joined.back().last)) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  ranges = std::move(joined);
}

std::vector<bool> choose_selectors(Message& message, const Notes& notes, Complaints& complaints) {
  std::vector<Signal>& signals = message.signals;
  std::vector<bool> left_out(signals.size(), false);
  const Root root = Root::of(signals, notes);
  for (std::uint32_t i = 0; i < signals.size(); ++i) {
    const Multiplexing& multiplexing = notes.multiplexing[i];
    const bool is_page_only = multiplexing.ranges.empty() && multiplexing.page;
    std::string_view fault;
    if (!multiplexing.ranges.empty()) {
      fault = choose_by_ranges(signals, notes, i);
    } else if (is_page_only) {
      fault = choose_by_page(signals, root, i, *multiplexing.page);
    }
    left_out[i] = !fault.empty();
    const TextPosition place = notes.signal_places[i];
    if (!fault.empty()) {
      complaints.complain(place, fmt::format("{}: {}; the signal is left out", signals[i].name, fault));
    } else if (is_page_only && root.has_nested && !signals[i].is_selector) {
      complaints.complain(
          place,
          fmt::format(
              "{}: the message has several selectors, and no SG_MUL_VAL_ names one; the selector M is used",
              signals[i].name));
    }
  }
  for (std::uint32_t i = 0; i < signals.size(); ++i) {
    if (left_out[i] || !hangs_in_the_air(signals, left_out, i)) continue;
    complaints.complain(notes.signal_places[i],
                        fmt::format("{} depends on a selector that is left out, on itself, or on more than "
                                    "{} selectors; it is left out",
                                    signals[i].name, max_multiplex_depth));
    left_out[i] = true;
  }
  return left_out;
}

void check_layout(const Message& message, const Notes& notes, const std::vector<bool>& left_out,
                  Complaints& complaints) {
  const std::vector<Signal>& signals = message.signals;
  std::vector<Footprint> footprints;
  for (std::uint32_t i = 0; i < signals.size(); ++i) {
    if (left_out[i]) continue;
    check_place(message, signals[i], notes.signal_places[i], complaints);
    footprints.push_back(Footprint::of(signals[i].coding.field, i));
  }
  std::sort(footprints.begin(), footprints.end(),
            [](const Footprint& a, const Footprint& b) { return a.first < b.first; });
  for (auto one = footprints.begin(); one != footprints.end(); ++one) {
    for (auto other = one + 1; other != footprints.end() && other->first < one->first + one->bytes; ++other) {
      if (!one->meets(*other) || !can_meet(signals, one->signal, other->signal)) continue;
      const auto [first, second] = std::minmax(one->signal, other->signal);
      complaints.complain(notes.signal_places[second],
                          fmt::format("{} and {} share bits", signals[first].name, signals[second].name));
      break;  // one complaint per signal is enough
    }
  }
}

void remove_signals(Message& message, const std::vector<bool>& left_out) {
  if (std::find(left_out.begin(), left_out.end(), true) == left_out.end()) return;
  std::vector<std::uint32_t> place(message.signals.size());
  std::vector<Signal> kept;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    place[i] = static_cast<std::uint32_t>(kept.size());
    if (!left_out[i]) kept.push_back(std::move(message.signals[i]));
  }
  for (Signal& signal : kept) {
    if (signal.selected_by) signal.selected_by = place[*signal.selected_by];
  }
  for (SignalGroup& group : message.groups) {
    std::erase_if(group.signals, [&](std::uint32_t signal) { return left_out[signal]; });
    for (std::uint32_t& signal : group.signals) signal = place[signal];
  }
  message.signals = std::move(kept);
}

}  // namespace takt::dbc
