// Options whose value is one of a few words. CLI11's own transformer also shows the numbers behind the words
// in help and errors.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace takt::tools {

template <class Enum>
using Choices = std::vector<std::pair<std::string, Enum>>;

/// Adds an option that sets `value`, an Enum or an optional one, by its word. Help and errors list the words;
/// the help shows the default, if `value` has one. `value` must live as long as the command parses.
template <class Value, class Enum>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const Choices<Enum>& choices, const std::string& help) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  const auto set = [&value, choices](const std::string& word) {
    for (const auto& [choice, meaning] : choices) {
      if (choice == word) value = meaning;
    }
  };
  const auto refusal = [words](const std::string& word) {
    const bool known = std::find(words.begin(), words.end(), word) != words.end();
    return known ? std::string() : fmt::format("'{}' is not one of {}", word, fmt::join(words, ", "));
  };
  CLI::Option* option = command.add_option_function<std::string>(name, set, help);
  option->type_name(fmt::format("{}", fmt::join(words, "|")))->check(refusal);
  for (const auto& [word, meaning] : choices) {
    if (value == meaning) option->default_str(word);
  }
  return option;
}

}  // namespace takt::tools
