#include "dbc/scanner.hpp"

#include <array>

#include "core/utf8.hpp"
#include "takt/can/text.hpp"

namespace takt::dbc {
namespace {

using can::detail::is_digit;

constexpr bool begins_name(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
         static_cast<unsigned char>(byte) >= 0x80;
}

constexpr bool is_in_name(char byte) noexcept {
  return begins_name(byte) || is_digit(byte) || byte == '.' || byte == '-';
}

constexpr bool is_sign(char byte) noexcept { return byte == '+' || byte == '-'; }

/// The characters of cp1252 at 0x80 to 0x9F. Its five undefined bytes map to themselves.
constexpr std::array<char16_t, 32> cp1252 = {0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                             0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
                                             0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                             0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | code >> 6);
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xE0U | code >> 12);
    out += static_cast<char>(0x80U | (code >> 6 & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

}  // namespace

Scanner::Scanner(std::string_view text) noexcept : text_(text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text_.substr(0, byte_order_mark.size()) == byte_order_mark) at_ = line_start_ = byte_order_mark.size();
  next_ = scan();
}

Token Scanner::take() noexcept {
  const Token token = next_;
  if (token.kind != TokenKind::end) next_ = scan();
  return token;
}

void Scanner::start_line() noexcept {
  ++line_;
  line_start_ = at_;
  line_is_fresh_ = true;
}

void Scanner::skip_to_line_end() noexcept {
  while (at_ < text_.size() && text_[at_] != '\n') ++at_;
}

void Scanner::skip_space() noexcept {
  while (at_ < text_.size()) {
    const char next = text_[at_];
    if (next == '/' && byte(at_ + 1) == '/') {
      skip_to_line_end();
    } else if (next == '\n') {
      ++at_;
      start_line();
    } else if (next == ' ' || next == '\t' || next == '\r' || next == '\f' || next == '\v') {
      ++at_;
    } else {
      return;
    }
  }
}

bool Scanner::at_line_end() const noexcept {
  std::size_t at = at_;
  while (byte(at) == ' ' || byte(at) == '\t' || byte(at) == '\r') ++at;
  return at >= text_.size() || text_[at] == '\n';
}

std::size_t Scanner::name_end(std::size_t at) const noexcept {
  while (at < text_.size() && is_in_name(text_[at])) ++at;
  return at;
}

/// Returns the end of a number that begins at `at`; `at` itself if there is no number.
std::size_t Scanner::number_end(std::size_t at) const noexcept {
  const std::size_t begin = at;
  if (is_sign(byte(at))) ++at;
  const std::size_t digits = at;
  while (is_digit(byte(at))) ++at;
  std::size_t count = at - digits;
  if (byte(at) == '.') {
    const std::size_t point = at++;
    while (is_digit(byte(at))) ++at;
    count += at - point - 1;
  }
  if (count == 0) return begin;
  if (byte(at) == 'e' || byte(at) == 'E') {
    std::size_t exponent = at + 1;
    if (is_sign(byte(exponent))) ++exponent;
    if (is_digit(byte(exponent))) {
      at = exponent;
      while (is_digit(byte(at))) ++at;
    }
  }
  return at;
}

Token Scanner::scan() noexcept {
  skip_space();
  Token token;
  token.place = {line_, at_ - line_start_ + 1};
  token.first_on_line = line_is_fresh_;
  line_is_fresh_ = false;
  if (at_ >= text_.size()) return token;

  const std::size_t begin = at_;
  if (text_[at_] == '"') {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      const bool is_escaped_quote = text_[at_] == '\\' && byte(at_ + 1) == '"';
      at_ += is_escaped_quote ? 2 : 1;
      if (text_[at_ - 1] == '\n') start_line();
    }
    line_is_fresh_ = false;
    token.kind = at_ < text_.size() ? TokenKind::text : TokenKind::open_text;
    token.raw = text_.substr(begin + 1, at_ - begin - 1);
    if (at_ < text_.size()) ++at_;
  } else if (const std::size_t end = number_end(at_); end != at_) {
    // Some files have names that begin with a digit: 2nd_gear, 0x1F.
    const bool is_name = begins_name(byte(end)) && !is_sign(text_[begin]);
    token.kind = is_name ? TokenKind::name : TokenKind::number;
    at_ = is_name ? name_end(end) : end;
    token.raw = text_.substr(begin, at_ - begin);
  } else {
    token.kind = begins_name(text_[at_]) ? TokenKind::name : TokenKind::mark;
    at_ = token.kind == TokenKind::name ? name_end(at_) : at_ + 1;
    token.raw = text_.substr(begin, at_ - begin);
  }
  token.last_on_line = at_line_end();
  return token;
}

std::string to_utf8(std::string_view raw) {
  if (is_utf8(raw)) return std::string(raw);
  std::string text;
  text.reserve(2 * raw.size());
  for (const char byte : raw) {
    const unsigned code = static_cast<unsigned char>(byte);
    append_utf8(text, code >= 0x80 && code < 0xA0 ? cp1252[code - 0x80] : code);
  }
  return text;
}

std::string unquoted(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char next = i + 1 < raw.size() ? raw[i + 1] : '\0';
    if ((raw[i] == '\\' && next == '"') || (raw[i] == '\r' && next == '\n')) continue;
    text += raw[i] == '\r' ? '\n' : raw[i];
  }
  return to_utf8(text);
}

}  // namespace takt::dbc
