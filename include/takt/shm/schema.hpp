// The memory layout of a shared type, as a text: "position f64[6], stamp i64, mode u8, _ u8[7]". Two programs
// compare the hash of the text when they meet, so neither misreads the other's bytes. A program without the
// type (takt shm inspect, a script) reads values with the text.
//
//     struct Reference {
//       std::array<double, 6> position{};
//       takt::Time stamp{};
//       std::uint8_t mode = 0;
//
//       TAKT_FIELDS(Reference, position, stamp, mode)
//     };
//
// The compiler makes the text from the type's list of fields (core/fields.hpp), also of nested types:
// "pose.x f64". Numbers have the text "value f64", and arrays of numbers "value f64[6]".
//
// A field is a name and a type: u8 u16 u32 u64 i8 i16 i32 i64 f32 f64, or an array of one of these. Commas
// separate fields. Fields named _ are padding. Each field is at its natural alignment. Everything here is
// constexpr and real-time safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "takt/core/fields.hpp"
#include "takt/core/hash.hpp"
#include "takt/shm/error.hpp"

namespace takt::shm {

/// One field of a schema. The name points into the text.
struct Field {
  std::string_view name;  ///< "_" for padding
  Scalar type = Scalar::u8;
  bool is_array = false;
  std::uint32_t count = 1;   ///< elements of the array; 1 without an array
  std::uint32_t offset = 0;  ///< bytes from the beginning

  /// Returns whether these bytes are unused.
  [[nodiscard]] constexpr bool is_padding() const noexcept { return name == "_"; }
};

/// Limits of a schema. They fix the size of a directory entry and bound the work of a reader.
inline constexpr std::size_t max_schema = 424;                        ///< characters of a text
inline constexpr std::size_t max_fields = 64;                         ///< fields of a text
inline constexpr std::size_t max_field_name = 31;                     ///< characters of a name
inline constexpr std::uint32_t max_element = std::uint32_t{1} << 20;  ///< bytes of an element

/// A schema as a list of fields. The names point into the text, which must outlive it.
struct Fields {
  std::array<Field, max_fields> list{};
  std::uint32_t count = 0;  ///< fields in use
  std::uint32_t bytes = 0;  ///< size of an element

  /// The fields in use.
  [[nodiscard]] constexpr std::span<const Field> all() const noexcept { return {list.data(), count}; }
  /// The alignment of the widest field, in bytes.
  [[nodiscard]] constexpr std::uint32_t alignment() const noexcept {
    std::uint32_t widest = 1;
    for (const Field& field : all()) widest = bytes_of(field.type) > widest ? bytes_of(field.type) : widest;
    return widest;
  }
};

namespace detail {

/// Splits a schema into tokens, from left to right.
class SchemaScanner {
 public:
  constexpr explicit SchemaScanner(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] constexpr bool at_end() noexcept {
    skip_spaces();
    return rest_.empty();
  }
  /// Takes the character `expected` if it comes next. Returns whether it did.
  [[nodiscard]] constexpr bool take(char expected) noexcept {
    skip_spaces();
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Takes the next letters, digits, underscores and points. Returns an empty text if none come next.
  [[nodiscard]] constexpr std::string_view take_word() noexcept {
    skip_spaces();
    std::size_t length = 0;
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }

 private:
  constexpr void skip_spaces() noexcept {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  [[nodiscard]] static constexpr bool is_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  }

  std::string_view rest_;
};

[[nodiscard]] constexpr std::optional<Scalar> scalar_of(std::string_view word) noexcept {
  for (std::size_t i = 0; i < scalar_names.size(); ++i) {
    if (scalar_names[i] == word) return static_cast<Scalar>(i);
  }
  return std::nullopt;
}

/// The number of elements in `word`, 1 to max_element.
[[nodiscard]] constexpr std::optional<std::uint32_t> count_of(std::string_view word) noexcept {
  std::uint32_t count = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return std::nullopt;
    count = count * 10 + static_cast<std::uint32_t>(c - '0');
    if (count > max_element) return std::nullopt;
  }
  if (count == 0) return std::nullopt;
  return count;
}

[[nodiscard]] constexpr std::optional<Field> take_field(SchemaScanner& scanner) noexcept {
  Field field;
  field.name = scanner.take_word();
  if (field.name.empty() || field.name.size() > max_field_name) return std::nullopt;
  if ((field.name.front() >= '0' && field.name.front() <= '9') || field.name.front() == '.')
    return std::nullopt;
  const std::optional<Scalar> type = scalar_of(scanner.take_word());
  if (!type) return std::nullopt;
  field.type = *type;
  if (!scanner.take('[')) return field;
  const std::optional<std::uint32_t> count = count_of(scanner.take_word());
  if (!count || !scanner.take(']')) return std::nullopt;
  field.is_array = true;
  field.count = *count;
  return field;
}

[[nodiscard]] constexpr bool has_field(const Fields& fields, std::string_view name) noexcept {
  for (const Field& field : fields.all()) {
    if (field.name == name) return true;
  }
  return false;
}

}  // namespace detail

/// Parses a schema and computes the offset of each field. The work is bounded by the length of the text.
///
/// Errors: bad_schema. The text does not have the form above, repeats a name, or exceeds a limit. Or a field
/// is not at its natural alignment, also in the next element of an array; so padding at the end is required.
[[nodiscard]] constexpr Result<Fields> parse_schema(std::string_view text) noexcept {
  if (text.size() > max_schema) return fail(Errc::bad_schema);
  Fields fields;
  detail::SchemaScanner scanner(text);
  do {
    std::optional<Field> field = detail::take_field(scanner);
    if (!field || fields.count == max_fields) return fail(Errc::bad_schema);
    if (!field->is_padding() && detail::has_field(fields, field->name)) return fail(Errc::bad_schema);
    field->offset = fields.bytes;
    const std::uint32_t size = bytes_of(field->type);
    if (field->offset % size != 0) return fail(Errc::bad_schema);
    // Both factors and the sum so far are at most 2^20, so 64 bits do not overflow.
    const std::uint64_t end = fields.bytes + std::uint64_t{size} * field->count;
    if (end > max_element) return fail(Errc::bad_schema);
    fields.bytes = static_cast<std::uint32_t>(end);
    fields.list[fields.count++] = *field;
  } while (scanner.take(','));
  if (!scanner.at_end() || fields.bytes % fields.alignment() != 0) return fail(Errc::bad_schema);
  return fields;
}

/// An element type that a program knows only at run time, by its schema. The text must outlive it.
/// SpscRing<Opaque> is a ring of such elements (opaque.hpp).
struct Opaque {
  std::string_view schema;      ///< text, not owned
  std::uint32_t bytes = 0;      ///< size of an element
  std::uint32_t alignment = 1;  ///< alignment of its widest field

  /// Parses `schema`. Errors: bad_schema.
  [[nodiscard]] static constexpr Result<Opaque> of(std::string_view schema) noexcept {
    const Result<Fields> fields = parse_schema(schema);
    if (!fields) return fail(fields.error());
    return Opaque{schema, fields->bytes, fields->alignment()};
  }
};

namespace detail {

/// Writes the schema of a type, number by number.
class SchemaWriter {
 public:
  constexpr void operator()(const FieldPath& path, const NumberPlace& place) noexcept {
    pad_to(place.offset);
    if (length_ != 0) put(", ");
    if (path.parent == nullptr) put("value");
    put(path);
    put(" ");
    put(scalar_names[static_cast<std::size_t>(place.type)]);
    if (place.is_array) put_count(place.count);
    end_ = place.offset + place.count * bytes_of(place.type);
  }
  /// Adds padding up to this offset.
  constexpr void pad_to(std::size_t offset) noexcept {
    if (offset <= end_) return;
    if (length_ != 0) put(", ");
    put("_ u8");
    put_count(offset - end_);
    end_ = offset;
  }

  /// The number of characters, also if they do not fit.
  [[nodiscard]] constexpr std::size_t length() const noexcept { return length_; }
  [[nodiscard]] constexpr char at(std::size_t index) const noexcept { return text_[index]; }

 private:
  constexpr void put(const FieldPath& path) noexcept {
    if (path.parent == nullptr) return;
    put(*path.parent);
    if (path.parent->parent != nullptr) put(".");
    if (path.name.empty()) {
      put_number(path.index);
    } else {
      put(path.name);
    }
  }
  constexpr void put_count(std::size_t count) noexcept {
    put("[");
    put_number(count);
    put("]");
  }
  constexpr void put_number(std::size_t number) noexcept {
    if (number >= 10) put_number(number / 10);
    const char digit = static_cast<char>('0' + number % 10);
    put({&digit, 1});
  }
  constexpr void put(std::string_view piece) noexcept {
    for (const char c : piece) {
      if (length_ < text_.size()) text_[length_] = c;
      ++length_;
    }
  }

  std::array<char, max_schema> text_{};
  std::size_t length_ = 0;
  std::size_t end_ = 0;  ///< of the last field, in bytes
};

template <class T>
struct SchemaOf {
  static constexpr SchemaWriter written = [] {
    SchemaWriter writer;
    for_each_number<T>(writer, {});
    writer.pad_to(sizeof(T));
    return writer;
  }();
  static_assert(written.length() <= max_schema, "the names of the fields are too long for one schema");
  /// The text, with a NUL at its end.
  static constexpr auto text = [] {
    std::array<char, written.length() + 1> characters{};
    for (std::size_t i = 0; i < written.length(); ++i) characters[i] = written.at(i);
    return characters;
  }();
};

}  // namespace detail

/// A type with a schema: a number, an array of numbers, or a type with a list of fields.
template <class T>
concept Described = NumberField<T> || ArrayField<T> || HasFields<T>;

/// The schema of T, followed by a NUL. The compiler rejects types without a layout, and those that exceed a
/// limit above.
template <class T>
[[nodiscard]] constexpr std::string_view schema_text() noexcept {
  static_assert(std::is_trivially_copyable_v<T>,
                "a shared value is copied as bytes: it must be trivially copyable");
  static_assert(sizeof(T) <= max_element, "an element that is shared has at most a mebibyte");
  static_assert(Described<T>, "list the fields of the type with TAKT_FIELDS (core/fields.hpp)");
  if constexpr (Described<T>) {
    constexpr const auto& text = detail::SchemaOf<T>::text;
    constexpr std::string_view view(text.data(), text.size() - 1);
    static_assert(parse_schema(view).has_value(),
                  "a schema has at most 64 fields with names of at most 31 characters");
    return view;
  } else {
    return {};
  }
}

/// The hash that two programs compare.
template <class T>
inline constexpr std::uint64_t schema_hash = fnv1a(schema_text<T>());

}  // namespace takt::shm
