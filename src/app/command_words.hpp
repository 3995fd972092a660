// Commands of people as words, and their answers, for the sources that use nlohmann_json.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/strict.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::app {

/// Takes the next word off the line.
[[nodiscard]] std::string_view take_word(std::string_view& line);
/// The rest of the line, without the spaces before it.
[[nodiscard]] std::string_view take_rest(std::string_view line);
/// All words of a line.
[[nodiscard]] std::vector<std::string> words_of(std::string_view line);

/// The object of "KEY=VALUE" words: "2.5", "true" and "[1,2]" are JSON; other values are texts. Errors:
/// component's bad_value.
[[nodiscard]] SetupResult<json::Value> values_from_words(std::span<const std::string> words);

/// A command to the controllers as the JSON request of controller_commands.hpp: "start tip" is
/// {"start":{"name":"tip"}}. Errors: component's bad_value, with the words that are expected.
[[nodiscard]] SetupResult<json::Value> controllers_request(std::span<const std::string> words);

/// One line of JSON. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_line(const json::Value& value);

}  // namespace takt::app
