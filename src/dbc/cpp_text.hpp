// Makes C++ names, comments and string literals from any text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace takt::dbc {

/// Converts "ShaftSpeed" and "SHAFT_SPEED" to "shaft_speed". A name that does not begin with a letter gets
/// the prefix `word`. Never empty.
[[nodiscard]] std::string snake_case(std::string_view text, std::string_view word);

/// Converts "motor_status" and "MOTOR_STATUS" to "MotorStatus". It has small letters, so no macro has the
/// same name.
[[nodiscard]] std::string pascal_case(std::string_view text, std::string_view word);

/// Returns whether the text is a namespace such as "robot::drive" that a program may use.
[[nodiscard]] bool is_name_space(std::string_view text);

/// The names of one scope.
class UniqueNames {
 public:
  explicit UniqueNames(std::set<std::string> taken = {}) : taken_(std::move(taken)) {}
  /// Returns the name, changed if necessary: no keyword, and unique in the scope.
  [[nodiscard]] std::string add(const std::string& name);

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_numbers_;  ///< the next number for each name that was requested before
};

/// Returns the text as comment lines that begin with `prefix`; empty for an empty text.
[[nodiscard]] std::string comment(std::string_view text, std::string_view prefix);

/// Returns the text in one line, for a comment after code.
[[nodiscard]] std::string comment_line(std::string_view text);

/// Returns a string literal, with quotes.
[[nodiscard]] std::string literal(std::string_view text);

}  // namespace takt::dbc
