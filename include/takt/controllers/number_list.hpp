// Lists of numbers in one text parameter: "80, 60, 40". One number counts for all joints.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>

#include "takt/core/finite_math.hpp"

namespace takt::controllers {

/// The text of a list of numbers, as a parameter.
inline constexpr std::size_t number_list_size = 255;

/// Reads a list of numbers with commas into `numbers`, one for each joint. A single number fills all of them.
/// "inf" is a number, NaN is none. Returns false if the text is no such list, or the count differs; `numbers`
/// may then have changed. Real-time safe.
[[nodiscard]] inline bool read_numbers(std::string_view list, std::span<double> numbers) noexcept {
  std::size_t count = 0;
  for (;;) {
    const std::size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number != number) return false;
    if (count == numbers.size()) return false;
    numbers[count++] = number;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  if (count == 1) std::ranges::fill(numbers, numbers[0]);
  return count == 1 || count == numbers.size();
}

}  // namespace takt::controllers
