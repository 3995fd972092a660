#include "tools/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/utf8.hpp"

namespace takt::tools {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// Calls visit(character) for each character of printable(text).
template <class Visitor>
void for_each_printable(std::string_view text, Visitor&& visit) {
  while (!text.empty()) {
    const std::size_t size = utf8_length(text);
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
