#include "app/command_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "takt/component/error.hpp"

namespace takt::app {
namespace {

using json::Value;

/// The form of a command of words.
struct Form {
  std::string_view verb;
  std::string_view words;           ///< for people
  std::array<const char*, 2> keys;  ///< of its first words; null: none
  std::size_t required = 0;         ///< of these words
  const char* values = nullptr;     ///< the key of further KEY=VALUE words; null: none are allowed
};

constexpr std::array forms = {
    Form{"list", "list", {}, 0},
    Form{"show", "show NAME", {"name"}, 1},
    Form{"load", "load TYPE NAME [PARAMETER=VALUE ...]", {"type", "name"}, 2, "parameters"},
    Form{"unload", "unload NAME", {"name"}, 1},
    Form{"start", "start NAME ...", {"name"}, 1},
    Form{"stop", "stop NAME ...", {"name"}, 1},
    Form{"switch", "switch [start=A,B] [stop=C,D] [strictness=best_effort] [timeout=2]", {}, 0, ""},
    Form{"reset", "reset NAME", {"name"}, 1},
    Form{"set", "set NAME PARAMETER=VALUE ...", {"name"}, 1, "parameters"},
    Form{"write", "write CONTROLLER.PORT FIELD=VALUE ...", {"port"}, 1, "value"},
    Form{"interfaces", "interfaces", {}, 0},
    Form{"events", "events [AFTER]", {"after"}, 0},
    Form{"library", "library FILE", {"file"}, 1},
    Form{"trace", "trace FILE, or trace off", {"file"}, 1}};

/// "a,b" as a list of names.
Value names_in(std::string_view text) {
  Value names = Value::array();
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    names.push_back(std::string(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

}  // namespace

std::string_view take_word(std::string_view& line) {
  line = take_rest(line);
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

std::string_view take_rest(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!take_rest(line).empty()) words.emplace_back(take_word(line));
  return words;
}

SetupResult<Value> values_from_words(std::span<const std::string> words) {
  Value values = Value::object();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos)
      return fail(component::Errc::bad_value, fmt::format("\"{}\" is not PARAMETER=VALUE", word));
    const std::string name = word.substr(0, equals);
    if (values.contains(name))
      return fail(component::Errc::bad_value, fmt::format("\"{}\" is named twice", name));
    const std::string text = word.substr(equals + 1);
    const auto value = json::parse(text);
    values[name] = value ? *value : Value(text);
  }
  return values;
}

SetupResult<Value> controllers_request(std::span<const std::string> words) {
  const std::string_view verb = words.empty() ? std::string_view() : std::string_view(words.front());
  const auto form = std::ranges::find(forms, verb, &Form::verb);
  if (form == forms.end()) {
    std::string verbs;
    for (const Form& one : forms) verbs += (verbs.empty() ? "" : ", ") + std::string(one.verb);
    return fail(component::Errc::bad_value,
                fmt::format("there is no command \"{}\"; there are: {}", verb, verbs));
  }
  const auto rest = words.subspan(1);
  // Several at once are a switch: all of them, or none.
  if ((verb == "start" || verb == "stop") && rest.size() > 1)
    return Value{{"switch", {{std::string(verb), std::vector<std::string>(rest.begin(), rest.end())}}}};
  const auto named = static_cast<std::size_t>(
      std::ranges::count_if(form->keys, [](const char* key) { return key != nullptr; }));
  if (rest.size() < form->required || (rest.size() > named && form->values == nullptr))
    return fail(component::Errc::bad_value, fmt::format("the words are: {}", form->words));
  Value body = Value::object();
  for (std::size_t i = 0; i < std::min(named, rest.size()); ++i) body[form->keys[i]] = rest[i];
  if (body.contains("after")) {
    const auto number = json::parse(rest.front());
    if (number) body["after"] = *number;
  }
  if (verb == "trace" && rest.front() == "off") body = {{"off", true}};
  if (form->values != nullptr) {
    auto values = values_from_words(rest.subspan(std::min(named, rest.size())));
    if (!values) return values;
    if (*form->values != '\0') {
      if (!values->empty() || verb != "load") body[form->values] = std::move(*values);
    } else {
      for (const char* list : {"start", "stop"}) {
        if (values->contains(list) && (*values)[list].is_string())
          (*values)[list] = names_in((*values)[list].get_ref<const std::string&>());
      }
      body = std::move(*values);
    }
  }
  return Value{{std::string(verb), std::move(body)}};
}

std::string to_line(const Value& value) {
  return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

}  // namespace takt::app
