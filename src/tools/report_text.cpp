#include "tools/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace takt::tools {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// Bytes of the well-formed UTF-8 character at the beginning of `text`, 0 if there is none (RFC 3629).
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return character.size() == 2 && first == 0xc2 && static_cast<std::uint8_t>(character[1]) < 0xa0;
}

/// Calls visit(character) for each character of printable(text).
template <class Visitor>
void for_each_printable(std::string_view text, Visitor&& visit) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    visit(size == 0 || is_control(character) ? replacement : character);
    text.remove_prefix(character.size());
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for_each_printable(text, [&](std::string_view character) { result += character; });
  return result;
}

std::string html(std::string_view text) {
  std::string result;
  for_each_printable(text, [&](std::string_view character) {
    if (character == "&") {
      result += "&amp;";
    } else if (character == "<") {
      result += "&lt;";
    } else if (character == ">") {
      result += "&gt;";
    } else if (character == "\"") {
      result += "&quot;";
    } else if (character == "'") {
      result += "&#39;";
    } else {
      result += character;
    }
  });
  return result;
}

std::string plot_label(std::string_view text) {
  constexpr std::size_t most = 48;
  std::string result;
  std::size_t count = 0;
  for_each_printable(text, [&](std::string_view character) {
    if (++count > most) return;
    if (count == most) {
      result += "\u2026";
    } else if (character == "'") {
      result += "\u2019";
    } else if (character == "`") {
      result += "\u2018";
    } else {
      result += character;
    }
  });
  return result;
}

std::string file_stem(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 40)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    result += plain ? c : '_';
  }
  return result;
}

std::string csv_cell(std::string_view text) {
  std::string safe = printable(text);
  if (safe.find_first_of("\",") == std::string::npos) return safe;
  std::string result = "\"";
  for (const char c : safe) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string duration_text(double microseconds) {
  const double magnitude = std::abs(microseconds);
  // Three significant digits, and whole nanoseconds below a microsecond.
  const auto digits = [](double value) {
    const double size = std::abs(value);
    return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  };
  if (magnitude == 0) return "0";
  if (magnitude < 1) return fmt::format("{:.0f} ns", microseconds * 1e3);
  if (magnitude < 1e3) return digits(microseconds) + " \u00b5s";
  if (magnitude < 1e6) return digits(microseconds * 1e-3) + " ms";
  return digits(microseconds * 1e-6) + " s";
}

}  // namespace takt::tools
