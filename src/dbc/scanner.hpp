// The words of a DBC file: names, numbers, texts and marks, each with its place. Works on any bytes, in time
// linear in their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "takt/dbc/file.hpp"

namespace takt::dbc {

enum class TokenKind : std::uint8_t {
  end,        ///< of the file
  name,       ///< letters, digits, `_`, and what else people put into names: `.`, `-`, anything beyond ASCII
  number,     ///< with its sign, if that stands in front of it
  text,       ///< in quotes; `raw` is what stands between them
  open_text,  ///< a quote that no other one closes
  mark,       ///< any other byte
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view raw;
  Place place;
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

  /// The next token, which stays the next.
  [[nodiscard]] const Token& peek() const noexcept { return next_; }
  /// The next token, behind which the scanner goes on.
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

/// A text or a name as UTF-8: unchanged if it is UTF-8 already, otherwise taken for cp1252.
[[nodiscard]] std::string to_utf8(std::string_view raw);

/// The text between two quotes: as UTF-8, with `\"` as the quote that it stands for, and LF for each CR LF and CR.
[[nodiscard]] std::string unquoted(std::string_view raw);

}  // namespace takt::dbc
