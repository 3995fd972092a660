// Reading and writing hexadecimal digits, for the serial-line protocol and the log format. Real-time safe and
// usable in constant expressions. No function reads or writes beyond the given text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace takt::can::detail {

[[nodiscard]] constexpr bool is_digit(char letter) noexcept { return letter >= '0' && letter <= '9'; }

/// The value of a hexadecimal digit of either case; nullopt for another letter.
[[nodiscard]] constexpr std::optional<std::uint8_t> hex_value(char letter) noexcept {
  if (is_digit(letter)) return static_cast<std::uint8_t>(letter - '0');
  const char upper = static_cast<char>(letter & ~0x20);
  if (upper >= 'A' && upper <= 'F') return static_cast<std::uint8_t>(upper - 'A' + 10);
  return std::nullopt;
}

/// Takes tokens from the front of a text. If the expected token is missing, it takes nothing.
class TextReader {
 public:
  explicit constexpr TextReader(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] constexpr bool at_end() const noexcept { return position_ == text_.size(); }
  [[nodiscard]] constexpr std::size_t position() const noexcept { return position_; }
  [[nodiscard]] constexpr std::size_t remaining() const noexcept { return text_.size() - position_; }
  /// The next letter, without taking it; NUL at the end.
  [[nodiscard]] constexpr char peek() const noexcept { return at_end() ? '\0' : text_[position_]; }
  constexpr void skip() noexcept {
    if (!at_end()) ++position_;
  }
  [[nodiscard]] constexpr bool take(char letter) noexcept {
    if (at_end() || text_[position_] != letter) return false;
    ++position_;
    return true;
  }
  /// The letters before the next blank, without taking them.
  [[nodiscard]] constexpr std::string_view peek_word() const noexcept {
    const std::string_view rest = text_.substr(position_);
    return rest.substr(0, rest.find_first_of(" \t"));
  }
  constexpr void blanks() noexcept {
    while (!at_end() && (peek() == ' ' || peek() == '\t')) ++position_;
  }
  /// Takes blanks, and the letters before the next blank.
  constexpr std::string_view take_word() noexcept {
    blanks();
    const std::string_view word = peek_word();
    position_ += word.size();
    return word;
  }
  /// Takes the next `digits` (at most 8) hexadecimal digits as a number; nullopt if there are fewer.
  [[nodiscard]] constexpr std::optional<std::uint32_t> hex(std::size_t digits) noexcept {
    if (digits > remaining()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const auto digit = hex_value(text_[position_ + i]);
      if (!digit) return std::nullopt;
      value = value << 4 | *digit;
    }
    position_ += digits;
    return value;
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

/// Collects a text of at most `Capacity` letters. Further letters are dropped, and overflowed() becomes true.
template <std::size_t Capacity>
class TextWriter {
 public:
  constexpr TextWriter() noexcept = default;
  explicit constexpr TextWriter(std::string_view text) noexcept { put(text); }

  [[nodiscard]] constexpr std::string_view text() const noexcept { return {letters_, size_}; }
  [[nodiscard]] constexpr bool overflowed() const noexcept { return overflowed_; }

  constexpr void put(char letter) noexcept {
    overflowed_ = overflowed_ || size_ == Capacity;
    if (size_ < Capacity) letters_[size_++] = letter;
  }
  constexpr void put(std::string_view text) noexcept {
    for (const char letter : text) put(letter);
  }
  /// Appends the low `digits` hexadecimal digits, in capitals.
  constexpr void hex(std::uint32_t value, std::size_t digits) noexcept {
    while (digits-- > 0) put("0123456789ABCDEF"[value >> (4 * digits) & 0xFU]);
  }
  constexpr void bytes(std::span<const std::uint8_t> bytes) noexcept {
    for (const std::uint8_t byte : bytes) hex(byte, 2);
  }
  /// Appends a decimal number, with leading zeros up to `digits` digits.
  constexpr void decimal(std::uint64_t value, std::size_t digits) noexcept {
    char reversed[20] = {};
    std::size_t count = 0;
    for (; count < sizeof reversed && (value != 0 || count < digits); value /= 10) {
      reversed[count++] = static_cast<char>('0' + value % 10);
    }
    while (count > 0) put(reversed[--count]);
  }

 private:
  char letters_[Capacity] = {};
  std::size_t size_ = 0;
  bool overflowed_ = false;
};

}  // namespace takt::can::detail
