// Names, comments and string literals of C++ out of texts that may hold anything.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace takt::dbc {

/// "ShaftSpeed" and "SHAFT_SPEED" to "shaft_speed". What begins with no letter gets `word` in front; never empty.
[[nodiscard]] std::string snake_case(std::string_view text, std::string_view word);

/// "motor_status" and "MOTOR_STATUS" to "MotorStatus": with small letters, so that no macro has it.
[[nodiscard]] std::string pascal_case(std::string_view text, std::string_view word);

/// Whether it is "robot::drive" or the like, of names that a program may use.
[[nodiscard]] bool is_name_space(std::string_view text);

/// The names of one scope.
class UniqueNames {
 public:
  explicit UniqueNames(std::set<std::string> taken = {}) : taken_(std::move(taken)) {}
  /// The name, or one made of it that is no keyword and that nothing else in the scope has.
  [[nodiscard]] std::string add(const std::string& name);

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_numbers_;  ///< behind names that were asked for: lower ones are taken
};

/// The text as lines of a comment, each beginning with `prefix`; empty for an empty text.
[[nodiscard]] std::string comment(std::string_view text, std::string_view prefix);

/// The text in one line, to stand behind `//`.
[[nodiscard]] std::string comment_line(std::string_view text);

/// With its quotes.
[[nodiscard]] std::string literal(std::string_view text);

}  // namespace takt::dbc
