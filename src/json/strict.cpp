#include "json/strict.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <system_error>

#include "core/utf8.hpp"

namespace takt::json {
namespace {

/// The type of a value, for messages.
std::string_view type_of(const Value& value) {
  switch (value.type()) {
    case Value::value_t::null:
      return "null";
    case Value::value_t::object:
      return "an object";
    case Value::value_t::array:
      return "a list";
    case Value::value_t::string:
      return "a string";
    case Value::value_t::boolean:
      return "true or false";
    default:
      return "a number";
  }
}

/// The texts by which programs write NaN and infinity, although JSON has neither.
bool means_not_finite(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+' || text.front() == '.'))
    text.remove_prefix(1);
  std::string lower(text.substr(0, 8));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower.rfind("nan", 0) == 0 || lower.rfind("inf", 0) == 0;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Builds the document while the parser reads it, and stops at the first mistake of a strict reader.
class Builder : public nlohmann::json_sax<Value> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  Value root;
  std::optional<Mistake> mistake;

  bool null() override { return put(nullptr) != nullptr; }
  bool boolean(bool value) override { return put(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return put(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return put(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override { return put(value) != nullptr; }
  bool string(string_t& value) override { return put(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Value::value_t::object); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Value::value_t::array); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Frame& frame = stack_.back();
    frame.key = name;
    const auto [slot, is_new] = frame.node->get_ref<Value::object_t&>().try_emplace(std::move(name));
    frame.slot = &slot->second;
    if (is_new) return true;
    mistake = Mistake{Kind::malformed, pointer(), "the key is given twice", 0};
    return false;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::size_t end = std::min(position, text_.size());
    std::size_t word = end == 0 ? 0 : end - 1;  // the last byte read; go back to the start of its word
    while (word > 0 && is_letter(text_[word - 1])) --word;
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    constexpr int number_overflow = 406;
    if (error.id == number_overflow) {
      mistake = Mistake{Kind::not_finite, pointer(), "the number is too large to be finite", 0};
    } else if (means_not_finite(text_.substr(word))) {
      mistake = Mistake{Kind::not_finite, pointer(), "JSON has no NaN and no infinity", 0};
    } else {
      // The library's text reads "[json.exception.parse_error.101] parse error at ...: syntax error while
      // ..."
      std::string what = error.what();
      if (const auto bracket = what.find("] "); bracket != std::string::npos) what.erase(0, bracket + 2);
      mistake = Mistake{Kind::malformed, pointer(), what.substr(0, 300), static_cast<std::size_t>(line)};
    }
    return false;
  }

 private:
  struct Frame {
    Value* node;
    Value* slot = nullptr;  ///< object: place of the next value
    std::string key;        ///< object: the key of that place
  };

  template <class T>
  Value* put(T&& value) {
    if (stack_.empty()) {
      root = std::forward<T>(value);
      return &root;
    }
    Frame& frame = stack_.back();
    if (frame.node->is_array()) return &frame.node->emplace_back(std::forward<T>(value));
    *frame.slot = std::forward<T>(value);
    return frame.slot;
  }

  bool open(Value::value_t type) {
    if (stack_.size() == max_depth) {
      mistake = Mistake{Kind::malformed, "", fmt::format("nested deeper than {} levels", max_depth), 0};
      return false;
    }
    stack_.push_back({put(Value(type)), nullptr, {}});
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  /// JSON pointer to the value that is being read.
  [[nodiscard]] std::string pointer() const {
    std::string where;
    for (const Frame& frame : stack_) {
      const bool top = &frame == &stack_.back();
      where =
          frame.node->is_array() ? child(where, frame.node->size() - (top ? 0 : 1)) : child(where, frame.key);
    }
    return where;
  }

  std::string_view text_;
  std::vector<Frame> stack_;
};

}  // namespace

tl::expected<std::string, Mistake> read_file(const std::string& path, std::size_t most) {
  const auto refuse = [](std::string reason) {
    return tl::unexpected<Mistake>({Kind::malformed, "", std::move(reason), 0});
  };
  const auto reason = [] { return std::error_code(errno, std::generic_category()).message(); };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse("the file cannot be opened: " + reason());
  std::string text(most + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof())) return refuse("the file cannot be read: " + reason());
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most) return refuse(fmt::format("the file is larger than {} MiB", most >> 20));
  return text;
}

tl::expected<Value, Mistake> parse(std::string_view text) {
  Builder builder(text);
  if (Value::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.root);
  return tl::unexpected<Mistake>(
      std::move(builder.mistake).value_or(Mistake{Kind::malformed, "", "not JSON", 1}));
}

std::string child(std::string_view where, std::string_view key) {
  std::string pointer(where);
  pointer += '/';
  // A hostile key is not echoed at full length.
  for (const char c : key.substr(0, 64)) {
    if (c == '~')
      pointer += "~0";
    else if (c == '/')
      pointer += "~1";
    else
      pointer += c;
  }
  return pointer;
}

std::string child(std::string_view where, std::size_t index) { return fmt::format("{}/{}", where, index); }

std::string to_text(const Value& value) {
  return value.dump(-1, ' ', false, Value::error_handler_t::replace);
}

std::string text_of(const Value& value) {
  if (value.is_structured()) return std::string(type_of(value));
  constexpr std::size_t longest = 40;  // a hostile word is not echoed at full length
  std::string text = value.dump(-1, ' ', true, Value::error_handler_t::replace);
  if (text.size() > longest) text.replace(longest, std::string::npos, "...");
  return text;
}

std::optional<double> to_number(const Value& value, const std::string& where, Mistakes& mistakes,
                                Range range) {
  if (!value.is_number()) {
    const bool meant =
        value.is_null() || (value.is_string() && means_not_finite(value.get_ref<const std::string&>()));
    mistakes.add(where, fmt::format("must be a finite number, not {}", text_of(value)),
                 meant ? Kind::not_finite : Kind::malformed);
    return std::nullopt;
  }
  const auto number = value.get<double>();
  if (!std::isfinite(number)) {  // cannot come out of parse(), but costs nothing to rule out
    mistakes.add(where, "must be a finite number", Kind::not_finite);
    return std::nullopt;
  }
  if (number < range.min || number > range.max || (range.min_excluded && number == range.min)) {
    mistakes.add(where, fmt::format("{} is not {} {} and at most {}", number,
                                    range.min_excluded ? "above" : "at least", range.min, range.max));
    return std::nullopt;
  }
  return number;
}

std::optional<std::uint64_t> to_integer(const Value& value, const std::string& where, Mistakes& mistakes,
                                        std::uint64_t least, std::uint64_t most) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number >= least && number <= most) return number;
  }
  mistakes.add(where,
               fmt::format("must be a whole number from {} to {}, not {}", least, most, text_of(value)));
  return std::nullopt;
}

bool is_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > max_name) return false;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_control(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::optional<std::string> to_word(const Value& value, const std::string& where, Mistakes& mistakes,
                                   std::span<const std::string_view> words) {
  std::string allowed;
  for (const std::string_view word : words) {
    if (value.is_string() && value.get_ref<const std::string&>() == word) return std::string(word);
    allowed += (allowed.empty() ? "" : ", ") + ('"' + std::string(word) + '"');
  }
  mistakes.add(where, text_of(value) + " is not one of " + allowed);
  return std::nullopt;
}

std::optional<std::string> to_name(const Value& value, const std::string& where, Mistakes& mistakes) {
  if (!value.is_string()) {
    mistakes.add(where, fmt::format("must be a string, not {}", text_of(value)));
    return std::nullopt;
  }
  const auto& text = value.get_ref<const std::string&>();
  if (!is_name(text)) {
    mistakes.add(where, fmt::format("must be 1 to {} bytes of text without control characters", max_name));
    return std::nullopt;
  }
  return text;
}

Object::Object(const Value& value, std::string where, Mistakes& mistakes)
    : value_(value.is_object() ? &value : nullptr), where_(std::move(where)), mistakes_(&mistakes) {
  if (value_ == nullptr) mistakes_->add(where_, fmt::format("must be an object, not {}", type_of(value)));
}

bool Object::has(std::string_view key) const {
  return value_ != nullptr && value_->get_ref<const Value::object_t&>().count(std::string(key)) > 0;
}

const Value* Object::find(std::string_view key) {
  if (value_ == nullptr) return nullptr;
  known_.emplace_back(key);
  const auto& members = value_->get_ref<const Value::object_t&>();
  const auto found = members.find(known_.back());
  return found == members.end() ? nullptr : &found->second;
}

const Value* Object::require(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr && value_ != nullptr) mistakes_->add(at(key), "is missing");
  return value;
}

void Object::number(std::string_view key, double& out, Range range) {
  if (const Value* value = find(key)) out = to_number(*value, at(key), *mistakes_, range).value_or(out);
}

void Object::required_number(std::string_view key, double& out, Range range) {
  if (const Value* value = require(key)) out = to_number(*value, at(key), *mistakes_, range).value_or(out);
}

void Object::seconds(std::string_view key, Duration& out, Range range) {
  double number = to_seconds(out);
  this->number(key, number, range);
  out = from_seconds(number);
}

void Object::boolean(std::string_view key, bool& out) {
  const Value* value = find(key);
  if (value == nullptr) return;
  if (value->is_boolean())
    out = value->get<bool>();
  else
    mistakes_->add(at(key), fmt::format("must be true or false, not {}", text_of(*value)));
}

void Object::required_name(std::string_view key, std::string& out) {
  if (const Value* value = require(key)) out = to_name(*value, at(key), *mistakes_).value_or(out);
}

void Object::finish() {
  if (value_ == nullptr) return;
  for (const auto& [key, unused] : value_->get_ref<const Value::object_t&>()) {
    if (mistakes_->full()) return;
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      mistakes_->add(at(key), "the key is unknown");
  }
}

}  // namespace takt::json
