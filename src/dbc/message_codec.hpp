// Parts that the tables, the decoding and the encoding of MessageCodec share. They are inline, because each
// lies in the path of every frame.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "takt/dbc/database.hpp"

namespace takt::dbc {
namespace codec_detail {

inline constexpr std::uint64_t no_limit = ~std::uint64_t{0};
inline constexpr std::size_t word_bytes = 8;

constexpr std::uint64_t in_order(std::uint64_t word, bool big) noexcept {
  return big ? can::detail::swap_bytes(word) : word;
}

inline std::uint64_t load_word(const std::uint8_t* bytes) noexcept {
  return can::load_little<word_bytes>(bytes);
}

}  // namespace codec_detail

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
[[gnu::always_inline]] inline can::Errc MessageCodec::choose(Chosen& chosen, Unknown unknown,
                                                             ShortFrame short_frame, std::size_t& refused,
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
    if (chosen[i] == no_group && unknown == Unknown::is_error) {
      refused = selector.row.signal;
      return can::Errc::unknown_selector;
    }
  }
  return no_error;
}

}  // namespace takt::dbc
