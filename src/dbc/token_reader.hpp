// Takes the parts of a statement of a DBC file: marks, names, texts and numbers.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dbc/complaints.hpp"
#include "dbc/scanner.hpp"
#include "dbc/values.hpp"
#include "dbc/words.hpp"

namespace takt::dbc {

/// A function that takes something returns false on failure. The rest of the statement is then skipped, and
/// the reason is a warning or the error.
class TokenReader : protected Complaints {
 protected:
  TokenReader(std::string_view text, Strictness strictness) : Complaints(strictness), scanner_(text) {}

  bool expected(std::string_view what) {
    const Token& found = scanner_.peek();
    if (found.kind == TokenKind::open_text) {
      refuse(found.place, "the text that begins here has no closing quote");
    } else {
      complain(found.place,
               fmt::format("expected {}, found {}; the statement is skipped", what, shown(found)));
    }
    return false;
  }
  [[nodiscard]] bool within(std::size_t count, std::size_t most, std::string_view what) {
    if (count <= most) return true;
    refuse(scanner_.peek().place, fmt::format("there are more than {} {}", most, what));
    return false;
  }

  bool try_mark(char mark) {
    if (!scanner_.peek().is(mark)) return false;
    scanner_.take();
    return true;
  }
  bool take_mark(char mark) { return try_mark(mark) || expected(fmt::format("'{}'", mark)); }

  bool take_name(std::string& out, std::string_view what) {
    if (scanner_.peek().kind != TokenKind::name) return expected(what);
    const Token token = scanner_.take();
    if (is_strict() && !is_identifier(token.raw)) {
      refuse(token.place, fmt::format("{} is not a name: letters, digits and _ are allowed", shown(token)));
      return false;
    }
    out = to_utf8(token.raw);
    return within(out.size(), max_name_length, "bytes in a name");
  }
  bool take_text(std::string& out, std::string_view what) {
    if (scanner_.peek().kind != TokenKind::text) return expected(what);
    out = unquoted(scanner_.take().raw);
    return within(out.size(), max_text_length, "bytes in a text");
  }
  bool take_number(double& out, std::string_view what) {
    const auto number =
        scanner_.peek().kind == TokenKind::number ? to_number(scanner_.peek().raw) : std::nullopt;
    if (!number) return expected(what);
    scanner_.take();
    out = *number;
    return true;
  }
  template <class T>
  bool take_integer(T& out, T least, T most, std::string_view what) {
    const auto number =
        scanner_.peek().kind == TokenKind::number ? to_integer<T>(scanner_.peek().raw) : std::nullopt;
    if (!number || *number < least || *number > most)
      return expected(fmt::format("{} ({} to {})", what, least, most));
    scanner_.take();
    out = *number;
    return true;
  }
  /// Takes names, with or without commas between them. With `one_line`, names on further lines need a comma.
  bool take_names(std::vector<std::string>& out, bool one_line = false) {
    bool may_end = one_line;
    while (!at_statement() && (scanner_.peek().kind == TokenKind::name || scanner_.peek().is(','))) {
      if (may_end && scanner_.peek().first_on_line) return true;
      may_end = one_line && !scanner_.peek().is(',');
      if (try_mark(',')) continue;
      std::string name;
      if (!take_name(name, "a name")) return false;
      if (name != nobody) out.push_back(std::move(name));
    }
    return true;
  }
  /// Takes the semicolon of a statement; reports anything before it.
  void end_statement() {
    if (try_mark(';')) return;
    const Token& found = scanner_.peek();
    if (found.kind == TokenKind::open_text) {
      expected("';'");
    } else {
      complain(found.place, fmt::format("expected ';', found {}", shown(found)));
    }
    skip_statement();
  }

  [[nodiscard]] bool at_statement() const {
    const Token& next = scanner_.peek();
    return next.kind == TokenKind::name && next.first_on_line && is_keyword(next.raw);
  }
  void skip_statement() {
    while (!has_failed() && scanner_.peek().kind != TokenKind::end && !at_statement()) {
      if (scanner_.peek().kind == TokenKind::open_text) expected("a text");
      if (scanner_.take().is(';')) return;
    }
  }

  Scanner scanner_;
};

}  // namespace takt::dbc
