// Strict reading of JSON from outside: RFC 8259, no duplicate keys, bounded depth, finite numbers only. Every
// mistake has a JSON pointer to its place. Only this folder, and the .cpp files that use it, see
// nlohmann_json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "takt/core/time.hpp"

namespace takt::json {

using Value = nlohmann::json;

/// The deepest nesting that any document of ours needs is 8.
inline constexpr std::size_t max_depth = 32;

/// The kind of a mistake, for callers that answer with a code.
enum class Kind : std::uint8_t {
  malformed,   ///< not JSON, a wrong type, a missing or unknown key, a number out of range
  not_finite,  ///< NaN or infinity, in any spelling that programs use
};

/// One mistake in a document.
struct Mistake {
  Kind kind = Kind::malformed;
  std::string where;     ///< JSON pointer; empty for the whole document
  std::string reason;    ///< for people
  std::size_t line = 0;  ///< of a syntax error, from 1; 0: the text is JSON
};

/// Parses a whole document; trailing bytes other than white space are a mistake. Throws only bad_alloc.
tl::expected<Value, Mistake> parse(std::string_view text);

/// The text of a file of at most `most` bytes, or the reason of the failure.
tl::expected<std::string, Mistake> read_file(const std::string& path, std::size_t most);

/// Appends one reference token to a JSON pointer, with the escapes of RFC 6901.
std::string child(std::string_view where, std::string_view key);
std::string child(std::string_view where, std::size_t index);

/// Collects mistakes up to a cap, so that a hostile document cannot make a long list.
class Mistakes {
 public:
  explicit Mistakes(std::size_t cap) : cap_(cap) {}

  void add(std::string where, std::string reason, Kind kind = Kind::malformed) {
    if (list_.size() < cap_) list_.push_back({kind, std::move(where), std::move(reason), 0});
  }
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
  [[nodiscard]] bool full() const noexcept { return list_.size() >= cap_; }
  [[nodiscard]] std::vector<Mistake>& list() noexcept { return list_; }

 private:
  std::size_t cap_;
  std::vector<Mistake> list_;
};

/// The allowed range of a number.
struct Range {
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
  bool min_excluded = false;

  static constexpr Range any() { return {}; }
  static constexpr Range positive(double most) { return {0, most, true}; }
  static constexpr Range between(double least, double most) { return {least, most, false}; }
};

/// The JSON text of a value. Bytes that are not UTF-8 are replaced: texts of others may hold any.
[[nodiscard]] std::string to_text(const Value& value);

/// A value as text, for messages: a number or a word itself, otherwise its type.
std::string text_of(const Value& value);

/// A finite number within the range; otherwise std::nullopt, and a mistake at `where`.
std::optional<double> to_number(const Value& value, const std::string& where, Mistakes& mistakes,
                                Range range = {});
/// An integer within the range; otherwise std::nullopt, and a mistake at `where`.
std::optional<std::uint64_t> to_integer(const Value& value, const std::string& where, Mistakes& mistakes,
                                        std::uint64_t least, std::uint64_t most);
/// One of several words; otherwise std::nullopt, and a mistake at `where`.
std::optional<std::string> to_word(const Value& value, const std::string& where, Mistakes& mistakes,
                                   std::span<const std::string_view> words);
inline constexpr std::size_t max_name = 128;  ///< bytes
/// Whether it is 1 to max_name bytes of UTF-8 without control characters.
[[nodiscard]] bool is_name(std::string_view text) noexcept;
/// A name by is_name(); otherwise std::nullopt, and a mistake at `where`.
std::optional<std::string> to_name(const Value& value, const std::string& where, Mistakes& mistakes);

/// Reads one object, key by key; finish() reports unknown keys as mistakes. A getter of an absent key leaves
/// the default, and adds a mistake if the key is required.
class Object {
 public:
  Object(const Value& value, std::string where, Mistakes& mistakes);

  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  /// The object itself; null if it is none.
  [[nodiscard]] const Value* value() const noexcept { return value_; }
  [[nodiscard]] std::string at(std::string_view key) const { return child(where_, key); }
  [[nodiscard]] bool has(std::string_view key) const;

  /// The value of an optional key, or null.
  const Value* find(std::string_view key);
  /// The value of a required key, or null and a mistake.
  const Value* require(std::string_view key);

  void number(std::string_view key, double& out, Range range);
  void required_number(std::string_view key, double& out, Range range);
  /// The same, in seconds.
  void seconds(std::string_view key, Duration& out, Range range);
  void boolean(std::string_view key, bool& out);
  void required_name(std::string_view key, std::string& out);

  /// One of several words. Returns whether the key was present and its word allowed.
  template <class Enum>
  bool word(std::string_view key, Enum& out, std::span<const std::pair<std::string_view, Enum>> words) {
    const Value* value = find(key);
    if (value == nullptr) return false;
    for (const auto& [name, meaning] : words) {
      if (value->is_string() && value->get_ref<const std::string&>() == name) {
        out = meaning;
        return true;
      }
    }
    mistakes_->add(at(key), text_of(*value) + " is not one of " + quoted(words));
    return false;
  }
  /// The same for a required key; without it, a mistake lists the words.
  template <class Enum>
  void required_word(std::string_view key, Enum& out,
                     std::span<const std::pair<std::string_view, Enum>> words) {
    if (value_ != nullptr && find(key) == nullptr)
      mistakes_->add(at(key), "is missing; it is one of " + quoted(words));
    word<Enum>(key, out, words);
  }

  /// Accepts a key without reading it.
  void ignore(std::string_view key) { static_cast<void>(find(key)); }
  /// Adds a mistake for every key that was not read.
  void finish();

 private:
  /// The words as a list: "\"a\", \"b\"".
  template <class Enum>
  [[nodiscard]] static std::string quoted(std::span<const std::pair<std::string_view, Enum>> words) {
    std::string text;
    for (const auto& [name, meaning] : words)
      text += (text.empty() ? "" : ", ") + ('"' + std::string(name) + '"');
    return text;
  }

  const Value* value_;  ///< null if it is not an object
  std::string where_;
  Mistakes* mistakes_;
  std::vector<std::string> known_;
};

}  // namespace takt::json
