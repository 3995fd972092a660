// Splits a DBC file into tokens: names, numbers, texts and marks, each with its place. It accepts any bytes
// and takes time linear in their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "takt/dbc/file.hpp"

namespace takt::dbc {

enum class TokenKind : std::uint8_t {
  end,        ///< end of the file
  name,       ///< letters, digits, `_`; also `.`, `-` and all non-ASCII characters, which files contain
  number,     ///< with the sign directly before it
  text,       ///< in quotes; `raw` is the part between them
  open_text,  ///< a quote without a closing quote
  mark,       ///< any other byte
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view raw;
  TextPosition place;
  bool first_on_line = false;
  bool last_on_line = false;

  [[nodiscard]] bool is(char mark) const noexcept { return kind == TokenKind::mark && raw.front() == mark; }
  [[nodiscard]] bool is(std::string_view name) const noexcept {
    return kind == TokenKind::name && raw == name;
  }
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept;

  /// Returns the next token without taking it.
  [[nodiscard]] const Token& peek() const noexcept { return next_; }
  /// Takes the next token.
  Token take() noexcept;

 private:
  [[nodiscard]] Token scan() noexcept;
  void skip_space() noexcept;
  void skip_to_line_end() noexcept;
  void start_line() noexcept;
  [[nodiscard]] std::size_t number_end(std::size_t at) const noexcept;
  [[nodiscard]] std::size_t name_end(std::size_t at) const noexcept;
  [[nodiscard]] bool at_line_end() const noexcept;
  [[nodiscard]] char byte(std::size_t at) const noexcept { return at < text_.size() ? text_[at] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  bool line_is_fresh_ = true;
  Token next_;
};

/// Returns a text or a name as UTF-8. Bytes that are not valid UTF-8 are decoded as cp1252.
[[nodiscard]] std::string to_utf8(std::string_view raw);

/// Returns the text between two quotes as UTF-8. It replaces `\"` by a quote, and CR LF and CR by LF.
[[nodiscard]] std::string unquoted(std::string_view raw);

}  // namespace takt::dbc
