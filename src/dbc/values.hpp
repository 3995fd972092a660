// The values of DBC tokens: numbers, and values of attributes.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "dbc/complaints.hpp"
#include "dbc/scanner.hpp"
#include "takt/dbc/file.hpp"

namespace takt::dbc {

[[nodiscard]] std::optional<double> to_number(std::string_view raw) noexcept;

/// Parses an integer, also in the form 5.0 or 1e3.
template <class T>
[[nodiscard]] std::optional<T> to_integer(std::string_view raw) noexcept {
  if (!raw.empty() && raw.front() == '+') raw.remove_prefix(1);
  T integer = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), integer);
  if (error == std::errc{} && end == raw.data() + raw.size()) return integer;
  if (error == std::errc::result_out_of_range) return std::nullopt;
  const auto number = to_number(raw);
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (!number || std::trunc(*number) != *number || std::abs(*number) > exact) return std::nullopt;
  using Limits = std::numeric_limits<T>;
  const bool is_held =
      *number >= static_cast<double>(Limits::lowest()) && *number <= static_cast<double>(Limits::max());
  return is_held ? std::optional<T>(static_cast<T>(*number)) : std::nullopt;
}

/// Returns a token for use in a message: shortened, and without control characters for a terminal.
[[nodiscard]] std::string shown(const Token& token);

/// Parses the value of an attribute, by its definition if there is one. On an invalid value it complains and
/// returns nothing.
[[nodiscard]] std::optional<AttributeValue> value_of(const Token& token,
                                                     const AttributeDefinition* definition,
                                                     Complaints& complaints);

}  // namespace takt::dbc
