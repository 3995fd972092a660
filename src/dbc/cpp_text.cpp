#include "dbc/cpp_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dbc/scanner.hpp"
#include "takt/can/text.hpp"

namespace takt::dbc {
namespace {

constexpr std::size_t most_of_a_name = 100;  // bytes
constexpr std::size_t comment_width = 110;   // bytes

/// Keywords, and lower-case macros of the standard headers. Generated type names are safe: they have capital
/// and small letters.
constexpr auto reserved = std::to_array<std::string_view>(
    {"alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
     "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
     "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
     "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern",
     "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
     "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
     "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
     "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
     "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
     "wchar_t", "while", "xor", "xor_eq",
     // macros
     "assert", "alloca", "complex", "errno", "i386", "linux", "sched_priority", "stderr", "stdin", "stdout",
     "unix", "offsetof"});

bool is_reserved(std::string_view name) {
  return std::find(reserved.begin(), reserved.end(), name) != reserved.end();
}

constexpr bool is_small(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_capital(char c) noexcept { return c >= 'A' && c <= 'Z'; }
using can::detail::is_digit;
constexpr bool is_word_byte(char c) noexcept { return is_small(c) || is_capital(c) || is_digit(c); }
constexpr char small(char c) noexcept { return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char capital(char c) noexcept { return is_small(c) ? static_cast<char>(c - 'a' + 'A') : c; }

/// Returns whether a word ends before text[i]: at a capital after a small letter or digit, or before a small
/// letter: ABS|Active.
bool begins_word(std::string_view text, std::size_t i) {
  if (i == 0 || !is_capital(text[i])) return false;
  const char before = text[i - 1];
  const bool before_small = i + 1 < text.size() && is_small(text[i + 1]);
  return is_small(before) || is_digit(before) || (is_capital(before) && before_small);
}

/// One UTF-8 character from the front of a text.
struct Character {
  std::string_view bytes;
  std::uint32_t code = 0;
};
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  Character character{text.substr(0, length), lead};
  if (length > 1) character.code = lead & (0xFFU >> (length + 1));
  for (const char byte : character.bytes.substr(1)) {
    character.code = character.code << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return character;
}

/// Control characters, and characters that change the writing direction or act as line ends.
bool is_shown(std::uint32_t code) {
  const auto within = [&](std::uint32_t low, std::uint32_t high) { return code >= low && code <= high; };
  return code >= 0x20 && !within(0x7F, 0x9F) && code != 0x61C && !within(0x200B, 0x200F) &&
         !within(0x2028, 0x202E) && !within(0x2060, 0x206F) && code != 0xFEFF;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = text.find_last_not_of(' ');
  return text.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin);
}

/// Replaces such characters by spaces. A backslash at the end is removed, because it would extend the comment
/// to the next line.
std::string harmless(std::string_view line) {
  std::string out;
  for (Character next; !line.empty(); line.remove_prefix(next.bytes.size())) {
    next = first_character(line);
    out += is_shown(next.code) ? next.bytes : " ";
  }
  out = trimmed(out);
  if (out.ends_with('\\') || out.ends_with("?\?/")) out += '.';
  return out;
}

/// The words that fit into the width of a line.
std::string_view take_words(std::string_view& line) {
  std::size_t end = line.size();
  if (end > comment_width) {
    end = line.rfind(' ', comment_width);
    if (end == std::string_view::npos || end == 0) end = std::min(line.find(' ', 1), line.size());
  }
  const std::string_view words = line.substr(0, end);
  line = trimmed(line.substr(end));
  return words;
}

}  // namespace

std::string snake_case(std::string_view text, std::string_view word) {
  std::string name;
  for (std::size_t i = 0; i < text.size() && name.size() < most_of_a_name; ++i) {
    const bool is_gap = !is_word_byte(text[i]) || begins_word(text, i);
    if (is_gap && !name.empty() && name.back() != '_') name += '_';
    if (is_word_byte(text[i])) name += small(text[i]);
  }
  while (name.ends_with('_')) name.pop_back();
  if (name.empty()) return std::string(word);
  return is_small(name.front()) ? name : fmt::format("{}_{}", word, name);
}

std::string pascal_case(std::string_view text, std::string_view word) {
  const bool has_small = std::any_of(text.begin(), text.end(), is_small);
  std::string name;
  bool is_first = true;  // of a word
  for (std::size_t i = 0; i < text.size() && name.size() < most_of_a_name; ++i) {
    if (is_word_byte(text[i])) name += is_first ? capital(text[i]) : has_small ? text[i] : small(text[i]);
    is_first = !is_word_byte(text[i]);
  }
  return !name.empty() && is_capital(name.front()) ? name : fmt::format("{}{}", word, name);
}

bool is_name_space(std::string_view text) {
  for (;;) {
    const std::size_t end = std::min(text.find("::"), text.size());
    const std::string_view name = text.substr(0, end);
    const bool is_name =
        !name.empty() && (is_small(name.front()) || is_capital(name.front())) &&
        std::all_of(name.begin(), name.end(), [](char c) { return is_word_byte(c) || c == '_'; });
    const bool is_taken = name == "std" || name == "takt" || is_reserved(name);
    if (!is_name || is_taken || name.find("__") != std::string_view::npos) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 2);
  }
}

std::string UniqueNames::add(const std::string& name) {
  std::string free = is_reserved(name) ? name + "_" : name;
  int& number = next_numbers_.try_emplace(name, 2).first->second;
  while (!taken_.insert(free).second) free = fmt::format("{}_{}", name, number++);
  return free;
}

std::string comment_line(std::string_view text) { return harmless(to_utf8(text)); }

std::string comment(std::string_view text, std::string_view prefix) {
  const std::string whole = to_utf8(text);
  std::string out;
  for (std::string_view rest = whole; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line = harmless(rest.substr(0, end));
    for (std::string_view words = line; !words.empty();) {
      out += fmt::format("{}{}\n", prefix, harmless(take_words(words)));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string literal(std::string_view text) {
  const std::string whole = to_utf8(text);
  std::string out = "\"";
  for (std::string_view rest = whole; !rest.empty();) {
    const Character next = first_character(rest);
    rest.remove_prefix(next.bytes.size());
    const bool is_special = next.bytes == "\"" || next.bytes == "\\" || next.bytes == "?";
    if (is_shown(next.code) && !is_special) {
      out += next.bytes;
      continue;
    }
    for (const char byte : next.bytes) out += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
  }
  return out + '"';
}

}  // namespace takt::dbc
