// The memory layout of a shared type, as a text: "position f64[6], stamp i64, mode u8, _ u8[7]". Two programs
// compare the hash of the text when they meet, so neither misreads the other's bytes. A program without the
// type (takt shm inspect, a script) reads values with the text.
//
//     struct Reference {
//       double position[6];
//       std::int64_t stamp;
//       std::uint8_t mode;
//       std::uint8_t unused[7];
//     };
//     template <>
//     struct takt::shm::Schema<Reference> {
//       static constexpr std::string_view text = "position f64[6], stamp i64, mode u8, _ u8[7]";
//     };
//
// A field is a name and a type: u8 u16 u32 u64 i8 i16 i32 i64 f32 f64, or an array of one of these. Commas
// separate fields. Fields named _ are padding and are required. The compiler checks the total size and each
// field's natural alignment. It cannot check the order or the types of the fields, so the author must.
// Everything here is constexpr and real-time safe.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "takt/shm/error.hpp"

namespace takt::shm {

/// Specialise it for each shared type, as above. Numbers, and std::array of numbers, have a schema already:
/// "value f64[6]".
template <class T>
struct Schema;

/// The schema of a type that has a member `static constexpr std::string_view schema`. Types of rooms that do
/// not include this one use it.
template <class T>
requires std::convertible_to<decltype(T::schema), std::string_view>
struct Schema<T> {
  static constexpr std::string_view text = T::schema;
};

/// The type of a field, or of its array's elements.
enum class Scalar : std::uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f32, f64 };

/// The names in a schema's text, in the order of Scalar.
inline constexpr std::array<std::string_view, 10> scalar_names = {"u8",  "u16", "u32", "u64", "i8",
                                                                  "i16", "i32", "i64", "f32", "f64"};

/// The size of a scalar, which is also its alignment, in bytes.
[[nodiscard]] constexpr std::uint32_t bytes_of(Scalar type) noexcept {
  constexpr std::array<std::uint8_t, 10> sizes = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}

/// One field of a schema. The name points into the text.
struct Field {
  std::string_view name;  ///< "_" for padding
  Scalar type = Scalar::u8;
  bool is_array = false;
  std::uint32_t count = 1;   ///< elements of the array; 1 without an array
  std::uint32_t offset = 0;  ///< bytes from the beginning

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
  /// Takes the next letters, digits and underscores. Returns an empty text if none come next.
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
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
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
  if (field.name.front() >= '0' && field.name.front() <= '9') return std::nullopt;
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

/// FNV-1a with 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/). It detects mistakes, not malice.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
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

/// A type with a schema.
template <class T>
concept Described = requires {
  { Schema<T>::text } -> std::convertible_to<std::string_view>;
};

/// The schema of T. The compiler checks its form and its total size, but not the names and types of fields.
template <class T>
[[nodiscard]] constexpr std::string_view schema_text() noexcept {
  static_assert(std::is_trivially_copyable_v<T>,
                "what is shared is copied as bytes: it must be trivially copyable");
  static_assert(sizeof(T) <= max_element, "an element that is shared has at most a mebibyte");
  static_assert(Described<T>, "say what the type looks like: specialise takt::shm::Schema<T>");
  if constexpr (Described<T>) {
    constexpr Result<Fields> fields = parse_schema(Schema<T>::text);
    static_assert(
        fields.has_value(),
        "Schema<T>::text must be fields such as \"position f64[6], _ u8[7]\", each at its natural alignment");
    static_assert(
        !fields.has_value() || (*fields).bytes == sizeof(T),
        "the fields of Schema<T>::text, with padding written as \"_ u8[7]\", must add up to sizeof(T)");
    return Schema<T>::text;
  } else {
    return {};
  }
}

/// The hash that two programs compare.
template <class T>
inline constexpr std::uint64_t schema_hash = fnv1a(schema_text<T>());

namespace detail {

template <class T>
concept Number = (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8) ||
                 (std::floating_point<T> && sizeof(T) <= 8);

template <Number T>
[[nodiscard]] constexpr std::string_view number_name() noexcept {
  constexpr std::size_t first = std::floating_point<T> ? 8 : std::signed_integral<T> ? 4 : 0;
  constexpr std::size_t power = sizeof(T) == 8 ? 3 : sizeof(T) == 4 ? 2 : sizeof(T) == 2 ? 1 : 0;
  return scalar_names[std::floating_point<T> ? first + (power - 2) : first + power];
}

/// "value f64" or "value f64[6]", built by the compiler.
template <Number T, std::size_t count, bool is_array>
struct NumberText {
  static constexpr auto made = [] {
    struct Text {
      std::array<char, 32> characters{};
      std::size_t length = 0;
      constexpr void put(std::string_view piece) {
        for (const char c : piece) characters[length++] = c;
      }
    } text;
    text.put("value ");
    text.put(number_name<T>());
    if (!is_array) return text;
    std::array<char, 20> digits{};
    std::size_t first = digits.size();
    for (std::size_t rest = count; rest != 0; rest /= 10)
      digits[--first] = static_cast<char>('0' + rest % 10);
    text.put("[");
    text.put({digits.data() + first, digits.size() - first});
    text.put("]");
    return text;
  }();
  static constexpr std::string_view text{made.characters.data(), made.length};
};

}  // namespace detail

template <detail::Number T>
struct Schema<T> : detail::NumberText<T, 1, false> {};
template <detail::Number T, std::size_t count>
struct Schema<std::array<T, count>> : detail::NumberText<T, count, true> {};

}  // namespace takt::shm
